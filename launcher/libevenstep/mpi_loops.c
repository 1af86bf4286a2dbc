/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/mpi_loops.h"

#define LEFT_AFTER 8u /* regions beyond two periods without an anchor */

_Static_assert(MPI_LOOPS_LAST > 3 * MPI_LOOPS_PERIOD, "three are compared");

/* Place of the region that ended so many before the last one. */
static uint32_t at(const struct mpi_loops *l, uint32_t before)
{
    return (uint32_t)((l->n - 1 - before) % MPI_LOOPS_LAST);
}

static uint64_t signature(const struct mpi_loops *l, uint32_t before)
{
    return l->last[at(l, before)].signature;
}

static int repeats(const struct mpi_loops *l, uint32_t period)
{
    if (l->n < 3 * (uint64_t)period)
        return 0;
    for (uint32_t i = 0; i < 2 * period; i++)
        if (signature(l, i) != signature(l, i + period))
            return 0;
    return 1;
}

/* The least period above that; 0: none. */
static uint32_t find_period(const struct mpi_loops *l, uint32_t above)
{
    for (uint32_t period = above + 1; period <= MPI_LOOPS_PERIOD; period++)
        if (repeats(l, period))
            return period;
    return 0;
}

static uint32_t count_in(const struct mpi_loops *l,
                         uint32_t period,
                         uint64_t wanted)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < period; i++)
        n += signature(l, i) == wanted;
    return n;
}

/* Which of the last period comes least often, of these the last. */
static uint32_t choose_anchor(const struct mpi_loops *l,
                              uint32_t period,
                              uint32_t *often)
{
    uint32_t best = 0;

    *often = count_in(l, period, signature(l, 0));
    for (uint32_t i = 1; i<period && * often> 1; i++) {
        uint32_t n = count_in(l, period, signature(l, i));

        if (n < *often) {
            *often = n;
            best = i;
        }
    }
    return best;
}

/* One that was there before, or the next. */
static uint32_t loop_of(struct mpi_loops *l, uint64_t anchor, uint32_t often)
{
    for (uint32_t i = 0; i < l->loops; i++)
        if (l->loop[i].anchor == anchor && l->loop[i].often == often)
            return i;
    if (l->loops < MPI_LOOPS_MOST)
        l->loops++;
    return l->loops - 1;
}

static void begin_at(struct mpi_loops *l, uint32_t before)
{
    l->has_begun = 1;
    l->began_useful_ns = l->last[at(l, before)].useful_ns;
    l->began_waiting_ns = l->last[at(l, before)].waiting_ns;
}

/* From where it has begun to the region that ended so many before the last. */
static struct mpi_iteration iteration_to(const struct mpi_loops *l,
                                         uint32_t before)
{
    uint32_t end = at(l, before);

    return (struct mpi_iteration){
        .loop = l->now - 1,
        .period = l->loop[l->now - 1].period,
        .useful_ns = l->last[end].useful_ns - l->began_useful_ns,
        .waiting_ns = l->last[end].waiting_ns - l->began_waiting_ns};
}

/* Two iterations that it was found by have ended, and are told now. */
static unsigned enter(struct mpi_loops *l,
                      uint32_t period,
                      struct mpi_iteration ended[MPI_LOOPS_ENDS])
{
    uint32_t often, anchor = choose_anchor(l, period, &often);
    uint64_t wanted = signature(l, anchor);
    uint32_t loop = loop_of(l, wanted, often);

    l->loop[loop].anchor = wanted;
    l->loop[loop].often = often;
    l->loop[loop].period = period;
    l->now = loop + 1;
    l->since = anchor;
    l->passed = 0;
    for (unsigned i = 0; i < MPI_LOOPS_ENDS; i++) {
        uint32_t back = (MPI_LOOPS_ENDS - 1 - i) * period;

        begin_at(l, anchor + back + period);
        ended[i] = iteration_to(l, anchor + back);
    }
    begin_at(l, anchor);
    return MPI_LOOPS_ENDS;
}

/* The anchor has come. */
static unsigned pass(struct mpi_loops *l,
                     struct mpi_iteration ended[MPI_LOOPS_ENDS])
{
    unsigned n = 0;

    l->since = 0;
    if (++l->passed < l->loop[l->now - 1].often)
        return 0;
    l->passed = 0;
    if (l->has_begun)
        ended[n++] = iteration_to(l, 0);
    begin_at(l, 0);
    return n;
}

/* The anchor has come; or it has not, and for how long. */
static unsigned go_on(struct mpi_loops *l,
                      uint64_t sign,
                      struct mpi_iteration ended[MPI_LOOPS_ENDS])
{
    if (sign == l->loop[l->now - 1].anchor)
        return pass(l, ended);
    l->since++;
    return 0;
}

unsigned mpi_loops_add(struct mpi_loops *l,
                       uint64_t sign,
                       uint64_t useful_ns,
                       uint64_t waiting_ns,
                       struct mpi_iteration ended[MPI_LOOPS_ENDS])
{
    uint32_t end, period = 0;
    unsigned n = 0;

    l->n++;
    end = at(l, 0);
    l->last[end].signature = sign;
    l->last[end].useful_ns = useful_ns;
    l->last[end].waiting_ns = waiting_ns;
    if (l->now > 0) {
        period = l->loop[l->now - 1].period;
        n = go_on(l, sign, ended);
        if (l->since <= 2 * period + LEFT_AFTER) {
            if (sign == signature(l, period))
                return n;
        } else {
            period = l->passed = 0;
            l->has_begun = 0;
        }
    }
    period = find_period(l, period);
    return period > 0 ? enter(l, period, ended) : n;
}
