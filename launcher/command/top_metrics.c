/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/top_metrics.h"
#include "launcher/base/out_file.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    OF_RUN = 1 << TOP_RUN,
    OF_BCAST = 1 << TOP_BCAST,
    OF_GRAPH = 1 << TOP_GRAPH,
    OF_ALL = OF_RUN | OF_BCAST | OF_GRAPH
};

/* A value of struct top_progress, top_part or top_node; below 0 it is not known,
 * and there is no line. */
struct family {
    const char *name, *type, *help;
    unsigned of; /* kinds, as bits */
    size_t value;
};

#define PROGRESS(member) offsetof(struct top_progress, member)
#define PART(member)     offsetof(struct top_part, member)
#define NODE(member)     offsetof(struct top_node, member)

/* clang-format off */
static const struct family of_progress[] = {
    {"elapsed_seconds", "gauge", "Time since the work began.", OF_ALL, PROGRESS(elapsed)},
    {"remaining_seconds", "gauge", "Time until all is done, as it is expected to be.", OF_ALL, PROGRESS(left)},
    {"run_units", "gauge", "Units of all frames or, where nobody knows how many come, of those at work.", OF_RUN, PROGRESS(all)},
    {"run_units_done", "gauge", "Of these, those that are done.", OF_RUN, PROGRESS(done)},
    {"run_units_per_second", "gauge", "Units done a second.", OF_RUN, PROGRESS(rate)},
    {"run_frames", "gauge", "Frames in all; 0: not known.", OF_RUN, PROGRESS(frames)},
    {"run_frame", "gauge", "The first frame that is not done, from 0.", OF_RUN, PROGRESS(frame)},
    {"run_efficiency_ratio", "gauge", "The least time that the work can take / the time it took, of the frames that are done.", OF_RUN, PROGRESS(efficiency)},
    {"run_gain_ratio", "gauge", "Time that equal parts would take / the time it took.", OF_RUN, PROGRESS(gain)},
    {"run_tasks_failed", "gauge", "Tasks that have failed, where units are tasks.", OF_RUN, PROGRESS(failed)},
    {"run_longest_task_seconds", "gauge", "For how long that task has run that has for longest, of those that run.", OF_RUN, PROGRESS(longest.seconds)},
    {"broadcast_bytes", "gauge", "Bytes that all nodes together get.", OF_BCAST, PROGRESS(all)},
    {"broadcast_received_bytes_total", "counter", "Bytes that all nodes together have.", OF_BCAST, PROGRESS(done)},
    {"graph_tasks", "gauge", "Tasks of the graph.", OF_GRAPH, PROGRESS(all)},
    {"graph_tasks_done", "gauge", "Tasks that are done; falls where what was lost is done again.", OF_GRAPH, PROGRESS(done)},
    {"graph_planned_seconds", "gauge", "Time that the plan takes in all.", OF_GRAPH, PROGRESS(planned)},
};
static const struct family of_part[] = {
    {"node_running", "gauge", "Commands or tasks that the node works at.", OF_RUN | OF_GRAPH, PART(running)},
    {"node_slots", "gauge", "Commands or tasks that it may have at once.", OF_RUN | OF_GRAPH, PART(slots)},
    {"node_remaining_seconds", "gauge", "Time until the node has done its part, as it is expected to be.", OF_ALL, PART(left)},
    {"node_units_done_total", "counter", "Units that the node has done since the run began.", OF_RUN, PART(total)},
    {"node_units_per_second", "gauge", "Units a second of its commands.", OF_RUN, PART(rate)},
    {"node_slice_units", "gauge", "Units of the node's slice, of the frames at work.", OF_RUN, PART(part)},
    {"node_slice_done_units", "gauge", "Of these, those that are done.", OF_RUN, PART(done)},
    {"node_received_bytes_total", "counter", "Bytes of the file that the node has.", OF_BCAST, PART(total)},
    {"node_received_bytes_per_second", "gauge", "Bytes a second that it got last.", OF_BCAST, PART(rate)},
    {"node_tasks_done_total", "counter", "Tasks that the node has done.", OF_GRAPH, PART(total)},
    {"node_tasks_waiting", "gauge", "Tasks of its part that it has not begun.", OF_GRAPH, PART(waiting)},
};
static const struct family of_node[] = {
    {"progress_regions", "gauge", "Parallel regions done since the meters began.", 0, NODE(progress)},
    {"speed_regions_per_second", "gauge", "Regions a second of work, last round.", 0, NODE(speed)},
    {"waiting_ratio", "gauge", "Part of the time that is waited at the barrier.", 0, NODE(waiting)},
    {"slots", "gauge", "Threads that are metered.", 0, NODE(slots)},
    {"skew", "gauge", "Variance / mean of the threads' fractions.", 0, NODE(skew)},
    {"misuse_total", "counter", "Ticks that made no sense.", 0, NODE(misuse)},
    {"joules_total", "counter", "Energy used by the node; 0: not known.", 0, NODE(joules)},
    {"limit", "gauge", "What the node may use, in the actuator's unit; 0: no limit.", 0, NODE(limit)},
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof *(array))

static double value_of(const void *from, size_t offset)
{
    double v;

    memcpy(&v, (const char *)from + offset, sizeof v);
    return v;
}

static void print_head(FILE *file,
                       const char *name,
                       const char *type,
                       const char *help)
{
    fprintf(file, "# HELP evenstep_%s %s\n# TYPE evenstep_%s %s\n", name, help,
            name, type);
}

void top_metrics_label(FILE *file, const char *name, const char *value)
{
    fprintf(file, "%s=\"", name);
    for (; *value; value++)
        if (*value == '\n')
            fputs("\\n", file);
        else if (*value == '\\' || *value == '"')
            fprintf(file, "\\%c", *value);
        else
            fputc(*value, file);
    fputc('"', file);
}

/* "name{kind="run",jobid="12",step="1",pid="4711"", to be closed. */
static void print_name(FILE *file,
                       const char *name,
                       const struct top_step *step)
{
    fprintf(file,
            "evenstep_%s{kind=\"%s\",jobid=\"%" PRIu32 "\",step=\"%" PRIu32
            "\",pid=\"%" PRIu32 "\"",
            name, top_kind_name(step->kind), step->job, step->step, step->pid);
}

static void print_of_node(FILE *file,
                          const char *name,
                          const struct top_step *step,
                          const char *node,
                          double value)
{
    print_name(file, name, step);
    fputc(',', file);
    top_metrics_label(file, "node", node);
    fprintf(file, "} %.17g\n", value);
}

static void print_progress(FILE *file,
                           const struct family *m,
                           const struct top_step steps[],
                           size_t n)
{
    print_head(file, m->name, m->type, m->help);
    for (size_t i = 0; i < n; i++) {
        double value = value_of(&steps[i].progress, m->value);

        if (!(m->of & 1u << steps[i].kind) || value < 0)
            continue;
        print_name(file, m->name, &steps[i]);
        fprintf(file, "} %.17g\n", value);
    }
}

static void print_part(FILE *file,
                       const struct family *m,
                       const struct top_step steps[],
                       size_t n)
{
    print_head(file, m->name, m->type, m->help);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; m->of & 1u << steps[i].kind && k < steps[i].parts;
             k++) {
            const struct top_part *part = &steps[i].part[k];
            double value = value_of(part, m->value);

            if (value >= 0)
                print_of_node(file, m->name, &steps[i], part->name, value);
        }
}

/* A node of a part is up unless it is lost. */
static void print_up(FILE *file, const struct top_step steps[], size_t n)
{
    print_head(file, "node_up", "gauge",
               "1, or 0 of a node that is lost or whose commands fail.");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < steps[i].parts; k++) {
            const struct top_part *part = &steps[i].part[k];

            print_of_node(file, "node_up", &steps[i], part->name,
                          part->state != TOP_LOST && part->state != TOP_BAD);
        }
}

static void print_meter(FILE *file,
                        const struct family *m,
                        const struct top_step steps[],
                        size_t n)
{
    print_head(file, m->name, m->type, m->help);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < steps[i].n; k++)
            print_of_node(file, m->name, &steps[i], steps[i].node[k].name,
                          value_of(&steps[i].node[k], m->value));
}

/* Of those that are metered: one that is lost would look idle. */
static void print_lost(FILE *file, const struct top_step steps[], size_t n)
{
    print_head(file, "agent_lost", "gauge",
               "1 of a node whose agent was lost, of which all is as it was "
               "then.");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < steps[i].n; k++)
            print_of_node(file, "agent_lost", &steps[i], steps[i].node[k].name,
                          steps[i].node[k].is_lost != 0);
}

static void print_saved(FILE *file, const struct top_step steps[], size_t n)
{
    print_head(file, "saved_joules", "gauge",
               "Energy that lower limits have saved so far; below 0: more was "
               "used.");
    for (size_t i = 0; i < n; i++)
        if (steps[i].has_saved) {
            print_name(file, "saved_joules", &steps[i]);
            fprintf(file, "} %.17g\n", steps[i].saved);
        }
}

/* All aggregates but the skew, which is defined for fractions, not for speeds. */
static void print_group(FILE *file,
                        const struct top_step *step,
                        const struct top_group *group)
{
    for (enum aggregate how = AGGREGATE_MIN; how < AGGREGATE_SKEW; how++) {
        print_name(file, "group_speed", step);
        fputc(',', file);
        top_metrics_label(file, "rack", group->rack);
        fprintf(file, ",aggregate=\"%s\"} %.17g\n", aggregate_name(how),
                group->speed[how]);
    }
}

static void print_groups(FILE *file, const struct top_step steps[], size_t n)
{
    print_head(file, "group_speed", "gauge",
               "Regions a second of work, of a rack's nodes; rack \"\": of the "
               "step.");
    for (size_t i = 0; i < n; i++) {
        struct top_group *rack, all;
        size_t racks =
            steps[i].n > 0 ? top_groups_find(&steps[i], &rack, &all) : 0;

        if (steps[i].n == 0)
            continue;
        for (size_t k = 0; k < racks; k++)
            print_group(file, &steps[i], &rack[k]);
        print_group(file, &steps[i], &all);
        free(rack);
    }
}

/* Of each kind, also where there is none, so that its end is seen; and what each
 * is, once. */
static void print_front_ends(FILE *file,
                             const struct top_step steps[],
                             size_t n)
{
    print_head(file, "front_ends", "gauge", "Front ends at work, by kind.");
    for (enum top_kind kind = 0; kind < TOP_KINDS; kind++) {
        size_t count = 0;

        for (size_t i = 0; i < n; i++)
            count += steps[i].kind == kind;
        fprintf(file, "evenstep_front_ends{kind=\"%s\"} %zu\n",
                top_kind_name(kind), count);
    }
    print_head(file, "front_end_info", "gauge",
               "1; what is its command, file or graph.");
    for (size_t i = 0; i < n; i++) {
        print_name(file, "front_end_info", &steps[i]);
        fputc(',', file);
        top_metrics_label(file, "what", steps[i].what);
        fputs("} 1\n", file);
    }
}

void top_metrics_print(FILE *file, const struct top_step steps[], size_t n)
{
    print_front_ends(file, steps, n);
    for (size_t i = 0; i < COUNT(of_progress); i++)
        print_progress(file, &of_progress[i], steps, n);
    print_up(file, steps, n);
    for (size_t i = 0; i < COUNT(of_part); i++)
        print_part(file, &of_part[i], steps, n);
    for (size_t i = 0; i < COUNT(of_node); i++)
        print_meter(file, &of_node[i], steps, n);
    print_lost(file, steps, n);
    print_saved(file, steps, n);
    print_groups(file, steps, n);
}

struct metrics {
    const struct top_step *steps;
    size_t n;
};

static int print_metrics(FILE *out, const void *arg)
{
    const struct metrics *m = arg;

    top_metrics_print(out, m->steps, m->n);
    return 0;
}

int top_metrics_write(const char *path,
                      const struct top_step steps[],
                      size_t n,
                      struct es_error *err)
{
    const struct metrics m = {steps, n};

    return out_file_write(NULL, path, print_metrics, &m, err);
}
