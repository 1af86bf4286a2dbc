/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * failures.h - what of a run was left out, as its command failed: --keep-going.
 * The terminal is told of the first ones, and of the rest how many there are;
 * the report and the job log have all.
 */
#ifndef LAUNCHER_RUN_FAILURES_H
#define LAUNCHER_RUN_FAILURES_H

#include "launcher/run/frame.h"
#include "launcher/run/unit_words.h"
#include "pmix_bcast/error.h"

#define FAILURES_TOLD 10 /* a screen has room for them */

struct failure {
    uint64_t frame;
    struct slice units;
    char node[64]; /* cut */
    char how[80];  /* likewise */
};

struct failures {            /* all zero: none */
    struct unit_words words; /* for messages */
    /* Units are tasks: each has failed, and is not left out; which one it is, as
     * "cmds:4: false".  NULL: they are none. */
    void (*task)(void *arg, uint64_t unit, char *text, size_t size);
    void *arg;
    uint64_t n; /* pieces that were left out */
    uint64_t units;
    uint64_t told; /* failures, also of what was tried again */
    struct failure first[FAILURES_TOLD];
};

void failures_add(struct failures *f,
                  uint64_t frame,
                  struct slice units,
                  const char *node,
                  const char *how);
/* May one more failure be told as it happens? */
int failures_tell(struct failures *f);
/* What was left out, on stderr. */
void failures_list(struct failures *f);
/* Likewise; then *err says so, with how it is mended.  Returns -1. */
int failures_end(struct failures *f, const char *mend, struct es_error *err);

#endif
