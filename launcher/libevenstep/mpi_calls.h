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
 * here, as a program that polls may do something useful in between; nor are
 * reads and writes of a rank for itself (MPI_File_write_at), which wait for
 * nobody: a rank that is slow at them is the one that others wait for.
 *
 * Those with counts have another form in MPI-4 for large ones, of the same
 * arguments: MPI_Send_c.
 *
 *   X(name, fortran, n, m)         those with texts: m arguments in Fortran,
 *                                  with the error and each text's length
 *   X(fortran, m)                  those of Fortran alone
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
    X(File_read_all, file_read_all, 5, SOME)                                   \
    X(File_read_all_begin, file_read_all_begin, 4, SOME)                       \
    X(File_read_at_all, file_read_at_all, 6, SOME)                             \
    X(File_read_at_all_begin, file_read_at_all_begin, 5, SOME)                 \
    X(File_read_ordered, file_read_ordered, 5, SOME)                           \
    X(File_read_ordered_begin, file_read_ordered_begin, 4, SOME)               \
    X(File_read_shared, file_read_shared, 5, SOME)                             \
    X(File_write_all, file_write_all, 5, SOME)                                 \
    X(File_write_all_begin, file_write_all_begin, 4, SOME)                     \
    X(File_write_at_all, file_write_at_all, 6, SOME)                           \
    X(File_write_at_all_begin, file_write_at_all_begin, 5, SOME)               \
    X(File_write_ordered, file_write_ordered, 5, SOME)                         \
    X(File_write_ordered_begin, file_write_ordered_begin, 4, SOME)             \
    X(File_write_shared, file_write_shared, 5, SOME)                           \
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
    X(Ssend, ssend, 6, SOME)                                                   \
    X(Win_allocate, win_allocate, 6, SOME)                                     \
    X(Win_allocate_shared, win_allocate_shared, 6, SOME)                       \
    X(Win_create, win_create, 6, SOME)

#define MPI_CALLS_WITHOUT_COUNTS(X)                                            \
    X(Barrier, barrier, 1, ALL)                                                \
    X(Buffer_detach, buffer_detach, 2, SOME)                                   \
    X(Cart_create, cart_create, 6, SOME)                                       \
    X(Cart_sub, cart_sub, 3, SOME)                                             \
    X(Comm_create, comm_create, 3, SOME)                                       \
    X(Comm_create_group, comm_create_group, 4, SOME)                           \
    X(Comm_dup, comm_dup, 2, SOME)                                             \
    X(Comm_dup_with_info, comm_dup_with_info, 3, SOME)                         \
    X(Comm_join, comm_join, 2, SOME)                                           \
    X(Comm_split, comm_split, 4, SOME)                                         \
    X(Comm_split_type, comm_split_type, 5, SOME)                               \
    X(Dist_graph_create, dist_graph_create, 9, SOME)                           \
    X(Dist_graph_create_adjacent, dist_graph_create_adjacent, 10, SOME)        \
    X(File_close, file_close, 1, SOME)                                         \
    X(File_preallocate, file_preallocate, 2, SOME)                             \
    X(File_read_all_end, file_read_all_end, 3, SOME)                           \
    X(File_read_at_all_end, file_read_at_all_end, 3, SOME)                     \
    X(File_read_ordered_end, file_read_ordered_end, 3, SOME)                   \
    X(File_seek_shared, file_seek_shared, 3, SOME)                             \
    X(File_set_atomicity, file_set_atomicity, 2, SOME)                         \
    X(File_set_info, file_set_info, 2, SOME)                                   \
    X(File_set_size, file_set_size, 2, SOME)                                   \
    X(File_sync, file_sync, 1, SOME)                                           \
    X(File_write_all_end, file_write_all_end, 3, SOME)                         \
    X(File_write_at_all_end, file_write_at_all_end, 3, SOME)                   \
    X(File_write_ordered_end, file_write_ordered_end, 3, SOME)                 \
    X(Graph_create, graph_create, 6, SOME)                                     \
    X(Intercomm_create, intercomm_create, 6, SOME)                             \
    X(Intercomm_merge, intercomm_merge, 3, SOME)                               \
    X(Mprobe, mprobe, 5, SOME)                                                 \
    X(Probe, probe, 4, SOME)                                                   \
    X(Wait, wait, 2, SOME)                                                     \
    X(Waitall, waitall, 3, SOME)                                               \
    X(Waitany, waitany, 4, SOME)                                               \
    X(Waitsome, waitsome, 5, SOME)                                             \
    X(Win_complete, win_complete, 1, SOME)                                     \
    X(Win_create_dynamic, win_create_dynamic, 3, SOME)                         \
    X(Win_fence, win_fence, 2, SOME)                                           \
    X(Win_flush, win_flush, 2, SOME)                                           \
    X(Win_flush_all, win_flush_all, 1, SOME)                                   \
    X(Win_flush_local, win_flush_local, 2, SOME)                               \
    X(Win_flush_local_all, win_flush_local_all, 1, SOME)                       \
    X(Win_free, win_free, 1, SOME)                                             \
    X(Win_lock, win_lock, 4, SOME)                                             \
    X(Win_lock_all, win_lock_all, 2, SOME)                                     \
    X(Win_post, win_post, 3, SOME)                                             \
    X(Win_start, win_start, 3, SOME)                                           \
    X(Win_unlock, win_unlock, 2, SOME)                                         \
    X(Win_unlock_all, win_unlock_all, 1, SOME)                                 \
    X(Win_wait, win_wait, 1, SOME)

#define MPI_CALLS_WITH_TEXTS(X)                                                \
    X(Comm_accept, comm_accept, 5, 7)                                          \
    X(Comm_connect, comm_connect, 5, 7)                                        \
    X(Comm_spawn, comm_spawn, 8, 11)                                           \
    X(Comm_spawn_multiple, comm_spawn_multiple, 9, 12)                         \
    X(File_open, file_open, 5, 7)                                              \
    X(File_set_view, file_set_view, 6, 8)

#define MPI_CALLS_OF_FORTRAN(X)                                                \
    X(win_allocate_cptr, 7)                                                    \
    X(win_allocate_shared_cptr, 7)

#endif
