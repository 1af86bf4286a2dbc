/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a node's results: refused and nothing changed, or results that
 * hold and survive being written and read again. */
#include "launcher/probe/probe_json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void survive(const struct probe_result r[ELEMENTS])
{
    struct probe_result back[ELEMENTS];
    json_t *json = probe_to_json(r);

    for (int e = 0; e < ELEMENTS; e++)
        if (!probe_result_holds(&r[e]))
            abort();
    if (json
        && (probe_from_json(back, json, NULL) < 0
            || memcmp(r, back, sizeof back) != 0))
        abort();
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct probe_result r[ELEMENTS], before[ELEMENTS];
    struct es_error err = {0};
    json_t *json = json_loadb((const char *)data, size, 0, NULL);

    if (!json)
        return 0;
    memset(r, 7, sizeof r);
    memset(before, 7, sizeof before);
    if (probe_from_json(r, json, &err) == 0)
        survive(r);
    else if (memcmp(r, before, sizeof r) != 0 || !err.what[0] || !err.mend[0])
        abort();
    json_decref(json);
    return 0;
}
