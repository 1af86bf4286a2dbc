/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a node's part: is it what home has, and how it is told. */
#include "pmix_bcast/bcast_node_state.h"
#include "pmix_bcast/receivers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

/* One who reads this chunk to its place; NULL: nobody does. */
static struct link *taking(const struct bcast_node *b, uint32_t chunk)
{
    struct rail *r;

    LIST_FOREACH(r, &b->rails.first, next)
    if (r->link && link_is_taking(r->link, chunk))
        return r->link;
    return NULL;
}

void bcast_node_forget_places(struct bcast_node *b, uint32_t chunk)
{
    struct link *l;

    while ((l = taking(b, chunk)) != NULL)
        link_forget_place(l);
}

/* Why (some) data has not gone by libfabric. */
static void note_fabric(const struct bcast_node *b, char *note, size_t size)
{
    if (b->fabric && fabric_why(b->fabric)[0])
        snprintf(note, size, "data goes by TCP: %.300s", fabric_why(b->fabric));
}

/* Nothing else that is opened or renamed here can be busy. */
static const char *reason(int error)
{
    return error == EBUSY ? "it is a mount point there, which cannot be "
                            "replaced: unmount it, or give another DST"
                          : strerror(error);
}

static void send_done(struct bcast_node *b, int error, const char *text)
{
    struct bcast_done d = {.id = b->order.id,
                           .error = (uint32_t)error,
                           .pulls = b->pulls,
                           .refused = b->refused,
                           .duplicates = b->duplicates,
                           .fabric = b->fabric ? fabric_bytes(b->fabric) : 0,
                           .threads = receivers_peak(b->receivers)};
    struct writer w = {0};

    if (error && !text[0]) /* home does not know what is filled in here */
        snprintf(d.text, sizeof d.text, "%.*s: %s", (int)sizeof d.text - 100,
                 b->order.destination, reason(error));
    else
        snprintf(d.text, sizeof d.text, "%s", text);
    if (b->state == DONE)
        bcast_copy_report(&b->copy, &d);
    if (!d.note[0])
        note_fabric(b, d.note, sizeof d.note);
    bcast_write_done(&w, &d);
    b->s.send(b->s.arg, BCAST_DONE, &w);
}

void bcast_node_stop_finishing(struct bcast_node *b)
{
    if (b->finishing)
        bcast_copy_cancel(&b->copy);
    offload_destroy(b->finishing);
    b->finishing = NULL;
}

void bcast_node_fail(struct bcast_node *b, int error, const char *text)
{
    if (b->state == DONE || b->state == FAILED)
        return;
    b->state = FAILED;
    bcast_node_stop_finishing(b);
    bcast_node_forget_places(b, LINK_EACH);
    bcast_copy_abandon(&b->copy);
    send_done(b, error, text);
}

void bcast_node_fail_copy(struct bcast_node *b, int why)
{
    char text[BCAST_TEXT_MAX];

    snprintf(text, sizeof text, "%s", bcast_copy_why(&b->copy));
    bcast_node_fail(b, text[0] ? 0 : why, text);
}

static void is_finished(struct bcast_node *b, int why)
{
    if (why) {
        bcast_node_fail_copy(b, why);
        return;
    }
    b->state = DONE;
    send_done(b, 0, "");
}

/* In a thread of its own. */
static int finish_aside(void *arg)
{
    struct bcast_node *b = arg;

    return bcast_copy_finish(&b->copy);
}

static void on_finished(void *arg, int why)
{
    struct bcast_node *b = arg;

    offload_destroy(b->finishing);
    b->finishing = NULL;
    is_finished(b, why);
}

void bcast_node_finish(struct bcast_node *b)
{
    int why = bcast_copy_whole(&b->copy);

    bcast_node_forget_places(b, LINK_EACH);
    if (why == 0 && bcast_copy_takes_long(&b->copy)) {
        b->state = FINISHING;
        b->finishing = offload_start(b->s.base, finish_aside, on_finished, b);
        if (b->finishing)
            return;
    }
    is_finished(b, why ? why : bcast_copy_finish(&b->copy));
}

void bcast_node_hand_on(struct bcast_node *b)
{
    if (b->state == DONE)
        bcast_copy_hand_on(&b->copy, b->s.begun);
}

/* --- is it what home has? ------------------------------------------------- */

/* In the loop's next round: messages and the tick have their turn. */
static void verify_on(struct bcast_node *b)
{
    struct timeval at_once = {0, 0};

    if (event_add(b->verify, &at_once) < 0)
        bcast_node_fail(b, ENOMEM, "");
}

void bcast_node_on_verify(evutil_socket_t fd, short what, void *arg)
{
    struct bcast_node *b = arg;
    int why;

    (void)fd;
    (void)what;
    if (b->state != VERIFYING)
        return;
    why = bcast_copy_verify(&b->copy);
    if (why == EBADMSG)
        bcast_node_fail(b, EIO, "what was written does not read back the same");
    else if (why)
        bcast_node_fail(b, why, "");
    else if (b->copy.verified == b->order.plan.chunks)
        bcast_node_finish(b);
    else
        verify_on(b);
}

void bcast_node_check(struct bcast_node *b)
{
    if (b->state != RECEIVING || !b->has_sum || relay_missing(b->relay) > 0)
        return;
    if (bcast_copy_sum(&b->copy) != b->sum) {
        bcast_node_fail(b, EBADMSG, "the data is not what home has sent");
    } else if (b->order.flags & ORDER_VERIFY) {
        b->state = VERIFYING;
        verify_on(b);
    } else {
        bcast_node_finish(b);
    }
}
