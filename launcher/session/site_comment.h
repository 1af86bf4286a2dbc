/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * site_comment.h - the line on how a step or a run went, for the plugin, which
 * makes it the job's AdminComment where the site wants that.
 */
#ifndef LAUNCHER_SESSION_SITE_COMMENT_H
#define LAUNCHER_SESSION_SITE_COMMENT_H

struct session;

#define SITE_COMMENT_BEGIN "evenstep: " /* of every line */

/* Say it to the first agent, if it is there.  Nothing outside of a job. */
void site_comment_tell(struct session *s, const char *line);

#endif
