/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truth CASE [MILLISECONDS [FILE]]: an MPI program that knows nothing of evenstep
 * and keeps its own books.  Each rank prints, when it has left MPI,
 *
 *   rank R useful SECONDS elapsed SECONDS
 *
 * useful: outside MPI, by its own clock; a loop that asks MPI again and again and
 * finds nothing is waiting.  Rank 0 prints the true verdict, too:
 *
 *   verdict CAUSE; rank R      (-1: none)
 *
 * A unit of work is so many MILLISECONDS (20) of CPU time.  In most cases the last
 * rank has four times the work of the others.  FILE is for those that write one.
 * `truth list` prints the names of all.
 */
#define _GNU_SOURCE /* for O_DIRECT */
#include "calibrated.h"

#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 8
#define MOST   4 /* times the work of the others */

static int rank, ranks, last;
static double unit = 20;
static const char *path = "truth.data";

/* --- the books -------------------------------------------------------------- */

static double useful, left_at;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void enter(void)
{
    useful += now() - left_at;
}
static void leave(void)
{
    left_at = now();
}
/* A call, or a loop of calls, of MPI. */
#define M(...)                                                                 \
    do {                                                                       \
        enter();                                                               \
        __VA_ARGS__;                                                           \
        leave();                                                               \
    } while (0)

static double thread_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void work(double units)
{
    double until = thread_seconds() + units * unit / 1e3;

    while (thread_seconds() < until)
        compute(10000);
}
static void late(void)
{
    work(rank == last ? MOST : 1);
}

static int mine = 1, got, many[64], other[64];

static void meet(MPI_Comm comm)
{
    M(MPI_Allreduce(&mine, &got, 1, MPI_INT, MPI_SUM, comm));
}

/* --- collectives -------------------------------------------------------------- */

static void even(int round)
{
    (void)round;
    work(2);
    meet(MPI_COMM_WORLD);
}
static void uneven(int round)
{
    (void)round;
    late();
    meet(MPI_COMM_WORLD);
}
static void moves(int round)
{
    work(round % ranks == rank ? MOST : 1);
    meet(MPI_COMM_WORLD);
}
static void alltoallv(int round)
{
    int counts[64], at[64];

    (void)round;
    late();
    for (int i = 0; i < ranks; i++)
        counts[i] = 1, at[i] = i;
    M(MPI_Alltoallv(many, counts, at, MPI_INT, other, counts, at, MPI_INT,
                    MPI_COMM_WORLD));
}
static void reduce_bcast(int round)
{
    (void)round;
    late();
    M(MPI_Reduce(&mine, &got, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    M(MPI_Bcast(&got, 1, MPI_INT, 0, MPI_COMM_WORLD));
}
static void iallreduce(int round)
{
    MPI_Request request;

    (void)round;
    M(MPI_Iallreduce(&mine, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                     &request));
    late();
    M(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void neighbours(int round)
{
    static MPI_Comm ring;
    int dims = ranks, periods = 1;

    if (round == 0)
        M(MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &ring));
    late();
    M(MPI_Neighbor_alltoall(many, 1, MPI_INT, other, 1, MPI_INT, ring));
}

/* --- messages ----------------------------------------------------------------- */

static int before(void)
{
    return (rank + ranks - 1) % ranks;
}
static int after(void)
{
    return (rank + 1) % ranks;
}
/* Each item through all ranks, one after another. */
static void pipeline(int round)
{
    (void)round;
    if (rank > 0)
        M(MPI_Recv(&got, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE));
    work(2);
    if (rank < last)
        M(MPI_Ssend(&mine, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD));
}
static void master(int round)
{
    MPI_Status status;

    (void)round;
    for (int i = 1; rank == 0 && i < ranks; i++) {
        M(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                   &status));
        M(MPI_Send(&mine, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD));
    }
    if (rank == 0)
        return;
    M(MPI_Send(&mine, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    M(MPI_Recv(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    late();
}
static void halo(int round)
{
    (void)round;
    late();
    if (rank > 0)
        M(MPI_Sendrecv(many, 1, MPI_INT, rank - 1, 3, other, 1, MPI_INT,
                       rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank < last)
        M(MPI_Sendrecv(many, 1, MPI_INT, rank + 1, 3, other, 1, MPI_INT,
                       rank + 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void start_ring(MPI_Request *request)
{
    enter();
    MPI_Irecv(&other[0], 1, MPI_INT, before(), 4, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(&other[1], 1, MPI_INT, after(), 4, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(&many[0], 1, MPI_INT, before(), 4, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(&many[1], 1, MPI_INT, after(), 4, MPI_COMM_WORLD, &request[3]);
    leave();
}
static void waitall(int round)
{
    MPI_Request request[4];

    (void)round;
    late();
    start_ring(request);
    M(MPI_Waitall(4, request, MPI_STATUSES_IGNORE));
}
static void testsome(int round)
{
    MPI_Request request[4];
    int done = 0, n, at[4];

    (void)round;
    late();
    start_ring(request);
    enter();
    while (done < 4) {
        MPI_Testsome(4, request, &n, at, MPI_STATUSES_IGNORE);
        done += n;
    }
    leave();
}
static void persistent(int round)
{
    static MPI_Request request[2];

    if (round == 0) {
        MPI_Recv_init(&got, 1, MPI_INT, before(), 5, MPI_COMM_WORLD,
                      &request[0]);
        MPI_Ssend_init(&mine, 1, MPI_INT, after(), 5, MPI_COMM_WORLD,
                       &request[1]);
    }
    late();
    M(MPI_Startall(2, request); MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
}
#if MPI_VERSION >= 4
static void partitioned(int round)
{
    static MPI_Request in, out;

    if (round == 0) {
        MPI_Precv_init(many, 2, 1, MPI_INT, before(), 6, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &in);
        MPI_Psend_init(other, 2, 1, MPI_INT, after(), 6, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &out);
    }
    M(MPI_Start(&in); MPI_Start(&out));
    late();
    M(MPI_Pready(0, out); MPI_Pready(1, out));
    M(MPI_Wait(&out, MPI_STATUS_IGNORE); MPI_Wait(&in, MPI_STATUS_IGNORE));
}
#endif
static void ssend(int round)
{
    MPI_Request request;

    (void)round;
    late();
    M(MPI_Irecv(&got, 1, MPI_INT, before(), 7, MPI_COMM_WORLD, &request));
    M(MPI_Ssend(&mine, 1, MPI_INT, after(), 7, MPI_COMM_WORLD));
    M(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Those that ask again and again, and what they do in between. */
static void ask(MPI_Request *request, int sleep_us)
{
    int flag = 0;

    enter();
    while (!flag) {
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        if (!flag && sleep_us)
            usleep((unsigned)sleep_us);
    }
    leave();
}
static void test(int round)
{
    MPI_Request request;

    (void)round;
    late();
    M(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    ask(&request, 0);
}
static void test_sleep(int round)
{
    MPI_Request request;

    (void)round;
    late();
    M(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    ask(&request, 1000);
}
/* Work, with a question now and then so that messages go on. */
static void test_work(int round)
{
    MPI_Request request;
    int flag = 0, parts = 10 * (rank == last ? MOST : 1);

    (void)round;
    M(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    for (int i = 0; i < parts; i++) {
        work(0.1);
        M(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    }
    M(MPI_Wait(&request, MPI_STATUS_IGNORE));
    meet(MPI_COMM_WORLD);
}
/* The last has news for all others. */
static void tell_all(void)
{
    for (int i = 0; rank == last && i < last; i++)
        M(MPI_Send(&mine, 1, MPI_INT, i, 8, MPI_COMM_WORLD));
}
static void iprobe(int round)
{
    int flag = 0;

    (void)round;
    late();
    tell_all();
    if (rank == last)
        return;
    enter();
    while (!flag)
        MPI_Iprobe(last, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_INT, last, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    leave();
}
static void probe(int round)
{
    (void)round;
    late();
    tell_all();
    if (rank < last)
        M(MPI_Probe(last, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); MPI_Recv(
              &got, 1, MPI_INT, last, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* --- communicators -------------------------------------------------------------- */

static void subcomm(int round)
{
    static MPI_Comm half;

    if (round == 0)
        M(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    late();
    meet(half);
}
static void create_group(int round)
{
    MPI_Group group;
    MPI_Comm comm;

    late();
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    M(MPI_Comm_create_group(MPI_COMM_WORLD, group, round, &comm));
    M(MPI_Comm_free(&comm));
    MPI_Group_free(&group);
}
static void split(int round)
{
    MPI_Comm comm;

    late();
    if (round % 2)
        M(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm));
    else
        M(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    M(MPI_Comm_free(&comm));
}
static void intercomm(int round)
{
    MPI_Comm half, bridge, all;

    M(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    late();
    M(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, round,
                           &bridge));
    M(MPI_Barrier(bridge));
    M(MPI_Intercomm_merge(bridge, 0, &all));
    M(MPI_Comm_free(&all); MPI_Comm_free(&bridge); MPI_Comm_free(&half));
}
/* --- memory of others ------------------------------------------------------------ */

static MPI_Win shown = MPI_WIN_NULL;

static MPI_Win window(void)
{
    static int *base;

    if (!base)
        M(MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                           &shown));
    return shown;
}
static void win_allocate(int round)
{
    int *base;
    MPI_Win win;

    (void)round;
    late();
    M(MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    M(MPI_Win_free(&win));
}
static void win_fence(int round)
{
    MPI_Win win = window();

    (void)round;
    late();
    M(MPI_Win_fence(0, win));
}
static void win_lock(int round)
{
    MPI_Win win = window();

    (void)round;
    M(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    late();
    M(MPI_Win_unlock(rank, win));
    M(MPI_Win_fence(0, win));
}
static void win_pscw(int round)
{
    MPI_Group all;
    MPI_Win win = window();

    (void)round;
    late();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    M(MPI_Win_post(all, 0, win));
    M(MPI_Win_start(all, 0, win); MPI_Win_complete(win));
    M(MPI_Win_wait(win));
    MPI_Group_free(&all);
}

/* --- files ------------------------------------------------------------------------ */

static MPI_File written = MPI_FILE_NULL;

static MPI_File open_file(void)
{
    if (written == MPI_FILE_NULL)
        M(MPI_File_open(MPI_COMM_WORLD, path,
                        MPI_MODE_CREATE | MPI_MODE_RDWR
                            | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &written));
    return written;
}
static void write_all(int round)
{
    MPI_File file = open_file();

    (void)round;
    late();
    M(MPI_File_write_at_all(file, (MPI_Offset)rank * 64, many, 1, MPI_INT,
                            MPI_STATUS_IGNORE));
}
/* Rank 0 writes for as long as three units of work take at 40 % of a core. */
static void write_alone(int round)
{
    static char block[1 << 20];
    MPI_File file = open_file();
    double until;

    (void)round;
    work(1);
    until = now() + 8 * unit / 1e3;
    while (rank == 0 && now() < until)
        M(MPI_File_write_at(file, 0, block, sizeof block, MPI_CHAR,
                            MPI_STATUS_IGNORE));
    meet(MPI_COMM_WORLD);
}
/* Past the page cache where the file system can: copying into it takes CPU, which is what
 * a node of 40 % of a core would lack with a fast disk. */
static void write_posix(int round)
{
    static char block[1 << 20] __attribute__((aligned(4096)));
    static int fd = -1;
    double until;

    work(1);
    if (rank == 0 && fd < 0)
        fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_DIRECT, 0600);
    if (rank == 0 && fd < 0)
        fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    until = now() + 8 * unit / 1e3;
    while (rank == 0 && now() < until && pwrite(fd, block, sizeof block, 0) > 0)
        (void)fdatasync(fd);
    meet(MPI_COMM_WORLD);
    if (round == ROUNDS - 1 && rank == 0)
        (void)(close(fd) + unlink(path));
}

/* --- threads ------------------------------------------------------------------------ */

static void in_thread(void *(*function)(void *), void *arg)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, function, arg) == 0)
        (void)pthread_join(thread, NULL);
}
static void *all_rounds(void *arg)
{
    (void)arg;
    leave();
    for (int i = 0; i < ROUNDS; i++)
        uneven(i);
    enter();
    return NULL;
}
/* Another thread than the one that has called MPI_Init makes all calls. */
static void by_thread(int round)
{
    enter();
    if (round == 0)
        in_thread(all_rounds, NULL);
    leave();
}
static void *call_often(void *arg)
{
    int number = 0;

    for (int i = 0; i < ROUNDS; i++)
        MPI_Allreduce(&mine, &number, 1, MPI_INT, MPI_SUM, *(MPI_Comm *)arg);
    return NULL;
}
/* Two threads make calls; the second one does nothing else. */
static void two_threads(int round)
{
    static MPI_Comm copy;
    static pthread_t thread;

    if (round == 0) {
        M(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
        (void)pthread_create(&thread, NULL, call_often, &copy);
    }
    uneven(round);
    if (round == ROUNDS - 1)
        M((void)pthread_join(thread, NULL));
}
static void *work_and_tell(void *arg)
{
    (void)arg;
    late();
    MPI_Send(&mine, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);
    return NULL;
}
/* The work is a second thread's, for which the first one waits: in MPI, but its
 * rank works. */
static void thread_works(int round)
{
    pthread_t thread;

    (void)round;
    (void)pthread_create(&thread, NULL, work_and_tell, NULL);
    MPI_Recv(&got, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    (void)pthread_join(thread, NULL);
    meet(MPI_COMM_WORLD);
}
static void *burn(void *arg)
{
    while (!*(_Atomic int *)arg)
        compute(100000);
    return NULL;
}
/* Rank 1 has three threads more that take its CPU. */
static void own_threads(int round)
{
    static _Atomic int is_over;
    static pthread_t thread[3];

    for (int i = 0; rank == 1 && round == 0 && i < 3; i++)
        (void)pthread_create(&thread[i], NULL, burn, &is_over);
    even(round);
    is_over = round == ROUNDS - 1;
    for (int i = 0; rank == 1 && is_over && i < 3; i++)
        (void)pthread_join(thread[i], NULL);
}

/* --- the end ------------------------------------------------------------------------ */

static void finalize(int round)
{
    (void)round;
    late();
}
static void last_stretch(int round)
{
    work(1);
    meet(MPI_COMM_WORLD);
    if (round == ROUNDS - 1 && rank == last)
        work(2 * ROUNDS);
}

/* --- all ------------------------------------------------------------------------------ */

#define MORE "more work" /* of the one whose useful time is the most */

static const struct {
    const char *name, *cause;
    void (*round)(int round);
    int rank; /* that is to blame */
    int threads;
} cases[] = {
    {"even", "even", even, -1, 0},
    {"uneven", MORE, uneven, -2, 0},
    {"moves", "moves", moves, -1, 0},
    {"alltoallv", MORE, alltoallv, -2, 0},
    {"reduce_bcast", MORE, reduce_bcast, -2, 0},
    {"iallreduce", MORE, iallreduce, -2, 0},
    {"neighbours", MORE, neighbours, -2, 0},
    {"pipeline", "communication", pipeline, -1, 0},
    {"master", MORE, master, -2, 0},
    {"halo", MORE, halo, -2, 0},
    {"waitall", MORE, waitall, -2, 0},
    {"testsome", MORE, testsome, -2, 0},
    {"persistent", MORE, persistent, -2, 0},
#if MPI_VERSION >= 4
    {"partitioned", MORE, partitioned, -2, 0},
#endif
    {"ssend", MORE, ssend, -2, 0},
    {"test", MORE, test, -2, 0},
    {"test_sleep", MORE, test_sleep, -2, 0},
    {"test_work", MORE, test_work, -2, 0},
    {"iprobe", MORE, iprobe, -2, 0},
    {"probe", MORE, probe, -2, 0},
    {"subcomm", MORE, subcomm, -2, 0},
    {"create_group", MORE, create_group, -2, 0},
    {"split", MORE, split, -2, 0},
    {"intercomm", MORE, intercomm, -2, 0},
    {"win_allocate", MORE, win_allocate, -2, 0},
    {"win_fence", MORE, win_fence, -2, 0},
    {"win_lock", MORE, win_lock, -2, 0},
    {"win_pscw", MORE, win_pscw, -2, 0},
    {"write_all", MORE, write_all, -2, 0},
    {"write_alone", "io", write_alone, 0, 0},
    {"write_posix", "io", write_posix, 0, 0},
    {"by_thread", MORE, by_thread, -2, 1},
    {"two_threads", MORE, two_threads, -2, 1},
    {"thread_works", MORE, thread_works, -2, 1},
    {"own_threads", "no cpu", own_threads, 1, 0},
    {"neighbour", "no cpu", even, 1, 0}, /* who runs it sees to that */
    {"quota", "no cpu", even, 1, 0},     /* likewise */
    {"finalize", MORE, finalize, -2, 0},
    {"last_stretch", MORE, last_stretch, -2, 0},
};

static int find(const char *name)
{
    int n = (int)(sizeof cases / sizeof *cases);

    for (int i = 0; i < n; i++)
        if (strcmp(name, cases[i].name) == 0)
            return i;
    for (int i = 0; i < n; i++)
        puts(cases[i].name);
    exit(strcmp(name, "list") == 0 ? 0 : 2);
}

int main(int argc, char **argv)
{
    int is = find(argc > 1 ? argv[1] : ""), provided;
    int wanted = cases[is].threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    double began;

    unit = argc > 2 ? atof(argv[2]) : unit;
    path = argc > 3 ? argv[3] : path;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    leave();
    began = left_at;
    if (provided < wanted)
        return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    last = ranks - 1;
    for (int i = 0; i < ROUNDS; i++)
        cases[is].round(i);
    if (shown != MPI_WIN_NULL)
        M(MPI_Win_free(&shown));
    if (written != MPI_FILE_NULL)
        M(MPI_File_close(&written));
    M(MPI_Finalize());
    printf("rank %d useful %.6f elapsed %.6f\n", rank, useful, left_at - began);
    if (rank == 0)
        printf("verdict %s; rank %d\n", cases[is].cause,
               cases[is].rank == -2 ? last : cases[is].rank);
    return 0;
}
