/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_comment.h - the job's comment gets a line on how its run went.
 */
#ifndef LAUNCHER_RUN_RUN_COMMENT_H
#define LAUNCHER_RUN_RUN_COMMENT_H

#include "launcher/run/report.h"

struct session;

#define RUN_COMMENT 320

/* "evenstep: 5 frames in 4.55 s, 2.60 times as fast as equal parts, efficiency
 * 0.75, slowest node n3"; slowest NULL: not known. */
void run_comment_text(char line[RUN_COMMENT],
                      const struct summary *s,
                      const char *slowest);
/* Say it to the plugin, and where set is 1 make it a part of the job's comment;
 * what fails is a warning.  Nothing outside of a job. */
void run_comment_tell(struct session *session,
                      int set,
                      const struct summary *s,
                      const struct distribution *d);

#endif
