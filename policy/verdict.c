/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/verdict.h"
#include "policy/aggregate.h"

#include <math.h>

/* What a program has before its first call, and what is read late at its end:
 * no lack of CPU. */
#define SLACK_NS 3e8

/* --- the time of a rank --------------------------------------------------- */

/* How the useful time of a rank went. */
struct went {
    double cpu, taken, idle; /* it ran, was ready to run, neither */
};

/* Threads that are ready to run beside the one which calls MPI have shares of
 * the CPU that are alike.  Who waits may spin or sleep: the time that is neither
 * CPU nor delay is of the waiting first, and what is left is spread evenly over
 * the rest. */
static struct went went_of(const struct verdict_rank *r)
{
    double all = r->useful + r->waiting, cpu = r->cpu;
    double taken = fmax(r->delay, fmin(r->throttled, fmax(all - cpu, 0)));
    double ready = fmax((cpu + taken) / fmax(all, 1), 1);
    double idle = fmax(all - (cpu + taken) / ready, 0), awake;
    struct went w = {0};

    if (idle < SLACK_NS)
        idle = 0;
    awake = all - fmin(idle, r->waiting);
    w.idle = fmax(idle - r->waiting, 0);
    if (awake <= 0)
        return w;
    w.taken = fmin(r->useful * taken / ready / awake, r->useful - w.idle);
    w.cpu = fmax(r->useful - w.idle - w.taken, 0);
    return w;
}

/* Threads of the rank that are ready to run at once; none: not known. */
static double ready_of(const struct verdict_rank *r)
{
    return (r->cpu + r->delay) / fmax(r->useful + r->waiting, 1);
}

/* --- groups of ranks ------------------------------------------------------ */

enum value { USEFUL, CPU, TAKEN, IDLE, DELAY, READY, THROTTLED, IO_WAIT };

/* Ranks of a node, or of all but that; without one of them. */
struct group {
    size_t node;
    int is_there; /* of the node, else elsewhere... */
    int has_one;  /* ...only this one, or all but it: */
    int is_but;
    uint32_t one;
    int is_all; /* of any node */
};

static int is_in(const struct group *g, const struct verdict_rank *r)
{
    if (!g->is_all && (r->node == g->node) != g->is_there)
        return 0;
    return !g->has_one || (r->rank == g->one) != g->is_but;
}

static double value_of(const struct verdict_rank *r, enum value what)
{
    struct went w = went_of(r);

    switch (what) {
    case CPU:
        return w.cpu;
    case TAKEN:
        return w.taken;
    case IDLE:
        return w.idle;
    case DELAY:
        return fmax(r->delay, r->throttled);
    case READY:
        return ready_of(r);
    case THROTTLED:
        return r->throttled;
    case IO_WAIT:
        return r->io_wait;
    case USEFUL:
    default:
        return r->useful;
    }
}

static double median_of(const struct verdict_in *in,
                        const struct group *g,
                        enum value what)
{
    size_t n = 0;

    for (size_t i = 0; i < in->n; i++)
        if (is_in(g, &in->rank[i]))
            in->scratch[n++] = value_of(&in->rank[i], what);
    return aggregate_of(AGGREGATE_MEDIAN, in->scratch, n);
}

static int is_cpu_known(const struct verdict_in *in, const struct group *g)
{
    int n = 0;

    for (size_t i = 0; i < in->n; i++)
        if (is_in(g, &in->rank[i])) {
            if (!(in->rank[i].cpu > 0))
                return 0;
            n++;
        }
    return n > 0;
}

/* --- who ------------------------------------------------------------------ */

/* The busiest rank of a node, or of all: in->nodes. */
static const struct verdict_rank *busiest(const struct verdict_in *in,
                                          size_t node)
{
    const struct verdict_rank *best = NULL;

    for (size_t i = 0; i < in->n; i++)
        if ((node >= in->nodes || in->rank[i].node == node)
            && (!best || in->rank[i].useful > best->useful))
            best = &in->rank[i];
    return best;
}

/* Whose useful time is furthest below all others' median: where most have more
 * to do, the few that have less are the exception. */
static const struct verdict_rank *idlest(const struct verdict_in *in)
{
    const struct verdict_rank *best = in->rank;

    for (size_t i = 1; i < in->n; i++)
        if (in->rank[i].useful < best->useful)
            best = &in->rank[i];
    return best;
}

static double relative_speed(const struct verdict_in *in, size_t who)
{
    double middle;
    size_t n = 0, last = in->nodes;

    if (!(in->node[who].speed > 0))
        return 0;
    for (size_t i = 0; i < in->n; i++) {
        size_t node = in->rank[i].node;

        if (node == who || node == last)
            continue;
        if (!(in->node[node].speed > 0))
            return 0;
        in->scratch[n++] = in->node[node].speed;
        last = node;
    }
    middle = aggregate_of(AGGREGATE_MEDIAN, in->scratch, n);
    return middle > 0 ? in->node[who].speed / middle : 0;
}

static double median_of_others(const struct verdict_in *in,
                               const struct verdict_rank *r)
{
    struct group others = {r->node, 1, 1, 1, r->rank, 1};

    return median_of(in, &others, USEFUL);
}

/* Fill in who it is, and by how much.  Of a node whose other ranks do less than
 * those elsewhere, these are what is usual. */
static void compare(const struct verdict_in *in,
                    const struct verdict_rank *r,
                    struct verdict *v)
{
    struct group rest = {r->node, 1, 1, 1, r->rank, 0};
    struct group elsewhere = {.node = r->node};
    double here = median_of(in, &rest, USEFUL);
    double there = median_of(in, &elsewhere, USEFUL);

    v->node = r->node;
    v->rank = r->rank;
    v->longer = v->apart = 1;
    if (here <= 0)
        here = r->useful;
    else if (r->useful > here)
        here = fmin(fmax(here, median_of_others(in, r)), r->useful);
    if (here > 0)
        v->apart = r->useful / here;
    if (there > 0)
        v->longer = here / there;
    v->is_rank = v->apart > VERDICT_ALIKE && v->apart >= v->longer;
    v->speed = relative_speed(in, r->node);
}

/* --- why ------------------------------------------------------------------ */

/* How much of the node's being late its speed explains: none within the noise,
 * and no more than there is. */
static double slowness(const struct verdict_in *in,
                       const struct verdict *v,
                       double most)
{
    if (v->is_rank || !(v->speed > 0) || v->speed >= 1 - in->noise)
        return 1;
    return fmin(1 / v->speed, most);
}

/* By how much longer than other nodes with ranks a quota has held this one. */
static double throttled_more(const struct verdict_in *in, size_t who)
{
    size_t n = 0, last = in->nodes;

    for (size_t i = 0; i < in->n; i++) {
        size_t node = in->rank[i].node;

        if (node != who && node != last)
            in->scratch[n++] = in->node[node].throttled;
        last = node;
    }
    return in->node[who].throttled
           - aggregate_of(AGGREGATE_MEDIAN, in->scratch, n);
}

/* Who has had the CPU that it was ready to use: a quota only if it held this
 * one for longer than the others, as all of them may have one.  A node that a
 * quota holds, and whose probe was slow, too, is just that. */
static void blame_for_cpu(const struct verdict_in *in,
                          const struct group *late,
                          const struct group *rest,
                          double times,
                          struct verdict *v)
{
    double later = (1 - 1 / times) * median_of(in, late, USEFUL);
    const struct verdict_node *node = &in->node[v->node];
    double more = median_of(in, late, DELAY) - median_of(in, rest, DELAY);
    double held =
        fmax(median_of(in, late, THROTTLED) - median_of(in, rest, THROTTLED),
             v->is_rank ? 0 : throttled_more(in, v->node));
    double slow = slowness(in, v, times);

    v->cause = VERDICT_CPU;
    if (median_of(in, late, READY) > 1.5) {
        v->who = VERDICT_OWN;
    } else if (held > later / 4 && held >= more / 2) {
        v->who = VERDICT_QUOTA;
        if (slow * slow >= times)
            v->cause = VERDICT_SLOW;
    } else if (node->own_cpu >= 0.8 * node->cpus * in->all->elapsed) {
        v->who = VERDICT_OWN;
    } else {
        v->who = VERDICT_OTHERS;
    }
}

static void judge_without_cpu(const struct verdict_in *in, struct verdict *v)
{
    double slow = slowness(in, v, v->longer);

    if (v->is_rank || v->speed > 0)
        v->cause =
            slow > 1 && slow >= v->longer / slow ? VERDICT_SLOW : VERDICT_WORK;
    else
        v->cause = VERDICT_UNKNOWN;
}

static void judge_late(const struct verdict_in *in, struct verdict *v)
{
    struct group late = {v->node, 1, v->is_rank, 0, v->rank, 0};
    struct group rest = {v->node, v->is_rank, v->is_rank, 1, v->rank, 0};
    double useful = median_of(in, &late, USEFUL);
    double cpu = median_of(in, &late, CPU);
    double others = median_of(in, &rest, CPU);
    double taken = median_of(in, &late, TAKEN);
    double idle = median_of(in, &late, IDLE);
    double waited = median_of(in, &rest, TAKEN); /* to have CPU `others` */
    double times = v->is_rank ? v->apart : v->longer, slow;

    if (!is_cpu_known(in, &late) || !is_cpu_known(in, &rest) || useful <= 0) {
        judge_without_cpu(in, v);
        return;
    }
    v->share = cpu / useful;
    v->work = others > 0 ? cpu / others : times;
    if (v->work * v->work < times) { /* less than by half, as factors */
        /* Where all wait for CPUs, it has waited so much more. */
        if (idle < taken - (others > 0 ? cpu / others * waited : 0)) {
            blame_for_cpu(in, &late, &rest, times, v);
            return;
        }
        v->cause = VERDICT_IO;
        v->io = idle / useful;
        v->by_device = median_of(in, &late, IO_WAIT) >= idle / 2;
        return;
    }
    slow = slowness(in, v, v->work);
    v->cause = slow > 1 && slow >= v->work / slow ? VERDICT_SLOW : VERDICT_WORK;
}

/* --- what kind of thing it is --------------------------------------------- */

static double sum_of(const struct efficiency_tree *t)
{
    return t->lost[EFFICIENCY_NODES] + t->lost[EFFICIENCY_WITHIN]
           + t->lost[EFFICIENCY_SERIALISATION] + t->lost[EFFICIENCY_TRANSFER];
}

/* All ranks wait while one reads or writes. */
static int is_io(const struct verdict_in *in, double lost, struct verdict *v)
{
    const struct verdict_rank *most = NULL;

    for (size_t i = 0; i < in->n; i++)
        if (!most || in->rank[i].io > most->io)
            most = &in->rank[i];
    if (!most || 2 * most->io * (double)in->n < lost)
        return 0;
    v->cause = VERDICT_IO;
    v->by_device = v->by_mpi = 1;
    v->node = most->node;
    v->rank = most->rank;
    v->is_rank = 1;
    v->io = in->all->elapsed > 0 ? most->io / in->all->elapsed : 0;
    return 1;
}

static void judge_uneven(const struct verdict_in *in,
                         double moving,
                         double uneven,
                         struct verdict *v)
{
    const struct verdict_rank *late = busiest(in, in->worst);
    int is_late;

    if (!late)
        return;
    compare(in, late, v);
    is_late = late->useful > VERDICT_ALIKE * median_of_others(in, late);
    if (2 * moving > uneven && (in->most_last <= 0.5 || !is_late)) {
        if (uneven >= VERDICT_NAMELESS * in->all->ranks * in->all->elapsed)
            v->cause = VERDICT_MOVES;
        return;
    }
    if (!is_late) { /* not in all, as the regions of another node were */
        late = busiest(in, in->nodes);
        is_late = late->useful > VERDICT_ALIKE * median_of_others(in, late);
        compare(in, late, v);
    }
    if (is_late) {
        judge_late(in, v);
        return;
    }
    late = idlest(in);
    if (late->useful * in->all->ranks * VERDICT_ALIKE < in->all->useful) {
        compare(in, late, v);
        v->is_rank = v->apart <= v->longer;
        v->cause = VERDICT_LESS;
    }
}

struct verdict verdict_of(const struct verdict_in *in)
{
    const struct efficiency_tree *t = &in->tree;
    struct verdict v = {.longer = 1, .apart = 1};
    double balance = t->lost[EFFICIENCY_NODES] + t->lost[EFFICIENCY_WITHIN];
    double uneven = fmax(in->regional, balance), lost = sum_of(t);
    double all = in->all->ranks * in->all->elapsed;

    if (in->all->ranks < 2 || in->n == 0 || lost < VERDICT_LEAST * all)
        return v;
    if (2 * uneven >= lost
        || (balance >= VERDICT_NAMELESS * all && 4 * balance >= lost))
        judge_uneven(in, uneven - balance, uneven, &v);
    if (2 * uneven >= lost || verdict_is_late(&v))
        return v;
    /* Tasks that call no MPI do not wait for each other. */
    v = (struct verdict){.longer = 1, .apart = 1};
    if (!is_io(in, lost, &v) && in->all->calls > 0
        && lost >= VERDICT_NAMELESS * all)
        v.cause =
            t->lost[EFFICIENCY_TRANSFER] > t->lost[EFFICIENCY_SERIALISATION]
                ? VERDICT_TRANSFER
                : VERDICT_SERIALISATION;
    return v;
}

int verdict_is_late(const struct verdict *v)
{
    return v->cause == VERDICT_WORK || v->cause == VERDICT_CPU
           || v->cause == VERDICT_SLOW || v->cause == VERDICT_UNKNOWN
           || v->cause == VERDICT_IO;
}

/* --- names ---------------------------------------------------------------- */

const char *verdict_name(enum verdict_cause cause)
{
    static const char *const names[] = {
        [VERDICT_EVEN] = "even",
        [VERDICT_WORK] = "more work",
        [VERDICT_LESS] = "less work",
        [VERDICT_CPU] = "no cpu",
        [VERDICT_SLOW] = "slow node",
        [VERDICT_UNKNOWN] = "slow node or more work",
        [VERDICT_MOVES] = "moves",
        [VERDICT_SERIALISATION] = "communication",
        [VERDICT_TRANSFER] = "communication",
        [VERDICT_IO] = "io",
        [VERDICT_DIED] = "died",
    };

    return names[cause];
}

const char *verdict_who_name(enum verdict_who who)
{
    static const char *const names[] = {
        [VERDICT_OTHERS] = "others",
        [VERDICT_QUOTA] = "quota",
        [VERDICT_OWN] = "own threads",
    };

    return names[who];
}
