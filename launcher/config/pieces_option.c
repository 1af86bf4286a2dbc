/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/pieces_option.h"
#include "launcher/base/number.h"
#include "policy/dispatch.h"

#include <string.h>

int pieces_option_take(void *at, const char *text, struct es_error *err)
{
    uint64_t *pieces = at, n = DISPATCH_BY_COST;

    if (strcmp(text, "auto") != 0) {
        int rc = number_parse_u64(text, &n);

        if (rc < 0 || n == 0)
            return es_fail(err, ES_USAGE, "give a whole number from 1, or auto",
                           "--pieces: \"%s\" is %s", text,
                           rc == NUMBER_NONE ? "no number" : "out of range");
    }
    *pieces = n;
    return 0;
}
