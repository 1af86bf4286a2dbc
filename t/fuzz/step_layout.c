/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as what sattach prints: refused with its reason, or a node of ours
 * for each task. */
#include "launcher/session/step_layout.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"n2", "n0", "n1", "node-10.site"};
    const size_t n = sizeof names / sizeof *names;
    struct es_error err = {0};
    struct step_layout l;
    char *text = malloc(size + 1);
    int rc;

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    rc = step_layout_read(&l, text, names, n, &err);
    if (rc == 0 ? err.kind != ES_OK || l.tasks == 0 || l.tasks > size
                : !err.what[0] || !err.mend[0])
        abort();
    for (uint32_t t = 0; rc == 0 && t < l.tasks; t++)
        if (l.node_of[t] >= n)
            abort();
    step_layout_clear(&l);
    free(text);
    return 0;
}
