/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meter_page.h - the shared memory in which programs write their progress, for
 * the agent of their node to read.
 *
 *   offset  size  field       (in the node's own byte order)
 *        0     4  magic       METER_MAGIC
 *        4     4  high        slots from this number on were never used
 *        8     4  threads     number that the agent advises to a rank that has
 *                             no slot yet; 0: no advice
 *       64   64n  slots       one for each thread, a cache line each
 *   64+64n 2752n  ranks       beside the slot of the same number, see below
 *  64+2816n   8m  CPUs        of which rank they are, and who has borrowed them
 *
 *   slot 0     4  owner       process id; 0: the slot is free
 *        4     4  sequence    odd while a new region is being written
 *        8     8  total       work of the region, in the program's own units
 *       16     8  done        part of the total that is done
 *       24     8  regions     number of regions begun
 *       32     4  early       ticks before the first region
 *       36     4  beyond      ticks with more than the total
 *       40     4  backwards   ticks with less than the one before
 *       44     4  threads     number that the agent advises to the owner; 0: as
 *                             to one without a slot
 *       48     4  thread      id of the thread that took the slot; 0: not known
 *
 * A rank of a program that is metered from outside (libevenstep-mpi.so) has an
 * entry besides, which says how its time went.  Its slot then counts in
 * nanoseconds of useful time, all that is not spent in a call that waits:
 * total is what a region is expected to take, done what it has taken so far.
 *
 *   rank 0     4  sequence    odd while it is being written
 *        4     4  size        ranks of the program; 0: this is no such entry
 *        8     4  rank        0 .. size - 1
 *       12     4  is_waiting  1 in a call that waits
 *       16     8  since_ns    when that began or ended (CLOCK_MONOTONIC)
 *       24     8  useful_ns   until then, from the start of MPI on
 *       32     8  waiting_ns  likewise
 *       40     8  calls       metered calls
 *       48     8  regions     ended, each by a collective over all ranks
 *       56     8  ended_ns    of a thread only, see below
 *       64   512  ring        the last 32 of these: of region r, from 0, in
 *                             place r % 32: 8 useful_ns, 8 waiting_ns (in the
 *                             collective that ended it)
 *      576     4  threads     in its largest OpenMP team; 0: it had none, or
 *                             their time is not known
 *      584     8  others_ns   that those were busy which do not call MPI
 *      592     8  idle_ns     of useful_ns, that the one which does has waited
 *                             for them
 *      600     4  wants       CPUs that it would borrow
 *      604     4  leader      of a thread only, see below
 *      608     8  iterations  known to have ended, see mpi_loops.h
 *      616   768  ring        the last 32 of these, likewise: 8 useful_ns,
 *                             8 waiting_ns, 4 loop (of several that a program
 *                             may have), 4 period (regions of an iteration)
 *     1384     4  call        while it waits: number of the call (mpi_names.h),
 *                             plus 1; 0: not known
 *     1388     4  ended       1: it has left MPI by MPI_Finalize
 *     1392     8  io_ns       of waiting_ns: in reads and writes of its own
 *     1400     8  polled_ns   of waiting_ns: in and between tests that found
 *                             nothing
 *     1408     8  transfer_ns of waiting_ns: of each call the least that one has
 *                             taken at that place in the program
 *     1416     8  unsure_ns   of useful_ns: it may have been waiting
 *     1424     8  borrowed_ns CPU time of its threads on borrowed CPUs
 *     1432     8  lent_ns     time for which others had its CPUs
 *     1440     4  sites       used of these:
 *     1448  1280  16 sites    places in the program that wait most: 8 where, an
 *                             address; 8 waiting_ns, 8 calls, 4 call, 4 unused,
 *                             48 name; the last is of all other places
 *
 * Each thread of a rank's OpenMP team has a slot, too, with no region begun, and an
 * entry of size 0 in which these count:
 *
 *        0     4  sequence    odd while it is being written
 *       24     8  useful_ns   that it was busy in its team
 *       48     8  regions     of the rank, ended when it was busy last
 *       56     8  ended_ns    useful_ns when the last of these ended
 *      604     4  leader      slot of the rank, plus 1; 0: this is no such entry
 *
 *   CPU  0     4  owner       slot of the rank whose it is, plus 1; 0: nobody's;
 *                             2^32 - 1: of several
 *        4     4  borrower    likewise; 0: nobody
 *
 * Before a rank has ended its first region, its slot has none begun, and for one
 * that calls evenstep_work() itself it never has.  An entry whose slot has no
 * owner any more is that of a program that has left MPI or has ended, and its
 * last word.
 *
 * A slot has one writer, the thread that took it, which shares no lock with the
 * agent, but for the advice, which is the agent's; an entry likewise.  The agent trusts nothing here: a sample is in range whatever the
 * bytes are.  The page is a memfd that is sealed against a change of its size,
 * so no program can make the agent fault by truncating it.
 */
#ifndef LAUNCHER_LIBEVENSTEP_METER_PAGE_H
#define LAUNCHER_LIBEVENSTEP_METER_PAGE_H

#include <stddef.h>
#include <stdint.h>

#define METER_FILE  "meter"     /* in EVENSTEP_DIR: a link to the page */
#define METER_MAGIC 0x364d5645u /* "EVM6"; another layout needs another */
#define METER_SLOTS 4096u       /* for 1000 ranks with some threads each */
#define METER_CPUS  1024u       /* as a cpu_set_t has */
#define METER_RING  32u         /* regions that an entry remembers */
#define METER_LOOPS 32u         /* the number of a loop is below */
#define METER_SITES 16u         /* the last is of all others */
#define METER_NAME  48u         /* bytes of a site's name, with the NUL */
#define METER_BYTES sizeof(struct meter_page)

struct meter_slot {
    _Alignas(64) _Atomic uint32_t owner;
    _Atomic uint32_t sequence;
    _Atomic uint64_t total, done, regions;
    _Atomic uint32_t early, beyond, backwards;
    _Atomic uint32_t threads, thread;
};

struct meter_rank {
    _Alignas(64) _Atomic uint32_t sequence;
    _Atomic uint32_t size, rank, is_waiting;
    _Atomic uint64_t since_ns, useful_ns, waiting_ns, calls, regions, ended_ns;
    struct {
        _Alignas(16) _Atomic uint64_t useful_ns;
        _Atomic uint64_t waiting_ns;
    } ring[METER_RING];
    /* Of many threads: apart from what one of them writes with each call. */
    _Alignas(64) _Atomic uint32_t threads;
    _Atomic uint64_t others_ns, idle_ns;
    _Atomic uint32_t wants, leader;
    /* Of the one that calls MPI again. */
    _Atomic uint64_t iterations;
    struct {
        _Atomic uint64_t useful_ns, waiting_ns;
        _Atomic uint32_t loop, period;
    } iteration[METER_RING];
    _Atomic uint32_t call, ended;
    _Atomic uint64_t io_ns, polled_ns, transfer_ns, unsure_ns;
    _Atomic uint64_t borrowed_ns, lent_ns;
    _Atomic uint32_t sites;
    struct meter_site {
        /* 0 while the site becomes that of another place. */
        _Atomic uint64_t where;
        _Atomic uint64_t waiting_ns, calls;
        _Atomic uint32_t call, reserved;
        char name[METER_NAME];
    } site[METER_SITES];
};

/* See lend.h. */
struct meter_cpu {
    _Atomic uint32_t owner, borrower;
};

struct meter_page {
    uint32_t magic;
    _Atomic uint32_t high;
    _Atomic uint32_t threads;
    struct meter_slot slot[METER_SLOTS];
    struct meter_rank rank[METER_SLOTS];
    struct meter_cpu cpu[METER_CPUS];
};

/* What a slot holds at one moment. */
struct meter_sample {
    uint32_t owner;
    uint64_t regions;
    double fraction; /* of the region's work, 0..1; 1 if the total is 0 */
    uint64_t misuse; /* early + beyond + backwards */
};

/* How a rank's time went, at one moment. */
struct meter_time {
    uint32_t size, rank;
    int is_waiting;
    uint64_t since_ns;
    uint64_t useful_ns, waiting_ns, calls, regions, iterations;
    uint32_t threads;
    uint64_t others_ns, idle_ns;
    uint32_t call, ended; /* call as in the page, ended 0 or 1 */
    uint64_t io_ns, polled_ns, transfer_ns, unsure_ns;
    uint64_t borrowed_ns, lent_ns;
};

/* A place in the program that waits. */
struct meter_site_view {
    uint64_t waiting_ns, calls;
    uint32_t call;         /* as in the page */
    char name[METER_NAME]; /* printable: "function+0x12 (binary)" or
                            * "binary+0x1234" */
};

/* How one of its threads' went. */
struct meter_thread {
    uint32_t leader;    /* number of the rank's slot */
    uint64_t regions;   /* of the rank, ended */
    uint64_t useful_ns; /* in these */
};

/* One of its regions, or of its iterations. */
struct meter_region {
    uint64_t number;
    uint64_t useful_ns, waiting_ns;
    uint32_t loop, period; /* of an iteration: loop below METER_LOOPS */
};

/* Read a slot.  0, or -1 if its writer was beginning a region at each try
 * (*sample untouched). */
int meter_slot_read(const struct meter_slot *slot, struct meter_sample *sample);

/* Read an entry.  1; 0 if it is none; -1 if it was being written at each try
 * (*time untouched). */
int meter_rank_read(const struct meter_rank *rank, struct meter_time *time);
/* Its regions from a number on, in order, those of the last METER_RING that can
 * be read whole; returns how many. */
size_t meter_rank_regions(const struct meter_rank *rank,
                          uint64_t from,
                          struct meter_region region[METER_RING]);
/* Likewise its iterations. */
size_t meter_rank_iterations(const struct meter_rank *rank,
                             uint64_t from,
                             struct meter_region iteration[METER_RING]);

/* The places in its program that wait most; returns how many. */
size_t meter_rank_sites(const struct meter_rank *rank,
                        struct meter_site_view site[METER_SITES]);

/* Read the entry of a thread in slot i.  1; 0 if it is none; -1 if it was being
 * written at each try (*thread untouched). */
int meter_thread_read(const struct meter_page *page,
                      uint32_t i,
                      struct meter_thread *thread);

/* Create a page, sealed and mapped; the caller closes *fd, its memfd.  NULL
 * with errno on failure. */
struct meter_page *meter_page_create(int *fd);
/* Unmap a page; NULL is allowed. */
void meter_page_destroy(struct meter_page *page);
/* Number of slots to read: all behind them were never used. */
uint32_t meter_page_slots(const struct meter_page *page);

#endif
