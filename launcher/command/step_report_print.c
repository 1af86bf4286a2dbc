/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_report_print.h"
#include "launcher/base/json_member.h"
#include "launcher/base/mpi_names.h"
#include "launcher/base/report_head.h"
#include "launcher/command/step_ending.h"
#include "launcher/command/step_verdict.h"
#include "launcher/session/node_records.h"
#include "launcher/session/site_comment.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS           1e9
#define FACTORS_TEXT 160

static const char *name_of(const struct step_report_of *of, size_t node)
{
    return session_node(of->times->session, node)->name;
}

/* As in reports since there are any, which tools may know. */
static const char *worst_cause(const struct verdict *v)
{
    switch (v->cause) {
    case VERDICT_EVEN:
        return "none";
    case VERDICT_WORK:
        return v->is_rank ? "work of rank" : "work of node";
    case VERDICT_UNKNOWN:
        return "node";
    default:
        return verdict_name(v->cause);
    }
}

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

/* The factors of the efficiency, as the meter knows them. */
static void factors_text(char text[FACTORS_TEXT],
                         char threads[32],
                         const struct step_report_of *of)
{
    const struct efficiency *e = &of->summary->efficiency;
    char factor[32];

    threads_text(factor, threads, of->summary);
    snprintf(text, FACTORS_TEXT,
             of->is_cpu ? "parallel efficiency %.2f = load balance of CPU time "
                          "%.2f x CPU use of the busiest rank %.2f%s"
                        : "parallel efficiency %.2f = load balance %.2f x "
                          "communication %.2f%s",
             e->parallel, e->balance, e->communication, factor);
}

static void efficiency_line(char *line, const struct step_report_of *of)
{
    const struct step_summary *s = of->summary;
    char length[32], factors[FACTORS_TEXT], threads[32];
    int n;

    factors_text(factors, threads, of);
    n = snprintf(line, STEP_REPORT_LINE,
                 "step %" PRIu32 ".%" PRIu32 ": %s, over %.0f node%s, %" PRIu32
                 " rank%s%s, ",
                 of->job, of->step, factors, s->all.nodes,
                 s->all.nodes > 1 ? "s" : "", s->all.ranks,
                 s->all.ranks == 1 ? "" : "s", threads);

    if (s->all.regions > 0) {
        length_text(length, s->region_ns);
        snprintf(line + n, STEP_REPORT_LINE - (size_t)n, "%.0f regions of %s",
                 s->all.regions, length);
    } else {
        length_text(length, s->all.elapsed);
        snprintf(line + n, STEP_REPORT_LINE - (size_t)n, "%s", length);
    }
}

static int is_worth_it(const struct step_summary *s)
{
    return s->verdict.cause != VERDICT_EVEN;
}

static void verdict_line(char *line, const struct step_report_of *of)
{
    struct step_verdict_text v;

    step_verdict_tell(&v, of->times, of->summary, of->is_steered, of->is_cpu);
    snprintf(line, STEP_REPORT_LINE, "%.500s%s%.500s", v.text,
             *v.check ? "; check: " : "", v.check);
}

/* Without messages the first of their two factors is all that CPU time tells. */
static int has_factor(const struct step_report_of *of, size_t i)
{
    return (i != EFFICIENCY_TRANSFER || !of->is_cpu)
           && (i != EFFICIENCY_THREADS || of->summary->all.room > 0);
}

/* Where all that is lost goes. */
static void tree_line(char *line, const struct step_report_of *of)
{
    const char *names[EFFICIENCY_FACTORS] = {
        "between nodes", "within nodes",
        of->is_cpu ? "without a CPU in the busiest rank, too"
                   : "by serialisation",
        "by transfer", "by threads"};
    const struct step_summary *s = of->summary;
    const struct efficiency_tree *t = &s->tree;
    int n = snprintf(line, STEP_REPORT_LINE, "lost rank-seconds: ");

    for (size_t i = 0; i < EFFICIENCY_FACTORS; i++) {
        double lost = t->lost[i] / NS;

        if ((i == EFFICIENCY_NODES && s->all.nodes < 2) || !has_factor(of, i))
            continue;
        n +=
            snprintf(line + n, STEP_REPORT_LINE - (size_t)n, "%s%.*f %s (%.2f)",
                     i > 0 && line[n - 1] == ')' ? ", " : "", lost < 10 ? 2 : 0,
                     lost, names[i], t->factor[i]);
    }
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
    char factors[FACTORS_TEXT], threads[32];
    int n;

    factors_text(factors, threads, of);
    n = snprintf(line, STEP_REPORT_LINE,
                 SITE_COMMENT_BEGIN "step %" PRIu32 ": %s", of->step, factors);
    if (verdict_is_late(&s->verdict))
        snprintf(line + n, STEP_REPORT_LINE - (size_t)n,
                 ", slowest node %.120s", name_of(of, s->worst));
    else if (is_worth_it(s))
        snprintf(line + n, STEP_REPORT_LINE - (size_t)n, ", %s",
                 verdict_name(s->verdict.cause));
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

/* What may be wrong, where it is more than that. */
#define UNSURE_LEAST 0.01

static void unsure_line(char *line, const struct step_summary *s)
{
    snprintf(line, STEP_REPORT_LINE,
             "coverage: up to %.0f %% of a rank's time may be waiting that "
             "counts as useful: calls of MPI that are not metered, or of other "
             "threads",
             100 * s->unsure);
}

/* A step that ended at once, before its end: there is nothing to say of how its
 * time went. */
#define NOTHING_NS 0.5e9

static int is_nothing(const struct step_summary *s, enum step_ending ending)
{
    return ending == STEP_ENDING_EARLY
           && (s->all.elapsed < NOTHING_NS || s->all.regions <= 0);
}

size_t step_report_text(const struct step_report_of *of,
                        char line[STEP_REPORT_LINES][STEP_REPORT_LINE])
{
    const struct step_summary *s = of->summary;
    char ending[STEP_ENDING_TEXT];
    enum step_ending how = step_ending_tell(ending, of->times);
    size_t n = 0;

    if (is_nothing(s, how)) {
        snprintf(line[n++], STEP_REPORT_LINE,
                 "step %" PRIu32 ".%" PRIu32 ": %s", of->job, of->step, ending);
        return n;
    }
    efficiency_line(line[n++], of);
    if (how == STEP_ENDING_EARLY)
        snprintf(line[n++], STEP_REPORT_LINE, "%s", ending);
    if (is_worth_it(s)) {
        verdict_line(line[n++], of);
        tree_line(line[n++], of);
    }
    if (of->times->weight > 0 && s->all.ranks > 1)
        skew_line(line[n++], s);
    if (s->iterations.n > 0 && s->all.ranks > 1)
        iterations_line(line[n++], &s->iterations);
    if (s->unsure > UNSURE_LEAST)
        unsure_line(line[n++], s);
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

/* Names of the nodes, with commas between; those that have no room are not. */
static json_t *nodes_json(const struct step_report_of *of)
{
    char list[4096] = "";
    size_t n = 0;

    for (size_t i = 0; i < of->times->n; i++) {
        const char *name = name_of(of, i);

        if (n + strlen(name) + 2 > sizeof list)
            break;
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
                              n > 0 ? "," : "", name);
    }
    return json_text(list);
}

static json_t *head_json(const struct step_report_of *of)
{
    json_t *head = report_head("step", of->job, of->step);
    const struct efficiency_sum *all = &of->summary->all;
    const struct passwd *user = getpwuid(getuid());
    const char *binding = getenv("SLURM_CPU_BIND");

    if (of->command)
        head = json_member(head, "command", json_text(of->command));
    if (user)
        head = json_member(head, "user", json_text(user->pw_name));
    head = json_member(head, "nodes_list", nodes_json(of));
    head = json_member(head, "ranks", json_integer(all->ranks));
    if (all->room > 0 && all->ranks > 0)
        head = json_member(head, "threads_per_rank",
                           json_real((double)all->threads / all->ranks));
    if (binding && *binding)
        head = json_member(head, "binding", json_text(binding));
    if (of->nodes)
        head = json_member(head, "nodes", node_records(of->nodes));
    return head;
}

/* The factors, and the rank-seconds that each loses. */
static json_t *tree_json(json_t *line, const struct step_report_of *of)
{
    const char *keys[EFFICIENCY_FACTORS] = {
        "balance_nodes", "balance_within",
        of->is_cpu ? "communication" : "serialisation", "transfer", "threads"};
    const struct efficiency_tree *t = &of->summary->tree;
    json_t *lost = json_object();

    if (of->is_cpu)
        line = json_member(line, "meter", json_string("cpu"));
    for (size_t i = 0; i < EFFICIENCY_FACTORS; i++) {
        if (!has_factor(of, i))
            continue;
        /* The others are there, as thread_efficiency and communication. */
        if (i != EFFICIENCY_THREADS
            && (i != EFFICIENCY_SERIALISATION || !of->is_cpu))
            line = json_member(line, keys[i], json_real(t->factor[i]));
        lost = json_member(lost, keys[i], json_real(t->lost[i] / NS));
    }
    return json_member(line, "lost_seconds", lost);
}

static json_t *verdict_json(const struct step_report_of *of)
{
    const struct verdict *v = &of->summary->verdict;
    struct step_verdict_text text;
    json_t *o = json_pack("{s:s}", "cause", verdict_name(v->cause));

    step_verdict_tell(&text, of->times, of->summary, of->is_steered,
                      of->is_cpu);
    if (verdict_is_late(v) || v->cause == VERDICT_LESS) {
        o = json_member(o, "node", json_string(name_of(of, v->node)));
        if (v->is_rank || of->times->node[v->node].sum.ranks == 1)
            o = json_member(o, "rank", json_integer(v->rank));
    }
    if (verdict_who_name(v->who))
        o = json_member(o, "who", json_string(verdict_who_name(v->who)));
    o = json_member(o, "text", json_string(text.text));
    return json_member(o, "check", json_string(text.check));
}

static json_t *ending_json(json_t *line, const struct step_report_of *of)
{
    char ending[STEP_ENDING_TEXT];
    json_t *sites = step_ending_sites(of->times);

    line = json_member(line, "coverage", json_real(of->summary->unsure));
    if (step_ending_tell(ending, of->times) != STEP_ENDING_UNKNOWN)
        line = json_member(line, "ended", json_text(ending));
    return sites ? json_member(line, "sites", sites) : line;
}

static json_t *step_json(const struct step_report_of *of)
{
    double saved;
    const struct step_summary *s = of->summary;
    const struct verdict *r = &s->verdict;
    json_t *worst =
        json_pack("{s:s, s:I, s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "node",
                  name_of(of, s->worst), "rank", (json_int_t)s->rank, "cause",
                  worst_cause(r), "longer", r->longer, "apart", r->apart,
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
    line = tree_json(line, of);
    line = json_member(line, "verdict", verdict_json(of));
    line = ending_json(line, of);
    if (of->times->lost > 0)
        line = json_member(line, "lost_nodes",
                           json_integer((json_int_t)of->times->lost));
    if (of->energy)
        line = energy_json(line, energy_sum(of->energy));
    if (of->energy && of->saved
        && energy_saved_sum(of->saved, of->energy, &saved))
        line = json_member(line, "joules_saved", json_real(saved));
    line = json_member(line, "report", head_json(of));
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

/* How it is at the end, and of a rank that died why. */
static json_t *state_json(json_t *line, const struct step_rank *r)
{
    static const char *const states[] = {
        [RANK_USEFUL] = "useful",
        [RANK_IN_CALL] = "in call",
        [RANK_LEFT] = "left",
        [RANK_DIED] = "died",
    };
    const char *call = r->call > 0 ? mpi_call_name(r->call - 1) : NULL;
    int status = r->status & 0xffff;

    line = json_member(line, "state", json_string(states[r->state]));
    line = json_member(line, "since", json_real(r->since / NS));
    if (r->state == RANK_IN_CALL && call)
        line = json_member(line, "call", json_string(call));
    if (r->state != RANK_DIED || r->status < 0)
        return line;
    if (r->status & RANK_NO_MEMORY)
        line = json_member(line, "out_of_memory", json_true());
    return WIFSIGNALED(status)
               ? json_member(line, "signal", json_integer(WTERMSIG(status)))
               : json_member(line, "exit", json_integer(WEXITSTATUS(status)));
}

/* Of node and CPU, in seconds but for two. */
static json_t *use_json(json_t *line, const struct step_rank *r)
{
    const struct {
        const char *name;
        double ns;
    } times[] = {
        {"io", r->io},
        {"polled", r->polled},
        {"transfer", r->transfer},
        {"unsure", r->unsure},
        {"cpu", r->cpu},
        {"run_delay", r->delay},
        {"throttled", r->throttled},
        {"io_wait", r->io_wait},
        {"borrowed", r->borrowed},
        {"lent", r->lent},
    };

    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        line = json_member(line, times[i].name, json_real(times[i].ns / NS));
    line = json_member(line, "switches",
                       json_integer((json_int_t)(r->switches & INT64_MAX)));
    return json_member(line, "rss",
                       json_integer((json_int_t)(r->rss & INT64_MAX)));
}

/* In steps of a thousandth, which is more than the quarter of a percent that
 * came. */
static json_t *part_json(uint8_t part)
{
    return json_real(round(part / 0.255) / 1000);
}

static json_t *bins_json(const struct msg_rank_detail *d)
{
    json_t *useful = json_array(), *waiting = json_array();
    json_t *io = json_array(), *no_cpu = json_array();

    for (uint32_t i = 0; i < d->bins; i++) {
        (void)json_array_append_new(useful, part_json(d->bin[i].useful));
        (void)json_array_append_new(waiting, part_json(d->bin[i].waiting));
        (void)json_array_append_new(io, part_json(d->bin[i].io));
        (void)json_array_append_new(no_cpu, part_json(d->bin[i].no_cpu));
    }
    return json_pack("{s:f, s:o, s:o, s:o, s:o}", "seconds", d->bin_ns / NS,
                     "useful", useful, "waiting", waiting, "io", io, "no_cpu",
                     no_cpu);
}

static json_t *sites_json(const struct msg_rank_detail *d)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < d->sites; i++) {
        const struct msg_rank_site *s = &d->site[i];
        const char *call = s->call > 0 ? mpi_call_name(s->call - 1) : NULL;

        (void)json_array_append_new(
            all,
            json_pack("{s:s, s:s, s:f, s:I}", "call", call ? call : "others",
                      "where", s->where, "waiting", s->waiting / NS, "calls",
                      (json_int_t)(s->calls & INT64_MAX)));
    }
    return all;
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
    line = threads_json(line, r->threads, r->busy, r->room);
    if (!of->is_cpu) /* which knows no more than that */
        line = state_json(use_json(line, r), r);
    if (r->detail && r->detail->bins > 0)
        line = json_member(line, "bins", bins_json(r->detail));
    if (r->detail && r->detail->sites > 0)
        line = json_member(line, "sites", sites_json(r->detail));
    return line;
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
