/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_waits: rank 1 comes 0.2 s late four times, to ranks that wait for it by
 * tests in a loop, by tests with sleeps between them, by a probe in another
 * thread and by a barrier in another one.  Then a thread of rank 1 computes for
 * 0.2 s of CPU time, for which its first thread waits in MPI.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LATE_US 200000

static int rank, ranks;
static MPI_Comm other;

static void late(void)
{
    if (rank == 1)
        usleep(LATE_US);
}

static void tell_all(int tag)
{
    for (int i = 0; i < ranks; i++)
        if (i != rank)
            MPI_Send(&tag, 1, MPI_INT, i, tag, MPI_COMM_WORLD);
}

void by_test(int tag, unsigned pause_us);
void by_test(int tag, unsigned pause_us)
{
    int got, found = 0;
    MPI_Request request;

    late();
    if (rank == 1) {
        tell_all(tag);
        return;
    }
    MPI_Irecv(&got, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &found, MPI_STATUS_IGNORE);
        if (found)
            return;
        if (pause_us > 0)
            usleep(pause_us);
    }
}

static void *probe(void *arg)
{
    int got, tag = 3;

    late();
    if (rank == 1) {
        tell_all(tag);
        return arg;
    }
    MPI_Probe(1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return arg;
}

static void *meet(void *arg)
{
    late();
    MPI_Barrier(other);
    return arg;
}

static void *compute(void *arg)
{
    struct timespec t = {0};

    while (rank == 1 && t.tv_sec == 0 && t.tv_nsec < 200000000)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    MPI_Send(&rank, 1, MPI_INT, rank, 4, MPI_COMM_WORLD);
    return arg;
}

static void by_own_thread(void)
{
    pthread_t thread;
    int got;

    if (pthread_create(&thread, NULL, compute, NULL) != 0)
        return;
    MPI_Recv(&got, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

static void in_thread(void *(*run)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, NULL);
}

int main(void)
{
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    by_test(1, 0);
    by_test(2, 100);
    in_thread(probe);
    in_thread(meet);
    by_own_thread();
    printf("%d of %d\n", rank, ranks);
    MPI_Finalize();
    return 0;
}
