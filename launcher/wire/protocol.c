/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/protocol.h"

#include <stdlib.h>
#include <string.h>

static struct reader reader_of(const uint8_t *body, size_t len)
{
    return (struct reader){.at = body, .left = len};
}

/* The end of every decoder: whole and sound, or zeroed. */
static int finish(const struct reader *r, void *m, size_t size)
{
    if (read_end(r) == 0)
        return 0;
    memset(m, 0, size);
    return -1;
}

static void read_version(struct reader *r, struct msg_version *m)
{
    memset(m, 0, sizeof *m);
    m->version = read_u32(r);
    read_text(r, m->node, sizeof m->node);
    if (m->version == 0)
        r->bad = 1;
}

int msg_read_version(struct msg_version *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_version(&r, m);
    if (!r.bad)
        return 0;
    memset(m, 0, sizeof *m);
    return -1;
}

void msg_write_here(struct writer *w, const struct msg_here *m)
{
    write_u32(w, PROTOCOL_VERSION);
    write_text(w, m->endpoint.node);
    write_u32(w, m->rank);
    write_u32(w, m->agents);
    endpoint_write(w, &m->endpoint);
}

int msg_read_here(struct msg_here *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);
    struct msg_version version;

    memset(m, 0, sizeof *m);
    read_version(&r, &version);
    m->rank = read_u32(&r);
    m->agents = read_u32(&r);
    endpoint_read(&r, &m->endpoint);
    if (version.version != PROTOCOL_VERSION
        || strcmp(version.node, m->endpoint.node) != 0 || m->agents > AGENTS_MAX
        || m->rank >= m->agents)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_fence(struct writer *w, const struct msg_fence *m)
{
    write_u32(w, m->branches);
    write_blob(w, m->table, m->len);
}

int msg_read_fence(struct msg_fence *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->branches = read_u32(&r);
    m->table = read_blob(&r, &m->len);
    if (m->branches > AGENTS_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_ready(struct writer *w, const struct msg_ready *m)
{
    uint8_t adapter[ADAPTER_BYTES];

    write_u32(w, m->rank);
    write_u32(w, m->agents);
    write_u32(w, m->job);
    write_u32(w, m->step);
    write_u32(w, m->cpus);
    write_text(w, m->node);
    write_text(w, m->rack);
    write_text(w, m->boot_id);
    adapter_encode(adapter, &m->adapter);
    write_blob(w, adapter,
               m->adapter.link == ADAPTER_NONE ? 0 : sizeof adapter);
}

int msg_read_ready(struct msg_ready *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);
    const uint8_t *adapter;
    size_t adapter_len;

    m->rank = read_u32(&r);
    m->agents = read_u32(&r);
    m->job = read_u32(&r);
    m->step = read_u32(&r);
    m->cpus = read_u32(&r);
    read_text(&r, m->node, sizeof m->node);
    read_text(&r, m->rack, sizeof m->rack);
    read_text(&r, m->boot_id, sizeof m->boot_id);
    adapter = read_blob(&r, &adapter_len);
    memset(&m->adapter, 0, sizeof m->adapter);
    if (adapter_len > 0
        && adapter_decode(&m->adapter, adapter, adapter_len) < 0)
        r.bad = 1;
    if (m->agents > AGENTS_MAX || m->rank >= m->agents || !m->node[0])
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_peer(struct writer *w, const struct msg_peer *m)
{
    write_u32(w, m->reached);
    write_text(w, m->text);
}

int msg_read_peer(struct msg_peer *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->reached = read_u32(&r);
    read_text(&r, m->text, sizeof m->text);
    return finish(&r, m, sizeof *m);
}

void msg_write_probe(struct writer *w, const struct msg_probe *m)
{
    write_u32(w, m->fresh);
    write_u32(w, m->budget_ms);
    write_u32(w, m->elements);
    write_u64(w, m->ttl_s);
    write_text(w, m->cache);
    write_text(w, m->scratch);
}

int msg_read_probe(struct msg_probe *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->fresh = read_u32(&r);
    m->budget_ms = read_u32(&r);
    m->elements = read_u32(&r);
    m->ttl_s = read_u64(&r);
    read_text(&r, m->cache, sizeof m->cache);
    read_text(&r, m->scratch, sizeof m->scratch);
    if (m->budget_ms < PROBE_NODE_BUDGET_MIN_MS
        || m->budget_ms > PROBE_NODE_BUDGET_MAX_MS || (m->elements & ~PROBE_ALL)
        || m->ttl_s > INT64_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_probed(struct writer *w, const struct msg_probed *m)
{
    write_u32(w, m->cached);
    write_text(w, m->text);
    write_text(w, m->hardware);
    write_blob(w, m->results, m->len);
}

int msg_read_probed(struct msg_probed *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->cached = read_u32(&r);
    read_text(&r, m->text, sizeof m->text);
    read_text(&r, m->hardware, sizeof m->hardware);
    m->results = read_blob(&r, &m->len);
    if (m->len > PROBED_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_ring(struct writer *w, const struct msg_ring *m)
{
    write_u32(w, m->receiver);
    write_u32(w, m->port);
    write_u32(w, m->ms);
}

int msg_read_ring(struct msg_ring *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->receiver = read_u32(&r);
    m->port = read_u32(&r);
    m->ms = read_u32(&r);
    if (m->receiver >= AGENTS_MAX || m->port > UINT16_MAX || m->ms == 0
        || m->ms > PROBE_NODE_BUDGET_MAX_MS)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

int msg_read_rang(double *received_per_s, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    *received_per_s = read_double(&r);
    if (*received_per_s < 0)
        r.bad = 1;
    return finish(&r, received_per_s, sizeof *received_per_s);
}

void msg_write_files(struct writer *w, const struct msg_files *m)
{
    write_u32(w, m->apart);
    write_u32(w, m->here);
    write_blob(w, m->ok, sizeof m->ok);
    write_u32(w, m->n);
    for (uint32_t i = 0; i < m->n; i++)
        write_text(w, m->name[i]);
}

/* n texts, one behind the other in one allocation. */
static char **read_texts(struct reader *r, uint32_t n)
{
    char **all = malloc((n + 1) * sizeof *all + r->left + n), *text;

    if (!all)
        return NULL;
    text = (char *)(all + n + 1);
    for (uint32_t i = 0; i < n; i++) {
        all[i] = text;
        read_text(r, text, r->left + 1);
        text += strlen(text) + 1;
    }
    all[n] = NULL;
    return all;
}

int msg_read_files(struct msg_files *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);
    const uint8_t *ok;
    size_t n;

    m->name = NULL;
    m->apart = read_u32(&r);
    m->here = read_u32(&r);
    ok = read_blob(&r, &n);
    m->n = read_u32(&r);
    if (!r.bad && n == sizeof m->ok && m->n <= FILES_MAX && m->apart <= 1
        && m->here <= 1)
        m->name = read_texts(&r, m->n);
    if (m->name && read_end(&r) == 0) {
        memcpy(m->ok, ok, sizeof m->ok);
        return 0;
    }
    free(m->name);
    memset(m, 0, sizeof *m);
    return -1;
}

void msg_write_file(struct writer *w, const struct msg_file *m)
{
    write_u64(w, m->id);
    write_u32(w, m->file);
    write_u64(w, m->offset);
    write_u32(w, m->runs);
    write_blob(w, m->bytes, m->len);
}

int msg_read_file(struct msg_file *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->id = read_u64(&r);
    m->file = read_u32(&r);
    m->offset = read_u64(&r);
    m->runs = read_u32(&r);
    m->bytes = read_blob(&r, &m->len);
    if (m->file >= FILES_MAX || m->runs > 1 || m->len > OUTPUT_MAX
        || m->offset > INT64_MAX - OUTPUT_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_command(struct writer *w,
                       const char *dir,
                       int persistent,
                       char *const argv[])
{
    uint32_t argc = 0;

    while (argv[argc])
        argc++;
    write_text(w, dir);
    write_u32(w, persistent ? 1 : 0);
    write_u32(w, argc);
    for (uint32_t i = 0; i < argc; i++)
        write_text(w, argv[i]);
}

int msg_read_command(struct msg_command *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);
    uint32_t argc;

    m->argv = NULL;
    read_text(&r, m->dir, sizeof m->dir);
    m->persistent = read_u32(&r);
    argc = read_u32(&r);
    if (!r.bad && argc > 0 && argc <= ARGC_MAX)
        m->argv = read_texts(&r, argc);
    if (!m->argv)
        return finish(&(struct reader){.bad = 1}, m, sizeof *m);
    if (read_end(&r) == 0 && m->persistent <= 1 && m->argv[0][0])
        return 0;
    free(m->argv);
    memset(m, 0, sizeof *m);
    return -1;
}

void msg_write_slots(struct writer *w, const struct msg_slots *m)
{
    write_u32(w, m->kind);
    write_u32(w, m->n);
    write_u32(w, m->beside);
}

int msg_read_slots(struct msg_slots *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->kind = read_u32(&r);
    m->n = read_u32(&r);
    m->beside = read_u32(&r);
    if (m->kind > SLOTS_GPUS || m->n > NODE_SLOTS_MAX || m->beside == 0
        || m->beside > SLOT_BESIDE_MAX
        || (m->kind == SLOTS_NUMBER && m->n == 0))
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_slotted(struct writer *w, const struct msg_slotted *m)
{
    write_u32(w, m->n);
    write_text(w, m->text);
}

int msg_read_slotted(struct msg_slotted *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->n = read_u32(&r);
    read_text(&r, m->text, sizeof m->text);
    if (m->n > NODE_SLOTS_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_run(struct writer *w, const struct msg_run *m)
{
    write_u64(w, m->id);
    write_u64(w, m->frame);
    write_u64(w, m->begin);
    write_u64(w, m->end);
    write_u32(w, m->slot);
    write_text(w, m->label);
}

int msg_read_run(struct msg_run *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->id = read_u64(&r);
    m->frame = read_u64(&r);
    m->begin = read_u64(&r);
    m->end = read_u64(&r);
    m->slot = read_u32(&r);
    read_text(&r, m->label, sizeof m->label);
    if (m->begin > m->end || m->slot >= NODE_SLOTS_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_output(struct writer *w, const struct msg_output *m)
{
    write_u64(w, m->id);
    write_blob(w, m->bytes, m->len);
}

int msg_read_output(struct msg_output *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->id = read_u64(&r);
    m->bytes = read_blob(&r, &m->len);
    return finish(&r, m, sizeof *m);
}

void msg_write_done(struct writer *w, const struct msg_done *m)
{
    write_u64(w, m->id);
    write_u32(w, m->status);
    write_u32(w, m->signal);
    write_u32(w, m->exec_errno);
    write_u64(w, m->elapsed_ns);
    write_u64(w, m->err_dropped);
    write_blob(w, m->err, m->err_len);
}

int msg_read_done(struct msg_done *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->id = read_u64(&r);
    m->status = read_u32(&r);
    m->signal = read_u32(&r);
    m->exec_errno = read_u32(&r);
    m->elapsed_ns = read_u64(&r);
    m->err_dropped = read_u64(&r);
    m->err = read_blob(&r, &m->err_len);
    if (m->status > 255 || m->elapsed_ns > INT64_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_put(struct writer *w, const struct msg_put *m)
{
    write_text(w, m->dir);
    write_text(w, m->file);
    write_blob(w, m->content, m->len);
}

static int is_plain_name(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/');
}

int msg_read_put(struct msg_put *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->dir, sizeof m->dir);
    read_text(&r, m->file, sizeof m->file);
    m->content = read_blob(&r, &m->len);
    if (!is_plain_name(m->dir)
        || (m->file[0] ? !is_plain_name(m->file) : m->len > 0))
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_tasks(struct writer *w, const struct msg_tasks *m)
{
    write_text(w, m->dir);
    write_u32(w, m->tasks);
    write_u32(w, m->patience_s);
}

int msg_read_tasks(struct msg_tasks *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->dir, sizeof m->dir);
    m->tasks = read_u32(&r);
    m->patience_s = read_u32(&r);
    if (!is_plain_name(m->dir) || m->tasks == 0 || m->tasks > NODE_TASKS_MAX
        || m->patience_s == 0)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_idle(struct writer *w, const struct msg_idle *m)
{
    write_u64(w, m->units);
    write_u64(w, m->frames);
}

int msg_read_idle(struct msg_idle *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->units = read_u64(&r);
    m->frames = read_u64(&r);
    if (m->units == 0)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_over(struct writer *w, const struct msg_over *m)
{
    write_u32(w, m->error);
    write_blob(w, m->err, m->err_len);
}

int msg_read_over(struct msg_over *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->error = read_u32(&r);
    m->err = read_blob(&r, &m->err_len);
    return finish(&r, m, sizeof *m);
}

void msg_write_monitor(struct writer *w, const struct msg_monitor *m)
{
    write_text(w, m->dir);
    write_u32(w, m->interval_ms);
    write_u32(w, m->aggregate);
    write_u32(w, m->power);
    write_double(w, m->start);
    write_double(w, m->floor);
    write_u32(w, m->record_ms);
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
    if (!is_plain_name(m->dir) || m->interval_ms < INTERVAL_MIN_MS
        || m->interval_ms > INTERVAL_MAX_MS || m->aggregate > AGGREGATE_MEDIAN
        || m->power > MONITOR_THREADS || !(m->start > 0) || m->start > 1
        || !(m->floor > 0) || m->floor > 1 || m->record_ms > RECORD_MAX_MS)
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
    if (m->progress < 0 || m->skew < 0 || m->work_ns > INT64_MAX)
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

int msg_read_u64(uint64_t *v, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    *v = read_u64(&r);
    return finish(&r, v, sizeof *v);
}

int msg_read_u32(uint32_t *v, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    *v = read_u32(&r);
    return finish(&r, v, sizeof *v);
}
