/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/slurm_watts.h"
#include "launcher/base/number.h"
#include "launcher/base/scontrol_output.h"
#include "launcher/exec/execution.h"
#include "launcher/session/companion.h"

#include <event2/event.h>
#include <sodium/randombytes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_MS     60000
#define FIRST_MS   5000 /* then as long again at most: jobs may start together */
#define LINE_BYTES 16384 /* of a node; 1 KB is usual */
#define WATTS_MAX  1000000u
#define NAMES_MAX  100000u /* Linux takes 128 KiB in an argument */

struct slurm_watts {
    struct event_base *base;
    const struct session *session;
    struct event *timer;
    struct execution *scontrol; /* that runs now */
    double *watts;              /* of each node */
    char *names;                /* of all of them, for scontrol */
    size_t n, next;             /* nodes, and the one that comes next */
    int has_any;
    size_t len; /* of the line that is not whole yet */
    char line[LINE_BYTES];
};

static void wait_ms(struct slurm_watts *s, uint32_t ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    (void)evtimer_add(s->timer, &tv); /* else nothing more is heard */
}

/* Slurm's order of names is mostly ours. */
static size_t find_node(const struct slurm_watts *s, const char *name)
{
    for (size_t k = 0; k < s->n; k++) {
        size_t i = (s->next + k) % s->n;

        if (strcmp(session_node(s->session, i)->name, name) == 0)
            return i;
    }
    return SIZE_MAX;
}

/* "NodeName=n0 ... CurrentWatts=215 ..."; "n/s" and 0 mean that it has none. */
static void take_line(struct slurm_watts *s)
{
    char name[NODE_NAME_MAX], text[24];
    uint64_t watts = 0;
    size_t i;

    if (scontrol_value(s->line, "NodeName", name, sizeof name) < 0
        || scontrol_value(s->line, "CurrentWatts", text, sizeof text) < 0
        || (i = find_node(s, name)) == SIZE_MAX)
        return;
    s->next = i + 1;
    if (number_parse_u64(text, &watts) < 0 || watts > WATTS_MAX)
        watts = 0;
    s->watts[i] = (double)watts;
    s->has_any |= watts > 0;
}

/* A line that is too long is read without its end. */
static void on_scontrol_output(void *arg, const void *text, size_t len)
{
    struct slurm_watts *s = arg;
    const char *at = text;

    for (size_t i = 0; i < len; i++) {
        if (at[i] != '\n') {
            if (s->len < sizeof s->line - 1)
                s->line[s->len++] = at[i];
            continue;
        }
        s->line[s->len] = '\0';
        s->len = 0;
        take_line(s);
    }
}

static void on_scontrol_end(void *arg, const struct execution_end *end)
{
    struct slurm_watts *s = arg;

    execution_destroy(s->scontrol);
    s->scontrol = NULL;
    if (end->status != 0 || s->has_any)
        wait_ms(s, ASK_MS / 2 + randombytes_uniform(ASK_MS));
}

/* "n0,n1", as there is no list of nodes in the environment of a step's front
 * end; of too many for one argument "ALL".  NULL without memory. */
static char *names_of(const struct session *session)
{
    size_t n = session_start_size(session), len = sizeof "ALL", at = 0;
    char *names;

    for (size_t i = 0; i < n; i++)
        len += strlen(session_node(session, i)->name) + 1;
    if (len > NAMES_MAX)
        return strdup("ALL");
    names = calloc(1, len);
    for (size_t i = 0; names && i < n; i++)
        if (!session_is_awaited(session, i)) /* whose name is not known */
            at += (size_t)snprintf(names + at, len - at, "%s%s", at ? "," : "",
                                   session_node(session, i)->name);
    return names;
}

/* Those that have come meanwhile, too. */
static void take_names(struct slurm_watts *s)
{
    char *names = names_of(s->session);

    if (!names)
        return;
    free(s->names);
    s->names = names;
}

static void ask_scontrol(int fd, short what, void *arg)
{
    static char scontrol[] = "scontrol", plain[] = "-o", show[] = "show",
                node[] = "node";
    struct slurm_watts *s = arg;
    char *argv[] = {scontrol, plain, show, node, NULL, NULL};
    char **env = companion_environ();
    struct execution_spec spec = {.argv = argv, .envp = env};

    (void)fd;
    (void)what;
    s->len = 0;
    s->has_any = 0;
    take_names(s);
    argv[4] = s->names;
    if (!env
        || execution_start(&s->scontrol, s->base, &spec, on_scontrol_output,
                           on_scontrol_end, s, NULL)
               < 0)
        wait_ms(s, ASK_MS);
    free(env);
}

struct slurm_watts *slurm_watts_start(struct event_base *base,
                                      const struct session *session)
{
    struct slurm_watts *s;

    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->base = base;
    s->session = session;
    s->n = session_size(session);
    s->watts = calloc(s->n, sizeof *s->watts);
    s->names = names_of(session);
    s->timer = evtimer_new(base, ask_scontrol, s);
    if (!s->watts || !s->names || !s->timer) {
        slurm_watts_stop(s);
        return NULL;
    }
    wait_ms(s, FIRST_MS + randombytes_uniform(FIRST_MS));
    return s;
}

double slurm_watts_of(const struct slurm_watts *s, size_t node)
{
    return s && node < s->n ? s->watts[node] : 0;
}

void slurm_watts_stop(struct slurm_watts *s)
{
    if (!s)
        return;
    execution_destroy(s->scontrol);
    if (s->timer)
        event_free(s->timer);
    free(s->watts);
    free(s->names);
    free(s);
}
