/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_report_print.h"
#include "launcher/base/json_member.h"
#include "launcher/base/report_head.h"
#include "launcher/session/node_records.h"
#include "launcher/session/site_comment.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define NS 1e9
/* Below it the others waited too little to name anybody. */
#define WAITED_LEAST 0.02 /* of all their time */

static const char *name_of(const struct step_report_of *of, size_t node)
{
    return session_node(of->times->session, node)->name;
}

static const char *const causes[] = {
    [EFFICIENCY_EVEN] = "none",
    [EFFICIENCY_SLOW_NODE] = "slow node",
    [EFFICIENCY_NODE_WORK] = "work of node",
    [EFFICIENCY_NODE] = "node",
    [EFFICIENCY_RANK_WORK] = "work of rank",
};

/* --- for people ----------------------------------------------------------- */

/* A length as people say it. */
static void length_text(char text[32], double ns)
{
    if (ns < 1e3)
        snprintf(text, 32, "%.0f ns", ns);
    else if (ns < 1e6)
        snprintf(text, 32, "%.3g us", ns / 1e3);
    else if (ns < 1e9)
        snprintf(text, 32, "%.3g ms", ns / 1e6);
    else
        snprintf(text, 32, "%.1f s", ns / NS);
}

/* Where the time of threads is known: the factor, and how many there are. */
static void threads_text(char factor[32],
                         char threads[32],
                         const struct step_summary *s)
{
    *factor = *threads = '\0';
    if (s->all.room <= 0)
        return;
    snprintf(factor, 32, " x threads %.2f", s->efficiency.threads);
    snprintf(threads, 32, " with %" PRIu32 " threads", s->all.threads);
}

static void efficiency_line(char *line, const struct step_report_of *of)
{
    const struct step_summary *s = of->summary;
    const struct efficiency *e = &s->efficiency;
    char length[32], factor[32], threads[32];
    int n;

    threads_text(factor, threads, s);
    n = snprintf(line, STEP_REPORT_LINE,
                 "step %" PRIu32 ".%" PRIu32
                 ": parallel efficiency %.2f = load balance %.2f x "
                 "communication %.2f%s, over %.0f node%s, %" PRIu32
                 " rank%s%s, ",
                 of->job, of->step, e->parallel, e->balance, e->communication,
                 factor, s->all.nodes, s->all.nodes > 1 ? "s" : "",
                 s->all.ranks, s->all.ranks == 1 ? "" : "s", threads);

    if (s->all.regions > 0) {
        length_text(length, s->region_ns);
        snprintf(line + n, STEP_REPORT_LINE - (size_t)n, "%.0f regions of %s",
                 s->all.regions, length);
    } else {
        length_text(length, s->all.elapsed);
        snprintf(line + n, STEP_REPORT_LINE - (size_t)n, "%s", length);
    }
}

/* Why the worst node or rank is late. */
static void reason_text(char text[256], const struct step_report_of *of)
{
    const struct step_summary *s = of->summary;
    const struct efficiency_reason *r = &s->reason;
    double work = r->longer * r->speed;

    switch (r->cause) {
    case EFFICIENCY_SLOW_NODE:
        if (work > 1.1)
            snprintf(text, 256,
                     "it is slow (%.2f of the others' speed), and its ranks "
                     "have %.2f times as much to do as others'",
                     r->speed, work);
        else
            snprintf(text, 256,
                     "it is slow (%.2f of the others' speed); its ranks have "
                     "%s to do as others'",
                     r->speed, work < 0.9 ? "not as much" : "as much");
        break;
    case EFFICIENCY_NODE_WORK:
        snprintf(text, 256,
                 "its ranks have %.2f times as much to do as others' (it has "
                 "%.2f of the others' speed)",
                 work, r->speed);
        break;
    case EFFICIENCY_NODE:
        snprintf(text, 256, "its ranks take %.2f times as long as others'%s",
                 r->longer,
                 of->is_steered ? ", with the limits that steering gave them"
                                : ": it is slow, or they have more to do (no "
                                  "node was measured)");
        break;
    case EFFICIENCY_RANK_WORK:
        snprintf(text, 256,
                 "its rank %" PRIu32
                 " has %.2f times as much to do as the others there",
                 s->rank, r->apart);
        break;
    case EFFICIENCY_EVEN:
    default:
        snprintf(text, 256, "all in all its ranks take as long as others'");
        break;
    }
}

static int is_worth_it(const struct step_summary *s)
{
    double all = s->all.ranks * s->all.elapsed;

    return s->all.ranks > 1 && s->lost_ranks_ns >= WAITED_LEAST * all;
}

static void worst_line(char *line, const struct step_report_of *of)
{
    const struct step_summary *s = of->summary;
    int one = s->all.nodes < 2;
    double lost = (one ? s->lost_ranks_ns : s->lost_nodes_ns) / NS;
    char reason[256], often[64] = "";

    reason_text(reason, of);
    if (s->last > 0)
        snprintf(often, sizeof often, "came last in %.0f of them, and ",
                 s->last);
    snprintf(line, STEP_REPORT_LINE,
             "%s%s %smade the others wait for %.*f %s-seconds: %s",
             name_of(of, s->worst),
             of->times->node[s->worst].is_lost ? ", until it was lost," : "",
             often, lost < 10 ? 2 : 0, lost, one ? "rank" : "node", reason);
}

static void skew_line(char *line, const struct step_summary *s)
{
    char mean[32], most[32];

    length_text(mean, s->skew_ns);
    length_text(most, s->skew_most_ns);
    snprintf(line, STEP_REPORT_LINE,
             "from the first rank to the last at the end of a region: %s, at "
             "most %s",
             mean, most);
}

void step_report_comment(const struct step_report_of *of,
                         char line[STEP_REPORT_LINE])
{
    const struct step_summary *s = of->summary;
    const struct efficiency *e = &s->efficiency;
    char factor[32], threads[32];
    int n;

    threads_text(factor, threads, s);
    n = snprintf(line, STEP_REPORT_LINE,
                 SITE_COMMENT_BEGIN "step %" PRIu32
                                    ": parallel efficiency %.2f = load balance "
                                    "%.2f x communication %.2f%s",
                 of->step, e->parallel, e->balance, e->communication, factor);
    if (is_worth_it(s))
        snprintf(line + n, STEP_REPORT_LINE - (size_t)n,
                 ", slowest node %.120s", name_of(of, s->worst));
}

static void iterations_line(char *line, const struct step_iterations *it)
{
    char median[32], mean[32], most[32];

    length_text(median, it->median_ns);
    length_text(mean, it->skew_ns);
    length_text(most, it->skew_most_ns);
    snprintf(line, STEP_REPORT_LINE,
             "%.0f iterations were found, of %" PRIu32
             " region%s and %s (median): in one the busiest rank works %s "
             "longer than the least busy, at most %s",
             it->n, it->period, it->period == 1 ? "" : "s", median, mean, most);
}

/* Nodes whose agents were lost: the first by name, and how many more. */
static void lost_line(char *line, const struct step_times *t)
{
    int all = t->lost == t->n;
    char others[48] = "";
    size_t i = 0;

    while (!t->node[i].is_lost)
        i++;
    if (t->lost > 1)
        snprintf(others, sizeof others, " and %zu more node%s", t->lost - 1,
                 t->lost > 2 ? "s" : "");
    snprintf(line, STEP_REPORT_LINE,
             "%s (after %.1f s)%s: the agent was lost: what is known %s "
             "until then%s",
             session_node(t->session, i)->name, t->node[i].sum.elapsed / NS,
             others, all ? "of the step is" : "of its ranks is",
             all ? "" : ", and not in what is said of all");
}

size_t step_report_text(const struct step_report_of *of,
                        char line[STEP_REPORT_LINES][STEP_REPORT_LINE])
{
    const struct step_summary *s = of->summary;
    size_t n = 0;

    efficiency_line(line[n++], of);
    if (is_worth_it(s))
        worst_line(line[n++], of);
    if (of->times->weight > 0 && s->all.ranks > 1)
        skew_line(line[n++], s);
    if (s->iterations.n > 0 && s->all.ranks > 1)
        iterations_line(line[n++], &s->iterations);
    if (of->times->lost > 0)
        lost_line(line[n++], of->times);
    return n;
}

int step_report_energy(uint32_t job,
                       uint32_t step,
                       const struct energy_watch *energy,
                       const struct energy_saved *saved,
                       char line[STEP_REPORT_LINE])
{
    struct energy_view sum = energy_sum(energy);
    char used[ENERGY_TEXT], less[96] = "";
    double joules;

    if (sum.source == ENERGY_UNKNOWN)
        return 0;
    energy_used_text(used, &sum);
    if (saved && energy_saved_sum(saved, energy, &joules))
        snprintf(less, sizeof less,
                 ", %.4g kJ %s than at the watts before limits were lowered",
                 fabs(joules) / 1e3, joules < 0 ? "more" : "less");
    snprintf(line, STEP_REPORT_LINE,
             "step %" PRIu32 ".%" PRIu32 ": its nodes have used %s%s", job,
             step, used, less);
    return 1;
}

/* --- for programs --------------------------------------------------------- */

/* Nothing is added if it is not known. */
static json_t *threads_json(json_t *line,
                            uint32_t threads,
                            double busy,
                            double room)
{
    if (room <= 0)
        return line;
    line = json_member(line, "threads", json_integer(threads));
    line = json_member(line, "thread_efficiency", json_real(busy / room));
    return json_member(line, "busy", json_real(busy / NS));
}

static json_t *efficiency_json(json_t *line, const struct efficiency_sum *sum)
{
    struct efficiency e = efficiency_of(sum);

    line = json_member(line, "ranks", json_integer(sum->ranks));
    line = json_member(line, "parallel", json_real(e.parallel));
    line = json_member(line, "load_balance", json_real(e.balance));
    line = json_member(line, "communication", json_real(e.communication));
    line = threads_json(line, sum->threads, sum->busy, sum->room);
    line = json_member(line, "elapsed", json_real(sum->elapsed / NS));
    line = json_member(line, "useful", json_real(sum->useful / NS));
    line = json_member(line, "waiting", json_real(sum->waiting / NS));
    return json_member(line, "calls", json_real(sum->calls));
}

/* Nothing is added if it is not known. */
static json_t *energy_json(json_t *line, struct energy_view e)
{
    if (e.source == ENERGY_UNKNOWN)
        return line;
    line =
        json_member(line, "energy", json_string(energy_source_name(e.source)));
    line = json_member(line, "joules", json_real(e.joules));
    return json_member(line, "watts", json_real(e.joules / e.seconds));
}

/* Of a node whose agent was lost: how far its time is known. */
static json_t *lost_json(json_t *line, const struct step_node *n)
{
    return n->is_lost
               ? json_member(line, "lost", json_real(n->sum.elapsed / NS))
               : line;
}

/* Nothing is added if none were found. */
static json_t *iterations_json(json_t *line, const struct step_iterations *it)
{
    if (!(it->n > 0))
        return line;
    line = json_member(line, "iterations", json_real(it->n));
    line = json_member(line, "iteration_regions", json_integer(it->period));
    line =
        json_member(line, "iteration_seconds", json_real(it->median_ns / NS));
    line = json_member(line, "iteration_skew", json_real(it->skew_ns / NS));
    return json_member(line, "iteration_skew_most",
                       json_real(it->skew_most_ns / NS));
}

static json_t *step_json(const struct step_report_of *of)
{
    double saved;
    json_t *head;
    const struct step_summary *s = of->summary;
    const struct efficiency_reason *r = &s->reason;
    json_t *worst =
        json_pack("{s:s, s:I, s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "node",
                  name_of(of, s->worst), "rank", (json_int_t)s->rank, "cause",
                  causes[r->cause], "longer", r->longer, "apart", r->apart,
                  "speed", r->speed, "last", s->last, "rank_seconds",
                  s->lost_ranks_ns / NS, "node_seconds", s->lost_nodes_ns / NS);
    json_t *line = json_pack("{s:s, s:I, s:I, s:f}", "type", "step", "job",
                             (json_int_t)of->job, "step", (json_int_t)of->step,
                             "nodes", s->all.nodes);

    line = efficiency_json(line, &s->all);
    line = json_member(line, "regions", json_real(s->all.regions));
    line = json_member(line, "seen", json_real(of->times->seen));
    line = json_member(line, "region_seconds", json_real(s->region_ns / NS));
    line = json_member(line, "skew", json_real(s->skew_ns / NS));
    line = json_member(line, "skew_most", json_real(s->skew_most_ns / NS));
    line = iterations_json(line, &s->iterations);
    if (of->times->lost > 0)
        line = json_member(line, "lost_nodes",
                           json_integer((json_int_t)of->times->lost));
    if (of->energy)
        line = energy_json(line, energy_sum(of->energy));
    if (of->energy && of->saved
        && energy_saved_sum(of->saved, of->energy, &saved))
        line = json_member(line, "joules_saved", json_real(saved));
    head = report_head("step", of->job, of->step);
    if (of->nodes)
        head = json_member(head, "nodes", node_records(of->nodes));
    line = json_member(line, "report", head);
    return json_member(line, "worst", worst);
}

static json_t *node_json(const struct step_report_of *of, size_t i)
{
    const struct step_node *n = &of->times->node[i];
    double scale = step_times_scale(of->times, &of->summary->all);
    json_t *line =
        json_pack("{s:s, s:s}", "type", "node", "node", name_of(of, i));

    line = lost_json(efficiency_json(line, &n->sum), n);
    line = json_member(line, "last", json_real(scale * n->last));
    line = json_member(line, "rank_seconds",
                       json_real(scale * n->lost.ranks / NS));
    line = json_member(line, "node_seconds",
                       json_real(scale * n->lost.nodes / NS));
    if (of->speed)
        line = json_member(line, "JL", json_real(of->speed[i]));
    return of->energy ? energy_json(line, energy_view(of->energy, i)) : line;
}

static json_t *rank_json(const struct step_report_of *of,
                         size_t i,
                         const struct step_rank *r)
{
    double scale = step_times_scale(of->times, &of->summary->all);

    json_t *line = json_pack(
        "{s:s, s:s, s:I, s:f, s:f, s:f, s:f}", "type", "rank", "node",
        name_of(of, i), "rank", (json_int_t)r->rank, "useful", r->useful / NS,
        "waiting", r->waiting / NS, "calls", r->calls, "last", scale * r->last);

    line = lost_json(line, &of->times->node[i]);
    return threads_json(line, r->threads, r->busy, r->room);
}

/* Takes over line, which may be NULL: no memory. */
static int write_line(FILE *out, json_t *line)
{
    char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
    int rc = -1;

    errno = ENOMEM;
    if (text && fputs(text, out) != EOF && putc('\n', out) != EOF)
        rc = 0;
    free(text);
    json_decref(line);
    return rc;
}

int step_report_write(FILE *out, const struct step_report_of *of)
{
    const struct step_times *t = of->times;

    if (write_line(out, step_json(of)) < 0)
        return -1;
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].sum.ranks > 0 && write_line(out, node_json(of, i)) < 0)
            return -1;
    for (size_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; k < t->node[i].n; k++)
            if (write_line(out, rank_json(of, i, &t->node[i].rank[k])) < 0)
                return -1;
    return fflush(out) == 0 ? 0 : -1;
}
