/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests that find nothing: a program that computes between two of them is
 * useful, however little CPU it gets, one that sleeps is not. */
#include "launcher/libevenstep/mpi_poll.h"
#include "tap.h"

#include <time.h>
#include <unistd.h>

#define MS 1000000u

static struct mpi_poll poll;
static uint64_t now;

/* A test after so long that finds nothing. */
static enum mpi_gap test_after(uint64_t gap_ns)
{
    enum mpi_gap gap = mpi_poll_begin(&poll, 1, now += gap_ns, gap_ns);

    mpi_poll_end(&poll, now, 0);
    return gap;
}

static void compute(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 1000;

    while (clock() < end)
        ;
}

int main(void)
{
    is_int(test_after(100), MPI_GAP_USEFUL, "before the first it was useful");
    is_int(test_after(100), MPI_GAP_POLLED, "a short time is polling");
    is_int(test_after(20000), MPI_GAP_UNSURE, "a longer one may be something");
    is_int(test_after(MS), MPI_GAP_USEFUL, "a long one is");
    usleep(1000);
    is_int(test_after(MS), MPI_GAP_POLLED, "but for one who sleeps");
    compute();
    is_int(test_after(1000 * MS), MPI_GAP_USEFUL,
           "one who gets no CPU does not sleep");
    usleep(10);
    compute();
    is_int(test_after(MS), MPI_GAP_USEFUL, "nor one who slept a little");
    is_int(mpi_poll_begin(&poll, 0, now, 100), MPI_GAP_USEFUL,
           "another call ends it");
    mpi_poll_end(&poll, now, 1);
    is_int(test_after(100), MPI_GAP_USEFUL, "and the next test is a first");
    (void)mpi_poll_begin(&poll, 1, now, 100);
    mpi_poll_end(&poll, now, 1);
    is_int(mpi_poll_begin(&poll, 1, now, 100), MPI_GAP_USEFUL,
           "so is one after a test that found something");
    mpi_poll_end(&poll, now, 0);
    for (int i = 0; i < 40; i++)
        (void)test_after(100);
    /* The thread's own time goes on while this test does. */
    now += MS;
    is_int(test_after(10 * MS), MPI_GAP_POLLED,
           "in a loop that does nothing else the CPU was taken from it");
    for (int i = 0; i < 40; i++)
        (void)test_after(100);
    for (int i = 0; i < 20; i++)
        compute();
    is_int(test_after(10 * MS), MPI_GAP_USEFUL, "unless it has computed");
    return done();
}
