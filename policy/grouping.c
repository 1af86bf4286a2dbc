/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Below, "path j" is the j-th heaviest one.  DF(L, P) of a processor is the sum
 * of DF(L, B) over the paths B on P, so what is reckoned once for all modes
 * and numbers of processors is the matrix DF(j, b) for b < j, row by row and
 * without its zeros; a placement adds up row j by processor.
 *
 * It comes row by row: beside every task v stands a list of the paths b so far
 * that v depends on, with DF(v, b); row j is the sum of the lists of j's
 * tasks.
 */
#include "policy/grouping.h"

#include "policy/order.h"

#include <stdlib.h>
#include <string.h>

/* A list for every task. */
struct lists {
    uint32_t *at, *item; /* at: tasks + 1 */
};

struct processor {
    int64_t load;      /* of all cores, without copies */
    int64_t idle_load; /* of the core with least */
    uint32_t idle_core;
    uint32_t paths, instances;
    uint32_t last; /* instance placed, or GRAPH_NOBODY; a chain by before[] */
};

struct grouping {
    const struct graph *g;
    const struct graph_paths *p;
    uint32_t cores;
    uint32_t *sorted; /* paths by load, heaviest first */
    int64_t *load;    /* by path */

    /* Row j of the matrix: beside path[i], value[i], i in [row[j], row[j+1]) */
    uint32_t *row, *path;
    double *value;

    /* Of one placement. */
    struct processor *processor;
    double *dependence; /* by processor: of the path being placed on it */
    int64_t *shared;    /* likewise: what of the path is there already */
    int64_t *core_load;
    uint32_t *home;      /* by j: its processor */
    uint32_t *before;    /* by instance */
    struct lists places; /* by task: processors, in places.item */
    uint32_t *n_places;  /* by task: how many */
    uint32_t *stamp;     /* by task: the last j + 1 that found it there */
};

static uint32_t begin_of(const struct grouping *x, uint32_t j)
{
    return x->p->at[x->sorted[j]];
}

static uint32_t end_of(const struct grouping *x, uint32_t j)
{
    return x->p->at[x->sorted[j] + 1];
}

uint32_t grouping_path(const struct grouping *x, uint32_t i)
{
    return x->sorted[i];
}

/* --- dependences ---------------------------------------------------------- */

static int is_on(const struct graph_paths *p, uint32_t path, uint32_t v)
{
    for (uint32_t i = p->at[path]; i < p->at[path + 1]; i++)
        if (p->task[i] == v)
            return 1;
    return 0;
}

int64_t grouping_dependence(const struct graph *g,
                            const struct graph_paths *p,
                            uint32_t a,
                            uint32_t b)
{
    int64_t sum = 0;

    for (uint32_t i = p->at[a]; i < p->at[a + 1]; i++) {
        uint32_t v = p->task[i];

        if (is_on(p, b, v)) {
            sum += g->time[v];
            continue;
        }
        for (uint32_t k = g->pred_at[v]; k < g->pred_at[v + 1]; k++)
            sum += is_on(p, b, g->pred[k].task) ? g->pred[k].comm : 0;
        for (uint32_t k = g->succ_at[v]; k < g->succ_at[v + 1]; k++)
            sum += is_on(p, b, g->succ[k].task) ? g->succ[k].comm : 0;
    }
    return sum;
}

/* Scratch for one row after another. */
struct rows {
    uint32_t n_tasks, n_paths, room; /* room: in x->path and x->value */
    uint32_t *task, *path;           /* where the vectors are not 0 */
    unsigned char *has, *on;         /* by task: is in task[]; is on b */
    double *by_task, *by_path;       /* DF(v, b); DF(j, b) */
    struct lists beside; /* by task: paths b so far with DF(v, b) > 0... */
    uint32_t *n_beside;  /* ...how many... */
    double *weight;      /* ...and that, beside beside.item */
};

static void gain(struct rows *r, uint32_t v, double more)
{
    if (!r->has[v]) {
        r->has[v] = 1;
        r->task[r->n_tasks++] = v;
    }
    r->by_task[v] += more;
}

static void gain_links(struct rows *r,
                       const struct graph_link link[],
                       uint32_t begin,
                       uint32_t end)
{
    for (uint32_t i = begin; i < end; i++)
        if (!r->on[link[i].task])
            gain(r, link[i].task, (double)link[i].comm);
}

/* DF(v, b) of every task v that has to do with path b. */
static void weigh_tasks(struct rows *r, const struct grouping *x, uint32_t b)
{
    const struct graph *g = x->g;
    const uint32_t *task = x->p->task;

    for (uint32_t i = 0; i < r->n_tasks; i++) {
        r->by_task[r->task[i]] = 0;
        r->has[r->task[i]] = 0;
    }
    r->n_tasks = 0;
    for (uint32_t i = begin_of(x, b); i < end_of(x, b); i++)
        r->on[task[i]] = 1;
    for (uint32_t i = begin_of(x, b); i < end_of(x, b); i++) {
        uint32_t v = task[i];

        gain(r, v, (double)g->time[v]);
        gain_links(r, g->pred, g->pred_at[v], g->pred_at[v + 1]);
        gain_links(r, g->succ, g->succ_at[v], g->succ_at[v + 1]);
    }
    for (uint32_t i = begin_of(x, b); i < end_of(x, b); i++)
        r->on[task[i]] = 0;
}

/* Make room for what will be beside each task. */
static enum grouping_fault make_lists(struct rows *r, const struct grouping *x)
{
    uint32_t sum = 0, *at = r->beside.at;

    for (uint32_t b = 0; b < x->p->n; b++) {
        weigh_tasks(r, x, b);
        if (r->n_tasks > GROUPING_DEPENDENCES_MAX - sum)
            return GROUPING_DENSE;
        sum += r->n_tasks;
        for (uint32_t i = 0; i < r->n_tasks; i++)
            at[r->task[i] + 1]++;
    }
    for (uint32_t v = 0; v < x->g->tasks; v++)
        at[v + 1] += at[v];
    r->beside.item = calloc(sum, sizeof *r->beside.item);
    r->weight = calloc(sum, sizeof *r->weight);
    return r->beside.item && r->weight ? GROUPING_SOUND : GROUPING_MEMORY;
}

/* DF(j, b) of every path b < j. */
static void weigh_paths(struct rows *r, const struct grouping *x, uint32_t j)
{
    r->n_paths = 0;
    for (uint32_t k = begin_of(x, j); k < end_of(x, j); k++) {
        uint32_t v = x->p->task[k], begin = r->beside.at[v];

        for (uint32_t i = begin; i < begin + r->n_beside[v]; i++) {
            uint32_t b = r->beside.item[i];

            if (r->by_path[b] <= 0)
                r->path[r->n_paths++] = b;
            r->by_path[b] += r->weight[i];
        }
    }
}

/* Enter path j beside its tasks and their neighbours. */
static void enter(struct rows *r, const struct grouping *x, uint32_t j)
{
    weigh_tasks(r, x, j);
    for (uint32_t i = 0; i < r->n_tasks; i++) {
        uint32_t v = r->task[i], at = r->beside.at[v] + r->n_beside[v];

        if (r->by_task[v] <= 0)
            continue;
        r->beside.item[at] = j;
        r->weight[at] = r->by_task[v];
        r->n_beside[v]++;
    }
}

/* Room for so many entries of the matrix; at least doubled, so O(1) each. */
static int make_room(struct grouping *x, struct rows *r, uint32_t n)
{
    size_t room = 2 * (size_t)r->room > n ? 2 * (size_t)r->room : n;
    uint32_t *path;
    double *value;

    if (n <= r->room)
        return 0;
    path = realloc(x->path, room * sizeof *path);
    if (!path)
        return -1;
    x->path = path;
    value = realloc(x->value, room * sizeof *value);
    if (!value)
        return -1;
    x->value = value;
    r->room = (uint32_t)room;
    return 0;
}

static enum grouping_fault make_rows(struct rows *r, struct grouping *x)
{
    for (uint32_t j = 0; j < x->p->n; j++) {
        uint32_t n = x->row[j];

        weigh_paths(r, x, j);
        if (r->n_paths > GROUPING_DEPENDENCES_MAX - n)
            return GROUPING_DENSE;
        if (make_room(x, r, n + r->n_paths) < 0)
            return GROUPING_MEMORY;
        for (uint32_t i = 0; i < r->n_paths; i++, n++) {
            x->path[n] = r->path[i];
            x->value[n] = r->by_path[r->path[i]];
            r->by_path[r->path[i]] = 0;
        }
        x->row[j + 1] = n;
        enter(r, x, j);
    }
    return GROUPING_SOUND;
}

static enum grouping_fault make_matrix(struct grouping *x)
{
    uint32_t n = x->g->tasks, paths = x->p->n;
    enum grouping_fault fault = GROUPING_MEMORY;
    struct rows r = {
        .task = calloc(n, sizeof *r.task),
        .path = calloc(paths, sizeof *r.path),
        .has = calloc(n, 1),
        .on = calloc(n, 1),
        .by_task = calloc(n, sizeof *r.by_task),
        .by_path = calloc(paths, sizeof *r.by_path),
        .beside.at = calloc(n + (size_t)1, sizeof *r.beside.at),
        .n_beside = calloc(n, sizeof *r.n_beside),
    };

    if (r.task && r.path && r.has && r.on && r.by_task && r.by_path
        && r.beside.at && r.n_beside)
        fault = make_lists(&r, x);
    if (fault == GROUPING_SOUND)
        fault = make_rows(&r, x);
    free(r.task);
    free(r.path);
    free(r.has);
    free(r.on);
    free(r.by_task);
    free(r.by_path);
    free(r.beside.at);
    free(r.beside.item);
    free(r.n_beside);
    free(r.weight);
    return fault;
}

/* --- create, destroy ------------------------------------------------------ */

static struct grouping *allocate(const struct graph *g,
                                 const struct graph_paths *p,
                                 uint32_t cores)
{
    struct grouping *x = calloc(1, sizeof *x);
    size_t members = p->at[p->n], processors = (p->n - 1) / cores + 1;

    if (!x)
        return NULL;
    *x = (struct grouping){.g = g, .p = p, .cores = cores};
    x->sorted = calloc(p->n, sizeof *x->sorted);
    x->load = calloc(p->n, sizeof *x->load);
    x->row = calloc(p->n + (size_t)1, sizeof *x->row);
    x->processor = calloc(processors, sizeof *x->processor);
    x->dependence = calloc(processors, sizeof *x->dependence);
    x->shared = calloc(processors, sizeof *x->shared);
    x->core_load = calloc(processors * cores, sizeof *x->core_load);
    x->home = calloc(p->n, sizeof *x->home);
    x->before = calloc(members, sizeof *x->before);
    x->places.at = calloc(g->tasks + (size_t)1, sizeof *x->places.at);
    x->places.item = calloc(members, sizeof *x->places.item);
    x->n_places = calloc(g->tasks, sizeof *x->n_places);
    x->stamp = calloc(g->tasks, sizeof *x->stamp);
    if (!x->sorted || !x->load || !x->row || !x->processor || !x->dependence
        || !x->shared || !x->core_load || !x->home || !x->before
        || !x->places.at || !x->places.item || !x->n_places || !x->stamp) {
        grouping_destroy(x);
        return NULL;
    }
    return x;
}

/* Step 2; home[] is scratch. */
static void sort_paths(struct grouping *x)
{
    const struct graph_paths *p = x->p;

    for (uint32_t i = 0; i < p->n; i++) {
        x->sorted[i] = i;
        for (uint32_t k = p->at[i]; k < p->at[i + 1]; k++)
            x->load[i] += x->g->time[p->task[k]];
    }
    order_descending(x->sorted, x->home, p->n, x->load);
}

enum grouping_fault grouping_create(struct grouping **made,
                                    const struct graph *g,
                                    const struct graph_paths *p,
                                    uint32_t cores,
                                    int dependent)
{
    struct grouping *x = allocate(g, p, cores);
    enum grouping_fault fault;

    *made = NULL;
    if (!x)
        return GROUPING_MEMORY;
    sort_paths(x);
    for (uint32_t i = 0; i < p->at[p->n]; i++)
        x->places.at[p->task[i] + 1]++;
    for (uint32_t v = 0; v < g->tasks; v++)
        x->places.at[v + 1] += x->places.at[v];
    fault = dependent ? make_matrix(x) : GROUPING_SOUND;
    if (fault != GROUPING_SOUND) {
        grouping_destroy(x);
        return fault;
    }
    *made = x;
    return GROUPING_SOUND;
}

void grouping_destroy(struct grouping *x)
{
    if (!x)
        return;
    free(x->sorted);
    free(x->load);
    free(x->row);
    free(x->path);
    free(x->value);
    free(x->processor);
    free(x->dependence);
    free(x->shared);
    free(x->core_load);
    free(x->home);
    free(x->before);
    free(x->places.at);
    free(x->places.item);
    free(x->n_places);
    free(x->stamp);
    free(x);
}

uint64_t grouping_work(const struct grouping *x)
{
    uint32_t paths = x->p->n, most = (paths - 1) / x->cores + 1;
    uint64_t work = x->row[paths] + (uint64_t)paths * most;

    for (uint32_t v = 0; v < x->g->tasks; v++) {
        uint64_t copies = x->places.at[v + 1] - x->places.at[v];

        work += copies * (copies < most ? copies : most);
    }
    return work;
}

/* --- one placement -------------------------------------------------------- */

struct placing {
    struct grouping *x;
    enum grouping_mode mode;
    uint32_t processors, cap; /* paths a processor */
    int64_t most;             /* Max_Load */
    struct instance *instance;
    uint32_t n;
};

static void start(struct grouping *x, uint32_t processors)
{
    for (uint32_t p = 0; p < processors; p++)
        x->processor[p] = (struct processor){.last = GRAPH_NOBODY};
    memset(x->core_load, 0,
           (size_t)processors * x->cores * sizeof *x->core_load);
    memset(x->n_places, 0, x->g->tasks * sizeof *x->n_places);
    memset(x->stamp, 0, x->g->tasks * sizeof *x->stamp);
}

static void find_idle_core(struct grouping *x, uint32_t p)
{
    const int64_t *load = x->core_load + (size_t)p * x->cores;
    uint32_t least = 0;

    for (uint32_t c = 1; c < x->cores; c++)
        if (load[c] < load[least])
            least = c;
    x->processor[p].idle_core = least;
    x->processor[p].idle_load = load[least];
}

/* Stamp the tasks of path j that are on processor p with j + 1: found among p's
 * tasks or among the tasks' places, whichever are fewer. */
static void stamp_shared(const struct placing *s, uint32_t j, uint32_t p)
{
    struct grouping *x = s->x;
    uint64_t length = end_of(x, j) - begin_of(x, j);

    if (x->processor[p].instances < length * s->processors) {
        for (uint32_t i = x->processor[p].last; i != GRAPH_NOBODY;
             i = x->before[i])
            x->stamp[s->instance[i].task] = j + 1;
        return;
    }
    for (uint32_t k = begin_of(x, j); k < end_of(x, j); k++) {
        uint32_t v = x->p->task[k];
        const uint32_t *place = x->places.item + x->places.at[v];

        for (uint32_t i = 0; i < x->n_places[v]; i++)
            if (place[i] == p)
                x->stamp[v] = j + 1;
    }
}

/* Put the tasks of path j that are not on processor p yet on its idle core. */
static void put(struct placing *s, uint32_t j, uint32_t p)
{
    struct grouping *x = s->x;
    struct processor *to = &x->processor[p];
    uint32_t core = to->idle_core, first = s->n;
    int64_t more = 0;

    stamp_shared(s, j, p);
    for (uint32_t k = begin_of(x, j); k < end_of(x, j); k++) {
        uint32_t v = x->p->task[k];

        if (x->stamp[v] == j + 1)
            continue;
        s->instance[s->n] = (struct instance){v, p, core, 0, 0};
        x->before[s->n] = to->last;
        to->last = s->n++;
        x->places.item[x->places.at[v] + x->n_places[v]++] = p;
        more += x->g->time[v];
    }
    to->load += more;
    to->instances += s->n - first;
    to->paths++;
    x->core_load[(size_t)p * x->cores + core] += more;
    x->home[j] = p;
    find_idle_core(x, p);
}

/* What path j has to do with every processor. */
static void weigh(const struct placing *s, uint32_t j)
{
    struct grouping *x = s->x;
    int64_t everywhere = 0;

    memset(x->dependence, 0, s->processors * sizeof *x->dependence);
    memset(x->shared, 0, s->processors * sizeof *x->shared);
    for (uint32_t i = x->row[j]; i < x->row[j + 1]; i++)
        x->dependence[x->home[x->path[i]]] += x->value[i];
    if (s->mode == GROUPING_LITERAL)
        return;
    for (uint32_t k = begin_of(x, j); k < end_of(x, j); k++) {
        uint32_t v = x->p->task[k], n = x->n_places[v];
        const uint32_t *place = x->places.item + x->places.at[v];

        if (n == s->processors) {
            everywhere += x->g->time[v];
            continue;
        }
        for (uint32_t i = 0; i < n; i++)
            x->shared[place[i]] += x->g->time[v];
    }
    for (uint32_t p = 0; p < s->processors && everywhere > 0; p++)
        x->shared[p] += everywhere;
}

/* What a processor has to offer to the path being placed. */
struct offer {
    double dependence;
    int64_t top; /* load of the core that would get it, with it */
    int64_t load;
};

static struct offer offer_of(const struct grouping *x,
                             uint32_t p,
                             int64_t path_load)
{
    const struct processor *at = &x->processor[p];

    return (struct offer){x->dependence[p],
                          at->idle_load + path_load - x->shared[p], at->load};
}

/* Is a, of the higher index, better than b? */
static int is_better(const struct placing *s,
                     const struct offer *a,
                     const struct offer *b)
{
    if (s->mode != GROUPING_LITERAL) {
        int fits = a->top <= s->most;

        if (fits != (b->top <= s->most))
            return fits;
        if (!fits && a->top != b->top)
            return a->top < b->top;
        if (!fits)
            return a->dependence > b->dependence;
    }
    if (a->dependence < b->dependence)
        return 0;
    return a->dependence > b->dependence || a->load < b->load;
}

static uint32_t choose(const struct placing *s, uint32_t j)
{
    const struct grouping *x = s->x;
    int64_t load = x->load[x->sorted[j]];
    uint32_t best = GRAPH_NOBODY;
    struct offer chosen = {0};

    for (uint32_t p = 0; p < s->processors; p++) {
        struct offer o = offer_of(x, p, load);

        if (x->processor[p].paths < s->cap
            && (best == GRAPH_NOBODY || is_better(s, &o, &chosen))) {
            best = p;
            chosen = o;
        }
    }
    return best;
}

/* A path a processor as they were made, or a path a core by load. */
static void place_apart(struct placing *s)
{
    const struct graph_paths *p = s->x->p;
    int packed = s->mode == GROUPING_PACK;
    uint32_t together = packed ? s->x->cores : 1;

    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t path = packed ? s->x->sorted[i] : i;

        for (uint32_t k = p->at[path]; k < p->at[path + 1]; k++)
            s->instance[s->n++] =
                (struct instance){p->task[k], i / together, i % together, 0, 0};
    }
}

uint32_t grouping_place(struct grouping *x,
                        enum grouping_mode mode,
                        uint32_t processors,
                        struct instance instance[])
{
    uint32_t paths = x->p->n;
    struct placing s = {x, mode, processors, UINT32_MAX, 0, instance, 0};

    if (mode == GROUPING_PACK || mode == GROUPING_SPREAD) {
        place_apart(&s);
        return s.n;
    }
    if (mode == GROUPING_CAP)
        s.cap = (paths + processors - 1) / processors;
    s.most = x->load[x->sorted[0]];
    start(x, processors);
    for (uint32_t j = 0; j < paths; j++) {
        if (j < processors) {
            put(&s, j, j);
            continue;
        }
        weigh(&s, j);
        put(&s, j, choose(&s, j));
    }
    return s.n;
}
