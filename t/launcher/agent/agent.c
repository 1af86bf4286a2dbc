/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An agent, which is this program again, and a front end that is the test: what
 * it says when, what it does by order, and why it leaves.
 */
#include "launcher/agent/agent.h"
#include "launcher/base/step_dir.h"
#include "launcher/wire/protocol.h"
#include "tap.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <sys/wait.h>

#define PATIENCE_S 120 /* for the whole program, should anything hang */
#define NOT_TAKEN  200 /* a type that is no message's */

/* --- the agent -------------------------------------------------------------- */

/* agent PORT SECRET: rank 0 of two. */
static int agent_main(char **argv)
{
    struct agent_setup setup = {.node = "a0",
                                .rack = "r0",
                                .front_address = "127.0.0.1",
                                .front_port = (uint16_t)atoi(argv[1]),
                                .job = 7,
                                .step = 2,
                                .by_tcp = 1,
                                .agents = 2,
                                .sysfs = "/sys",
                                .environ = environ};
    struct es_error err = {0};

    (void)alarm(PATIENCE_S);
    (void)signal(SIGPIPE, SIG_IGN);
    if (secret_from_hex(&setup.secret, argv[2]) < 0)
        return 9;
    if (agent_serve(&setup, &err) == 0)
        return 0;
    return strstr(err.what, "a0: no front end at 127.0.0.1:") ? 1 : 8;
}

/* --- the front end ---------------------------------------------------------- */

static char self[4096], step[64];
static struct event_base *base;
static struct secret secret;
static struct listener *listener;
static struct channel *channel;
static pid_t agent;
static int calls, ended, seen[NOT_TAKEN]; /* messages of each type */
static struct got {
    int is_new; /* nobody has waited for it yet */
    uint8_t body[8192];
    size_t len;
} last[NOT_TAKEN], got; /* the last message of each type; the one awaited */

static void on_opened(struct channel *c, void *arg)
{
    (void)arg;
    (void)c;
    calls++;
}

static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    (void)c;
    (void)arg;
    if (type >= NOT_TAKEN || len > sizeof got.body)
        bail("an agent says what it should not");
    seen[type]++;
    last[type].is_new = 1;
    last[type].len = len;
    memcpy(last[type].body, body, len);
    event_base_loopbreak(base);
}

static void on_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)arg;
    (void)why;
    channel = NULL;
    ended++;
    event_base_loopbreak(base);
}

static const struct channel_events events = {
    .opened = on_opened,
    .message = on_message,
    .closed = on_closed,
};

static void on_called(void *arg, struct listener *l, int fd)
{
    (void)arg;
    channel = channel_take(base, fd, l, &events, NULL);
}

/* Run the loop until there is a message of this type, or the connection has
 * ended. */
static int await(uint16_t type)
{
    int before = ended;

    while (!last[type].is_new && ended == before)
        (void)event_base_dispatch(base);
    if (!last[type].is_new)
        return 0;
    last[type].is_new = 0;
    got = last[type];
    return 1;
}

static void order(uint16_t type, struct writer *w)
{
    if (!channel || w->bad || channel_send(channel, type, w->buf, w->len) < 0)
        bail("the agent is not there");
    writer_clear(w);
}

static void order_nothing(uint16_t type)
{
    struct writer w = {0};

    order(type, &w);
}

static void start(void)
{
    const struct listener_setup setup = {.base = base,
                                         .secret = &secret,
                                         .purpose = PURPOSE_SESSION,
                                         .self = FRONT_END,
                                         .loopback = 1,
                                         .called = on_called};
    char port[12], hex[SECRET_HEX_LEN + 1];
    char *argv[] = {self, port, hex, NULL};
    struct es_error err = {0};

    if (listener_open(&listener, &setup, &err) < 0)
        bail("%s", err.what);
    snprintf(port, sizeof port, "%u", listener_port(listener));
    secret_to_hex(&secret, hex);
    calls = ended = 0;
    memset(last, 0, sizeof last);
    memset(seen, 0, sizeof seen);
    agent = fork();
    if (agent == 0) {
        execv(self, argv);
        _exit(127);
    }
    if (agent < 0 || !await(MSG_HERE))
        bail("the agent does not call");
}

/* Its exit status, when it has left.  What was cut is closed by the loop. */
static int left(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(agent, &status, WNOHANG)) == 0) {
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
        (void)usleep(1000);
    }
    if (pid != agent)
        bail("no agent");
    channel_destroy(channel);
    channel = NULL;
    listener_close(listener);
    listener = NULL;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* All are here; of the other one nobody listens at the port. */
static void let_wire_up_with(const char *other)
{
    struct endpoint all[2] = {{.node = "a0", .address = "127.0.0.1", .port = 1},
                              {.node = "a1", .port = 1}};
    struct writer table = {0}, w = {0};
    struct msg_fence m = {.branches = 0};

    snprintf(all[1].address, sizeof all[1].address, "%s", other);
    wireup_write(&table, all, 2);
    m.table = table.buf;
    m.len = table.len;
    msg_write_fence(&w, &m);
    order(MSG_FENCE, &w);
    writer_clear(&table);
    if (!await(MSG_READY))
        bail("the agent is not ready");
}

static void let_wire_up(void)
{
    let_wire_up_with("127.0.0.1");
}

static void begin(void)
{
    start();
    let_wire_up();
}

/* --- what it does ----------------------------------------------------------- */

static void test_start(void)
{
    struct msg_version version;
    struct msg_ready ready;
    struct msg_here here;
    struct msg_peer peer;

    start();
    ok(msg_read_version(&version, got.body, got.len) == 0
           && version.version == PROTOCOL_VERSION
           && strcmp(version.node, "a0") == 0,
       "an agent calls, and says its version and node first");
    ok(msg_read_here(&here, got.body, got.len) == 0 && here.rank == 0
           && here.agents == 2
           && strcmp(here.endpoint.address, "127.0.0.1") == 0
           && here.endpoint.port > 0 && here.endpoint.door == 0,
       "then which one it is, and where others reach it");
    let_wire_up();
    ok(msg_read_ready(&ready, got.body, got.len) == 0 && ready.rank == 0
           && ready.agents == 2 && ready.job == 7 && ready.step == 2
           && ready.cpus > 0 && strcmp(ready.node, "a0") == 0
           && strcmp(ready.rack, "r0") == 0 && strlen(ready.boot_id) == 36,
       "with the table it is ready, and says what it is");
    ok(await(MSG_PEER) && msg_read_peer(&peer, got.body, got.len) == 0
           && !peer.reached && strstr(peer.text, "a1 at 127.0.0.1:1"),
       "that it cannot reach the next one it says, too");
    order_nothing(MSG_LEAVE);
    is_int(left(), 0, "told to leave it does");
    start();
    let_wire_up_with("fe80::1%nowhere");
    ok(await(MSG_PEER) && msg_read_peer(&peer, got.body, got.len) == 0
           && !peer.reached,
       "likewise where it cannot even call");
    is_str(peer.text,
           "a1 at [fe80::1%nowhere]:1: this node cannot use that address",
           "and which one that is");
    order_nothing(MSG_LEAVE);
    is_int(left(), 0, "and leaves");
}

static void send_command(const char *script)
{
    char sh[] = "/bin/sh", c[] = "-c";
    char *argv[] = {sh, c, (char *)script, NULL};
    char *none[] = {(char *)"/nowhere/program", NULL};
    const struct msg_command m = {.dir = "/", .argv = script ? argv : none};
    struct writer w = {0};

    msg_write_command(&w, &m);
    order(MSG_COMMAND, &w);
}

static struct msg_done run(uint64_t id)
{
    const struct msg_run m = {.id = id, .frame = 1, .begin = 3, .end = 8};
    struct msg_done d = {0};
    struct writer w = {0};

    msg_write_run(&w, &m);
    order(MSG_RUN, &w);
    if (!await(MSG_DONE) || msg_read_done(&d, got.body, got.len) < 0)
        bail("a slice is not done");
    return d;
}

static void test_slices(void)
{
    struct msg_output out;
    struct msg_done d;
    struct writer w = {0};

    begin();
    send_command("echo {begin}:{end} {node}; echo word >&2");
    d = run(5);
    ok(d.id == 5 && d.status == 0 && d.err_len == 5
           && memcmp(d.err, "word\n", 5) == 0,
       "a slice is done, with what it said on stderr");
    (void)await(MSG_OUTPUT); /* of that */
    send_command("echo {begin}:{end} {node}");
    msg_write_run(&w, &(const struct msg_run){.id = 6, .begin = 3, .end = 8});
    order(MSG_RUN, &w);
    ok(await(MSG_OUTPUT) && msg_read_output(&out, got.body, got.len) == 0
           && out.id == 6 && out.len == 7
           && memcmp(out.bytes, "3:8 a0\n", 7) == 0,
       "its output comes");
    (void)await(MSG_DONE);
    send_command("exit 3");
    is_int(run(7).status, 3, "one that fails: its status");
    send_command(NULL);
    d = run(8);
    ok(d.status == 127 && d.exec_errno == ENOENT,
       "a command that is not there: so it is said");
    order_nothing(MSG_LEAVE);
    is_int(left(), 0, "it leaves");
}

/* The status of a slice of a type of work. */
static struct msg_done run_type(uint64_t id, const char *type)
{
    struct msg_run m = {.id = id, .begin = 3, .end = 8};
    struct msg_done d = {0};
    struct writer w = {0};

    snprintf(m.work, sizeof m.work, "%s", type);
    msg_write_run(&w, &m);
    order(MSG_RUN, &w);
    if (!await(MSG_DONE) || msg_read_done(&d, got.body, got.len) < 0)
        bail("a slice is not done");
    return d;
}

static void send_type(const char *name, const char *script)
{
    char sh[] = "/bin/sh", c[] = "-c";
    char *argv[] = {sh, c, (char *)script, NULL};
    struct writer w = {0};

    msg_write_work(&w, name, argv);
    order(MSG_WORK, &w);
}

static void test_types(void)
{
    struct msg_done d;
    char name[WORK_NAME_MAX];

    begin();
    send_command("exit 1");
    send_type("two", "exit 2");
    send_type("three", "exit {begin}");
    is_int(run_type(1, "two").status, 2, "a type of work has its own command");
    is_int(run_type(2, "three").status, 3, "another one, too");
    is_int(run_type(3, "").status, 1, "and no type is the command's");
    send_type("two", "exit 4");
    is_int(run_type(4, "two").status, 4, "the last order counts");
    d = run_type(5, "four");
    ok(d.status != 0 && d.err_len > 0, "one that nobody has ordered fails");
    for (unsigned i = 0; i < 2 * WORKS_MAX; i++) {
        if (i % WORKS_MAX == 0)
            send_command("exit 1");
        snprintf(name, sizeof name, "t%u", i);
        send_type(name, "exit 5");
    }
    is_int(run_type(6, name).status, 5,
           "a new command makes room for its own types");
    order_nothing(MSG_LEAVE);
    is_int(left(), 0, "it leaves");
}

/* How many slots the agent then says that it has. */
static uint32_t order_slots(uint32_t kind, uint32_t n, uint32_t beside)
{
    struct writer w = {0};
    struct msg_slotted m;

    msg_write_slots(
        &w, &(const struct msg_slots){.kind = kind, .n = n, .beside = beside});
    order(MSG_SLOTS, &w);
    if (!await(MSG_SLOTTED) || msg_read_slotted(&m, got.body, got.len) < 0)
        bail("it does not say what slots it has");
    return m.n;
}

static void order_run(uint64_t id, uint64_t unit, uint32_t slot)
{
    const struct msg_run m = {
        .id = id, .begin = unit, .end = unit + 1, .slot = slot};
    struct writer w = {0};

    msg_write_run(&w, &m);
    order(MSG_RUN, &w);
}

/* Two commands, each of which waits until both have begun. */
static void both(uint32_t first_slot, uint32_t second_slot)
{
    char script[300], folder[] = "/tmp/evenstep-agent.XXXXXX";
    int done_before = seen[MSG_DONE];

    if (!mkdtemp(folder))
        bail("no folder");
    snprintf(script, sizeof script,
             "mkdir %s/{begin}; until test -d %s/1 && test -d %s/2; do "
             "sleep 0.02; done",
             folder, folder, folder);
    send_command(script);
    order_run(1, 1, first_slot);
    order_run(2, 2, second_slot);
    while (seen[MSG_DONE] < done_before + 2 && ended == 0)
        (void)event_base_dispatch(base);
    snprintf(script, sizeof script, "rmdir %s/1 %s/2 %s", folder, folder,
             folder);
    is_int(system(script), 0, "they have begun before the other had ended");
    last[MSG_DONE].is_new = 0;
}

/* Of one that hangs nothing is heard, nor of one that waits behind it; the next
 * one is done. */
static void test_cancel(void)
{
    int done_before = seen[MSG_DONE];
    struct msg_done d;
    struct writer w = {0};

    is_int(order_slots(SLOTS_NUMBER, 1, 1), 1, "a slot for one at a time");
    send_command("test {begin} != 7 || exec sleep 600");
    order_run(10, 7, 0);
    order_run(11, 8, 0);
    order_run(12, 9, 0);
    write_u64(&w, 11);
    order(MSG_CANCEL, &w);
    write_u64(&w, 10);
    order(MSG_CANCEL, &w);
    write_u64(&w, 999);
    order(MSG_CANCEL, &w);
    ok(await(MSG_DONE) && msg_read_done(&d, got.body, got.len) == 0
           && d.id == 12 && d.status == 0 && seen[MSG_DONE] == done_before + 1,
       "what is cancelled ends without a word, and the next one is done");
}

static void test_slots(void)
{
    begin();
    is_int(order_slots(SLOTS_NUMBER, 2, 1), 2, "two slots ...");
    both(0, 1);
    send_command("exit $((10 + {slot}))");
    order_run(3, 0, 1);
    order_run(4, 0, 1);
    while (seen[MSG_DONE] < 4)
        (void)event_base_dispatch(base);
    ok(await(MSG_DONE) && got.len > 0, "one slot does one after the other");
    is_int(order_slots(SLOTS_NUMBER, 1, 2), 1, "one slot of two at once ...");
    both(0, 0);
    test_cancel();
    ok(order_slots(SLOTS_CORES, 0, 1) >= 1, "as many as it has cores");
    order_run(5, 0, NODE_SLOTS_MAX - 1);
    is_int(left(), 0, "a slot that it has not: it leaves");
}

static void test_directory(void)
{
    struct msg_put m = {.content = (const uint8_t *)"text", .len = 4};
    char path[STEP_PATH_MAX];
    struct writer w = {0};
    uint32_t error = 1;

    begin();
    snprintf(m.dir, sizeof m.dir, "%s", step);
    snprintf(m.file, sizeof m.file, "file");
    msg_write_put(&w, &m);
    order(MSG_PUT, &w);
    ok(await(MSG_STORED) && msg_read_u32(&error, got.body, got.len) == 0
           && error == 0 && step_dir_path(path, step, "file") == 0
           && access(path, R_OK) == 0,
       "a file is stored");
    send_command("test -e $EVENSTEP_DIR/file");
    is_int(run(1).status, 0, "commands know where");
    order_nothing(MSG_LEAVE);
    ok(left() == 0 && access(path, F_OK) < 0,
       "it takes that away when it goes");
}

static void test_clock_and_ring(void)
{
    const struct msg_ring ring = {.receiver = 1, .ms = 1};
    struct writer w = {0};
    uint64_t ns = 1;
    uint32_t port = 0;
    double rate = 1;

    begin();
    order_nothing(MSG_CLOCK);
    ok(await(MSG_CLOCK) && msg_read_u64(&ns, got.body, got.len) == 0
           && ns < 3600000000000,
       "it says for how long it was stopped");
    order_nothing(MSG_RING_OPEN);
    ok(await(MSG_RING_PORT) && msg_read_u32(&port, got.body, got.len) == 0
           && port > 0,
       "it takes part in a ring");
    msg_write_ring(&w, &ring);
    order(MSG_RING, &w);
    ok(await(MSG_RANG) && msg_read_rang(&rate, got.body, got.len) == 0
           && rate == 0,
       "of which nothing came");
    order_nothing(MSG_CLOCK);
    ok(await(MSG_CLOCK), "and stays");
    (void)kill(agent, SIGTERM);
    ok(await(MSG_LEAVE), "of a signal that ends it it says so ...");
    is_int(left(), 0, "... and leaves");
}

/* --- why it leaves, and when it comes back ----------------------------------- */

static void test_breach(void)
{
    static const struct {
        const char *name;
        uint16_t type;
        uint32_t body;
        int has_body;
    } breaches[] = {
        {"a message that is none", NOT_TAKEN, 0, 0},
        {"a slice without a body", MSG_RUN, 0, 0},
        {"a file that is cut off", MSG_PUT, 3, 1},
        {"a question with a body", MSG_CLOCK, 3, 1},
        {"a broadcast's word without a broadcast", MSG_BCAST + BCAST_END, 1, 1},
        {"a task without a graph", MSG_GRAPH + GRAPH_MSG_CLOSE, 0, 0},
        {"what only an agent says", MSG_READY, 0, 0},
    };

    for (size_t i = 0; i < sizeof breaches / sizeof breaches[0]; i++) {
        struct writer w = {0};

        begin();
        if (breaches[i].has_body)
            write_u32(&w, breaches[i].body);
        order(breaches[i].type, &w);
        is_int(left(), 0, breaches[i].name);
    }
    start();
    order_nothing(MSG_RING_OPEN);
    is_int(left(), 0, "an order before the fence");
    start();
    order_nothing(MSG_FENCE);
    is_int(left(), 0, "a fence without a table");
}

static void test_loss(void)
{
    struct msg_ready ready;

    begin();
    send_command("echo once");
    is_int(run(1).status, 0, "it works");
    channel_destroy(channel);
    channel = NULL;
    ok(await(MSG_READY) && msg_read_ready(&ready, got.body, got.len) == 0
           && strcmp(ready.node, "a0") == 0 && calls == 2,
       "its connection is cut: it calls again, and is ready at once");
    send_command("echo again");
    is_int(run(2).status, 0, "and works for whom it has called");
    listener_close(listener);
    listener = NULL;
    channel_destroy(channel);
    channel = NULL;
    is_int(left(), 0, "where nobody listens any more it leaves");

    start();
    listener_close(listener);
    listener = NULL;
    channel_destroy(channel);
    channel = NULL;
    is_int(left(), 1, "before it is ready that is a failure, with the reason");
}

/* Slurm ends an agent beside a step with it: there is nobody to call again. */
static void test_step(void)
{
    struct msg_tasks m = {.tasks = 2, .patience_s = 60};
    struct writer w = {0};
    uint32_t error = 1;

    begin();
    snprintf(m.dir, sizeof m.dir, "%s", step);
    msg_write_tasks(&w, &m);
    order(MSG_TASKS, &w);
    ok(await(MSG_STORED) && msg_read_u32(&error, got.body, got.len) == 0
           && error == 0,
       "the tasks of a step are fed");
    channel_destroy(channel);
    channel = NULL;
    ok(left() == 0 && calls == 1,
       "an agent beside a step leaves with its front end");
    begin();
    msg_write_tasks(&w, &m);
    order(MSG_TASKS, &w);
    (void)await(MSG_STORED);
    msg_write_tasks(&w, &m);
    order(MSG_TASKS, &w);
    error = 1;
    ok(await(MSG_STORED) && msg_read_u32(&error, got.body, got.len) == 0
           && error == 0,
       "one that is back may be told of them again");
    channel_destroy(channel);
    channel = NULL;
    is_int(left(), 0, "and has them once");
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return agent_main(argv);
    (void)alarm(PATIENCE_S);
    (void)signal(SIGPIPE, SIG_IGN);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0
        || secret_make(&secret) < 0)
        bail("no name, no secret");
    snprintf(step, sizeof step, "agent.%d", (int)getpid());
    base = event_base_new();
    test_start();
    test_slices();
    test_types();
    test_slots();
    test_directory();
    test_clock_and_ring();
    test_breach();
    test_loss();
    test_step();
    event_base_free(base);
    return done();
}
