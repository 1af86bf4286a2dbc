/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/bytes.h"
#include "fault.h"
#include "tap.h"

#include <float.h>

static const struct {
    const char *name;
    uint8_t bytes[12];
    size_t len;
} bad_texts[] = {
    {"a length beyond the end", {0, 0, 0, 9, 'a', 'b'}, 6},
    {"a length of 4 GiB", {255, 255, 255, 255, 'a', 'b'}, 6},
    {"a text longer than its place", {0, 0, 0, 4, 'a', 'b', 'c', 'd'}, 8},
    {"a NUL inside", {0, 0, 0, 2, 'a', 0}, 6},
    {"a NUL at the front", {0, 0, 0, 2, 0, 'a'}, 6},
    {"half a length", {0, 0}, 2},
    {"nothing at all", {0}, 0},
};
static const struct {
    const char *name;
    uint8_t bytes[8];
} bad_doubles[] = {
    {"NaN", {0x7f, 0xf8}},
    {"a signalling NaN", {0x7f, 0xf0, 0, 0, 0, 0, 0, 1}},
    {"a negative NaN", {0xff, 0xff, 255, 255, 255, 255, 255, 255}},
    {"infinity", {0x7f, 0xf0}},
    {"minus infinity", {0xff, 0xf0}},
};

static void test_bad(void)
{
    struct reader r;

    for (size_t i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++) {
        char text[4] = "zzz";

        r = (struct reader){bad_texts[i].bytes, bad_texts[i].len, 0};
        read_text(&r, text, sizeof text);
        ok(r.bad && text[0] == '\0', "%s is refused, and the text empty",
           bad_texts[i].name);
    }
    for (size_t i = 0; i < sizeof bad_doubles / sizeof bad_doubles[0]; i++) {
        r = (struct reader){bad_doubles[i].bytes, 8, 0};
        ok(read_double(&r) == 0 && r.bad, "%s is refused", bad_doubles[i].name);
    }
    r = (struct reader){bad_doubles[0].bytes, 8, 0};
    read_u32(&r);
    is_int(read_end(&r), -1, "bytes left over are refused");
}

/* After the first bad read nothing is read any more, though it is there. */
static void test_after_bad(void)
{
    static const uint8_t bytes[] = {255, 255, 255, 255, 1, 1, 1, 1,
                                    1,   1,   1,   1,   1, 1, 1, 1};
    struct reader r = {bytes, sizeof bytes, 0};
    char text[8] = "zzz";
    size_t len = 77;

    ok(!read_blob(&r, &len) && len == 0 && r.bad, "a blob that is not there");
    is_int(read_u32(&r), 0, "gives 0 for a u32 behind it");
    ok(read_u64(&r) == 0, "0 for a u64");
    ok(read_double(&r) == 0, "0 for a double");
    read_text(&r, text, sizeof text);
    is_str(text, "", "an empty text");
    is_int(read_end(&r), -1, "and a bad end");
}

/* The widths and orders of the wire, byte for byte. */
static void test_vector(void)
{
    static const uint8_t want[] = {
        1,    2,    3, 4,                 /* u32 */
        1,    2,    3, 4, 5,   6,   7, 8, /* u64 */
        0xbf, 0xf8, 0, 0, 0,   0,   0, 0, /* -1.5 */
        0,    0,    0, 2, 'h', 'i',       /* text */
        0,    0,    0, 3, 0,   255, 0,    /* blob */
    };
    struct writer w = {0};
    uint8_t two[2], four[4];

    write_u32(&w, 0x01020304);
    write_u64(&w, 0x0102030405060708);
    write_double(&w, -1.5);
    write_text(&w, "hi");
    write_blob(&w, "\0\377", 3);
    ok(!w.bad && w.len == sizeof want && memcmp(w.buf, want, w.len) == 0,
       "all is big-endian, texts and blobs behind their length");
    writer_clear(&w);
    put_u16(two, 0xfffe);
    put_u32(four, 0xfffefdfc);
    ok(get_u16(two) == 0xfffe && get_u32(four) == 0xfffefdfc && two[1] == 0xfe
           && four[3] == 0xfc,
       "the single numbers likewise");
}

static int read_all(struct reader *r, char *text, size_t size)
{
    size_t len;

    read_u32(r);
    read_u64(r);
    read_double(r);
    read_text(r, text, size);
    read_blob(r, &len);
    return read_end(r);
}

static void test_round_trip(void)
{
    struct writer w = {0};
    struct reader r;
    char text[8];
    size_t len, cut;

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

    for (cut = 0; cut < w.len; cut++) {
        uint8_t *exact = malloc(cut + 1); /* so that ASan sees its end */
        int rc;

        if (!exact)
            bail("no memory");
        memcpy(exact, w.buf, cut);
        r = (struct reader){exact, cut, 0};
        rc = read_all(&r, text, sizeof text);
        free(exact);
        if (rc == 0)
            break;
    }
    is_int((intmax_t)cut, (intmax_t)w.len, "every proper prefix is refused");
    writer_clear(&w);
}

static void test_doubles(void)
{
    static const double some[] = {0.0,     -0.0,   DBL_MAX, -DBL_MAX,
                                  DBL_MIN, 5e-324, 1.0 / 3};
    int same = 1;

    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        struct writer w = {0};
        struct reader r;
        double back;

        write_double(&w, some[i]);
        r = (struct reader){w.buf, w.len, 0};
        back = read_double(&r);
        same &= read_end(&r) == 0 && memcmp(&back, &some[i], sizeof back) == 0;
        writer_clear(&w);
    }
    ok(same, "the least and the largest doubles come back to the bit");
}

static void write_much(struct writer *w)
{
    for (uint32_t i = 0; i < 2000; i++)
        write_u32(w, i);
    write_text(w, "the end");
}

static void test_no_memory(void)
{
    struct writer w = {0};
    long n;

    for (fault_at = n = 0; n < 100; fault_at = ++n) {
        write_much(&w);
        fault_at = -1;
        if (!w.bad)
            break;
        write_u32(&w, 1);
        ok(w.bad, "allocation %ld fails, and the writer stays bad", n);
        writer_clear(&w);
    }
    fault_at = -1;
    ok(n > 3 && w.len == 8000 + 4 + 7 && get_u32(w.buf + 7996) == 1999,
       "%ld allocation failures survived", n);
    writer_clear(&w);
    ok(!w.bad && !w.buf && w.len == 0, "a writer that is cleared is as new");
}

int main(void)
{
    test_bad();
    test_after_bad();
    test_vector();
    test_round_trip();
    test_doubles();
    test_no_memory();
    return done();
}
