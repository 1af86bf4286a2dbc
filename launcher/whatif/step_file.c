/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/step_file.h"
#include "launcher/whatif/json_lines.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 1e18
#define ROWS_MAX   200000u /* RANKS_EACH_MAX and as many nodes as there are */

static const char give_file[] = "give the file of srun --evenstep-report";

/* --- values --------------------------------------------------------------- */

static int number(double *v, const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);

    *v = json_number_value(value);
    return json_is_number(value) && isfinite(*v) && *v >= 0 && *v <= NUMBER_MAX
               ? 0
               : -1;
}

/* One that need not be there: 0 then. */
static int number_if_any(double *v, const json_t *json, const char *key)
{
    *v = 0;
    return json_object_get(json, key) ? number(v, json, key) : 0;
}

double step_file_number(const json_t *object, const char *key)
{
    double v;

    return number(&v, object, key) < 0 ? -1 : v;
}

/* Of printable characters. */
static int text(char *out, size_t size, const json_t *json, const char *key)
{
    const char *value = json_string_value(json_object_get(json, key));

    if (!value || !value[0] || strlen(value) >= size)
        return -1;
    for (const char *p = value; *p; p++)
        if (!isprint((unsigned char)*p))
            return -1;
    memcpy(out, value, strlen(value) + 1);
    return 0;
}

/* --- the tree ------------------------------------------------------------- */

static const struct {
    const char *key, *name;
    enum step_factor above;
} factors[STEP_FACTORS] = {
    [STEP_PARALLEL] = {"parallel", "parallel efficiency", STEP_PARALLEL},
    [STEP_BALANCE] = {"load_balance", "  load balance", STEP_PARALLEL},
    [STEP_BALANCE_NODES] = {"balance_nodes", "    between nodes", STEP_BALANCE},
    [STEP_BALANCE_WITHIN] = {"balance_within", "    within nodes",
                             STEP_BALANCE},
    [STEP_COMMUNICATION] = {"communication", "  communication", STEP_PARALLEL},
    [STEP_SERIALISATION] = {"serialisation", "    serialisation",
                            STEP_COMMUNICATION},
    [STEP_TRANSFER] = {"transfer", "    transfer", STEP_COMMUNICATION},
    [STEP_THREADS] = {"thread_efficiency", "  threads", STEP_PARALLEL},
};

const char *step_factor_name(const struct step_file *f, enum step_factor k)
{
    return f->is_cpu && k == STEP_COMMUNICATION ? "  busiest rank's CPU"
                                                : factors[k].name;
}

const char *step_factor_key(enum step_factor k)
{
    return factors[k].key;
}

/* The file has the leaves' costs: those above them are their sums. */
static void read_factors(struct step_file *f, const json_t *line)
{
    const json_t *lost = json_object_get(line, "lost_seconds");

    for (int k = STEP_FACTORS - 1; k >= 0; k--) {
        int up = (int)factors[k].above;
        double own = step_file_number(lost, factors[k].key);

        f->factor[k].value = step_file_number(line, factors[k].key);
        if (own >= 0)
            f->factor[k].lost = own;
        else if (k == STEP_THREADS)
            f->factor[k].lost = step_file_number(lost, "threads");
        if (up != k && f->factor[k].lost >= 0
            && !(step_file_number(lost, factors[up].key) >= 0))
            f->factor[up].lost =
                fmax(f->factor[up].lost, 0) + f->factor[k].lost;
    }
}

/* --- lines ---------------------------------------------------------------- */

static int read_iterations(struct step_file *f, const json_t *line)
{
    return number_if_any(&f->iterations.n, line, "iterations") < 0
                   || number_if_any(&f->iterations.regions, line,
                                    "iteration_regions")
                          < 0
                   || number_if_any(&f->iterations.seconds, line,
                                    "iteration_seconds")
                          < 0
                   || number_if_any(&f->iterations.skew, line, "iteration_skew")
                          < 0
                   || number_if_any(&f->iterations.skew_most, line,
                                    "iteration_skew_most")
                          < 0
               ? -1
               : 0;
}

/* Nothing if it is not known. */
static int read_energy(struct step_file *f, const json_t *line)
{
    const json_t *saved = json_object_get(line, "joules_saved");

    if (!json_object_get(line, "energy"))
        return 0;
    f->energy.has_saved = saved != NULL;
    f->energy.saved = json_number_value(saved);
    return text(f->energy.source, sizeof f->energy.source, line, "energy") < 0
                   || number(&f->energy.joules, line, "joules") < 0
                   || number(&f->energy.watts, line, "watts") < 0
                   || (saved
                       && (!json_is_number(saved)
                           || !(fabs(f->energy.saved) <= NUMBER_MAX)))
               ? -1
               : 0;
}

static int read_step(struct step_file *f, const json_t *line)
{
    const json_t *worst = json_object_get(line, "worst");
    const char *meter;

    if (number(&f->job, line, "job") < 0 || number(&f->step, line, "step") < 0
        || number(&f->nodes, line, "nodes") < 0
        || number(&f->ranks, line, "ranks") < 0
        || number(&f->regions, line, "regions") < 0
        || number(&f->region_seconds, line, "region_seconds") < 0
        || number(&f->skew, line, "skew") < 0
        || number(&f->skew_most, line, "skew_most") < 0)
        return -1;
    read_factors(f, line);
    if (f->factor[STEP_PARALLEL].value < 0 || f->factor[STEP_BALANCE].value < 0
        || f->factor[STEP_COMMUNICATION].value < 0
        || read_iterations(f, line) < 0 || read_energy(f, line) < 0
        || number_if_any(&f->threads, line, "threads") < 0
        || number(&f->elapsed, line, "elapsed") < 0)
        return -1;
    meter = json_string_value(json_object_get(line, "meter"));
    f->is_cpu = meter && strcmp(meter, "cpu") == 0;
    f->line = line;
    f->head = json_object_get(line, "report");
    f->verdict = json_object_get(line, "verdict");
    f->useful = step_file_number(line, "useful");
    return text(f->worst.node, sizeof f->worst.node, worst, "node") < 0
                   || text(f->worst.cause, sizeof f->worst.cause, worst,
                           "cause")
                          < 0
                   || number(&f->worst.rank, worst, "rank") < 0
                   || number(&f->worst.last, worst, "last") < 0
                   || number(&f->worst.node_seconds, worst, "node_seconds") < 0
                   || number(&f->worst.longer, worst, "longer") < 0
                   || number(&f->worst.apart, worst, "apart") < 0
                   || number(&f->worst.speed, worst, "speed") < 0
               ? -1
               : 0;
}

static int read_row(struct step_row *r, const json_t *line, int is_rank)
{
    if (text(r->node, sizeof r->node, line, "node") < 0
        || number(&r->rank, line, is_rank ? "rank" : "ranks") < 0
        || number(&r->useful, line, "useful") < 0
        || number(&r->waiting, line, "waiting") < 0
        || number(&r->last, line, "last") < 0
        || number_if_any(&r->lost, line, "lost") < 0)
        return -1;
    if (!json_object_get(line, "lost"))
        r->lost = -1;
    r->cpu = step_file_number(line, "cpu");
    r->run_delay = step_file_number(line, "run_delay");
    r->throttled = step_file_number(line, "throttled");
    r->io_wait = step_file_number(line, "io_wait");
    r->rss = step_file_number(line, "rss");
    r->line = line;
    if (is_rank)
        return 0;
    return number(&r->parallel, line, "parallel") < 0
                   || number(&r->node_seconds, line, "node_seconds") < 0
               ? -1
               : 0;
}

static int add_row(struct step_row **rows,
                   size_t *n,
                   const json_t *line,
                   int is_rank)
{
    struct step_row *more, row = {0};

    if (*n >= ROWS_MAX || read_row(&row, line, is_rank) < 0)
        return -1;
    if ((*n & (*n - 1)) == 0) { /* 0, or a power of two: it is full */
        more = realloc(*rows, (*n ? 2 * *n : 1) * sizeof row);
        if (!more)
            return -1;
        *rows = more;
    }
    (*rows)[(*n)++] = row;
    return 0;
}

/* The first line is the step's. */
static int take_line(struct step_file *f, json_t *line)
{
    const char *type = json_string_value(json_object_get(line, "type"));
    int is_first = !json_object_get(f->json, "step");

    if (!type || (strcmp(type, "step") == 0) != is_first)
        return -1;
    if (is_first)
        return read_step(f, line) < 0 ? -1
                                      : json_object_set(f->json, "step", line);
    if (strcmp(type, "node") == 0)
        return add_row(&f->node, &f->n_nodes, line, 0) < 0
                   ? -1
                   : json_array_append(json_object_get(f->json, "nodes"), line);
    if (strcmp(type, "rank") == 0)
        return add_row(&f->rank, &f->n_ranks, line, 1) < 0
                   ? -1
                   : json_array_append(json_object_get(f->json, "ranks"), line);
    return 0; /* of a later version */
}

static int add_line(void *arg, json_t *line)
{
    int rc = take_line(arg, line);

    json_decref(line);
    return rc < 0;
}

/* --- the worst first ------------------------------------------------------ */

struct place {
    const struct step_row *row;
    int named; /* 2: it died, 1: the verdict is about it */
};

static int by_badness(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->named != y->named)
        return y->named - x->named;
    if (x->row->useful > y->row->useful || x->row->useful < y->row->useful)
        return x->row->useful > y->row->useful ? -1 : 1;
    return (x->row->rank > y->row->rank) - (x->row->rank < y->row->rank);
}

static int sort_ranks(struct step_file *f)
{
    double rank = step_file_number(f->verdict, "rank");
    struct place *at = calloc(f->n_ranks + 1, sizeof *at);

    f->worst_first = calloc(f->n_ranks + 1, sizeof *f->worst_first);
    if (!at || !f->worst_first) {
        free(at);
        return -1;
    }
    for (size_t i = 0; i < f->n_ranks; i++) {
        const struct step_row *r = &f->rank[i];
        const char *state =
            json_string_value(json_object_get(r->line, "state"));
        int is_dead = state && strcmp(state, "died") == 0;

        at[i] = (struct place){r, is_dead ? 2 : r->rank == rank};
    }
    qsort(at, f->n_ranks, sizeof *at, by_badness);
    for (size_t i = 0; i < f->n_ranks; i++)
        f->worst_first[i] = at[i].row;
    free(at);
    return 0;
}

/* --- files ---------------------------------------------------------------- */

int step_file_read(struct step_file *f, const char *path, struct es_error *err)
{
    size_t lines;
    int rc;

    *f =
        (struct step_file){.json = json_pack("{s:[], s:[]}", "nodes", "ranks")};
    if (!f->json)
        return es_no_memory(err);
    for (size_t k = 0; k < STEP_FACTORS; k++)
        f->factor[k].lost = -1;
    rc = json_lines_read(path, add_line, f, &lines, err);
    if (rc < 0)
        return -1;
    if (rc > 0 || f->n_nodes == 0)
        return es_fail(err, ES_USAGE, give_file,
                       "report: %s: line %zu is none of a step's report, or is "
                       "not whole",
                       path, lines);
    return sort_ranks(f) < 0 ? es_no_memory(err) : 0;
}

void step_file_clear(struct step_file *f)
{
    free(f->node);
    free(f->rank);
    free(f->worst_first);
    json_decref(f->json);
    memset(f, 0, sizeof *f);
}
