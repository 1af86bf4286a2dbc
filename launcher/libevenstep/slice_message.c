/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/slice_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void slice_message_write(struct writer *w, const struct slice_message *m)
{
    write_u32(w, (uint32_t)m->type);
    switch (m->type) {
    case SLICE_HELLO:
        write_u32(w, m->version);
        write_u32(w, m->rank);
        write_u64(w, m->units);
        write_u64(w, m->frames);
        if (m->version != SLICE_PLAIN)
            write_u32(w, m->flags);
        break;
    case SLICE_SLICE:
        write_u64(w, m->id);
        write_u64(w, m->frame);
        write_u64(w, m->begin);
        write_u64(w, m->end);
        write_text(w, m->label);
        break;
    case SLICE_LISTEN:
        write_u32(w, m->version);
        write_u32(w, m->rank);
        write_u32(w, m->port);
        break;
    case SLICE_WELCOME:
    case SLICE_OVER:
    case SLICE_LISTENED:
        write_u32(w, m->error);
        break;
    case SLICE_DONE:
        write_u64(w, m->id);
        break;
    case SLICE_NEXT:
    case SLICE_TAKEN:
    case SLICE_BYE:
        break;
    }
}

static void read_hello(struct slice_message *m, struct reader *r)
{
    m->version = read_u32(r);
    if (m->version != SLICE_PLAIN && m->version != SLICE_VERSION) {
        r->left = 0; /* who knows what it means */
        return;
    }
    m->rank = read_u32(r);
    m->units = read_u64(r);
    m->frames = read_u64(r);
    if (m->version != SLICE_PLAIN)
        m->flags = read_u32(r);
}

int slice_message_read(struct slice_message *m, const uint8_t *buf, size_t len)
{
    struct reader r = {.at = buf, .left = len};

    memset(m, 0, sizeof *m);
    m->type = (enum slice_message_type)read_u32(&r);
    switch (m->type) {
    case SLICE_HELLO:
        read_hello(m, &r);
        break;
    case SLICE_SLICE:
        m->id = read_u64(&r);
        m->frame = read_u64(&r);
        m->begin = read_u64(&r);
        m->end = read_u64(&r);
        read_text(&r, m->label, sizeof m->label);
        r.bad |= m->begin > m->end;
        break;
    case SLICE_LISTEN:
        m->version = read_u32(&r);
        m->rank = read_u32(&r);
        m->port = read_u32(&r);
        r.bad |= m->version != SLICE_VERSION || m->port > UINT16_MAX;
        break;
    case SLICE_WELCOME:
    case SLICE_OVER:
    case SLICE_LISTENED:
        m->error = read_u32(&r);
        break;
    case SLICE_DONE:
        m->id = read_u64(&r);
        break;
    case SLICE_NEXT:
    case SLICE_TAKEN:
    case SLICE_BYE:
        break;
    default:
        r.bad = 1;
    }
    if (read_end(&r) == 0)
        return 0;
    memset(m, 0, sizeof *m);
    return -1;
}

/* Room for one descriptor, aligned as it must be. */
union attachment {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int))];
};

static void attach(struct msghdr *h, union attachment *a, int file)
{
    struct cmsghdr *c;

    memset(a, 0, sizeof *a);
    h->msg_control = a->room;
    h->msg_controllen = sizeof a->room;
    c = CMSG_FIRSTHDR(h);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(c), &file, sizeof file);
}

int slice_message_send_file(int fd, const struct slice_message *m, int file)
{
    struct writer w = {0};
    struct iovec part;
    struct msghdr h = {.msg_iovlen = 1};
    union attachment a;
    ssize_t n = -1;

    slice_message_write(&w, m);
    part.iov_base = w.buf;
    part.iov_len = w.len;
    h.msg_iov = &part;
    if (file >= 0)
        attach(&h, &a, file);
    if (w.bad)
        errno = ENOMEM;
    else
        do
            n = sendmsg(fd, &h, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
    writer_clear(&w);
    return n < 0 ? -1 : 0;
}

int slice_message_send(int fd, const struct slice_message *m)
{
    return slice_message_send_file(fd, m, -1);
}

/* What came with a message; the kernel has given away no more than one. */
static int attached(struct msghdr *h)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(h);
    int file = -1;

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS
        && c->cmsg_len == CMSG_LEN(sizeof file))
        memcpy(&file, CMSG_DATA(c), sizeof file);
    return file;
}

int slice_message_receive_file(int fd, struct slice_message *m, int *file)
{
    uint8_t buf[SLICE_MESSAGE_MAX];
    struct iovec part = {buf, sizeof buf};
    union attachment a;
    struct msghdr h = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = a.room,
                       .msg_controllen = sizeof a.room};
    ssize_t n;

    memset(m, 0, sizeof *m);
    *file = -1;
    do /* a longer message is cut, and then refused by slice_message_read() */
        n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return (int)n;
    *file = attached(&h);
    if (slice_message_read(m, buf, (size_t)n) == 0)
        return 1;
    if (*file >= 0)
        (void)close(*file); /* nobody reads it */
    *file = -1;
    errno = EBADMSG;
    return -1;
}

int slice_message_receive(int fd, struct slice_message *m)
{
    uint8_t buf[SLICE_MESSAGE_MAX];
    ssize_t n;

    memset(m, 0, sizeof *m);
    do /* a longer message is cut, and then refused by slice_message_read() */
        n = recv(fd, buf, sizeof buf, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return (int)n;
    if (slice_message_read(m, buf, (size_t)n) == 0)
        return 1;
    errno = EBADMSG;
    return -1;
}
