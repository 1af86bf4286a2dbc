/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/top_print.h"
#include "launcher/run/progress_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR 20 /* characters for a whole region */

/* --- order ---------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct top_node *x = a, *y = b;

    return strverscmp(x->name, y->name);
}

static int compare(double x, double y)
{
    return (x > y) - (x < y);
}

static int by_speed(const void *a, const void *b)
{
    const struct top_node *x = a, *y = b;

    return compare(x->speed, y->speed);
}

static int by_waiting(const void *a, const void *b)
{
    const struct top_node *x = a, *y = b;

    return compare(y->waiting, x->waiting);
}

static int by_limit(const void *a, const void *b)
{
    const struct top_node *x = a, *y = b;

    return compare(y->limit, x->limit);
}

void top_sort(struct top_step *step, enum top_order order)
{
    static int (*const orders[])(const void *, const void *) = {
        [TOP_BY_NAME] = by_name,
        [TOP_BY_SPEED] = by_speed,
        [TOP_BY_WAITING] = by_waiting,
        [TOP_BY_LIMIT] = by_limit,
    };

    if (step->n > 0) /* a run has none */
        qsort(step->node, step->n, sizeof *step->node, orders[order]);
}

/* --- lines ---------------------------------------------------------------- */

/* The time of a node's ranks, or of all that have some. */
static struct efficiency_sum sum_of(const struct top_ranks *r)
{
    return (struct efficiency_sum){.ranks = (uint32_t)r->n,
                                   .useful = r->useful,
                                   .waiting = r->waiting,
                                   .most = r->most,
                                   .elapsed = r->elapsed};
}

static struct efficiency_sum sum_of_all(const struct top_step *step)
{
    struct efficiency_sum all = {0};

    for (size_t i = 0; i < step->n; i++) {
        struct efficiency_sum node = sum_of(&step->node[i].ranks);

        efficiency_add_node(&all, &node);
    }
    return all;
}

/* ", 812 W, 12.4 kJ measured", of n nodes; "" if none of it is known. */
static void energy_text(char text[64], const struct top_node node[], size_t n)
{
    double joules = 0, watts = 0;
    const char *source = "";

    for (size_t i = 0; i < n; i++) {
        if (!node[i].energy[0] || !(node[i].seconds > 0))
            continue;
        joules += node[i].joules;
        watts += node[i].joules / node[i].seconds;
        if (strcmp(source, "modelled") != 0) /* if only one is, all is */
            source = node[i].energy;
    }
    text[0] = '\0';
    if (source[0])
        snprintf(text, 64, ", %.4g W, %.4g kJ %s", watts, joules / 1e3, source);
}

void top_step_line(char line[TOP_LINE], const struct top_step *step)
{
    const char *proxy = strcmp(step->meter, "cpu") == 0 ? " (a proxy)" : "";
    struct efficiency_sum all = sum_of_all(step);
    struct efficiency e = efficiency_of(&all);
    char parallel[80] = "", energy[64];

    if (all.ranks > 0)
        snprintf(parallel, sizeof parallel, ", efficiency %.2f (balance %.2f)",
                 e.parallel, e.balance);
    energy_text(energy, step->node, step->n);
    snprintf(line, TOP_LINE,
             "step %" PRIu32 ".%" PRIu32 ": %zu nodes, skew %.6f%s%s%s%s%s",
             step->job, step->step, step->n, step->skew, parallel,
             step->meter[0] ? ", metered by " : "", step->meter, proxy, energy);
}

void top_run_line(char line[TOP_LINE], const struct top_step *step, int columns)
{
    const struct top_run *r = &step->run;
    const struct tally_now now = {.frame = (uint64_t)r->frame,
                                  .frames = (uint64_t)r->frames,
                                  .done = (uint64_t)r->done,
                                  .all = (uint64_t)r->all,
                                  .rate = r->rate,
                                  .left = r->left};
    char text[PROGRESS_TEXT];
    int n = snprintf(line, TOP_LINE, "run %" PRIu32 ".%" PRIu32 ": ", step->job,
                     step->step);
    int room = columns < TOP_LINE ? columns - n : TOP_LINE - 1 - n;

    progress_text_bar(text, room > 0 ? (size_t)room : 0, &now, r->efficiency);
    snprintf(line + n, TOP_LINE - (size_t)n, "%.*s", TOP_LINE - 1 - n, text);
}

void top_group_line(char line[TOP_LINE], const struct top_group *group)
{
    const double *v = group->speed;

    if (group->n == 0) {
        snprintf(line, TOP_LINE, "all: no speed is known yet");
        return;
    }
    snprintf(line, TOP_LINE,
             "%s%.40s: speed/s of %zu: min %.3f mean %.3f median %.3f "
             "variance %.5f deviation %.4f",
             group->rack[0] ? "rack " : "all", group->rack, group->n,
             v[AGGREGATE_MIN], v[AGGREGATE_MEAN], v[AGGREGATE_MEDIAN],
             v[AGGREGATE_VARIANCE], v[AGGREGATE_DEVIATION]);
}

const char *top_head(const struct top_step *step)
{
    return sum_of_all(step).ranks > 0
               ? "node                 ranks  useful  waiting  efficiency"
                 "     last  speed/s  limit"
               : "node                 region               speed/s"
                 "  waiting    skew  share  limit";
}

/* Draw how much of its region is done.  A whole number is the end of the region
 * before. */
static void draw_bar(char bar[BAR + 1], double progress)
{
    double part = progress - floor(progress);
    size_t full;

    if (part <= 0 && progress > 0)
        part = 1;
    full = (size_t)(part * BAR + 0.5);
    memset(bar, '.', BAR);
    memset(bar, '#', full < BAR ? full : BAR);
    bar[BAR] = '\0';
}

static double all_limits(const struct top_step *step)
{
    double all = 0;

    for (size_t i = 0; i < step->n; i++)
        all += step->node[i].limit;
    return all;
}

static void limit_text(char text[48], const struct top_node *node)
{
    if (strcmp(node->unit, "us/s") == 0)
        snprintf(text, 48, "%.1f%% CPU", node->limit / 1e4);
    else if (strcmp(node->unit, "uW") == 0)
        snprintf(text, 48, "%.1f W", node->limit / 1e6);
    else if (strcmp(node->unit, "kHz") == 0)
        snprintf(text, 48, "%.0f MHz", node->limit / 1e3);
    else
        snprintf(text, 48, "%s", node->unit[0] ? node->unit : "-");
}

static void rank_line(char line[TOP_LINE], const struct top_node *node)
{
    const struct top_ranks *r = &node->ranks;
    const struct efficiency_sum sum = sum_of(r);
    double all = r->useful + r->waiting;
    char limit[48], energy[64];

    limit_text(limit, node);
    energy_text(energy, node, 1);
    snprintf(line, TOP_LINE,
             "%-20.20s %5.0f %6.1f%% %7.1f%% %11.2f %8.0f %8.3f  %s%s",
             node->name, r->n, all > 0 ? 100 * r->useful / all : 0,
             100 * node->waiting, efficiency_of(&sum).parallel, r->last,
             node->speed, limit, energy);
}

void top_node_line(char line[TOP_LINE],
                   const struct top_step *step,
                   const struct top_node *node)
{
    double all = all_limits(step);
    char bar[BAR + 1], limit[48], share[16] = "-", energy[64];

    if (sum_of_all(step).ranks > 0) {
        rank_line(line, node);
        return;
    }
    energy_text(energy, node, 1);
    draw_bar(bar, node->progress);
    limit_text(limit, node);
    if (node->limit > 0)
        snprintf(share, sizeof share, "%.3f", node->limit / all);
    snprintf(line, TOP_LINE, "%-20.20s %s %7.3f %7.1f%% %7.4f %6s  %s%s",
             node->name, bar, node->speed, 100 * node->waiting, node->skew,
             share, limit, energy);
}

/* --- Prometheus ----------------------------------------------------------- */

static const struct metric_text {
    const char *name, *help;
    size_t value; /* offset in struct top_node */
} metrics[] = {
    {"progress_regions", "Parallel regions done since the meters began.",
     offsetof(struct top_node, progress)},
    {"speed_regions_per_second", "Regions a second of work, last round.",
     offsetof(struct top_node, speed)},
    {"waiting_ratio", "Part of the time that is waited at the barrier.",
     offsetof(struct top_node, waiting)},
    {"slots", "Threads that are metered.", offsetof(struct top_node, slots)},
    {"skew", "Variance / mean of the threads' fractions.",
     offsetof(struct top_node, skew)},
    {"misuse_total", "Ticks that made no sense.",
     offsetof(struct top_node, misuse)},
    {"joules_total", "Energy used by the node; 0: not known.",
     offsetof(struct top_node, joules)},
    {"limit", "What the node may use, in the actuator's unit; 0: no limit.",
     offsetof(struct top_node, limit)},
};

static double value_of(const struct top_node *node, size_t offset)
{
    double v;

    memcpy(&v, (const char *)node + offset, sizeof v);
    return v;
}

static void print_metric(FILE *file,
                         const struct metric_text *m,
                         const struct top_step steps[],
                         size_t n)
{
    fprintf(file, "# HELP evenstep_%s %s\n# TYPE evenstep_%s gauge\n", m->name,
            m->help, m->name);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < steps[i].n; k++)
            fprintf(file,
                    "evenstep_%s{job=\"%" PRIu32 "\",step=\"%" PRIu32
                    "\",node=\"%s\"} %.17g\n",
                    m->name, steps[i].job, steps[i].step, steps[i].node[k].name,
                    value_of(&steps[i].node[k], m->value));
}

/* All aggregates but the skew, which is defined for fractions, not for speeds.
 */
static void print_group(FILE *file,
                        const struct top_step *step,
                        const struct top_group *group)
{
    for (enum aggregate how = AGGREGATE_MIN; how < AGGREGATE_SKEW; how++)
        fprintf(file,
                "evenstep_group_speed{job=\"%" PRIu32 "\",step=\"%" PRIu32
                "\",rack=\"%s\",aggregate=\"%s\"} %.17g\n",
                step->job, step->step, group->rack, aggregate_name(how),
                group->speed[how]);
}

static void print_groups(FILE *file, const struct top_step *step)
{
    struct top_group *rack, all;
    size_t n = top_groups_find(step, &rack, &all);

    for (size_t i = 0; i < n; i++)
        print_group(file, step, &rack[i]);
    print_group(file, step, &all);
    free(rack);
}

static void print_all(FILE *file, const struct top_step steps[], size_t n)
{
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        print_metric(file, &metrics[i], steps, n);
    fprintf(file, "# HELP evenstep_group_speed Regions a second of work, of a "
                  "rack's nodes; rack \"\": of the step.\n"
                  "# TYPE evenstep_group_speed gauge\n");
    for (size_t i = 0; i < n; i++)
        print_groups(file, &steps[i]);
}

int top_metrics_write(const char *path,
                      const struct top_step steps[],
                      size_t n,
                      struct es_error *err)
{
    char beside[4096];
    FILE *file = NULL;
    int bad = 1;

    if ((size_t)snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid())
        < sizeof beside)
        file = fopen(beside, "wxe");
    if (file) {
        print_all(file, steps, n);
        bad = ferror(file) != 0;
        bad |= fclose(file) != 0;
        bad = bad || rename(beside, path) < 0;
    }
    if (!bad)
        return 0;
    es_fail(err, ES_WORK, "name a file that can be written", "%s: %s", path,
            strerror(errno));
    if (file)
        (void)unlink(beside);
    return -1;
}
