/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a file of types of work: refused with its reason, or each with a
 * name and a command. */
#include "launcher/config/works_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_sound(const struct works *w)
{
    if (w->n == 0 || w->n > WORKS_MAX)
        return 0;
    for (size_t i = 0; i < w->n; i++)
        if (!w->work[i].name[0] || !w->work[i].command[0])
            return 0;
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct es_error err = {0};
    struct works w;
    char *text = malloc(size + 1);
    int rc;

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    rc = works_parse(&w, "fuzz.conf", text, &err);
    if (rc == 0 ? !is_sound(&w) || err.kind != ES_OK
                : w.n != 0 || !err.what[0] || !err.mend[0])
        abort();
    works_clear(&w);
    free(text);
    return 0;
}
