/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * srun_words.h - what `srun --label` says on stderr while its step starts: which
 * tasks have ended, and their last words.  An agent that cannot be executed is
 * known by it at once, long before its time to call is over.
 *
 *     srun: Job 21 step creation temporarily disabled, retrying (Prolog running)
 *     srun: Step created for StepId=21.3
 *     2: slurmstepd-n2: error: execve(): /opt/agent: Permission denied
 *     srun: error: n2: task 2: Exited with exit code 13
 *     srun: error: Task launch for StepId=21.3 failed on node n2: Communication
 *     connection failure
 *     srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
 *
 * A task's last words and its end come in either order, so a caller waits a moment
 * after the end before it looks.  All that is read here is another program's text: a line that
 * does not fit is left out.
 */
#ifndef LAUNCHER_SESSION_SRUN_WORDS_H
#define LAUNCHER_SESSION_SRUN_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define SRUN_WORDS_TASKS 64 /* whose last words are kept, and that have ended */
#define SRUN_WORDS_NO_TASK                                                     \
    (UINT32_MAX - 1)        /* of a node where none was started */
#define SRUN_WORDS_LINE 512 /* bytes of a line that are read */

struct srun_words { /* all zero: nothing was said */
    struct srun_task {
        uint32_t task;
        char last[256]; /* words of its own; "": none */
    } said[SRUN_WORDS_TASKS];
    struct srun_end { /* in the order in which srun named them */
        uint32_t first, last;
        char node[256]; /* or Slurm's list of nodes: "n[2-3]" */
        char how[64];   /* "Exited with exit code 13" */
    } end[SRUN_WORDS_TASKS];
    size_t n_said, n_ends;
    char queued[128]; /* why Slurm does not create the step yet; "": it does */
    int aborted;      /* srun ends the step on all nodes */
    size_t seen;      /* ends that the caller has dealt with; it counts them */
    char line[SRUN_WORDS_LINE];
    size_t len; /* of the line that is not whole yet */
};

/* The next bytes of srun's stderr. */
void srun_words_take(struct srun_words *w, const void *buf, size_t len);
/* Why that end came: the task's own last words, else srun's.  Lives as long as *w
 * is not changed. */
const char *srun_words_why(const struct srun_words *w,
                           const struct srun_end *end);
/* Was the program of that end not even executed?  Then a second try is no use. */
int srun_words_not_executed(const struct srun_words *w,
                            const struct srun_end *end);
/* "2: word" of a labelled line without its label; another line as it is. */
const char *srun_words_unlabelled(const char *line);

#endif
