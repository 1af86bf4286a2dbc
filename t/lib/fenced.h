/*
 * fenced.h - memory with a fence: to touch what lies past the end of an
 * allocation, or one that was freed, ends the test.
 *
 * What the test and the code under test allocate is fenced while fence_on is
 * set.  They fail as in fault.h.  Link with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free.
 */
#ifndef FENCED_H
#define FENCED_H

#include "fault.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FENCE_ARENA ((size_t)1 << 34) /* of addresses; memory is as used */
#define FENCE_PAGE  ((size_t)4096)
#define FENCE_HEAD  ((size_t)16) /* holds the size */
#define FENCE_FILL  0xa5         /* no number that code rests on by chance */

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void __wrap_free(void *);

static int fence_on;
static char *fence_arena;
static size_t fence_used; /* of the arena; nothing is used twice */

/* An allocation begins at a multiple of 8 and ends where a page begins that
   cannot be touched.  Of the up to 7 bytes between it is seen at the end whether
   they were written to. */
static inline void *fenced(size_t bytes)
{
    size_t whole = (bytes + 7) / 8 * 8;
    size_t used = (whole + FENCE_HEAD + FENCE_PAGE - 1) & ~(FENCE_PAGE - 1);
    char *first, *p;

    if (!fence_arena)
        fence_arena =
            (char *)mmap(NULL, FENCE_ARENA, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fence_arena == MAP_FAILED || bytes > FENCE_ARENA / 2
        || used + FENCE_PAGE > FENCE_ARENA - fence_used)
        abort();
    first = fence_arena + fence_used;
    if (mprotect(first, used, PROT_READ | PROT_WRITE) < 0)
        abort();
    fence_used += used + FENCE_PAGE;
    p = first + used - whole;
    memcpy(p - FENCE_HEAD, &bytes, sizeof bytes);
    memset(p + bytes, FENCE_FILL, whole - bytes);
    return p;
}

static inline int is_fenced(const void *p)
{
    uintptr_t at = (uintptr_t)p, arena = (uintptr_t)fence_arena;

    return fence_arena && at >= arena && at < arena + FENCE_ARENA;
}

static inline size_t fenced_size(const void *p)
{
    size_t bytes;

    memcpy(&bytes, (const char *)p - FENCE_HEAD, sizeof bytes);
    return bytes;
}

void *__wrap_malloc(size_t n)
{
    void *p;

    if (fault_now())
        return NULL;
    if (!fence_on)
        return __real_malloc(n);
    p = fenced(n);
    memset(p, FENCE_FILL, n);
    return p;
}

void *__wrap_calloc(size_t n, size_t m)
{
    if (fault_now())
        return NULL;
    if (!fence_on)
        return __real_calloc(n, m);
    if (m > 0 && n > SIZE_MAX / m) {
        errno = ENOMEM;
        return NULL;
    }
    return fenced(n * m);
}

void __wrap_free(void *p)
{
    char *first;
    size_t bytes;

    if (!is_fenced(p)) {
        __real_free(p);
        return;
    }
    first = (char *)(((uintptr_t)p - FENCE_HEAD) & ~(FENCE_PAGE - 1));
    bytes = fenced_size(p);
    for (size_t i = bytes; i % 8; i++)
        if (((unsigned char *)p)[i] != FENCE_FILL)
            abort();
    bytes += (size_t)((char *)p - first);
    if (madvise(first, bytes, MADV_DONTNEED) < 0
        || mprotect(first, bytes, PROT_NONE) < 0)
        abort();
}

void *__wrap_realloc(void *p, size_t n)
{
    size_t old;
    void *more;

    if (!p)
        return __wrap_malloc(n);
    if (fault_now())
        return NULL;
    if (!is_fenced(p))
        return __real_realloc(p, n);
    old = fenced_size(p);
    more = fenced(n);
    memcpy(more, p, old < n ? old : n);
    __wrap_free(p);
    return more;
}

/* As many bytes behind a fence; to be freed. */
static inline void *fenced_copy(const void *from, size_t bytes)
{
    return memcpy(fenced(bytes), from, bytes);
}

#endif
