/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/task_stream.h"
#include "pmix_bcast/little_endian.h"

#include <string.h>

void task_part_head(uint8_t head[TASK_PART_HEAD],
                    enum task_part kind,
                    size_t len)
{
    head[0] = (uint8_t)kind;
    put_le32(head + 1, (uint32_t)len);
}

void task_end_write(uint8_t bytes[TASK_END_BYTES], const struct task_end *e)
{
    const uint32_t number[6] = {e->status, e->signal, e->exec_errno,
                                e->tries,  e->why,    e->rss_mib};

    for (size_t i = 0; i < 6; i++)
        put_le32(bytes + 4 * i, number[i]);
    put_le64(bytes + 24, e->begun_ns);
    put_le64(bytes + 32, e->elapsed_ns);
    put_le64(bytes + 40, e->cpu_ns);
}

static int read_end_of_task(struct task_end *e,
                            const uint8_t bytes[TASK_END_BYTES])
{
    *e = (struct task_end){.status = get_le32(bytes),
                           .signal = get_le32(bytes + 4),
                           .exec_errno = get_le32(bytes + 8),
                           .tries = get_le32(bytes + 12),
                           .why = get_le32(bytes + 16),
                           .rss_mib = get_le32(bytes + 20),
                           .begun_ns = get_le64(bytes + 24),
                           .elapsed_ns = get_le64(bytes + 32),
                           .cpu_ns = get_le64(bytes + 40)};
    return e->status <= 255 && e->signal <= 128 && e->exec_errno <= 4095
                   && e->tries > 0 && e->why <= TASK_NO_MEMORY_ALONE
               ? 0
               : -1;
}

/* Up to `want` bytes of a head or an end are kept.  Returns how many were taken. */
static size_t gather(struct task_stream *r,
                     const uint8_t *bytes,
                     size_t len,
                     size_t want)
{
    size_t n = want - r->n < len ? want - r->n : len;

    memcpy(r->head + r->n, bytes, n);
    r->n += n;
    return n;
}

/* The head of a part is whole. */
static int begin_part(struct task_stream *r)
{
    r->kind = r->head[0];
    r->left = r->len = get_le32(r->head + 1);
    r->n = 0;
    if (r->kind == TASK_END)
        return r->left == TASK_END_BYTES ? 0 : -1;
    if (r->kind == TASK_AGAIN || r->kind == TASK_LAST)
        return r->left == 0 ? 0 : -1;
    return (r->kind == TASK_OUT || r->kind == TASK_ERR) && r->left > 0
                   && r->left <= TASK_PART_MAX
               ? 0
               : -1;
}

static int end_part(struct task_stream *r,
                    const struct task_events *on,
                    void *arg)
{
    struct task_end e;

    r->at += TASK_PART_HEAD + r->len;
    if (r->kind == TASK_END) {
        if (read_end_of_task(&e, r->head) < 0)
            return -1;
        on->end(arg, &e);
    }
    if (r->kind == TASK_AGAIN)
        on->again(arg);
    if (r->kind == TASK_LAST && on->last)
        on->last(arg);
    r->kind = 0;
    r->n = 0;
    return 0;
}

int task_stream_read(struct task_stream *r,
                     const uint8_t *bytes,
                     size_t len,
                     const struct task_events *on,
                     void *arg)
{
    int rc = 0;

    while (rc == 0 && len > 0) {
        size_t n;

        if (r->kind == 0) {
            n = gather(r, bytes, len, TASK_PART_HEAD);
            if (r->n == TASK_PART_HEAD)
                rc = begin_part(r);
        } else if (r->kind == TASK_END) {
            n = gather(r, bytes, len, TASK_END_BYTES);
            r->left -= n;
        } else {
            n = len < r->left ? len : r->left;
            on->text(arg, (enum task_part)r->kind, bytes, n);
            r->left -= n;
        }
        bytes += n;
        len -= n;
        if (rc == 0 && r->kind != 0 && r->left == 0)
            rc = end_part(r, on, arg);
    }
    return rc;
}
