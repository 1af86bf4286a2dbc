/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_calls.h - the calls of MPI in which a rank waits for others.
 *
 *   X(name, fortran, n, NAMED)     n: number of arguments in C; Fortran has one
 *                                  more, the error
 *
 * NAMED is ALL for collectives over a communicator, which is their last argument
 * and, if it holds all ranks, makes the call the end of a region; SOME for what
 * else waits.  Calls that return at once (MPI_Isend, MPI_Test, ...) are not
 * here, as a program that polls may do something useful in between.
 *
 * Those with counts have another form in MPI-4 for large ones, of the same
 * arguments: MPI_Send_c.
 */
#ifndef LAUNCHER_LIBEVENSTEP_MPI_CALLS_H
#define LAUNCHER_LIBEVENSTEP_MPI_CALLS_H

#define MPI_CALLS_WITH_COUNTS(X)                                               \
    X(Allgather, allgather, 7, ALL)                                            \
    X(Allgatherv, allgatherv, 8, ALL)                                          \
    X(Allreduce, allreduce, 6, ALL)                                            \
    X(Alltoall, alltoall, 7, ALL)                                              \
    X(Alltoallv, alltoallv, 9, ALL)                                            \
    X(Alltoallw, alltoallw, 9, ALL)                                            \
    X(Bcast, bcast, 5, ALL)                                                    \
    X(Exscan, exscan, 6, ALL)                                                  \
    X(Gather, gather, 8, ALL)                                                  \
    X(Gatherv, gatherv, 9, ALL)                                                \
    X(Reduce, reduce, 7, ALL)                                                  \
    X(Reduce_scatter, reduce_scatter, 6, ALL)                                  \
    X(Reduce_scatter_block, reduce_scatter_block, 6, ALL)                      \
    X(Scan, scan, 6, ALL)                                                      \
    X(Scatter, scatter, 8, ALL)                                                \
    X(Scatterv, scatterv, 9, ALL)                                              \
    X(Neighbor_allgather, neighbor_allgather, 7, SOME)                         \
    X(Neighbor_allgatherv, neighbor_allgatherv, 8, SOME)                       \
    X(Neighbor_alltoall, neighbor_alltoall, 7, SOME)                           \
    X(Neighbor_alltoallv, neighbor_alltoallv, 9, SOME)                         \
    X(Neighbor_alltoallw, neighbor_alltoallw, 9, SOME)                         \
    X(Mrecv, mrecv, 5, SOME)                                                   \
    X(Recv, recv, 7, SOME)                                                     \
    X(Rsend, rsend, 6, SOME)                                                   \
    X(Send, send, 6, SOME)                                                     \
    X(Sendrecv, sendrecv, 12, SOME)                                            \
    X(Sendrecv_replace, sendrecv_replace, 9, SOME)                             \
    X(Ssend, ssend, 6, SOME)

#define MPI_CALLS_WITHOUT_COUNTS(X)                                            \
    X(Barrier, barrier, 1, ALL)                                                \
    X(Cart_create, cart_create, 6, SOME)                                       \
    X(Comm_create, comm_create, 3, SOME)                                       \
    X(Comm_dup, comm_dup, 2, SOME)                                             \
    X(Comm_split, comm_split, 4, SOME)                                         \
    X(Comm_split_type, comm_split_type, 5, SOME)                               \
    X(Mprobe, mprobe, 5, SOME)                                                 \
    X(Probe, probe, 4, SOME)                                                   \
    X(Wait, wait, 2, SOME)                                                     \
    X(Waitall, waitall, 3, SOME)                                               \
    X(Waitany, waitany, 4, SOME)                                               \
    X(Waitsome, waitsome, 5, SOME)                                             \
    X(Win_complete, win_complete, 1, SOME)                                     \
    X(Win_fence, win_fence, 2, SOME)                                           \
    X(Win_flush, win_flush, 2, SOME)                                           \
    X(Win_flush_all, win_flush_all, 1, SOME)                                   \
    X(Win_lock, win_lock, 4, SOME)                                             \
    X(Win_lock_all, win_lock_all, 2, SOME)                                     \
    X(Win_post, win_post, 3, SOME)                                             \
    X(Win_start, win_start, 3, SOME)                                           \
    X(Win_unlock, win_unlock, 2, SOME)                                         \
    X(Win_unlock_all, win_unlock_all, 1, SOME)                                 \
    X(Win_wait, win_wait, 1, SOME)

#endif
