/* SPDX-License-Identifier: BSD-2-Clause */
/* Feeding: what the window gives out goes to the nodes. */
#include "launcher/run/distribution_state.h"

int distribution_send_given(void *arg, size_t place, int fed)
{
    struct to_nodes *to = arg;

    return distribution_send_all(to->d, &to->d->place[place], fed, to->err);
}

int distribution_feed_slot(struct distribution *d,
                           size_t slot,
                           struct es_error *err)
{
    return window_feed_node(&d->window, slot, seconds_of(d->answered_ns),
                            TO_NODES(d, err));
}

int distribution_feed(struct distribution *d, struct es_error *err)
{
    return window_feed(&d->window, seconds_of(clock_ns()), TO_NODES(d, err));
}

int distribution_wants_look(const struct distribution *d)
{
    for (size_t i = 0; i < d->window.n; i++)
        if (dispatch_wants_look(nth(d, i)->in->dispatch))
            return 1;
    return 0;
}

int64_t distribution_gap_ns(const struct distribution *d)
{
    return (int64_t)(dispatch_gap(nth(d, 0)->in->dispatch) * 1e9);
}
