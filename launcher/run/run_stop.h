/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_stop.h - a run that ends before its work does, in order: nothing more is
 * begun, what runs may end, and it is said what is left and how to go on.
 *
 * That is so when the job's time is up but for --until-end seconds, of which
 * what runs has the first half; and after a SIGTERM, for a while.  Where Slurm
 * ends the agents it is so, too, but nothing is waited for: they have left.
 */
#ifndef LAUNCHER_RUN_RUN_STOP_H
#define LAUNCHER_RUN_RUN_STOP_H

#include <stdint.h>

struct job_end;

struct run_stop {
    struct job_end *job_end; /* NULL: without --until-end */
    int64_t end_ns;          /* begin nothing that would not end before */
    int64_t give_up_ns;      /* what runs then is given up */
    int is_known;            /* Slurm has said when, or that it does not know */
    int waits;               /* the first frame, for that */
    int by_signal;
    int is_halted; /* by --halt soon */
    int is_told; /* the nodes are, of tasks: to begin no more of those they have */
    int is_nodes_told; /* one, at least, has had a SIGTERM */
    enum { STOP_UNASKED, STOP_ASKED, STOP_SURE } sure; /* the end still holds */
    int is_unfinished; /* nothing more is begun, and something is left */
};

#endif
