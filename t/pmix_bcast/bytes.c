/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/bytes.h"
#include "fault.h"
#include "tap.h"

static void test_round_trip(void)
{
    struct writer w = {0};
    struct reader r;
    char text[8];
    size_t len;

    write_u32(&w, UINT32_MAX);
    write_u64(&w, UINT64_MAX - 1);
    write_double(&w, -0.1);
    write_text(&w, "seven77");
    write_blob(&w, NULL, 0);
    ok(!w.bad, "all is written");
    r = (struct reader){w.buf, w.len, 0};
    ok(read_u32(&r) == UINT32_MAX && read_u64(&r) == UINT64_MAX - 1,
       "integers come back");
    is_near(read_double(&r), -0.1, 0, "a double comes back to the bit");
    read_text(&r, text, sizeof text);
    is_str(text, "seven77", "a text that just fits comes back");
    ok(read_blob(&r, &len) && len == 0, "an empty blob is one");
    is_int(read_end(&r), 0, "nothing is left over");

    for (size_t cut = 0; cut < w.len; cut++) {
        r = (struct reader){w.buf, cut, 0};
        read_u32(&r);
        read_u64(&r);
        read_double(&r);
        read_text(&r, text, sizeof text);
        read_blob(&r, &len);
        if (read_end(&r) == 0)
            break;
        if (cut + 1 == w.len)
            ok(1, "every proper prefix is refused");
    }
    writer_clear(&w);
}

static const struct {
    const char *name;
    uint8_t bytes[12];
    size_t len;
} bad_texts[] = {
    {"a length beyond the end", {0, 0, 0, 9, 'a', 'b'}, 6},
    {"a length of 4 GiB", {255, 255, 255, 255, 'a', 'b'}, 6},
    {"a text longer than its place", {0, 0, 0, 4, 'a', 'b', 'c', 'd'}, 8},
    {"a NUL inside", {0, 0, 0, 2, 'a', 0}, 6},
    {"half a length", {0, 0}, 2},
};

static void test_bad(void)
{
    static const uint8_t nan_bits[8] = {0x7f, 0xf8}, inf[8] = {0x7f, 0xf0};
    struct reader r;

    for (size_t i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++) {
        char text[4] = "zzz";

        r = (struct reader){bad_texts[i].bytes, bad_texts[i].len, 0};
        read_text(&r, text, sizeof text);
        ok(r.bad && text[0] == '\0', "%s is refused, and the text empty",
           bad_texts[i].name);
    }
    r = (struct reader){nan_bits, 8, 0};
    ok(read_double(&r) == 0 && r.bad, "NaN is refused");
    r = (struct reader){inf, 8, 0};
    ok(read_double(&r) == 0 && r.bad, "infinity is refused");
    r = (struct reader){inf, 8, 0};
    read_u32(&r);
    is_int(read_end(&r), -1, "bytes left over are refused");
}

static void test_no_memory(void)
{
    struct writer w = {0};

    fault_at = 0;
    write_text(&w, "x");
    fault_at = -1;
    ok(w.bad, "a writer without memory says so");
    write_u32(&w, 1);
    ok(w.bad && w.len == 0, "and stays so");
    writer_clear(&w);
    ok(!w.bad && !w.buf, "until it is cleared");
}

int main(void)
{
    test_round_trip();
    test_bad();
    test_no_memory();
    return done();
}
