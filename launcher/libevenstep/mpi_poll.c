/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/mpi_poll.h"

#include <sys/resource.h>
#include <time.h>

#define SHORT_NS  5000u /* a program that computes for longer has some reason */
#define SLOW_NS   40000u /* two looks cost a hundredth of it */
#define OFTEN     32u
#define RETURN_NS 20000u

static uint64_t cpu_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail */
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Without CPU it may have had to wait for one: so it has slept, too, if it has
 * given it up itself. */
static int has_slept(const struct mpi_poll *poll, uint64_t gap_ns)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0
           && usage.ru_nvcsw != poll->switches
           && cpu_ns() - poll->cpu_ns < gap_ns / 4;
}

/* Since the look it had little more CPU than it may have had until the gap: to be
 * interrupted, and come back, takes some, too. */
static int had_no_cpu(const struct mpi_poll *poll,
                      uint64_t began_ns,
                      uint64_t gap_ns)
{
    return poll->shorts >= OFTEN
           && cpu_ns() - poll->cpu_ns
                  < began_ns - poll->at_ns + RETURN_NS + gap_ns / 4;
}

enum mpi_gap mpi_poll_begin(struct mpi_poll *poll,
                            int is_test,
                            uint64_t now_ns,
                            uint64_t gap_ns)
{
    int was_slow = poll->is_slow;

    poll->is_slow = 0;
    if (!is_test || !poll->has_found_nothing) {
        poll->shorts = 0;
        return MPI_GAP_USEFUL;
    }
    if (gap_ns < SHORT_NS || had_no_cpu(poll, now_ns - gap_ns, gap_ns)) {
        poll->shorts++;
        return MPI_GAP_POLLED;
    }
    poll->shorts = 0;
    poll->is_slow = gap_ns >= SLOW_NS;
    if (was_slow && has_slept(poll, gap_ns))
        return MPI_GAP_POLLED;
    return poll->is_slow ? MPI_GAP_USEFUL : MPI_GAP_UNSURE;
}

void mpi_poll_end(struct mpi_poll *poll, uint64_t now_ns, int found)
{
    struct rusage usage;

    poll->has_found_nothing = !found;
    if (!found && poll->shorts > 0 && poll->shorts % OFTEN == 0) {
        poll->cpu_ns = cpu_ns();
        poll->at_ns = now_ns;
    }
    poll->is_slow =
        poll->is_slow && !found && getrusage(RUSAGE_THREAD, &usage) == 0;
    if (!poll->is_slow)
        return;
    poll->switches = usage.ru_nvcsw;
    poll->cpu_ns = cpu_ns();
}
