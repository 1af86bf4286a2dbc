/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/report_table.h"
#include "policy/metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const heads[] = {
    [REPORT_RUN] =
        "report\tjob\tstep\tframe\tnode\tslot\tunits\tshare\tslices\tfailed\t"
        "busy_s\tstartup_s\tback_s\tframe_s\tideal_s\tequal_parts_s\t"
        "efficiency\tJL\tC\tM\tI\tB\tS\tG\tW\tX\tY\tZ\tprogress\tlimit\tjoules\t"
        "watts\n",
    [REPORT_STEP] =
        "report\tjob\tstep\tnode\tranks\tuseful_s\twaiting_s\tefficiency\t"
        "last\tnode_seconds\tJL\tjoules\twatts\tstep_joules_saved\tlost_s\n",
    [REPORT_BCAST] = "report\tjob\tnode\tbytes\tseconds\n",
    [REPORT_PROBE] =
        "report\tjob\tnode\tcached\tC\tM\tI\tB\tS\tG\tW\tX\tY\tZ\n",
    [REPORT_GRAPH] = "report\tjob\ttask\tnode\tcore\tplanned_start_s\t"
                     "planned_finish_s\tstart_s\tfinish_s\n",
};

int report_table_head(FILE *out, enum report_kind kind)
{
    return fputs(heads[kind], out) == EOF ? -1 : 0;
}

/* --- cells ---------------------------------------------------------------- */

/* A text is one cell, whatever is in it; NA is nothing else but unknown. */
static void text(FILE *out, const char *value)
{
    for (const char *p = value; *p; p++)
        putc((unsigned char)*p < ' ' || *p == '"' || *p == 0x7f ? '?' : *p,
             out);
}

static void number(FILE *out, double v)
{
    if (isfinite(v))
        fprintf(out, "\t%.10g", v);
    else
        fputs("\tNA", out);
}

static void member(FILE *out, const json_t *object, const char *key)
{
    number(out, record_number(object, key, (double)NAN));
}

static void cell(FILE *out, const char *value)
{
    putc('\t', out);
    text(out, value);
}

/* --- a run ---------------------------------------------------------------- */

struct part { /* of a node in a frame */
    int64_t units;
    size_t slices, failed;
    double busy, startup, back;
};

static void add_up(const struct report_file *f,
                   const struct report_frame *frame,
                   struct part part[])
{
    memset(part, 0, f->nodes * sizeof *part);
    for (size_t i = 0; i < frame->n; i++) {
        const struct report_slice *s = &f->slice[frame->slice + i];
        struct part *p = &part[s->node];

        p->busy += s->seconds;
        p->startup += s->startup;
        p->back = fmax(p->back, s->start + s->seconds);
        p->failed += s->done == 0;
        p->slices += s->done != 0;
        p->units += s->done ? s->units : 0;
    }
}

static void run_node(FILE *out,
                     const struct report_file *f,
                     const struct report_frame *frame,
                     size_t node,
                     const struct part *p)
{
    const json_t *about = report_file_about(f, node),
                 *counted = json_object_get(about, "counted"), *meter, *energy;
    double efficiency = account_efficiency(&frame->account);
    char name[256];
    int slot;

    report_file_split(name, &slot, report_file_node(f, node));
    cell(out, name);
    number(out, slot >= 0 ? slot : (double)NAN);
    fprintf(out, "\t%" PRId64, p->units);
    number(out, frame->units > 0 ? (double)p->units / (double)frame->units : 0);
    fprintf(out, "\t%zu\t%zu", p->slices, p->failed);
    number(out, p->busy);
    number(out, p->startup);
    number(out, p->back > 0 ? p->back : (double)NAN);
    number(out, frame->account.time);
    number(out, frame->account.ideal);
    number(out, frame->account.equal);
    number(out, efficiency >= 0 ? efficiency : (double)NAN);
    member(out, about, "JL");
    for (const char *e = ELEMENT_LETTERS; *e; e++)
        member(out, counted, (const char[]){*e, '\0'});
    meter = report_file_find(frame->meters, report_file_node(f, node));
    if (!meter)
        meter = report_file_find(frame->meters, name);
    member(out, meter, "progress");
    member(out, meter, "limit");
    /* All of a node's are those of its first slot. */
    energy = slot > 0 ? NULL : report_file_find(frame->energy, name);
    member(out, energy, "joules");
    member(out, energy, "watts");
    putc('\n', out);
}

static void start_row(FILE *out, const struct any_report *r, int with_step)
{
    const json_t *head = any_report_head(r);

    text(out, r->path);
    member(out, head, "job");
    if (with_step)
        member(out, head, "step");
}

static int run_rows(FILE *out, const struct any_report *r)
{
    const struct report_file *f = &r->run;
    struct part *part = calloc(f->nodes + 1, sizeof *part);

    for (size_t i = 0; part && i < f->n; i++) {
        add_up(f, &f->frame[i], part);
        for (size_t k = 0; k < f->nodes; k++) {
            start_row(out, r, 1);
            fprintf(out, "\t%" PRId64, f->frame[i].number);
            run_node(out, f, &f->frame[i], k, &part[k]);
        }
    }
    free(part);
    return part ? 0 : -1;
}

/* --- the others ----------------------------------------------------------- */

static void step_rows(FILE *out, const struct any_report *r)
{
    const json_t *nodes = json_object_get(r->step.json, "nodes");

    for (size_t i = 0; i < r->step.n_nodes; i++) {
        const struct step_row *x = &r->step.node[i];
        const json_t *line = json_array_get(nodes, i);

        text(out, r->path);
        number(out, r->step.job);
        number(out, r->step.step);
        cell(out, x->node);
        number(out, x->rank);
        number(out, x->useful);
        number(out, x->waiting);
        number(out, x->parallel);
        number(out, x->last);
        number(out, x->node_seconds);
        member(out, line, "JL");
        member(out, line, "joules");
        member(out, line, "watts");
        /* Of the whole step: once, so that rows can be added up. */
        member(out, i == 0 ? json_object_get(r->step.json, "step") : NULL,
               "joules_saved");
        number(out, x->lost >= 0 ? x->lost : (double)NAN);
        putc('\n', out);
    }
}

static void bcast_row(FILE *out, const struct any_report *r, const json_t *one)
{
    cell(out, record_text(one, "node"));
    member(out, r->record.first, "bytes");
    member(out, one, "seconds");
}

static void probe_row(FILE *out, const struct any_report *r, const json_t *one)
{
    const json_t *probe = json_object_get(one, "probe");

    (void)r;
    cell(out, record_text(one, "node"));
    number(out, json_is_true(json_object_get(one, "cached")));
    for (const char *e = ELEMENT_LETTERS; *e; e++)
        member(out, json_object_get(probe, (const char[]){*e, '\0'}), "value");
}

static void graph_row(FILE *out, const struct any_report *r, const json_t *one)
{
    (void)r;
    cell(out, record_text(one, "name"));
    cell(out, record_text(one, "node"));
    member(out, one, "core");
    member(out, one, "planned_start");
    member(out, one, "planned_finish");
    member(out, one, "start");
    member(out, one, "finish");
}

int report_table_rows(FILE *out, const struct any_report *r)
{
    static void (*const rows[])(FILE * out, const struct any_report *r,
                                const json_t *one) = {
        [REPORT_BCAST] = bcast_row,
        [REPORT_PROBE] = probe_row,
        [REPORT_GRAPH] = graph_row,
    };
    const json_t *one;
    size_t i;

    if (r->kind == REPORT_RUN && run_rows(out, r) < 0)
        return -1;
    if (r->kind == REPORT_STEP)
        step_rows(out, r);
    json_array_foreach(r->record.lines, i, one)
    {
        start_row(out, r, 0);
        rows[r->kind](out, r, one);
        putc('\n', out);
    }
    return ferror(out) ? -1 : 0;
}
