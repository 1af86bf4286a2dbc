/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/local_option.h"

#include "launcher/base/number.h"

#include <stdio.h>
#include <string.h>

/* S1,S2,… behind the '='. */
static int take_speeds(struct local_option *o,
                       const char *text,
                       struct es_error *err)
{
    size_t n = 0;

    while (n < o->n) {
        size_t len = strcspn(text, ",");
        char number[16];
        int64_t speed;

        snprintf(number, sizeof number, "%.*s", (int)len, text);
        if (len >= sizeof number
            || number_parse_int(number, 1, 100000, &speed) < 0)
            break;
        o->speed[n++] = (int)speed;
        text += len;
        if (*text++ != ',')
            break;
    }
    o->has_speeds = 1;
    if (n == o->n && text[-1] == '\0')
        return 0;
    return es_fail(err, ES_USAGE,
                   "give one percentage of a core an agent, "
                   "as in --local 2=80,20",
                   "--local: the speeds are not %zu numbers from 1", o->n);
}

int local_option_take(void *at, const char *text, struct es_error *err)
{
    struct local_option *o = at;
    size_t len = strcspn(text, "=");
    char number[16];
    int64_t n;
    int why = NUMBER_NONE;

    if (len < sizeof number) {
        snprintf(number, sizeof number, "%.*s", (int)len, text);
        why = number_parse_int(number, 1, LOCAL_MAX, &n);
    }
    if (why < 0)
        return es_fail(err, ES_USAGE, "give 1 to 1024 agents",
                       "--local: \"%s\" is %s", text,
                       why == NUMBER_NONE ? "no number" : "out of range");
    o->n = (size_t)n;
    o->has_speeds = 0;
    return text[len] == '=' ? take_speeds(o, text + len + 1, err) : 0;
}

const int *local_option_speeds(const struct local_option *o)
{
    return o->has_speeds ? o->speed : NULL;
}
