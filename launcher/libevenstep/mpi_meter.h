/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_meter.h - meters the thread that initialised MPI: what the wrappers of
 * mpi_wrap.c tell goes to this rank's place in the meter page.
 *
 * Without a page, in children and in calls that an MPI library makes of itself
 * nothing is metered; of other threads what mpi_beside.h says.
 */
#ifndef LAUNCHER_LIBEVENSTEP_MPI_METER_H
#define LAUNCHER_LIBEVENSTEP_MPI_METER_H

#include "launcher/libevenstep/mpi_real.h"

/* Of a call: its number, of enum mpi_number, and what mpi_calls.h says of it. */
enum mpi_what {
    MPI_WHAT_NUMBER = 0xffff,
    MPI_WHAT_WAITS = 0,
    MPI_WHAT_ENDS = 1 << 16,
    MPI_WHAT_TESTS = 1 << 17,
    MPI_WHAT_OWN = 1 << 18,
    MPI_WHAT_FREES = 1 << 19,
    MPI_WHAT_LEAVES = 1 << 20,
    MPI_WHAT_FORTRAN = 1 << 21,  /* it is called as Fortran does */
    MPI_WHAT_MESSAGES = 1 << 22, /* it may end with the last byte of one */
    MPI_WHAT_P2P = MPI_WHAT_MESSAGES,
    MPI_WHAT_COLLECTIVE = MPI_WHAT_MESSAGES,
    MPI_WHAT_IO = 0,
    MPI_WHAT_RMA = 0,
    MPI_WHAT_MANAGE = 0,
};

/* This thread has initialised MPI, or tried to. */
void mpi_meter_start(const void *caller);

/*
 * Around a call of any thread.  at: the argument that mpi_calls.h names.  Where
 * enter returns 0 the call is not metered, and leave is not for it.  They are
 * called with the wrapper's frame on the stack: where calls are passed on by one
 * function of the program, the frame still tells one from another.
 */
int mpi_meter_enter(unsigned what, long at);
void mpi_meter_leave(unsigned what,
                     long at,
                     const void *caller,
                     const void *frame);

/* Any thread: the program tells its progress itself. */
void mpi_meter_yield(void);

#endif
