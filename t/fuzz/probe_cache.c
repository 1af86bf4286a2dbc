/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a node's results that are kept: refused, and nothing changed, or
 * results that hold, of the elements that are asked for.  The first byte says
 * which these are. */
#include "launcher/probe/probe_cache.h"

#include <stdlib.h>
#include <string.h>

#define NOW 1795257600

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static void look(const struct probe_result r[ELEMENTS], unsigned elements)
{
    for (int e = 0; e < ELEMENTS; e++) {
        must(probe_result_holds(&r[e]));
        must(!(elements & PROBE_BIT(e)) == (r[e].state == PROBE_LEFT_OUT));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct probe_stamp now = {.node = "n0",
                                           .boot_id = "b",
                                           .hardware = "h",
                                           .version = "0.1.0",
                                           .time_s = NOW,
                                           .cpus = 4};
    static const struct probe_site site[SITE_ELEMENTS] = {
        {.name = "a", .unit = "b"}, {.name = "c", .less = 1}};
    struct probe_result r[ELEMENTS], before[ELEMENTS];
    unsigned elements;
    char *text;

    if (size == 0)
        return 0;
    elements = *data & PROBE_ALL;
    text = malloc(size); /* of its own, so that a read past it is seen */
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    memset(r, 7, sizeof r);
    memset(before, 7, sizeof before);
    if (!probe_cache_read(text, size - 1, &now, 3600, elements, site, r))
        look(r, elements);
    else
        must(memcmp(r, before, sizeof r) == 0);
    free(text);
    return 0;
}
