/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/huge_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#    define MADV_COLLAPSE 25 /* glibc 2.37 */
#endif

#define PAGE_SIZE_FILE "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
#define PAGE_MAX       (32u << 20) /* larger ones are for larger files */
#define FAILURES_MAX   4u /* pages that were not to be had: memory is in pieces */

enum { UNTRIED, HUGE_PAGE, ORDINARY };

/* 0: the kernel has none. */
static size_t page_size(void)
{
    FILE *fp = fopen(PAGE_SIZE_FILE, "re");
    unsigned long bytes = 0;

    if (!fp)
        return 0;
    if (fscanf(fp, "%lu", &bytes) != 1 || bytes > PAGE_MAX)
        bytes = 0;
    fclose(fp);
    return bytes;
}

/* At a multiple of the page's size, as huge pages have to be. */
static uint8_t *map_aligned(int fd, size_t bytes, size_t page)
{
    uint8_t *room = mmap(NULL, bytes + page, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t skip;

    if (room == MAP_FAILED)
        return NULL;
    skip = (page - (uintptr_t)room % page) % page;
    if (skip > 0)
        (void)munmap(room, skip);
    if (skip < page)
        (void)munmap(room + skip + bytes, page - skip);
    if (mmap(room + skip, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             fd, 0)
        != MAP_FAILED)
        return room + skip;
    (void)munmap(room + skip, bytes);
    return NULL;
}

void huge_map_open(struct huge_map *m, int fd, uint64_t bytes)
{
    size_t page = page_size();

    *m = (struct huge_map){.fd = -1};
    if (page == 0 || bytes < page || bytes > SIZE_MAX / 2)
        return;
    bytes -= bytes % page; /* the rest is written as to any file */
    m->state = calloc(bytes / page, 1);
    m->at = m->state ? map_aligned(fd, bytes, page) : NULL;
    if (!m->at) {
        huge_map_close(m);
        return;
    }
    m->fd = fd;
    m->bytes = bytes;
    m->page = page;
}

/* Of a part that is wholly a hole the kernel makes no huge page: so one byte is
 * there before. */
static int make_page(struct huge_map *m, size_t i)
{
    size_t at = i * m->page;

    if (m->failures < FAILURES_MAX && pwrite(m->fd, "", 1, (off_t)at) == 1
        && madvise(m->at + at, m->page, MADV_COLLAPSE) == 0)
        return HUGE_PAGE;
    m->failures++;
    return ORDINARY;
}

uint8_t *huge_map_place(struct huge_map *m, size_t len, uint64_t at)
{
    int is_huge = len > 0 && at < m->bytes && len <= m->bytes - at;

    if (len == 0 || at >= m->bytes)
        return NULL;
    for (size_t i = at / m->page;
         i * m->page < m->bytes && i * m->page < at + len; i++) {
        if (m->state[i] == UNTRIED)
            m->state[i] = (uint8_t)make_page(m, i);
        is_huge = is_huge && m->state[i] == HUGE_PAGE;
    }
    return is_huge ? m->at + at : NULL;
}

void huge_map_close(struct huge_map *m)
{
    if (m->at)
        (void)munmap(m->at, m->bytes);
    free(m->state);
    *m = (struct huge_map){.fd = -1};
}
