/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/mpi_region.h"

void mpi_region_start(struct mpi_region *r, uint64_t now_ns)
{
    *r = (struct mpi_region){.since_ns = now_ns};
}

void mpi_region_wait(struct mpi_region *r,
                     uint64_t now_ns,
                     enum mpi_gap gap,
                     uint64_t idle_ns)
{
    uint64_t passed = now_ns - r->since_ns;

    if (idle_ns > passed)
        idle_ns = passed;
    if (gap == MPI_GAP_POLLED) {
        r->polled_ns += passed;
        idle_ns = passed;
    } else if (gap == MPI_GAP_UNSURE) {
        r->unsure_ns += passed - idle_ns;
    }
    r->waiting_ns += idle_ns;
    r->useful_ns += passed - idle_ns;
    r->since_ns = now_ns;
    r->is_waiting = 1;
}

/* By insertion: they are few. */
static uint64_t median_of_last(const struct mpi_region *r)
{
    uint64_t sorted[MPI_REGION_LAST] = {0};
    unsigned n =
        r->regions < MPI_REGION_LAST ? (unsigned)r->regions : MPI_REGION_LAST;

    for (unsigned i = 0; i < n; i++) {
        unsigned at = i;

        for (; at > 0 && sorted[at - 1] > r->last_ns[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = r->last_ns[i];
    }
    return sorted[n / 2];
}

static void end_region(struct mpi_region *r, uint64_t waited_ns)
{
    r->last_ns[r->regions++ % MPI_REGION_LAST] = mpi_region_useful(r);
    r->waited_ns = waited_ns;
    r->began_ns = r->useful_ns;
    r->expected_ns = median_of_last(r);
    if (r->expected_ns == 0)
        r->expected_ns = 1;
}

void mpi_region_resume(struct mpi_region *r,
                       uint64_t now_ns,
                       enum mpi_end end,
                       uint64_t busy_ns)
{
    uint64_t waited_ns = now_ns - r->since_ns;

    if (busy_ns > waited_ns)
        busy_ns = waited_ns;
    waited_ns -= busy_ns;
    r->useful_ns += busy_ns;
    r->waiting_ns += waited_ns;
    r->since_ns = now_ns;
    r->is_waiting = 0;
    r->calls += end != MPI_END_NOTHING;
    if (end == MPI_END_NOTHING)
        r->polled_ns += waited_ns;
    else if (end == MPI_END_IO)
        r->io_ns += waited_ns;
    else if (end == MPI_END_REGION)
        end_region(r, waited_ns);
}

uint64_t mpi_region_useful(const struct mpi_region *r)
{
    return r->useful_ns - r->began_ns;
}

uint64_t mpi_region_done(const struct mpi_region *r, int is_over)
{
    uint64_t useful = mpi_region_useful(r);

    if (is_over)
        return r->expected_ns;
    if (useful < r->expected_ns)
        return useful;
    return r->expected_ns > 0 ? r->expected_ns - 1 : 0;
}
