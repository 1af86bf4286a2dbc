/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_all [HOW]: an MPI program that knows nothing of evenstep.  It makes most
 * calls that wait, and rank 0 prints a digest of what they brought.
 *
 *   abort    rank 1 calls MPI_Abort
 *   kill     rank 1 kills itself
 *   agent    rank 1 kills the agent that reads its meter
 *   fork     all fork children in the middle, which leave by exit()
 *   thread   two threads a rank make calls at once (MPI_THREAD_MULTIPLE)
 *   one      only rank 0 of the step calls MPI_Init, as a program of its own
 *   never    nobody does
 *   window   at the end they put into each other's memory, which Open MPI cannot
 *            do between nodes that have but TCP
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 5

static int rank, ranks;

static void mix(uint64_t *digest, long value)
{
    *digest = (*digest ^ (uint64_t)value) * UINT64_C(0x100000001b3);
}

/* Ranks send around the ring, in each way that blocks. */
static void ring(MPI_Comm comm, uint64_t *digest)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    int mine = rank * 3, got = -1, flag = 0;
    MPI_Request request[2];
    MPI_Status status[2];
    MPI_Message message;

    MPI_Irecv(&got, 1, MPI_INT, before, 1, comm, &request[0]);
    MPI_Isend(&mine, 1, MPI_INT, next, 1, comm, &request[1]);
    MPI_Waitall(2, request, status);
    mix(digest, got + status[0].MPI_SOURCE);
    MPI_Sendrecv(&mine, 1, MPI_INT, next, 2, &got, 1, MPI_INT, before, 2, comm,
                 &status[0]);
    mix(digest, got + status[0].MPI_TAG);
    MPI_Irecv(&got, 1, MPI_INT, before, 3, comm, &request[0]);
    MPI_Ssend(&mine, 1, MPI_INT, next, 3, comm);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Isend(&mine, 1, MPI_INT, next, 4, comm, &request[0]);
    MPI_Mprobe(before, 4, comm, &message, &status[0]);
    MPI_Mrecv(&got, 1, MPI_INT, &message, &status[0]);
    while (!flag)
        MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
    mix(digest, got + status[0].MPI_SOURCE);
}

/* Each ends a region if comm holds all ranks: 7 of them. */
static void collectives(MPI_Comm comm, uint64_t *digest)
{
    int mine = rank + 1, sum = 0, all[64], swapped[64];

    MPI_Barrier(comm);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    mix(digest, sum);
    MPI_Bcast(&mine, 1, MPI_INT, ranks - 1, comm);
    mix(digest, mine);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    MPI_Alltoall(all, 1, MPI_INT, swapped, 1, MPI_INT, comm);
    for (int i = 0; i < ranks; i++)
        mix(digest, all[i] + 7 * swapped[i]);
    MPI_Reduce(all, swapped, ranks, MPI_INT, MPI_SUM, 0, comm);
    mix(digest, rank == 0 ? swapped[0] : 0);
    MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    mix(digest, sum);
}

/* Halves of the ranks, made and freed each time: handles come back. */
static void halves(uint64_t *digest)
{
    MPI_Comm half, copy;
    int sum = 0;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    mix(digest, sum);
    MPI_Comm_free(&half);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy); /* ends a region */
    mix(digest, sum);
    MPI_Comm_free(&copy);
}

static void window(uint64_t *digest)
{
    int here = -1, mine = 5 * rank;
    MPI_Win win;

    MPI_Win_create(&here, sizeof here, sizeof here, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    mix(digest, here);
    MPI_Win_free(&win);
}

static void kill_agent(void)
{
    const char *dir = getenv("EVENSTEP_DIR");
    char path[4096], target[64] = "";
    int pid = 0;

    snprintf(path, sizeof path, "%s/meter", dir ? dir : "");
    if (readlink(path, target, sizeof target - 1) < 0
        || sscanf(target, "/proc/%d/", &pid) != 1 || kill(pid, SIGKILL) < 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
}

static void be_odd(const char *how)
{
    pid_t pid;
    int status = 0;

    if (strcmp(how, "abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(how, "agent") == 0 && rank == 1)
        kill_agent();
    if (strcmp(how, "kill") == 0 && rank == 1)
        raise(SIGKILL);
    if (strcmp(how, "fork") != 0)
        return;
    fflush(stdout);
    pid = fork();
    if (pid == 0)
        exit(3);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
        printf("a child was lost\n");
}

static void *in_thread(void *arg)
{
    int sum = 0;

    for (int i = 0; i < 10 * ROUNDS; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm *)arg);
    return (void *)(intptr_t)sum;
}

/* The digest of a thread that makes calls while this one does, too. */
static void beside(const char *how, uint64_t *digest)
{
    MPI_Comm comm;
    pthread_t thread;
    void *sum = NULL;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (strcmp(how, "thread") == 0
        && pthread_create(&thread, NULL, in_thread, &comm) == 0) {
        for (int i = 0; i < ROUNDS; i++)
            ring(MPI_COMM_WORLD, digest);
        pthread_join(thread, &sum);
    }
    mix(digest, (intptr_t)sum);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "", *id = getenv("SLURM_PROCID");
    uint64_t digest = UINT64_C(0xcbf29ce484222325), all = 0;
    int provided, wanted = strcmp(how, "thread") == 0 ? MPI_THREAD_MULTIPLE
                                                      : MPI_THREAD_SINGLE;

    MPI_Initialized(&provided);
    if (strcmp(how, "never") == 0
        || (strcmp(how, "one") == 0 && id && strcmp(id, "0") != 0))
        return 0;
    if (wanted == MPI_THREAD_SINGLE)
        MPI_Init(&argc, &argv);
    else if (MPI_Init_thread(&argc, &argv, wanted, &provided) != MPI_SUCCESS
             || provided < wanted)
        return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    beside(how, &digest);
    for (int i = 0; i < ROUNDS; i++) {
        ring(MPI_COMM_WORLD, &digest);
        collectives(MPI_COMM_WORLD, &digest);
        halves(&digest);
        if (i == ROUNDS / 2)
            be_odd(how);
    }
    if (strcmp(how, "window") == 0)
        window(&digest);
    MPI_Reduce(&digest, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, digest %016llx\n", ranks, (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
