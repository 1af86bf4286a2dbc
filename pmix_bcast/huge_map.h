/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * huge_map.h - a new file in memory, mapped in huge pages, so that what comes from
 * a socket is read right into it.
 *
 * A page of 4 KiB costs tmpfs nearly as much as the bytes in it.  madvise(2)'s
 * MADV_COLLAPSE (Linux 6.1) makes one page of 2 MiB of a part of a file, also
 * where the mount itself says huge=never.  Where the kernel has none to give, or
 * bytes come slowly, they are written as to any file.
 */
#ifndef PMIX_BCAST_HUGE_MAP_H
#define PMIX_BCAST_HUGE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct huge_map { /* all zero: maps nothing */
    int fd;
    uint8_t *at;
    size_t bytes, page;
    struct huge_pages *pages; /* owned; what is known of each */
};

/* Map a file in memory of so many bytes, all of them holes, which must stay open
 * and keep its size.  If that cannot be done nothing is mapped. */
void huge_map_open(struct huge_map *m, int fd, uint64_t bytes);
/* Where these bytes of the file are written to; huge pages are made for them
 * here, which takes time.  NULL: write them to the file, also from now on.  In
 * several threads at once, but for opening and closing. */
uint8_t *huge_map_place(const struct huge_map *m, size_t len, uint64_t at);
/* Where that may be: no pages are made yet.  NULL: huge_map_place() says so. */
uint8_t *huge_map_find(const struct huge_map *m, size_t len, uint64_t at);
void huge_map_close(struct huge_map *m);

#endif
