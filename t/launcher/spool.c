/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/spool.h"
#include "fault.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>

static char chunk[100003]; /* of no round size */

static uint32_t sum(uint32_t s, const char *p, size_t len)
{
    while (len-- > 0)
        s = s * 31 + (uint8_t)*p++;
    return s;
}

/* What a spool writes: its length and check sum. */
static void read_back(struct spool *s, size_t *len, uint32_t *check)
{
    FILE *f = tmpfile();
    ssize_t n;

    *len = 0;
    *check = 0;
    if (!f || spool_write_to(s, fileno(f)) < 0)
        bail("cannot write");
    lseek(fileno(f), 0, SEEK_SET);
    while ((n = read(fileno(f), chunk, sizeof chunk)) > 0) {
        *check = sum(*check, chunk, (size_t)n);
        *len += (size_t)n;
    }
    fclose(f);
}

static void test_size(size_t pieces, int in_file)
{
    struct spool s = {0};
    uint32_t want = 0, got;
    size_t len;
    int rc = 0;

    for (size_t i = 0; i < pieces; i++) {
        memset(chunk, (int)i + 1, sizeof chunk);
        want = sum(want, chunk, sizeof chunk);
        rc |= spool_add(&s, chunk, sizeof chunk);
    }
    ok(rc == 0 && (s.in > 0) == in_file, "%zu pieces are kept %s", pieces,
       in_file ? "in a file" : "in memory");
    read_back(&s, &len, &got);
    ok(len == pieces * sizeof chunk && got == want, "and come back");
    read_back(&s, &len, &got);
    ok(len == pieces * sizeof chunk && got == want, "also a second time");
    spool_clear(&s);
    ok(!s.text && s.fd == 0, "until it is cleared");
}

static void test_failures(void)
{
    struct spool s = {0};
    int full = open("/dev/full", O_WRONLY);

    fault_at = 0;
    is_int(spool_add(&s, "x", 1), -1, "without memory nothing is added");
    fault_at = -1;
    ok(spool_add(&s, "ab", 2) == 0 && spool_add(&s, "", 0) == 0,
       "with memory it is");
    errno = 0;
    ok(spool_write_to(&s, full) == -1 && errno == ENOSPC,
       "a full device is told");
    setenv("TMPDIR", "/no/such", 1);
    memset(chunk, 1, sizeof chunk);
    for (int i = 0; i < 30; i++)
        if (spool_add(&s, chunk, sizeof chunk) < 0)
            bail("no way around a bad TMPDIR");
    ok(s.in > 0, "a TMPDIR that is not there is gone round");
    spool_clear(&s);
    close(full);
}

int main(void)
{
    test_size(0, 0);
    test_size(1, 0);
    test_size(10, 0);
    test_size(11, 1);
    test_size(57, 1);
    test_failures();
    return done();
}
