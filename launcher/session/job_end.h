/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job_end.h - when Slurm will end the job that we stand in, by its time limit.
 *
 * SLURM_JOB_END_TIME says it where Slurm sets that (23.02 and later); squeue is
 * asked anyway, at once and then now and then, as `scontrol update` may change
 * the limit of a job that runs.
 */
#ifndef LAUNCHER_SESSION_JOB_END_H
#define LAUNCHER_SESSION_JOB_END_H

#include <stdint.h>

#define JOB_END_NEVER INT64_MAX

struct job_end;
struct event_base;

/* Is there anything to be known: a job, or that variable? */
int job_end_is_there(void);

/*
 * on() is called from the event loop whenever it is known anew: end_ns as of
 * clock_ns(), JOB_END_NEVER for no limit; -1: Slurm has not told, and what was
 * known holds.  NULL: no memory.
 */
struct job_end *job_end_watch(struct event_base *base,
                              void (*on)(void *arg, int64_t end_ns),
                              void *arg);
/* Ask now; on() follows. */
void job_end_ask(struct job_end *j);
void job_end_stop(struct job_end *j); /* NULL is allowed */

/* What `squeue -o %L` prints, in seconds: "1-02:03:04", "2:03:04", "3:04",
 * "UNLIMITED" (INT64_MAX), "INVALID" (it is over: 0); -1 if it is none of them.
 * Of lines, which components of a job have, the first that ends. */
int64_t job_end_parse(const char *text);

/*
 * Why Slurm has ended a step of that job: "the job reached its time limit", "the
 * job was cancelled"; NULL if the job goes on, or it is not known.  scontrol is
 * asked, for a second at most.
 */
const char *job_end_why(uint32_t job);
/* The same of what `scontrol -o show job` prints. */
const char *job_end_why_parse(uint32_t job, const char *text);

#endif
