/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/fabric_message.h"
#include "tap.h"

#include <string.h>

static const struct fabric_place sound = {.provider = "tcp;ofi_rxm",
                                          .name = {1, 2, 3, 4},
                                          .name_len = 4,
                                          .memory = UINT64_C(0x123456789a),
                                          .key = UINT64_C(0xfedcba9876543210),
                                          .slots = 16,
                                          .slot_bytes = 69632};

static int is_same(const struct fabric_place *a, const struct fabric_place *b)
{
    return strcmp(a->provider, b->provider) == 0 && a->name_len == b->name_len
           && memcmp(a->name, b->name, a->name_len) == 0
           && a->memory == b->memory && a->key == b->key && a->slots == b->slots
           && a->slot_bytes == b->slot_bytes;
}

/* Is it taken as it was sent, or not at all? */
static int comes_back(const struct fabric_place *p)
{
    struct writer w = {0};
    struct fabric_place out;
    int rc;

    fabric_write_place(&w, p);
    rc = fabric_read_place(&out, w.buf, w.len);
    if (w.bad || (rc == 0 && !is_same(&out, p)) || (rc < 0 && out.name_len > 0))
        bail("it comes back otherwise");
    writer_clear(&w);
    return rc == 0;
}

static void test_all(void)
{
    struct fabric_place p = sound;
    struct writer w = {0};

    ok(comes_back(&p), "a place to write to comes back as it was sent");
    p.slots = p.slot_bytes = 0;
    ok(comes_back(&p), "and so does none");
    memset(p.provider, 'p', sizeof p.provider - 1);
    p.name_len = sizeof p.name;
    fabric_write_place(&w, &p);
    ok(comes_back(&p) && w.len <= FABRIC_BODY_MAX,
       "the longest is within the bound of a body");
    writer_clear(&w);
}

static void test_prefixes(void)
{
    struct fabric_place out;
    struct writer w = {0};
    unsigned taken = 0;

    fabric_write_place(&w, &sound);
    for (size_t n = 0; n < w.len; n++)
        taken += fabric_read_place(&out, w.buf, n) == 0;
    ok(taken == 0, "none of its prefixes is taken");
    write_u32(&w, 0);
    ok(fabric_read_place(&out, w.buf, w.len) < 0, "nor anything behind it");
    writer_clear(&w);
}

static void test_bounds(void)
{
    struct fabric_place p = sound;

    p.slots = FABRIC_SLOTS_MAX + 1;
    ok(!comes_back(&p), "more slots than there can be are refused");
    p = sound;
    p.slot_bytes = FABRIC_SLOT_MAX + 1;
    ok(!comes_back(&p), "and larger ones");
    p = sound;
    p.slot_bytes = 0;
    ok(!comes_back(&p), "and slots of no size");
    p = sound;
    p.slots = 0;
    ok(!comes_back(&p), "and a size of no slots");
    p = sound;
    p.memory = UINT64_MAX - 16 * 69632 + 1;
    ok(!comes_back(&p), "and memory that goes past the end of all");
    p.memory--;
    ok(comes_back(&p), "but not what just ends there");
    p = sound;
    p.provider[0] = '\0';
    ok(!comes_back(&p), "a place without a provider is refused");
    p = sound;
    p.name_len = 0;
    ok(!comes_back(&p), "and one without a name");
}

int main(void)
{
    test_all();
    test_prefixes();
    test_bounds();
    done();
}
