/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/seats.h"

#include <string.h>

static int is_named_before(const char *const name[], size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(name[k], name[i]) == 0)
            return 1;
    return 0;
}

static int is_there(const struct seat seat[], size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (seat[i].is_there && strcmp(seat[i].name, name) == 0)
            return 1;
    return 0;
}

/* The seat that the node had before, or n. */
static size_t find_own(const struct seat seat[],
                       size_t n,
                       size_t first,
                       const char *name)
{
    size_t i = first;

    while (i < n && strcmp(seat[i].name, name) != 0)
        i++;
    return i;
}

enum seats_verdict seats_give(const struct seat seat[],
                              size_t n,
                              size_t first,
                              const char *const name[],
                              size_t k,
                              size_t given[],
                              size_t *which)
{
    size_t next = first;

    for (size_t i = 0; i < k; i++) {
        *which = i;
        if (is_named_before(name, i) || is_there(seat, n, name[i]))
            return SEATS_TAKEN;
        given[i] = find_own(seat, n, first, name[i]);
        if (given[i] < n)
            continue;
        while (next < n && seat[next].name[0])
            next++;
        if (next == n)
            return SEATS_FULL;
        given[i] = next++;
    }
    return SEATS_GIVEN;
}
