/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/report_print.h"
#include "launcher/base/json_member.h"
#include "launcher/run/progress_text.h"

#include "launcher/run/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct report_node *report_sum(const struct report_file *f)
{
    struct report_node *node = calloc(f->nodes + 1, sizeof *node);
    double units = 0;

    for (size_t i = 0; node && i < f->n_slices; i++) {
        const struct report_slice *s = &f->slice[i];
        struct report_node *n = &node[s->node];

        n->busy += s->seconds;
        n->failed += !s->done;
        if (!s->done)
            continue;
        n->units += s->units;
        n->slices++;
        units += (double)s->units;
    }
    for (size_t i = 0; node && i < f->nodes; i++) {
        node[i].share = units > 0 ? (double)node[i].units / units : 0;
        node[i].units_per_s =
            node[i].busy > 0 ? (double)node[i].units / node[i].busy : 0;
    }
    return node;
}

/* --- for people ----------------------------------------------------------- */

static void print_nodes(FILE *out,
                        const struct report_file *f,
                        const struct report_node *node)
{
    fprintf(out, "%-20s %12s %7s %10s %12s %7s %7s\n", "node", "units", "share",
            "busy s", "units/s", "slices", "failed");
    for (size_t i = 0; i < f->nodes; i++) {
        const char *idle = node[i].units == 0 ? report_file_idle(f, i) : NULL;

        fprintf(out,
                "%-20s %12" PRId64 " %6.1f%% %10.3f %12.4g %7zu %7zu%s%s\n",
                report_file_node(f, i), node[i].units, 100 * node[i].share,
                node[i].busy, node[i].units_per_s, node[i].slices,
                node[i].failed, idle ? "  " : "", idle ? idle : "");
    }
}

static size_t count_failed(const struct report_file *f,
                           const struct report_frame *frame)
{
    size_t failed = 0;

    for (size_t i = 0; i < frame->n; i++)
        failed += !f->slice[frame->slice + i].done;
    return failed;
}

static void print_frame(FILE *out,
                        const struct report_file *f,
                        const struct report_frame *frame)
{
    size_t failed = count_failed(f, frame);
    double efficiency = account_efficiency(&frame->account);

    fprintf(out, "%-7" PRId64 " %11" PRId64 " %10.3f %10.3f ",
            frame->number + 1, frame->units, frame->account.time,
            frame->account.ideal);
    if (efficiency >= 0)
        fprintf(out, "%11.3f", efficiency);
    else
        fprintf(out, "%11s", "-");
    fprintf(out, " %12.3f %7zu %7zu%s", frame->account.equal, frame->n - failed,
            failed,
            frame->adjusted && strcmp(f->policy, REPORT_BY_COST) != 0
                ? "  adjusted"
                : "");
    if (frame->left_out > 0)
        fprintf(out, "  %" PRId64 " left out", frame->left_out);
    else if (!frame->complete)
        fprintf(out, "  not done");
    putc('\n', out);
}

static void print_frames(FILE *out, const struct report_file *f)
{
    fprintf(out, "\n%-7s %11s %10s %10s %11s %12s %7s %7s\n", "frame", "units",
            "seconds", "ideal", "efficiency", "equal parts", "slices",
            "failed");
    for (size_t i = 0; i < f->n; i++)
        print_frame(out, f, &f->frame[i]);
}

static void print_end(FILE *out, const struct report_file *f)
{
    if (strcmp(f->status, "incomplete") == 0)
        fprintf(out, " (%s); %" PRId64 " unit%s left out\n", f->policy,
                f->left_out, f->left_out == 1 ? " is" : "s are");
    else if (strcmp(f->status, "failed") == 0)
        fprintf(out, " (%s); the run failed\n", f->policy);
    else if (strcmp(f->status, "unfinished") == 0)
        fprintf(out, " (%s); the run is not finished\n", f->policy);
    else if (f->ended)
        fprintf(out, " (%s)\n", f->policy);
    else
        fprintf(out, f->journal ? " (by its journal)\n"
                                : "; the run did not come to its end\n");
}

int report_print_table(FILE *out, const struct report_file *f)
{
    struct report_node *node = report_sum(f);
    char text[PROGRESS_TEXT];

    if (!node)
        return -1;
    print_nodes(out, f, node);
    print_frames(out, f);
    progress_text_run(text, f->n, f->seconds, &f->account);
    fprintf(out, "\n%s", text);
    print_end(out, f);
    progress_text_account(text, &f->account);
    if (account_efficiency(&f->account) >= 0)
        fprintf(out, "%s\n", text);
    if (progress_text_advice(text, &f->account, report_named(f->policy)))
        fprintf(out, "%s\n", text);
    free(node);
    return ferror(out) ? -1 : 0;
}

/* --- for programs --------------------------------------------------------- */

static json_t *nodes_json(const struct report_file *f)
{
    struct report_node *node = report_sum(f);
    json_t *all = json_array();

    for (size_t i = 0; node && i < f->nodes; i++) {
        json_t *one = json_pack(
            "{s:s, s:I, s:f, s:f, s:f, s:I, s:I}", "name",
            report_file_node(f, i), "units", (json_int_t)node[i].units, "share",
            node[i].share, "busy_seconds", node[i].busy, "units_per_s",
            node[i].units_per_s, "slices", (json_int_t)node[i].slices, "failed",
            (json_int_t)node[i].failed);
        json_t *why = json_object_get(f->idle, report_file_node(f, i));

        if (why && node[i].units == 0)
            one = json_member(one, "idle", json_incref(why));
        (void)json_array_append_new(all, one);
    }
    free(node);
    return all;
}

static json_t *frames_json(const struct report_file *f)
{
    json_t *all = json_array();

    for (size_t i = 0; i < f->n; i++) {
        const struct report_frame *frame = &f->frame[i];

        json_t *line = json_pack(
            "{s:I, s:I, s:f, s:b, s:I, s:I}", "frame",
            (json_int_t)frame->number, "units", (json_int_t)frame->units,
            "seconds", frame->account.time, "adjusted", frame->adjusted,
            "failed", (json_int_t)count_failed(f, frame), "left_out",
            (json_int_t)frame->left_out);

        line = report_with_account(line, &frame->account);
        (void)json_array_append_new(all, line);
    }
    return all;
}

static int came_to_end(const struct report_file *f)
{
    return f->ended && strcmp(f->status, "failed") != 0
           && strcmp(f->status, "unfinished") != 0;
}

int report_print_json(FILE *out, const struct report_file *f)
{
    json_t *nodes = nodes_json(f), *frames = frames_json(f), *all;
    int rc = -1;

    /* A list that is too short ran out of memory. */
    if (json_array_size(nodes) == f->nodes && json_array_size(frames) == f->n) {
        all = json_pack("{s:O, s:O, s:f, s:s, s:b, s:s, s:I}", "nodes", nodes,
                        "frames", frames, "seconds", f->seconds, "policy",
                        f->policy, "ended", came_to_end(f), "status", f->status,
                        "left_out", (json_int_t)f->left_out);
        all = report_with_account(all, &f->account);
        /* 0.6, not the 0.59999999999999998 which it is as a double. */
        rc = all ? json_dumpf(all, out, JSON_COMPACT | JSON_REAL_PRECISION(15))
                 : -1;
        json_decref(all);
    }
    json_decref(nodes);
    json_decref(frames);
    return rc == 0 && putc('\n', out) != EOF ? 0 : -1;
}
