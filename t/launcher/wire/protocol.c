/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/protocol.h"
#include "fault.h"
#include "launcher/base/step_meter.h"
#include "tap.h"

/* Every decoder behind one shape, so that each rule is tried on all. */
union any {
    struct msg_here here;
    struct msg_fence fence;
    struct msg_ready ready;
    struct msg_peer peer;
    struct msg_probe probe;
    struct msg_probed probed;
    struct msg_ring ring;
    double rang;
    struct msg_keep_ring keep;
    struct msg_command command;
    struct msg_run run;
    struct msg_output output;
    struct msg_done done;
    struct msg_put put;
    struct msg_files files;
    struct msg_file file;
    struct msg_monitor monitor;
    struct msg_progress progress;
    struct msg_power power;
    struct msg_limited limited;
    struct msg_meter meter;
    struct msg_metered metered;
    struct msg_tasks tasks;
    struct msg_idle idle;
    struct msg_ports ports;
    struct msg_ports_end ports_end;
    struct msg_measured measured;
    struct msg_over over;
    struct msg_slots slots;
    struct msg_slotted slotted;
    char comment[TEXT_MAX];
    uint32_t u32;
    uint64_t u64;
};

enum which {
    HERE,
    FENCE,
    READY,
    PEER,
    PROBE,
    PROBED,
    RING,
    RANG,
    KEEP_RING,
    COMMAND,
    RUN,
    OUTPUT,
    DONE,
    PUT,
    FILES,
    FILE_,
    MONITOR,
    PROGRESS,
    POWER,
    LIMITED,
    METER,
    METERED,
    TASKS,
    IDLE,
    PORTS,
    PORTS_END,
    MEASURED,
    OVER,
    SLOTS,
    SLOTTED,
    COMMENT,
    U32,
    U64,
    KINDS
};

static const char *const names[KINDS] = {
    "HERE",    "FENCE",   "READY",     "PEER",    "PROBE",   "PROBED",
    "RING",    "RANG",    "KEEP_RING", "COMMAND", "RUN",     "OUTPUT",
    "DONE",    "PUT",     "FILES",     "FILE",    "MONITOR", "PROGRESS",
    "POWER",   "LIMITED", "METER",     "METERED", "TASKS",   "IDLE",
    "PORTS",   "PORTS",   "MEASURED",  "OVER",    "SLOTS",   "SLOTTED",
    "COMMENT", "STORED",  "LIMIT"};

static int decode(enum which k, union any *m, const uint8_t *body, size_t len)
{
    switch (k) {
    case HERE:
        return msg_read_here(&m->here, body, len);
    case FENCE:
        return msg_read_fence(&m->fence, body, len);
    case READY:
        return msg_read_ready(&m->ready, body, len);
    case PEER:
        return msg_read_peer(&m->peer, body, len);
    case PROBE:
        return msg_read_probe(&m->probe, body, len);
    case PROBED:
        return msg_read_probed(&m->probed, body, len);
    case RING:
        return msg_read_ring(&m->ring, body, len);
    case RANG:
        return msg_read_rang(&m->rang, body, len);
    case KEEP_RING:
        return msg_read_keep_ring(&m->keep, body, len);
    case COMMAND:
        return msg_read_command(&m->command, body, len);
    case RUN:
        return msg_read_run(&m->run, body, len);
    case OUTPUT:
        return msg_read_output(&m->output, body, len);
    case DONE:
        return msg_read_done(&m->done, body, len);
    case PUT:
        return msg_read_put(&m->put, body, len);
    case FILES:
        return msg_read_files(&m->files, body, len);
    case FILE_:
        return msg_read_file(&m->file, body, len);
    case MONITOR:
        return msg_read_monitor(&m->monitor, body, len);
    case PROGRESS:
        return msg_read_progress(&m->progress, body, len);
    case POWER:
        return msg_read_power(&m->power, body, len);
    case LIMITED:
        return msg_read_limited(&m->limited, body, len);
    case METER:
        return msg_read_meter(&m->meter, body, len);
    case METERED:
        return msg_read_metered(&m->metered, body, len);
    case TASKS:
        return msg_read_tasks(&m->tasks, body, len);
    case IDLE:
        return msg_read_idle(&m->idle, body, len);
    case PORTS:
        return msg_read_ports(&m->ports, body, len);
    case PORTS_END:
        return msg_read_ports_end(&m->ports_end, body, len);
    case MEASURED:
        return msg_read_measured(&m->measured, body, len);
    case OVER:
        return msg_read_over(&m->over, body, len);
    case SLOTS:
        return msg_read_slots(&m->slots, body, len);
    case SLOTTED:
        return msg_read_slotted(&m->slotted, body, len);
    case COMMENT:
        return msg_read_comment(m->comment, body, len);
    case U32:
        return msg_read_u32(&m->u32, body, len);
    default:
        return msg_read_u64(&m->u64, body, len);
    }
}

static char word_echo[] = "echo", word_x[] = "{begin}", word_empty[] = "";
static char *const argv[] = {word_echo, word_x, word_empty, NULL};

static const struct msg_monitor a_monitor = {
    "17.2", 10,   AGGREGATE_MEDIAN, MONITOR_GUARD, 0.8,
    0.2,    1639, STEP_METER_CPU};
static const struct msg_progress a_progress = {3, 64,   12.5, 0.01, 5000,
                                               2, 7000, 600,  1};
static const struct msg_power a_power = {"cgroup", "us/s", 400000, 80000,
                                         800000};
static const struct msg_limited a_limit = {400000, "error: it sticks"};

static const struct msg_here a_here = {
    3, 4, {.node = "n3", .address = "10.0.0.3", .port = 4000, .door = 4001}};
static const struct msg_fence a_fence = {8, (const uint8_t *)"table", 5};
static const struct msg_meter a_meter = {OUTSIDE_OUTPUT, "row ([0-9]+)", 100};
static const struct msg_metered a_reading = {7, 0.5, 3};

static const struct msg_files some_files = {.apart = 1,
                                            .here = 0,
                                            .all = 1,
                                            .ok = {1, 0, 1},
                                            .n = 2,
                                            .name = (char **)argv};
static const struct msg_file a_file = {
    9, FILES_MAX - 1, INT64_MAX - 3, 1, INT64_MAX, (const uint8_t *)"png", 3};
static const struct msg_ports some_ports = {
    1, 0, 0, (const uint8_t *)"\x10\x11\xff\xff", 4};
static const struct msg_ports_end an_end = {1, 110};
static const struct msg_measured a_start = {6, 7, 300};
static const struct msg_tasks some_tasks = {"17.2", NODE_TASKS_MAX, 300, 1};
static const struct msg_idle an_idle = {UINT64_MAX, 20, 1};
static const struct msg_slots some_slots = {SLOTS_CORES, 0, 2, 4, 1u << 30};
static const struct msg_slotted an_answer = {NODE_SLOTS_MAX, 1u << 30,
                                             NODE_GPUS_MAX, "why"};
static const struct msg_over an_over = {103, (const uint8_t *)"why\n", 4};

/* The sound bodies of progress and power, and of single numbers. */
static void write_sound_meter(enum which k, struct writer *w)
{
    switch (k) {
    case MONITOR:
        msg_write_monitor(w, &a_monitor);
        break;
    case PROGRESS:
        msg_write_progress(w, &a_progress);
        break;
    case POWER:
        msg_write_power(w, &a_power);
        break;
    case LIMITED:
        msg_write_limited(w, &a_limit);
        break;
    case METER:
        msg_write_meter(w, &a_meter);
        break;
    case METERED:
        msg_write_metered(w, &a_reading);
        break;
    case U32:
        write_u32(w, 250);
        break;
    default:
        write_u64(w, UINT64_MAX);
        break;
    }
}

/* ... of what is to be done, ... */
static void write_sound_work(enum which k, struct writer *w)
{
    struct msg_run run = {9, 2, 10, UINT64_MAX, 3, "a label", "render", 4, 3};
    struct msg_output output = {9, (const uint8_t *)"\0\xff", 2};
    struct msg_done d = {
        9, 3, 0, 2, 1000, 700, 1u << 20, (const uint8_t *)"why\n", 4};
    struct msg_put put = {"17.2", "metrics.json", (const uint8_t *)"{}", 2};
    const struct msg_command command = {.dir = "/work",
                                        .kind = COMMAND_PERSISTENT,
                                        .program = "/tmp/{node}",
                                        .libs = "/a:$TMPDIR/b",
                                        .argv = (char **)argv};

    switch (k) {
    case COMMAND:
        msg_write_command(w, &command);
        break;
    case RUN:
        msg_write_run(w, &run);
        break;
    case OUTPUT:
        msg_write_output(w, &output);
        break;
    case DONE:
        msg_write_done(w, &d);
        break;
    case PUT:
        msg_write_put(w, &put);
        break;
    case FILES:
        msg_write_files(w, &some_files);
        break;
    case FILE_:
        msg_write_file(w, &a_file);
        break;
    case TASKS:
        msg_write_tasks(w, &some_tasks);
        break;
    case IDLE:
        msg_write_idle(w, &an_idle);
        break;
    case PORTS:
        msg_write_ports(w, &some_ports);
        break;
    case PORTS_END:
        msg_write_ports_end(w, &an_end);
        break;
    case MEASURED:
        msg_write_measured(w, &a_start);
        break;
    case OVER:
        msg_write_over(w, &an_over);
        break;
    case SLOTS:
        msg_write_slots(w, &some_slots);
        break;
    case SLOTTED:
        msg_write_slotted(w, &an_answer);
        break;
    case COMMENT:
        write_text(w, "evenstep: 5 frames");
        break;
    default:
        write_sound_meter(k, w);
        break;
    }
}

/* ... and of the nodes themselves. */
static void write_sound(enum which k, struct writer *w)
{
    struct msg_ready ready = {
        3, 4,    17,   2,        8,
        1, "n3", "s1", "a boot", {.link = ADAPTER_IP, .tcp_port = 4711}};
    struct msg_peer peer = {1, "n0 at 10.0.0.1:4000: reached"};
    struct msg_probe probe = {1,
                              1000,
                              PROBE_CORE | PROBE_BIT(ELEMENT_SITE + 1),
                              86400,
                              "/var/cache/evenstep",
                              "",
                              {[1] = {"licences", "", "seats --free", 1, 500}}};
    struct msg_probed probed = {1, "is older than its ttl", "a CPU",
                                (const uint8_t *)"{}", 2};

    switch (k) {
    case HERE:
        msg_write_here(w, &a_here);
        break;
    case FENCE:
        msg_write_fence(w, &a_fence);
        break;
    case READY:
        msg_write_ready(w, &ready);
        break;
    case PEER:
        msg_write_peer(w, &peer);
        break;
    case PROBE:
        msg_write_probe(w, &probe);
        break;
    case PROBED:
        msg_write_probed(w, &probed);
        break;
    case RING:
        msg_write_ring(w, &(struct msg_ring){3, 65535, 133});
        break;
    case RANG:
        write_double(w, 12.5e6);
        break;
    case KEEP_RING:
        msg_write_keep_ring(
            w, &(struct msg_keep_ring){"/var/cache", 0.1, 0.5, "3 rounds"});
        break;
    default:
        write_sound_work(k, w);
        break;
    }
}

/* A sound body of each kind, owned by the caller. */
static struct writer sound(enum which k)
{
    struct writer w = {0};

    write_sound(k, &w);
    return w;
}

static void forget(enum which k, union any *m)
{
    if (k == COMMAND)
        free(m->command.argv);
    if (k == FILES)
        free(m->files.name);
}

/* Decode and forget; what came out of it. */
static int decode_once(enum which k, const uint8_t *body, size_t len)
{
    union any m;
    int rc;

    memset(&m, 1, sizeof m);
    rc = decode(k, &m, body, len);
    if (rc == 0)
        forget(k, &m);
    return rc;
}

static void test_lengths(enum which k)
{
    struct writer w = sound(k);
    size_t cut;
    int rc;

    ok(decode_once(k, w.buf, w.len) == 0, "%s: a sound one is taken", names[k]);
    for (cut = 0; cut < w.len; cut++) {
        uint8_t *exact = malloc(cut + 1); /* so that ASan sees its end */

        if (!exact)
            bail("no memory");
        memcpy(exact, w.buf, cut);
        rc = decode_once(k, exact, cut);
        free(exact);
        if (rc == 0)
            break;
    }
    ok(cut == w.len, "%s: every proper prefix is refused", names[k]);
    write_blob(&w, "", 0);
    ok(decode_once(k, w.buf, w.len) == -1, "%s: with bytes behind it, refused",
       names[k]);
    writer_clear(&w);
}

/* Every byte changed to some values: what comes out is ASan's to judge. */
static void test_changed(enum which k)
{
    static const uint8_t some[] = {0, 1, 0x2f, 0x7f, 0x80, 0xff};
    struct writer w = sound(k);
    int odd = 0;

    for (size_t i = 0; i < w.len; i++)
        for (size_t v = 0; v < sizeof some; v++) {
            uint8_t before = w.buf[i];
            int rc;

            w.buf[i] = some[v];
            rc = decode_once(k, w.buf, w.len);
            odd += rc != 0 && rc != -1;
            w.buf[i] = before;
        }
    ok(odd == 0, "%s: any byte may change and nothing else happens", names[k]);
    writer_clear(&w);
}

/* Of files, what a decoder must see to; nobody looks again. */
static void test_files(void)
{
    char *const many[FILES_MAX + 2] = {word_echo};
    struct msg_files files = some_files;
    struct msg_file file = a_file;
    struct writer w = sound(FILES);
    union any m;

    msg_read_files(&m.files, w.buf, w.len);
    ok(m.files.apart == 1 && m.files.here == 0 && m.files.ok[0] == 1
           && m.files.ok[1] == 0 && m.files.ok[2] == 1 && m.files.n == 2
           && strcmp(m.files.name[1], word_x) == 0 && !m.files.name[2],
       "what slices make comes back");
    free(m.files.name);
    writer_clear(&w);
    w = sound(FILE_);
    msg_read_file(&m.file, w.buf, w.len);
    ok(m.file.id == 9 && m.file.file == FILES_MAX - 1
           && m.file.offset == INT64_MAX - 3 && m.file.runs == 1
           && m.file.size == INT64_MAX && m.file.len == 3
           && memcmp(m.file.bytes, "png", 3) == 0,
       "bytes of a file come back");
    writer_clear(&w);
    files.n = FILES_MAX + 1;
    files.name = (char **)many;
    for (size_t i = 0; i <= FILES_MAX; i++)
        files.name[i] = word_echo;
    msg_write_files(&w, &files);
    ok(decode_once(FILES, w.buf, w.len) < 0, "more files than may be are none");
    writer_clear(&w);
    file.file = FILES_MAX;
    msg_write_file(&w, &file);
    ok(decode_once(FILE_, w.buf, w.len) < 0, "nor is one behind the last");
    writer_clear(&w);
    file = a_file;
    file.offset++;
    msg_write_file(&w, &file);
    ok(decode_once(FILE_, w.buf, w.len) < 0, "nor bytes behind its end");
    writer_clear(&w);
    file.size++;
    msg_write_file(&w, &file);
    ok(decode_once(FILE_, w.buf, w.len) < 0, "nor one that is too long");
    writer_clear(&w);
}

static void test_values_of_agents(void)
{
    struct writer w;
    union any m;

    w = sound(READY);
    msg_read_ready(&m.ready, w.buf, w.len);
    ok(m.ready.rank == 3 && m.ready.agents == 4 && m.ready.job == 17
           && m.ready.step == 2 && strcmp(m.ready.node, "n3") == 0
           && strcmp(m.ready.rack, "s1") == 0
           && strcmp(m.ready.boot_id, "a boot") == 0
           && m.ready.adapter.link == ADAPTER_IP
           && m.ready.adapter.tcp_port == 4711,
       "who is ready comes back");
    writer_clear(&w);
    w = sound(PEER);
    msg_read_peer(&m.peer, w.buf, w.len);
    ok(m.peer.reached == 1
           && strcmp(m.peer.text, "n0 at 10.0.0.1:4000: reached") == 0,
       "what came of a greeting comes back");
    writer_clear(&w);
    w = sound(PROBED);
    msg_read_probed(&m.probed, w.buf, w.len);
    ok(m.probed.cached == 1
           && strcmp(m.probed.text, "is older than its ttl") == 0
           && strcmp(m.probed.hardware, "a CPU") == 0 && m.probed.len == 2
           && memcmp(m.probed.results, "{}", 2) == 0,
       "results come back");
    writer_clear(&w);
    w = sound(RING);
    msg_read_ring(&m.ring, w.buf, w.len);
    ok(m.ring.receiver == 3 && m.ring.port == 65535 && m.ring.ms == 133,
       "a round of the ring comes back");
    writer_clear(&w);
    w = sound(KEEP_RING);
    msg_read_keep_ring(&m.keep, w.buf, w.len);
    ok(strcmp(m.keep.cache, "/var/cache") == 0 && m.keep.value == 0.1
           && m.keep.spread == 0.5 && strcmp(m.keep.what, "3 rounds") == 0,
       "what is to be kept of it comes back");
    writer_clear(&w);
    w = sound(PROBE);
    msg_read_probe(&m.probe, w.buf, w.len);
    ok(m.probe.fresh == 1 && m.probe.budget_ms == 1000
           && m.probe.elements == (PROBE_CORE | PROBE_BIT(ELEMENT_SITE + 1))
           && strcmp(m.probe.site[1].name, "licences") == 0
           && strcmp(m.probe.site[1].command, "seats --free") == 0
           && m.probe.site[1].less == 1 && m.probe.site[1].budget_ms == 500
           && m.probe.site[0].name[0] == '\0' && m.probe.ttl_s == 86400
           && strcmp(m.probe.cache, "/var/cache/evenstep") == 0
           && m.probe.scratch[0] == '\0',
       "what is to be measured comes back");
    writer_clear(&w);
    w = sound(OUTPUT);
    msg_read_output(&m.output, w.buf, w.len);
    ok(m.output.id == 9 && m.output.len == 2
           && memcmp(m.output.bytes, "\0\xff", 2) == 0 && m.output.bytes > w.buf
           && m.output.bytes < w.buf + w.len,
       "output comes back, any byte of it, and lies in the body");
    writer_clear(&w);
    w = sound(DONE);
    msg_read_done(&m.done, w.buf, w.len);
    ok(m.done.id == 9 && m.done.status == 3 && m.done.signal == 0
           && m.done.exec_errno == 2 && m.done.elapsed_ns == 1000
           && m.done.cpu_ns == 700 && m.done.err_dropped == 1u << 20
           && m.done.err_len == 4 && memcmp(m.done.err, "why\n", 4) == 0,
       "the end of a command comes back");
    writer_clear(&w);
}

static void test_values(void)
{
    struct writer w;
    union any m;

    w = sound(RUN);
    msg_read_run(&m.run, w.buf, w.len);
    ok(m.run.id == 9 && m.run.frame == 2 && m.run.begin == 10
           && m.run.end == UINT64_MAX && m.run.slot == 3
           && strcmp(m.run.label, "a label") == 0,
       "a slice up to the last unit comes back");
    writer_clear(&w);
    w = sound(COMMAND);
    msg_read_command(&m.command, w.buf, w.len);
    ok(strcmp(m.command.dir, "/work") == 0
           && m.command.kind == COMMAND_PERSISTENT
           && strcmp(m.command.program, "/tmp/{node}") == 0
           && strcmp(m.command.libs, "/a:$TMPDIR/b") == 0
           && strcmp(m.command.argv[0], "echo") == 0
           && strcmp(m.command.argv[1], "{begin}") == 0
           && strcmp(m.command.argv[2], "") == 0 && !m.command.argv[3],
       "a command comes back word by word, the empty one too");
    free(m.command.argv);
    writer_clear(&w);
    w = sound(PUT);
    msg_read_put(&m.put, w.buf, w.len);
    ok(strcmp(m.put.dir, "17.2") == 0 && strcmp(m.put.file, "metrics.json") == 0
           && m.put.len == 2 && memcmp(m.put.content, "{}", 2) == 0,
       "a file to put comes back");
    writer_clear(&w);
    w = sound(U32);
    ok(msg_read_u32(&m.u32, w.buf, w.len) == 0 && m.u32 == 250,
       "a number comes back");
    writer_clear(&w);
    w = sound(U64);
    ok(msg_read_u64(&m.u64, w.buf, w.len) == 0 && m.u64 == UINT64_MAX,
       "a long one too");
    writer_clear(&w);
}

static void test_values_of_programs(void)
{
    static const struct {
        const char *what;
        struct msg_tasks m;
    } bad[] = {{"no tasks", {"17.2", 0, 1, 0}},
               {"too many tasks", {"17.2", NODE_TASKS_MAX + 1, 1, 0}},
               {"tasks without patience", {"17.2", 1, 0, 0}},
               {"tasks in parts of another kind", {"17.2", 1, 1, 2}},
               {"tasks in a directory above", {"..", 1, 1, 0}},
               {"tasks in no directory", {"", 1, 1, 0}}};
    static const uint8_t many[2 * NODE_TASKS_MAX + 2];
    static const struct {
        const char *what;
        struct msg_ports m;
    } bad_ports[] = {
        {"ports, and tasks that have none", {1, 1, 0, many, 2}},
        {"no ports, though all tasks have", {1, 0, 0, many, 0}},
        {"half a port", {1, 0, 0, many, 3}},
        {"too many ports", {1, 0, 0, many, sizeof many}},
        {"too many without", {1, NODE_TASKS_MAX + 1, 0, many, 0}},
        {"a task beyond the last", {1, 1, NODE_TASKS_MAX, many, 0}}};
    struct writer w;
    union any m;

    w = sound(TASKS);
    ok(msg_read_tasks(&m.tasks, w.buf, w.len) == 0
           && strcmp(m.tasks.dir, "17.2") == 0
           && m.tasks.tasks == NODE_TASKS_MAX && m.tasks.patience_s == 300,
       "the tasks of a node come back");
    writer_clear(&w);
    w = sound(IDLE);
    ok(msg_read_idle(&m.idle, w.buf, w.len) == 0 && m.idle.units == UINT64_MAX
           && m.idle.frames == 20,
       "what programs bring along comes back");
    writer_clear(&w);
    w = sound(PORTS);
    ok(msg_read_ports(&m.ports, w.buf, w.len) == 0 && m.ports.round == 1
           && m.ports.missing == 0 && m.ports.len == 4
           && get_u16(m.ports.port) == 0x1011
           && get_u16(m.ports.port + 2) == UINT16_MAX,
       "the ports of tasks come back");
    writer_clear(&w);
    w = sound(PORTS_END);
    ok(msg_read_ports_end(&m.ports_end, w.buf, w.len) == 0
           && m.ports_end.round == 1 && m.ports_end.error == 110,
       "so does the end of a round of them");
    writer_clear(&w);
    w = sound(MEASURED);
    ok(msg_read_measured(&m.measured, w.buf, w.len) == 0 && m.measured.rank == 6
           && m.measured.ranks == 7 && m.measured.patience_s == 300,
       "and what a program that stays alive begins with");
    writer_clear(&w);
    msg_write_measured(&w, &(struct msg_measured){.rank = 7, .ranks = 7});
    is_int(msg_read_measured(&m.measured, w.buf, w.len), -1,
           "an eighth of seven is refused");
    writer_clear(&w);
    for (size_t i = 0; i < sizeof bad_ports / sizeof bad_ports[0]; i++) {
        msg_write_ports(&w, &bad_ports[i].m);
        ok(msg_read_ports(&m.ports, w.buf, w.len) == -1, "%s: refused",
           bad_ports[i].what);
        writer_clear(&w);
    }
    w = sound(OVER);
    ok(msg_read_over(&m.over, w.buf, w.len) == 0 && m.over.error == 103
           && m.over.err_len == 4 && memcmp(m.over.err, "why\n", 4) == 0,
       "the end of programs comes back");
    writer_clear(&w);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        msg_write_tasks(&w, &bad[i].m);
        ok(msg_read_tasks(&m.tasks, w.buf, w.len) == -1, "%s: refused",
           bad[i].what);
        writer_clear(&w);
    }
    write_u64(&w, 0);
    write_u64(&w, 1);
    ok(msg_read_idle(&m.idle, w.buf, w.len) == -1, "no units: refused");
    writer_clear(&w);
}

static void test_values_of_power(void)
{
    struct writer w;
    union any m;

    memset(&m, 0, sizeof m);
    w = sound(MONITOR);
    ok(msg_read_monitor(&m.monitor, w.buf, w.len) == 0
           && strcmp(m.monitor.dir, "17.2") == 0 && m.monitor.interval_ms == 10
           && m.monitor.aggregate == AGGREGATE_MEDIAN
           && m.monitor.power == MONITOR_GUARD && m.monitor.start == 0.8
           && m.monitor.floor == 0.2 && m.monitor.record_ms == 1639
           && m.monitor.meter == STEP_METER_CPU,
       "what to monitor comes back");
    writer_clear(&w);
    w = sound(PROGRESS);
    ok(msg_read_progress(&m.progress, w.buf, w.len) == 0
           && m.progress.epoch == 3 && m.progress.slots == 64
           && m.progress.progress == 12.5 && m.progress.skew == 0.01
           && m.progress.work_ns == 5000 && m.progress.misuse == 2,
       "progress comes back");
    writer_clear(&w);
    w = sound(POWER);
    ok(msg_read_power(&m.power, w.buf, w.len) == 0
           && strcmp(m.power.actuator, "cgroup") == 0
           && strcmp(m.power.unit, "us/s") == 0 && m.power.limit == 400000
           && m.power.floor == 80000 && m.power.ceiling == 800000,
       "an actuator comes back");
    writer_clear(&w);
    w = sound(LIMITED);
    ok(msg_read_limited(&m.limited, w.buf, w.len) == 0
           && m.limited.limit == 400000
           && strcmp(m.limited.text, "error: it sticks") == 0,
       "a limit comes back, with the reason");
    writer_clear(&w);
    w = sound(METER);
    ok(msg_read_meter(&m.meter, w.buf, w.len) == 0
           && m.meter.kind == OUTSIDE_OUTPUT
           && strcmp(m.meter.pattern, "row ([0-9]+)") == 0
           && m.meter.record_ms == 100,
       "an order to meter comes back");
    writer_clear(&w);
    w = sound(METERED);
    ok(msg_read_metered(&m.metered, w.buf, w.len) == 0 && m.metered.id == 7
           && m.metered.fraction == 0.5 && m.metered.misuse == 3,
       "and what the meter reads");
    writer_clear(&w);
}

static size_t size_of(enum which k)
{
    static const size_t size[KINDS] = {
        sizeof(struct msg_here),
        sizeof(struct msg_fence),
        sizeof(struct msg_ready),
        sizeof(struct msg_peer),
        sizeof(struct msg_probe),
        sizeof(struct msg_probed),
        sizeof(struct msg_ring),
        sizeof(double),
        sizeof(struct msg_keep_ring),
        sizeof(struct msg_command),
        sizeof(struct msg_run),
        sizeof(struct msg_output),
        sizeof(struct msg_done),
        sizeof(struct msg_put),
        sizeof(struct msg_files),
        sizeof(struct msg_file),
        sizeof(struct msg_monitor),
        sizeof(struct msg_progress),
        sizeof(struct msg_power),
        sizeof(struct msg_limited),
        sizeof(struct msg_meter),
        sizeof(struct msg_metered),
        sizeof(uint32_t),
        sizeof(uint64_t),
    };

    return size[k];
}

static void refused(enum which k, struct writer *w, const char *what)
{
    union any m;
    static const union any zero;

    memset(&m, 1, sizeof m);
    ok(decode(k, &m, w->buf, w->len) == -1
           && memcmp(&m, &zero, size_of(k)) == 0,
       "%s is refused, and nothing left", what);
    writer_clear(w);
}

static void accepted(enum which k, struct writer *w, const char *what)
{
    is_int(decode_once(k, w->buf, w->len), 0, what);
    writer_clear(w);
}

/* len bytes of 'x'; valid until the next call. */
static const char *xs(size_t len)
{
    static char text[8192];

    memset(text, 'x', len);
    text[len] = '\0';
    return text;
}

/* A command whose texts have so many bytes. */
static void try_command(size_t dir, size_t program, size_t libs, int over)
{
    struct writer w = {0};

    write_text(&w, xs(dir));
    write_u32(&w, 0); /* not persistent */
    write_text(&w, xs(program));
    write_text(&w, xs(libs));
    write_u32(&w, 1);
    write_text(&w, "x");
    if (over)
        refused(COMMAND, &w, "a path too long, or folders");
    else
        accepted(COMMAND, &w, "the longest path, or folders");
}

/* Texts of just the longest that fits, and of one byte more. */
static void test_text_bounds(void)
{
    struct writer w = {0};

    for (int over = 0; over < 2; over++) {
        void (*expect)(enum which, struct writer *, const char *) =
            over ? refused : accepted;
        size_t more = (size_t)over;

        write_u32(&w, 0);
        write_u32(&w, 1);
        write_u64(&w, 0); /* job and step */
        write_u32(&w, 1); /* CPU */
        write_u32(&w, 0); /* plugin */
        write_text(&w, xs(NODE_NAME_MAX - 1 + more));
        write_text(&w, ""); /* rack */
        write_text(&w, xs(BOOT_ID_MAX - 1));
        write_blob(&w, "", 0);
        expect(READY, &w, over ? "a node's name too long" : "the longest name");
        write_u32(&w, 1);
        write_text(&w, xs(TEXT_MAX - 1 + more));
        expect(PEER, &w, over ? "a reason too long" : "the longest reason");
        write_u32(&w, 1);
        write_text(&w, xs(TEXT_MAX - 1 + more));
        write_text(&w, "");
        write_blob(&w, "", 0);
        expect(PROBED, &w, over ? "an excuse too long" : "the longest excuse");
        for (int i = 0; i < 4; i++)
            write_u64(&w, 1);
        write_u32(&w, 1);
        write_text(&w, xs(LABEL_MAX - 1 + more));
        write_text(&w, "");
        write_u32(&w, 4);
        write_u32(&w, 3);
        expect(RUN, &w, over ? "a label too long" : "the longest label");
        for (int i = 0; i < 4; i++)
            write_u64(&w, 1);
        write_u32(&w, 1);
        write_text(&w, "");
        write_text(&w, xs(WORK_NAME_MAX - 1 + more));
        write_u32(&w, 4);
        write_u32(&w, 3);
        expect(RUN, &w, over ? "a type too long" : "the longest type");
        try_command(4095 + more, 0, 0, over);
        try_command(0, DESTINATION_MAX - 1 + more, 0, over);
        try_command(0, 0, LIBS_LIST_MAX - 1 + more, over);
        write_text(&w, xs(63 + more));
        write_text(&w, "f");
        write_blob(&w, "", 0);
        expect(PUT, &w, over ? "a step too long" : "the longest step");
        write_text(&w, "d");
        write_text(&w, xs(63 + more));
        write_blob(&w, "", 0);
        expect(PUT, &w, over ? "a file's name too long" : "the longest file");
    }
}

static const struct {
    const char *dir, *file, *name;
} bad_puts[] = {
    {"..", "f", "the directory above"},
    {".", "f", "the directory itself"},
    {"", "f", "no directory"},
    {"a/b", "f", "a directory below"},
    {"/", "f", "the root"},
    {".x", "f", "a hidden directory"},
    {"1.0", "a/b", "a file elsewhere"},
    {"1.0", "..", "a file above"},
    {"1.0", ".", "a file that is none"},
    {"1.0", "", "content for no file"},
    {"1.0", ".f", "a hidden file"},
    {"1.0", "/f", "a file from the root"},
};

static void test_bad_puts(void)
{
    struct writer w = {0};

    for (size_t i = 0; i < sizeof bad_puts / sizeof bad_puts[0]; i++) {
        write_text(&w, bad_puts[i].dir);
        write_text(&w, bad_puts[i].file);
        write_blob(&w, "x", 1);
        refused(PUT, &w, bad_puts[i].name);
    }
    write_text(&w, "1.0");
    write_blob(&w, "f\0/../../x", 10);
    write_blob(&w, "x", 1);
    refused(PUT, &w, "a NUL in a file's name");
    msg_write_put(&w, &(struct msg_put){"1.0", "", (const uint8_t *)"", 0});
    accepted(PUT, &w, "just a directory");
}

/* An agent of another version is to be named, whatever else it says. */
static void test_version(void)
{
    static const uint8_t other[] = {0,   0, 0, 9, 0, 0,   0, 2, 'n',
                                    '7', 0, 0, 0, 1, '9', 1, 2, 3};
    static const uint8_t old[] = {0, 0, 0, 2, 0, 0, 0, 2, 'n', '7', 1, 2, 3};
    struct msg_version m;
    struct writer w = {0};

    msg_write_here(&w, &a_here);
    ok(msg_read_version(&m, w.buf, w.len) == 0 && m.version == PROTOCOL_VERSION
           && strcmp(m.node, a_here.endpoint.node) == 0 && m.release[0],
       "HERE begins with our version, the node and our release");
    w.buf[3]++;
    refused(HERE, &w, "HERE of another version");
    ok(msg_read_version(&m, other, sizeof other) == 0 && m.version == 9
           && strcmp(m.node, "n7") == 0 && strcmp(m.release, "9") == 0,
       "of another version the beginning is understood");
    ok(msg_read_version(&m, old, sizeof old) == 0 && m.version == 2
           && strcmp(m.node, "n7") == 0 && !m.release[0],
       "and of one that did not say its release yet");
    ok(msg_read_version(&m, other, 12) < 0 && m.version == 0,
       "half a release is none");
    ok(msg_read_version(&m, other, 9) < 0 && m.version == 0 && !m.node[0],
       "half a beginning is none");
    write_u32(&w, 0);
    write_text(&w, "n7");
    ok(msg_read_version(&m, w.buf, w.len) < 0, "there is no version 0");
    writer_clear(&w);
}

static void test_bad_meetings(void)
{
    struct msg_here here = a_here;
    struct writer w = {0};

    here.rank = here.agents;
    msg_write_here(&w, &here);
    refused(HERE, &w, "a rank that is not among the agents that are here");
    here = a_here;
    here.agents = AGENTS_MAX + 1;
    msg_write_here(&w, &here);
    refused(HERE, &w, "more agents that are here than there can be");
    here = a_here;
    here.endpoint.port = 0;
    msg_write_here(&w, &here);
    refused(HERE, &w, "an agent that cannot be reached");
    write_u32(&w, 0);
    write_u32(&w, 1);
    write_text(&w, "n0 10.0.0.1 1/65536");
    refused(HERE, &w, "a door at no port");
    msg_write_fence(&w, &(struct msg_fence){.branches = AGENTS_MAX + 1});
    refused(FENCE, &w, "more branches than agents can be");
    msg_write_fence(&w, &(struct msg_fence){0});
    accepted(FENCE, &w, "a fence without a table");
}

static void test_bad_ready(void)
{
    struct msg_ready ready = {.rank = 4, .agents = 4, .node = "n"};
    struct writer w = {0};

    msg_write_ready(&w, &ready);
    refused(READY, &w, "a rank that is not among the agents");
    ready =
        (struct msg_ready){.rank = 0, .agents = AGENTS_MAX + 1, .node = "n"};
    msg_write_ready(&w, &ready);
    refused(READY, &w, "more agents than there can be");
    ready = (struct msg_ready){.rank = 0, .agents = 0, .node = "n"};
    msg_write_ready(&w, &ready);
    refused(READY, &w, "a rank among no agents");
    write_u32(&w, 0);
    write_u32(&w, 1);
    write_u64(&w, 0); /* job and step */
    write_u32(&w, 1); /* CPU */
    write_text(&w, "n");
    write_text(&w, ""); /* rack */
    write_text(&w, ""); /* machine */
    write_blob(&w, "an adapter", 10);
    refused(READY, &w, "an adapter that is none");
    ready = (struct msg_ready){.rank = 0, .agents = 1, .node = ""};
    msg_write_ready(&w, &ready);
    refused(READY, &w, "a node without a name");
    ready = (struct msg_ready){
        .rank = AGENTS_MAX - 1, .agents = AGENTS_MAX, .node = "n"};
    msg_write_ready(&w, &ready);
    accepted(READY, &w, "the last of the most agents is taken");
}

static void test_bad_slots(void)
{
    struct writer w = {0};

    msg_write_slots(&w, &(struct msg_slots){SLOTS_NUMBER, 0, 1, 0, 0});
    refused(SLOTS, &w, "no slot at all");
    msg_write_slots(&w, &(struct msg_slots){SLOTS_PART, 0, 1, 0, 0});
    refused(SLOTS, &w, "no part of the cores");
    msg_write_slots(&w, &(struct msg_slots){SLOTS_PART + 1, 1, 1, 0, 0});
    refused(SLOTS, &w, "slots of no kind");
    msg_write_slots(
        &w, &(struct msg_slots){SLOTS_CORES, NODE_SLOTS_MAX + 1, 1, 0, 0});
    refused(SLOTS, &w, "more slots than a node can have");
    msg_write_slots(&w, &(struct msg_slots){SLOTS_NUMBER, 1, 0, 0, 0});
    refused(SLOTS, &w, "slots that run nothing");
    msg_write_slots(&w, &(struct msg_slots){SLOTS_NUMBER, 1, 3, 0, 0});
    refused(SLOTS, &w, "slots that run more than two at once");
    msg_write_slots(&w,
                    &(struct msg_slots){SLOTS_NUMBER, NODE_SLOTS_MAX, 2, 0, 0});
    accepted(SLOTS, &w, "the most slots are taken");
    msg_write_slotted(&w, &(struct msg_slotted){.gpus = NODE_GPUS_MAX + 1});
    refused(SLOTTED, &w, "an answer of more GPUs than there can be");
    msg_write_slotted(&w, &(struct msg_slotted){.n = NODE_SLOTS_MAX + 1});
    refused(SLOTTED, &w, "an answer of more slots than a node can have");
}

static void test_works(void)
{
    char *words[] = {"./render", "", "{begin}", NULL};
    struct writer w = {0};
    struct msg_work m;
    size_t len;

    msg_write_work(&w, "render", words);
    is_int(msg_read_work(&m, w.buf, w.len), 0, "a type of work comes back");
    is_str(m.name, "render", "with its name");
    ok(strcmp(m.argv[0], "./render") == 0 && !*m.argv[1]
           && strcmp(m.argv[2], "{begin}") == 0 && !m.argv[3],
       "and its words");
    free(m.argv);
    for (len = 0; len < w.len && msg_read_work(&m, w.buf, len) < 0; len++)
        if (m.argv || m.name[0])
            break;
    is_int((intmax_t)len, (intmax_t)w.len, "cut short it is refused");
    writer_clear(&w);
    msg_write_work(&w, "", words);
    is_int(msg_read_work(&m, w.buf, w.len), -1, "so is one without a name");
    writer_clear(&w);
    msg_write_work(&w, "render", words + 1);
    is_int(msg_read_work(&m, w.buf, w.len), -1, "or whose first word is empty");
    writer_clear(&w);
    msg_write_work(&w, xs(WORK_NAME_MAX), words);
    is_int(msg_read_work(&m, w.buf, w.len), -1, "or with too long a name");
    writer_clear(&w);
}

static void test_bad_slices(void)
{
    struct msg_run run = {.begin = 2, .end = 1};
    struct msg_done d = {.status = 256};
    struct writer w = {0};

    msg_write_run(&w, &run);
    refused(RUN, &w, "a slice that ends before it begins");
    run.end = 2;
    msg_write_run(&w, &run);
    accepted(RUN, &w, "an empty slice is taken");
    run.slot = NODE_SLOTS_MAX;
    msg_write_run(&w, &run);
    refused(RUN, &w, "a slot above those that a node can have");
    run.slot = 0;
    run.cores = NODE_SLOTS_MAX + 1;
    msg_write_run(&w, &run);
    refused(RUN, &w, "nor more cores than slots");
    run = (struct msg_run){.gpus = NODE_GPUS_MAX + 2};
    msg_write_run(&w, &run);
    refused(RUN, &w, "nor more GPUs than there can be");
    msg_write_done(&w, &d);
    refused(DONE, &w, "an exit status over 255");
    d = (struct msg_done){.elapsed_ns = (uint64_t)INT64_MAX + 1};
    msg_write_done(&w, &d);
    refused(DONE, &w, "a time over 2^63 ns");
    d = (struct msg_done){.cpu_ns = (uint64_t)INT64_MAX + 1};
    msg_write_done(&w, &d);
    refused(DONE, &w, "a CPU time over 2^63 ns");
    d = (struct msg_done){
        .status = 255, .elapsed_ns = INT64_MAX, .cpu_ns = INT64_MAX};
    msg_write_done(&w, &d);
    accepted(DONE, &w, "the largest of all is taken");
}

static void test_bad_probes(void)
{
    static const struct msg_probe sane = {
        .fresh = 1, .budget_ms = 1000, .elements = PROBE_CORE, .cache = "/c"};
    static const struct probe_site site = {"n", "u", "c", 0, 1000};
    struct msg_probe bad[8];
    static const char *const what[] = {
        "a budget of 199 ms",      "a budget of 10001 ms",
        "an eleventh element",     "a ttl over 2^63",
        "an element without name", "without a command",
        "with a budget of 0",      "with a budget of 10001 ms",
    };
    static const uint8_t results[PROBED_MAX + 1];
    struct msg_probed probed = {0, "", "", results, PROBED_MAX};
    struct writer w = {0};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bad[i] = sane;
        if (i >= 4) {
            bad[i].elements = PROBE_BIT(ELEMENT_SITE + 3);
            bad[i].site[3] = site;
        }
    }
    bad[0].budget_ms = 199;
    bad[1].budget_ms = 10001;
    bad[2].elements = PROBE_BIT(ELEMENTS);
    bad[3].ttl_s = UINT64_MAX;
    bad[4].site[3].name[0] = '\0';
    bad[5].site[3].command[0] = '\0';
    bad[6].site[3].budget_ms = 0;
    bad[7].site[3].budget_ms = 10001;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        msg_write_probe(&w, &bad[i]);
        refused(PROBE, &w, what[i]);
    }
    msg_write_ring(&w, &(struct msg_ring){AGENTS_MAX, 1, 1});
    refused(RING, &w, "a receiver that cannot be");
    msg_write_ring(&w, &(struct msg_ring){0, 65536, 1});
    refused(RING, &w, "a port over 65535");
    msg_write_ring(&w, &(struct msg_ring){0, 1, 0});
    refused(RING, &w, "a round of no time");
    msg_write_ring(&w, &(struct msg_ring){0, 1, 10001});
    refused(RING, &w, "a round of more than the largest budget");
    write_double(&w, -1);
    refused(RANG, &w, "a rate below 0");
    write_double(&w, (double)NAN);
    refused(RANG, &w, "a rate that is no number");
    msg_write_keep_ring(&w, &(struct msg_keep_ring){"", 1, 0, "x"});
    refused(KEEP_RING, &w, "a cache without a name");
    msg_write_keep_ring(&w, &(struct msg_keep_ring){"/c", -1, 0, "x"});
    refused(KEEP_RING, &w, "less than nothing to keep");
    msg_write_keep_ring(&w, &(struct msg_keep_ring){"/c", 1, (double)NAN, "x"});
    refused(KEEP_RING, &w, "a spread that is no number");
    msg_write_probed(&w, &probed);
    accepted(PROBED, &w, "results of 16 KiB are taken");
    probed.len++;
    msg_write_probed(&w, &probed);
    refused(PROBED, &w, "a byte more of results");
}

static void test_bad_power(void)
{
    static const struct msg_monitor monitors[] = {
        {"a/b", 10, 0, 0, 0.8, 0.2, 0, 0},
        {"1.0", 0, 0, 0, 0.8, 0.2, 0, 0},
        {"1.0", INTERVAL_MAX_MS + 1, 0, 0, 0.8, 0.2, 0, 0},
        {"1.0", 10, AGGREGATE_VARIANCE, 0, 0.8, 0.2, 0, 0},
        {"1.0", 10, 0, MONITOR_THREADS + 1, 0.8, 0.2, 0, 0},
        {"1.0", 10, 0, MONITOR_ONLY, 0.8, 0.2, RECORD_MAX_MS + 1, 0},
        {"1.0", 10, 0, 0, 0, 0.2, 0, 0},
        {"1.0", 10, 0, 0, 1.1, 0.2, 0, 0},
        {"1.0", 10, 0, 0, 0.8, 0, 0, 0},
        {"1.0", 10, 0, 0, 0.8, (double)NAN, 0, 0},
        {"1.0", 10, 0, 0, 0.8, 0.2, 0, STEP_METERS},
    };
    static const struct msg_progress records[] = {
        {0, 1, -1, 0, 0, 0, 0, 0, 0},
        {0, 1, 1, -0.5, 0, 0, 0, 0, 0},
        {0, 1, 1, 0, (uint64_t)INT64_MAX + 1, 0, 0, 0, 0},
        {0, 1, 1, 0, 0, 0, (uint64_t)INT64_MAX + 1, 0, 0},
        {0, 1, 1, 0, 0, 0, 0, (uint64_t)INT64_MAX + 1, 0},
        {0, 1, 1, 0, 0, 0, 0, 0, 2},
        {0, 1, (double)INFINITY, 0, 0, 0, 0, 0, 0},
        {0, 1, (double)NAN, 0, 0, 0, 0, 0, 0},
    };
    static const struct msg_power powers[] = {
        {"rapl", "uW", 5, 6, 10},
        {"rapl", "uW", 11, 6, 10},
        {"rapl", "uW", 5, 0, 10},
        {"rapl", "uW", 5, 5, POWER_LIMIT_MAX + 1},
    };
    static const struct msg_metered readings[] = {
        {1, -0.1, 0}, {1, 1.1, 0}, {1, (double)NAN, 0}};
    struct writer w = {0};

    for (size_t i = 0; i < sizeof monitors / sizeof monitors[0]; i++) {
        msg_write_monitor(&w, &monitors[i]);
        refused(MONITOR, &w,
                "an order to the monitor with something out of range");
    }
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        msg_write_progress(&w, &records[i]);
        refused(PROGRESS, &w, "progress that cannot be");
    }
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        msg_write_metered(&w, &readings[i]);
        refused(METERED, &w, "a fraction that is none");
    }
    for (uint32_t kind = OUTSIDE_NONE; kind <= OUTSIDE_CPU + 1; kind++) {
        if (kind == OUTSIDE_OUTPUT || kind == OUTSIDE_CPU)
            continue;
        msg_write_meter(&w, &(struct msg_meter){.kind = kind});
        refused(METER, &w, "a meter that is not the agent's");
    }
    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++) {
        msg_write_power(&w, &powers[i]);
        refused(POWER, &w, "a limit out of its bounds");
    }
    msg_write_power(&w, &(struct msg_power){"", "no rights", 0, 0, 0});
    accepted(POWER, &w, "an actuator that is off is taken");
    write_u64(&w, POWER_LIMIT_MAX + 1);
    write_text(&w, "");
    refused(LIMITED, &w, "a limit that no double holds");
}

/* All but its words. */
static void write_command_head(struct writer *w, const char *dir)
{
    write_text(w, dir);
    write_u32(w, 0);
    write_text(w, "");
    write_text(w, "");
}

static void test_bad_commands(void)
{
    static const uint32_t counts[] = {0, 3, ARGC_MAX, ARGC_MAX + 1, UINT32_MAX};
    struct writer w = {0};
    char what[60];

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        write_command_head(&w, "/");
        write_u32(&w, counts[i]);
        write_text(&w, "one");
        write_text(&w, "two");
        snprintf(what, sizeof what, "two words said to be %u", counts[i]);
        refused(COMMAND, &w, what);
    }
    write_command_head(&w, "/");
    write_u32(&w, 0);
    refused(COMMAND, &w, "a command of no word");
    write_command_head(&w, "/");
    write_u32(&w, 1);
    write_text(&w, "");
    refused(COMMAND, &w, "a command without a name");
    write_command_head(&w, "/");
    write_u32(&w, 1);
    write_blob(&w, "a\0b", 3);
    refused(COMMAND, &w, "a word with a NUL inside");
    write_command_head(&w, "/");
    write_u32(&w, 2);
    write_text(&w, "a");
    write_u32(&w, UINT32_MAX);
    refused(COMMAND, &w, "a word of 4 GiB");
    write_command_head(&w, "/");
    write_u32(&w, ARGC_MAX);
    for (uint32_t i = 0; i < ARGC_MAX; i++)
        write_text(&w, "w");
    accepted(COMMAND, &w, "a command of the most words is taken");
}

static void test_no_memory(void)
{
    static const uint8_t none[sizeof(struct msg_command)];
    struct writer w = sound(COMMAND);
    struct msg_command m;
    long n;

    memset(&m, 1, sizeof m);
    fault_at = 0;
    is_int(msg_read_command(&m, w.buf, w.len), -1, "no memory for a command");
    fault_at = -1;
    ok(memcmp(&m, none, sizeof m) == 0, "leaves it empty");
    is_int(decode_once(COMMAND, w.buf, w.len), 0, "with memory it is there");
    writer_clear(&w);
    for (int k = 0; k < KINDS; k++) {
        for (n = 0; n < 100; n++) {
            fault_at = n;
            w = sound((enum which)k);
            fault_at = -1;
            if (!w.bad)
                break;
            writer_clear(&w);
        }
        ok(n > 0 && !w.bad && decode_once((enum which)k, w.buf, w.len) == 0,
           "%s: %ld allocation failures of writing survived", names[k], n);
        writer_clear(&w);
    }
}

int main(void)
{
    test_bad_meetings();
    test_bad_ready();
    test_bad_slots();
    test_works();
    test_bad_slices();
    test_bad_probes();
    test_bad_puts();
    test_bad_commands();
    test_bad_power();
    test_text_bounds();
    for (int k = 0; k < KINDS; k++) {
        test_lengths((enum which)k);
        test_changed((enum which)k);
    }
    test_values();
    test_files();
    test_values_of_agents();
    test_values_of_programs();
    test_values_of_power();
    test_no_memory();
    test_version();
    return done();
}
