/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libevenstep-mpi.so: put before an MPI program by LD_PRELOAD, it stands in
 * front of the MPI library and times the calls that wait.
 *
 * It is compiled without any mpi.h, and so fits every library (pass_on.h).
 *
 * Fortran comes in by names of its own.  In Open MPI these call PMPI_*, in MPICH
 * some of them MPI_*: a call within a metered one is passed on as it is.
 */
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/mpi_calls.h"
#include "launcher/libevenstep/mpi_meter.h"
#include "launcher/libevenstep/pass_on.h"
#include "launcher/libevenstep/team_thread.h"

#define FRAME __builtin_frame_address(0)

/* The last of n arguments. */
#define L0  0
#define L1  a
#define L2  b
#define L3  c
#define L4  d
#define L5  e
#define L6  f
#define L7  g
#define L8  h
#define L9  i
#define L10 j
#define L12 l

/* The numbers of parameters with one more. */
#define M0  1
#define M1  2
#define M2  3
#define M3  4
#define M4  5
#define M5  6
#define M6  7
#define M7  8
#define M8  9
#define M9  10
#define M10 11
#define M12 13

#define ALL_C        MPI_CALL_C
#define ALL_FORTRAN  MPI_CALL_FORTRAN
#define SOME_C       MPI_CALL_WAITS
#define SOME_FORTRAN MPI_CALL_WAITS

#define WRAP(name, n, call, comm)                                              \
    REAL(name, n)                                                              \
    EXPORT long name(P##n);                                                    \
    EXPORT long name(P##n)                                                     \
    {                                                                          \
        name##_fn *real = find_##name(CALLER);                                 \
        long rc;                                                               \
                                                                               \
        if (call == MPI_CALL_FREES)                                            \
            mpi_meter_forget();                                                \
        if (!mpi_meter_is_on) {                                                \
            team_thread_call();                                                \
            return real(A##n);                                                 \
        }                                                                      \
        mpi_meter_wait(call, comm);                                            \
        rc = real(A##n);                                                       \
        mpi_meter_resume(call, comm, CALLER, FRAME);                           \
        return rc;                                                             \
    }

/* By gfortran, by -fsecond-underscore, and by mpi_f08: what has buffers is
 * _f08ts in MPICH and in Open MPI from 6 on; with large counts MPICH says so. */
#define WRAP_FORTRAN_OF(name, n, call, comm)                                   \
    WRAP(mpi_##name##_, n, call, comm)                                         \
    WRAP(mpi_##name##__, n, call, comm)                                        \
    WRAP(mpi_##name##_f08_, n, call, comm)                                     \
    WRAP(mpi_##name##_f08ts_, n, call, comm)
#define WRAP_FORTRAN(name, n, call, comm) WRAP_FORTRAN_OF(name, n, call, comm)
#define WRAP_LARGE_OF(name, n, call, comm)                                     \
    WRAP(mpi_##name##_f08_large_, n, call, comm)                               \
    WRAP(mpi_##name##_f08ts_large_, n, call, comm)
#define WRAP_LARGE(name, n, call, comm) WRAP_LARGE_OF(name, n, call, comm)

#define WITHOUT_COUNTS(name, fortran, n, named)                                \
    WRAP(MPI_##name, n, named##_C, L##n)                                       \
    WRAP_FORTRAN(fortran, M##n, named##_FORTRAN, L##n)
#define WITH_COUNTS(name, fortran, n, named)                                   \
    WITHOUT_COUNTS(name, fortran, n, named)                                    \
    WRAP(MPI_##name##_c, n, named##_C, L##n)                                   \
    WRAP_LARGE(fortran, M##n, named##_FORTRAN, L##n)
#define OF_FORTRAN(fortran, m) WRAP_FORTRAN(fortran, m, MPI_CALL_WAITS, 0)
#define WITH_TEXTS(name, fortran, n, m)                                        \
    WRAP(MPI_##name, n, MPI_CALL_WAITS, 0)                                     \
    OF_FORTRAN(fortran, m)

MPI_CALLS_WITHOUT_COUNTS(WITHOUT_COUNTS)
MPI_CALLS_WITH_COUNTS(WITH_COUNTS)
MPI_CALLS_WITH_TEXTS(WITH_TEXTS)
MPI_CALLS_OF_FORTRAN(OF_FORTRAN)

WRAP(MPI_Comm_free, 1, MPI_CALL_FREES, 0)
WRAP_FORTRAN(comm_free, 2, MPI_CALL_FREES, 0)
WRAP(MPI_Comm_disconnect, 1, MPI_CALL_FREES, 0)
WRAP_FORTRAN(comm_disconnect, 2, MPI_CALL_FREES, 0)

/* The time of a rank begins when MPI has, and ends when MPI has. */
#define WRAP_INIT(name, n)                                                     \
    REAL(name, n)                                                              \
    EXPORT long name(P##n);                                                    \
    EXPORT long name(P##n)                                                     \
    {                                                                          \
        const void *caller = CALLER;                                           \
        long rc = find_##name(caller)(A##n);                                   \
                                                                               \
        mpi_meter_start(caller);                                               \
        return rc;                                                             \
    }

WRAP_INIT(MPI_Init, 2)
WRAP_INIT(mpi_init_, 1)
WRAP_INIT(mpi_init__, 1)
WRAP_INIT(mpi_init_f08_, 1)
WRAP_INIT(MPI_Init_thread, 4)
WRAP_INIT(mpi_init_thread_, 3)
WRAP_INIT(mpi_init_thread__, 3)
WRAP_INIT(mpi_init_thread_f08_, 3)

#define WRAP_FINALIZE(name, n)                                                 \
    REAL(name, n)                                                              \
    EXPORT long name(P##n);                                                    \
    EXPORT long name(P##n)                                                     \
    {                                                                          \
        name##_fn *real = find_##name(CALLER);                                 \
        long rc;                                                               \
                                                                               \
        if (!mpi_meter_is_on)                                                  \
            return real(A##n);                                                 \
        mpi_meter_wait(MPI_CALL_WAITS, 0);                                     \
        rc = real(A##n);                                                       \
        mpi_meter_resume(MPI_CALL_WAITS, 0, CALLER, FRAME);                    \
        mpi_meter_stop();                                                      \
        return rc;                                                             \
    }

WRAP_FINALIZE(MPI_Finalize, 0)
WRAP_FINALIZE(mpi_finalize_, 1)
WRAP_FINALIZE(mpi_finalize__, 1)
WRAP_FINALIZE(mpi_finalize_f08_, 1)

/* A program that tells its progress itself knows better. */
EXPORT void evenstep_work(uint64_t total)
{
    typedef void work_fn(uint64_t total);
    static void *_Atomic found;
    work_fn *real =
        (work_fn *)atomic_load_explicit(&found, memory_order_relaxed);

    if (!real) {
        real = (work_fn *)mpi_real_find("evenstep_work", CALLER);
        if (!real)
            return;
        atomic_store_explicit(&found, (void *)real, memory_order_relaxed);
        mpi_meter_yield();
    }
    real(total);
}
