/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All plans of few nodes, branches and chunks are tried; what must hold of
 * each is a law with a name, and a law is one assertion.
 */
#include "pmix_bcast/plan.h"
#include "tap.h"

#define NODES 40u /* of the trees that are walked */

enum law {
    CHECKED,
    BYTES_ADD_UP,
    SIZES_IN_BOUNDS,
    SIZES_FALL,
    FOUND_IN_OFFSETS,
    GIVEN_ONCE,
    GIVEN_TO_USED,
    GIVEN_BY_HOME,
    REACHED_ONCE,
    REACHED_IF_PUSHED,
    CHILD_KNOWS_PARENT,
    SLOTS_OF_HOME,
    SLOTS_OF_SIBLINGS,
    HOLDER_HOLDS,
    INNER_ONCE,
    CHILDREN_EVEN,
    SENT_ALIKE,
    BRANCHES_EVEN,
    BRANCHES_WIDE,
    NEIGHBOURS,
    LAWS
};

static struct {
    const char *text;
    unsigned tried, broken;
} law[LAWS] = {
    [CHECKED] = {"plan_check() takes what plan_make() made", 0, 0},
    [BYTES_ADD_UP] = {"chunks are together just the bytes", 0, 0},
    [SIZES_IN_BOUNDS] = {"only the last chunk is below the smallest size, none "
                         "above the largest",
                         0, 0},
    [SIZES_FALL] = {"no chunk is larger than the one before it", 0, 0},
    [FOUND_IN_OFFSETS] = {"no chunk is empty", 0, 0},
    [GIVEN_ONCE] = {"home gives every chunk, and to a node just once", 0, 0},
    [GIVEN_TO_USED] = {"home is connected to whom it gives", 0, 0},
    [GIVEN_BY_HOME] = {"who is given a chunk by home has no parent", 0, 0},
    [REACHED_ONCE] = {"no node is pushed a chunk twice", 0, 0},
    [REACHED_IF_PUSHED] = {"a chunk comes to all nodes that should be pushed "
                           "it, and to no other",
                           0, 0},
    [CHILD_KNOWS_PARENT] = {"a child's parent is its parent", 0, 0},
    [SLOTS_OF_HOME] = {"the i-th that home gives is there after i slots", 0, 0},
    [SLOTS_OF_SIBLINGS] = {"the i-th child has a chunk i slots after its "
                           "parent",
                           0, 0},
    [HOLDER_HOLDS] = {"a holder is a node that is pushed the chunk", 0, 0},
    [INNER_ONCE] = {"stripes: a node is an inner one in at most one", 0, 0},
    [CHILDREN_EVEN] = {"stripes: children of inner nodes differ by one at most",
                       0, 0},
    [SENT_ALIKE] = {"stripes: in a round every node sends n - 1 copies, give "
                    "or take one a chunk",
                    0, 0},
    [BRANCHES_EVEN] = {"branches differ by one node at most", 0, 0},
    [BRANCHES_WIDE] = {"branches: no node has more than k children", 0, 0},
    [NEIGHBOURS] = {"neighbours are parents and children, both ways", 0, 0},
};

static void holds(enum law l, const struct plan *p, int yes)
{
    law[l].tried++;
    if (yes || law[l].broken++)
        return;
    diag("broken at shape %u, %u nodes, %u branches, %u chunks of %u for %llu "
         "bytes: %s",
         p->shape, p->nodes, p->branches, p->chunks, p->chunk,
         (unsigned long long)p->bytes, law[l].text);
}

static struct plan make(enum plan_shape shape,
                        uint32_t nodes,
                        uint32_t branches,
                        uint64_t bytes,
                        uint32_t chunk)
{
    struct plan_wish w = {bytes, nodes, branches, chunk, shape};
    struct es_error err;
    struct plan p;

    if (plan_make(&p, &w, &err) < 0)
        bail("no plan: %s", err.what);
    return p;
}

/* --- wishes --------------------------------------------------------------- */

static const struct {
    const char *name;
    struct plan_wish wish;
    const char *what;
} bad[] = {
    {"no nodes", {1, 0, 0, 0, PLAN_STRIPES}, "0 nodes cannot be served"},
    {"a node too many",
     {1, PLAN_NODES_MAX + 1, 0, 0, PLAN_STRIPES},
     "65537 nodes cannot be served"},
    {"a chunk of a byte",
     {1, 1, 0, 1, PLAN_STRIPES},
     "a chunk of 1 bytes is out of range"},
    {"a chunk just too small",
     {1, 1, 0, CHUNK_MIN - 1, PLAN_BRANCHES},
     "a chunk of 1023 bytes is out of range"},
    {"a chunk just too large",
     {1, 1, 0, CHUNK_MAX + 1, PLAN_BRANCHES},
     "a chunk of 4194305 bytes is out of range"},
    {"a chunk too many",
     {((uint64_t)CHUNKS_MAX + 1) * CHUNK_MIN, 1, 0, CHUNK_MIN, PLAN_BRANCHES},
     "16777217 chunks are more than 16777216"},
    {"2^64 - 1 bytes",
     {UINT64_MAX, PLAN_NODES_MAX, PLAN_NODES_MAX, CHUNK_MAX, PLAN_BRANCHES},
     "4398046511104 chunks are more than 16777216"},
};

static void test_bad(void)
{
    struct es_error err = {0};
    struct plan p;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ok(plan_make(&p, &bad[i].wish, &err) == -1 && err.kind == ES_USAGE,
           "%s: no plan", bad[i].name);
        is_str(err.what, bad[i].what, "and the reason");
        is_int(plan_make(&p, &bad[i].wish, NULL), -1,
               "nobody need hear the reason");
    }
}

static void test_choices(void)
{
    struct plan p = make(PLAN_STRIPES, 8, 0, 12500000, 0);

    ok(p.branches == 8 && p.chunk == 28 * 1024 && p.taper == 4096,
       "12.5 MB to 8 nodes: 8 stripes, chunks of 28 KiB down to 4");
    p = make(PLAN_STRIPES, 4, 0, 12500000, 0);
    is_int(p.chunk, 48 * 1024, "to the few of 4: of 48 KiB");
    p = make(PLAN_STRIPES, 16512, 0, 50000000, 0);
    is_int(p.branches, 4, "to 16,512 nodes: 4 stripes");
    p = make(PLAN_STRIPES, 8, 0, 1, 0);
    ok(p.chunks == 1 && p.chunk == 8192, "a byte is one chunk");
    p = make(PLAN_STRIPES, 8, 0, 400000000, 0);
    is_int(p.chunk, 128 * 1024, "1 MiB at a time from 8 parents");
    p = make(PLAN_STRIPES, 7, 0, 400000000, 0);
    is_int(p.chunk, 148 * 1024, "from 7 the nearest whole pages");
    p = make(PLAN_STRIPES, 32, 0, 400000000, 0);
    is_int(p.chunk, 32 * 1024, "but of many bytes a chunk is 32 KiB at least");
    p = make(PLAN_STRIPES, 16512, 0, 400000000, 0);
    is_int(p.chunk, 256 * 1024, "from 4 parents 256 KiB");
    p = make(PLAN_STRIPES, 8, 0, UINT64_C(1) << 40, 0);
    is_int(p.chunk, 1 << 20, "of a TiB there are no more than a million");
    p = make(PLAN_BRANCHES, 20, 0, 1 << 20, 0);
    ok(p.branches == 4 && p.chunk == 256 * 1024 && p.chunks == 4,
       "seed: k + k * k nodes have k branches and k chunks");
    p = make(PLAN_BRANCHES, 20, 0, UINT64_C(1) << 40, 0);
    is_int(p.chunk, CHUNK_MAX, "but none above the largest");
    p = make(PLAN_STRIPES, 5, 9, 1, 0);
    is_int(p.branches, 5, "more branches than nodes are as many as nodes");
    p = make(PLAN_STRIPES, 5, 0, 0, 0);
    ok(p.chunks == 0 && plan_gives(&p) == 0 && plan_check(&p) == 0,
       "no bytes: no chunks, and home gives nothing");
}

/* A plan off the wire with one field that does not fit the others. */
static void test_check(void)
{
    for (int shape = PLAN_STRIPES; shape <= PLAN_BRANCHES; shape++) {
        struct plan p = make((enum plan_shape)shape, 12, 4, 1000000, 9216), q;
        int taken = plan_check(&p) == 0;

#define REFUSED(field, value)                                                  \
    (q = p, q.field = (value), taken += plan_check(&q) == 0)
        REFUSED(bytes, 0);
        REFUSED(bytes, p.bytes * 2);
        REFUSED(bytes, UINT64_MAX);
        REFUSED(nodes, 0);
        REFUSED(nodes, p.branches - 1);
        REFUSED(nodes, PLAN_NODES_MAX + 1);
        REFUSED(branches, 0);
        REFUSED(branches, p.nodes + 1);
        REFUSED(branches, UINT32_MAX);
        REFUSED(chunk, 0);
        REFUSED(chunk, CHUNK_MIN - 1);
        REFUSED(chunk, CHUNK_MAX + 1);
        REFUSED(taper, 0);
        REFUSED(taper, p.taper + 1);
        REFUSED(taper, UINT32_MAX);
        REFUSED(chunks, 0);
        REFUSED(chunks, p.chunks - 1);
        REFUSED(chunks, p.chunks + 1);
        REFUSED(chunks, UINT32_MAX);
        REFUSED(shape, PLAN_BRANCHES + 1);
        REFUSED(shape, UINT32_MAX);
#undef REFUSED
        ok(taken == 1,
           "shape %d: a field that does not fit the others is refused", shape);
    }
}

/* --- chunks --------------------------------------------------------------- */

static void try_offsets(const struct plan *p)
{
    uint64_t *at = malloc((p->chunks + 1u) * sizeof *at), last = p->chunk;
    int bounded = 1, falling = 1, some = 1;

    if (!at)
        bail("no memory");
    at[0] = 0; /* without chunks */
    plan_offsets(p, at);
    for (uint32_t j = 0; j < p->chunks; j++) {
        uint64_t size = at[j + 1] - at[j];

        some &= size > 0;
        falling &= size <= last;
        bounded &= size >= p->taper || j + 1 == p->chunks;
        last = size;
    }
    holds(BYTES_ADD_UP, p, at[0] == 0 && at[p->chunks] == p->bytes);
    holds(FOUND_IN_OFFSETS, p, some);
    holds(SIZES_FALL, p, falling); /* from p->chunk: none is above it */
    holds(SIZES_IN_BOUNDS, p, bounded && p->taper <= p->chunk);
    holds(CHECKED, p, plan_check(p) == 0);
    free(at);
}

static void test_offsets(void)
{
    static const uint32_t chunks[] = {
        0, 1024, 1025, 4096, 4097, 8191, 8192, 65536, CHUNK_MAX - 1, CHUNK_MAX};
    static const uint64_t bytes[] = {0,        1,       1023,    1024,
                                     1025,     4096,    65535,   1000000,
                                     12500000, 1 << 24, 99999999};

    for (size_t c = 0; c < sizeof chunks / sizeof chunks[0]; c++)
        for (size_t b = 0; b < sizeof bytes / sizeof bytes[0]; b++)
            for (uint32_t n = 1; n <= 4096; n *= 4)
                for (int near = -1; near <= 1; near++) {
                    /* Around whole multiples of the chunk, too. */
                    uint64_t some = bytes[b];
                    struct plan p;

                    if (chunks[c] && near)
                        some = some / chunks[c] * chunks[c]
                               + (near > 0 ? 1u : chunks[c] - 1u);
                    p = make(PLAN_STRIPES, n, 0, some, chunks[c]);
                    try_offsets(&p);
                    p = make(PLAN_BRANCHES, n, 0, some, chunks[c]);
                    try_offsets(&p);
                }
}

/* --- trees ---------------------------------------------------------------- */

/* What home gives, on the chunk's way; how many there are. */
static uint32_t try_gives(const struct plan *p,
                          uint32_t chunk,
                          uint32_t way[2 * NODES])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan_gives(p); i++) {
        struct give g = plan_give(p, i);
        int again = 0;

        if (g.chunk != chunk)
            continue;
        for (uint32_t v = 0; v < n; v++)
            again |= way[v] == g.node;
        holds(GIVEN_ONCE, p, !again && g.node < p->nodes);
        holds(GIVEN_TO_USED, p, g.node < plan_used(p));
        holds(GIVEN_BY_HOME, p, plan_parent(p, g.node, chunk) == PLAN_NOBODY);
        holds(SLOTS_OF_HOME, p, plan_slots(p, g.node, chunk) == i + 1u);
        way[n++] = g.node;
    }
    holds(GIVEN_ONCE, p, n > 0);
    return n;
}

/* From home down. */
static void try_tree(const struct plan *p, uint32_t chunk)
{
    uint32_t way[2 * NODES], n = try_gives(p, chunk, way);
    unsigned seen[NODES] = {0};

    for (uint32_t i = 0; i < n && n < NODES; i++) {
        uint32_t v = way[i], children = plan_children(p, v, chunk);

        for (uint32_t c = 0; c < children && n < 2 * NODES; c++) {
            uint32_t child = plan_child(p, v, chunk, c);

            holds(CHILD_KNOWS_PARENT, p,
                  child < p->nodes && plan_parent(p, child, chunk) == v);
            holds(SLOTS_OF_SIBLINGS, p,
                  plan_slots(p, child, chunk)
                      == plan_slots(p, v, chunk) + c + 1);
            way[n++] = child;
        }
        holds(BRANCHES_WIDE, p,
              p->shape == PLAN_STRIPES || children <= p->branches);
    }
    for (uint32_t i = 0; i < n; i++)
        if (way[i] < NODES)
            seen[way[i]]++;
    for (uint32_t v = 0; v < p->nodes; v++) {
        holds(REACHED_ONCE, p, seen[v] <= 1);
        holds(REACHED_IF_PUSHED, p,
              (seen[v] > 0) == plan_is_pushed(p, v, chunk));
    }
}

/* Evenly, for any generator of 64 bits. */
static void try_holders(const struct plan *p, uint32_t chunk)
{
    uint64_t random = chunk;

    for (int i = 0; i < 64; i++) {
        uint32_t v = plan_holder(p, chunk, random);

        holds(HOLDER_HOLDS, p, v < p->nodes && plan_is_pushed(p, v, chunk));
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    }
}

/* A round is as many chunks as there are nodes. */
static void try_stripes(const struct plan *p)
{
    for (uint32_t v = 0; v < p->nodes; v++) {
        uint32_t stripe = 0, inner = 0, sent = 0, chunks = 0;

        for (uint32_t s = 0; s < p->branches && s < p->chunks; s++)
            if (plan_children(p, v, s) > 0) {
                stripe = s;
                inner++;
            }
        holds(INNER_ONCE, p, inner <= 1);
        if (p->chunks < p->nodes || p->branches == 1)
            continue; /* a chain's last node has nobody to send to */
        for (uint32_t j = 0; j < p->nodes; j++) {
            sent += plan_children(p, v, j);
            chunks += plan_give(p, j).node == stripe;
        }
        holds(SENT_ALIKE, p,
              sent + chunks >= p->nodes - 1 && sent <= p->nodes - 1 + chunks);
    }
    for (uint32_t s = 0; s < p->branches && s < p->chunks; s++) {
        uint32_t least = p->nodes, most = 0;

        for (uint32_t v = 0; v < p->nodes; v++) {
            uint32_t n = plan_children(p, v, s);

            if (n > 0 && n < least)
                least = n;
            if (n > most)
                most = n;
        }
        holds(CHILDREN_EVEN, p, most == 0 || most - least <= 1);
    }
}

static void try_branches(const struct plan *p)
{
    uint32_t size[NODES] = {0}, least = p->nodes, most = 0;

    if (p->chunks < p->branches)
        return; /* of several branches each chunk is */
    for (uint32_t v = 0; v < p->nodes; v++)
        for (uint32_t s = 0; s < p->branches; s++)
            size[s] += (uint32_t)plan_is_pushed(p, v, s);
    for (uint32_t s = 0; s < p->branches; s++) {
        least = size[s] < least ? size[s] : least;
        most = size[s] > most ? size[s] : most;
    }
    holds(BRANCHES_EVEN, p, most - least <= 1);
}

static void try_neighbours(const struct plan *p)
{
    for (uint32_t a = 0; a < p->nodes; a++)
        for (uint32_t b = 0; b < p->nodes; b++) {
            int want = 0;

            for (uint32_t j = 0; j < p->chunks; j++)
                want |= plan_parent(p, a, j) == b || plan_parent(p, b, j) == a;
            holds(NEIGHBOURS, p,
                  plan_are_neighbours(p, a, b) == want
                      && plan_are_neighbours(p, b, a) == want);
        }
}

static void try_trees(enum plan_shape shape, uint32_t nodes, uint32_t branches)
{
    const uint32_t chunks[] = {1,        2,         branches - 1,
                               branches, nodes + 1, 2 * nodes + branches};

    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        struct plan p = make(shape, nodes, branches,
                             (uint64_t)chunks[i] * CHUNK_MIN, CHUNK_MIN);

        if (p.chunks != chunks[i] || p.branches != branches)
            bail("another plan");
        for (uint32_t j = 0; j < p.chunks; j++) {
            try_tree(&p, j);
            try_holders(&p, j);
        }
        if (shape == PLAN_STRIPES)
            try_stripes(&p);
        else
            try_branches(&p);
        if (nodes <= 12)
            try_neighbours(&p);
    }
}

static void test_laws(void)
{
    test_offsets();
    for (uint32_t n = 1; n <= NODES; n++)
        for (uint32_t k = 1; k <= n; k++) {
            try_trees(PLAN_STRIPES, n, k);
            try_trees(PLAN_BRANCHES, n, k);
        }
    for (int l = 0; l < LAWS; l++)
        ok(law[l].tried > 0 && law[l].broken == 0, "%s (%u times)", law[l].text,
           law[l].tried);
}

/* --- published examples --------------------------------------------------- */

/* Of CN 102486739: 50 MB, 128 branches of 128 children. */
static void test_seed(void)
{
    uint32_t k = 128, wrong = 0;
    struct plan p = make(PLAN_BRANCHES, k + k * k, k, 50u << 20, 0);
    uint64_t most = 0;

    ok(p.chunks == k && p.chunk == (50u << 20) / k && plan_gives(&p) == k,
       "seed: k chunks, one for each branch");
    for (uint32_t i = 0; i < k; i++) {
        struct give g = plan_give(&p, i);

        wrong += g.chunk != i || g.node != i || plan_children(&p, i, i) != k;
        for (uint32_t j = 0; j < k; j++) {
            uint32_t child = plan_child(&p, i, i, j);
            uint64_t slots = plan_slots(&p, child, i);

            wrong += slots != i + 1 + j + 1 || plan_children(&p, child, i) != 0;
            most = slots > most ? slots : most;
        }
    }
    is_int(wrong, 0, "seed: child j of branch i has it after i + j slots");
    is_near((double)most * p.chunk / 1.25e9, 2 * (50u << 20) / 1.25e9, 1e-9,
            "seed: the last child has its chunk after twice the data's time");
}

/* Chunks and branches that differ; the sheet's two cases. */
static void test_unequal(void)
{
    struct plan p = make(PLAN_BRANCHES, 30, 5, 3 * CHUNK_MIN, CHUNK_MIN);
    static const uint32_t again[] = {0, 1, 2, 0, 1};
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < 5; i++)
        wrong +=
            plan_give(&p, i).chunk != again[i] || plan_give(&p, i).node != i;
    ok(plan_gives(&p) == 5 && wrong == 0,
       "fewer chunks than branches: again from the first for the rest");
    p = make(PLAN_BRANCHES, 30, 5, 12 * CHUNK_MIN, CHUNK_MIN);
    for (uint32_t i = 0; i < 12; i++)
        wrong += plan_give(&p, i).chunk != i || plan_give(&p, i).node != i % 5;
    ok(plan_gives(&p) == 12 && wrong == 0,
       "more chunks than branches: several for each");
    p = make(PLAN_BRANCHES, 3 + 7, 3, 3 * CHUNK_MIN, CHUNK_MIN);
    ok(plan_children(&p, 0, 0) == 3 && plan_children(&p, 1, 1) == 2
           && plan_children(&p, 2, 2) == 2,
       "unequal children: 7 under 3 are 3, 2 and 2");
    p = make(PLAN_BRANCHES, 2 + 4 + 8, 2, 2 * CHUNK_MIN, CHUNK_MIN);
    ok(plan_parent(&p, 13, 1) == 5 && plan_parent(&p, 5, 1) == 1
           && plan_parent(&p, 1, 1) == PLAN_NOBODY,
       "more nodes than two layers hold: a third");
    is_int((intmax_t)plan_slots(&p, 13, 1), 2 + 2 + 2,
           "and its time adds up over the layers");
}

/* Deep enough for all, with many nodes. */
static void test_large(void)
{
    struct plan p = make(PLAN_STRIPES, 16512, 0, 50000000, 48 << 10);
    uint64_t most = 0;

    for (uint32_t j = 0; j < p.branches; j++)
        for (uint32_t v = 0; v < p.nodes; v++)
            most = plan_slots(&p, v, j) > most ? plan_slots(&p, v, j) : most;
    ok(most <= 4 + 8 * 4, "16,512 nodes have a chunk within 36 slots: %u",
       (unsigned)most);
    ok(plan_used(&p) == 32, "of which home is connected to %u", plan_used(&p));
}

/* One-hop trees: chunk v leaves root v from time v on, a child at a time. */
static void test_turns(void)
{
    unsigned both = 0;

    for (uint32_t n = 2; n <= NODES; n++) {
        struct plan p = make(PLAN_STRIPES, n, n, n * CHUNK_MIN, CHUNK_MIN);

        for (uint32_t t = 0; t < 2 * n; t++) {
            unsigned served[NODES] = {0};

            for (uint32_t v = 0; v < n && v <= t; v++)
                if (t - v < n - 1)
                    both += served[plan_child(&p, v, v, t - v)]++ > 0;
        }
    }
    is_int(both, 0, "no two roots serve a node at the same time");
}

/* Each holder about as often; twice where one branch has twice the nodes. */
static void test_holders(void)
{
    static const struct {
        enum plan_shape shape;
        uint32_t nodes, branches, chunks;
    } cases[] = {{PLAN_STRIPES, 30, 7, 40},
                 {PLAN_BRANCHES, 30, 5, 9},
                 {PLAN_BRANCHES, 30, 5, 3},
                 {PLAN_BRANCHES, 10, 7, 2}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan p = make(cases[i].shape, cases[i].nodes, cases[i].branches,
                             (uint64_t)cases[i].chunks * CHUNK_MIN, CHUNK_MIN);
        uint32_t times[NODES] = {0}, holders = 0, odd = 0, draws = 100000;
        uint64_t random = 1;

        for (uint32_t d = 0; d < draws; d++) {
            random =
                random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            times[plan_holder(&p, 1, random >> 16)]++;
        }
        for (uint32_t v = 0; v < p.nodes; v++)
            holders += (uint32_t)plan_is_pushed(&p, v, 1);
        for (uint32_t v = 0; v < p.nodes; v++)
            odd += plan_is_pushed(&p, v, 1)
                   && (times[v] * holders < draws * 6 / 10
                       || times[v] * holders > draws * 16 / 10);
        ok(odd == 0, "%u nodes, %u branches, %u chunks: all holders are drawn",
           p.nodes, p.branches, p.chunks);
    }
}

int main(void)
{
    test_bad();
    test_choices();
    test_check();
    test_laws();
    test_seed();
    test_unequal();
    test_large();
    test_turns();
    test_holders();
    return done();
}
