/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/array.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_MIN 16u

void *array_grow(
    void *array, size_t *room, size_t need, size_t size, size_t most)
{
    size_t fits = PTRDIFF_MAX / size, more;

    if (need <= *room)
        return array;
    if (most > fits)
        most = fits;
    if (need > most) {
        errno = ENOMEM;
        return NULL;
    }
    more = *room <= most / 2 ? *room * 2 : most;
    if (more < ROOM_MIN)
        more = ROOM_MIN;
    if (more < need)
        more = need;
    if (more > most)
        more = most;
    array = realloc(array, more * size);
    if (array)
        *room = more;
    return array;
}
