/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text, up to its first NUL, as /proc/self/mountinfo, and what is behind
 * it as /proc/self/cgroup: no place, or an absolute one below the mount. */
#include "launcher/exec/throttle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static void look(const struct throttle_place *place)
{
    must(place->version == 1 || place->version == 2);
    must(strnlen(place->path, sizeof place->path) < sizeof place->path);
    must(!strchr(place->path, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct throttle_place place, before;
    char *text = malloc(size + 2), *cgroup;
    size_t len;

    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';
    len = strlen(text);
    cgroup = strdup(text + len + 1); /* of its own, likewise */
    must(cgroup != NULL);
    memset(&place, 7, sizeof place);
    before = place;
    if (throttle_find(text, cgroup, &place) == 0)
        look(&place);
    else
        must(memcmp(&place, &before, sizeof place) == 0);
    free(cgroup);
    free(text);
    return 0;
}
