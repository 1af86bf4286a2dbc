/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json_lines.h - reads a report: a file of JSON values, one behind the other.
 */
#ifndef LAUNCHER_WHATIF_JSON_LINES_H
#define LAUNCHER_WHATIF_JSON_LINES_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stddef.h>

/*
 * Give each value to add(), which takes it over; NULL is one that is not whole.
 * *n counts them.  Ends with the file or when add() does not return 0; returns
 * what that has returned, or -1 with err filled if the file cannot be read.
 */
int json_lines_read(const char *path,
                    int (*add)(void *arg, json_t *value),
                    void *arg,
                    size_t *n,
                    struct es_error *err);

#endif
