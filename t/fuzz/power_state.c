/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as what a guard has left that has died: of each line nothing is
 * done, or one file of an absolute path is named, with a value that fits.
 * Nothing is written here: only the lines are read. */
#include "launcher/power/power_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(char *line)
{
    const char *path = NULL, *value = NULL;
    size_t len = strlen(line);
    enum power_state_kind kind;
    int whole = len > 0 && line[len - 1] == '\n';

    kind = power_state_line(line, &path, &value);
    if (kind == POWER_STATE_NONE)
        return;
    if (!whole || path[0] != '/' || strlen(path) >= SYSFS_PATH
        || strchr(path, '\n'))
        abort();
    if (kind == POWER_STATE_KNOB
        && (strlen(value) >= KNOB_TEXT || strchr(value, '\n')
            || strchr(path, '\t')))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    char line[POWER_STATE_LINE];

    while (file && fgets(line, sizeof line, file))
        look(line);
    if (file)
        fclose(file);
    return 0;
}
