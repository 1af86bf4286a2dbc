/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_file.h - a run's report (report.h), or its journal, read back.
 *
 * A journal and the reports of older versions do not tell what a run's time is
 * held against: any_report.c works it out.
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
    double cpu;     /* its CPU time; 0: not told */
};

struct report_frame {
    int64_t number;
    double start; /* seconds into the run; where the file does not tell, frames
                     follow each other at once */
    double last;  /* seconds from its start to its last answer */
    double span;  /* likewise, or to the end of a slice that was in vain */
    struct account_result account; /* with frames ahead, its time is that since
                                      the end of the one before */
    int is_told;                   /* the file has it */
    int adjusted;
    int complete;     /* all of its units are done */
    int64_t left_out; /* units that were left out, as their command failed */
    int64_t units;
    size_t slice, n;         /* number of its first slice, how many it has */
    json_t *energy, *meters; /* lists, as in the file; NULL: it has none */
};

struct report_file {
    struct report_frame *frame;
    size_t n;
    struct report_slice *slice;
    size_t n_slices;
    size_t nodes;
    json_t *node; /* names, in the order in which they appear */
    json_t *
        idle; /* idle_word() by name, of nodes that had no work in the last frame
                         that says so; NULL: none */
    int ended;        /* it has a summary; a run that was killed has none, */
    int journal;      /* nor has a journal */
    char status[16];  /* of the summary: done, incomplete, unfinished, failed */
    int64_t left_out; /* units, likewise */
    char policy[64];
    double seconds; /* of the summary, or when the last frame has ended */
    struct account_result account; /* likewise */
    int is_told;
    json_t *head;   /* report_head.h; NULL: it has none */
    json_t *energy; /* of the summary; NULL: not known */
    int torn;       /* the last line is not whole, and was left out */
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
/* Why the node had no work in the last frame in which it had none, as a text for people;
 * NULL: that is not told, or by a word of another version. */
const char *report_file_idle(const struct report_file *f, size_t node);

/* A node's name without its slot, n0 of n0:3; *slot is -1 if it has none. */
void report_file_split(char name[256], int *slot, const char *node);
/* Of a list of objects, the one whose "node" is so named; NULL if there is
 * none. */
const json_t *report_file_find(const json_t *list, const char *name);
/* What the head knows of a node, or of the node of a slot; or NULL. */
const json_t *report_file_about(const struct report_file *f, size_t node);

#endif
