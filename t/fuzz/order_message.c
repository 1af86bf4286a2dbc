/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as an order on its way down, and as what nodes that join hear and
 * say: what is taken lies in the body, and what goes on to a child is sound. */
#include "launcher/wire/order_message.h"
#include "launcher/wire/protocol.h"

#include <stdlib.h>
#include <string.h>

#define BRANCHES 8u
#define RANKS    100u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_within(const uint8_t *p,
                     size_t n,
                     const uint8_t *body,
                     size_t len)
{
    return !p || (p >= body && p + n <= body + len);
}

/* A child has what its parent was given for it. */
static void pass_on(const struct msg_relay *m, uint32_t child)
{
    struct writer w = {0};
    struct msg_relay on;
    size_t n, again;
    const uint8_t *have, *had = relay_body(m, child, &n);

    relay_cut(&w, m, BRANCHES, child);
    if (msg_read_relay(&on, w.buf, w.len) < 0 || on.number != m->number
        || on.type != m->type)
        abort();
    have = relay_body(&on, child, &again);
    if (!have != !had || n != again || (n > 0 && memcmp(have, had, n) != 0))
        abort();
    writer_clear(&w);
}

static void relay(const uint8_t *body, size_t len)
{
    struct msg_relay m;
    size_t n;

    if (msg_read_relay(&m, body, len) < 0)
        return;
    if (m.number == 0)
        abort();
    for (uint32_t i = 0; i < RANKS; i++) {
        const uint8_t *p = relay_body(&m, i, &n);

        if (!is_within(p, n, body, len))
            abort();
    }
    for (uint32_t child = 0; m.marks_len > 0 && child < RANKS; child++)
        pass_on(&m, child);
}

static void join(const uint8_t *body, size_t len)
{
    struct msg_refused refused;
    struct msg_seats seats;
    struct msg_join m;

    if (msg_read_join(&m, body, len) == 0
        && (m.n == 0 || m.n > JOINS_MAX || m.name[m.len - 1] != '\0'
            || !is_within(m.name, m.len, body, len)))
        abort();
    if (msg_read_seats(&seats, body, len) == 0)
        for (uint32_t i = 0; i < seats.n; i++)
            if (msg_seat(&seats, i) >= seats.agents)
                abort();
    if (msg_read_refused(&refused, body, len) == 0
        && (strlen(refused.what) >= TEXT_MAX
            || strlen(refused.mend) >= TEXT_MAX))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    relay(data, size);
    join(data, size);
    return 0;
}
