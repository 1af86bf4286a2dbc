/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_ending.h"
#include "launcher/base/json_member.h"
#include "launcher/base/mpi_names.h"
#include "launcher/session/step_death.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS    1e9
#define SITES 10u /* that are told */

/* Number of a call as messages have it. */
static const char *call_name(uint32_t call)
{
    const char *name = call > 0 ? mpi_call_name(call - 1) : NULL;

    return name ? name : "MPI";
}

/* --- how it ended --------------------------------------------------------- */

struct ending {
    uint32_t n, in_state[RANK_DIED + 1];
    int is_known;
    uint32_t call; /* in which one waits */
};

static void look_at(struct ending *e, const struct step_rank *r)
{
    enum rank_state state = r->state <= RANK_DIED ? r->state : RANK_USEFUL;

    e->n++;
    e->in_state[state]++;
    e->is_known |= state != RANK_USEFUL || r->since > 0;
    if (state == RANK_IN_CALL)
        e->call = r->call;
}

__attribute__((format(printf, 2, 3))) static void add(
    char text[STEP_ENDING_TEXT], const char *format, ...)
{
    size_t n = strlen(text);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text + n, STEP_ENDING_TEXT - n, format, args);
    va_end(args);
}

/* Of those that had neither died nor left. */
static void tell_others(char text[STEP_ENDING_TEXT], const struct ending *e)
{
    uint32_t waited = e->in_state[RANK_IN_CALL];
    uint32_t worked = e->in_state[RANK_USEFUL];

    if (waited + worked == 0)
        return;
    add(text, "%s", *text ? "; " : "it was ended while ");
    if (waited > 0)
        add(text, "%" PRIu32 " rank%s waited in %s", waited,
            waited > 1 ? "s" : "", call_name(e->call));
    if (worked > 0)
        add(text, "%s%" PRIu32 " rank%s worked", waited > 0 ? ", and " : "",
            worked, worked > 1 ? "s" : "");
}

enum step_ending step_ending_tell(char text[STEP_ENDING_TEXT],
                                  const struct step_times *t)
{
    struct ending e = {0};
    struct step_death death;

    *text = '\0';
    for (size_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; step_times_counts(t, i) && k < t->node[i].n; k++)
            look_at(&e, &t->node[i].rank[k]);
    if (!e.is_known)
        return STEP_ENDING_UNKNOWN;
    if (e.in_state[RANK_LEFT] == e.n) {
        add(text, "all ranks left MPI");
        return STEP_ENDING_LEFT;
    }
    step_death_find(&death, t);
    if (death.first)
        step_death_tell(text, &death, t);
    tell_others(text, &e);
    return STEP_ENDING_EARLY;
}

/* --- calls ---------------------------------------------------------------- */

static int by_name(const void *one, const void *other)
{
    const struct msg_rank_site *a = one, *b = other;
    int order = strcmp(a->where, b->where);

    return order ? order : (a->call > b->call) - (a->call < b->call);
}

static int by_waiting(const void *one, const void *other)
{
    const struct msg_rank_site *a = one, *b = other;

    return (a->waiting < b->waiting) - (a->waiting > b->waiting);
}

/* Those of all ranks; n may be 0.  NULL if memory ran out. */
static struct msg_rank_site *sites_of(const struct step_times *t, size_t *n)
{
    size_t most = 1;
    struct msg_rank_site *site;

    *n = 0;
    for (size_t i = 0; i < t->n; i++)
        most += (size_t)t->node[i].n * RANK_SITES;
    site = malloc(most * sizeof *site);
    for (size_t i = 0; site && i < t->n; i++)
        for (uint32_t k = 0; k < t->node[i].n; k++) {
            const struct msg_rank_detail *d = t->node[i].rank[k].detail;

            for (uint32_t s = 0; d && s < d->sites; s++)
                site[(*n)++] = d->site[s];
        }
    return site;
}

/* Add up the same ones; returns how many there are. */
static size_t add_up(struct msg_rank_site site[], size_t n)
{
    size_t last = 0;

    if (n == 0)
        return 0;
    qsort(site, n, sizeof *site, by_name);
    for (size_t i = 1; i < n; i++)
        if (by_name(&site[last], &site[i]) == 0) {
            site[last].waiting += site[i].waiting;
            site[last].calls += site[i].calls;
        } else {
            site[++last] = site[i];
        }
    qsort(site, last + 1, sizeof *site, by_waiting);
    return last + 1;
}

json_t *step_ending_sites(const struct step_times *t)
{
    size_t n;
    struct msg_rank_site *site = sites_of(t, &n);
    json_t *list = NULL;

    n = site ? add_up(site, n) : 0;
    if (n > 0)
        list = json_array();
    for (size_t i = 0; list && i < n && i < SITES; i++)
        (void)json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:f, s:I}", "call", call_name(site[i].call),
                      "where", json_text(site[i].where), "waiting",
                      site[i].waiting / NS, "calls",
                      (json_int_t)site[i].calls));
    free(site);
    return list;
}
