/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chunk's bytes, taken and looked at by a thread (receivers.h).  The loop reads
 * the head before and the one behind, and hears nothing of the socket meanwhile.
 */
#include "pmix_bcast/link_state.h"

#include <errno.h>
#include <string.h>

/* In a thread; so is check().  What they read of l is left alone meanwhile. */
static uint8_t *ready(void *arg, uint8_t *to)
{
    const struct link *l = arg;

    return l->on->ready ? l->on->ready(l->arg, &l->head, to) : to;
}

static int check(void *arg, const uint8_t *bytes)
{
    const struct link *l = arg;

    return l->on->check ? l->on->check(l->arg, &l->head, bytes) : EBADMSG;
}

/* The loop reads again. */
static void come_back(struct link *l, const struct reception_result *so)
{
    l->is_aside = 0;
    l->got = so->got;
    if (l->place) /* else it was forgotten */
        l->place = so->to;
    if (!l->held)
        (void)event_add(l->readable, NULL);
}

static void on_ended(void *arg, const struct reception_result *so)
{
    struct link *l = arg;

    l->busy++;
    come_back(l, so);
    if (so->end == RECEPTION_CLOSED) {
        link_give_up(l, "the other end has gone");
    } else if (so->end == RECEPTION_FAILED) {
        link_give_up(l, strerror(so->error));
    } else { /* a wrong one is the owner's to refuse */
        l->head.is_checked = so->end == RECEPTION_WHOLE;
        l->whole(l);
    }
    l->busy--;
    link_release(l);
}

void link_set_receivers(struct link *l, struct receivers *r)
{
    if (r && !l->reception)
        l->reception = reception_create(r, on_ended, l);
}

int link_begin_aside(struct link *l, void (*whole)(struct link *l))
{
    struct reception_task t = {.fd = l->fd,
                               .to = l->place,
                               .size = l->head.size,
                               .ready = ready,
                               .check = check,
                               .arg = l};

    if (!l->reception || !l->place || l->head.type != LINK_CHUNK
        || link_head_tail(&l->head, l->tail) > 0
        || reception_begin(l->reception, &t) != 0)
        return 0;
    l->whole = whole;
    l->is_aside = 1;
    (void)event_del(l->readable); /* else on_readable() reads nothing */
    return 1;
}

/* Where it has ended ended() is still to come. */
int link_take_back(struct link *l)
{
    struct reception_result so;

    if (!l->is_aside || !reception_stop(l->reception, &so))
        return 0;
    come_back(l, &so);
    return !so.is_ready;
}
