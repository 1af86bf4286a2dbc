/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record_file.h - the report of a broadcast, of probes or of a task graph, read
 * back: JSON lines, the first of which says what all of it was.
 */
#ifndef LAUNCHER_WHATIF_RECORD_FILE_H
#define LAUNCHER_WHATIF_RECORD_FILE_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stddef.h>

struct record_file {
    json_t *first;
    json_t
        *lines; /* an array: those after it, of the types that were asked for */
};

/* Lines of other types than `type` are of a later version, and left out.  0, or
 * -1 with ES_USAGE or ES_ENV; record_file_clear() it in any case.  All strings
 * are of plain characters. */
int record_file_read(struct record_file *f,
                     const char *path,
                     const char *type,
                     struct es_error *err);
void record_file_clear(struct record_file *f);

/* A member of an object: a finite number, or `other` where there is none. */
double record_number(const json_t *object, const char *key, double other);
/* Likewise a text; "" where there is none. */
const char *record_text(const json_t *object, const char *key);

#endif
