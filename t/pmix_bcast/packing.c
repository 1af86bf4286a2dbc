/* SPDX-License-Identifier: BSD-2-Clause */
/* What is compressed comes back; what is worth it is chosen. */
#include "pmix_bcast/packing.h"
#include "fault.h"
#include "tap.h"

#define CHUNK  65536u
#define CHUNKS 200u

static uint8_t soft[CHUNK], hard[CHUNK], out[CHUNK];

static struct packing *create(enum pack wish)
{
    struct packing *p = packing_create(wish, CHUNKS, CHUNK);

    if (!p)
        bail("no memory");
    return p;
}

/* --- the choice ----------------------------------------------------------- */

static void test_choice(void)
{
    /* Seconds a byte, and what is left: likely ones. */
    const struct pack_cost cost[PACK_METHODS] = {
        [PACK_LZ4] = {2e-9, 0.5}, [PACK_ZSTD] = {5e-9, 0.3}};
    const struct pack_cost none[PACK_METHODS] = {
        [PACK_LZ4] = {1e-9, 1.0}, [PACK_ZSTD] = {1e-9, 1.0}};
    const struct pack_cost unknown[PACK_METHODS] = {{0, 0}};

    is_int(pack_choose(cost, 12.5e6), PACK_ZSTD,
           "a slow wire takes what gets smallest: 5 + 24 ns of 80");
    is_int(pack_choose(cost, 125e6), PACK_LZ4,
           "a faster one what is quick: 2 + 4 ns of 8");
    is_int(pack_choose(cost, 1.25e9), PACK_NONE,
           "a fast one nothing: 2 + 0.4 ns of 0.8");
    is_int(pack_choose(none, 12.5e6), PACK_NONE,
           "nor what does not get smaller");
    is_int(pack_choose(cost, 0), PACK_NONE, "nor while no rate is known");
    is_int(pack_choose(unknown, 12.5e6), PACK_NONE, "nor while no cost is");
    is_int(pack_find("zstd"), PACK_ZSTD, "a method is found by its name");
    is_int(pack_find("auto"), PACK_AUTO, "so is auto");
    is_int(pack_find("gzip"), -1, "another one is not");
    is_str(pack_name(PACK_LZ4), "lz4", "and has one");
}

/* --- there and back ------------------------------------------------------- */

static void test_back(enum pack pack)
{
    struct packing *home = create(pack), *node = create(PACK_NONE);
    struct packed made, on;
    int wanted = packing_wants(home, 3, CHUNK), rc;

    made = packing_make(home, 3, soft, CHUNK);
    ok(wanted && made.how == pack && made.size < CHUNK / 2,
       "%s makes soft bytes fewer", pack_name(pack));
    ok(!packing_wants(node, 3, CHUNK)
           && packing_known(node, 3).how == PACK_NONE,
       "a node sends as it is what did not come compressed");
    memset(out, 0, sizeof out);
    rc = packing_open(node, 3, &made, out, CHUNK);
    ok(rc == 0 && memcmp(out, soft, CHUNK) == 0, "it comes back");
    on = packing_known(node, 3);
    ok(packing_wants(node, 3, CHUNK) && on.how == pack && on.size == made.size
           && memcmp(on.bytes, made.bytes, on.size) == 0,
       "and goes on as it came");
    for (uint32_t i = 4; i < 100; i++)
        (void)packing_open(node, i, &made, out, CHUNK);
    on = packing_make(node, 3, soft, CHUNK);
    ok(packing_known(node, 3).how == PACK_NONE && on.how == pack
           && on.size == made.size,
       "one of long ago is compressed once more");
    made = packing_make(home, 4, hard, CHUNK);
    ok(made.how == PACK_NONE && !made.bytes,
       "what gets no smaller goes as it is");
    packing_destroy(home);
    packing_destroy(node);
}

static void test_bad(enum pack pack)
{
    struct packing *home = create(pack), *node = create(PACK_NONE);
    struct packed made = packing_make(home, 3, soft, CHUNK), bad = made;
    uint8_t *bytes = malloc(made.size);
    int opened = 0;

    if (!bytes)
        bail("no memory");
    memcpy(bytes, made.bytes, made.size);
    ok(packing_open(node, 3, &made, out, CHUNK - 1) == -1,
       "%s: more bytes than were said are refused", pack_name(pack));
    bad.size--;
    is_int(packing_open(node, 3, &bad, out, CHUNK), -1, "half of it, too");
    is_int(packing_open(node, CHUNKS, &made, out, CHUNK), -1,
           "and a chunk that there is not");
    is_int(packing_wants(node, CHUNKS, CHUNK), 0, "none such is sent");
    bad = (struct packed){pack, hard, CHUNK};
    for (uint32_t n = 1; n < 1000; n++) {
        bad.size = n;
        opened += packing_open(node, 3, &bad, out, CHUNK) == 0;
    }
    is_int(opened, 0, "so is what never was");
    free(bytes);
    packing_destroy(home);
    packing_destroy(node);
}

/* --- auto ----------------------------------------------------------------- */

/* How many of n chunks were compressed. */
static int sent(struct packing *p, const uint8_t *bytes, int n)
{
    int packed = 0;

    for (int i = 0; i < n; i++)
        if (packing_wants(p, 0, CHUNK))
            packed += packing_make(p, 0, bytes, CHUNK).how != PACK_NONE;
    return packed;
}

static void test_auto(void)
{
    struct packing *p = create(PACK_AUTO);
    double t = 1;

    is_int(sent(p, soft, 40), 0, "while the wire's rate is not known");
    for (uint64_t bytes = 0; bytes < 3 * (512u << 10); bytes += 512u << 10)
        packing_went(p, bytes, 1, t += 0.5); /* 1 MiB a second */
    ok(sent(p, soft, 40) == 40,
       "a slow wire: all that are soft are compressed");
    ok(packing_left(p) < 0.8 && packing_left(p) > 0.4, "which is told: %g",
       packing_left(p));
    ok(sent(p, hard, 60) == 0 && sent(p, soft, 10) == 0,
       "hard ones are found out, and no longer tried");
    ok(sent(p, soft, 60) > 10, "but for one now and then: files differ");
    packing_destroy(p);
    p = create(PACK_AUTO);
    for (int i = 0; i < 4; i++)
        packing_went(p, (uint64_t)i << 40, 1, t += 0.05);
    is_int(sent(p, soft, 40), 0, "a fast wire: none");
    packing_destroy(p);
    p = create(PACK_AUTO);
    for (int i = 0; i < 40; i++)
        packing_went(p, (uint64_t)i << 10, 0, t += 0.5);
    is_int(sent(p, soft, 40), 0, "a wire that waits for us says nothing");
    packing_destroy(p);
}

static void test_memory(void)
{
    struct packing *p = NULL;
    long n = 0;

    for (; !p && n < 20; n++) {
        fault_at = n;
        p = packing_create(PACK_LZ4, CHUNKS, CHUNK);
        fault_at = -1;
    }
    ok(p && n > 2, "without memory there is none, nor a leak");
    packing_destroy(p);
    packing_destroy(NULL);
}

int main(void)
{
    uint32_t x = 1;

    for (size_t i = 0; i < CHUNK; i++) {
        hard[i] = (uint8_t)((x = x * 1664525u + 1013904223u) >> 24);
        soft[i] = hard[i / 8];
    }
    test_choice();
    for (enum pack p = PACK_LZ4; p <= PACK_ZSTD; p++) {
        test_back(p);
        test_bad(p);
    }
    test_auto();
    test_memory();
    return done();
}
