/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Below, "path j" is the j-th heaviest one.  DF(L, P) of a processor is the sum
 * of DF(v, B) over the tasks v of L and the paths B on P.  So beside every task
 * v stands how much it depends on each processor so far; a path that is put
 * somewhere is entered beside its tasks and their neighbours, and what a path
 * depends on is the sum of what stands beside its tasks.
 *
 * What stands beside a task is a list of processors, or, where that would be
 * as long as there are processors, a value for each of them.
 */
#include "policy/grouping.h"

#include "policy/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAP_ROUNDING 1e-9 /* of the division by speeds */

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
    struct machine m; /* without kinds: all are alike */
    uint32_t *sorted; /* paths by load, heaviest first */
    int64_t *load;    /* by path */

    /* Beside task v: room for beside.at[v + 1] - beside.at[v] processors. */
    struct lists beside;
    double *weight; /* DF(v, P), beside beside.item */

    /* Of one placement. */
    struct processor *processor;
    double *dependence; /* by processor: of the path being placed on it */
    int64_t *shared;    /* likewise: what of the path is there already */
    int64_t *core_load;
    uint32_t *before;    /* by instance */
    struct lists places; /* by task: processors, in places.item */
    uint32_t *n_places;  /* by task: how many */
    uint32_t *stamp;     /* by task: the last j + 1 that found it there */
    uint32_t *n_beside;  /* by task: processors in the list beside it */
    uint32_t *member;    /* by task: the last j + 1 that it is on */
};

static uint32_t path_begin(const struct grouping *x, uint32_t j)
{
    return x->p->at[x->sorted[j]];
}

static uint32_t path_end(const struct grouping *x, uint32_t j)
{
    return x->p->at[x->sorted[j] + 1];
}

uint32_t grouping_path(const struct grouping *x, uint32_t i)
{
    return x->sorted[i];
}

/* --- dependences ---------------------------------------------------------- */

/* Make at[v + 1] the end of v's list, from counts in at[v + 1]. */
static void ends_from_counts(uint32_t at[], uint32_t n)
{
    for (uint32_t v = 0; v < n; v++)
        at[v + 1] += at[v];
}

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

/* Count path j beside task v, unless it is counted; returns whether. */
static uint32_t count_once(struct grouping *x, uint32_t v, uint32_t j)
{
    if (x->stamp[v] == j + 1)
        return 0;
    x->stamp[v] = j + 1;
    x->beside.at[v + 1]++;
    return 1;
}

/* Count path j beside its tasks and their neighbours; returns these. */
static uint32_t count_beside(struct grouping *x, uint32_t j)
{
    const struct graph *g = x->g;
    uint32_t n = 0;

    for (uint32_t k = path_begin(x, j); k < path_end(x, j); k++) {
        uint32_t v = x->p->task[k];

        n += count_once(x, v, j);
        for (uint32_t i = g->pred_at[v]; i < g->pred_at[v + 1]; i++)
            n += count_once(x, g->pred[i].task, j);
        for (uint32_t i = g->succ_at[v]; i < g->succ_at[v + 1]; i++)
            n += count_once(x, g->succ[i].task, j);
    }
    return n;
}

/* Make room for what will be beside each task. */
static enum grouping_fault make_beside(struct grouping *x)
{
    uint32_t sum = 0;

    for (uint32_t j = 0; j < x->p->n; j++) {
        uint32_t n = count_beside(x, j);

        if (n > GROUPING_DEPENDENCES_MAX - sum)
            return GROUPING_DENSE;
        sum += n;
    }
    ends_from_counts(x->beside.at, x->g->tasks);
    x->beside.item = calloc(sum, sizeof *x->beside.item);
    x->weight = calloc(sum, sizeof *x->weight);
    return x->beside.item && x->weight ? GROUPING_SOUND : GROUPING_MEMORY;
}

/* --- create, destroy ------------------------------------------------------ */

static struct grouping *allocate_grouping(const struct graph *g,
                                          const struct graph_paths *p,
                                          uint32_t cores)
{
    struct grouping *x = calloc(1, sizeof *x);
    size_t members = p->at[p->n], processors = (p->n - 1) / cores + 1;

    if (!x)
        return NULL;
    *x = (struct grouping){
        .g = g, .p = p, .cores = cores, .m = {.cores = cores}};
    x->sorted = calloc(p->n, sizeof *x->sorted);
    x->load = calloc(p->n, sizeof *x->load);
    x->beside.at = calloc(g->tasks + (size_t)1, sizeof *x->beside.at);
    x->processor = calloc(processors, sizeof *x->processor);
    x->dependence = calloc(processors, sizeof *x->dependence);
    x->shared = calloc(processors, sizeof *x->shared);
    x->core_load = calloc(processors * cores, sizeof *x->core_load);
    x->before = calloc(members, sizeof *x->before);
    x->places.at = calloc(g->tasks + (size_t)1, sizeof *x->places.at);
    x->places.item = calloc(members, sizeof *x->places.item);
    x->n_places = calloc(g->tasks, sizeof *x->n_places);
    x->stamp = calloc(g->tasks, sizeof *x->stamp);
    x->n_beside = calloc(g->tasks, sizeof *x->n_beside);
    x->member = calloc(g->tasks, sizeof *x->member);
    if (!x->sorted || !x->load || !x->beside.at || !x->processor
        || !x->dependence || !x->shared || !x->core_load || !x->before
        || !x->places.at || !x->places.item || !x->n_places || !x->stamp
        || !x->n_beside || !x->member) {
        grouping_destroy(x);
        return NULL;
    }
    return x;
}

/* Heaviest first; before[] is scratch. */
static void sort_paths(struct grouping *x)
{
    const struct graph_paths *p = x->p;

    for (uint32_t i = 0; i < p->n; i++) {
        x->sorted[i] = i;
        for (uint32_t k = p->at[i]; k < p->at[i + 1]; k++)
            x->load[i] += x->g->time[p->task[k]];
    }
    order_descending(x->sorted, x->before, p->n, x->load);
}

enum grouping_fault grouping_create(struct grouping **made,
                                    const struct graph *g,
                                    const struct graph_paths *p,
                                    uint32_t cores,
                                    int dependent)
{
    struct grouping *x = allocate_grouping(g, p, cores);
    enum grouping_fault fault;

    *made = NULL;
    if (!x)
        return GROUPING_MEMORY;
    sort_paths(x);
    for (uint32_t i = 0; i < p->at[p->n]; i++)
        x->places.at[p->task[i] + 1]++;
    ends_from_counts(x->places.at, g->tasks);
    fault = dependent ? make_beside(x) : GROUPING_SOUND;
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
    free(x->beside.at);
    free(x->beside.item);
    free(x->weight);
    free(x->processor);
    free(x->dependence);
    free(x->shared);
    free(x->core_load);
    free(x->before);
    free(x->places.at);
    free(x->places.item);
    free(x->n_places);
    free(x->stamp);
    free(x->n_beside);
    free(x->member);
    free(x);
}

void grouping_set_machine(struct grouping *x, const struct machine *m)
{
    x->m = *m;
}

uint64_t grouping_work(const struct grouping *x, uint32_t processors)
{
    uint64_t work = (uint64_t)x->p->n * processors;

    for (uint32_t v = 0; v < x->g->tasks; v++) {
        uint64_t copies = x->places.at[v + 1] - x->places.at[v];
        uint64_t beside = x->beside.at[v + 1] - x->beside.at[v];

        work += copies * (beside < processors ? beside : processors);
    }
    return work;
}

/* --- one placement -------------------------------------------------------- */

struct placing {
    struct grouping *x;
    enum grouping_mode mode;
    uint32_t processors;
    double speed; /* of all processors together; 0: no cap */
    int64_t most; /* Max_Load */
    struct instance *instance;
    uint32_t n;
};

/* Is there a value for each processor beside v? */
static int is_wide(const struct placing *s, uint32_t v)
{
    const uint32_t *at = s->x->beside.at;

    return at[v + 1] - at[v] >= s->processors;
}

static void start_placing(const struct placing *s)
{
    struct grouping *x = s->x;
    size_t tasks = x->g->tasks;

    for (uint32_t p = 0; p < s->processors; p++)
        x->processor[p] = (struct processor){.last = GRAPH_NOBODY};
    memset(x->core_load, 0,
           (size_t)s->processors * x->cores * sizeof *x->core_load);
    memset(x->n_places, 0, tasks * sizeof *x->n_places);
    memset(x->stamp, 0, tasks * sizeof *x->stamp);
    memset(x->n_beside, 0, tasks * sizeof *x->n_beside);
    memset(x->member, 0, tasks * sizeof *x->member);
    for (uint32_t v = 0; v < tasks; v++)
        if (is_wide(s, v))
            memset(x->weight + x->beside.at[v], 0,
                   s->processors * sizeof *x->weight);
}

/* --- what a path depends on ----------------------------------------------- */

/* Task v depends on processor p so much more. */
static void add_beside(const struct placing *s,
                       uint32_t v,
                       uint32_t p,
                       double more)
{
    struct grouping *x = s->x;
    uint32_t *item = x->beside.item + x->beside.at[v];
    double *weight = x->weight + x->beside.at[v];

    if (is_wide(s, v)) {
        weight[p] += more;
    } else if (x->n_beside[v] > 0 && item[x->n_beside[v] - 1] == p) {
        weight[x->n_beside[v] - 1] += more;
    } else {
        item[x->n_beside[v]] = p;
        weight[x->n_beside[v]++] = more;
    }
}

/* Enter path j, now on processor p, beside its tasks and their neighbours. */
static void enter_path(const struct placing *s, uint32_t j, uint32_t p)
{
    struct grouping *x = s->x;
    const struct graph *g = x->g;

    for (uint32_t k = path_begin(x, j); k < path_end(x, j); k++)
        x->member[x->p->task[k]] = j + 1;
    for (uint32_t k = path_begin(x, j); k < path_end(x, j); k++) {
        uint32_t v = x->p->task[k];

        add_beside(s, v, p, (double)g->time[v]);
        for (uint32_t i = g->pred_at[v]; i < g->pred_at[v + 1]; i++)
            if (x->member[g->pred[i].task] != j + 1)
                add_beside(s, g->pred[i].task, p, (double)g->pred[i].comm);
        for (uint32_t i = g->succ_at[v]; i < g->succ_at[v + 1]; i++)
            if (x->member[g->succ[i].task] != j + 1)
                add_beside(s, g->succ[i].task, p, (double)g->succ[i].comm);
    }
}

/* DF(j, p) of every processor. */
static void weigh_dependence(const struct placing *s, uint32_t j)
{
    struct grouping *x = s->x;
    double *dependence = x->dependence;

    memset(dependence, 0, s->processors * sizeof *dependence);
    for (uint32_t k = path_begin(x, j); k < path_end(x, j); k++) {
        uint32_t v = x->p->task[k], n = x->n_beside[v];
        const uint32_t *item = x->beside.item + x->beside.at[v];
        const double *weight = x->weight + x->beside.at[v];

        if (is_wide(s, v))
            for (uint32_t p = 0; p < s->processors; p++)
                dependence[p] += weight[p];
        else
            for (uint32_t i = 0; i < n; i++)
                dependence[item[i]] += weight[i];
    }
}

/* --- where it is put ------------------------------------------------------ */

static void find_idle_core(struct grouping *x, uint32_t p)
{
    const int64_t *load = x->core_load + (size_t)p * x->cores;
    uint32_t least = 0;

    for (uint32_t c = 1; c < machine_cores(&x->m, p); c++)
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
    uint64_t length = path_end(x, j) - path_begin(x, j);

    if (x->processor[p].instances < length * s->processors) {
        for (uint32_t i = x->processor[p].last; i != GRAPH_NOBODY;
             i = x->before[i])
            x->stamp[s->instance[i].task] = j + 1;
        return;
    }
    for (uint32_t k = path_begin(x, j); k < path_end(x, j); k++) {
        uint32_t v = x->p->task[k];
        const uint32_t *place = x->places.item + x->places.at[v];

        for (uint32_t i = 0; i < x->n_places[v]; i++)
            if (place[i] == p)
                x->stamp[v] = j + 1;
    }
}

/* The task's cores have its time to do; returns that. */
static int64_t load_cores(struct grouping *x, const struct instance *i)
{
    uint32_t width = machine_width(&x->m, x->g, i->task, i->processor);
    int64_t time = machine_time(&x->m, x->g->time[i->task], i->processor);
    int64_t *load = x->core_load + (size_t)i->processor * x->cores + i->core;

    load[0] += time;
    for (uint32_t c = 1; c < width; c++)
        load[c] += time;
    return time;
}

/* The core that a task of a path on this one begins at: a lower one, if it has
 * several; what does not fit at all is seen to afterwards. */
static uint32_t first_core(const struct grouping *x,
                           uint32_t v,
                           uint32_t p,
                           uint32_t core)
{
    uint32_t width = machine_width(&x->m, x->g, v, p);
    uint32_t cores = machine_cores(&x->m, p);

    return width > 1 && core > cores - width ? cores - width : core;
}

/* Put the tasks of path j that are not on processor p yet on its idle core. */
static void put_path(struct placing *s, uint32_t j, uint32_t p)
{
    struct grouping *x = s->x;
    struct processor *to = &x->processor[p];
    uint32_t core = to->idle_core, first = s->n;
    int64_t more = 0;

    stamp_shared(s, j, p);
    for (uint32_t k = path_begin(x, j); k < path_end(x, j); k++) {
        uint32_t v = x->p->task[k];

        if (x->stamp[v] == j + 1)
            continue;
        s->instance[s->n] =
            (struct instance){v, p, first_core(x, v, p, core), 0, 0};
        more += load_cores(x, &s->instance[s->n]);
        x->before[s->n] = to->last;
        to->last = s->n++;
        x->places.item[x->places.at[v] + x->n_places[v]++] = p;
    }
    to->load += more;
    to->instances += s->n - first;
    to->paths++;
    find_idle_core(x, p);
}

/* The time of what of path j is on every processor already. */
static void weigh_shared(const struct placing *s, uint32_t j)
{
    struct grouping *x = s->x;
    int64_t everywhere = 0;

    memset(x->shared, 0, s->processors * sizeof *x->shared);
    for (uint32_t k = path_begin(x, j); k < path_end(x, j); k++) {
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

    return (struct offer){
        x->dependence[p],
        at->idle_load + machine_time(&x->m, path_load - x->shared[p], p),
        at->load};
}

/* Is a, of the higher index, better than b? */
static int is_better_offer(const struct placing *s,
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

static double speed_of(const struct grouping *x, uint32_t p)
{
    return x->m.kind ? 1 / x->m.kind[p].slowness : 1;
}

/* Has the processor fewer paths than its part? */
static int is_below_cap(const struct placing *s, uint32_t p)
{
    const struct grouping *x = s->x;

    if (!(s->speed > 0))
        return 1;
    return x->processor[p].paths
           < ceil(x->p->n * speed_of(x, p) / s->speed - CAP_ROUNDING);
}

static uint32_t choose_processor(const struct placing *s, uint32_t j)
{
    const struct grouping *x = s->x;
    int64_t load = x->load[x->sorted[j]];
    uint32_t best = GRAPH_NOBODY;
    struct offer chosen = {0};

    weigh_dependence(s, j);
    if (s->mode != GROUPING_LITERAL)
        weigh_shared(s, j);
    for (uint32_t p = 0; p < s->processors; p++) {
        struct offer o = offer_of(x, p, load);

        if (is_below_cap(s, p)
            && (best == GRAPH_NOBODY || is_better_offer(s, &o, &chosen))) {
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
    struct placing s = {x, mode, processors, 0, 0, instance, 0};

    if (mode == GROUPING_PACK || mode == GROUPING_SPREAD) {
        place_apart(&s);
        return s.n;
    }
    for (uint32_t p = 0; mode == GROUPING_CAP && p < processors; p++)
        s.speed += speed_of(x, p);
    s.most = x->load[x->sorted[0]];
    start_placing(&s);
    for (uint32_t j = 0; j < paths; j++) {
        uint32_t p = j < processors ? j : choose_processor(&s, j);

        put_path(&s, j, p);
        enter_path(&s, j, p);
    }
    return s.n;
}
