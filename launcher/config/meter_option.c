/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/meter_option.h"
#include "launcher/wire/protocol.h"

#include <string.h>

int meter_option_take(void *at, const char *text, struct es_error *err)
{
    struct meter_option *o = at;
    const char *pattern = strncmp(text, "cmd:", 4) == 0 ? text + 4 : NULL;

    if (strcmp(text, "units") == 0) {
        *o = (struct meter_option){OUTSIDE_UNITS, ""};
    } else if (strcmp(text, "cpu") == 0) {
        *o = (struct meter_option){OUTSIDE_CPU, ""};
    } else if (!pattern) {
        return es_fail(err, ES_USAGE, "give units, cmd:PATTERN or cpu",
                       "--meter: \"%s\" is not allowed", text);
    } else if (strlen(pattern) >= TEXT_MAX) {
        return es_fail(err, ES_USAGE, "give less than 512 bytes",
                       "--meter: the pattern is too long");
    } else {
        if (outside_pattern_check(pattern, err) < 0)
            return -1;
        *o = (struct meter_option){OUTSIDE_OUTPUT, pattern};
    }
    return 0;
}
