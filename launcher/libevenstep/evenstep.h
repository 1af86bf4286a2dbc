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

/* How a task of the step is reached: its line of the connection table. */
struct evenstep_peer {
    uint8_t address[16]; /* GID; else as ip */
    uint8_t ip[16];      /* IPv6, or IPv4 as ::ffff:a.b.c.d */
    uint64_t network;    /* alike for all adapters of one subnet */
    uint32_t lid, port;  /* of an InfiniBand port, else 0 */
    uint32_t rate_mbps;  /* 0: not known */
    uint32_t node;       /* its number in the step, from 0 */
    uint16_t local_rank; /* among the node's tasks */
    uint16_t window;     /* among the tasks that share the adapter */
    uint16_t tcp_port;   /* on ip, where the node's agent listens */
    uint8_t lmc;         /* 2^lmc LIDs from lid on lead to the port */
    uint8_t link;        /* enum evenstep_link */
};

/*
 * The line of a rank of this step (SLURM_PROCID).  The table is mapped at the
 * first call; after that each is O(1) and needs no system call.  Any thread
 * may call it.
 *
 * Returns 0, or -1 (*peer zeroed) and errno: ENOENT there is no table (not
 * under evenstep), ERANGE the step has no such rank, EBADMSG the table is
 * damaged or of another version, else what opening it failed with.
 */
int evenstep_peer(uint32_t rank, struct evenstep_peer *peer);

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
 * Under `evenstep run --persistent` the work comes from its command line, and
 * units and frames are not looked at.  Under `srun --evenstep` the program
 * brings it: every frame is the units [0, units), shared by all tasks of the
 * step, `frames` times, or with 0 until a task closes.  All tasks open, with
 * the same numbers; in each frame each gets one slice, which may be empty
 * (begin == end), and the next frame begins when all have asked for it.
 * The time from evenstep_next() to evenstep_done() is what the next slices are
 * sized by.
 *
 * One process is one customer; its threads must not call these at once.
 */

/*
 * Begin.  Returns 1; 0 if there is no evenstep, so that this process is alone:
 * it gets every frame whole, from itself; or -1 and errno:
 *
 *   EINVAL   units is 0
 *   EISCONN  it is open already
 *   EBUSY    another process has opened in this one's place
 *   EPROTO   the tasks do not agree about units and frames
 *   EPROTONOSUPPORT  this library and the agent are of different versions
 *
 * or what connecting to $EVENSTEP_SOCKET failed with.
 */
int evenstep_open(uint64_t units, uint64_t frames);

/*
 * Wait for a slice, the units [*begin, *end).  Returns 1; 0 if there are no
 * more (both 0); or -1 (both 0) and errno: EALREADY the slice before is not
 * done, ENOTCONN not open, ECONNABORTED another task has ended in the middle,
 * ECONNRESET the agent has gone.
 */
int evenstep_next(uint64_t *begin, uint64_t *end);

/*
 * Wait at most so long, for ever if it is below 0: 1 if evenstep_next() would
 * return at once, 0 if not yet; -1 and errno, EALREADY or ENOTCONN as there.
 *
 * For programs that have to see to other things meanwhile.  So has one that
 * has just communicated by MPI: a message that it has sent may need its help
 * to arrive, and whoever waits for that one never asks for his slice.
 *
 *     while ((ready = evenstep_wait(1)) == 0)
 *         MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
 */
int evenstep_wait(int milliseconds);

/* Of the slice at hand: its frame, from 0, and that one's label, "" if it has
 * none; valid until the next evenstep_next(). */
uint64_t evenstep_frame(void);
const char *evenstep_label(void);

/*
 * The slice is done.  Under `evenstep run` what was written to stdout since
 * evenstep_next() is the slice's output, and what is written there outside of
 * slices is left out; so both flush stdout.  Returns 0, or -1 and errno: EINVAL
 * there is none at hand, ECONNRESET the agent has gone, or what writing failed
 * with.
 */
int evenstep_done(void);

/* End; a slice that is not done goes back.  May be called at any time. */
void evenstep_close(void);

/*
 * The progress meter: how far this thread (or rank) is on its way to the next
 * barrier, so that evenstep can speed up who comes last.
 *
 * evenstep_work() begins a parallel region: total is the work of this thread
 * until the barrier, in any unit, 0 for none.  evenstep_tick() tells how much
 * of it is done so far, from 0 to total, never less than before.  When all of
 * it is told the thread is taken to wait, or to do what is not metered, until
 * its next region.
 *
 *   evenstep_work(rows);
 *   for (row = 0; row < rows; row++) {
 *       compute(row);
 *       evenstep_tick(row + 1);
 *   }
 *   MPI_Barrier(MPI_COMM_WORLD);
 *
 * A tick is a store to memory that the node's agent reads: no lock, no system
 * call, a few nanoseconds.  A call that makes no sense (a tick before the
 * first region, beyond the total, backwards) is counted for the agent to
 * report, and has no other effect.  Without evenstep neither has any.
 */
void evenstep_work(uint64_t total);
void evenstep_tick(uint64_t done);

/* How many threads this rank had best use from its next region on, as in
 * omp_set_num_threads(); 0: as it likes. */
int evenstep_threads(void);

#ifdef __cplusplus
}
#endif

#endif
