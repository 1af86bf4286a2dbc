/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/step_show.h"
#include "launcher/base/plain_text.h"
#include "launcher/whatif/record_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- lines ---------------------------------------------------------------- */

const char *step_show_lost(char text[STEP_SHORT], const struct step_row *r)
{
    *text = '\0';
    if (r->lost >= 0)
        snprintf(text, STEP_SHORT, "  lost after %.4g s", r->lost);
    return text;
}

const char *step_show_state(char text[STEP_SHORT], const struct step_row *r)
{
    const char *state = record_text(r->line, "state");
    double since = step_file_number(r->line, "since");
    double sig = step_file_number(r->line, "signal");
    double status = step_file_number(r->line, "exit");
    char call[STEP_SHORT / 2];

    *text = '\0';
    plain_text(call, sizeof call, record_text(r->line, "call"));
    if (strcmp(state, "died") == 0
        && json_is_true(json_object_get(r->line, "out_of_memory")))
        snprintf(text, STEP_SHORT, "killed: out of memory");
    else if (strcmp(state, "died") == 0 && sig > 0)
        snprintf(text, STEP_SHORT, "killed by signal %.0f", sig);
    else if (strcmp(state, "died") == 0 && status >= 0)
        snprintf(text, STEP_SHORT, "exited with %.0f", status);
    else if (strcmp(state, "died") == 0)
        snprintf(text, STEP_SHORT, "died");
    else if (strcmp(state, "in call") == 0)
        snprintf(text, STEP_SHORT, "in %s for %.4g s",
                 *call ? call : "a call of MPI", fmax(since, 0));
    else if (strcmp(state, "useful") == 0)
        snprintf(text, STEP_SHORT, "did not leave MPI");
    return text;
}

/* ", text", of a member that is there. */
static void more(char line[STEP_LINE],
                 const json_t *object,
                 const char *key,
                 const char *before)
{
    size_t len = strlen(line);
    char value[STEP_LINE / 4];

    plain_text(value, sizeof value, record_text(object, key));
    if (*value)
        snprintf(line + len, STEP_LINE - len, "%s%s%s", len ? ", " : "", before,
                 value);
}

size_t step_show_head(char line[STEP_LINES][STEP_LINE],
                      const struct step_file *f)
{
    double threads = step_file_number(f->head, "threads_per_rank");
    size_t n = 0, len;

    if (record_text(f->head, "command")[0]) {
        snprintf(line[n], STEP_LINE, "step %.0f.%.0f: ", f->job, f->step);
        len = strlen(line[n]);
        plain_text(line[n] + len, STEP_LINE - len,
                   record_text(f->head, "command"));
        n++;
    }
    line[n][0] = '\0';
    more(line[n], f->head, "user", "user ");
    more(line[n], f->head, "nodes_list", "nodes ");
    if (line[n][0] || threads > 0) {
        len = strlen(line[n]);
        snprintf(line[n] + len, STEP_LINE - len, "%s%.0f rank%s%s",
                 len ? ", " : "", f->ranks, f->ranks > 1 ? "s" : "",
                 threads > 0 ? " x " : "");
        len = strlen(line[n]);
        if (threads > 0)
            snprintf(line[n] + len, STEP_LINE - len, "%.0f thread%s", threads,
                     threads > 1 ? "s" : "");
    }
    more(line[n], f->head, "binding", "binding ");
    return n + (line[n][0] != '\0');
}

size_t step_show_why(char line[STEP_LINES][STEP_LINE],
                     const struct step_file *f)
{
    double unsure = step_file_number(f->line, "coverage");
    size_t n = 0;

    for (size_t i = 0; i < STEP_LINES; i++)
        line[i][0] = '\0';
    more(line[n], f->verdict, "text", "");
    if (line[n][0]) {
        more(line[++n], f->verdict, "check", "check: ");
        n += line[n][0] != '\0';
    } else if (!f->verdict) {
        snprintf(line[n], STEP_LINE, "most for %s: %.2f node-seconds; why: %s",
                 f->worst.node, f->worst.node_seconds, f->worst.cause);
        if (strcmp(f->worst.cause, "work of rank") == 0)
            snprintf(line[n] + strlen(line[n]), 32, " %.0f", f->worst.rank);
        n++;
    }
    if (unsure > 0.01)
        snprintf(line[n++], STEP_LINE,
                 "coverage: up to %.0f %% of a rank's time may be waiting that "
                 "counts as useful: calls of MPI that are not metered, or of "
                 "other threads",
                 100 * fmin(unsure, 1));
    more(line[n], f->line, "ended", "how it ended: ");
    return n + (line[n][0] != '\0');
}

void step_show_iterations(char text[STEP_ITERATIONS], const struct step_file *f)
{
    *text = '\0';
    if (f->iterations.n > 0)
        snprintf(
            text, STEP_ITERATIONS,
            "%.0f iterations of %.0f region%s, median %.4g s, skew %.3g s, "
            "at most %.3g s",
            f->iterations.n, f->iterations.regions,
            f->iterations.regions > 1 ? "s" : "", f->iterations.seconds,
            f->iterations.skew, f->iterations.skew_most);
}

void step_show_energy(char text[STEP_ENERGY], const struct step_file *f)
{
    char saved[80] = "";

    *text = '\0';
    if (f->energy.has_saved)
        snprintf(saved, sizeof saved,
                 ", %.4g kJ %s than at the watts before limits were lowered",
                 fabs(f->energy.saved) / 1e3,
                 f->energy.saved < 0 ? "more" : "less");
    if (f->energy.source[0])
        snprintf(text, STEP_ENERGY, "%.4g kJ, %.4g W (%s)%s",
                 f->energy.joules / 1e3, f->energy.watts, f->energy.source,
                 saved);
}

const char *step_show_busy(const struct step_file *f)
{
    return f->is_cpu ? "CPU use of the busiest rank" : "communication";
}

int step_show_has_tree(const struct step_file *f)
{
    return f->factor[STEP_PARALLEL].lost >= 0
           || f->factor[STEP_BALANCE_NODES].value >= 0
           || f->factor[STEP_SERIALISATION].value >= 0;
}

int step_show_has_cpu(const struct step_file *f)
{
    for (size_t i = 0; i < f->n_ranks; i++)
        if (f->rank[i].cpu >= 0)
            return 1;
    return 0;
}

/* --- tables --------------------------------------------------------------- */

/* Names have the room that the longest needs. */
static int name_width(const struct step_row row[], size_t n)
{
    size_t most = 4;

    for (size_t i = 0; i < n; i++)
        if (strlen(row[i].node) > most)
            most = strlen(row[i].node);
    return most < 20 ? (int)most : 20;
}

static void print_factors(FILE *out, const struct step_file *f)
{
    double all = f->ranks * f->elapsed;

    if (!step_show_has_tree(f))
        return;
    fprintf(out, "\n%-20s %9s %14s %10s\n", "factor", "value", "lost, rank-s",
            "of all");
    for (int k = 0; k < STEP_FACTORS; k++) {
        double lost = f->factor[k].lost;

        if (f->factor[k].value < 0)
            continue;
        fprintf(out, "%-20s %9.3f", step_factor_name(f, (enum step_factor)k),
                f->factor[k].value);
        if (lost >= 0)
            fprintf(out, " %14.3f %9.1f%%", lost,
                    all > 0 ? 100 * lost / all : 0);
        fputc('\n', out);
    }
}

static void print_nodes(FILE *out, const struct step_file *f)
{
    int width = name_width(f->node, f->n_nodes);

    fprintf(out, "\n%-*s %6s %11s %11s %11s %9s %14s\n", width, "node", "ranks",
            "useful s", "waiting s", "efficiency", "last", "others waited");
    for (size_t i = 0; i < f->n_nodes; i++) {
        const struct step_row *r = &f->node[i];
        char lost[STEP_SHORT];

        fprintf(out, "%-*.20s %6.0f %11.3f %11.3f %11.3f %9.0f %14.3f%s\n",
                width, r->node, r->rank, r->useful, r->waiting, r->parallel,
                r->last, r->node_seconds, step_show_lost(lost, r));
    }
}

/* A number that is known. */
static void print_if(FILE *out, int width, double v)
{
    if (v < 0)
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.3f", width, v);
}

static void print_rank(FILE *out,
                       const struct step_row *r,
                       int width,
                       int has_cpu)
{
    double all = r->useful + r->waiting;
    char text[STEP_SHORT];

    fprintf(out, "%-*.20s %6.0f %10.3f %10.3f %7.1f%% %8.0f", width, r->node,
            r->rank, r->useful, r->waiting, all > 0 ? 100 * r->useful / all : 0,
            r->last);
    if (has_cpu) {
        print_if(out, 9, r->cpu);
        print_if(out, 8, r->run_delay);
        print_if(out, 8, r->throttled);
        print_if(out, 7, r->io_wait);
        if (r->rss < 0)
            fprintf(out, " %7s", "-");
        else
            fprintf(out, " %7.0f", r->rss / 1e6);
    }
    fputs(step_show_lost(text, r), out);
    step_show_state(text, r);
    fprintf(out, "%s%s\n", *text ? "  " : "", text);
}

static void print_ranks(FILE *out, const struct step_file *f)
{
    int width = name_width(f->rank, f->n_ranks);
    int has_cpu = step_show_has_cpu(f);

    for (size_t i = 0; i < f->n_ranks && i < STEP_WORST; i++) {
        if (i == 0)
            fprintf(out, "\n%-*s %6s %10s %10s %8s %8s%s\n", width, "node",
                    "rank", "useful s", "waiting s", "useful", "last",
                    has_cpu ? "     CPU s  delay s  quota s   I/O s  RSS MB"
                            : "");
        print_rank(out, f->worst_first[i], width, has_cpu);
    }
    if (f->n_ranks > STEP_WORST)
        fprintf(out, "and %zu more, which worked less: --json has all\n",
                f->n_ranks - STEP_WORST);
}

int step_show_site(struct step_site *s, const json_t *one)
{
    plain_text(s->call, sizeof s->call, record_text(one, "call"));
    plain_text(s->where, sizeof s->where, record_text(one, "where"));
    s->waiting = step_file_number(one, "waiting");
    s->calls = step_file_number(one, "calls");
    return s->call[0] && s->waiting >= 0 && s->calls >= 0;
}

static void print_sites(FILE *out, const struct step_file *f)
{
    const json_t *sites = json_object_get(f->line, "sites");
    struct step_site s;
    size_t shown = 0;

    for (size_t i = 0; i < json_array_size(sites) && shown < STEP_SITES; i++) {
        if (!step_show_site(&s, json_array_get(sites, i)))
            continue;
        if (shown++ == 0)
            fprintf(out, "\n%-22s %11s %11s  %s\n", "most waiting in", "rank-s",
                    "calls", "called by");
        fprintf(out, "%-22s %11.3f %11.0f  %s\n", s.call, s.waiting, s.calls,
                s.where);
    }
}

int step_show_table(FILE *out, const struct step_file *f)
{
    char line[STEP_LINES][STEP_LINE], text[STEP_ITERATIONS],
        energy[STEP_ENERGY];
    size_t n = step_show_head(line, f);

    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s\n", line[i]);
    fprintf(out,
            "%.0f regions in %.2f s, parallel efficiency %.3f = load balance "
            "%.3f x %s %.3f",
            f->regions, f->elapsed, f->factor[STEP_PARALLEL].value,
            f->factor[STEP_BALANCE].value, step_show_busy(f),
            f->factor[STEP_COMMUNICATION].value);
    if (f->threads > 0)
        fprintf(out, " x threads %.3f (%.0f of them)",
                fmax(f->factor[STEP_THREADS].value, 0), f->threads);
    fputc('\n', out);
    n = step_show_why(line, f);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s\n", line[i]);
    step_show_iterations(text, f);
    step_show_energy(energy, f);
    fprintf(out, "%s%s%s%s", text, *text ? "\n" : "", energy,
            *energy ? "\n" : "");
    print_factors(out, f);
    print_nodes(out, f);
    print_ranks(out, f);
    print_sites(out, f);
    return ferror(out) ? -1 : 0;
}

int step_show_json(FILE *out, const struct step_file *f)
{
    char *text = json_dumps(f->json, JSON_COMPACT);
    int rc = text && fputs(text, out) != EOF && putc('\n', out) != EOF ? 0 : -1;

    free(text);
    return rc;
}
