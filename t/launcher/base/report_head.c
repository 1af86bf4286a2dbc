/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/report_head.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

static void check(const char *what, const char *line, const char *want)
{
    json_t *json = json_loads(line, 0, NULL);
    struct es_error err = {0};
    int rc = report_head_check(json, &err);

    is_int(rc, want ? -1 : 0, what);
    if (want)
        ok(strstr(err.what, want) != NULL && err.kind == ES_USAGE, "%s", want);
    json_decref(json);
}

int main(void)
{
    json_t *head = report_head("run", 7, 3), *line = json_object();
    char text[64];

    json_object_set(line, "report", head);
    is_int(report_head_check(line, NULL), 0, "what is written is read");
    is_int(json_integer_value(json_object_get(head, "step")), 3, "its step");
    json_decref(head);
    json_decref(line);
    head = report_head("run", 0, 0);
    ok(!json_object_get(head, "job"), "outside of a job it has none");
    json_decref(head);
    check("none is of format 1", "{\"type\":\"frame\"}", NULL);
    snprintf(text, sizeof text, "{\"report\":{\"format\":%d}}", REPORT_FORMAT);
    check("ours", text, NULL);
    snprintf(text, sizeof text, "{\"report\":{\"format\":%d}}",
             REPORT_FORMAT + 1);
    check("a later one", text, "of a later evenstep");
    check("0", "{\"report\":{\"format\":0}}", "has no");
    check("a text", "{\"report\":{\"format\":\"2\"}}", "has no");
    check("no object", "{\"report\":[2]}", "has no");
    is_int(report_head_check(NULL, NULL), 0, "no line at all");
    return done();
}
