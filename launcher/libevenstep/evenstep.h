/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep.h - what a program under `srun --evenstep` may ask of evenstep.
 * Link with -levenstep.
 */
#ifndef EVENSTEP_H
#define EVENSTEP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum evenstep_link {
    EVENSTEP_LINK_IP = 1,         /* a network interface, no more is known */
    EVENSTEP_LINK_INFINIBAND = 2, /* an InfiniBand port */
    EVENSTEP_LINK_ROCE = 3        /* an RDMA port on Ethernet: it has no LID */
};

/* How to reach a task of the step: its entry in the connection table. */
struct evenstep_peer {
    uint8_t address[16]; /* GID; without one the same as ip */
    uint8_t ip[16];      /* IPv6, or IPv4 as ::ffff:a.b.c.d */
    uint64_t network;    /* the same for all adapters of one subnet */
    uint32_t lid, port;  /* of an InfiniBand port, else 0 */
    uint32_t rate_mbps;  /* 0: not known */
    uint32_t node;       /* its number in the step, from 0 */
    uint16_t local_rank; /* among the node's tasks */
    uint16_t window;     /* among the tasks that share the adapter */
    uint16_t tcp_port;   /* on ip: where the task listens, once all have called
                            evenstep_listen(); before, its node's agent */
    uint8_t lmc;         /* 2^lmc LIDs from lid on lead to the port */
    uint8_t link;        /* enum evenstep_link */
};

/*
 * The entry of a rank of this step (SLURM_PROCID).  The first call maps the
 * table; later calls are O(1) and need no system call.  Any thread may call it.
 *
 * Returns 0, or -1 (*peer zeroed) and errno: ENOENT if there is no table (the
 * program does not run under evenstep), ERANGE if the step has no such rank,
 * EBADMSG if the table is damaged or of another version, or the errno of
 * opening it.
 */
int evenstep_peer(uint32_t rank, struct evenstep_peer *peer);

/*
 * Say that this task listens at that TCP port, 1 to 65535, and wait until all
 * tasks of the step have said theirs; 0: it listens nowhere.  From then on
 * evenstep_peer() has the port of every task, so that any can connect to any
 * other.  All tasks call it, each once, before they ask for their first slice;
 * if all call it again, all get the new ports.
 *
 * The programs of `evenstep run --persistent` are tasks in this, one on a node:
 * $EVENSTEP_RANK of $EVENSTEP_RANKS.  Before they have called it, they have no
 * table.
 *
 *     listen(fd, SOMAXCONN);
 *     if (evenstep_listen(port) < 0)
 *         err(1, "evenstep_listen");
 *     if (evenstep_peer(rank, &peer) == 0)
 *         ... connect to peer.ip, peer.tcp_port ...
 *
 * Returns 0, or -1 and errno; the ports are then as before:
 *
 *   EINVAL         there is no such port
 *   EADDRNOTAVAIL  nobody on this node listens at it, at the address of
 *                  evenstep_peer() or at any
 *   ENOENT         the program does not run under evenstep
 *   EBUSY          another process calls with the same rank
 *   ETIMEDOUT      some task of the step has not called
 *   ECONNABORTED   a node was lost, or has not got the table; or it is a program
 *                  that was started anew, or late, under `evenstep run`
 *
 * or the errno of connecting to $EVENSTEP_SOCKET.  After the last two, later
 * calls of any task fail in the same way.
 */
int evenstep_listen(int port);

/*
 * Slices, for a program that stays alive from one to the next:
 *
 *     if (evenstep_open(units, frames) < 0)
 *         err(1, "evenstep");
 *     while ((more = evenstep_next(&begin, &end)) > 0) {
 *         ... do the units [begin, end) ...
 *         if (evenstep_done() < 0)
 *             err(1, "evenstep");
 *     }
 *     evenstep_close();
 *
 * Under `evenstep run --persistent` the command line of evenstep defines the
 * work, and units and frames are ignored.  Under `srun --evenstep` the program
 * defines it: every frame is the units [0, units), shared by all tasks of the
 * step.  There are `frames` frames; 0 means until a task closes.  All tasks
 * must open with the same numbers.  In each frame each task gets one slice,
 * which may be empty (begin == end); the next frame begins when all tasks have
 * asked for it.  The time from evenstep_next() to evenstep_done() decides how
 * large the next slices are.
 *
 * A process has one connection; its threads must not make these calls at the
 * same time.
 */

/*
 * Begin.  Returns 1; 0 if the process does not run under evenstep, and then it
 * gets every frame whole; or -1 and errno:
 *
 *   EINVAL   units is 0
 *   EISCONN  the connection is open already
 *   EBUSY    another process has opened with the same rank
 *   EPROTO   the tasks gave different units or frames
 *   EPROTONOSUPPORT  this library and the agent are of different versions
 *
 * or the errno of connecting to $EVENSTEP_SOCKET.
 */
int evenstep_open(uint64_t units, uint64_t frames);

/*
 * The same, with flags:
 *
 *   EVENSTEP_SURVIVES  the program goes on without a node that is lost.  What
 *                      that had of the frame is then given to the other tasks
 *                      as further slices, with the same evenstep_frame(): a
 *                      task may get several of one frame.  A node whose link
 *                      was down gets slices again from the next frame on; the
 *                      one that it had is done by others, so what it has made
 *                      of that must do no harm.  A task that ends before it has
 *                      closed is the loss of its node.
 *
 * All tasks must give the same.  EINVAL: there is no such flag.
 */
#define EVENSTEP_SURVIVES 1u
int evenstep_open_flags(uint64_t units, uint64_t frames, unsigned flags);

/*
 * Wait for a slice, the units [*begin, *end).  Returns 1; 0 if there are no
 * more (both 0); or -1 (both 0) and errno: EALREADY if the slice before is not
 * done, ENOTCONN if there is no connection, ECONNABORTED if another task has
 * ended early, ECONNRESET if the agent has gone.
 */
int evenstep_next(uint64_t *begin, uint64_t *end);

/*
 * Wait at most so long, or without limit if it is below 0.  Returns 1 if
 * evenstep_next() would return at once, 0 if not yet; or -1 and errno, EALREADY
 * or ENOTCONN as there.
 *
 * This is for programs with other duties.  One that has just sent a message by
 * MPI may have to make progress for the message to arrive, and the task that
 * waits for the message does not ask for its slice.
 *
 *     while ((ready = evenstep_wait(1)) == 0)
 *         MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
 */
int evenstep_wait(int milliseconds);

/* The number of the current slice's frame, from 0, and the label of that frame,
 * "" if it has none; valid until the next evenstep_next(). */
uint64_t evenstep_frame(void);
const char *evenstep_label(void);

/*
 * A descriptor, open for reading, of the current slice's lines or records,
 * where the work is those of a file: `evenstep run --persistent --lines FILE`.
 * It is the library's, and closed by evenstep_done() and evenstep_close();
 * for stdio, fdopen() a dup() of it.  Returns -1 and errno: ENOENT if the slice
 * has none, EINVAL if there is no slice.
 */
int evenstep_lines(void);

/*
 * The slice is done.  Under `evenstep run` the bytes written to stdout since
 * evenstep_next() are the slice's output, and those written between slices are
 * dropped; both calls flush stdout.  Returns 0, or -1 and errno: EINVAL if
 * there is no slice, ECONNRESET if the agent has gone, or the errno of writing.
 */
int evenstep_done(void);

/* End.  A slice that is not done is given to others.  May be called at any
 * time. */
void evenstep_close(void);

/*
 * What a program that moves its data when slices change has to reckon.  These
 * four are pure: they ask nobody, any thread may call them, and all ranks that
 * give the same get the same.
 *
 * A program tells all ranks of its slice first, by MPI_Allgather().  Slices may
 * be empty, and stand in any order.
 */
struct evenstep_range { /* the units [begin, end) */
    uint64_t begin, end;
};

/* The rank whose slice has this unit; -1: none has. */
int evenstep_owner(const struct evenstep_range *slice,
                   int ranks,
                   uint64_t unit);

/* The slice and so many units more on each side, within [0, units), as for the
 * neighbours that a stencil reads; an empty one stays so. */
struct evenstep_range evenstep_widened(struct evenstep_range slice,
                                       uint64_t by,
                                       uint64_t units);

/*
 * Units that cost more or less, by a weight for each of them.  Open with a
 * number of parts, say 1000000, instead of the units: each part is as much of
 * the weight.  This gives the units of a slice of parts.  Those of slices that
 * adjoin adjoin, and each unit is in one slice of a frame.
 *
 * Returns 0, or -1 (*result empty) and EINVAL: the slice is not within the
 * parts, a weight is negative or no number, or their sum is 0 or no number.
 */
int evenstep_weighted(struct evenstep_range slice,
                      uint64_t parts,
                      const double *weight,
                      uint64_t units,
                      struct evenstep_range *result);

/* Arrays of as many ints as there are ranks, for MPI_Alltoallv(): in units, or
 * whatever the MPI_Datatype of one is. */
struct evenstep_moves {
    int *send_count, *send_at, *receive_count, *receive_at;
};

/*
 * What this rank sends and receives so that each rank has what it wants next.
 * The slices of `has` must not overlap, those of `wants` may.  Places count from
 * the beginning of has[rank] in what is sent, of wants[rank] in what is
 * received.
 *
 * Returns 0, or -1 and errno: EINVAL for a rank or a range that is none,
 * EOVERFLOW if a number is too large for an int, ENODATA if a unit that this
 * rank wants is in no slice of `has`, or in two.  Then other ranks may have
 * found no fault, and wait: end the program.
 */
int evenstep_redistribute(const struct evenstep_range *has,
                          const struct evenstep_range *wants,
                          int ranks,
                          int rank,
                          struct evenstep_moves *moves);

/*
 * The progress meter: how far this thread (or rank) is on its way to the next
 * barrier, so that evenstep can speed up the one that comes last.
 *
 * evenstep_work() begins a parallel region; total is the work of this thread
 * until the barrier, in any unit, or 0 for none.  evenstep_tick() says how much
 * of it is done so far, from 0 to total, never less than before.  A thread that
 * has said total counts as waiting until its next region.
 *
 *   evenstep_work(rows);
 *   for (row = 0; row < rows; row++) {
 *       compute(row);
 *       evenstep_tick(row + 1);
 *   }
 *   MPI_Barrier(MPI_COMM_WORLD);
 *
 * A tick is a store to memory that the node's agent reads: it needs no lock and
 * no system call, and takes a few nanoseconds.  A tick before the first region,
 * beyond the total or backwards is counted for the agent to report, and has no
 * other effect.  Without evenstep both calls do nothing.
 */
void evenstep_work(uint64_t total);
void evenstep_tick(uint64_t done);

/* How many threads this rank should use from its next region on, as for
 * omp_set_num_threads(); 0: evenstep has no advice.  The ranks of a node share
 * what the node should use, and who takes longest has more of it. */
int evenstep_threads(void);

#ifdef __cplusplus
}
#endif

#endif
