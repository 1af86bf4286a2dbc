/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_file.h - a run's report (report.h), or its journal, read back.
 */
#ifndef LAUNCHER_WHATIF_REPORT_FILE_H
#define LAUNCHER_WHATIF_REPORT_FILE_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct report_slice {
    size_t node;
    int done; /* 0: it failed, or was lost with its node */
    int64_t begin, units;
    double seconds; /* that its command ran */
    double start;   /* seconds into its frame */
};

struct report_frame {
    int64_t number;
    double start; /* seconds into the run: frames follow each other at once */
    double last;  /* seconds that it took */
    double efficiency;
    int adjusted;
    int64_t units;
    size_t slice, n; /* the first of its slices, and how many they are */
};

struct report_file {
    struct report_frame *frame;
    size_t n;
    struct report_slice *slice;
    size_t n_slices;
    size_t nodes;
    json_t *node; /* their names, in the order of appearance */
    int ended;    /* there is a summary; else the run has failed, unless .. */
    int journal;  /* .. it is a journal, which does not say */
    char policy[64];
    double seconds;    /* of the summary, or what the frames add up to */
    double efficiency; /* likewise: mean over the frames */
    int torn;          /* the last line was cut off, and is left out */
};

/* 0, or -1 with ES_USAGE (ES_ENV for want of memory); clear it in any case.
 * of: what the file is for the user, as its messages begin. */
int report_file_read(struct report_file *f,
                     const char *of,
                     const char *path,
                     struct es_error *err);
void report_file_clear(struct report_file *f);

const char *report_file_node(const struct report_file *f, size_t node);

#endif
