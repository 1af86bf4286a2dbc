/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/any_report.h"
#include "launcher/base/report_head.h"
#include "launcher/base/text_file.h"
#include "launcher/base/user_file.h"
#include "launcher/whatif/report_account.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[] = {
    [REPORT_RUN] = "run",     [REPORT_STEP] = "step",
    [REPORT_BCAST] = "bcast", [REPORT_PROBE] = "probe",
    [REPORT_GRAPH] = "graph",
};

/* Of the lines after the first. */
static const char *const line_types[] = {
    [REPORT_BCAST] = "node", [REPORT_PROBE] = "node", [REPORT_GRAPH] = "task"};

const char *report_kind_name(enum report_kind kind)
{
    return names[kind];
}

/* The first object of a regular file; NULL if there is none. */
static json_t *first_of(const char *path)
{
    const char *in = user_file_in(path);
    struct stat st;
    FILE *file = NULL;
    json_t *first;

    if (in && stat(in, &st) == 0 && S_ISREG(st.st_mode))
        file = fopen(in, "re");
    if (!file)
        return NULL;
    text_file_skip_mark(file);
    first = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL);
    (void)fclose(file); /* it was only read */
    return first;
}

/* What is none of the others is taken for a run's, whose reader says what is
 * wrong with it. */
static enum report_kind kind_of(const json_t *first)
{
    const char *type = record_text(first, "type");

    for (int k = REPORT_STEP; k <= REPORT_GRAPH; k++)
        if (strcmp(type, names[k]) == 0)
            return (enum report_kind)k;
    return REPORT_RUN;
}

static int read_run(struct any_report *r, struct es_error *err)
{
    if (report_file_read(&r->run, "report", r->path, err) < 0)
        return -1;
    return report_account(&r->run) < 0 ? es_no_memory(err) : 0;
}

int any_report_read(struct any_report *r,
                    const char *path,
                    struct es_error *err)
{
    json_t *first = first_of(path);
    struct es_error why;
    int rc = report_head_check(first, &why);

    *r = (struct any_report){.path = path, .kind = kind_of(first)};
    json_decref(first);
    if (rc < 0)
        return es_fail(err, why.kind, why.mend, "report: %s: %s", path,
                       why.what);
    if (r->kind == REPORT_RUN)
        return read_run(r, err);
    if (r->kind == REPORT_STEP)
        return step_file_read(&r->step, path, err);
    return record_file_read(&r->record, path, line_types[r->kind], err);
}

void any_report_clear(struct any_report *r)
{
    report_file_clear(&r->run);
    step_file_clear(&r->step);
    record_file_clear(&r->record);
}

const json_t *any_report_head(const struct any_report *r)
{
    const json_t *first = r->kind == REPORT_STEP
                              ? json_object_get(r->step.json, "step")
                              : r->record.first;

    return r->kind == REPORT_RUN ? r->run.head
                                 : json_object_get(first, "report");
}
