/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/step_death.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define NEAR_NS   INT64_C(20000000)  /* no order between nodes */
#define UNSURE_NS INT64_C(300000000) /* nor where the plugin has not told */

static int signal_of(const struct step_rank *r)
{
    int plain = r->status & 0xffff;

    return r->status >= 0 && WIFSIGNALED(plain) ? WTERMSIG(plain) : 0;
}

/* May Slurm have ended it, or is it not known how it ended? */
static int is_by_others(const struct step_rank *r)
{
    int signal = signal_of(r);

    return r->status < 0
           || (!(r->status & RANK_NO_MEMORY)
               && (signal == SIGKILL || signal == SIGTERM));
}

/* What of ends at one time is more of a cause: of its own, then any signal. */
static int weight_of(const struct step_rank *r)
{
    return signal_of(r) == 0 ? 0 : 1 + !is_by_others(r);
}

static int is_near(const struct step_rank *a, const struct step_rank *b)
{
    int64_t apart = a->died_ns > b->died_ns ? a->died_ns - b->died_ns
                                            : b->died_ns - a->died_ns;

    return apart < (a->status < 0 || b->status < 0 ? UNSURE_NS : NEAR_NS);
}

static int is_before(const struct step_rank *a, const struct step_rank *b)
{
    if (is_near(a, b) && weight_of(a) != weight_of(b))
        return weight_of(a) > weight_of(b);
    return a->died_ns < b->died_ns;
}

static void add(struct step_death *d, const struct step_rank *r, size_t node)
{
    d->killed += r->status >= 0 && signal_of(r) != 0;
    if (d->dead++ == 0)
        d->signal = signal_of(r);
    else if (d->signal != signal_of(r))
        d->signal = 0;
    if (d->first && !is_before(r, d->first))
        return;
    d->first = r;
    d->node = node;
}

/* Of one that was killed the others may exit at once; but where more were, and
 * some have exited, either may be of the other. */
static int may_be_first(const struct step_death *d, const struct step_rank *r)
{
    int weight = weight_of(r), of_first = weight_of(d->first);

    return r != d->first && is_near(r, d->first)
           && (weight == of_first || (of_first < 2 && d->killed > 1));
}

void step_death_find(struct step_death *d, const struct step_times *t)
{
    *d = (struct step_death){0};
    for (size_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; k < t->node[i].n; k++) {
            const struct step_rank *r = &t->node[i].rank[k];

            d->ranks += r->state == RANK_DIED || step_times_counts(t, i);
            if (r->state == RANK_DIED)
                add(d, r, i);
        }
    d->is_sure = d->first != NULL;
    for (size_t i = 0; d->first && i < t->n; i++)
        for (uint32_t k = 0; k < t->node[i].n; k++) {
            const struct step_rank *r = &t->node[i].rank[k];

            if (r->state != RANK_DIED)
                continue;
            d->is_sure &= !may_be_first(d, r);
            if (r->died_ns - d->first->died_ns > d->within_ns)
                d->within_ns = r->died_ns - d->first->died_ns;
        }
}

int step_death_is_of_all(const struct step_death *d)
{
    return d->dead == d->ranks && d->dead > 1 && d->within_ns < STEP_AT_ONCE_NS;
}

/* --- in words ------------------------------------------------------------- */

static void tell_first(char text[STEP_DEATH_TEXT],
                       const struct step_death *d,
                       const char *node)
{
    const struct step_rank *r = d->first;
    double at = (r->useful + r->waiting) / 1e9;
    int n = snprintf(text, STEP_DEATH_TEXT, "rank %" PRIu32 " on %.64s ",
                     r->rank, node);
    size_t room = STEP_DEATH_TEXT - (size_t)n;

    if (r->status < 0)
        snprintf(text + n, room, "ended after %.1f s, without MPI_Finalize",
                 at);
    else if (r->status & RANK_NO_MEMORY)
        snprintf(text + n, room,
                 "was killed by the kernel, out of memory, after %.1f s", at);
    else if (signal_of(r))
        snprintf(text + n, room, "was killed by signal %d after %.1f s",
                 signal_of(r), at);
    else
        snprintf(text + n, room,
                 "exited with status %d after %.1f s, without MPI_Finalize",
                 WEXITSTATUS(r->status & 0xffff), at);
}

/* All have died, and Slurm has said why; or nobody knows which was the cause. */
static void tell_all(char text[STEP_DEATH_TEXT],
                     const struct step_death *d,
                     const struct step_times *t)
{
    double at = (d->first->useful + d->first->waiting) / 1e9;
    char how[32] = "ended";
    char first[128] = "";

    if (d->signal)
        snprintf(how, sizeof how, "were ended by signal %d", d->signal);
    if (t->why) {
        snprintf(text, STEP_DEATH_TEXT,
                 "all %" PRIu32 " ranks %s after %.1f s: %s", d->ranks, how, at,
                 t->why);
        return;
    }
    if (d->is_sure)
        snprintf(first, sizeof first, ", rank %" PRIu32 " on %.64s first",
                 d->first->rank, session_node(t->session, d->node)->name);
    snprintf(text, STEP_DEATH_TEXT,
             "all %" PRIu32 " ranks %s after %.1f s%s: %s, or the step was "
             "cancelled or reached its time limit",
             d->ranks, how, at, first,
             d->first->status < 0 ? "they left by themselves"
             : d->is_sure         ? "it was killed"
             : d->signal          ? "one was killed"
                                  : "one died");
}

void step_death_tell(char text[STEP_DEATH_TEXT],
                     const struct step_death *d,
                     const struct step_times *t)
{
    size_t len;

    if (step_death_is_of_all(d)
        && (t->why || !d->is_sure || is_by_others(d->first))) {
        tell_all(text, d, t);
        return;
    }
    tell_first(text, d, session_node(t->session, d->node)->name);
    len = strlen(text);
    if (d->dead > 1)
        snprintf(text + len, STEP_DEATH_TEXT - len, ", and %" PRIu32 " more",
                 d->dead - 1);
}
