/* SPDX-License-Identifier: BSD-2-Clause */
/* Which parts can be begun together, and what home is told of one. */
#include "launcher/session/broadcast_part.h"
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/broadcast_part.XXXXXX";

static void test_overlaps(void)
{
    static const struct {
        const char *one, *other;
        int overlap;
    } cases[] = {
        {"/tmp/a", "/tmp/b", 0},
        {"/tmp/a", "/tmp/a", 1},
        {"/tmp/a", "/tmp/ab", 0},
        {"/tmp/a", "/tmp/a_libs", 0},
        {"/tmp/a", "/tmp/a/b", 1},
        {"/tmp/a", "/tmp/b/a", 0},
        {"/tmp/a/", "/tmp//a", 1},
        {"/tmp/./a", "/tmp/a/.", 1},
        {"/tmp/.a", "/tmp/a", 0},
        {"/tmp/{node}/a", "/tmp/{node}/a/b/c", 1},
        {"/", "/tmp/a", 1},
        {"/tmp/a", "/tmp/b/../a/c", 1},
        {"/tmp/a..", "/tmp/b", 0},
        {"$TMPDIR/a", "${TMPDIR}/a/b", 1},
        {"$TMPDIR/a", "${TMPDIR}/b", 0},
        {"$TMPDIR/a", "/tmp/a", 1},
        {"$TMPDIR/a/b", "/tmp/7/a", 1},
        {"$TMPDIR/a", "/tmp/7/a/b/c", 1},
        {"$TMPDIR/a", "/tmp/b", 0},
        {"$TMPDIR/a", "/a/b", 0},
        {"${TMPDIR}/a/b", "/tmp/a/c", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct broadcast_part one = {.wish.destination = cases[i].one};
        const struct broadcast_part other = {.wish.destination =
                                                 cases[i].other};

        ok(broadcast_part_overlaps(&one, &other) == cases[i].overlap
               && broadcast_part_overlaps(&other, &one) == cases[i].overlap,
           "%s and %s%s", cases[i].one, cases[i].other,
           cases[i].overlap ? " overlap" : "");
    }
}

static void test_parts(void)
{
    char *objects[] = {path, path};
    const struct libs libs = {
        .destination = "/tmp/a_libs", .path = objects, .n = 2};
    struct broadcast_input in = {.wish = {.source = path,
                                          .destination = "/tmp/a",
                                          .flags = ORDER_FORCE | ORDER_SINGLE},
                                 .libs = &libs};
    struct broadcast_part part[BROADCAST_PARTS];

    ok(broadcast_parts_of(part, &in, 3) == 2 && part[0].input == 3
           && part[1].input == 3,
       "a program has two parts");
    ok(part[0].sources.n == 2
           && strcmp(part[0].wish.destination, "/tmp/a_libs") == 0
           && part[0].wish.is_whole && part[0].wish.flags == ORDER_FORCE,
       "first its libraries");
    ok(part[1].sources.n == 0 && strcmp(part[1].wish.destination, "/tmp/a") == 0
           && !part[1].wish.is_whole
           && part[1].wish.flags == (ORDER_FORCE | ORDER_SINGLE),
       "then itself");
    in.libs = NULL;
    ok(broadcast_parts_of(part, &in, 0) == 1 && part[0].sources.n == 0,
       "what needs none has one");
}

static void test_file(void)
{
    struct broadcast_part p = {
        .wish = {.source = path, .destination = "/tmp/a"}};
    struct bcast_wish wish;
    struct es_error err = {0};
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

    ok(!broadcast_part_is_tree(&p)
           && broadcast_part_wish(&p, 0, &wish, &err) == 0 && wish.flags == 0
           && wish.begun == 0,
       "a file that is alone");
    ok(broadcast_part_wish(&p, 1, &wish, &err) == 0 && wish.flags == ORDER_BEGIN
           && wish.begun == 0,
       "one that is begun");
    p.begun = 5;
    ok(broadcast_part_wish(&p, 0, &wish, &err) == 0 && wish.flags == 0
           && wish.begun == 5,
       "and comes then");
    ok(write(fd, "x", 1) == 1 && broadcast_part_wish(&p, 0, &wish, &err) < 0
           && strstr(err.what, "it changes while it is read"),
       "unless it has changed");
    (void)unlink(path);
    for (int begins = 0; begins < 2; begins++)
        ok(broadcast_part_wish(&p, begins, &wish, &err) < 0
               && strstr(err.what, "No such file"),
           "or is gone%s", begins ? " before" : "");
    close(fd);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0 || write(fd, "text", 4) != 4)
        bail("no file");
    close(fd);
    test_overlaps();
    test_parts();
    test_file();
    return done();
}
