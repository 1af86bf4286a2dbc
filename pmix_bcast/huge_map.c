/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/huge_map.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#    define MADV_COLLAPSE 25 /* glibc 2.37 */
#endif

#define PAGE_SIZE_FILE "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
#define PAGE_MAX       (32u << 20) /* larger ones are for larger files */
#define FAILURES_MAX   4u /* pages that were not to be had: memory is in pieces */
/* Bytes a second from which the CPU may be what all wait for, and a huge page
 * spares it.  Below the links are: there nobody is helped, and to clear 2 MiB in
 * one piece is to pass nothing on meanwhile, 2 ms where a virtual machine has not
 * touched that memory before. */
#define RATE_MIN 50e6

enum state { UNTRIED, IN_MAKING, HUGE_PAGE, ORDINARY };

struct huge_pages {
    pthread_mutex_t lock;
    pthread_cond_t made;
    unsigned failures;
    size_t begun;    /* pages that something has come for */
    double since;    /* when it did first */
    uint8_t state[]; /* enum state of each */
};

static struct huge_pages *pages_create(size_t n)
{
    struct huge_pages *p = calloc(1, sizeof *p + n);

    if (!p)
        return NULL;
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->made, NULL);
    return p;
}

static void pages_destroy(struct huge_pages *p)
{
    if (!p)
        return;
    (void)pthread_mutex_destroy(&p->lock);
    (void)pthread_cond_destroy(&p->made);
    free(p);
}

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
    m->pages = pages_create(bytes / page);
    m->at = m->pages ? map_aligned(fd, bytes, page) : NULL;
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
static enum state make_page(const struct huge_map *m, size_t i)
{
    size_t at = i * m->page;

    return pwrite(m->fd, "", 1, (off_t)at) == 1
                   && madvise(m->at + at, m->page, MADV_COLLAPSE) == 0
               ? HUGE_PAGE
               : ORDINARY;
}

/* Not clock.h's, which is of the main thread alone. */
static double seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* fails for a bad id only */
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* With the lock, as the first byte of one more page comes: is it so fast?  Of the
 * first page nothing is known. */
static int is_fast(struct huge_pages *p, size_t page)
{
    double now = seconds();

    if (p->begun++ == 0) {
        p->since = now;
        return 0;
    }
    return (double)(p->begun - 1) * (double)page >= RATE_MIN * (now - p->since);
}

/* By one thread; others wait for it.  Different pages are made at once. */
static int is_huge_page(const struct huge_map *m, size_t i)
{
    struct huge_pages *p = m->pages;
    enum state how;

    (void)pthread_mutex_lock(&p->lock);
    while (p->state[i] == IN_MAKING)
        (void)pthread_cond_wait(&p->made, &p->lock);
    if (p->state[i] == UNTRIED
        && (!is_fast(p, m->page) || p->failures >= FAILURES_MAX))
        p->state[i] = ORDINARY;
    if (p->state[i] == UNTRIED) {
        p->state[i] = IN_MAKING;
        (void)pthread_mutex_unlock(&p->lock);
        how = make_page(m, i);
        (void)pthread_mutex_lock(&p->lock);
        p->state[i] = (uint8_t)how;
        p->failures += how == ORDINARY;
        (void)pthread_cond_broadcast(&p->made);
    }
    how = (enum state)p->state[i];
    (void)pthread_mutex_unlock(&p->lock);
    return how == HUGE_PAGE;
}

uint8_t *huge_map_find(const struct huge_map *m, size_t len, uint64_t at)
{
    return len > 0 && at < m->bytes && len <= m->bytes - at ? m->at + at : NULL;
}

uint8_t *huge_map_place(const struct huge_map *m, size_t len, uint64_t at)
{
    uint8_t *place = huge_map_find(m, len, at);

    if (len == 0 || at >= m->bytes)
        return NULL;
    for (size_t i = at / m->page;
         i * m->page < m->bytes && i * m->page < at + len; i++)
        if (!is_huge_page(m, i)) /* the next ones are tried, too */
            place = NULL;
    return place;
}

void huge_map_close(struct huge_map *m)
{
    if (m->at)
        (void)munmap(m->at, m->bytes);
    pages_destroy(m->pages);
    *m = (struct huge_map){.fd = -1};
}
