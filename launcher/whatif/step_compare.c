/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/step_compare.h"
#include "launcher/base/json_member.h"
#include "launcher/base/plain_text.h"
#include "launcher/whatif/html.h"
#include "launcher/whatif/step_show.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHANGED 5    /* ranks or call sites that are listed */
#define NOISE   0.02 /* of the time: below it nothing has changed */
#define UNKNOWN ((double)NAN)

/* --- a sheet: the same for a terminal and for a page ---------------------- */

struct sheet {
    FILE *out;
    int is_page;
    int width; /* of the first column, on a terminal */
};

static void say(const struct sheet *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void say(const struct sheet *s, const char *fmt, ...)
{
    char text[STEP_LINE];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap); /* cut, if it is long */
    va_end(ap);
    if (s->is_page)
        html_line(s->out, "%s", text);
    else
        fprintf(s->out, "%s\n", text);
}

/* heads as in html.h. */
static void sheet_open(const struct sheet *s,
                       const char *caption,
                       const char *heads)
{
    if (s->is_page) {
        html_table(s->out, caption, heads);
        return;
    }
    fputc('\n', s->out);
    for (const char *at = heads, *end; at; at = *end ? end + 1 : NULL) {
        int n;

        end = at + strcspn(at, "|");
        n = (int)(end - at);
        if (at == heads)
            fprintf(s->out, "%-*.*s", s->width, n, at);
        else if (*at == '<')
            fprintf(s->out, "  %-.*s", n - 1, at + 1);
        else
            fprintf(s->out, " %11.*s", n, at);
    }
    fputc('\n', s->out);
}

static void sheet_close(const struct sheet *s)
{
    if (s->is_page)
        html_table_end(s->out);
}

/* Of a factor below others, spaces before it stay. */
static void sheet_row(const struct sheet *s, const char *name)
{
    char text[STEP_LINE];
    size_t depth = strspn(name, " ");

    if (s->is_page) {
        snprintf(text, sizeof text, "%s%s",
                 depth == 0   ? ""
                 : depth <= 2 ? "\u2003"
                              : "\u2003\u2003",
                 name + depth);
        html_row(s->out, text);
    } else {
        fprintf(s->out, "%-*.*s", s->width, s->width, name);
    }
}

static void sheet_end(const struct sheet *s)
{
    if (s->is_page)
        html_row_end(s->out);
    else
        fputc('\n', s->out);
}

static void sheet_cell(const struct sheet *s, const char *text)
{
    if (s->is_page)
        html_cell(s->out, "%s", text);
    else
        fprintf(s->out, " %11s", text);
}

static void sheet_number(const struct sheet *s, double v, int digits)
{
    char text[64] = "-";

    if (isfinite(v))
        snprintf(text, sizeof text, "%.*f", digits, v);
    sheet_cell(s, text);
}

static void sheet_change(const struct sheet *s, double v)
{
    char text[64] = "-";

    if (isfinite(v))
        snprintf(text, sizeof text, "%+.3f", v);
    sheet_cell(s, text);
}

static void sheet_text(const struct sheet *s, const char *text)
{
    if (s->is_page)
        html_left(s->out, text);
    else
        fprintf(s->out, "  %s", text);
}

/* --- two, factor by factor ------------------------------------------------ */

static double ratio(double after, double before)
{
    return before > 0 ? after / before : UNKNOWN;
}

static double known(double v)
{
    return v < 0 ? UNKNOWN : v;
}

/* Seconds of the time, a mean of all ranks, that a factor cost. */
static double cost(const struct step_file *f, enum step_factor k)
{
    double lost = f->factor[k].lost;

    if (lost < 0 && k == STEP_PARALLEL)
        return f->elapsed * fmax(0, 1 - f->factor[k].value);
    return lost < 0 || f->ranks < 1 ? UNKNOWN : lost / f->ranks;
}

static double useful(const struct step_file *f)
{
    return f->useful < 0 || f->ranks < 1 ? UNKNOWN : f->useful / f->ranks;
}

static void seconds_cells(const struct sheet *s, double before, double after)
{
    sheet_number(s, before, 3);
    sheet_number(s, after, 3);
    sheet_change(s, after - before);
    sheet_end(s);
}

static void seconds_row(const struct sheet *s,
                        const char *name,
                        double before,
                        double after)
{
    sheet_row(s, name);
    sheet_number(s, UNKNOWN, 0);
    sheet_number(s, UNKNOWN, 0);
    sheet_number(s, ratio(after, before), 3);
    seconds_cells(s, before, after);
}

static void factor_rows(const struct sheet *s,
                        const struct step_file *a,
                        const struct step_file *b)
{
    sheet_open(s, "Factor by factor",
               "|before|after|ratio|s before|s after|change s");
    seconds_row(s, "time", a->elapsed, b->elapsed);
    seconds_row(s, "  useful", useful(a), useful(b));
    for (int i = 0; i < STEP_FACTORS; i++) {
        enum step_factor k = (enum step_factor)i;
        double before = known(a->factor[k].value),
               after = known(b->factor[k].value);

        if (!isfinite(before) && !isfinite(after))
            continue;
        sheet_row(s, step_factor_name(a->is_cpu ? b : a, k));
        sheet_number(s, before, 3);
        sheet_number(s, after, 3);
        sheet_number(s, ratio(after, before), 3);
        seconds_cells(s, cost(a, k), cost(b, k));
    }
    sheet_close(s);
}

/* Not the sums of others. */
static const struct {
    enum step_factor k;
    const char *name;
} leaves[] = {
    {STEP_BALANCE_NODES, "load balance between nodes"},
    {STEP_BALANCE_WITHIN, "load balance within nodes"},
    {STEP_SERIALISATION, "serialisation"},
    {STEP_TRANSFER, "transfer"},
    {STEP_THREADS, "threads"},
    {STEP_COMMUNICATION, "time without a CPU"}, /* one where both are of CPU */
};

static void verdict(const struct sheet *s,
                    const struct any_report *a,
                    const struct any_report *b)
{
    double before = a->step.elapsed, after = b->step.elapsed;
    double change = after - before, way = change < 0 ? -1 : 1;
    double most = way * (useful(&b->step) - useful(&a->step));
    const char *of = "useful time";
    char why[128] = "";

    if (!(before > 0))
        return;
    if (!(most > 0)) /* a NaN, too */
        most = 0;
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        double d =
            way * (cost(&b->step, leaves[i].k) - cost(&a->step, leaves[i].k));

        if (leaves[i].k == STEP_COMMUNICATION
            && !(a->step.is_cpu && b->step.is_cpu))
            continue;
        if (d > most) {
            most = d;
            of = leaves[i].name;
        }
    }
    if (most > 0)
        snprintf(why, sizeof why, "; most of that is %s: %+.3g s for each rank",
                 of, way * most);
    if (fabs(change) <= NOISE * before)
        say(s, "%s took as long as %s: %.2f s, and %.2f s before", b->path,
            a->path, after, before);
    else
        say(s, "%s took %.2f times as long as %s: %.2f s, and %.2f s before%s",
            b->path, ratio(after, before), a->path, after, before, why);
}

/* --- ranks and call sites that changed ------------------------------------ */

struct change {
    char name[96], more[2 * STEP_NAME_LEN + 8];
    double before, after;
};

static double size_of(const struct change *c)
{
    return fabs(c->after - c->before);
}

/* Whether c belongs to those that changed most, and where. */
static int is_worth(const struct change kept[CHANGED],
                    size_t n,
                    const struct change *c)
{
    return n < CHANGED || size_of(c) > size_of(&kept[n - 1]);
}

/* Keep those that changed most, the most first. */
static void keep(struct change kept[CHANGED], size_t *n, const struct change *c)
{
    size_t at = *n;

    while (at > 0 && size_of(c) > size_of(&kept[at - 1]))
        at--;
    *n = *n < CHANGED ? *n + 1 : CHANGED;
    memmove(&kept[at + 1], &kept[at], (*n - 1 - at) * sizeof *kept);
    kept[at] = *c;
}

static void print_changes(const struct sheet *s,
                          const char *caption,
                          const char *heads,
                          const struct change kept[],
                          size_t n)
{
    if (n == 0)
        return;
    sheet_open(s, caption, heads);
    for (size_t i = 0; i < n; i++) {
        sheet_row(s, kept[i].name);
        sheet_number(s, kept[i].before, 3);
        sheet_number(s, kept[i].after, 3);
        sheet_change(s, kept[i].after - kept[i].before);
        sheet_text(s, kept[i].more);
        sheet_end(s);
    }
    sheet_close(s);
}

/* For free(3): rows by rank; NULL: no memory. */
static const struct step_row **by_rank(const struct step_file *f)
{
    const struct step_row **row = calloc(f->n_ranks + 1, sizeof *row);

    for (size_t i = 0; row && i < f->n_ranks; i++)
        if (f->rank[i].rank < (double)f->n_ranks)
            row[(size_t)f->rank[i].rank] = &f->rank[i];
    return row;
}

static struct change change_of(const struct step_row *a,
                               const struct step_row *b)
{
    struct change c = {.before = a->useful, .after = b->useful};
    int moved = strcmp(a->node, b->node) != 0;

    snprintf(c.name, sizeof c.name, "rank %.0f", a->rank);
    snprintf(c.more, sizeof c.more, "%s%s%s", a->node, moved ? " -> " : "",
             moved ? b->node : "");
    return c;
}

static int changed_ranks(const struct sheet *s,
                         const struct step_file *a,
                         const struct step_file *b)
{
    const struct step_row **x = by_rank(a), **y = by_rank(b);
    double least = NOISE * fmax(a->elapsed, b->elapsed);
    struct change kept[CHANGED], c;
    size_t n = 0;
    int rc = x && y ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < a->n_ranks && a->n_ranks == b->n_ranks;
         i++) {
        if (!x[i] || !y[i])
            continue;
        c = change_of(x[i], y[i]);
        if (size_of(&c) > least && is_worth(kept, n, &c))
            keep(kept, &n, &c);
    }
    print_changes(s, "Ranks whose useful time changed most",
                  "useful time|s before|s after|change|<node", kept, n);
    free(x);
    free(y);
    return rc;
}

#define SITES_MOST 64 /* of a file that are looked at */

/* Without the place in its function, which moves when it is built anew. */
static void site_name(char name[STEP_SITE], const char *where)
{
    const char *plus = strstr(where, "+0x");
    size_t len = plus ? (size_t)(plus - where) : strlen(where);

    snprintf(name, STEP_SITE, "%.*s%s", (int)len, where,
             plus ? plus + 1 + strcspn(plus + 1, " ") : "");
}

/* Add what is waited there to those in c. */
static size_t add_sites(struct change c[],
                        size_t n,
                        const struct step_file *f,
                        int is_after)
{
    const json_t *sites = json_object_get(f->line, "sites");
    struct step_site site;
    char where[STEP_SITE];
    size_t k;

    for (size_t i = 0; i < json_array_size(sites) && i < SITES_MOST; i++) {
        if (!step_show_site(&site, json_array_get(sites, i)))
            continue;
        site_name(where, site.where);
        for (k = 0; k < n; k++)
            if (strcmp(c[k].name, site.call) == 0
                && strcmp(c[k].more, where) == 0)
                break;
        if (k == n) {
            c[n] = (struct change){0};
            snprintf(c[n].name, sizeof c[n].name, "%s", site.call);
            snprintf(c[n].more, sizeof c[n].more, "%s", where);
            n++;
        }
        if (is_after)
            c[k].after += site.waiting;
        else
            c[k].before += site.waiting;
    }
    return n;
}

static int changed_sites(const struct sheet *s,
                         const struct step_file *a,
                         const struct step_file *b)
{
    struct change *c = calloc((size_t)2 * SITES_MOST, sizeof *c), kept[CHANGED];
    double least = NOISE * fmax(a->elapsed * a->ranks, b->elapsed * b->ranks);
    size_t n = 0, all;

    if (!c)
        return -1;
    all = add_sites(c, 0, a, 0);
    all = all > 0 && json_object_get(b->line, "sites") ? add_sites(c, all, b, 1)
                                                       : 0;
    for (size_t i = 0; i < all; i++)
        if (size_of(&c[i]) > least && is_worth(kept, n, &c[i]))
            keep(kept, &n, &c[i]);
    print_changes(s, "Call sites whose waiting changed most",
                  "waiting in|rank-s before|after|change|<called by", kept, n);
    free(c);
    return 0;
}

/* --- more, as a table over runs ------------------------------------------- */

struct run {
    const struct any_report *r;
    double cpus, at; /* ranks and their threads; when it was written */
};

static struct run run_of(const struct any_report *r)
{
    const struct step_file *f = &r->step;
    double threads = step_file_number(f->head, "threads_per_rank");

    if (threads < 1)
        threads = f->threads;
    return (struct run){.r = r,
                        .cpus = f->ranks * fmax(threads, 1),
                        .at = step_file_number(f->head, "written")};
}

/* The smallest first, of one size the oldest; else as they were given. */
static int by_size(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    if (x->cpus > y->cpus || x->cpus < y->cpus)
        return x->cpus > y->cpus ? 1 : -1;
    if (x->at > y->at || x->at < y->at)
        return x->at > y->at ? 1 : -1;
    return (x->r > y->r) - (x->r < y->r);
}

/* For free(3), those of steps; NULL: no memory. */
static struct run *runs_of(const struct any_report r[], size_t n, size_t *found)
{
    struct run *run = calloc(n + 1, sizeof *run);

    *found = 0;
    for (size_t i = 0; run && i < n; i++)
        if (r[i].kind == REPORT_STEP)
            run[(*found)++] = run_of(&r[i]);
    if (run && *found > 2)
        qsort(run, *found, sizeof *run, by_size);
    return run;
}

static double speedup(const struct run *first, const struct run *x)
{
    return ratio(first->r->step.elapsed, x->r->step.elapsed);
}

static double scaling(const struct run *first, const struct run *x)
{
    return speedup(first, x) * ratio(first->cpus, x->cpus);
}

/* Below 1: all ranks together had more useful time than in the first. */
static double computation(const struct run *first, const struct run *x)
{
    return ratio(known(first->r->step.useful), known(x->r->step.useful));
}

static void runs_table(const struct sheet *s, const struct run run[], size_t n)
{
    sheet_open(s, "The steps side by side",
               run[0].r->step.is_cpu
                   ? "report|nodes|ranks|seconds|speedup|efficiency|"
                     "computation|parallel|balance|busiest CPU"
                   : "report|nodes|ranks|seconds|speedup|efficiency|"
                     "computation|parallel|balance|communic.");
    for (size_t i = 0; i < n; i++) {
        const struct step_file *f = &run[i].r->step;

        sheet_row(s, run[i].r->path);
        sheet_number(s, f->nodes, 0);
        sheet_number(s, f->ranks, 0);
        sheet_number(s, f->elapsed, 2);
        sheet_number(s, speedup(&run[0], &run[i]), 2);
        sheet_number(s, scaling(&run[0], &run[i]), 3);
        sheet_number(s, computation(&run[0], &run[i]), 3);
        sheet_number(s, f->factor[STEP_PARALLEL].value, 3);
        sheet_number(s, f->factor[STEP_BALANCE].value, 3);
        sheet_number(s, f->factor[STEP_COMMUNICATION].value, 3);
        sheet_end(s);
    }
    sheet_close(s);
}

/* The factor that is furthest below what it was. */
static void fallen(char text[128], const struct run *a, const struct run *b)
{
    static const struct {
        enum step_factor k;
        const char *name;
    } upper[] = {{STEP_BALANCE, "load balance"},
                 {STEP_COMMUNICATION, "communication"},
                 {STEP_THREADS, "threads"}};
    double least = computation(a, b), before = 1, after = least;
    const char *name = "computation";

    if (!isfinite(least))
        least = 1;
    for (size_t i = 0; i < sizeof upper / sizeof *upper; i++) {
        double x = known(a->r->step.factor[upper[i].k].value),
               y = known(b->r->step.factor[upper[i].k].value);

        if (ratio(y, x) < least) {
            least = ratio(y, x);
            name = upper[i].k == STEP_COMMUNICATION
                       ? step_show_busy(&b->r->step)
                       : upper[i].name;
            before = x;
            after = y;
        }
    }
    *text = '\0';
    if (least < 1 - NOISE)
        snprintf(text, 128, "; what fell most is %s, from %.3f to %.3f", name,
                 before, after);
}

static void say_scaling(const struct sheet *s, const struct run run[], size_t n)
{
    const struct run *a = &run[0], *b = &run[n - 1];
    char why[128];

    if (!isfinite(scaling(a, b)))
        return;
    fallen(why, a, b);
    say(s,
        "from %.0f to %.0f CPUs: %.2f times as fast, %.3f of what they could "
        "give%s",
        a->cpus, b->cpus, speedup(a, b), scaling(a, b), why);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The last against those before it. */
static int say_trend(const struct sheet *s, const struct run run[], size_t n)
{
    double *t = calloc(n, sizeof *t);
    double last = run[n - 1].r->step.elapsed, median;
    char why[128] = "";

    if (!t)
        return -1;
    for (size_t i = 0; i + 1 < n; i++)
        t[i] = run[i].r->step.elapsed;
    qsort(t, n - 1, sizeof *t, by_value);
    median = (t[(n - 1) / 2] + t[(n - 2) / 2]) / 2;
    if (last >= t[0] && last <= t[n - 2])
        say(s,
            "all of one size: the last took %.2f s, within the %.2f to %.2f s "
            "of those before",
            last, t[0], t[n - 2]);
    else if (median > 0) {
        if (last > t[n - 2])
            fallen(why, &run[0], &run[n - 1]);
        say(s,
            "all of one size: the last took %.2f s, %.2f times the median of "
            "those before, which took %.2f to %.2f s%s",
            last, ratio(last, median), t[0], t[n - 2], why);
    }
    free(t);
    return 0;
}

/* --- all together --------------------------------------------------------- */

static void say_what(const struct sheet *s,
                     const char *before,
                     const struct run *x)
{
    const struct step_file *f = &x->r->step;
    time_t at = (time_t)fmin(fmax(x->at, 0), 4e9);
    char when[40] = "", line[STEP_LINES][STEP_LINE];
    struct tm tm;

    if (at > 0 && gmtime_r(&at, &tm))
        (void)strftime(when, sizeof when, ", %Y-%m-%d %H:%M UTC", &tm);
    say(s, "%s%s: step %.0f.%.0f, %.0f node%s, %.0f rank%s, %.0f regions%s",
        before, x->r->path, f->job, f->step, f->nodes, f->nodes > 1 ? "s" : "",
        f->ranks, f->ranks > 1 ? "s" : "", f->regions, when);
    if (f->verdict && step_show_why(line, f) > 0)
        say(s, "  %s", line[0]);
}

static void say_commands(const struct sheet *s,
                         const struct run run[],
                         size_t n)
{
    char x[STEP_LINE / 4], y[STEP_LINE / 4];

    plain_text(x, sizeof x, record_text(run[0].r->step.head, "command"));
    for (size_t i = 1; i < n; i++) {
        plain_text(y, sizeof y, record_text(run[i].r->step.head, "command"));
        if (strcmp(x, y) == 0)
            continue;
        say(s, "their commands differ: %s, and %s", *x ? x : "not known",
            *y ? y : "not known");
        return;
    }
    if (*x)
        say(s, "all of them: %s", x);
}

static int compare(const struct sheet *s, const struct run run[], size_t n)
{
    const struct step_file *a = &run[0].r->step, *b = &run[1].r->step;

    say_commands(s, run, n);
    if (n == 2) {
        say_what(s, "before: ", &run[0]);
        say_what(s, "after: ", &run[1]);
        verdict(s, run[0].r, run[1].r);
        if (run[0].cpus < run[1].cpus)
            say_scaling(s, run, n);
        factor_rows(s, a, b);
        if (changed_ranks(s, a, b) < 0)
            return -1;
        return changed_sites(s, a, b);
    }
    if (run[0].cpus < run[n - 1].cpus)
        say_scaling(s, run, n);
    else if (say_trend(s, run, n) < 0)
        return -1;
    runs_table(s, run, n);
    return 0;
}

int step_compare_can(const struct any_report r[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (r[i].kind != REPORT_STEP)
            return 0;
    return n > 1;
}

static int compare_all(struct sheet *s, const struct any_report r[], size_t n)
{
    size_t runs;
    struct run *run = runs_of(r, n, &runs);
    int rc = run ? 0 : -1;

    s->width = 22;
    for (size_t i = 0; rc == 0 && i < runs && runs > 2; i++)
        if (strlen(run[i].r->path) > (size_t)s->width)
            s->width = (int)fmin((double)strlen(run[i].r->path), 48);
    if (rc == 0 && runs > 1)
        rc = compare(s, run, runs);
    free(run);
    return rc;
}

int step_compare_table(FILE *out, const struct any_report r[], size_t n)
{
    struct sheet s = {.out = out};

    return compare_all(&s, r, n) < 0 || ferror(out) ? -1 : 0;
}

int step_compare_page(FILE *out, const struct any_report r[], size_t n)
{
    struct sheet s = {.out = out, .is_page = 1};

    return compare_all(&s, r, n);
}

static int set(json_t *to, const char *key, double v)
{
    return isfinite(v) ? json_object_set_new(to, key, json_real(v)) : 0;
}

static json_t *compared_of(const struct run *first, const struct run *x)
{
    json_t *c = json_member(json_object(), "to", json_text(first->r->path));
    int rc = c ? 0 : -1;

    if (rc == 0)
        rc = set(c, "time", ratio(x->r->step.elapsed, first->r->step.elapsed))
             | set(c, "speedup", speedup(first, x))
             | set(c, "efficiency", scaling(first, x))
             | set(c, "computation", computation(first, x));
    for (int k = 0; rc == 0 && k < STEP_FACTORS; k++)
        rc = set(c, step_factor_key((enum step_factor)k),
                 ratio(known(x->r->step.factor[k].value),
                       known(first->r->step.factor[k].value)));
    if (rc == 0)
        return c;
    json_decref(c);
    return NULL;
}

int step_compare_add(struct any_report r[], size_t n)
{
    size_t runs;
    struct run *run = runs_of(r, n, &runs);
    int rc = run ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < runs; i++) {
        json_t *c = compared_of(&run[0], &run[i]);

        rc = c ? json_object_set_new(run[i].r->step.json, "compared", c) : -1;
    }
    free(run);
    return rc;
}
