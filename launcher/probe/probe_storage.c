/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_storage.h"
#include "launcher/probe/probe_crew.h"
#include "launcher/probe/probe_rate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BLOCK      ((size_t)1 << 20)
#define ALIGNMENT  4096 /* of O_DIRECT, on any disk known */
#define BLOCKS     (STORAGE_BYTES_MOST / BLOCK)
#define PARTS_MOST 8 /* for the spread */

/* Open a file without a name; "direct" means past the page cache. */
static int open_file(const char *dir, int direct)
{
    int flags = O_RDWR | O_CLOEXEC | (direct ? O_DIRECT : 0);
    char path[PATH_MAX];
    int fd = open(dir, O_TMPFILE | flags, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    /* Some file systems have no files without a name. */
    if (snprintf(path, sizeof path, "%s/evenstep-probe.XXXXXX", dir)
        >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, flags & ~O_RDWR);
    if (fd >= 0)
        (void)unlink(path); /* if that fails an empty file stays */
    return fd;
}

/* Fill with data that no disk or file system can compress. */
static void fill_block(uint64_t *block)
{
    uint64_t x = 88172645463325252;

    for (size_t i = 0; i < BLOCK / sizeof *block; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        block[i] = x;
    }
}

/*
 * Write blocks until end_ns, at most "most"; ns[] gets the nanoseconds of each.
 * Returns their number, or -1 with errno.  Unless "direct" each is synced, so
 * that its time includes the disk.
 */
static int write_blocks(int fd,
                        int direct,
                        uint64_t *block,
                        size_t most,
                        int64_t end_ns,
                        int64_t ns[])
{
    size_t n = 0;

    fill_block(block);
    while (n < most && (n == 0 || probe_now_ns() < end_ns)) {
        int64_t begin = probe_now_ns();
        ssize_t got;

        block[0] = n; /* no two are alike, or a disk might store only one */
        got = pwrite(fd, block, BLOCK, (off_t)(n * BLOCK));
        if (got >= 0 && got < (ssize_t)BLOCK)
            errno = ENOSPC;
        if (got < (ssize_t)BLOCK || (!direct && fdatasync(fd) < 0))
            return -1;
        ns[n++] = probe_now_ns() - begin;
    }
    return (int)n;
}

/* Mean rate over n blocks in bytes a second; its spread over parts. */
static double rate_of(const int64_t ns[], size_t n, double *spread)
{
    double part[PARTS_MOST], total = 0;
    size_t parts = 0;

    for (size_t k = 0; k < PARTS_MOST; k++) {
        size_t begin = n * k / PARTS_MOST, end = n * (k + 1) / PARTS_MOST;
        double sum = 0;

        for (size_t i = begin; i < end; i++)
            sum += (double)(ns[i] > 0 ? ns[i] : 1);
        if (end > begin)
            part[parts++] = (double)((end - begin) * BLOCK) / sum;
        total += sum;
    }
    (void)probe_mean(part, parts, spread);
    return (double)(n * BLOCK) * 1e9 / total;
}

static void explain(struct probe_result *r, const char *scratch, int error)
{
    static const char mend[] = "name another one by TMPDIR or by "
                               "scratch in evenstep.conf";

    if (error == ENOSPC || error == EDQUOT)
        probe_not_measured(r, "scratch %s is full: %s", scratch, mend);
    else if (error == EROFS)
        probe_not_measured(r, "scratch %s is read-only: %s", scratch, mend);
    else
        probe_not_measured(r, "scratch %s cannot be written: %s: %s", scratch,
                           strerror(error), mend);
}

/* Open, write, close, and fill *r.  -1 if there is no O_DIRECT. */
static int measure_file(const char *scratch,
                        int direct,
                        size_t most,
                        int64_t end_ns,
                        struct probe_result *r)
{
    static int64_t ns[BLOCKS];
    uint64_t *block = aligned_alloc(ALIGNMENT, BLOCK);
    int fd = open_file(scratch, direct);
    int n = -1, error = errno;
    double spread, rate;

    if (fd >= 0 && block) {
        n = write_blocks(fd, direct, block, most, end_ns, ns);
        error = errno;
    }
    if (fd >= 0)
        close(fd);
    free(block);
    if (n < 0 && direct && error == EINVAL)
        return -1;
    if (n < 0) {
        explain(r, scratch, error);
        return 0;
    }
    rate = rate_of(ns, (size_t)n, &spread);
    probe_measured(r, rate / 1e6, spread, "%d MiB written %s to %s", n,
                   direct ? "directly" : "and synced", scratch);
    return 0;
}

void probe_storage_measure(const struct probe_setup *setup,
                           int budget_ms,
                           struct probe_result *r)
{
    int64_t end_ns = probe_now_ns() + (int64_t)budget_ms * 1000000;
    uint64_t most = BLOCKS;
    struct statvfs fs;

    if (statvfs(setup->scratch, &fs) < 0) {
        explain(r, setup->scratch, errno);
        return;
    }
    r->capacity_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (r->capacity_bytes / STORAGE_FREE_PART / BLOCK < most)
        most = r->capacity_bytes / STORAGE_FREE_PART / BLOCK;
    if (fs.f_flag & ST_RDONLY)
        explain(r, setup->scratch, EROFS);
    else if (most == 0)
        explain(r, setup->scratch, ENOSPC);
    else if (measure_file(setup->scratch, 1, (size_t)most, end_ns, r) < 0)
        (void)measure_file(setup->scratch, 0, (size_t)most, end_ns, r);
}
