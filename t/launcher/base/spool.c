/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/spool.h"
#include "fault.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

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

/* Byte i of what test_read() puts into a spool. */
static char byte_at(uint64_t i)
{
    return (char)(i * 7 + i / 1000);
}

/* Are the len bytes from `at` on right? */
static int reads(const struct spool *s, uint64_t at, size_t len)
{
    static char got[5000];

    memset(got, '?', sizeof got);
    if (len > sizeof got || spool_read(s, at, got, len) < 0)
        return 0;
    for (size_t i = 0; i < len; i++)
        if (got[i] != byte_at(at + i))
            return 0;
    return len == sizeof got || got[len] == '?';
}

/* Of bytes in the file, in memory, and on both sides of where they meet. */
static void test_read(void)
{
    struct spool s = {0};
    uint64_t size = 0;
    int wrong = 0, null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

    is_int((int)spool_size(&s), 0, "an empty spool has no bytes");
    while (s.in == 0 || s.len < 20000) {
        char piece[777];

        for (size_t i = 0; i < sizeof piece; i++)
            piece[i] = byte_at(size + i);
        if (spool_add(&s, piece, sizeof piece) < 0)
            bail("cannot add");
        size += sizeof piece;
    }
    ok(spool_size(&s) == size && s.in > 0 && s.in < size,
       "a spool's size is what is in its file and in memory");
    for (int i = -40; i <= 40; i++)
        for (size_t len = 0; len < 80; len += 13)
            wrong += !reads(&s, s.in + (uint64_t)(int64_t)i, len);
    ok(wrong == 0 && reads(&s, 0, 5000) && reads(&s, s.in - 2500, 5000)
           && reads(&s, size - 5000, 5000) && reads(&s, size, 0),
       "any part of it can be read, wherever it lies");
    errno = 0;
    ok(spool_write_to(&s, full) == -1 && errno == ENOSPC,
       "a full disk is told, also while the file is written");
    close(full);
    if (ftruncate(s.fd, (off_t)s.in - 1) < 0)
        bail("truncate");
    errno = 0;
    ok(spool_read(&s, s.in - 10, chunk, 20) == -1 && errno == EIO,
       "a file that has become shorter is told");
    errno = 0;
    ok(spool_write_to(&s, null) == -1 && errno == EIO,
       "also when all is written");
    close(null);
    spool_clear(&s);
}

static void test_cut(void)
{
    struct spool s = {0};
    char byte;
    int wrong = 0;

    for (int i = 0; i < 3; i++)
        if (spool_add(&s, chunk, sizeof chunk) < 0)
            bail("cannot add");
    while (s.in == 0)
        if (spool_add(&s, chunk, sizeof chunk) < 0)
            bail("cannot add");
    spool_cut(&s, spool_size(&s));
    ok(s.in > 0 && s.len > 0, "cut where it ends it is as it was");
    spool_cut(&s, s.in + 1);
    is_int((intmax_t)s.len, 1, "it is cut in memory");
    spool_cut(&s, 10);
    ok(spool_size(&s) == 10 && spool_add(&s, "abc", 3) == 0
           && spool_size(&s) == 13,
       "and in its file, and goes on there");
    for (size_t i = 0; i < 3; i++)
        wrong += spool_read(&s, 10 + i, &byte, 1) < 0 || byte != "abc"[i];
    while (s.len > 0 && s.in == 10)
        if (spool_add(&s, chunk, sizeof chunk) < 0)
            bail("cannot add");
    for (size_t i = 0; i < 3; i++)
        wrong += spool_read(&s, 10 + i, &byte, 1) < 0 || byte != "abc"[i];
    is_int(wrong, 0, "what comes then follows it, in memory and in the file");
    spool_clear(&s);
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

/* The file cannot grow for a while, as on a device that is full. */
static void test_full_for_a_while(void)
{
    struct spool s = {0};
    struct rlimit old, tight;
    uint32_t want = 0, got;
    size_t len, total = 0;
    int failed = 0;

    if (getrlimit(RLIMIT_FSIZE, &old) < 0)
        bail("no limits");
    tight = old;
    tight.rlim_cur = SPOOL_MEMORY + SPOOL_MEMORY / 2;
    signal(SIGXFSZ, SIG_IGN);
    setenv("TMPDIR", "/tmp", 1);
    setrlimit(RLIMIT_FSIZE, &tight);
    for (int i = 0; i < 60; i++) {
        memset(chunk, i + 1, sizeof chunk);
        if (spool_add(&s, chunk, sizeof chunk) < 0) {
            ok(errno == EFBIG, "a file that cannot grow is told");
            setrlimit(RLIMIT_FSIZE, &old);
            read_back(&s, &len, &got);
            ok(len == total && got == want, "what was there stays readable");
            memset(chunk, i + 1, sizeof chunk);
            if (failed++ || spool_add(&s, chunk, sizeof chunk) < 0)
                break;
        }
        want = sum(want, chunk, sizeof chunk);
        total += sizeof chunk;
    }
    read_back(&s, &len, &got);
    ok(failed == 1 && len == total && got == want,
       "and with room again nothing is lost, doubled or moved");
    spool_clear(&s);
}

static void test_large(void)
{
    struct spool s = {0};
    size_t size = 3 * SPOOL_MEMORY + 1, len;
    char *much = calloc(1, size);
    uint32_t got, want;
    char nul[] = {'a', 0, (char)255, 0};

    if (!much)
        bail("no memory");
    memset(much, 'm', size);
    ok(spool_add(&s, nul, sizeof nul) == 0 && spool_add(&s, much, size) == 0
           && spool_add(&s, nul, sizeof nul) == 0,
       "one addition may be larger than the memory, any byte in it");
    want = sum(sum(sum(0, nul, sizeof nul), much, size), nul, sizeof nul);
    read_back(&s, &len, &got);
    ok(len == size + 8 && got == want, "all of it comes back");
    spool_clear(&s);
    memset(&s, 0, sizeof s);
    spool_add(&s, much, SPOOL_MEMORY);
    ok(s.fd == 0 && s.in == 0, "SPOOL_MEMORY bytes need no file");
    spool_add(&s, much, 1);
    ok(s.fd > 0 && s.in == SPOOL_MEMORY, "one more does");
    ok(fcntl(s.fd, F_GETFD) & FD_CLOEXEC, "which no command inherits");
    spool_clear(&s);
    spool_clear(&s);
    ok(1, "a spool may be cleared twice");
    free(much);
}

/* A pipe of 64 KiB that does not block, read by a slow child. */
static void test_pipe(void)
{
    char *text = calloc(1, 300000);
    int fd[2], status;
    size_t len = 0;
    ssize_t n;
    pid_t pid;

    if (!text || pipe(fd) < 0 || fcntl(fd[1], F_SETFL, O_NONBLOCK) < 0)
        bail("no pipe");
    pid = fork();
    if (pid == 0) {
        close(fd[1]);
        while ((n = read(fd[0], chunk, 1000)) > 0)
            len += (size_t)n;
        _exit(len == 300000 ? 0 : 1);
    }
    close(fd[0]);
    is_int(write_all(fd[1], text, 300000), 0, "a full pipe is waited for");
    close(fd[1]);
    ok(waitpid(pid, &status, 0) == pid && status == 0, "and gets all of it");
    if (pipe(fd) < 0)
        bail("no pipe");
    close(fd[0]);
    errno = 0;
    ok(write_all(fd[1], text, 10) == -1 && errno == EPIPE,
       "a pipe without a reader is told");
    close(fd[1]);
    is_int(write_all(-1, text, 0), 0, "nothing can be written anywhere");
    free(text);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    test_size(0, 0);
    test_size(1, 0);
    test_size(10, 0);
    test_size(11, 1);
    test_size(57, 1);
    test_large();
    test_full_for_a_while();
    test_read();
    test_pipe();
    test_cut();
    test_failures();
    return done();
}
