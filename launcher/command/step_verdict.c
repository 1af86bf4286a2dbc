/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define NS 1e9

static const char *name_of(const struct step_times *t, size_t node)
{
    return session_node(t->session, node)->name;
}

__attribute__((format(printf, 2, 3))) static void put(
    char text[STEP_VERDICT_TEXT], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, STEP_VERDICT_TEXT, format, args);
    va_end(args);
}

/* "its rank 5 ", or "its ranks ", which are more than one. */
static const char *ranks_text(char text[32], const struct verdict *v)
{
    if (v->is_rank)
        snprintf(text, 32, "its rank %" PRIu32, v->rank);
    else
        snprintf(text, 32, "its ranks");
    return text;
}

static double times_of(const struct verdict *v)
{
    return v->is_rank ? v->apart : v->longer;
}

/* --- who is late, and why ------------------------------------------------- */

static void slow_text(char text[STEP_VERDICT_TEXT], const struct verdict *v)
{
    double work = v->longer * v->speed;

    if (v->who == VERDICT_QUOTA)
        put(text,
            "it is slow (%.2f of the others' speed): a quota of the node holds "
            "it; its ranks have %s to do as others'",
            v->speed, work < 0.9 ? "not as much" : "as much");
    else if (work > 1.1)
        put(text,
            "it is slow (%.2f of the others' speed), and its ranks have %.2f "
            "times as much to do as others'",
            v->speed, work);
    else
        put(text,
            "it is slow (%.2f of the others' speed); its ranks have %s to do "
            "as others'",
            v->speed, work < 0.9 ? "not as much" : "as much");
}

static void work_text(char text[STEP_VERDICT_TEXT], const struct verdict *v)
{
    double times = v->work > 0 ? v->work : times_of(v);

    if (v->is_rank)
        put(text,
            "its rank %" PRIu32
            " has %.2f times as much to do as the others there",
            v->rank, times);
    else if (v->speed > 0 && v->work <= 0)
        put(text,
            "its ranks have %.2f times as much to do as others' (it has %.2f "
            "of the others' speed)",
            v->longer * v->speed, v->speed);
    else if (v->speed > 0)
        put(text,
            "its ranks have %.2f times as much to do as others', by their CPU "
            "time (it has %.2f of the others' speed)",
            times, v->speed);
    else
        put(text,
            "its ranks have %.2f times as much to do as others', by their CPU "
            "time",
            times);
}

static void cpu_text(char text[STEP_VERDICT_TEXT],
                     const struct step_times *t,
                     const struct verdict *v)
{
    const struct step_node *n = &t->node[v->node];
    char ranks[32], who[160];

    switch (v->who) {
    case VERDICT_QUOTA:
        snprintf(who, sizeof who, "a quota held %s",
                 v->is_rank ? "it" : "them");
        break;
    case VERDICT_OWN:
        snprintf(who, sizeof who,
                 "the step has more threads that are ready to run there than "
                 "CPUs (%.2g)",
                 n->cpus);
        break;
    case VERDICT_NOBODY:
    case VERDICT_OTHERS:
    default:
        snprintf(who, sizeof who,
                 "processes that are not the step's used %.1f s of CPU there",
                 n->others_cpu / NS);
        break;
    }
    put(text, "%s had a CPU for %.0f %% of the time that %s worked: %s",
        ranks_text(ranks, v), 100 * v->share, v->is_rank ? "it" : "they", who);
}

static void io_text(char text[STEP_VERDICT_TEXT], const struct verdict *v)
{
    char ranks[32];

    put(text, "%s waited for %s in %.0f %% of %s time, and not for a CPU",
        ranks_text(ranks, v), v->by_device ? "files" : "I/O, sleep or a GPU",
        100 * v->io, v->is_rank ? "its" : "their");
}

static void reason_text(char text[STEP_VERDICT_TEXT],
                        const struct step_times *t,
                        const struct verdict *v,
                        int is_steered)
{
    switch (v->cause) {
    case VERDICT_WORK:
        work_text(text, v);
        break;
    case VERDICT_CPU:
        cpu_text(text, t, v);
        break;
    case VERDICT_SLOW:
        slow_text(text, v);
        break;
    case VERDICT_IO:
        io_text(text, v);
        break;
    default:
        put(text, "its ranks take %.2f times as long as others'%s", v->longer,
            is_steered ? ", with the limits that steering gave them"
                       : ": it is slow, or they have more to do (no node was "
                         "measured)");
        break;
    }
}

static void guilty_text(struct step_verdict_text *to,
                        const struct step_times *t,
                        const struct step_summary *s,
                        int is_steered,
                        int is_cpu)
{
    int one = s->all.nodes < 2;
    double lost = (one ? s->lost_ranks_ns : s->lost_nodes_ns) / NS;
    char reason[STEP_VERDICT_TEXT], often[64] = "";

    reason_text(reason, t, &s->verdict, is_steered);
    if (is_cpu) {
        put(to->text,
            "%s%.100s used %.*f %s-seconds more of CPU time than the others%s: "
            "%.320s",
            one ? "a rank on " : "", name_of(t, s->worst), lost < 10 ? 2 : 0,
            lost, one ? "rank" : "node",
            t->node[s->worst].is_lost ? ", until it was lost" : "", reason);
        return;
    }
    if (s->last > 0)
        snprintf(often, sizeof often, "came last in %.0f of them, and ",
                 s->last);
    put(to->text, "%.100s%s %smade the others wait for %.*f %s-seconds: %.320s",
        name_of(t, s->worst),
        t->node[s->worst].is_lost ? ", until it was lost," : "", often,
        lost < 10 ? 2 : 0, lost, one ? "rank" : "node", reason);
}

/* --- nobody is late ------------------------------------------------------- */

static void less_text(struct step_verdict_text *to,
                      const struct step_times *t,
                      const struct verdict *v,
                      int is_cpu)
{
    if (v->is_rank)
        put(to->text,
            "rank %" PRIu32 " on %.100s has %.2f times as much to do as the "
            "others%s",
            v->rank, name_of(t, v->node), v->apart < 1 ? v->apart : v->longer,
            is_cpu ? "" : ", and waits for them");
    else
        put(to->text,
            "the ranks of %.100s have %.2f times as much to do as others'%s",
            name_of(t, v->node), v->longer,
            is_cpu ? "" : ", and wait for them");
}

static void nobody_text(struct step_verdict_text *to,
                        const struct step_times *t,
                        const struct step_summary *s,
                        int is_cpu)
{
    double lost = s->lost_ranks_ns / NS;
    int digits = lost < 10 ? 2 : 0;

    switch (s->verdict.cause) {
    case VERDICT_LESS:
        less_text(to, t, &s->verdict, is_cpu);
        break;
    case VERDICT_MOVES:
        put(to->text,
            "the imbalance moves: another rank is last in turn, none in more "
            "than %.0f %% of the regions; the others waited for %.*f "
            "rank-seconds",
            100 * s->most_last, digits, lost);
        break;
    case VERDICT_SERIALISATION:
        put(to->text,
            "no rank is late by itself: ranks wait for each other in turn, for "
            "%.*f rank-seconds",
            digits, lost);
        break;
    case VERDICT_TRANSFER:
        put(to->text,
            "no rank is late: messages take most of %.*f rank-seconds of "
            "waiting",
            digits, lost);
        break;
    default:
        break;
    }
}

/* --- how to check it ------------------------------------------------------ */

static void check_cpu(char text[STEP_VERDICT_TEXT],
                      const char *name,
                      enum verdict_who who)
{
    switch (who) {
    case VERDICT_QUOTA:
        put(text, "throttled_usec in cpu.stat of the step's cgroups on %s",
            name);
        break;
    case VERDICT_OWN:
        put(text, "OMP_NUM_THREADS, --cpus-per-task and \"top -H\" on %s",
            name);
        break;
    default:
        put(text, "\"ps -eo pcpu,user,args --sort=-pcpu\" on %s", name);
        break;
    }
}

static void check_text(char text[STEP_VERDICT_TEXT],
                       const char *name,
                       const struct verdict *v)
{
    switch (v->cause) {
    case VERDICT_SLOW:
    case VERDICT_UNKNOWN:
        put(text, "\"evenstep probe --nodes --check\"");
        break;
    case VERDICT_CPU:
        check_cpu(text, name, v->who);
        break;
    case VERDICT_IO:
        if (v->is_rank)
            put(text, "\"strace -c -f -p\" of rank %" PRIu32 " on %s", v->rank,
                name);
        else
            put(text, "\"iostat -x 1\" on %s", name);
        break;
    case VERDICT_WORK:
    case VERDICT_LESS:
        if (v->is_rank)
            put(text, "the part of the input or grid of rank %" PRIu32,
                v->rank);
        else
            put(text, "the parts of the input or grid of the ranks of %s",
                name);
        break;
    case VERDICT_MOVES:
        put(text, "column last of \"evenstep report\"");
        break;
    case VERDICT_SERIALISATION:
    case VERDICT_TRANSFER:
        put(text, "the calls with most waiting in \"evenstep report\"");
        break;
    default:
        break;
    }
}

void step_verdict_tell(struct step_verdict_text *v,
                       const struct step_times *t,
                       const struct step_summary *s,
                       int is_steered,
                       int is_cpu)
{
    *v->text = *v->check = '\0';
    if (verdict_is_late(&s->verdict))
        guilty_text(v, t, s, is_steered, is_cpu);
    else
        nobody_text(v, t, s, is_cpu);
    if (!is_steered || s->verdict.cause != VERDICT_UNKNOWN)
        check_text(v->check, name_of(t, s->worst), &s->verdict);
}
