/* SPDX-License-Identifier: BSD-2-Clause */
/* From the owner to the socket: a chunk goes from the page cache by
 * sendfile(2), or from a buffer if it is encrypted, compressed, or in no single
 * file. */
#include "pmix_bcast/link_lane.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* Send on; 1: it is all with the kernel, 0: the socket is full, -1: broken. */
static int flush_head(struct link *l)
{
    int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (l->left > 0 ? MSG_MORE : 0);

    while (l->out_done < l->out_len) {
        ssize_t n =
            send(l->fd, l->out + l->out_done, l->out_len - l->out_done, flags);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        l->out_done += (size_t)n;
        l->bytes_sent += (uint64_t)n;
    }
    return 1;
}

/* Some of the chunk: from the file, or what was loaded of it. */
static ssize_t send_some(struct link *l)
{
    size_t all = l->sending.size + link_head_tail(&l->sending, l->tail);

    if (!l->is_loaded)
        return sendfile(l->fd, l->file, &l->at, l->left);
    return send(l->fd, l->loaded + (all - l->left), l->left,
                MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int flush_bytes(struct link *l)
{
    while (l->left > 0) {
        ssize_t n = send_some(l);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        if (n == 0) { /* the file has shrunk */
            errno = ENODATA;
            return -1;
        }
        l->left -= (size_t)n;
        l->bytes_sent += (uint64_t)n;
    }
    return 1;
}

/* The chunk's bytes as they are sent: read if need be, and if they have a tag
 * sealed, it behind them. */
static int load(struct link *l, uint32_t tail)
{
    uint32_t size = l->sending.size;

    if (!l->is_loaded && (tail > 0 || l->file < 0) && link_read(l) < 0)
        return -1;
    if (tail == 0)
        return 0;
    return seal_put(l->seal_out, NULL, 0, l->loaded, size, l->loaded + size);
}

static int seal_message(struct link *l)
{
    size_t len = LINK_HEAD - TAG_BYTES;
    uint32_t tail = link_head_tail(&l->sending, l->tail);

    link_head_encode(l->out, &l->sending, l->tail);
    l->out_len = LINK_HEAD;
    l->out_done = 0;
    l->left = l->sending.size > 0 ? l->sending.size + tail : 0;
    errno = ENOMEM; /* what else makes libcrypto fail */
    if (seal_put(l->seal_out, l->out, len, NULL, 0, l->out + len) < 0)
        return -1;
    return l->left > 0 ? load(l, tail) : 0;
}

/* Its bytes go by the lane: the link says nothing of it yet. */
static int send_aside(struct link *l)
{
    struct link_head told = l->sending;

    if (link_lane_send(l) < 0)
        return -1;
    if (l->on->sent)
        l->on->sent(l, l->arg, &told);
    if (l->stage == OPEN)
        link_wake(l);
    return 0;
}

/* What the owner says next, as take_next(). */
static int take_owners(struct link *l)
{
    if (!l->on->next || link_lane_is_full(l)
        || !l->on->next(l, l->arg, &l->sending, &l->file, &l->at)
        || l->stage != OPEN)
        return 0;
    l->has_spoken = 1;
    return l->sending.type == LINK_CHUNK && link_lane_is_open(l) ? send_aside(l)
                                                                 : 1;
}

/* 1: there is one, 0: there is not, -1: it cannot be sent. */
static int take_next(struct link *l)
{
    int rc;

    memset(&l->sending, 0, sizeof l->sending);
    l->is_loaded = 0;
    if (l->stage != OPEN)
        return 0;
    rc = link_lane_next(l);
    l->is_quiet = rc != 0;
    if (rc == 0)
        rc = take_owners(l);
    if (rc <= 0)
        return rc;
    if (link_pack(l) < 0 || seal_message(l) < 0)
        return -1;
    l->is_sending = 1;
    return 1;
}

void link_send(struct link *l)
{
    for (;;) {
        int rc = flush_head(l);

        if (rc > 0)
            rc = flush_bytes(l);
        if (rc == 0) {
            (void)event_add(l->writable, NULL);
            return;
        }
        if (rc > 0 && l->is_sending) {
            l->is_sending = 0;
            if (l->on->sent && !l->is_quiet)
                l->on->sent(l, l->arg, &l->sending);
            if (l->stage == OPEN && l->sending.size > 0) {
                link_wake(l);
                return;
            }
        }
        if (rc > 0)
            rc = take_next(l);
        if (rc < 0)
            link_give_up(l, strerror(errno));
        if (rc <= 0)
            return;
    }
}

void link_queue_handshake(struct link *l,
                          uint16_t type,
                          const uint8_t *body,
                          size_t len)
{
    struct message_head m = {type, (uint32_t)len};

    message_encode(l->out, &m);
    memcpy(l->out + MESSAGE_HEAD, body, len);
    l->out_len = MESSAGE_HEAD + len;
    l->out_done = 0;
}

uint64_t link_queued(const struct link *l)
{
    int unacknowledged = 0;

    if (ioctl(l->fd, SIOCOUTQ, &unacknowledged) < 0)
        unacknowledged = 0;
    return (uint64_t)unacknowledged + l->left + link_lane_queued(l);
}

uint64_t link_bytes_sent(const struct link *l)
{
    return l->bytes_sent;
}
