/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_death.h - which rank of a step died first, and of what?
 *
 * The others follow within milliseconds: Slurm ends the step with SIGKILL, ranks
 * of Open MPI 5 exit by themselves.  A rank's end is known to the microsecond on
 * its node, to some milliseconds between nodes; ends that are closer than that
 * have no order, and one that a signal ended is taken for the first of them.
 */
#ifndef LAUNCHER_SESSION_STEP_DEATH_H
#define LAUNCHER_SESSION_STEP_DEATH_H

#include "launcher/session/step_times.h"

#define STEP_AT_ONCE_NS                                                        \
    INT64_C(1000000000) /* in which a step's ranks are ended */
#define STEP_DEATH_TEXT 256

struct step_death {
    const struct step_rank *first; /* NULL: none has died */
    size_t node;                   /* its */
    int is_sure;                   /* that it was the first */
    uint32_t ranks, dead, killed;  /* of the step; that died; by a signal */
    int signal;        /* that ended all that died; 0: no one signal */
    int64_t within_ns; /* from the first to the last */
};

void step_death_find(struct step_death *d, const struct step_times *t);
/* Have all died, as where a step is ended? */
int step_death_is_of_all(const struct step_death *d);
/* "rank 2 on n2 was killed by signal 9 after 1.0 s"; of all: why that was, as
 * far as it is known. */
void step_death_tell(char text[STEP_DEATH_TEXT],
                     const struct step_death *d,
                     const struct step_times *t);

#endif
