/* SPDX-License-Identifier: BSD-2-Clause */
/* What is free on a disk, what was promised of it, and what is asked for. */
#include "pmix_bcast/room.h"
#include "tap.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define DEVICE 7u

static struct statvfs disk;
static int unknown;

/* In the place of libc's. */
int fstatvfs(int fd, struct statvfs *fs)
{
    (void)fd;
    *fs = disk;
    errno = ENOSYS;
    return unknown ? -1 : 0;
}

int fstat(int fd, struct stat *st)
{
    (void)fd;
    *st = (struct stat){.st_dev = DEVICE};
    return 0;
}

static struct room ask(const struct room_need *before,
                       size_t n,
                       uint64_t bytes,
                       uint64_t files)
{
    struct room r = {.before = before, .n_before = n};

    room_begin(&r, 0);
    for (uint64_t i = 0; i < files; i++)
        room_add(&r, bytes);
    (void)room_ask(&r, 0, files);
    return r;
}

static void test_room(void)
{
    static const struct room_need none = {DEVICE + 1, 1000, 1000},
                                  some = {DEVICE, 60, 5};
    const struct {
        const char *name;
        struct room_need before[2];
        uint64_t bytes, files; /* so many of them */
        uint64_t lacks_bytes, lacks_files;
        const char *text;
    } cases[] = {
        {"all that is free", {none, none}, 409600, 1, 0, 0, ""},
        {"a byte more takes a block",
         {none, none},
         409601,
         1,
         4096,
         0,
         "4.1 kB more are needed"},
        {"each file has blocks of its own", {none, none}, 1, 10, 0, 0, ""},
        {"beside what was promised", {none, some}, 163840, 1, 0, 0, ""},
        {"which is not free",
         {none, some},
         163841,
         1,
         4096,
         0,
         "4.1 kB more are needed"},
        {"nor twice", {some, some}, 0, 1, 81920, 1, "81.9 kB more are needed"},
        {"files, too", {none, some}, 0, 6, 0, 1, "1 more file is needed"},
        {"megabytes",
         {none, none},
         2409600,
         1,
         2002944,
         0,
         "2.0 MB more are needed"},
        {"gigabytes",
         {none, none},
         UINT64_C(20000000000),
         1,
         UINT64_C(19999592448),
         0,
         "20.0 GB more are needed"},
    };
    char text[64];

    disk = (struct statvfs){.f_frsize = 4096,
                            .f_blocks = 500,
                            .f_bavail = 100,
                            .f_files = 50,
                            .f_favail = 10};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct room r = ask(cases[i].before, 2, cases[i].bytes, cases[i].files);

        room_tell(&r, text, sizeof text);
        ok(r.lacks_bytes == cases[i].lacks_bytes
               && r.lacks_files == cases[i].lacks_files,
           "%s", cases[i].name);
        ok(strcmp(text, cases[i].text) == 0, "is told as \"%s\"", text);
    }
}

static void test_need(void)
{
    struct room r = ask(NULL, 0, 5000, 3);

    ok(r.need.device == DEVICE && r.need.blocks == 6 && r.need.files == 3,
       "what was asked for is what is needed");
    room_begin(&r, 0);
    ok(r.need.blocks == 0 && r.need.files == 0, "the next question is new");
}

static void test_no_limit(void)
{
    struct room r;

    disk.f_blocks = disk.f_files = 0;
    r = ask(NULL, 0, 1 << 30, 1);
    ok(r.lacks_bytes == 0 && r.lacks_files == 0, "one without a limit");
    unknown = 1;
    r = ask(NULL, 0, 1 << 30, 1);
    ok(r.lacks_bytes == 0 && r.lacks_files == 0, "one that does not say");
}

int main(void)
{
    test_room();
    test_need();
    test_no_limit();
    return done();
}
