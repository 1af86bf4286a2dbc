/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_out.h - the file of --report that is written: JSON lines.
 */
#ifndef LAUNCHER_BASE_REPORT_OUT_H
#define LAUNCHER_BASE_REPORT_OUT_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stdio.h>

struct report_out {
    FILE *file; /* NULL: none is wanted, and all that is written is dropped */
    const char *path;
};

/* path must outlive it; NULL is no report.  Fails with ES_USAGE. */
int report_out_open(struct report_out *r,
                    const char *path,
                    struct es_error *err);
/* Takes over line, NULL where memory ran out; it is in the file afterwards.
 * Fails with ES_WORK. */
int report_out_line(struct report_out *r, json_t *line, struct es_error *err);
int report_out_close(struct report_out *r, struct es_error *err);

#endif
