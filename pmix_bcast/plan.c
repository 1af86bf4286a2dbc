/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/plan.h"

/* Up to here every node is a root of its own stripe: shallow trees, but a
 * connection for each pair of nodes. */
#define MESH_MAX 32u
/* Above: a depth of log4(nodes), 1.065 × the limit with 16,512 nodes. */
#define STRIPES 4u

/* A chunk costs each link's start-up once per node of the first layer, or per
 * layer of a deep tree, and each chunk costs messages and a packet that is not full:
 * 440 chunks are the best up to MESH_MAX nodes, of the few that wait for few others
 * 256, and 800 above: 16,512 nodes take 1.071 times the limit, with 500 chunks
 * 1.087. */
#define FEW           4u /* nodes */
#define CHUNKS_FEW    256u
#define CHUNKS_WANTED 440u
#define CHUNKS_DEEP   800u
#define CHUNK_LOW     (8u << 10)
#define CHUNK_HIGH    (32u << 10)
/* But as many bytes may come to a node from its parents, one in each branch,
 * at a time.  Half of it: 50 MB over links of 100 Mbit/s take 1 to 2 % less,
 * and 400 MB over none, where the CPU is the limit, 8 % more.  Below CHUNK_HIGH
 * the messages count. */
#define TOGETHER_MAX (1u << 20)
#define CHUNKS_MANY  (1u << 20) /* of which every node keeps something */
/* Of the last chunks; and what a chunk is a multiple of: 400 MB unshaped to 7
 * took 13 % longer where chunks met inside of pages. */
#define PAGE (4u << 10)

/* From these nodes home takes one in the place of a root that lags, even if
 * the first layer has fewer. */
#define USED_MIN 32u

static uint32_t chunks_wanted(uint32_t nodes)
{
    if (nodes > MESH_MAX)
        return CHUNKS_DEEP;
    return nodes <= FEW ? CHUNKS_FEW : CHUNKS_WANTED;
}

static uint32_t choose_chunk(const struct plan_wish *w)
{
    uint64_t chunk = w->bytes / chunks_wanted(w->nodes);
    uint64_t high = TOGETHER_MAX / w->branches;

    if (high < CHUNK_HIGH)
        high = CHUNK_HIGH;
    if (high < w->bytes / CHUNKS_MANY)
        high = w->bytes / CHUNKS_MANY;

    if (w->shape == PLAN_BRANCHES && w->bytes > 0) /* one a branch */
        chunk = w->bytes / w->branches + (w->bytes % w->branches > 0);
    else if (chunk > high)
        chunk = high;
    if (chunk < CHUNK_LOW)
        chunk = CHUNK_LOW;
    if (w->shape == PLAN_BRANCHES)
        chunk = (chunk + CHUNK_MIN - 1) / CHUNK_MIN * CHUNK_MIN;
    else
        chunk = (chunk + PAGE / 2) / PAGE * PAGE;
    return chunk < CHUNK_MAX ? (uint32_t)chunk : CHUNK_MAX;
}

static uint32_t square_root(uint32_t n)
{
    uint32_t k = 1;

    while ((uint64_t)(k + 1) * (k + 1) <= n)
        k++;
    return k;
}

static uint32_t choose_branches(const struct plan_wish *w)
{
    if (w->shape == PLAN_BRANCHES)
        return square_root(w->nodes);
    return w->nodes <= MESH_MAX ? w->nodes : STRIPES;
}

static uint32_t grain(const struct plan *p)
{
    return p->chunk % PAGE == 0 ? PAGE : CHUNK_MIN;
}

/* Bytes of the chunk that starts with left bytes to go: no more than what home
 * still gives to each branch and one, so that the last ones end together. */
static uint64_t size_at(const struct plan *p, uint64_t left)
{
    uint64_t size = left / (p->branches + 1u) / grain(p) * grain(p);

    if (size < p->taper)
        size = p->taper;
    if (size > p->chunk)
        size = p->chunk;
    return size < left ? size : left;
}

/* Above so many bytes to go all chunks are whole. */
static uint64_t whole_above(const struct plan *p)
{
    uint64_t up = (p->chunk + grain(p) - 1u) / grain(p) * grain(p);

    return p->taper == p->chunk ? p->chunk : up * (p->branches + 1u);
}

static uint64_t count_chunks(const struct plan *p)
{
    uint64_t left = p->bytes, above = whole_above(p), n = 0;

    if (left > above) {
        n = (left - above) / p->chunk;
        left -= n * p->chunk;
    }
    for (; left > 0; n++)
        left -= size_at(p, left);
    return n;
}

int plan_make(struct plan *p,
              const struct plan_wish *wish,
              struct es_error *err)
{
    struct plan_wish w = *wish;
    uint64_t n;

    if (w.nodes == 0 || w.nodes > PLAN_NODES_MAX)
        return es_fail(err, ES_USAGE, "use 1 to 65536 nodes",
                       "%u nodes cannot be served", w.nodes);
    if (w.chunk && (w.chunk < CHUNK_MIN || w.chunk > CHUNK_MAX))
        return es_fail(err, ES_USAGE, "give 1k to 4m",
                       "a chunk of %u bytes is out of range", w.chunk);
    if (w.branches == 0)
        w.branches = choose_branches(&w);
    if (w.branches > w.nodes)
        w.branches = w.nodes;
    p->bytes = w.bytes;
    p->nodes = w.nodes;
    p->branches = w.branches;
    p->shape = w.shape;
    p->chunk = w.chunk ? w.chunk : choose_chunk(&w);
    p->taper = w.shape == PLAN_STRIPES && PAGE < p->chunk ? PAGE : p->chunk;
    n = count_chunks(p);
    p->chunks = (uint32_t)n;
    if (n <= CHUNKS_MAX)
        return 0;
    return es_fail(err, ES_USAGE, "give larger chunks",
                   "%llu chunks are more than %u", (unsigned long long)n,
                   CHUNKS_MAX);
}

int plan_check(const struct plan *p)
{
    struct plan_wish w = {.bytes = p->bytes,
                          .nodes = p->nodes,
                          .branches = p->branches,
                          .chunk = p->chunk,
                          .shape = (enum plan_shape)p->shape};
    struct plan made;

    if (p->shape > PLAN_BRANCHES || p->chunk == 0 || p->branches == 0
        || p->branches > p->nodes || plan_make(&made, &w, 0) < 0)
        return -1;
    return made.taper == p->taper && made.chunks == p->chunks ? 0 : -1;
}

void plan_offsets(const struct plan *p, uint64_t *at)
{
    uint64_t done = 0;

    for (uint32_t j = 0; j < p->chunks; j++) {
        at[j] = done;
        done += size_at(p, p->bytes - done);
    }
    at[p->chunks] = done;
}

/* --- stripes -------------------------------------------------------------- */

/*
 * The tree of stripe s as a list: first its inner nodes s, s + k, s + 2k, ...
 * then the others.  The m inner ones share the other n - 1 places evenly, in
 * order: place p has the children from 1 + floor(p (n - 1) / m) up to the
 * next one's first.  Stripes with more inner nodes are given more chunks (see
 * plan_branch), so that all nodes send alike.
 */

/* Inner nodes of stripe s; the last of all nodes passes nothing on. */
static uint32_t inner(const struct plan *p, uint32_t s)
{
    uint32_t n = (p->nodes - s + p->branches - 1) / p->branches;

    return n < p->nodes ? n : p->nodes - 1;
}

static uint32_t place_of(const struct plan *p, uint32_t s, uint32_t node)
{
    uint32_t k = p->branches, r = node % k;

    if (r == s)
        return node / k;
    return (p->nodes - s + k - 1) / k + node / k * (k - 1) + r - (r > s);
}

static uint32_t node_at(const struct plan *p, uint32_t s, uint32_t place)
{
    uint32_t k = p->branches, n = (p->nodes - s + k - 1) / k, r;

    if (place < n)
        return s + place * k;
    place -= n;
    r = place % (k - 1);
    return place / (k - 1) * k + r + (r >= s);
}

static uint32_t first_child(const struct plan *p, uint32_t s, uint32_t place)
{
    return (uint32_t)(1 + (uint64_t)place * (p->nodes - 1) / inner(p, s));
}

/* The place above: the last whose first child is not behind this one. */
static uint32_t place_above(const struct plan *p, uint32_t s, uint32_t place)
{
    uint64_t rest = p->nodes - 1;

    return (uint32_t)(((uint64_t)place * inner(p, s) + rest - 1) / rest - 1);
}

/* --- branches ------------------------------------------------------------- */

/*
 * Node v is member v / k of branch v % k, and a branch is a heap: the children
 * of member m are m × k + 1 and the next ones.
 */

static uint32_t branch_size(const struct plan *p, uint32_t branch)
{
    return (p->nodes - branch + p->branches - 1) / p->branches;
}

/* With fewer chunks than branches several branches have the same one. */
static int in_branch(const struct plan *p, uint32_t branch, uint32_t chunk)
{
    if (p->chunks < p->branches)
        return branch % p->chunks == chunk;
    return branch == chunk % p->branches;
}

/* --- either --------------------------------------------------------------- */

/* In both shapes also the number of its first-layer node. */
static uint32_t branch_of_chunk(const struct plan *p, uint32_t chunk)
{
    if (p->shape == PLAN_STRIPES)
        return chunk % p->nodes % p->branches;
    return chunk % p->branches;
}

uint32_t plan_gives(const struct plan *p)
{
    if (p->shape == PLAN_BRANCHES && p->chunks > 0 && p->chunks < p->branches)
        return p->branches;
    return p->chunks;
}

struct give plan_give(const struct plan *p, uint32_t i)
{
    struct give g = {i, branch_of_chunk(p, i)};

    if (i >= p->chunks) /* again from the first chunk on */
        g.chunk = i % p->chunks;
    return g;
}

uint32_t plan_used(const struct plan *p)
{
    uint32_t n = p->branches > USED_MIN ? p->branches : USED_MIN;

    return n < p->nodes ? n : p->nodes;
}

int plan_is_pushed(const struct plan *p, uint32_t node, uint32_t chunk)
{
    return p->shape == PLAN_STRIPES || in_branch(p, node % p->branches, chunk);
}

uint32_t plan_parent(const struct plan *p, uint32_t node, uint32_t chunk)
{
    uint32_t s = branch_of_chunk(p, chunk), place;

    if (p->shape == PLAN_BRANCHES)
        return node < p->branches || !plan_is_pushed(p, node, chunk)
                   ? PLAN_NOBODY
                   : (node / p->branches - 1) / p->branches * p->branches
                         + node % p->branches;
    place = place_of(p, s, node);
    return place == 0 ? PLAN_NOBODY : node_at(p, s, place_above(p, s, place));
}

uint32_t plan_children(const struct plan *p, uint32_t node, uint32_t chunk)
{
    uint32_t s = branch_of_chunk(p, chunk), place;

    if (p->shape == PLAN_BRANCHES) {
        uint32_t n = branch_size(p, node % p->branches);
        uint64_t first = (uint64_t)(node / p->branches) * p->branches + 1;

        if (first >= n || !plan_is_pushed(p, node, chunk))
            return 0;
        return n - first < p->branches ? n - (uint32_t)first : p->branches;
    }
    place = place_of(p, s, node);
    if (place >= inner(p, s))
        return 0;
    return first_child(p, s, place + 1) - first_child(p, s, place);
}

/*
 * Which of its n children a node of a stripe serves first.  Roots are given
 * their chunks one after another, root v at time v; if at time t it serves
 * node 2v + 1 + (t - v), then at any time all roots serve different nodes.
 */
static uint32_t first_served(uint32_t node, uint32_t n)
{
    uint32_t x = (uint32_t)((2u * (uint64_t)node + 1) % (n + 1u));

    return (x - (x > node)) % n; /* node is not among its children */
}

uint32_t plan_child(const struct plan *p,
                    uint32_t node,
                    uint32_t chunk,
                    uint32_t i)
{
    uint32_t s = branch_of_chunk(p, chunk), n;

    if (p->shape == PLAN_BRANCHES)
        return (node / p->branches * p->branches + 1 + i) * p->branches
               + node % p->branches;
    n = plan_children(p, node, chunk);
    i = (i + first_served(node, n)) % n;
    return node_at(p, s, first_child(p, s, place_of(p, s, node)) + i);
}

uint32_t plan_holder(const struct plan *p, uint32_t chunk, uint64_t random)
{
    uint32_t top = chunk, tops;

    if (p->shape == PLAN_STRIPES)
        return (uint32_t)(random % p->nodes);
    if (p->chunks < p->branches) {
        tops = (p->branches - chunk + p->chunks - 1) / p->chunks;
        top = chunk + (uint32_t)(random % tops) * p->chunks;
        random /= tops;
    }
    top %= p->branches;
    return top + (uint32_t)(random % branch_size(p, top)) * p->branches;
}

int plan_are_neighbours(const struct plan *p, uint32_t a, uint32_t b)
{
    for (uint32_t j = 0; j < p->branches && j < p->chunks; j++)
        if (plan_parent(p, a, j) == b || plan_parent(p, b, j) == a)
            return 1;
    return 0;
}

/* How many of its siblings are served before node. */
static uint32_t rank_of(const struct plan *p, uint32_t node, uint32_t chunk)
{
    uint32_t s = branch_of_chunk(p, chunk), place, above, n, up;

    if (p->shape == PLAN_BRANCHES)
        return (node / p->branches - 1) % p->branches;
    place = place_of(p, s, node);
    above = place_above(p, s, place);
    up = node_at(p, s, above);
    n = first_child(p, s, above + 1) - first_child(p, s, above);
    return (place - first_child(p, s, above) + n - first_served(up, n)) % n;
}

uint64_t plan_slots(const struct plan *p, uint32_t node, uint32_t chunk)
{
    uint64_t slots = 0;
    uint32_t up;

    while ((up = plan_parent(p, node, chunk)) != PLAN_NOBODY) {
        slots += rank_of(p, node, chunk) + 1u;
        node = up;
    }
    if (p->shape == PLAN_BRANCHES && p->chunks < p->branches)
        return slots + node + 1u; /* home gives it once to each branch */
    return slots + chunk + 1u;
}
