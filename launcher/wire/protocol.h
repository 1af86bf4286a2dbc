/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * protocol.h - what the front end and its agents say to each other, as
 * bodies of pmix_bcast/message.h (their fields in order, see bytes.h).
 *
 *   type      from       body
 *   HERE      agent      version u32, node text, release text, rank u32,
 *                        agents u32, endpoint: see wireup.h; it runs, and
 *                        waits for
 *   FENCE     front end  branches u32, table blob: see wireup.h; all run.
 *             agent      With an empty table they wire up over PMIx; with
 *                        branches it is handed on: see table_tree.h
 *   TAKEN     agent      -                      (to whom it has the table from)
 *   RELAY, AFTER, and TAKEN to the front end: see order_message.h
 *   MISSED    agent      rank u32               (who did not take it)
 *   READY     agent      rank u32, agents u32, job u32, step u32, cpus u32,
 *                        node text, rack text, boot_id text, adapter blob:
 *                        see adapter.h, empty if there is none
 *   PEER      agent      reached u32, text      (what came of the greeting)
 *   PROBE     front end  fresh u32, budget_ms u32, elements u32, ttl_s u64,
 *                        cache text, scratch text, and for each element of
 *                        the site's: name, unit, command text, less u32,
 *                        budget_ms u32
 *   PROBED    agent      cached u32, text: why not from the cache, or why there
 *                        is nothing; hardware text, results blob: JSON, see
 *                        probe_json.h, empty if there is nothing
 *   RING_OPEN front end  -
 *   RING_PORT agent      port u32               (0: it takes no part)
 *   RING      front end  receiver u32, its port u32 (0: only receive), ms u32
 *   RANG      agent      received_per_s double  (0: nothing)
 *   KEEP_RING front end  cache text, value double, spread double, what text:
 *                        keep in the site's cache what the ring has measured
 *   KEPT      agent      text                   (why it is not; "": it is)
 *   COMMAND   front end  dir text, kind u32, program text: to be run in
 *                        place of the first word, if not ""; libs text: folders
 *                        that come first in LD_LIBRARY_PATH, as "a:b"; in both
 *                        the node fills in as in a broadcast's destination;
 *                        argc u32, argc × text
 *   FILES     front end  apart u32, here u32, ok blob, n u32, n × text: what
 *                        each slice makes; comes before COMMAND
 *   SLOTS     front end  kind u32, n u32, beside u32, width u32, memory u64:
 *                        how many slots there are, each with a part of the node
 *                        of its own, how many commands run at once in each, and
 *                        how many cores or GPUs and bytes a slot has
 *   SLOTTED   agent      n u32, memory u64, gpus u32, text  (answer to SLOTS; n 0:
 *                        why)
 *   RUN       front end  id u64, frame u64, begin u64, end u64, slot u32,
 *                        label text, work text: "", or of a WORK; cores u32,
 *                        gpus u32
 *   WORK      front end  work text, argc u32, argc x text: the command of a
 *                        type of work, where it differs from COMMAND's; it
 *                        comes after that
 *   CANCEL    front end  id u64: the slice's command is ended, and nothing more
 *                        is said of it
 *   INPUT     front end  id u64, blob: bytes for the stdin of the slice whose
 *                        RUN follows
 *   OUTPUT    agent      id u64, blob: bytes of the command's stdout
 *   FILE      agent      id u64, file u32, offset u64, runs u32, blob: bytes
 *                        of a file that the slice has made; before its DONE,
 *                        file after file, of an empty one with an empty blob
 *   DONE      agent      id u64, status u32, signal u32, exec_errno u32,
 *                        elapsed_ns u64, err_dropped u64, err blob
 *   PUT       front end  dir text, file text, content blob; with file ""
 *                        only the directory is made
 *   STORED    agent      errno u32              (answer to PUT)
 *   MEASURED  front end  rank u32, ranks u32, patience_s u32: every node is, and
 *                        knows of it: a program that stays alive may start, with
 *                        that number among so many; it may say where it listens
 *                        (PORTS), if others may be waited for so long, not 0
 *   LEAVE     either     -: the agent is to leave, or leaves as it was told to
 *                        by SIGTERM
 *   TASKS     front end  dir text, tasks u32, patience_s u32, by_speed u32: of a
 *                        step on this node, to be fed with slices, the first of
 *                        them within so long, in parts by what each task showed
 *                        (1) or in equal ones (0); answered by STORED
 *   IDLE      agent      units u64, frames u64, survives u32: the programs
 *                        that are fed (feeder.h) ask for their first slice, or
 *                        for one after the agent was cut off; what they bring
 *                        along
 *   OVER      either     error u32, err blob: they get no more slices, 0 or
 *                        errno; where units are tasks, no further one is begun,
 *                        and slices that wait are answered as killed; or they have ended: 0, exit status or errno,
 *                        and their last words
 *   MONITOR   front end  dir text, interval_ms u32, aggregate u32, power u32,
 *                        start double, floor double, record_ms u32, meter u32:
 *                        from now on watch the meters of this step, and tell
 *                        of them that often at most
 *   PROGRESS  agent      epoch u32, slots u32, progress double, work_ns u64,
 *                        skew double, misuse u64, done_ns u64, left_ns u64,
 *                        is_waiting u32; the sums are since the epoch began,
 *                        each time a slot comes or goes
 *   RANKS     front end  -: the step is over, tell how it went
 *             agent      is_last u32, size u32, stride u64, calls u64,
 *                        regions u64, threads u32, busy double, room double,
 *                        sum, n u32, n x (rank u32, useful double, waiting
 *                        double, calls u64, threads u32, busy double, room
 *                        double, io, polled, transfer, unsure, borrowed, lent,
 *                        cpu, delay, throttled, io_wait double, switches u64,
 *                        rss u64, state u32, call u32, since double, status
 *                        u32), others_cpu, own_cpu, node_throttled, cpus double,
 *                        k u32, k x (number u64, sum): how the time of the node's
 *                        ranks went, and of regions since the last one those
 *                        whose number is a multiple of stride; a sum is ranks
 *                        u32, busiest u32, last u32, and doubles: useful,
 *                        waiting, most, least, longest, elapsed: see
 *                        policy/efficiency.h
 *   RANK_DETAIL agent    rank u32, bin_ns double, bins u32, bins x (useful,
 *                        waiting, io, no_cpu u8: of bin_ns, in 1/255), sites
 *                        u32, sites x (call u32, waiting double, calls u64,
 *                        where text): before the last RANKS, one a rank
 *   ENERGY    front end  record_ms u32, guard u32: tell of the energy that the
 *                        node uses, so often; guard 1: its guard reads it
 *             agent      source u32, ns u64, uj u64, busy_ms u64, idle_ms u64,
 *                        text: since ns ago the counters have counted uj; or
 *                        CPUs were busy and idle for so long; or there are no
 *                        counters (any more), and text says why
 *   POWER     agent      actuator text, unit text, limit u64, floor u64,
 *                        ceiling u64: what to begin with, nothing is set yet;
 *                        with a limit of 0: unit says why not
 *   LIMIT     front end  limit u64; 0: what was found is put back
 *   LIMITED   agent      limit u64, text        (why it is another)
 *   METER     front end  kind u32, pattern text, record_ms u32: meter the
 *                        slices' commands from outside (outside_meter.h), and
 *                        tell of it that often at most
 *   METERED   agent      id u64, fraction double, misuse u64: of the slice
 *                        that runs, while it changes
 *   CLOCK     front end  -                      (say how late it is)
 *             agent      stopped_ns u64: for how long it was stopped, all in
 *                        all; also without being asked, when it goes on
 *   COMMENT   front end  text: how it went, for the job's AdminComment
 *   LINGER    front end  seconds u32, dir text: it ends; stay so long for another
 *                        one, and at the end remove dir, unless it is ""
 *             agent      endpoint: where it waits, see wireup.h; or nothing: it
 *                        does not
 *   RECALL    front end  port u32: a new one is here, and listens there; answered
 *                        by READY
 *   PORTS     agent      round u32, missing u32, first u32, blob: where the tasks
 *                        of the step on the node listen, a u16 for each, once
 *                        all have said so; or, too late, how many have not, and
 *                        the number on the node of the first of them
 *             front end  round u32, error u32: the table of all is there; or an
 *                        errno, there will be none
 *   JOIN      joiner     version u32, release text, local u32, n u32, names
 *                        blob: n, each with its NUL; these nodes would join
 *                        (see join_door.h; who says it is no agent)
 *   SEATS     front end  port u32, encrypt u32, key blob, agents u32, energy
 *                        u32, seats blob: a u32 for each of these nodes, the
 *                        rank by which its agent is READY at that port
 *   REFUSED   front end  what text, mend text   (they do not join)
 *   BCAST + k either     see bcast_message.h
 *   GRAPH + k either     see graph_message.h
 *
 * Decoders return 0, or -1 if the body is not just what is said here; then
 * the message is zeroed.  What a decoded message points to lies in the body.
 */
#ifndef LAUNCHER_WIRE_PROTOCOL_H
#define LAUNCHER_WIRE_PROTOCOL_H

#include "launcher/base/step_env.h"
#include "launcher/meter/outside_meter.h"
#include "launcher/probe/fingerprint.h"
#include "launcher/probe/probe_result.h"
#include "launcher/wire/graph_message.h"
#include "pmix_bcast/adapter.h"
#include "pmix_bcast/bcast_message.h"
#include "pmix_bcast/bytes.h"
#include "pmix_bcast/handshake.h"
#include "pmix_bcast/message.h"
#include "pmix_bcast/wireup.h"
#include "policy/aggregate.h"
#include "policy/efficiency.h"
#include "policy/power.h"

#define LABEL_MAX       256u /* bytes of a frame's label, with its NUL */
#define WORK_NAME_MAX   32u  /* bytes of a type of work, with its NUL */
#define WORKS_MAX       32u  /* of a run, besides COMMAND's */
#define TEXT_MAX        512u /* bytes of a reason, with its NUL */
#define INTERVAL_MS     10   /* between samples of the meters */
#define INTERVAL_MIN_MS 1
#define INTERVAL_MAX_MS 10000
#define RECORD_MAX_MS   100000u /* pace_record_ms() of AGENTS_MAX is 6,554 */
#define ARGC_MAX        65536u  /* words of a command; ARG_MAX binds before */
#define NODE_TASKS_MAX  16384u  /* tasks of a step on a node; far above any */
#define NODE_SLOTS_MAX  4096u   /* of a node; twice the CPUs of the largest */
#define NODE_GPUS_MAX   64u     /* of a node; 16 are many in 2026 */
#define SLOT_BESIDE_MAX 2u      /* --overlap */
#define OUTPUT_MAX      (64u << 10) /* bytes of output in one message */
#define FILES_MAX       16u         /* that a slice is to make */
#define RANKS_MAX       1024u       /* of a node that are told one by one */
#define RANKS_EACH_MAX  16384u      /* of a program of which they are */
#define RANKS_REGIONS   64u         /* in one message, and as many iterations */
#define RANKS_LOOPS     32u         /* of a program */
#define RANK_BINS       50u         /* of its time */
#define RANK_SITES      10u         /* of its calls */
#define PROBED_MAX      (16u << 10) /* of a node's results; 2 KB are usual */
#define JOINS_MAX       4096u       /* nodes that join a run */

/*
 * The version of all that is said once a connection has proved itself: these
 * messages, and those of bcast_message.h, graph_message.h, order_message.h,
 * table_tree.h and link.h.  Front end and agents must be of one version, and of
 * one release of evenstep; an agent says its own first of all.
 *
 * Raise it by 1 in each release in which one end may say what the other end of
 * the release before does not take, or takes otherwise: a type that is new,
 * gone or has another number; a body with another field, order, range or
 * meaning; another order of messages.  A number once used is not used again.
 * HERE keeps its number, and begins with version, node and, since version 3,
 * release, for ever.
 * The envelope (message.h) and the handshake have versions of their own.
 */
#define PROTOCOL_VERSION 12u
#define RELEASE_MAX      32u /* of evenstep, as "0.2.0" */

enum protocol_type {
    MSG_HERE = 16, /* for ever */
    MSG_FENCE = 17,
    MSG_TAKEN = 18,
    MSG_MISSED = 19,
    MSG_READY = 20,
    MSG_PEER = 21,
    MSG_PROBE = 22,
    MSG_PROBED = 23,
    MSG_RING_OPEN = 24,
    MSG_RING_PORT = 25,
    MSG_RING = 26,
    MSG_RANG = 27,
    MSG_COMMAND = 28,
    MSG_RUN = 29,
    MSG_INPUT = 30,
    MSG_OUTPUT = 31,
    MSG_DONE = 32,
    MSG_PUT = 33,
    MSG_STORED = 34,
    MSG_MEASURED = 35,
    MSG_LEAVE = 36,
    MSG_TASKS = 37,
    MSG_IDLE = 38,
    MSG_OVER = 39,
    MSG_MONITOR = 40,
    MSG_PROGRESS = 41,
    MSG_POWER = 42,
    MSG_LIMIT = 43,
    MSG_LIMITED = 44,
    MSG_METER = 45,
    MSG_METERED = 46,
    MSG_CLOCK = 47,
    MSG_SLOTS = 48,
    MSG_SLOTTED = 49,
    MSG_FILES = 50,
    MSG_FILE = 51,
    MSG_CANCEL = 52,
    MSG_RANKS = 53,
    MSG_ENERGY = 54,
    MSG_COMMENT = 55,
    MSG_LINGER = 56,
    MSG_RECALL = 57,
    MSG_WORK = 58,
    MSG_PORTS = 59,
    MSG_KEEP_RING = 60,
    MSG_KEPT = 61,
    MSG_RELAY = 62,
    MSG_AFTER = 63,
    MSG_BCAST = 64, /* and the next ones: + enum bcast_kind */
    MSG_BCAST_END = MSG_BCAST + BCAST_KINDS,
    MSG_GRAPH = 80, /* and the next ones: + enum graph_kind */
    MSG_GRAPH_END = MSG_GRAPH + GRAPH_MSG_KINDS,
    MSG_JOIN = 112,
    MSG_SEATS = 113,
    MSG_REFUSED = 114,
    MSG_RANK_DETAIL = 115,
};
_Static_assert((int)MSG_HERE == (int)MESSAGE_FREE
                   && (int)MSG_BCAST_END <= (int)MSG_GRAPH
                   && (int)MSG_GRAPH_END <= (int)MSG_JOIN,
               "each type has a number of its own");

struct msg_version {  /* how HERE begins, in every version */
    uint32_t version; /* not 0 */
    char node[NODE_NAME_MAX];
    char release[RELEASE_MAX]; /* "" before version 3 */
};
struct msg_here {
    uint32_t rank, agents;
    struct endpoint endpoint;
};
struct msg_fence {
    uint32_t branches;
    const uint8_t *table;
    size_t len;
};
struct msg_ready {
    uint32_t rank, agents, job, step;
    uint32_t cpus;       /* that commands may use; 0: not known */
    uint32_t has_plugin; /* our plugin is loaded in slurmstepd there */
    char node[NODE_NAME_MAX];
    char rack[NODE_NAME_MAX];  /* "": not known */
    char boot_id[BOOT_ID_MAX]; /* alike on nodes of one machine; likewise */
    struct adapter adapter;    /* link is ADAPTER_NONE: there is none */
};
struct msg_peer {
    uint32_t reached;
    char text[TEXT_MAX];
};
struct msg_probe {
    uint32_t fresh;     /* 0: the cache will do */
    uint32_t budget_ms; /* PROBE_NODE_BUDGET_MIN_MS to _MAX_MS */
    uint32_t elements;  /* bits of PROBE_BIT() */
    uint64_t ttl_s;
    char cache[PROBE_PATH_MAX];   /* its directory */
    char scratch[PROBE_PATH_MAX]; /* "": as probe_setup_init() has it */
    struct probe_site site[SITE_ELEMENTS]; /* those of elements, else 0 */
};
struct msg_probed {
    uint32_t cached;
    char text[TEXT_MAX];
    char hardware[FINGERPRINT_MAX]; /* alike on nodes that are; "": not known */
    const uint8_t *results;
    size_t len; /* at most PROBED_MAX */
};
struct msg_ring {
    uint32_t receiver, port; /* its rank, and where it listens for a ring */
    uint32_t ms;             /* at most PROBE_NODE_BUDGET_MAX_MS */
};
struct msg_keep_ring {
    char cache[PROBE_PATH_MAX]; /* its directory; not "" */
    double value, spread;       /* as in struct probe_result; >= 0 */
    char what[PROBE_WHAT_MAX];
};
enum command_kind {
    COMMAND_SLICE,      /* one process a slice */
    COMMAND_PERSISTENT, /* it stays alive from slice to slice */
    COMMAND_TASKS,      /* one process a unit: argv is as of task_runner.h */
};
struct msg_command {
    char dir[4096]; /* PATH_MAX */
    uint32_t kind;  /* enum command_kind */
    char program[DESTINATION_MAX];
    char libs[LIBS_LIST_MAX];
    char **argv; /* NULL-ended, one allocation; free() it */
};
struct msg_work {
    char name[WORK_NAME_MAX]; /* not "" */
    char **argv;              /* as of COMMAND */
};
enum slots_kind {
    SLOTS_NUMBER,
    SLOTS_CORES,
    SLOTS_SOCKETS,
    SLOTS_GPUS,
    SLOTS_PART /* n percent of the cores, one at least */
};
struct msg_slots {
    uint32_t kind;   /* enum slots_kind */
    uint32_t n;      /* at most NODE_SLOTS_MAX; 0: one of the kind each, not of
                      SLOTS_NUMBER and SLOTS_PART */
    uint32_t beside; /* 1 to SLOT_BESIDE_MAX */
    uint32_t width;  /* cores or GPUs of each, at most NODE_SLOTS_MAX; 0: one */
    uint64_t memory; /* bytes of each: so there may be fewer; 0: not counted */
};
struct msg_slotted {
    uint32_t n;      /* likewise; 0: there are none of the kind */
    uint64_t memory; /* bytes that the job has there */
    uint32_t gpus;   /* for our commands, at most NODE_GPUS_MAX */
    char text[TEXT_MAX];
};
struct msg_run {
    uint64_t id, frame, begin, end;
    uint32_t slot; /* of the node, the first is 0 */
    char label[LABEL_MAX];
    char work[WORK_NAME_MAX]; /* "": of the COMMAND */
    /* Places of slots that it has for itself, at most NODE_SLOTS_MAX; 0: that of its
     * slot.  Likewise 1 + GPUs, of NODE_GPUS_MAX. */
    uint32_t cores, gpus;
};
struct msg_files {
    uint32_t apart;  /* 1: each slice has a folder of its own, new and empty */
    uint32_t here;   /* 1: the files are to stay where they are made */
    uint32_t all;    /* 1: a slice is done only if all of its INPUT was read */
    uint8_t ok[256]; /* of each exit status, 1: the slice is done then */
    uint32_t n;      /* at most FILES_MAX */
    char **name;     /* n templates (file_name.h), one allocation; free() it */
};
struct msg_file {
    uint64_t id;
    uint32_t file;   /* of FILES, below FILES_MAX */
    uint64_t offset; /* of these bytes */
    uint32_t runs;   /* 1: it may be executed */
    uint64_t size;   /* of all of the file */
    const uint8_t *bytes;
    size_t len; /* at most OUTPUT_MAX */
};
struct msg_output { /* and INPUT */
    uint64_t id;
    const uint8_t *bytes;
    size_t len;
};
struct msg_done {
    uint64_t id;
    uint32_t status, signal, exec_errno;
    uint64_t elapsed_ns, cpu_ns; /* cpu_ns: CPU time; 0: not known */
    uint64_t err_dropped;
    const uint8_t *err;
    size_t err_len;
};
struct msg_put {
    char dir[64], file[64]; /* plain names, no '/', not "." or ".."; file
                               may be "" */
    const uint8_t *content;
    size_t len;
};
struct msg_linger {
    uint32_t seconds;
    char dir[64]; /* a plain name, as in msg_put, or "" */
};
struct msg_join {
    uint32_t version; /* of the protocol */
    char release[RELEASE_MAX];
    uint32_t local;      /* its agents are those of --local */
    uint32_t n;          /* 1 to JOINS_MAX */
    const uint8_t *name; /* one behind the other, each with its NUL */
    size_t len;
};
struct msg_seats {
    uint32_t port; /* of the session */
    struct secret secret;
    uint32_t agents;     /* all seats, and those that the run began with */
    uint32_t energy;     /* is to be read on the nodes */
    const uint8_t *seat; /* big-endian, msg_seat() */
    uint32_t n;
};
struct msg_refused {
    char what[TEXT_MAX], mend[TEXT_MAX];
};
struct msg_tasks {
    char dir[64]; /* a plain name, as in msg_put */
    uint32_t tasks;
    uint32_t patience_s; /* from the first who asks to the first slice; >= 1 */
    uint32_t by_speed;   /* see feeder_open() */
};
struct msg_measured {
    uint32_t rank, ranks;
    uint32_t patience_s; /* of evenstep_listen(); 0: there is none */
};
struct msg_ports {
    uint32_t round;
    uint32_t missing, first; /* first is below NODE_TASKS_MAX */
    const uint8_t *port;     /* big-endian */
    size_t len; /* at most 2 NODE_TASKS_MAX; 0 if some are missing */
};
struct msg_ports_end {
    uint32_t round, error;
};
struct msg_idle {
    uint64_t units, frames;
    uint32_t survives; /* 1: others may do what a lost node had to */
};
struct msg_over {
    uint32_t error;
    const uint8_t *err;
    size_t err_len;
};
enum monitor_power {
    MONITOR_ONLY,
    MONITOR_GUARD,   /* limits will be set, by the node's guard */
    MONITOR_THREADS, /* by advice to the program */
};
struct msg_monitor {
    char dir[64]; /* as of PUT */
    uint32_t interval_ms, aggregate;
    uint32_t power;      /* enum monitor_power */
    double start, floor; /* of the threads, parts of the CPUs: 0 < floor <= 1 */
    uint32_t record_ms;  /* between two records, at least */
    uint32_t meter;      /* enum step_meter; of `cpu` the agent is the meter */
};
struct msg_progress {
    uint32_t epoch, slots;
    double progress, skew; /* >= 0 */
    uint64_t work_ns, misuse;
    uint64_t done_ns;    /* of the program's time, see node_ranks.h; 0: it has
                            no ranks that are metered from outside */
    uint64_t left_ns;    /* likewise, of a long region; 0: not known */
    uint32_t is_waiting; /* for the others, in a long region */
};
enum rank_state {
    RANK_USEFUL,
    RANK_IN_CALL, /* of MPI, and waits */
    RANK_LEFT,    /* MPI, by MPI_Finalize */
    RANK_DIED,    /* before that */
};
#define RANK_NO_MEMORY 0x10000 /* beside SIGKILL: the kernel had none left */
/* Times in ns; of what is not known 0. */
struct msg_rank {
    uint32_t rank; /* below the size of its program */
    double useful, waiting;
    uint64_t calls;
    uint32_t threads;  /* 0: their time is not known */
    double busy, room; /* of them, see policy/efficiency.h: busy <= room */
    double io, polled, transfer; /* of waiting, see meter_page.h */
    double unsure;               /* of useful */
    double borrowed, lent;       /* of CPUs */
    double cpu, delay;           /* its process had, and waited to have */
    double throttled, io_wait;   /* its own cgroup was; it waited for disks */
    uint64_t switches, rss;      /* involuntary; bytes, the most */
    uint32_t state;              /* enum rank_state */
    uint32_t call;               /* RANK_IN_CALL: see meter_page.h */
    double since;                /* it has been in that state for so long */
    int32_t status;              /* RANK_DIED: of wait(2); -1: not known */
};
struct msg_rank_bin { /* parts of it, in 1/255 */
    uint8_t useful, waiting, io;
    uint8_t no_cpu; /* of useful: it had no CPU */
};
struct msg_rank_site {
    uint32_t call; /* as in msg_rank */
    double waiting;
    uint64_t calls;
    char where[48]; /* printable */
};
struct msg_rank_detail {
    uint32_t rank;
    double bin_ns; /* > 0 if there are bins */
    uint32_t bins; /* at most RANK_BINS */
    struct msg_rank_bin bin[RANK_BINS];
    uint32_t sites; /* at most RANK_SITES, who waited most first */
    struct msg_rank_site site[RANK_SITES];
};
struct msg_region { /* or an iteration, as found by mpi_loops.h */
    uint64_t number;
    uint32_t loop, period; /* of an iteration: below RANKS_LOOPS; regions */
    struct efficiency_sum sum;
};
struct msg_ranks { /* 250 KB */
    uint32_t is_last, size;
    uint64_t stride; /* a power of two */
    struct efficiency_sum sum;
    uint32_t n; /* at most RANKS_MAX, and as many as there are */
    struct msg_rank rank[RANKS_MAX];
    double others_cpu,
        own_cpu;           /* ns that other processes had, and the step's */
    double node_throttled; /* ns that the cgroups around the step were */
    double cpus;           /* that the step may use */
    uint32_t k;            /* at most RANKS_REGIONS */
    struct msg_region region[RANKS_REGIONS];
    uint64_t iterations;       /* of the rank that has most */
    uint64_t iteration_stride; /* a power of two */
    uint32_t l;                /* at most RANKS_REGIONS */
    struct msg_region iteration[RANKS_REGIONS];
};
struct msg_meter {
    uint32_t kind; /* OUTSIDE_OUTPUT or OUTSIDE_CPU */
    char pattern[TEXT_MAX];
    uint32_t record_ms; /* as in MONITOR */
};
struct msg_metered {
    uint64_t id;
    double fraction; /* 0 to 1 */
    uint64_t misuse; /* since the METER */
};
struct msg_energy_order {
    uint32_t record_ms; /* at least 1 */
    uint32_t guard;
};
enum energy_record { ENERGY_COUNTED, ENERGY_CPUS, ENERGY_NONE };
struct msg_energy {
    uint32_t source; /* enum energy_record */
    uint64_t ns, uj;
    uint64_t busy_ms, idle_ms; /* of all CPUs together */
    char text[TEXT_MAX];
};
struct msg_power {
    char actuator[16];
    char unit[TEXT_MAX];
    uint64_t limit, floor, ceiling; /* floor <= limit <= ceiling */
};
struct msg_limited {
    uint64_t limit;
    char text[TEXT_MAX];
};

/* Of a HERE of any version: what follows is not looked at. */
int msg_read_version(struct msg_version *m, const uint8_t *body, size_t len);
void msg_write_here(struct writer *w, const struct msg_here *m);
int msg_read_here(struct msg_here *m, const uint8_t *body, size_t len);
void msg_write_fence(struct writer *w, const struct msg_fence *m);
int msg_read_fence(struct msg_fence *m, const uint8_t *body, size_t len);
void msg_write_ready(struct writer *w, const struct msg_ready *m);
int msg_read_ready(struct msg_ready *m, const uint8_t *body, size_t len);
void msg_write_peer(struct writer *w, const struct msg_peer *m);
int msg_read_peer(struct msg_peer *m, const uint8_t *body, size_t len);
void msg_write_probe(struct writer *w, const struct msg_probe *m);
int msg_read_probe(struct msg_probe *m, const uint8_t *body, size_t len);
void msg_write_probed(struct writer *w, const struct msg_probed *m);
int msg_read_probed(struct msg_probed *m, const uint8_t *body, size_t len);
void msg_write_ring(struct writer *w, const struct msg_ring *m);
int msg_read_ring(struct msg_ring *m, const uint8_t *body, size_t len);
/* RANG: a double >= 0. */
int msg_read_rang(double *received_per_s, const uint8_t *body, size_t len);
void msg_write_keep_ring(struct writer *w, const struct msg_keep_ring *m);
int msg_read_keep_ring(struct msg_keep_ring *m,
                       const uint8_t *body,
                       size_t len);
void msg_write_command(struct writer *w, const struct msg_command *m);
int msg_read_command(struct msg_command *m, const uint8_t *body, size_t len);
void msg_write_work(struct writer *w, const char *name, char *const argv[]);
int msg_read_work(struct msg_work *m, const uint8_t *body, size_t len);
void msg_write_files(struct writer *w, const struct msg_files *m);
int msg_read_files(struct msg_files *m, const uint8_t *body, size_t len);
void msg_write_file(struct writer *w, const struct msg_file *m);
int msg_read_file(struct msg_file *m, const uint8_t *body, size_t len);
void msg_write_slots(struct writer *w, const struct msg_slots *m);
int msg_read_slots(struct msg_slots *m, const uint8_t *body, size_t len);
void msg_write_slotted(struct writer *w, const struct msg_slotted *m);
int msg_read_slotted(struct msg_slotted *m, const uint8_t *body, size_t len);
void msg_write_run(struct writer *w, const struct msg_run *m);
int msg_read_run(struct msg_run *m, const uint8_t *body, size_t len);
void msg_write_output(struct writer *w, const struct msg_output *m);
int msg_read_output(struct msg_output *m, const uint8_t *body, size_t len);
void msg_write_done(struct writer *w, const struct msg_done *m);
int msg_read_done(struct msg_done *m, const uint8_t *body, size_t len);
void msg_write_put(struct writer *w, const struct msg_put *m);
int msg_read_put(struct msg_put *m, const uint8_t *body, size_t len);
void msg_write_linger(struct writer *w, const struct msg_linger *m);
int msg_read_linger(struct msg_linger *m, const uint8_t *body, size_t len);
void msg_write_tasks(struct writer *w, const struct msg_tasks *m);
int msg_read_tasks(struct msg_tasks *m, const uint8_t *body, size_t len);
void msg_write_measured(struct writer *w, const struct msg_measured *m);
int msg_read_measured(struct msg_measured *m, const uint8_t *body, size_t len);
void msg_write_ports(struct writer *w, const struct msg_ports *m);
int msg_read_ports(struct msg_ports *m, const uint8_t *body, size_t len);
void msg_write_ports_end(struct writer *w, const struct msg_ports_end *m);
int msg_read_ports_end(struct msg_ports_end *m,
                       const uint8_t *body,
                       size_t len);
void msg_write_idle(struct writer *w, const struct msg_idle *m);
int msg_read_idle(struct msg_idle *m, const uint8_t *body, size_t len);
void msg_write_over(struct writer *w, const struct msg_over *m);
int msg_read_over(struct msg_over *m, const uint8_t *body, size_t len);
void msg_write_monitor(struct writer *w, const struct msg_monitor *m);
int msg_read_monitor(struct msg_monitor *m, const uint8_t *body, size_t len);
void msg_write_progress(struct writer *w, const struct msg_progress *m);
int msg_read_progress(struct msg_progress *m, const uint8_t *body, size_t len);
void msg_write_ranks(struct writer *w, const struct msg_ranks *m);
int msg_read_ranks(struct msg_ranks *m, const uint8_t *body, size_t len);
void msg_write_rank_detail(struct writer *w, const struct msg_rank_detail *m);
int msg_read_rank_detail(struct msg_rank_detail *m,
                         const uint8_t *body,
                         size_t len);
void msg_write_meter(struct writer *w, const struct msg_meter *m);
int msg_read_meter(struct msg_meter *m, const uint8_t *body, size_t len);
void msg_write_metered(struct writer *w, const struct msg_metered *m);
int msg_read_metered(struct msg_metered *m, const uint8_t *body, size_t len);
void msg_write_join(struct writer *w, const struct msg_join *m);
int msg_read_join(struct msg_join *m, const uint8_t *body, size_t len);
/* seat: n of them. */
void msg_write_seats(struct writer *w,
                     const struct msg_seats *m,
                     const size_t seat[]);
int msg_read_seats(struct msg_seats *m, const uint8_t *body, size_t len);
/* The rank of the i-th node; i < n. */
uint32_t msg_seat(const struct msg_seats *m, uint32_t i);
void msg_write_refused(struct writer *w, const struct msg_refused *m);
int msg_read_refused(struct msg_refused *m, const uint8_t *body, size_t len);
void msg_write_energy_order(struct writer *w, const struct msg_energy_order *m);
int msg_read_energy_order(struct msg_energy_order *m,
                          const uint8_t *body,
                          size_t len);
void msg_write_energy(struct writer *w, const struct msg_energy *m);
int msg_read_energy(struct msg_energy *m, const uint8_t *body, size_t len);
void msg_write_power(struct writer *w, const struct msg_power *m);
int msg_read_power(struct msg_power *m, const uint8_t *body, size_t len);
void msg_write_limited(struct writer *w, const struct msg_limited *m);
int msg_read_limited(struct msg_limited *m, const uint8_t *body, size_t len);
/* COMMENT and KEPT: a text. */
int msg_read_comment(char text[TEXT_MAX], const uint8_t *body, size_t len);
/* MISSED, AFTER, TAKEN, STORED, RING_PORT and RECALL: a single u32.
 * LIMIT, CANCEL and CLOCK of an agent: a
 * single u64. */
int msg_read_u32(uint32_t *v, const uint8_t *body, size_t len);
int msg_read_u64(uint64_t *v, const uint8_t *body, size_t len);

#endif
