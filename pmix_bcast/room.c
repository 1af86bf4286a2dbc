/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/room.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define KB 1e3
#define MB 1e6
#define GB 1e9

void room_begin(struct room *r, int folder)
{
    struct statvfs fs;
    struct stat st;

    *r = (struct room){.before = r->before, .n_before = r->n_before};
    r->block = fstatvfs(folder, &fs) == 0 && fs.f_frsize > 0 ? fs.f_frsize : 1;
    r->need.device = fstat(folder, &st) == 0 ? st.st_dev : 0;
}

void room_add(struct room *r, uint64_t bytes)
{
    r->need.blocks += bytes / r->block + (bytes % r->block > 0);
}

static struct room_need promised(const struct room *r)
{
    struct room_need all = {.device = r->need.device};

    for (size_t i = 0; i < r->n_before; i++)
        if (r->before[i].device == all.device) {
            all.blocks += r->before[i].blocks;
            all.files += r->before[i].files;
        }
    return all;
}

static uint64_t beyond(uint64_t need, uint64_t is_free)
{
    return need > is_free ? need - is_free : 0;
}

int room_ask(struct room *r, int folder, uint64_t files)
{
    struct room_need before = promised(r);
    uint64_t blocks = 0;
    struct statvfs fs;

    r->need.files = files;
    if (fstatvfs(folder, &fs) < 0)
        return 0;
    if (fs.f_blocks > 0)
        blocks = beyond(before.blocks + r->need.blocks, fs.f_bavail);
    if (fs.f_files > 0)
        r->lacks_files = beyond(before.files + files, fs.f_favail);
    r->lacks_bytes = blocks * r->block;
    return blocks > 0 || r->lacks_files > 0 ? ENOSPC : 0;
}

static void write_bytes(char *text, size_t size, uint64_t bytes)
{
    double b = (double)bytes;

    if (b >= GB)
        snprintf(text, size, "%.1f GB", b / GB);
    else if (b >= MB)
        snprintf(text, size, "%.1f MB", b / MB);
    else
        snprintf(text, size, "%.1f kB", b / KB);
}

void room_tell(const struct room *r, char *text, size_t size)
{
    char lacks[32];

    text[0] = '\0';
    if (r->lacks_bytes > 0) {
        write_bytes(lacks, sizeof lacks, r->lacks_bytes);
        snprintf(text, size, "%s more are needed", lacks);
    } else if (r->lacks_files > 0) {
        snprintf(text, size, "%" PRIu64 " more file%s needed", r->lacks_files,
                 r->lacks_files > 1 ? "s are" : " is");
    }
}
