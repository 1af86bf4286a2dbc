/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_meter.h - meters the thread that initialised MPI: what the wrappers of
 * mpi_wrap.c tell goes to this rank's place in the meter page.
 *
 * Without a page, in other threads, in children and in calls that an MPI library
 * makes of itself nothing is metered.
 */
#ifndef LAUNCHER_LIBEVENSTEP_MPI_METER_H
#define LAUNCHER_LIBEVENSTEP_MPI_METER_H

#include "launcher/libevenstep/mpi_real.h"

/* 1 in the metered thread, while it is in no metered call.  A load: the general
 * model of such variables costs a call. */
extern _Thread_local
    __attribute__((tls_model("initial-exec"))) int mpi_meter_is_on;

/* This thread has initialised MPI, or tried to. */
void mpi_meter_start(const void *caller);
/* It has left MPI: its place is given up, with its numbers as they are. */
void mpi_meter_stop(void);

/* Around a call, where mpi_meter_is_on; comm as for mpi_real_key().  It is
 * called from there, with this frame on the stack: where calls are passed on by
 * one function of the program, the frame still tells one from another. */
void mpi_meter_wait(enum mpi_call call, long comm);
void mpi_meter_resume(enum mpi_call call,
                      long comm,
                      const void *caller,
                      const void *frame);

/* Any thread: a communicator is freed. */
void mpi_meter_forget(void);
/* Any thread: the program tells its progress itself. */
void mpi_meter_yield(void);

#endif
