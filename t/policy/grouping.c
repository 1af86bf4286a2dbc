/* SPDX-License-Identifier: BSD-2-Clause */
/* Placements of random graphs, against the rules written down once more. */
#include "policy/grouping.h"
#include "fenced.h"
#include "tap.h"

#include "drawn_graph.h"

#define PATHS (2 * DRAWN_TASKS)

/* A placement under way. */
struct state {
    const struct graph *g;
    const struct graph_paths *p;
    enum grouping_mode mode;
    uint32_t processors, cores, cap;
    int64_t most;
    uint32_t on[PATHS], n_on[PATHS]; /* by path: processor; by processor */
    int64_t core[PATHS][4];
    int has[PATHS][DRAWN_TASKS]; /* by processor: the task */
};

static int64_t load_of(const struct state *s, uint32_t path)
{
    int64_t load = 0;

    for (uint32_t k = s->p->at[path]; k < s->p->at[path + 1]; k++)
        load += s->g->time[s->p->task[k]];
    return load;
}

static int64_t load_on(const struct state *s, uint32_t processor)
{
    int64_t load = 0;

    for (uint32_t c = 0; c < s->cores; c++)
        load += s->core[processor][c];
    return load;
}

static uint32_t idle_core(const struct state *s, uint32_t processor)
{
    uint32_t least = 0;

    for (uint32_t c = 1; c < s->cores; c++)
        if (s->core[processor][c] < s->core[processor][least])
            least = c;
    return least;
}

/* How much the path depends on what is on the processor. */
static int64_t dependence(const struct state *s, uint32_t path, uint32_t to)
{
    int64_t sum = 0;

    for (uint32_t b = 0; b < s->p->n; b++)
        if (s->on[b] == to)
            sum += grouping_dependence(s->g, s->p, path, b);
    return sum;
}

/* Load of the idle core with what of the path is not on the processor yet. */
static int64_t top(const struct state *s, uint32_t path, uint32_t to)
{
    int64_t load = s->core[to][idle_core(s, to)];

    for (uint32_t k = s->p->at[path]; k < s->p->at[path + 1]; k++)
        if (!s->has[to][s->p->task[k]])
            load += s->g->time[s->p->task[k]];
    return load;
}

/* Is processor a better for the path than b? */
static int is_better(const struct state *s,
                     uint32_t path,
                     uint32_t a,
                     uint32_t b)
{
    int64_t more = dependence(s, path, a) - dependence(s, path, b);
    int64_t higher = top(s, path, a) - top(s, path, b);
    int fits = top(s, path, a) <= s->most, other = top(s, path, b) <= s->most;

    if (s->mode != GROUPING_LITERAL) {
        if (fits != other)
            return fits;
        if (!fits)
            return higher != 0 ? higher < 0 : more > 0;
    }
    return more != 0 ? more > 0 : load_on(s, a) < load_on(s, b);
}

static uint32_t find_processor(const struct state *s, uint32_t path)
{
    uint32_t best = GRAPH_NOBODY;

    for (uint32_t p = 0; p < s->processors; p++)
        if (s->n_on[p] < s->cap
            && (best == GRAPH_NOBODY || is_better(s, path, p, best)))
            best = p;
    return best;
}

static int placement_is(struct state *s,
                        const struct grouping *x,
                        const struct instance instance[],
                        uint32_t n)
{
    uint32_t at = 0;

    for (uint32_t j = 0; j < s->p->n; j++) {
        uint32_t path = grouping_path(x, j);
        uint32_t to = j < s->processors ? j : find_processor(s, path);
        uint32_t core = idle_core(s, to);

        for (uint32_t k = s->p->at[path]; k < s->p->at[path + 1]; k++) {
            uint32_t v = s->p->task[k];

            if (s->has[to][v])
                continue;
            s->has[to][v] = 1;
            s->core[to][core] += s->g->time[v];
            if (at == n || instance[at].task != v
                || instance[at].processor != to || instance[at].core != core)
                return 0;
            at++;
        }
        s->on[path] = to;
        s->n_on[to]++;
        if (j > 0 && load_of(s, grouping_path(x, j - 1)) < load_of(s, path))
            return 0;
    }
    return at == n;
}

/* One graph, each number of processors. */
static int places(enum grouping_mode mode)
{
    const struct path_rule rule = {PATH_TDS, 0, 10, 5};
    uint32_t cores = 1 + drawn_number(3), most;
    struct graph_paths paths;
    struct instance *instance;
    struct grouping *x;
    struct drawn t;
    struct graph *g = draw_graph(&t);
    int same = 1;

    if (graph_paths_init(&paths, g, &rule) != PATH_SOUND
        || grouping_create(&x, g, &paths, cores, 1) != GROUPING_SOUND)
        bail("no memory");
    instance = calloc(paths.at[paths.n], sizeof *instance);
    most = paths.n / cores + (paths.n % cores != 0);
    for (uint32_t m = 1; m <= most && same; m++) {
        struct state s = {.g = g,
                          .p = &paths,
                          .mode = mode,
                          .processors = m,
                          .cores = cores,
                          .cap = UINT32_MAX};
        uint32_t n = grouping_place(x, mode, m, instance);

        memset(s.on, -1, sizeof s.on);
        s.most = load_of(&s, grouping_path(x, 0));
        if (mode == GROUPING_CAP)
            s.cap = paths.n / m + (paths.n % m != 0);
        same = placement_is(&s, x, instance, n);
    }
    free(instance);
    grouping_destroy(x);
    graph_paths_clear(&paths);
    graph_destroy(g);
    return same;
}

int main(void)
{
    static const char *const names[] = {"literal", "guard", "cap"};

    fence_on = 1;
    for (int mode = GROUPING_LITERAL; mode <= GROUPING_CAP; mode++) {
        int same = 1;

        for (int round = 0; round < 500; round++)
            same &= places((enum grouping_mode)mode);
        ok(same, "%s: each path goes where the rules say, 500 random graphs",
           names[mode - GROUPING_LITERAL]);
    }
    return done();
}
