/* SPDX-License-Identifier: BSD-2-Clause */
/* The file that home broadcasts: what it is cut into, and what is refused. */
#include "pmix_bcast/bcast_source.h"
#include "fault.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK CHUNK_MIN
#define BYTES (5u * CHUNK + 100)

static char dir[] = "/tmp/bcast_source.XXXXXX", path[100];
static uint8_t content[BYTES];
static struct secret secret;
static struct plan plan;

static void write_content(size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

    if (fd < 0 || write(fd, content, len) != (ssize_t)len || close(fd) < 0)
        bail("cannot write %s", path);
}

static void make_plan(uint64_t bytes)
{
    const struct plan_wish wish = {
        .bytes = bytes, .nodes = 3, .chunk = CHUNK, .shape = PLAN_STRIPES};

    if (plan_make(&plan, &wish, NULL) < 0)
        bail("no plan");
}

static void test_refused(void)
{
    struct bcast_source s;
    struct es_error err = {0};
    char pipe[120], none[120], want[200];

    snprintf(none, sizeof none, "%s/none", dir);
    is_int(bcast_source_open(&s, none, &err), -1, "no file is refused");
    snprintf(want, sizeof want, "%s: No such file or directory", none);
    ok(err.kind == ES_WORK && strcmp(err.what, want) == 0, "and named");
    bcast_source_close(&s);
    is_int(bcast_source_open(&s, dir, &err), -1, "a folder is refused");
    snprintf(want, sizeof want, "%s: it is a directory", dir);
    ok(strcmp(err.what, want) == 0 && strstr(err.mend, "bcast -r"),
       "with what can be done");
    bcast_source_close(&s);
    snprintf(pipe, sizeof pipe, "%s/pipe", dir);
    if (mkfifo(pipe, 0600) < 0)
        bail("no pipe");
    is_int(bcast_source_open(&s, pipe, &err), -1,
           "a pipe is refused, and not waited for");
    ok(strstr(err.what, "it is not a regular file") != NULL, "and said");
    bcast_source_close(&s);
    (void)unlink(pipe);
}

static void test_all(void)
{
    struct bcast_source s;
    struct es_error err = {0};
    const uint8_t *all;

    write_content(100);
    make_plan(100);
    is_int(bcast_source_open(&s, path, &err), 0, "a file is opened");
    all = bcast_source_read_all(&s, &plan, &err);
    ok(all && memcmp(all, content, 100) == 0, "a small one is read at once");
    bcast_source_close(&s);
    is_int(s.fd, -1, "and closed");
    if (bcast_source_open(&s, path, &err) < 0)
        bail("%s", err.what);
    write_content(101);
    ok(!bcast_source_read_all(&s, &plan, &err) && err.kind == ES_WORK
           && strstr(err.what, ": it changes while it is read"),
       "one that has grown is refused");
    bcast_source_close(&s);
    if (bcast_source_open(&s, path, &err) < 0)
        bail("%s", err.what);
    write_content(99);
    ok(!bcast_source_read_all(&s, &plan, &err)
           && strstr(err.what, ": it changes while it is read"),
       "so is one that has shrunk");
    bcast_source_close(&s);
}

static void open_cut(struct bcast_source *s)
{
    struct es_error err = {0};

    write_content(BYTES);
    make_plan(BYTES);
    if (bcast_source_open(s, path, &err) < 0
        || bcast_source_cut(s, &plan, &secret, 7, &err) < 0)
        bail("%s", err.what);
}

static void test_chunks(void)
{
    struct bcast_source s;
    struct seal *seal = chunk_tag_seal(&secret, 7);
    uint64_t end = 0;
    int right = 1;

    open_cut(&s);
    is_int(s.untagged, plan.chunks, "at first no chunk has a tag");
    for (uint32_t j = plan.chunks; j-- > 0;) {
        right &= bcast_source_tag(&s, j, NULL) == 0 && s.untagged == j
                 && seal_check(seal, j, content + s.offset[j],
                               bcast_source_size(&s, j), s.tag[j].bytes)
                        == 0;
    }
    ok(right, "each gets its own, in any order");
    for (uint32_t j = 0; j < plan.chunks; j++) {
        right &= s.offset[j] == end;
        end += bcast_source_size(&s, j);
    }
    ok(right && end == BYTES, "together the chunks are the file");
    is_int(bcast_source_tag(&s, 0, NULL), 0, "a chunk that has one keeps it");
    is_int(s.untagged, 0, "and is not counted again");
    is_int(bcast_source_check(&s, NULL), 0, "nothing has changed");
    bcast_source_close(&s);
    seal_destroy(seal);
}

/* Of the same size, at the same time. */
static void test_other_bytes(void)
{
    struct bcast_source s;
    struct es_error err = {0};
    int fd;

    open_cut(&s);
    is_int(bcast_source_tag(&s, 1, &err), 0, "a chunk is read");
    is_int(bcast_source_tag(&s, 1, &err), 0, "and again");
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || pwrite(fd, "other", 5, (off_t)s.offset[1]) != 5
        || futimens(fd, (struct timespec[2]){s.stat.st_atim, s.stat.st_mtim})
               < 0)
        bail("cannot write to it");
    close(fd);
    is_int(bcast_source_check(&s, &err), 0, "by size and time it is the same");
    ok(bcast_source_tag(&s, 1, &err) == -1
           && strstr(err.what, ": it changes while it is read"),
       "by what was read of it before it is not");
    bcast_source_close(&s);
}

static void test_changes(void)
{
    struct timespec times[2] = {{1000, 0}, {1000, 0}};
    struct bcast_source s;
    struct es_error err = {0};

    open_cut(&s);
    is_int(bcast_source_tag(&s, 0, &err), 0, "a first chunk is read");
    if (truncate(path, CHUNK) < 0)
        bail("cannot shorten it");
    ok(bcast_source_tag(&s, plan.chunks - 1, &err) == -1
           && strstr(err.what, ": it changes while it is read")
           && s.untagged == plan.chunks - 1,
       "a file that is shortened has no last chunk");
    ok(bcast_source_check(&s, &err) == -1, "and is not as it was");
    bcast_source_close(&s);
    open_cut(&s);
    if (utimensat(AT_FDCWD, path, times, 0) < 0)
        bail("no time");
    ok(bcast_source_check(&s, &err) == -1 && strstr(err.mend, "nobody writes"),
       "nor is one with another time");
    bcast_source_close(&s);
    open_cut(&s);
    times[1] = s.stat.st_mtim;
    times[1].tv_nsec = (times[1].tv_nsec + 1) % 1000000000;
    if (utimensat(AT_FDCWD, path, times, 0) < 0)
        bail("no time");
    is_int(bcast_source_check(&s, &err), -1, "be it a nanosecond");
    bcast_source_close(&s);
}

/* Each allocation fails once; the last attempt does not. */
static void test_memory(void)
{
    struct bcast_source s = BCAST_SOURCE_CLOSED;
    struct es_error err;
    int rc = -1, good = 1;
    long n = 0;

    write_content(BYTES);
    make_plan(BYTES);
    for (; rc < 0 && n < 20; n++) {
        bcast_source_close(&s);
        if (bcast_source_open(&s, path, NULL) < 0)
            bail("cannot open");
        err = (struct es_error){0};
        fault_at = n;
        rc = bcast_source_cut(&s, &plan, &secret, 7, &err);
        fault_at = -1;
        good &= rc == 0 || strcmp(err.what, "out of memory") == 0;
    }
    bcast_source_close(&s);
    ok(rc == 0 && n == 6 && good, "each allocation that fails is told");
    if (bcast_source_open(&s, path, NULL) < 0)
        bail("cannot open");
    fault_at = 0;
    ok(!bcast_source_read_all(&s, &plan, &err)
           && strcmp(err.what, "out of memory") == 0,
       "so it is of a small file");
    fault_at = -1;
    bcast_source_close(&s);
}

int main(void)
{
    if (!mkdtemp(dir) || secret_make(&secret) < 0)
        bail("no ground to stand on");
    snprintf(path, sizeof path, "%s/file", dir);
    for (size_t i = 0; i < BYTES; i++)
        content[i] = (uint8_t)(i * 31 + (i >> 8));
    test_refused();
    test_all();
    test_chunks();
    test_other_bytes();
    test_changes();
    test_memory();
    (void)unlink(path);
    (void)rmdir(dir);
    return done();
}
