/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/protocol_body.h"

#define RELEASE_SINCE 3u /* the version that says its release first */

static void read_version(struct reader *r, struct msg_version *m)
{
    memset(m, 0, sizeof *m);
    m->version = read_u32(r);
    read_text(r, m->node, sizeof m->node);
    if (m->version >= RELEASE_SINCE)
        read_text(r, m->release, sizeof m->release);
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
    write_text(w, EVENSTEP_VERSION);
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
    write_u32(w, m->has_plugin);
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
    m->has_plugin = read_u32(&r);
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

int msg_read_comment(char text[TEXT_MAX], const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, text, TEXT_MAX);
    return finish(&r, text, TEXT_MAX);
}

static void write_site(struct writer *w, const struct probe_site *site)
{
    write_text(w, site->name);
    write_text(w, site->unit);
    write_text(w, site->command);
    write_u32(w, site->less != 0);
    write_u32(w, (uint32_t)site->budget_ms);
}

static int is_probe_budget(uint32_t ms)
{
    return ms >= PROBE_NODE_BUDGET_MIN_MS && ms <= PROBE_NODE_BUDGET_MAX_MS;
}

static void read_site(struct reader *r, struct probe_site *site)
{
    uint32_t less, budget_ms;

    read_text(r, site->name, sizeof site->name);
    read_text(r, site->unit, sizeof site->unit);
    read_text(r, site->command, sizeof site->command);
    less = read_u32(r);
    budget_ms = read_u32(r);
    if (!site->name[0] || !site->command[0] || less > 1
        || !is_probe_budget(budget_ms)) {
        r->bad = 1;
        return;
    }
    site->less = (int)less;
    site->budget_ms = (int)budget_ms;
}

void msg_write_probe(struct writer *w, const struct msg_probe *m)
{
    write_u32(w, m->fresh);
    write_u32(w, m->budget_ms);
    write_u32(w, m->elements);
    write_u64(w, m->ttl_s);
    write_text(w, m->cache);
    write_text(w, m->scratch);
    for (int i = 0; i < SITE_ELEMENTS; i++)
        if (m->elements & PROBE_BIT(ELEMENT_SITE + i))
            write_site(w, &m->site[i]);
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
    memset(m->site, 0, sizeof m->site);
    for (int i = 0; i < SITE_ELEMENTS; i++)
        if (m->elements & PROBE_BIT(ELEMENT_SITE + i))
            read_site(&r, &m->site[i]);
    if (!is_probe_budget(m->budget_ms) || (m->elements & ~PROBE_ALL)
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

void msg_write_keep_ring(struct writer *w, const struct msg_keep_ring *m)
{
    write_text(w, m->cache);
    write_double(w, m->value);
    write_double(w, m->spread);
    write_text(w, m->what);
}

int msg_read_keep_ring(struct msg_keep_ring *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->cache, sizeof m->cache);
    m->value = read_double(&r);
    m->spread = read_double(&r);
    read_text(&r, m->what, sizeof m->what);
    if (!m->cache[0] || m->value < 0 || m->spread < 0)
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
