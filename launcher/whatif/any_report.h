/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * any_report.h - a report, whatever it is of.
 */
#ifndef LAUNCHER_WHATIF_ANY_REPORT_H
#define LAUNCHER_WHATIF_ANY_REPORT_H

#include "launcher/whatif/record_file.h"
#include "launcher/whatif/report_file.h"
#include "launcher/whatif/step_file.h"

enum report_kind {
    REPORT_RUN, /* or a journal */
    REPORT_STEP,
    REPORT_BCAST,
    REPORT_PROBE,
    REPORT_GRAPH
};

struct any_report {
    const char *path; /* the caller's */
    enum report_kind kind;
    struct report_file run;    /* of a run; with report_account() */
    struct step_file step;     /* of a step */
    struct record_file record; /* of all else */
};

/* "run", "step", ... */
const char *report_kind_name(enum report_kind kind);
/* 0, or -1 with ES_USAGE, also for one of a later format, or ES_ENV.  Call
 * any_report_clear() in any case. */
int any_report_read(struct any_report *r,
                    const char *path,
                    struct es_error *err);
void any_report_clear(struct any_report *r);
/* The head of its first line, or NULL. */
const json_t *any_report_head(const struct any_report *r);

#endif
