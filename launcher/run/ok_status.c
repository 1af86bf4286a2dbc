/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/ok_status.h"
#include "launcher/base/number.h"

#include <stdio.h>
#include <string.h>

int ok_status_take(void *at, const char *text, struct es_error *err)
{
    struct ok_status s = {{0}};
    char number[16];

    for (const char *from = text;; from++) {
        size_t len = strcspn(from, ",");
        int64_t v;

        snprintf(number, sizeof number, "%.*s", (int)(len < 9 ? len : 9), from);
        if (number_parse_int(number, 0, 255, &v) < 0)
            return es_fail(err, ES_USAGE, "give numbers from 0 to 255, as 0,1",
                           "--ok-status: \"%s\" is no exit status", number);
        s.is_ok[v] = 1;
        from += len;
        if (!*from)
            break;
    }
    memcpy(at, &s, sizeof s);
    return 0;
}

int ok_status_is(const struct ok_status *s, const struct msg_done *m)
{
    return m->signal == 0 && m->exec_errno == 0 && m->status < 256
           && s->is_ok[m->status];
}
