/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/slot_send.h"

#include <math.h>
#include <string.h>

static void send_message(const struct slot_common *c,
                         enum protocol_type type,
                         struct writer *m)
{
    c->send(c->arg, type, m);
}

void slot_send_output(const struct slot_common *c,
                      uint64_t id,
                      const void *buf,
                      size_t len)
{
    for (size_t at = 0; at < len; at += OUTPUT_MAX) {
        size_t n = len - at < OUTPUT_MAX ? len - at : OUTPUT_MAX;
        struct msg_output m = {id, (const uint8_t *)buf + at, n};
        struct writer out = {0};

        msg_write_output(&out, &m);
        send_message(c, MSG_OUTPUT, &out);
    }
}

void slot_send_done(const struct slot_common *c,
                    uint64_t id,
                    const struct execution_end *end)
{
    struct msg_done m = {
        .id = id,
        .status = (uint32_t)end->status,
        .signal = (uint32_t)end->signal,
        .exec_errno = (uint32_t)end->exec_errno,
        .elapsed_ns = (uint64_t)end->elapsed_ns,
        .cpu_ns = (uint64_t)(fmax(end->cpu_s, 0) * 1e9),
        .err_dropped = end->err_dropped,
        .err = (const uint8_t *)end->err_tail,
        .err_len = end->err_len,
    };
    struct writer out = {0};

    msg_write_done(&out, &m);
    send_message(c, MSG_DONE, &out);
}

void slot_send_refusal(const struct slot_common *c,
                       uint64_t id,
                       const char *why)
{
    const struct execution_end end = {
        .status = 126, .err_tail = why, .err_len = strlen(why)};

    slot_send_done(c, id, &end);
}

void slot_send_metered(const struct slot_common *c, const struct msg_metered *m)
{
    struct writer out = {0};

    msg_write_metered(&out, m);
    send_message(c, MSG_METERED, &out);
}

void slot_send_idle(const struct slot_common *c, const struct msg_idle *idle)
{
    struct writer out = {0};

    msg_write_idle(&out, idle);
    send_message(c, MSG_IDLE, &out);
}

void slot_send_over(const struct slot_common *c,
                    int status,
                    const char *err,
                    size_t len)
{
    struct msg_over m = {(uint32_t)status, (const uint8_t *)err, len};
    struct writer out = {0};

    msg_write_over(&out, &m);
    send_message(c, MSG_OVER, &out);
}
