/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_comment.h - a line on how a step or a run went becomes the job's
 * AdminComment, where the site wants it (admin_comment=on in plugstack.conf).
 *
 * Users may not set it, and the line is known to a program of the user's only:
 * the front end says it to the first agent, the agent over a socket to a child
 * of slurmstepd, which is root, and that to slurmctld.  What the user's programs
 * say is checked, one line a step is taken, and the agent waits for 2 s at most:
 * whatever fails costs the comment, and never the job.
 */
#ifndef SPANK_PLUGIN_PLUGIN_COMMENT_H
#define SPANK_PLUGIN_PLUGIN_COMMENT_H

#include <slurm/spank.h>
#include <stddef.h>

#define COMMENT_LINE_MAX 384  /* bytes of our line, with its NUL */
#define COMMENT_MAX      1024 /* bytes of a job's, likewise */

/* The descriptor, for the agent: SITE_COMMENT_FD of launcher/agent/. */
#define COMMENT_FD "EVENSTEP_COMMENT_FD"

/*
 * Make line[0..len) a line that may be shown: bytes that are neither letters,
 * digits, blanks nor of ".,:=-_%()[]+/" become '?'.  0, or -1 if it does not
 * begin with "evenstep: " or does not fit.
 */
int plugin_comment_check(char text[COMMENT_LINE_MAX],
                         const char *line,
                         size_t len);
/* The comment was, or NULL, without an earlier line of ours, and our line behind
 * what others have written.  0, or -1 if there is no room. */
int plugin_comment_join(char comment[COMMENT_MAX],
                        const char *was,
                        const char *line);

/* In slurmstepd, before the tasks of the agents' step are started. */
void plugin_comment_prepare(spank_t sp);
/* In its tasks: the agent gets its end. */
void plugin_comment_task(spank_t sp);
/* In slurmstepd, when they have ended. */
void plugin_comment_end(spank_t sp);

#endif
