/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/needs.h"
#include "policy/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
/* A unit that takes longer than this part of what all take at least begins first,
 * however narrow it is. */
#define LONG_PART 0.7

/* What is counted, of a unit, a node or of all that a node has given away. */
struct amount {
    uint64_t cores, memory, gpus;
};

/* Units that need the same: a chain through their ranks, ascending. */
struct kind {
    uint32_t cores, gpus;
    uint64_t memory;
    int64_t width; /* of all of a node 1e9 */
    uint32_t last; /* rank; NONE: the frame has no such unit */
    uint32_t at;   /* none before it is in the pool; NONE: none is */
};

struct ranked {    /* of a frame */
    uint32_t unit; /* with this rank */
    uint32_t next; /* rank of the next one of its kind; NONE */
};

struct lane {
    struct amount has; /* cores 0: none is out */
    int is_beside;     /* begun while the head had no room */
};

struct node { /* at the index of its first lane */
    uint32_t lanes;
    struct amount taken, beside; /* of these by what is beside the head */
};

struct needs {
    size_t lanes;
    const size_t *group;
    const uint64_t *memory;
    const uint32_t *gpus;
    struct unit_need usual;
    const struct need_list *said;
    struct lane *lane;
    struct node *node;
    struct kind *kind;
    size_t kinds, kinds_room;
    struct slice frame;
    struct ranked *ranked; /* one a unit of the frame */
    uint32_t *rank, *of;   /* likewise: of the unit its rank and its kind */
    size_t room;
    uint64_t chosen; /* last, ... */
    int is_beside;   /* ... and how */
    int has_gpus;    /* a unit has needed one */
};

/* --- its life ------------------------------------------------------------- */

struct needs *needs_create(size_t lanes,
                           const size_t group[],
                           const uint64_t memory[],
                           const uint32_t gpus[],
                           const struct unit_need *usual,
                           const struct need_list *said)
{
    struct needs *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->lanes = lanes;
    n->group = group;
    n->memory = memory;
    n->gpus = gpus;
    n->usual = *usual;
    n->said = said;
    n->lane = calloc(lanes, sizeof *n->lane);
    n->node = calloc(lanes, sizeof *n->node);
    if (!n->lane || !n->node) {
        needs_destroy(n);
        return NULL;
    }
    for (size_t i = 0; i < lanes; i++)
        n->node[group[i]].lanes++;
    return n;
}

void needs_destroy(struct needs *n)
{
    if (!n)
        return;
    free(n->lane);
    free(n->node);
    free(n->kind);
    free(n->ranked);
    free(n->rank);
    free(n->of);
    free(n);
}

/* --- what a unit needs ---------------------------------------------------- */

static struct unit_need settle(const struct needs *n, struct unit_need need)
{
    if (need.cores == 0)
        need.cores = n->usual.cores > 0 ? n->usual.cores : 1;
    if (need.memory == 0)
        need.memory = n->usual.memory;
    if (need.gpus == 0)
        need.gpus = n->usual.gpus;
    if (!(need.seconds > 0))
        need.seconds = n->usual.seconds;
    return need;
}

/* The first of the list that is not of a unit before this one. */
static size_t find(const struct needs *n, uint64_t unit)
{
    size_t low = 0, high = n->said->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (n->said->need[middle].unit < unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* *at is where the list stands, and goes on. */
static struct unit_need need_of(const struct needs *n,
                                uint64_t unit,
                                size_t *at)
{
    if (*at < n->said->n && n->said->need[*at].unit == unit)
        return settle(n, n->said->need[(*at)++]);
    return settle(n, (struct unit_need){.unit = unit});
}

static struct amount all_of(const struct needs *n, size_t node)
{
    return (struct amount){n->node[node].lanes, n->memory[node], n->gpus[node]};
}

static struct amount amount_at(const struct needs *n,
                               size_t node,
                               uint32_t cores,
                               uint64_t memory,
                               uint32_t gpus)
{
    return (struct amount){cores == NEEDS_ALL ? n->node[node].lanes : cores,
                           memory, gpus};
}

static struct amount sum_of(struct amount a, struct amount b)
{
    return (struct amount){a.cores + b.cores, a.memory + b.memory,
                           a.gpus + b.gpus};
}

static struct amount without(struct amount a, struct amount b)
{
    return (struct amount){a.cores - b.cores, a.memory - b.memory,
                           a.gpus - b.gpus};
}

static int is_within(struct amount a, struct amount all)
{
    return a.cores <= all.cores && a.memory <= all.memory && a.gpus <= all.gpus;
}

/* Is the first nearer to what is needed? */
static int is_nearer(struct amount a, struct amount b, struct amount need)
{
    if (a.cores < need.cores || b.cores < need.cores)
        return a.cores > b.cores;
    if (a.gpus < need.gpus || b.gpus < need.gpus)
        return a.gpus > b.gpus;
    return a.memory > b.memory;
}

int needs_can_be_met(const struct needs *n,
                     const struct unit_need *need,
                     size_t *largest)
{
    const struct unit_need all = settle(n, *need);

    *largest = 0;
    for (size_t i = 1; i < n->lanes; i++)
        if (n->group[i] == i
            && is_nearer(all_of(n, i), all_of(n, *largest),
                         amount_at(n, i, all.cores == NEEDS_ALL ? 1 : all.cores,
                                   all.memory, all.gpus)))
            *largest = i;
    return is_within(amount_at(n, *largest, all.cores, all.memory, all.gpus),
                     all_of(n, *largest));
}

/* --- a frame -------------------------------------------------------------- */

static void *more(void *array, size_t n, size_t size)
{
    return n > SIZE_MAX / size ? NULL : realloc(array, n * size);
}

/* Room for so many units of a frame. */
static int make_room(struct needs *n, size_t units)
{
    size_t room = n->room * 2 + 64;
    struct ranked *ranked;
    uint32_t *rank, *of;

    if (units <= n->room)
        return 0;
    room = room < units ? units : room;
    ranked = more(n->ranked, room, sizeof *ranked);
    n->ranked = ranked ? ranked : n->ranked;
    rank = more(n->rank, room, sizeof *rank);
    n->rank = rank ? rank : n->rank;
    of = more(n->of, room, sizeof *of);
    n->of = of ? of : n->of;
    if (!ranked || !rank || !of)
        return -1;
    n->room = room;
    return 0;
}

/* Which one it is; n->kinds: no memory. */
static size_t kind_of(struct needs *n, const struct unit_need *need)
{
    size_t room = n->kinds_room * 2 + 8, i = 0;
    struct kind *kinds;

    while (i < n->kinds
           && (n->kind[i].cores != need->cores
               || n->kind[i].memory != need->memory
               || n->kind[i].gpus != need->gpus))
        i++;
    if (i < n->kinds)
        return i;
    if (n->kinds == n->kinds_room) {
        kinds = more(n->kind, room, sizeof *kinds);
        if (!kinds)
            return n->kinds;
        n->kind = kinds;
        n->kinds_room = room;
    }
    n->has_gpus |= need->gpus > 0;
    n->kind[n->kinds++] = (struct kind){.cores = need->cores,
                                        .gpus = need->gpus,
                                        .memory = need->memory,
                                        .last = NONE,
                                        .at = NONE};
    return i;
}

/* It is of the next rank. */
static void chain(struct needs *n, uint32_t unit, uint32_t rank)
{
    struct kind *k = &n->kind[n->of[unit]];

    n->rank[unit] = rank;
    n->ranked[rank] = (struct ranked){unit, NONE};
    if (k->last != NONE)
        n->ranked[k->last].next = rank;
    k->last = rank;
    if (k->at == NONE)
        k->at = rank;
}

/* The kinds of the units [from, to) of the frame; key[] (or NULL) are their seconds. */
static int find_kinds(struct needs *n, size_t from, size_t to, int64_t key[])
{
    size_t at = find(n, n->frame.begin + from);

    for (size_t i = from; i < to; i++) {
        struct unit_need need = need_of(n, n->frame.begin + i, &at);
        size_t kind = kind_of(n, &need), before = n->kinds;

        if (kind == before)
            return -1;
        n->of[i] = (uint32_t)kind;
        if (key)
            key[i] = (int64_t)(fmin(need.seconds, 1e9) * 1e9);
    }
    return 0;
}

/* What all take at least, by what is said, with all lanes at work; as seconds[] has it. */
static double span(const struct needs *n, size_t units, const int64_t seconds[])
{
    double work = 0;

    for (size_t i = 0; i < units; i++) {
        uint32_t cores = n->kind[n->of[i]].cores;

        work += (double)seconds[i] * (cores == NEEDS_ALL ? 1 : cores);
    }
    return work / (double)n->lanes;
}

/* The part of a node that a kind takes, of 0 to 1: of all cores or all memory that any
 * node has, whichever is more. */
static double part_of_node(const struct needs *n, const struct kind *k)
{
    struct amount most = {1, 1, 1};

    for (size_t i = 0; i < n->lanes; i++) {
        const struct amount has = all_of(n, n->group[i]);

        most.cores = has.cores > most.cores ? has.cores : most.cores;
        most.memory = has.memory > most.memory ? has.memory : most.memory;
        most.gpus = has.gpus > most.gpus ? has.gpus : most.gpus;
    }
    if (k->cores == NEEDS_ALL)
        return 1;
    return fmax(fmax((double)k->cores / (double)most.cores,
                     (double)k->memory / (double)most.memory),
                (double)k->gpus / (double)most.gpus);
}

static void rank_all(struct needs *n,
                     size_t units,
                     uint32_t index[],
                     uint32_t scratch[],
                     const int64_t seconds[],
                     int64_t width[])
{
    double most = LONG_PART * span(n, units, seconds);

    for (size_t i = 0; i < n->kinds; i++)
        n->kind[i].width = (int64_t)(part_of_node(n, &n->kind[i]) * 1e9);
    for (size_t i = 0; i < units; i++) {
        index[i] = (uint32_t)i;
        width[i] =
            (double)seconds[i] > most ? INT64_MAX : n->kind[n->of[i]].width;
    }
    order_descending(index, scratch, units, seconds);
    order_descending(index, scratch, units, width);
    for (size_t i = 0; i < units; i++)
        chain(n, index[i], (uint32_t)i);
}

int needs_begin(struct needs *n, struct slice frame, int is_growing)
{
    size_t units = (size_t)(frame.end - frame.begin);
    int64_t *key;
    uint32_t *index;
    int rc = -1;

    n->frame = (struct slice){frame.begin, frame.begin};
    n->kinds = 0;
    if (units >= NONE || make_room(n, units) < 0)
        return -1;
    if (is_growing)
        return needs_grow(n, frame.end);
    key = calloc(2 * units + 1, sizeof *key);
    index = calloc(2 * units + 1, sizeof *index);
    if (key && index && find_kinds(n, 0, units, key) == 0) {
        rank_all(n, units, index, index + units, key, key + units);
        n->frame = frame;
        rc = 0;
    }
    free(key);
    free(index);
    return rc;
}

int needs_grow(struct needs *n, uint64_t end)
{
    size_t from = (size_t)(n->frame.end - n->frame.begin);
    size_t to = (size_t)(end - n->frame.begin);

    if (to >= NONE || make_room(n, to) < 0 || find_kinds(n, from, to, NULL) < 0)
        return -1;
    for (size_t i = from; i < to; i++)
        chain(n, (uint32_t)i, (uint32_t)i);
    n->frame.end = end;
    return 0;
}

void needs_back(struct needs *n, struct slice units)
{
    for (uint64_t u = units.begin; u < units.end && u < n->frame.end; u++) {
        size_t i = (size_t)(u - n->frame.begin);
        struct kind *k = &n->kind[n->of[i]];

        if (k->at == NONE || n->rank[i] < k->at)
            k->at = n->rank[i];
    }
}

/* --- which one is next ---------------------------------------------------- */

/* The batch that a unit is in, NULL: none. */
static const struct batch *batch_with(const struct unit_pool *pool,
                                      uint64_t unit)
{
    size_t low = 0, high = pool->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (pool->batch[middle].units.end <= unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low < pool->n && pool->batch[low].units.begin <= unit
               ? &pool->batch[low]
               : NULL;
}

/* The rank of the first unit of a kind that may be had; NONE: there is none. */
static uint32_t first_of(struct needs *n,
                         struct kind *k,
                         const struct unit_pool *pool,
                         int is_choosy)
{
    int is_before = 1; /* none of the kind that is in the pool was passed */

    for (uint32_t r = k->at; r != NONE; r = n->ranked[r].next) {
        const struct batch *b =
            batch_with(pool, n->frame.begin + n->ranked[r].unit);

        if (b && !(is_choosy && b->failures > 0))
            return r;
        is_before &= !b;
        if (is_before)
            k->at = n->ranked[r].next;
    }
    return NONE;
}

static struct amount amount_of(const struct needs *n,
                               size_t node,
                               const struct kind *k)
{
    return amount_at(n, node, k->cores, k->memory, k->gpus);
}

/* Does a kind fit in now, and beside the head, if that is given? */
static int has_room(const struct needs *n,
                    size_t node,
                    const struct kind *k,
                    const struct kind *head)
{
    const struct node *at = &n->node[node];
    const struct amount own = amount_of(n, node, k), all = all_of(n, node);

    if (!is_within(sum_of(at->taken, own), all))
        return 0;
    return !head
           || is_within(
               sum_of(sum_of(at->beside, own), amount_of(n, node, head)), all);
}

/* What was begun beside a head runs before the next one. */
static void forget_beside(struct needs *n, size_t node)
{
    for (size_t i = node; i < n->lanes && n->group[i] == node; i++)
        n->lane[i].is_beside = 0;
    n->node[node].beside = (struct amount){0};
}

/* The kind of the first unit that a node could do or, with a head, that fits in now
 * beside it; NULL: there is none. */
static const struct kind *first_kind(struct needs *n,
                                     size_t node,
                                     const struct unit_pool *pool,
                                     int is_choosy,
                                     const struct kind *head,
                                     uint32_t *rank)
{
    const struct kind *best = NULL;

    *rank = NONE;
    for (size_t i = 0; i < n->kinds; i++) {
        struct kind *k = &n->kind[i];
        uint32_t first;

        if (head ? !has_room(n, node, k, head)
                 : !is_within(amount_of(n, node, k), all_of(n, node)))
            continue;
        first = first_of(n, k, pool, is_choosy);
        if (first < *rank) {
            *rank = first;
            best = k;
        }
    }
    return best;
}

int needs_choose(struct needs *n,
                 size_t lane,
                 const struct unit_pool *pool,
                 int is_choosy,
                 uint64_t *unit)
{
    size_t node = n->group[lane];
    const struct kind *k;
    uint32_t rank;

    if (pool->units == 0 || n->node[node].taken.cores >= n->node[node].lanes)
        return 0;
    k = first_kind(n, node, pool, is_choosy, NULL, &rank);
    if (!k)
        return 0;
    n->is_beside = !has_room(n, node, k, NULL);
    if (n->is_beside)
        k = first_kind(n, node, pool, is_choosy, k, &rank);
    else
        forget_beside(n, node);
    if (!k)
        return 0;
    *unit = n->chosen = n->frame.begin + n->ranked[rank].unit;
    return 1;
}

void needs_take(struct needs *n, size_t lane, uint64_t unit)
{
    size_t at = find(n, unit), i = n->group[lane];
    struct unit_need need = need_of(n, unit, &at);
    struct node *node = &n->node[i];
    struct lane *l = &n->lane[lane];

    l->has = amount_at(n, i, need.cores, need.memory, need.gpus);
    l->is_beside = n->is_beside && unit == n->chosen;
    node->taken = sum_of(node->taken, l->has);
    if (l->is_beside)
        node->beside = sum_of(node->beside, l->has);
}

void needs_give(struct needs *n, size_t lane)
{
    struct node *node = &n->node[n->group[lane]];
    struct lane *l = &n->lane[lane];

    node->taken = without(node->taken, l->has);
    if (l->is_beside)
        node->beside = without(node->beside, l->has);
    *l = (struct lane){0};
}

int needs_are_said(const struct needs *n)
{
    return n->said->n > 0 || n->usual.cores > 1 || n->usual.memory > 0
           || n->usual.gpus > 0;
}

uint32_t needs_cores(const struct needs *n, size_t lane)
{
    return n->said->n > 0 || n->usual.cores > 1 || n->usual.gpus > 0
               ? (uint32_t)n->lane[lane].has.cores
               : 0;
}

int needs_gpus(const struct needs *n, size_t lane, uint32_t *gpus)
{
    *gpus = (uint32_t)n->lane[lane].has.gpus;
    return n->has_gpus;
}
