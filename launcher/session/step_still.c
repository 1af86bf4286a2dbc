/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/step_still.h"
#include "launcher/base/mpi_names.h"
#include "launcher/session/step_death.h"
#include "pmix_bcast/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS    1e9
#define CALLS 3 /* that are named */

/* --- ranks ---------------------------------------------------------------- */

/* Until now: what its node told has gone on since. */
static double since(const struct step_node *node,
                    const struct step_rank *r,
                    int64_t now)
{
    return r->since + fmax((double)(now - node->heard_ns), 0);
}

static double still_for(const struct step_node *node,
                        const struct step_rank *r,
                        int64_t now)
{
    double ns = since(node, r, now);

    return r->state == RANK_IN_CALL ? ns
                                    : fmin(ns, (double)(now - r->moved_ns));
}

struct calls {
    struct {
        uint32_t call, ranks, first, last;
    } each[CALLS];
    uint32_t n, others;
};

static void add_call(struct calls *c, const struct step_rank *r)
{
    uint32_t i = 0;

    while (i < c->n && c->each[i].call != r->call)
        i++;
    if (i == CALLS) {
        c->others++;
        return;
    }
    if (i == c->n) {
        c->n++;
        c->each[i].call = r->call;
        c->each[i].ranks = 0;
        c->each[i].first = c->each[i].last = r->rank;
    }
    c->each[i].ranks++;
    c->each[i].first = r->rank < c->each[i].first ? r->rank : c->each[i].first;
    c->each[i].last = r->rank > c->each[i].last ? r->rank : c->each[i].last;
}

static void find_waiting(const struct step_times *t,
                         struct step_standstill *s,
                         struct calls *c)
{
    uint32_t most = 0;

    *c = (struct calls){.n = 0};
    s->waiting_ranks = 0;
    for (size_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; k < t->node[i].n; k++)
            if (t->node[i].rank[k].state == RANK_IN_CALL) {
                add_call(c, &t->node[i].rank[k]);
                s->waiting_ranks++;
            }
    for (uint32_t i = 0; i < c->n; i++)
        if (c->each[i].ranks > most) {
            most = c->each[i].ranks;
            s->call = c->each[i].call;
        }
}

/* 1 if no rank has moved for so long; all of them are known. */
static int find_still(const struct step_times *t,
                      struct step_standstill *s,
                      int64_t now)
{
    uint32_t n = 0, waiting = 0;
    double least = INFINITY;

    for (size_t i = 0; i < t->n; i++) {
        const struct step_node *node = &t->node[i];

        if (node->is_lost)
            return 0;
        for (uint32_t k = 0; k < node->n; k++) {
            const struct step_rank *r = &node->rank[k];

            n++;
            if (r->state == RANK_LEFT)
                continue;
            if (r->state == RANK_USEFUL || waiting == 0) {
                s->node = i;
                s->rank = r->rank;
            }
            s->is_stopped |= r->state == RANK_USEFUL;
            waiting += r->state == RANK_IN_CALL;
            least = fmin(least, still_for(node, r, now));
        }
    }
    s->since_ns = least;
    return n == t->size && waiting > 0 && least >= STEP_STILL_NS;
}

/* What it is if it is one; waiting is filled in. */
static int find(const struct step_times *t,
                struct step_standstill *s,
                struct step_death *d,
                struct calls *c)
{
    int64_t now = clock_ns();

    *s = (struct step_standstill){.status = -1};
    step_death_find(d, t);
    if (d->first) {
        s->is_dead = 1;
        s->since_ns = (double)(now - d->first->died_ns);
        s->node = d->node;
        s->rank = d->first->rank;
        s->status = d->first->status;
    } else if (!find_still(t, s, now)) {
        return 0;
    }
    find_waiting(t, s, c);
    return 1;
}

int step_times_standstill(const struct step_times *t, struct step_standstill *s)
{
    struct step_death d;
    struct calls c;

    return find(t, s, &d, &c);
}

/* --- in words ------------------------------------------------------------- */

static void add_text(char text[STEP_STILL_TEXT], const char *more)
{
    size_t len = strlen(text);

    snprintf(text + len, STEP_STILL_TEXT - len, "%s", more);
}

/* "rank 0 in MPI_Recv, ranks 1 to 3 in MPI_Allreduce" */
static void add_calls(char text[STEP_STILL_TEXT],
                      const struct calls *c,
                      const char *verb)
{
    char one[160], who[64];

    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t call = c->each[i].call, ranks = c->each[i].ranks;
        const char *name = call > 0 ? mpi_call_name(call - 1) : NULL;

        if (ranks == 1)
            snprintf(who, sizeof who, "rank %" PRIu32, c->each[i].first);
        else if (c->each[i].last - c->each[i].first + 1 == ranks)
            snprintf(who, sizeof who, "ranks %" PRIu32 " %s %" PRIu32,
                     c->each[i].first, ranks == 2 ? "and" : "to",
                     c->each[i].last);
        else
            snprintf(who, sizeof who, "%" PRIu32 " ranks", ranks);
        snprintf(one, sizeof one, "%s%s%s%s in %s", i > 0 ? ", " : "", who,
                 i == 0 && *verb ? " " : "",
                 i > 0 || !*verb ? ""
                 : ranks == 1    ? "waits"
                                 : "wait",
                 name ? name : "MPI");
        add_text(text, one);
    }
    if (c->others > 0) {
        snprintf(one, sizeof one, ", %" PRIu32 " more in other calls",
                 c->others);
        add_text(text, one);
    }
}

int step_still_text(const struct step_times *t, char text[STEP_STILL_TEXT])
{
    struct step_standstill s;
    struct step_death d;
    struct calls c;

    if (!find(t, &s, &d, &c)
        || (s.is_dead
            && (s.waiting_ranks == 0
                || s.since_ns < 1.5 * (double)STEP_AT_ONCE_NS)))
        return 0;
    text[0] = '\0';
    if (s.is_dead) {
        step_death_tell(text, &d, t);
        add_text(text, "; ");
        add_calls(text, &c, "wait");
        add_text(text, " since then");
    } else if (s.is_stopped) {
        snprintf(text, STEP_STILL_TEXT,
                 "rank %" PRIu32 " on %s has had no CPU time for %.0f s "
                 "(stopped, or asleep); ",
                 s.rank, session_node(t->session, s.node)->name,
                 s.since_ns / NS);
        add_calls(text, &c, "wait");
    } else {
        snprintf(text, STEP_STILL_TEXT,
                 "all ranks have waited for %.0f s: ", s.since_ns / NS);
        add_calls(text, &c, "");
    }
    return 1;
}
