/* SPDX-License-Identifier: BSD-2-Clause */
/* The first byte chooses the decoder, the rest is the body. */
#include "launcher/wire/protocol.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const uint8_t *p, size_t len)
{
    volatile uint8_t sum = 0;

    for (size_t i = 0; i < len; i++)
        sum = (uint8_t)(sum + p[i]);
}

static void work(const uint8_t *body, size_t len)
{
    struct msg_work m;

    if (msg_read_work(&m, body, len) < 0)
        return;
    if (!m.name[0])
        abort();
    for (size_t i = 0; m.argv[i]; i++)
        walk((const uint8_t *)m.argv[i], strlen(m.argv[i]));
    free(m.argv);
}

static void command(const uint8_t *body, size_t len)
{
    struct msg_command m;

    work(body, len);
    if (msg_read_command(&m, body, len) < 0)
        return;
    for (size_t i = 0; m.argv[i]; i++)
        walk((const uint8_t *)m.argv[i], strlen(m.argv[i]));
    free(m.argv);
}

static void files(const uint8_t *body, size_t len)
{
    struct msg_files m;
    struct msg_file f;

    if (msg_read_file(&f, body, len) == 0) {
        if (f.file >= FILES_MAX || f.len > OUTPUT_MAX
            || f.offset + f.len > INT64_MAX)
            abort();
        walk(f.bytes, f.len);
    }
    if (msg_read_files(&m, body, len) < 0)
        return;
    if (m.n > FILES_MAX)
        abort();
    for (uint32_t i = 0; i < m.n; i++)
        walk((const uint8_t *)m.name[i], strlen(m.name[i]));
    free(m.name);
}

static void texts(const uint8_t *body, size_t len)
{
    struct msg_ready ready;
    struct msg_version version;
    struct msg_here here;
    struct msg_peer peer;
    struct msg_probe probe;
    struct msg_ring ring;
    struct msg_keep_ring keep;
    double rate;
    struct msg_run run;
    struct msg_tasks tasks;
    struct msg_slots slots;
    struct msg_slotted slotted;
    char comment[TEXT_MAX];
    uint32_t v;
    uint64_t u;

    if (msg_read_version(&version, body, len) == 0 && version.version == 0)
        abort();
    if (msg_read_here(&here, body, len) == 0
        && (here.rank >= here.agents || here.endpoint.port == 0))
        abort();
    if (msg_read_ready(&ready, body, len) == 0 && ready.rank >= ready.agents)
        abort();
    if (msg_read_peer(&peer, body, len) == 0)
        walk((const uint8_t *)peer.text, strlen(peer.text));
    if (msg_read_probe(&probe, body, len) == 0
        && (probe.elements & ~PROBE_ALL || probe.budget_ms == 0))
        abort();
    if (msg_read_ring(&ring, body, len) == 0 && ring.ms == 0)
        abort();
    if (msg_read_rang(&rate, body, len) == 0 && !(rate >= 0))
        abort();
    if (msg_read_keep_ring(&keep, body, len) == 0
        && (!keep.cache[0] || !(keep.value >= 0) || !(keep.spread >= 0)))
        abort();
    if (msg_read_run(&run, body, len) == 0
        && (run.begin > run.end || run.slot >= NODE_SLOTS_MAX))
        abort();
    if (msg_read_slots(&slots, body, len) == 0 && slots.n > NODE_SLOTS_MAX)
        abort();
    if (msg_read_slotted(&slotted, body, len) == 0)
        walk((const uint8_t *)slotted.text, strlen(slotted.text));
    if (msg_read_tasks(&tasks, body, len) == 0
        && (strchr(tasks.dir, '/') || tasks.tasks > NODE_TASKS_MAX))
        abort();
    if (msg_read_comment(comment, body, len) == 0)
        walk((const uint8_t *)comment, strlen(comment));
    (void)msg_read_u32(&v, body, len);
    (void)msg_read_u64(&u, body, len);
}

/* A table for two, as an agent takes it. */
static void table(const uint8_t *body, size_t len)
{
    struct wireup w = {.size = 2};
    struct msg_fence m;

    if (msg_read_fence(&m, body, len) < 0
        || wireup_take(&w, m.table, m.len) < 0)
        return;
    for (uint32_t i = 0; i < w.size; i++)
        if (w.agent[i].port == 0 || !w.agent[i].node[0])
            abort();
    wireup_clear(&w);
}

static void blobs(const uint8_t *body, size_t len)
{
    struct msg_output output;
    struct msg_over over;
    struct msg_done d;
    struct msg_probed probed;
    struct msg_ports ports;
    struct msg_ports_end end;
    struct msg_measured measured;
    struct msg_put put;

    if (msg_read_over(&over, body, len) == 0)
        walk(over.err, over.err_len);
    if (msg_read_output(&output, body, len) == 0)
        walk(output.bytes, output.len);
    if (msg_read_done(&d, body, len) == 0)
        walk(d.err, d.err_len);
    if (msg_read_probed(&probed, body, len) == 0) {
        if (probed.len > PROBED_MAX)
            abort();
        walk(probed.results, probed.len);
    }
    (void)msg_read_ports_end(&end, body, len);
    if (msg_read_measured(&measured, body, len) == 0
        && measured.rank >= measured.ranks)
        abort();
    if (msg_read_ports(&ports, body, len) == 0) {
        if (ports.missing > NODE_TASKS_MAX || ports.len > 2 * NODE_TASKS_MAX)
            abort();
        walk(ports.port, ports.len);
    }
    if (msg_read_put(&put, body, len) == 0) {
        if (strchr(put.dir, '/') || strchr(put.file, '/'))
            abort();
        walk(put.content, put.len);
    }
}

static void energy(const uint8_t *body, size_t len)
{
    struct msg_energy_order order;
    struct msg_energy m;

    if (msg_read_energy(&m, body, len) == 0 && strlen(m.text) >= sizeof m.text)
        abort();
    if (msg_read_energy_order(&order, body, len) == 0 && order.record_ms == 0)
        abort();
}

static void ranks(const uint8_t *body, size_t len)
{
    static struct msg_ranks m;
    double all = 0;

    if (msg_read_ranks(&m, body, len) < 0)
        return;
    if (m.n > RANKS_MAX || m.k > RANKS_REGIONS || m.l > RANKS_REGIONS)
        abort();
    for (uint32_t i = 0; i < m.n; i++)
        all += m.rank[i].useful + m.rank[i].waiting;
    for (uint32_t i = 0; i < m.k; i++)
        all += m.region[i].sum.n_useful + m.region[i].sum.n_wait;
    for (uint32_t i = 0; i < m.l; i++) {
        all += m.iteration[i].sum.n_useful + m.iteration[i].sum.n_wait;
        if (m.iteration[i].loop >= RANKS_LOOPS)
            abort();
    }
    if (!(all >= 0) || m.size <= (m.n > 0 ? m.rank[0].rank : 0))
        abort();
}

static void rank_detail(const uint8_t *body, size_t len)
{
    struct msg_rank_detail m;

    if (msg_read_rank_detail(&m, body, len) < 0)
        return;
    if (m.bins > RANK_BINS || m.sites > RANK_SITES || !(m.bin_ns >= 0))
        abort();
    for (uint32_t i = 0; i < m.sites; i++)
        if (strlen(m.site[i].where) >= sizeof m.site[i].where
            || !(m.site[i].waiting >= 0))
            abort();
}

static void power(const uint8_t *body, size_t len)
{
    struct msg_monitor monitor;
    struct msg_progress progress;
    struct msg_meter meter;
    struct msg_metered metered;
    struct msg_power p;
    struct msg_limited limited;
    uint64_t v;

    if (msg_read_monitor(&monitor, body, len) == 0
        && (strchr(monitor.dir, '/') || monitor.interval_ms == 0))
        abort();
    if (msg_read_progress(&progress, body, len) == 0
        && !(progress.progress >= 0))
        abort();
    if (msg_read_meter(&meter, body, len) == 0)
        walk((const uint8_t *)meter.pattern, strlen(meter.pattern));
    if (msg_read_metered(&metered, body, len) == 0
        && !(metered.fraction >= 0 && metered.fraction <= 1))
        abort();
    if (msg_read_power(&p, body, len) == 0
        && (p.limit < p.floor || p.limit > p.ceiling))
        abort();
    if (msg_read_limited(&limited, body, len) == 0)
        walk((const uint8_t *)limited.text, strlen(limited.text));
    (void)msg_read_u64(&v, body, len);
    ranks(body, len);
    rank_detail(body, len);
    energy(body, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 3 == 0 && data[0] >= 128)
        table(data + 1, size - 1);
    else if (data[0] % 3 == 0 && data[0] >= 64)
        files(data + 1, size - 1);
    else if (data[0] % 3 == 0)
        command(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        texts(data + 1, size - 1);
    else if (data[0] >= 128)
        power(data + 1, size - 1);
    else
        blobs(data + 1, size - 1);
    return 0;
}
