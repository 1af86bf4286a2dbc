/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/report_head.h"
#include "launcher/base/json_member.h"

#include <limits.h>
#include <time.h>
#include <unistd.h>

json_t *report_head(const char *kind, uint32_t job, uint32_t step)
{
    char host[HOST_NAME_MAX + 1] = "";
    json_t *head;

    if (gethostname(host, sizeof host - 1) < 0)
        host[0] = '\0';
    head = json_pack("{s:i, s:s, s:s, s:o, s:I}", "format", REPORT_FORMAT,
                     "kind", kind, "evenstep", EVENSTEP_VERSION, "host",
                     json_text(host), "written", (json_int_t)time(NULL));
    if (job > 0) {
        head = json_member(head, "job", json_integer(job));
        head = json_member(head, "step", json_integer(step));
    }
    return head;
}

int report_head_check(const json_t *line, struct es_error *err)
{
    const json_t *head = json_object_get(line, "report");
    const json_t *format = json_object_get(head, "format");
    json_int_t v = json_integer_value(format);

    if (!head)
        return 0;
    if (!json_is_integer(format) || v < 1)
        return es_fail(err, ES_USAGE, "give a report as it was written",
                       "its \"report\" has no \"format\"");
    if (v > REPORT_FORMAT)
        return es_fail(err, ES_USAGE, "read it with that evenstep",
                       "is of format %" JSON_INTEGER_FORMAT
                       ", of a later evenstep; this one reads up to %d",
                       v, REPORT_FORMAT);
    return 0;
}
