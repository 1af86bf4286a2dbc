/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_calls.h - the calls of MPI (up to 4.0) in which a rank's time passes: all
 * that can wait for others, move data or make progress.
 *
 *   X(name, fortran, n, class, kind, at)
 *
 * n is the number of arguments in C; Fortran has one more, the error.
 * class is what the call is for: P2P, COLLECTIVE, IO, RMA, MANAGE (of
 * communicators and processes).  kind is
 *
 *   ENDS    a blocking collective over a communicator, its argument at: if that
 *           holds all ranks, the call ends a region
 *   TESTS   may find nothing: then the integer at which its argument at points
 *           is 0
 *   OWN     reads or writes a file for this rank alone
 *   FREES   a communicator: its handle may be used again
 *   LEAVES  MPI
 *   WAITS   all others
 *
 * Calls that are local by the standard and do no communication (types, groups,
 * infos, attributes, error handlers, names, packing) are not here: their time is
 * the program's own.  A test compares this with the symbols of MPI libraries.
 *
 * Those with counts have another form in MPI-4 for large ones, of the same
 * arguments: MPI_Send_c.  Lists that end in _4 are of what MPI-4 has brought.
 *
 *   X(name, fortran, n, m, class)  those with texts: m arguments in Fortran, with
 *                                  the error and each text's length
 *   X(fortran, m, name)            those of Fortran alone, m arguments; told as
 *                                  the call of that name
 */
#ifndef LAUNCHER_BASE_MPI_CALLS_H
#define LAUNCHER_BASE_MPI_CALLS_H

#define MPI_CALLS_WITH_COUNTS(X)                                               \
    X(Accumulate, accumulate, 9, RMA, WAITS, 0)                                \
    X(Allgather, allgather, 7, COLLECTIVE, ENDS, g)                            \
    X(Allgatherv, allgatherv, 8, COLLECTIVE, ENDS, h)                          \
    X(Allreduce, allreduce, 6, COLLECTIVE, ENDS, f)                            \
    X(Alltoall, alltoall, 7, COLLECTIVE, ENDS, g)                              \
    X(Alltoallv, alltoallv, 9, COLLECTIVE, ENDS, i)                            \
    X(Alltoallw, alltoallw, 9, COLLECTIVE, ENDS, i)                            \
    X(Bcast, bcast, 5, COLLECTIVE, ENDS, e)                                    \
    X(Bsend, bsend, 6, P2P, WAITS, 0)                                          \
    X(Bsend_init, bsend_init, 7, P2P, WAITS, 0)                                \
    X(Buffer_detach, buffer_detach, 2, P2P, WAITS, 0)                          \
    X(Exscan, exscan, 6, COLLECTIVE, ENDS, f)                                  \
    X(File_iread, file_iread, 5, IO, OWN, 0)                                   \
    X(File_iread_all, file_iread_all, 5, IO, WAITS, 0)                         \
    X(File_iread_at, file_iread_at, 6, IO, OWN, 0)                             \
    X(File_iread_at_all, file_iread_at_all, 6, IO, WAITS, 0)                   \
    X(File_iread_shared, file_iread_shared, 5, IO, OWN, 0)                     \
    X(File_iwrite, file_iwrite, 5, IO, OWN, 0)                                 \
    X(File_iwrite_all, file_iwrite_all, 5, IO, WAITS, 0)                       \
    X(File_iwrite_at, file_iwrite_at, 6, IO, OWN, 0)                           \
    X(File_iwrite_at_all, file_iwrite_at_all, 6, IO, WAITS, 0)                 \
    X(File_iwrite_shared, file_iwrite_shared, 5, IO, OWN, 0)                   \
    X(File_read, file_read, 5, IO, OWN, 0)                                     \
    X(File_read_all, file_read_all, 5, IO, WAITS, 0)                           \
    X(File_read_all_begin, file_read_all_begin, 4, IO, WAITS, 0)               \
    X(File_read_at, file_read_at, 6, IO, OWN, 0)                               \
    X(File_read_at_all, file_read_at_all, 6, IO, WAITS, 0)                     \
    X(File_read_at_all_begin, file_read_at_all_begin, 5, IO, WAITS, 0)         \
    X(File_read_ordered, file_read_ordered, 5, IO, WAITS, 0)                   \
    X(File_read_ordered_begin, file_read_ordered_begin, 4, IO, WAITS, 0)       \
    X(File_read_shared, file_read_shared, 5, IO, OWN, 0)                       \
    X(File_write, file_write, 5, IO, OWN, 0)                                   \
    X(File_write_all, file_write_all, 5, IO, WAITS, 0)                         \
    X(File_write_all_begin, file_write_all_begin, 4, IO, WAITS, 0)             \
    X(File_write_at, file_write_at, 6, IO, OWN, 0)                             \
    X(File_write_at_all, file_write_at_all, 6, IO, WAITS, 0)                   \
    X(File_write_at_all_begin, file_write_at_all_begin, 5, IO, WAITS, 0)       \
    X(File_write_ordered, file_write_ordered, 5, IO, WAITS, 0)                 \
    X(File_write_ordered_begin, file_write_ordered_begin, 4, IO, WAITS, 0)     \
    X(File_write_shared, file_write_shared, 5, IO, OWN, 0)                     \
    X(Gather, gather, 8, COLLECTIVE, ENDS, h)                                  \
    X(Gatherv, gatherv, 9, COLLECTIVE, ENDS, i)                                \
    X(Get, get, 8, RMA, WAITS, 0)                                              \
    X(Get_accumulate, get_accumulate, 12, RMA, WAITS, 0)                       \
    X(Iallgather, iallgather, 8, COLLECTIVE, WAITS, 0)                         \
    X(Iallgatherv, iallgatherv, 9, COLLECTIVE, WAITS, 0)                       \
    X(Iallreduce, iallreduce, 7, COLLECTIVE, WAITS, 0)                         \
    X(Ialltoall, ialltoall, 8, COLLECTIVE, WAITS, 0)                           \
    X(Ialltoallv, ialltoallv, 10, COLLECTIVE, WAITS, 0)                        \
    X(Ialltoallw, ialltoallw, 10, COLLECTIVE, WAITS, 0)                        \
    X(Ibcast, ibcast, 6, COLLECTIVE, WAITS, 0)                                 \
    X(Ibsend, ibsend, 7, P2P, WAITS, 0)                                        \
    X(Iexscan, iexscan, 7, COLLECTIVE, WAITS, 0)                               \
    X(Igather, igather, 9, COLLECTIVE, WAITS, 0)                               \
    X(Igatherv, igatherv, 10, COLLECTIVE, WAITS, 0)                            \
    X(Imrecv, imrecv, 5, P2P, WAITS, 0)                                        \
    X(Ineighbor_allgather, ineighbor_allgather, 8, COLLECTIVE, WAITS, 0)       \
    X(Ineighbor_allgatherv, ineighbor_allgatherv, 9, COLLECTIVE, WAITS, 0)     \
    X(Ineighbor_alltoall, ineighbor_alltoall, 8, COLLECTIVE, WAITS, 0)         \
    X(Ineighbor_alltoallv, ineighbor_alltoallv, 10, COLLECTIVE, WAITS, 0)      \
    X(Ineighbor_alltoallw, ineighbor_alltoallw, 10, COLLECTIVE, WAITS, 0)      \
    X(Irecv, irecv, 7, P2P, WAITS, 0)                                          \
    X(Ireduce, ireduce, 8, COLLECTIVE, WAITS, 0)                               \
    X(Ireduce_scatter, ireduce_scatter, 7, COLLECTIVE, WAITS, 0)               \
    X(Ireduce_scatter_block, ireduce_scatter_block, 7, COLLECTIVE, WAITS, 0)   \
    X(Irsend, irsend, 7, P2P, WAITS, 0)                                        \
    X(Iscan, iscan, 7, COLLECTIVE, WAITS, 0)                                   \
    X(Iscatter, iscatter, 9, COLLECTIVE, WAITS, 0)                             \
    X(Iscatterv, iscatterv, 10, COLLECTIVE, WAITS, 0)                          \
    X(Isend, isend, 7, P2P, WAITS, 0)                                          \
    X(Issend, issend, 7, P2P, WAITS, 0)                                        \
    X(Mrecv, mrecv, 5, P2P, WAITS, 0)                                          \
    X(Neighbor_allgather, neighbor_allgather, 7, COLLECTIVE, WAITS, 0)         \
    X(Neighbor_allgatherv, neighbor_allgatherv, 8, COLLECTIVE, WAITS, 0)       \
    X(Neighbor_alltoall, neighbor_alltoall, 7, COLLECTIVE, WAITS, 0)           \
    X(Neighbor_alltoallv, neighbor_alltoallv, 9, COLLECTIVE, WAITS, 0)         \
    X(Neighbor_alltoallw, neighbor_alltoallw, 9, COLLECTIVE, WAITS, 0)         \
    X(Put, put, 8, RMA, WAITS, 0)                                              \
    X(Raccumulate, raccumulate, 10, RMA, WAITS, 0)                             \
    X(Recv, recv, 7, P2P, WAITS, 0)                                            \
    X(Recv_init, recv_init, 7, P2P, WAITS, 0)                                  \
    X(Reduce, reduce, 7, COLLECTIVE, ENDS, g)                                  \
    X(Reduce_scatter, reduce_scatter, 6, COLLECTIVE, ENDS, f)                  \
    X(Reduce_scatter_block, reduce_scatter_block, 6, COLLECTIVE, ENDS, f)      \
    X(Rget, rget, 9, RMA, WAITS, 0)                                            \
    X(Rget_accumulate, rget_accumulate, 13, RMA, WAITS, 0)                     \
    X(Rput, rput, 9, RMA, WAITS, 0)                                            \
    X(Rsend, rsend, 6, P2P, WAITS, 0)                                          \
    X(Rsend_init, rsend_init, 7, P2P, WAITS, 0)                                \
    X(Scan, scan, 6, COLLECTIVE, ENDS, f)                                      \
    X(Scatter, scatter, 8, COLLECTIVE, ENDS, h)                                \
    X(Scatterv, scatterv, 9, COLLECTIVE, ENDS, i)                              \
    X(Send, send, 6, P2P, WAITS, 0)                                            \
    X(Send_init, send_init, 7, P2P, WAITS, 0)                                  \
    X(Sendrecv, sendrecv, 12, P2P, WAITS, 0)                                   \
    X(Sendrecv_replace, sendrecv_replace, 9, P2P, WAITS, 0)                    \
    X(Ssend, ssend, 6, P2P, WAITS, 0)                                          \
    X(Ssend_init, ssend_init, 7, P2P, WAITS, 0)                                \
    X(Win_allocate, win_allocate, 6, RMA, WAITS, 0)                            \
    X(Win_allocate_shared, win_allocate_shared, 6, RMA, WAITS, 0)              \
    X(Win_create, win_create, 6, RMA, WAITS, 0)

#define MPI_CALLS_WITH_COUNTS_4(X)                                             \
    X(Allgather_init, allgather_init, 9, COLLECTIVE, WAITS, 0)                 \
    X(Allgatherv_init, allgatherv_init, 10, COLLECTIVE, WAITS, 0)              \
    X(Allreduce_init, allreduce_init, 8, COLLECTIVE, WAITS, 0)                 \
    X(Alltoall_init, alltoall_init, 9, COLLECTIVE, WAITS, 0)                   \
    X(Alltoallv_init, alltoallv_init, 11, COLLECTIVE, WAITS, 0)                \
    X(Alltoallw_init, alltoallw_init, 11, COLLECTIVE, WAITS, 0)                \
    X(Bcast_init, bcast_init, 7, COLLECTIVE, WAITS, 0)                         \
    X(Exscan_init, exscan_init, 8, COLLECTIVE, WAITS, 0)                       \
    X(Gather_init, gather_init, 10, COLLECTIVE, WAITS, 0)                      \
    X(Gatherv_init, gatherv_init, 11, COLLECTIVE, WAITS, 0)                    \
    X(Isendrecv, isendrecv, 12, P2P, WAITS, 0)                                 \
    X(Isendrecv_replace, isendrecv_replace, 9, P2P, WAITS, 0)                  \
    X(Neighbor_allgather_init, neighbor_allgather_init, 9, COLLECTIVE, WAITS,  \
      0)                                                                       \
    X(Neighbor_allgatherv_init, neighbor_allgatherv_init, 10, COLLECTIVE,      \
      WAITS, 0)                                                                \
    X(Neighbor_alltoall_init, neighbor_alltoall_init, 9, COLLECTIVE, WAITS, 0) \
    X(Neighbor_alltoallv_init, neighbor_alltoallv_init, 11, COLLECTIVE, WAITS, \
      0)                                                                       \
    X(Neighbor_alltoallw_init, neighbor_alltoallw_init, 11, COLLECTIVE, WAITS, \
      0)                                                                       \
    X(Reduce_init, reduce_init, 9, COLLECTIVE, WAITS, 0)                       \
    X(Reduce_scatter_block_init, reduce_scatter_block_init, 8, COLLECTIVE,     \
      WAITS, 0)                                                                \
    X(Reduce_scatter_init, reduce_scatter_init, 8, COLLECTIVE, WAITS, 0)       \
    X(Scan_init, scan_init, 8, COLLECTIVE, WAITS, 0)                           \
    X(Scatter_init, scatter_init, 10, COLLECTIVE, WAITS, 0)                    \
    X(Scatterv_init, scatterv_init, 11, COLLECTIVE, WAITS, 0)

#define MPI_CALLS_WITHOUT_COUNTS(X)                                            \
    X(Barrier, barrier, 1, COLLECTIVE, ENDS, a)                                \
    X(Cancel, cancel, 1, P2P, WAITS, 0)                                        \
    X(Cart_create, cart_create, 6, MANAGE, WAITS, 0)                           \
    X(Cart_sub, cart_sub, 3, MANAGE, WAITS, 0)                                 \
    X(Comm_create, comm_create, 3, MANAGE, WAITS, 0)                           \
    X(Comm_create_group, comm_create_group, 4, MANAGE, WAITS, 0)               \
    X(Comm_disconnect, comm_disconnect, 1, MANAGE, FREES, 0)                   \
    X(Comm_dup, comm_dup, 2, MANAGE, WAITS, 0)                                 \
    X(Comm_dup_with_info, comm_dup_with_info, 3, MANAGE, WAITS, 0)             \
    X(Comm_free, comm_free, 1, MANAGE, FREES, 0)                               \
    X(Comm_idup, comm_idup, 3, MANAGE, WAITS, 0)                               \
    X(Comm_join, comm_join, 2, MANAGE, WAITS, 0)                               \
    X(Comm_set_info, comm_set_info, 2, MANAGE, WAITS, 0)                       \
    X(Comm_split, comm_split, 4, MANAGE, WAITS, 0)                             \
    X(Comm_split_type, comm_split_type, 5, MANAGE, WAITS, 0)                   \
    X(Compare_and_swap, compare_and_swap, 7, RMA, WAITS, 0)                    \
    X(Dist_graph_create, dist_graph_create, 9, MANAGE, WAITS, 0)               \
    X(Dist_graph_create_adjacent, dist_graph_create_adjacent, 10, MANAGE,      \
      WAITS, 0)                                                                \
    X(Fetch_and_op, fetch_and_op, 7, RMA, WAITS, 0)                            \
    X(File_close, file_close, 1, IO, WAITS, 0)                                 \
    X(File_get_position_shared, file_get_position_shared, 2, IO, WAITS, 0)     \
    X(File_get_size, file_get_size, 2, IO, WAITS, 0)                           \
    X(File_preallocate, file_preallocate, 2, IO, WAITS, 0)                     \
    X(File_read_all_end, file_read_all_end, 3, IO, WAITS, 0)                   \
    X(File_read_at_all_end, file_read_at_all_end, 3, IO, WAITS, 0)             \
    X(File_read_ordered_end, file_read_ordered_end, 3, IO, WAITS, 0)           \
    X(File_seek_shared, file_seek_shared, 3, IO, WAITS, 0)                     \
    X(File_set_atomicity, file_set_atomicity, 2, IO, WAITS, 0)                 \
    X(File_set_info, file_set_info, 2, IO, WAITS, 0)                           \
    X(File_set_size, file_set_size, 2, IO, WAITS, 0)                           \
    X(File_sync, file_sync, 1, IO, WAITS, 0)                                   \
    X(File_write_all_end, file_write_all_end, 3, IO, WAITS, 0)                 \
    X(File_write_at_all_end, file_write_at_all_end, 3, IO, WAITS, 0)           \
    X(File_write_ordered_end, file_write_ordered_end, 3, IO, WAITS, 0)         \
    X(Finalize, finalize, 0, MANAGE, LEAVES, 0)                                \
    X(Graph_create, graph_create, 6, MANAGE, WAITS, 0)                         \
    X(Ibarrier, ibarrier, 2, COLLECTIVE, WAITS, 0)                             \
    X(Improbe, improbe, 6, P2P, TESTS, d)                                      \
    X(Intercomm_create, intercomm_create, 6, MANAGE, WAITS, 0)                 \
    X(Intercomm_merge, intercomm_merge, 3, MANAGE, WAITS, 0)                   \
    X(Iprobe, iprobe, 5, P2P, TESTS, d)                                        \
    X(Mprobe, mprobe, 5, P2P, WAITS, 0)                                        \
    X(Probe, probe, 4, P2P, WAITS, 0)                                          \
    X(Request_get_status, request_get_status, 3, P2P, TESTS, b)                \
    X(Start, start, 1, P2P, WAITS, 0)                                          \
    X(Startall, startall, 2, P2P, WAITS, 0)                                    \
    X(Test, test, 3, P2P, TESTS, b)                                            \
    X(Testall, testall, 4, P2P, TESTS, c)                                      \
    X(Testany, testany, 5, P2P, TESTS, d)                                      \
    X(Testsome, testsome, 5, P2P, TESTS, c)                                    \
    X(Wait, wait, 2, P2P, WAITS, 0)                                            \
    X(Waitall, waitall, 3, P2P, WAITS, 0)                                      \
    X(Waitany, waitany, 4, P2P, WAITS, 0)                                      \
    X(Waitsome, waitsome, 5, P2P, WAITS, 0)                                    \
    X(Win_attach, win_attach, 3, RMA, WAITS, 0)                                \
    X(Win_complete, win_complete, 1, RMA, WAITS, 0)                            \
    X(Win_create_dynamic, win_create_dynamic, 3, RMA, WAITS, 0)                \
    X(Win_detach, win_detach, 2, RMA, WAITS, 0)                                \
    X(Win_fence, win_fence, 2, RMA, WAITS, 0)                                  \
    X(Win_flush, win_flush, 2, RMA, WAITS, 0)                                  \
    X(Win_flush_all, win_flush_all, 1, RMA, WAITS, 0)                          \
    X(Win_flush_local, win_flush_local, 2, RMA, WAITS, 0)                      \
    X(Win_flush_local_all, win_flush_local_all, 1, RMA, WAITS, 0)              \
    X(Win_free, win_free, 1, RMA, WAITS, 0)                                    \
    X(Win_lock, win_lock, 4, RMA, WAITS, 0)                                    \
    X(Win_lock_all, win_lock_all, 2, RMA, WAITS, 0)                            \
    X(Win_post, win_post, 3, RMA, WAITS, 0)                                    \
    X(Win_set_info, win_set_info, 2, RMA, WAITS, 0)                            \
    X(Win_start, win_start, 3, RMA, WAITS, 0)                                  \
    X(Win_sync, win_sync, 1, RMA, WAITS, 0)                                    \
    X(Win_test, win_test, 2, RMA, TESTS, b)                                    \
    X(Win_unlock, win_unlock, 2, RMA, WAITS, 0)                                \
    X(Win_unlock_all, win_unlock_all, 1, RMA, WAITS, 0)                        \
    X(Win_wait, win_wait, 1, RMA, WAITS, 0)

#define MPI_CALLS_WITHOUT_COUNTS_4(X)                                          \
    X(Barrier_init, barrier_init, 3, COLLECTIVE, WAITS, 0)                     \
    X(Comm_idup_with_info, comm_idup_with_info, 4, MANAGE, WAITS, 0)           \
    X(Parrived, parrived, 3, P2P, TESTS, c)                                    \
    X(Pready, pready, 2, P2P, WAITS, 0)                                        \
    X(Pready_list, pready_list, 3, P2P, WAITS, 0)                              \
    X(Pready_range, pready_range, 3, P2P, WAITS, 0)                            \
    X(Precv_init, precv_init, 9, P2P, WAITS, 0)                                \
    X(Psend_init, psend_init, 9, P2P, WAITS, 0)                                \
    X(Session_finalize, session_finalize, 1, MANAGE, WAITS, 0)                 \
    X(Session_init, session_init, 3, MANAGE, WAITS, 0)

#define MPI_CALLS_WITH_TEXTS(X)                                                \
    X(Close_port, close_port, 1, 3, MANAGE)                                    \
    X(Comm_accept, comm_accept, 5, 7, MANAGE)                                  \
    X(Comm_connect, comm_connect, 5, 7, MANAGE)                                \
    X(Comm_spawn, comm_spawn, 8, 11, MANAGE)                                   \
    X(Comm_spawn_multiple, comm_spawn_multiple, 9, 12, MANAGE)                 \
    X(File_delete, file_delete, 2, 4, IO)                                      \
    X(File_open, file_open, 5, 7, IO)                                          \
    X(File_set_view, file_set_view, 6, 8, IO)                                  \
    X(Lookup_name, lookup_name, 3, 6, MANAGE)                                  \
    X(Open_port, open_port, 2, 4, MANAGE)                                      \
    X(Publish_name, publish_name, 3, 6, MANAGE)                                \
    X(Unpublish_name, unpublish_name, 3, 6, MANAGE)

#define MPI_CALLS_WITH_TEXTS_4(X)                                              \
    X(Comm_create_from_group, comm_create_from_group, 5, 7, MANAGE)            \
    X(Group_from_session_pset, group_from_session_pset, 3, 5, MANAGE)          \
    X(Intercomm_create_from_groups, intercomm_create_from_groups, 8, 10, MANAGE)

#define MPI_CALLS_OF_FORTRAN(X)                                                \
    X(win_allocate_cptr, 7, Win_allocate)                                      \
    X(win_allocate_shared_cptr, 7, Win_allocate_shared)

/* All of C: X those without texts, T the others. */
#define MPI_CALLS(X, T)                                                        \
    MPI_CALLS_WITH_COUNTS(X)                                                   \
    MPI_CALLS_WITH_COUNTS_4(X)                                                 \
    MPI_CALLS_WITHOUT_COUNTS(X)                                                \
    MPI_CALLS_WITHOUT_COUNTS_4(X)                                              \
    MPI_CALLS_WITH_TEXTS(T)                                                    \
    MPI_CALLS_WITH_TEXTS_4(T)

#endif
