/* SPDX-License-Identifier: BSD-2-Clause */
/* What a node uses, on the wire and back. */
#include "launcher/wire/protocol.h"
#include "tap.h"

static const struct msg_energy sound = {.source = ENERGY_COUNTED,
                                        .ns = 2000000000,
                                        .uj = 500000000,
                                        .busy_ms = 4000,
                                        .idle_ms = 12000,
                                        .text = "why"};

static int passes(const struct msg_energy *m, size_t less)
{
    struct writer w = {0};
    struct msg_energy got;
    int rc;

    msg_write_energy(&w, m);
    rc = msg_read_energy(&got, w.buf, w.len - less);
    if (rc == 0
        && (got.source != m->source || got.ns != m->ns || got.uj != m->uj
            || got.busy_ms != m->busy_ms || got.idle_ms != m->idle_ms
            || strcmp(got.text, m->text) != 0))
        rc = 1;
    if (rc < 0 && (got.ns != 0 || got.text[0]))
        rc = 2;
    writer_clear(&w);
    return rc;
}

static void refused(struct msg_energy m, const char *what)
{
    is_int(passes(&m, 0), -1, what);
}

static int pass_order(uint32_t record_ms, uint32_t guard)
{
    struct msg_energy_order m = {record_ms, guard}, got;
    struct writer w = {0};
    int rc;

    msg_write_energy_order(&w, &m);
    rc = msg_read_energy_order(&got, w.buf, w.len);
    if (rc == 0 && (got.record_ms != record_ms || got.guard != guard))
        rc = 1;
    writer_clear(&w);
    return rc;
}

int main(void)
{
    struct msg_energy m = sound;

    is_int(passes(&sound, 0), 0, "energy is read as it was written");
    for (size_t less = 1; less <= 8; less++)
        is_int(passes(&sound, less), -1, "cut off it is refused");
    m.source = ENERGY_NONE + 1;
    refused(m, "an unknown source is refused");
    m = sound;
    m.uj = UINT64_MAX;
    refused(m, "so is more energy than there is");
    m = sound;
    m.ns = UINT64_C(1) << 60;
    refused(m, "a longer time");
    m = sound;
    m.busy_ms = UINT64_MAX;
    refused(m, "busier CPUs");
    m = sound;
    m.idle_ms = UINT64_MAX;
    refused(m, "and more idle ones");
    is_int(pass_order(1000, 1), 0, "the order is read");
    is_int(pass_order(0, 0), -1, "an order without a pace is refused");
    is_int(pass_order(RECORD_MAX_MS + 1, 0), -1, "one that is too slow");
    is_int(pass_order(1000, 2), -1, "and one for another guard");
    return done();
}
