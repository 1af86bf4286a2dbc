/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * array.h - an array that grows, by doubling, up to a bound.
 */
#ifndef PMIX_BCAST_ARRAY_H
#define PMIX_BCAST_ARRAY_H

#include <stddef.h>
#include <stdint.h> /* SIZE_MAX, for no bound but that of memory */

/*
 * Make room for need (at least 1) elements of size bytes each in an array from
 * malloc(3) that has room for *room of them; NULL is an array with no room.
 * Returns the array, which may have moved, and sets *room.  Returns NULL with
 * errno ENOMEM if need is above most or memory ran out; the array and *room
 * are then as they were.
 */
void *array_grow(
    void *array, size_t *room, size_t need, size_t size, size_t most);

#endif
