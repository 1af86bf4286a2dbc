/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/threshold_option.h"
#include "launcher/base/number.h"

#include <stdio.h>
#include <string.h>

#define MOST 1e9 /* seconds, or percent: 30 years */

int threshold_option_take(void *at, const char *text, struct es_error *err)
{
    struct threshold_rule *rule = at;
    struct threshold_rule read = {.unit = THRESHOLD_SECONDS};
    size_t len = strlen(text);
    char number[32];

    if (strcmp(text, "auto") == 0) {
        *rule = (struct threshold_rule){.unit = THRESHOLD_AUTO};
        return 0;
    }
    if (len > 0 && text[len - 1] == '%') {
        read.unit = THRESHOLD_PERCENT;
        len--;
    }
    snprintf(number, sizeof number, "%.*s", (int)len, text);
    if (len >= sizeof number
        || number_parse_double(number, 0, MOST, &read.value) < 0)
        return es_fail(err, ES_USAGE,
                       "give seconds, or percent with a %, or auto",
                       "--threshold: \"%s\" is no threshold", text);
    *rule = read;
    return 0;
}
