/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_real.h - the MPI library behind libevenstep-mpi.so, whichever it is.
 *
 * Nothing here knows an mpi.h.  Handles are passed on as long: a pointer with
 * Open MPI, an int with MPICH and its kin, a pointer to an int from Fortran.
 *
 * The library is preloaded into programs of whatever C library, and a symbol that
 * one lacks would kill them.  So it names no library and no version, and what musl
 * or glibc 2.17 has not, or glibc before 2.34 in libraries of their own, is weak:
 * whoever calls that includes this, and asks first whether it is there.
 */
#ifndef LAUNCHER_LIBEVENSTEP_MPI_REAL_H
#define LAUNCHER_LIBEVENSTEP_MPI_REAL_H

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#pragma weak dladdr
#pragma weak dlclose
#pragma weak dlopen
#pragma weak dlsym
#pragma weak pthread_create
#pragma weak pthread_detach
#pragma weak pthread_key_create
#pragma weak pthread_once
#pragma weak pthread_setspecific
#pragma weak pthread_sigmask

/*
 * The function of that name behind this library, for a caller at that address:
 * the next one in the order of search, which may be another tool's, or else the
 * one that the caller's own library was loaded with (Python loads MPI out of
 * everybody else's sight), or that a caller before it was.  NULL if there is none.
 */
void *mpi_real_find(const char *name, const void *caller);

/* The next one in the order of search, or NULL. */
void *mpi_real_next(const char *name);

/* Of mpi_real_find(), but without it the process ends, as it would have done when the
 * linker had not found the function. */
void *mpi_real_need(const char *name, const void *caller);

/* Have a function called in each child of fork().  0, or another number. */
int mpi_real_at_fork(void (*in_child)(void));

/*
 * Learn this process's place in MPI_COMM_WORLD.  Returns 1; 0 if MPI is not
 * initialised, is of a kind that is not known here, or has spawned this program
 * beside another one, whose ranks have the same numbers.
 */
int mpi_real_world(const void *caller, int *rank, int *size);

/* What tells a communicator, as C or Fortran has it, from others. */
long mpi_real_key(int is_fortran, long comm);
/* Its number of ranks; 0 if that cannot be had. */
int mpi_real_size(int is_fortran, long comm);

#endif
