/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/step_meter.h"
#include "launcher/wire/protocol_body.h"

void msg_write_monitor(struct writer *w, const struct msg_monitor *m)
{
    write_text(w, m->dir);
    write_u32(w, m->interval_ms);
    write_u32(w, m->aggregate);
    write_u32(w, m->power);
    write_double(w, m->start);
    write_double(w, m->floor);
    write_u32(w, m->record_ms);
    write_u32(w, m->meter);
}

int msg_read_monitor(struct msg_monitor *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->dir, sizeof m->dir);
    m->interval_ms = read_u32(&r);
    m->aggregate = read_u32(&r);
    m->power = read_u32(&r);
    m->start = read_double(&r);
    m->floor = read_double(&r);
    m->record_ms = read_u32(&r);
    m->meter = read_u32(&r);
    if (!is_plain_name(m->dir) || m->interval_ms < INTERVAL_MIN_MS
        || m->interval_ms > INTERVAL_MAX_MS || m->aggregate > AGGREGATE_MEDIAN
        || m->power > MONITOR_THREADS || !(m->start > 0) || m->start > 1
        || !(m->floor > 0) || m->floor > 1 || m->record_ms > RECORD_MAX_MS
        || m->meter >= STEP_METERS)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_progress(struct writer *w, const struct msg_progress *m)
{
    write_u32(w, m->epoch);
    write_u32(w, m->slots);
    write_double(w, m->progress);
    write_u64(w, m->work_ns);
    write_double(w, m->skew);
    write_u64(w, m->misuse);
    write_u64(w, m->done_ns);
    write_u64(w, m->left_ns);
    write_u32(w, m->is_waiting);
}

int msg_read_progress(struct msg_progress *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->epoch = read_u32(&r);
    m->slots = read_u32(&r);
    m->progress = read_double(&r);
    m->work_ns = read_u64(&r);
    m->skew = read_double(&r);
    m->misuse = read_u64(&r);
    m->done_ns = read_u64(&r);
    m->left_ns = read_u64(&r);
    m->is_waiting = read_u32(&r);
    if (m->progress < 0 || m->skew < 0 || m->work_ns > INT64_MAX
        || m->done_ns > INT64_MAX || m->left_ns > INT64_MAX
        || m->is_waiting > 1)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_meter(struct writer *w, const struct msg_meter *m)
{
    write_u32(w, m->kind);
    write_text(w, m->pattern);
    write_u32(w, m->record_ms);
}

int msg_read_meter(struct msg_meter *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->kind = read_u32(&r);
    read_text(&r, m->pattern, sizeof m->pattern);
    m->record_ms = read_u32(&r);
    if ((m->kind != OUTSIDE_OUTPUT && m->kind != OUTSIDE_CPU)
        || m->record_ms > RECORD_MAX_MS)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_metered(struct writer *w, const struct msg_metered *m)
{
    write_u64(w, m->id);
    write_double(w, m->fraction);
    write_u64(w, m->misuse);
}

int msg_read_metered(struct msg_metered *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->id = read_u64(&r);
    m->fraction = read_double(&r);
    m->misuse = read_u64(&r);
    if (!(m->fraction >= 0) || m->fraction > 1)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_power(struct writer *w, const struct msg_power *m)
{
    write_text(w, m->actuator);
    write_text(w, m->unit);
    write_u64(w, m->limit);
    write_u64(w, m->floor);
    write_u64(w, m->ceiling);
}

int msg_read_power(struct msg_power *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->actuator, sizeof m->actuator);
    read_text(&r, m->unit, sizeof m->unit);
    m->limit = read_u64(&r);
    m->floor = read_u64(&r);
    m->ceiling = read_u64(&r);
    if (m->floor > m->limit || m->limit > m->ceiling
        || m->ceiling > POWER_LIMIT_MAX || (m->limit > 0 && m->floor == 0))
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_limited(struct writer *w, const struct msg_limited *m)
{
    write_u64(w, m->limit);
    write_text(w, m->text);
}

int msg_read_limited(struct msg_limited *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->limit = read_u64(&r);
    read_text(&r, m->text, sizeof m->text);
    if (m->limit > POWER_LIMIT_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}
