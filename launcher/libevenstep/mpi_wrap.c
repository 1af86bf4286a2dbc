/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libevenstep-mpi.so: put before an MPI program by LD_PRELOAD, it stands in
 * front of the MPI library and times the calls of mpi_calls.h.
 *
 * It is compiled without any mpi.h, and so fits every library (pass_on.h).
 *
 * Fortran comes in by names of its own.  In Open MPI these call PMPI_*, in MPICH
 * some of them MPI_*: a call within a metered one is passed on as it is.
 */
#include "launcher/base/mpi_names.h"
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/mpi_meter.h"
#include "launcher/libevenstep/pass_on.h"

#define FRAME __builtin_frame_address(0)

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
#define M11 12
#define M12 13
#define M13 14

/* what: of enum mpi_what; at: the argument that says more, see mpi_calls.h. */
#define WRAP(name, n, what, at)                                                \
    REAL(name, n)                                                              \
    EXPORT long name(P##n);                                                    \
    EXPORT long name(P##n)                                                     \
    {                                                                          \
        name##_fn *real = find_##name(CALLER);                                 \
        long rc;                                                               \
                                                                               \
        if (!mpi_meter_enter(what, at))                                        \
            return real(A##n);                                                 \
        rc = real(A##n);                                                       \
        mpi_meter_leave(what, at, CALLER, FRAME);                              \
        return rc;                                                             \
    }

/* By gfortran, by -fsecond-underscore, and by mpi_f08: what has buffers is
 * _f08ts in MPICH and in Open MPI from 6 on; with large counts MPICH says so. */
#define WRAP_FORTRAN_OF(name, n, what, at)                                     \
    WRAP(mpi_##name##_, n, what, at)                                           \
    WRAP(mpi_##name##__, n, what, at)                                          \
    WRAP(mpi_##name##_f08_, n, what, at)                                       \
    WRAP(mpi_##name##_f08ts_, n, what, at)
#define WRAP_FORTRAN(name, n, what, at) WRAP_FORTRAN_OF(name, n, what, at)
#define WRAP_LARGE_OF(name, n, what, at)                                       \
    WRAP(mpi_##name##_f08_large_, n, what, at)                                 \
    WRAP(mpi_##name##_f08ts_large_, n, what, at)
#define WRAP_LARGE(name, n, what, at) WRAP_LARGE_OF(name, n, what, at)

#define OF_C(name, class, kind)                                                \
    (MPI_NUMBER_##name | MPI_WHAT_##class | MPI_WHAT_##kind)
#define OF_F(name, class, kind) (OF_C(name, class, kind) | MPI_WHAT_FORTRAN)
#define WITHOUT_COUNTS(name, fortran, n, class, kind, at)                      \
    WRAP(MPI_##name, n, OF_C(name, class, kind), at)                           \
    WRAP_FORTRAN(fortran, M##n, OF_F(name, class, kind), at)
#define WITH_COUNTS(name, fortran, n, class, kind, at)                         \
    WITHOUT_COUNTS(name, fortran, n, class, kind, at)                          \
    WRAP(MPI_##name##_c, n, OF_C(name, class, kind), at)                       \
    WRAP_LARGE(fortran, M##n, OF_F(name, class, kind), at)
#define WITH_TEXTS(name, fortran, n, m, class)                                 \
    WRAP(MPI_##name, n, OF_C(name, class, WAITS), 0)                           \
    WRAP_FORTRAN(fortran, m, OF_F(name, class, WAITS), 0)
#define OF_FORTRAN(fortran, m, name)                                           \
    WRAP_FORTRAN(fortran, m, OF_F(name, RMA, WAITS), 0)

MPI_CALLS_WITH_COUNTS(WITH_COUNTS)
MPI_CALLS_WITH_COUNTS_4(WITH_COUNTS)
MPI_CALLS_WITHOUT_COUNTS(WITHOUT_COUNTS)
MPI_CALLS_WITHOUT_COUNTS_4(WITHOUT_COUNTS)
MPI_CALLS_WITH_TEXTS(WITH_TEXTS)
MPI_CALLS_WITH_TEXTS_4(WITH_TEXTS)
MPI_CALLS_OF_FORTRAN(OF_FORTRAN)

/* The time of a rank begins when MPI has. */
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
