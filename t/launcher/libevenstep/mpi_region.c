/* SPDX-License-Identifier: BSD-2-Clause */
/* How the time of a rank is divided. */
#include "launcher/libevenstep/mpi_region.h"
#include "tap.h"

static struct mpi_region r;
static uint64_t now;

/* Be useful for so long, then wait for so long. */
static void call(uint64_t useful, uint64_t waiting, int ends_region)
{
    mpi_region_wait(&r, now += useful, MPI_GAP_USEFUL, 0);
    mpi_region_resume(&r, now += waiting,
                      ends_region ? MPI_END_REGION : MPI_END_CALL, 0);
}

static void test_time(void)
{
    now = 1000;
    mpi_region_start(&r, now);
    ok(r.since_ns == 1000 && r.useful_ns == 0 && r.calls == 0,
       "nothing has gone by at the start");
    mpi_region_wait(&r, now += 70, MPI_GAP_USEFUL, 0);
    ok(r.is_waiting && r.since_ns == 1070 && r.useful_ns == 70,
       "what comes before a call is useful");
    mpi_region_resume(&r, now += 30, MPI_END_CALL, 0);
    ok(!r.is_waiting && r.since_ns == 1100 && r.waiting_ns == 30 && r.calls == 1
           && r.regions == 0,
       "the call is waiting");
    call(5, 3, 0);
    call(0, 0, 0);
    ok(r.useful_ns == 75 && r.waiting_ns == 33 && r.calls == 3
           && r.useful_ns + r.waiting_ns == now - 1000,
       "the two sum up to the time");
}

static void test_parts(void)
{
    mpi_region_start(&r, now);
    mpi_region_wait(&r, now += 10, MPI_GAP_USEFUL, 0);
    mpi_region_resume(&r, now += 3, MPI_END_NOTHING, 0);
    ok(r.calls == 0 && r.polled_ns == 3,
       "a test that finds nothing is polling, and counts as no call");
    mpi_region_wait(&r, now += 4, MPI_GAP_POLLED, 0);
    mpi_region_resume(&r, now += 5, MPI_END_CALL, 0);
    ok(r.calls == 1 && r.polled_ns == 7 && r.waiting_ns == 12
           && r.useful_ns == 10,
       "so is the time until the next; that which finds something is a call");
    mpi_region_wait(&r, now += 20, MPI_GAP_UNSURE, 0);
    ok(r.useful_ns == 30 && r.unsure_ns == 20, "in doubt time is useful");
    mpi_region_resume(&r, now += 6, MPI_END_IO, 0);
    ok(r.waiting_ns == 18 && r.io_ns == 6, "a read is I/O");
    mpi_region_wait(&r, now += 50, MPI_GAP_USEFUL, 30);
    ok(r.useful_ns == 50 && r.waiting_ns == 48,
       "what the thread waited outside is waiting");
    mpi_region_resume(&r, now, MPI_END_CALL, 0);
    mpi_region_wait(&r, now += 5, MPI_GAP_USEFUL, 30);
    ok(r.useful_ns == 50 && r.waiting_ns == 53, "but no more than there was");
    mpi_region_resume(&r, now += 10, MPI_END_CALL, 4);
    ok(r.useful_ns == 54 && r.waiting_ns == 59,
       "while another thread computed it was useful");
    mpi_region_wait(&r, now, MPI_GAP_USEFUL, 0);
    mpi_region_resume(&r, now += 1, MPI_END_CALL, 4);
    ok(r.useful_ns == 55 && r.waiting_ns == 59, "but no longer than the call");
}

static void test_region(void)
{
    mpi_region_start(&r, now);
    ok(r.expected_ns == 0, "of the first region nothing is known");
    call(40, 1, 0);
    ok(mpi_region_done(&r, 0) == 0, "so nothing of it is done");
    call(60, 2, 1);
    ok(r.regions == 1 && r.last_ns[0] == 100 && r.waited_ns == 2,
       "a region has the useful time of all its calls, and the last one's wait");
    ok(r.expected_ns == 100 && mpi_region_useful(&r) == 0,
       "the next is expected to take as long");
    call(30, 5, 0);
    ok(mpi_region_done(&r, 0) == 30, "what is done of it");
    mpi_region_wait(&r, now += 90, MPI_GAP_USEFUL, 0);
    ok(mpi_region_done(&r, 0) == 99, "is never all before its end");
    ok(mpi_region_done(&r, 1) == 100, "where it is all");
    mpi_region_resume(&r, now += 5, MPI_END_REGION, 0);
    ok(r.last_ns[1] == 120, "however long it took");
}

static void test_expected(void)
{
    static const struct {
        uint64_t useful, expected;
    } step[] = {{10, 10}, {30, 30}, {20, 20}, {1000, 30}, {20, 20},
                {20, 20}, {0, 20},  {0, 20},  {0, 0 + 1}};

    mpi_region_start(&r, now);
    for (unsigned i = 0; i < sizeof step / sizeof step[0]; i++) {
        call(step[i].useful, 1, 1);
        ok(r.expected_ns == step[i].expected,
           "after %u regions, the last of %d ns, %d ns are expected", i + 1,
           (int)step[i].useful, (int)step[i].expected);
    }
}

int main(void)
{
    test_time();
    test_parts();
    test_region();
    test_expected();
    return done();
}
