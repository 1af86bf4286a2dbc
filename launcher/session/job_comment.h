/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job_comment.h - a line of ours in the comment of our job, which `sacct -o
 * comment` shows where the site keeps it.
 *
 * What the user has written there stays; our line is behind it, and takes the
 * place of an earlier one of the same job.
 */
#ifndef LAUNCHER_SESSION_JOB_COMMENT_H
#define LAUNCHER_SESSION_JOB_COMMENT_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

#define JOB_COMMENT_MAX   1024 /* bytes of a comment, with its NUL */
#define JOB_COMMENT_BEGIN "evenstep: "

/* The comment in what `scontrol show job` prints: 0, also if it has none (""),
 * or -1 if it is longer than ours may be. */
int job_comment_find(char comment[JOB_COMMENT_MAX], const char *shown);
/* The comment as it was with our line, which begins with JOB_COMMENT_BEGIN: 0,
 * or -1 if there is no room. */
int job_comment_join(char comment[JOB_COMMENT_MAX], const char *line);

/* Ask scontrol for the comment, and set it.  Takes 10 s at most; with a loop of
 * its own.  Fails with ES_ENV. */
int job_comment_set(uint32_t job, const char *line, struct es_error *err);

#endif
