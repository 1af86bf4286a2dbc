/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real files in memory and on a disk.  Whether the kernel has huge pages to give
 * is not ours to say: what is in the file is the same either way.
 */
#include "pmix_bcast/huge_map.h"
#include "fault.h"
#include "tap.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (128u << 10)
#define BYTES ((8u << 20) + 1000)

static uint8_t content[BYTES], got[BYTES];

static int make_file(const char *folder)
{
    int fd = folder ? open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600)
                    : memfd_create("huge", MFD_CLOEXEC);

    if (fd < 0 || ftruncate(fd, BYTES) < 0)
        bail("no file");
    return fd;
}

static size_t size_at(size_t at)
{
    return BYTES - at < PIECE ? BYTES - at : PIECE;
}

/* As a destination does; returns how many pieces had a place. */
static unsigned put(struct huge_map *m, int fd, size_t at)
{
    size_t len = size_at(at);
    uint8_t *place = huge_map_place(m, len, at);

    if (place)
        memcpy(place, content + at, len);
    else if (pwrite(fd, content + at, len, (off_t)at) != (ssize_t)len)
        bail("cannot write");
    return place != NULL;
}

static int is_content(int fd)
{
    memset(got, 0, sizeof got);
    return pread(fd, got, sizeof got, 0) == BYTES
           && memcmp(got, content, BYTES) == 0;
}

static void test_memory_file(void)
{
    int fd = make_file(NULL);
    struct huge_map m;
    unsigned placed = 0;
    struct stat st;

    huge_map_open(&m, fd, BYTES);
    for (size_t at = 0; at < BYTES; at += 2 * PIECE)
        placed += put(&m, fd, at);
    for (size_t at = PIECE; at < BYTES; at += 2 * PIECE)
        placed += put(&m, fd, at);
    ok(is_content(fd), "the file holds what was put to its places: %u", placed);
    ok(!huge_map_place(&m, PIECE, BYTES - PIECE),
       "what is behind the last whole page has none");
    ok(!huge_map_place(&m, PIECE, UINT64_MAX - 1)
           && !huge_map_place(&m, SIZE_MAX, 0) && !huge_map_place(&m, 0, 0),
       "nor has what is not in the file");
    ok(is_content(fd) && fstat(fd, &st) == 0 && st.st_size == BYTES,
       "and to ask changes nothing");
    huge_map_close(&m);
    ok(!huge_map_place(&m, PIECE, 0) && is_content(fd),
       "when it is closed there are no places, and the file stays");
    huge_map_close(&m);
    close(fd);
}

/* One piece from the middle of a page to the middle of the next. */
static void test_across(void)
{
    int fd = make_file(NULL);
    struct huge_map m;
    uint8_t *across, *first;

    huge_map_open(&m, fd, BYTES);
    ok(!huge_map_place(&m, PIECE, 0),
       "how fast the first page comes nobody knows");
    across = huge_map_place(&m, PIECE, (4u << 20) - PIECE / 2);
    first = huge_map_place(&m, PIECE, 2u << 20);
    ok(!across || (first && across == first + (2u << 20) - PIECE / 2),
       "a piece across two pages has a place in both");
    huge_map_close(&m);
    close(fd);
}

/* 2 MiB each 60 ms, where the links are what all wait for. */
static void test_slow(void)
{
    int fd = make_file(NULL);
    struct huge_map m;
    unsigned placed = 0;

    huge_map_open(&m, fd, BYTES);
    for (size_t at = 0; at < BYTES; at += PIECE) {
        if (at > 0 && at % (2u << 20) == 0)
            (void)usleep(60000);
        placed += put(&m, fd, at);
    }
    ok(placed == 0 && is_content(fd),
       "what comes slowly is written to the file");
    huge_map_close(&m);
    close(fd);
}

/* Of a disk's file there are no huge pages that can be written. */
static void test_disk(void)
{
    int fd = make_file("/var/tmp");
    struct huge_map m;

    huge_map_open(&m, fd, BYTES);
    for (size_t at = 0; at < BYTES; at += PIECE)
        (void)put(&m, fd, at);
    ok(is_content(fd), "without huge pages the file is written");
    huge_map_close(&m);
    close(fd);
}

static void test_none(void)
{
    int fd = make_file(NULL);
    struct huge_map m;

    huge_map_open(&m, fd, 1000);
    ok(!huge_map_place(&m, 1000, 0), "a small file is not mapped");
    huge_map_close(&m);
    huge_map_open(&m, fd, UINT64_MAX);
    ok(!huge_map_place(&m, 1000, 0), "nor one that is larger than memory");
    huge_map_close(&m);
    huge_map_open(&m, -1, BYTES);
    ok(!huge_map_place(&m, 1000, 0), "nor what is no file");
    huge_map_close(&m);
    fault_at = 1; /* after the one of fopen() */
    huge_map_open(&m, fd, BYTES);
    fault_at = -1;
    (void)put(&m, fd, 0);
    ok(pread(fd, got, PIECE, 0) == PIECE && memcmp(got, content, PIECE) == 0,
       "without memory it is written as any file");
    huge_map_close(&m);
    close(fd);
}

int main(void)
{
    for (size_t i = 0; i < BYTES; i++)
        content[i] = (uint8_t)(i * 31 + (i >> 8) + 1);
    test_memory_file();
    test_across();
    test_slow();
    test_disk();
    test_none();
    return done();
}
