/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_file.h - a run's report (report.h), or its journal, read back.
 *
 * A journal and the reports of older versions do not tell what a run's time is
 * held against: report_account.h works it out.
 */
#ifndef LAUNCHER_WHATIF_REPORT_FILE_H
#define LAUNCHER_WHATIF_REPORT_FILE_H

#include "pmix_bcast/error.h"
#include "policy/account.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct report_slice {
    size_t node;
    int done; /* 0: it failed, or its node was lost */
    int64_t begin, units;
    double seconds; /* that its command ran */
    double start;   /* seconds into its frame */
    double startup; /* of these seconds; -1: not told */
};

struct report_frame {
    int64_t number;
    double start; /* seconds into the run: frames follow each other at once */
    double last;  /* seconds from its start to its last answer */
    struct account_result account;
    int is_told; /* the file has it */
    int adjusted;
    int complete;     /* all of its units are done */
    int64_t left_out; /* units that were left out, as their command failed */
    int64_t units;
    size_t slice, n; /* number of its first slice, how many it has */
};

struct report_file {
    struct report_frame *frame;
    size_t n;
    struct report_slice *slice;
    size_t n_slices;
    size_t nodes;
    json_t *node;     /* names, in the order in which they appear */
    int ended;        /* it has a summary; a run that was killed has none, */
    int journal;      /* nor has a journal */
    char status[16];  /* of the summary: done, incomplete, unfinished, failed */
    int64_t left_out; /* units, likewise */
    char policy[64];
    double seconds; /* of the summary, or what the frames add up to */
    struct account_result account; /* likewise */
    int is_told;
    int torn; /* the last line is not whole, and was left out */
};

/* 0, or -1 with ES_USAGE (ES_ENV if memory ran out).  Call report_file_clear()
 * in any case.  Messages begin with "of", which says what the file is to the
 * user. */
int report_file_read(struct report_file *f,
                     const char *of,
                     const char *path,
                     struct es_error *err);
void report_file_clear(struct report_file *f);

const char *report_file_node(const struct report_file *f, size_t node);

#endif
