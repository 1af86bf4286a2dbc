/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_beside.h - calls of MPI by other threads than the metered one.
 *
 * While that computes they are nothing to it.  But where it waits outside MPI, as
 * for a thread to end, and all others that call MPI are in MPI, the rank waits.
 * That it waits its CPU time says, which is looked at when another thread's
 * call ends, at most once in 20 us.  And where it is in MPI while another one
 * computes that calls MPI, too, the rank computes.
 */
#ifndef LAUNCHER_LIBEVENSTEP_MPI_BESIDE_H
#define LAUNCHER_LIBEVENSTEP_MPI_BESIDE_H

#include "launcher/libevenstep/meter_page.h"

/* This thread is the metered one, and this its rank's entry. */
void mpi_beside_start(const struct meter_rank *entry);
/* Nothing is measured any more; async-signal-safe. */
void mpi_beside_stop(void);

/* Around a call of another thread: enter returns 0 if nothing is measured, or if
 * it is within another one.  found: 0 for a test that has found nothing. */
int mpi_beside_enter(int is_test);
void mpi_beside_leave(int found);

/* For how long the rank has waited while the metered thread was not in MPI, since
 * this was asked. */
uint64_t mpi_beside_idle(void);

/* For how long another thread has computed in the metered one's call that began
 * then. */
uint64_t mpi_beside_busy(uint64_t since_ns);

#endif
