/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/protocol_body.h"

/* 30 years in ns, of a node that uses 30 kW in uJ: sums of them fit, too. */
#define MOST UINT64_C(1000000000000000000)

void msg_write_energy_order(struct writer *w, const struct msg_energy_order *m)
{
    write_u32(w, m->record_ms);
    write_u32(w, m->guard);
}

int msg_read_energy_order(struct msg_energy_order *m,
                          const uint8_t *body,
                          size_t len)
{
    struct reader r = reader_of(body, len);

    m->record_ms = read_u32(&r);
    m->guard = read_u32(&r);
    if (m->record_ms == 0 || m->record_ms > RECORD_MAX_MS || m->guard > 1)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_energy(struct writer *w, const struct msg_energy *m)
{
    write_u32(w, m->source);
    write_u64(w, m->ns);
    write_u64(w, m->uj);
    write_u64(w, m->busy_ms);
    write_u64(w, m->idle_ms);
    write_text(w, m->text);
}

int msg_read_energy(struct msg_energy *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->source = read_u32(&r);
    m->ns = read_u64(&r);
    m->uj = read_u64(&r);
    m->busy_ms = read_u64(&r);
    m->idle_ms = read_u64(&r);
    read_text(&r, m->text, sizeof m->text);
    if (m->source > ENERGY_NONE || m->ns > MOST || m->uj > MOST
        || m->busy_ms > MOST || m->idle_ms > MOST)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}
