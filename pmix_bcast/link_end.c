/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a link, wanted or not. */
#include "pmix_bcast/link_lane.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void link_release(struct link *l)
{
    if (l->stage != DEAD || l->busy > 0)
        return;
    if (l->readable)
        event_free(l->readable);
    if (l->writable)
        event_free(l->writable);
    if (l->timer)
        event_free(l->timer);
    if (l->fd >= 0)
        close(l->fd);
    seal_destroy(l->seal_out);
    seal_destroy(l->seal_in);
    handshake_clear(&l->handshake);
    free(l->offered);
    free(l->loaded);
    free(l->sink);
    free(l);
}

/* No thread has anything to do with it any more. */
static void end_aside(struct link *l)
{
    reception_destroy(l->reception);
    l->reception = NULL;
    l->is_aside = 0;
}

void link_give_up(struct link *l, const char *why)
{
    if (l->stage == DEAD)
        return;
    l->stage = DEAD;
    end_aside(l); /* its owner may free the place */
    listener_release(&l->unproven);
    link_lane_end(l); /* its owner may close the fabric */
    l->on->closed(l, l->arg, why);
}

void link_destroy(struct link *l)
{
    int saved = errno;

    if (!l)
        return;
    l->stage = DEAD;
    end_aside(l);
    listener_release(&l->unproven);
    link_lane_end(l);
    link_release(l);
    errno = saved;
}
