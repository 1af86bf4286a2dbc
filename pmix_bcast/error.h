/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * error.h - one failure: its kind, what is wrong, and how to mend it.
 *
 * The kind is the exit status of the command.  A function that can fail for
 * a reason the user must hear takes "struct es_error *err" as its last
 * argument; err may be NULL.  It fills err exactly when it fails.
 */
#ifndef ES_ERROR_H
#define ES_ERROR_H

enum es_kind {
    ES_OK = 0,
    ES_WORK = 1,  /* the work failed */
    ES_USAGE = 2, /* command line or configuration */
    ES_ENV = 3,   /* no Slurm, no PMIx, no agents */
    ES_TIME = 4,  /* not finished: time is up */
};

struct es_error {
    enum es_kind kind;
    char what[600]; /* "etc/x.conf:12: step: 500 is out of range" */
    char mend[300]; /* "give 1 to 100" */
};

/* Fill err (if not NULL), leave errno as it was, return -1. */
int es_fail(struct es_error *err,
            enum es_kind kind,
            const char *mend,
            const char *fmt,
            ...) __attribute__((format(printf, 4, 5)));
/* Likewise: "out of memory", of the kind ES_ENV. */
int es_no_memory(struct es_error *err);
/* Likewise: what was written cannot be kept, or by errno nobody reads it, of the
 * kind ES_WORK. */
int es_no_space(struct es_error *err);

/* How to mend that a file of the user's cannot be written, by errno. */
const char *es_mend_file(int error);

#endif
