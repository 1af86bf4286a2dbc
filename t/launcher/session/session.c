/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole session over real sockets.  Its agents are this very program again,
 * started as --local starts agents, or by a `srun` that is this program, too:
 * each speaks the protocol as the test wants it (FAKE in its environment).
 */
#include "launcher/session/session.h"
#include "launcher/wire/order_message.h"
#include "pmix_bcast/bytes.h"
#include "tap.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PATIENCE_S 120 /* for the whole program, should anything hang */

/* --- the agent ------------------------------------------------------------ */

static struct fake {
    struct event_base *base;
    struct channel *channel;
    struct secret secret;
    const char *way;    /* what it does otherwise than an agent */
    const char *others; /* what rank 1 does, if this is another */
    uint32_t rank, agents;
    int calls;
} fake;

static int does(const char *way)
{
    return strcmp(fake.way, way) == 0;
}

static void fake_send(uint16_t type, struct writer *w)
{
    if (w->bad || channel_send(fake.channel, type, w->buf, w->len) < 0)
        _exit(9);
    writer_clear(w);
}

static void fake_here(void)
{
    struct msg_here m = {.rank = fake.rank, .agents = fake.agents};
    struct writer w = {0};

    snprintf(m.endpoint.node, sizeof m.endpoint.node, "n%u", fake.rank);
    snprintf(m.endpoint.address, sizeof m.endpoint.address, "127.0.0.1");
    m.endpoint.port = (uint16_t)(4000 + fake.rank);
    msg_write_here(&w, &m);
    if (does("newer"))
        w.buf[3] = PROTOCOL_VERSION + 1;
    if (does("older"))
        w.buf[3] = 2;
    if (does("released")) /* behind version, node and the text's length */
        w.buf[4 + 4 + strlen(m.endpoint.node) + 4] = '9';
    fake_send(does("unnumbered") ? 56 : MSG_HERE, &w);
}

static void fake_ready(void)
{
    struct msg_ready m = {.rank = fake.rank,
                          .agents = fake.agents,
                          .job = 7,
                          .step = 2,
                          .cpus = 3 + fake.rank};
    struct writer w = {0};

    snprintf(m.node, sizeof m.node, "n%u", does("one host") ? 0 : fake.rank);
    if (fake.calls > 1 && does("other"))
        snprintf(m.node, sizeof m.node, "elsewhere");
    snprintf(m.rack, sizeof m.rack, "r%u", fake.rank);
    msg_write_ready(&w, &m);
    fake_send(MSG_READY, &w);
}

static void fake_call(void);

/* Where the table is right the agents wire up. */
static void fake_fence(const uint8_t *body, size_t len)
{
    struct wireup w = {.rank = fake.rank, .size = fake.agents};
    struct msg_peer peer = {.reached = 0, .text = "n9 (nobody)"};
    struct msg_fence m;
    struct writer out = {0};

    if (msg_read_fence(&m, body, len) < 0 || wireup_take(&w, m.table, m.len) < 0
        || w.agent[fake.rank].port != 4000 + fake.rank)
        _exit(8);
    wireup_clear(&w);
    if (does("die"))
        _exit(0);
    if (does("missed") && fake.calls++ == 1) { /* asks for it again */
        write_u32(&out, fake.rank);
        fake_send(MSG_MISSED, &out);
        return;
    }
    if (strcmp(fake.others, "early") == 0)
        usleep(300000); /* so that rank 1 speaks before all are there */
    fake_ready();
    if (does("early")) {
        write_u32(&out, 1);
        fake_send(MSG_RING_PORT, &out);
    }
    if (does("peer")) {
        msg_write_peer(&out, &peer);
        fake_send(MSG_PEER, &out);
    }
}

/* CLOCK is the order to do what it came for, RING_PORT its answer. */
static void fake_order(void)
{
    struct writer w = {0};

    if (does("die later"))
        _exit(0);
    if (does("garbled")) {
        write_u32(&w, 1);
        fake_send(MSG_PEER, &w);
    } else if (does("again") || does("other")) {
        channel_destroy(fake.channel);
        fake_call();
    } else if (does("twice")) {
        fake_call(); /* and the connection of before stays */
    } else {
        write_u32(&w, 100 + fake.rank);
        fake_send(MSG_RING_PORT, &w);
    }
}

static int is_to_leave(uint16_t type, const uint8_t *body, size_t len)
{
    struct msg_relay m;

    return type == MSG_LEAVE
           || (type == MSG_RELAY && msg_read_relay(&m, body, len) == 0
               && m.type == MSG_LEAVE);
}

static void fake_message(struct channel *c,
                         void *arg,
                         uint16_t type,
                         const uint8_t *body,
                         size_t len)
{
    (void)c;
    (void)arg;
    if (type == MSG_FENCE)
        fake_fence(body, len);
    else if (type == MSG_CLOCK)
        fake_order();
    else if (is_to_leave(type, body, len))
        _exit(0);
}

static void fake_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)why;
    if (*(const int *)arg == fake.calls)
        _exit(0); /* the front end does not want it */
}

static void fake_opened(struct channel *c, void *arg)
{
    (void)c;
    (void)arg;
    if (fake.calls > 1)
        fake_ready();
    else
        fake_here();
}

static const struct channel_events fake_events = {
    .opened = fake_opened,
    .message = fake_message,
    .closed = fake_closed,
};

static void fake_call(void)
{
    static int call[8]; /* which call a connection is */
    const char *port = strrchr(getenv("EVENSTEP_FRONT_END"), ':');
    struct sockaddr_in in = {.sin_family = AF_INET};
    const struct parties p = {PURPOSE_SESSION, fake.rank, FRONT_END};

    in.sin_port = htons((uint16_t)atoi(port + 1));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fake.calls++;
    call[fake.calls] = fake.calls;
    fake.channel =
        channel_call(fake.base, (const struct sockaddr *)&in, sizeof in,
                     &fake.secret, &p, &fake_events, &call[fake.calls]);
    if (!fake.channel)
        _exit(7);
}

/* FAKE is the way of rank 1; all others are good. */
static int agent_main(void)
{
    const char *way = getenv("FAKE");

    (void)alarm(PATIENCE_S);
    fake.rank = (uint32_t)atoi(getenv("EVENSTEP_RANK"));
    fake.agents = (uint32_t)atoi(getenv("EVENSTEP_AGENTS"));
    fake.way = way && fake.rank == 1 ? way : "";
    fake.others = way && fake.rank != 1 ? way : "";
    if (does("speak")) {
        fprintf(stderr, "there is\nno luck today\n");
        return 3;
    }
    fake.base = event_base_new();
    if (!fake.base
        || secret_from_hex(&fake.secret, getenv("EVENSTEP_SECRET")) < 0
        || strcmp(getenv("EVENSTEP_WIREUP"), "tcp") != 0)
        return 6;
    fake.secret.encrypt = strcmp(getenv("EVENSTEP_ENCRYPT"), "1") == 0;
    fake_call();
    return event_base_dispatch(fake.base);
}

/* --- srun ----------------------------------------------------------------- */

/* Starts of srun are counted in a file: FAKE is for the first. */
static int count_start(void)
{
    int fd = open(getenv("FAKE_STARTS"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    struct stat st;

    if (fd < 0 || write(fd, "x", 1) != 1 || fstat(fd, &st) < 0)
        _exit(5);
    close(fd);
    return (int)st.st_size;
}

static int srun_main(int argc, char **argv)
{
    int start = count_start(), pmix = 0;
    char rank[12];

    for (int i = 1; i < argc; i++)
        pmix |= strcmp(argv[i], "--mpi=pmix") == 0;
    if (pmix) {
        fprintf(stderr, "srun: error: %s\n",
                getenv("FAKE") ? "Task launch failed"
                               : "cannot find mpi plugin for mpi/pmix");
        return 1;
    }
    if (start > 1)
        unsetenv("FAKE");
    setenv("EVENSTEP_AGENTS", "2", 1);
    for (int i = 0; i < 2; i++) {
        snprintf(rank, sizeof rank, "%d", i);
        setenv("EVENSTEP_RANK", rank, 1);
        if (fork() == 0)
            _exit(agent_main());
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* --- the front end -------------------------------------------------------- */

static char self[4096];
static struct event_base *base;
static struct session *session;
static struct heard {
    int ready, failed, lost, returned, message;
    size_t node; /* of the last of them */
    uint32_t value;
    char what[600], mend[300], why[300];
} heard;

static void stop(void)
{
    event_base_loopbreak(base);
}

static void on_ready(void *arg)
{
    (void)arg;
    heard.ready++;
    stop();
}

static void on_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    (void)arg;
    heard.node = node;
    if (type == MSG_RING_PORT && msg_read_u32(&heard.value, body, len) == 0)
        heard.message++;
    stop();
}

static void on_lost(void *arg, size_t node, const char *why)
{
    (void)arg;
    heard.lost++;
    heard.node = node;
    snprintf(heard.why, sizeof heard.why, "%s", why);
    stop();
}

static void on_returned(void *arg, size_t node)
{
    (void)arg;
    heard.returned++;
    heard.node = node;
    stop();
}

static void on_failed(void *arg, const struct es_error *err)
{
    (void)arg;
    heard.failed++;
    snprintf(heard.what, sizeof heard.what, "%s", err->what);
    snprintf(heard.mend, sizeof heard.mend, "%s", err->mend);
    stop();
}

static const struct session_events events = {
    .ready = on_ready,
    .message = on_message,
    .lost = on_lost,
    .returned = on_returned,
    .failed = on_failed,
};
static const struct session_events no_return = {
    .ready = on_ready,
    .message = on_message,
    .lost = on_lost,
    .failed = on_failed,
};

/* Run the loop until something is heard. */
static void listen_once(void)
{
    (void)event_base_dispatch(base);
}

static void open_with(const char *way,
                      const struct session_setup *setup,
                      const struct session_events *on)
{
    struct es_error err = {0};

    memset(&heard, 0, sizeof heard);
    if (way)
        setenv("FAKE", way, 1);
    else
        unsetenv("FAKE");
    if (session_open(&session, base, setup, on, NULL, &err) < 0)
        bail("no session: %s", err.what);
    listen_once();
}

static void open_local(const char *way)
{
    const struct session_setup setup = {
        .timeout_s = 60, .local = 3, .wireup = WIREUP_TCP, .agent_path = self};

    open_with(way, &setup, &events);
}

static void order(size_t node)
{
    struct writer w = {0};

    session_send(session, node, MSG_CLOCK, &w);
    listen_once();
}

static void end(void)
{
    session_close(session);
    session = NULL;
}

/* An agent that was stopped tells its clock, also where the others still come. */
static void test_early(void)
{
    open_local("early");
    ok(heard.ready == 1 && heard.message == 0,
       "what an agent says before all are there is not for the one above");
    order(1);
    ok(heard.message == 1, "what it says then is");
    end();
}

static void test_good(void)
{
    uint32_t job, step;
    char name[STEP_NAME_MAX], want[STEP_NAME_MAX], here[ADDRESS_MAX];
    struct listen_at at;

    open_local(NULL);
    at = session_listen_at(session);
    (void)address_format(here, (const struct sockaddr *)&at.at[0].at);
    ok(at.n == 1 && address_loopback(here) != LOOPBACK_NO,
       "and all by one address of ours");
    is_int(heard.ready, 1, "three agents come");
    is_int((intmax_t)session_size(session), 3, "the session has three nodes");
    ok(session_is_local(session), "it is one of this machine");
    ok(strcmp(session_node(session, 2)->name, "n2") == 0
           && strcmp(session_node(session, 2)->rack, "r2") == 0
           && session_node(session, 2)->cpus == 5
           && session_node(session, 2)->present,
       "a node is what its agent says");
    session_job(session, &job, &step);
    ok(job == 7 && step == 2, "job and step are as an agent says");
    session_step_name(session, 1, name);
    step_dir_local_name(want, (int)getpid(), "n1");
    is_str(name, want, "a local agent has a step directory of its own");
    order(2);
    ok(heard.message == 1 && heard.node == 2 && heard.value == 102,
       "an agent gets what is sent, and its answer comes with its number");
    end();
    is_int(heard.lost, 0, "who leaves when told to is not lost");
}

static void test_encrypted(void)
{
    const struct session_setup setup = {.timeout_s = 60,
                                        .local = 2,
                                        .wireup = WIREUP_TCP,
                                        .encrypt = 1,
                                        .agent_path = self};

    open_with(NULL, &setup, &events);
    is_int(heard.ready, 1, "agents that are told to encrypt come");
    ok(session_secret(session)->encrypt, "and so do others by that secret");
    end();
}

/* As HERE says it. */
static void our_release(char release[RELEASE_MAX])
{
    struct msg_here here = {.agents = 1};
    struct msg_version version;
    struct writer w = {0};

    snprintf(here.endpoint.node, sizeof here.endpoint.node, "n0");
    msg_write_here(&w, &here);
    if (msg_read_version(&version, w.buf, w.len) < 0)
        bail("HERE cannot be read");
    memcpy(release, version.release, RELEASE_MAX);
    writer_clear(&w);
}

static void test_versions(void)
{
    char want[200], ours[RELEASE_MAX], theirs[RELEASE_MAX];

    our_release(ours);
    snprintf(want, sizeof want,
             "n1: its evenstep-agent is %s (protocol %u), this evenstep is %s "
             "(protocol %u)",
             ours, PROTOCOL_VERSION + 1, ours, PROTOCOL_VERSION);
    open_local("newer");
    is_int(heard.failed, 1, "an agent of another version: the start fails");
    is_str(heard.what, want, "it is named, with both versions");
    is_str(heard.mend, "install the same version on all nodes",
           "what to do is said");
    end();
    our_release(theirs);
    theirs[0] = '9';
    snprintf(want, sizeof want,
             "n1: its evenstep-agent is %s (protocol %u), this evenstep is %s "
             "(protocol %u)",
             theirs, PROTOCOL_VERSION, ours, PROTOCOL_VERSION);
    open_local("released");
    is_str(heard.what, want, "so is one of another release");
    end();
    snprintf(want, sizeof want,
             "n1: its evenstep-agent is of before 0.2.0 (protocol 2), this "
             "evenstep is %s (protocol %u)",
             ours, PROTOCOL_VERSION);
    open_local("older");
    is_str(heard.what, want, "and one that did not say its release yet");
    end();
    open_local("unnumbered");
    is_int(heard.failed, 1, "an agent of before versions: likewise");
    is_str(heard.what, "agent 1: it is of another version than this evenstep",
           "it is told by its rank");
    end();
}

static void test_failures(void)
{
    open_local("speak");
    ok(heard.failed == 1 && strcmp(heard.what, "there is;no luck today") == 0,
       "an agent that ends before it is ready: its last words are told");
    end();
    open_local("one host");
    ok(heard.failed == 1 && strstr(heard.what, "n0"),
       "two agents on one node: the start fails");
    end();
    open_local("missed");
    is_int(heard.ready, 1, "who has missed the fence is told once more");
    end();
    open_local("peer");
    is_int(heard.ready, 1, "a node that cannot reach the next is no failure");
    end();
}

static void test_loss(void)
{
    open_local("die later");
    order(1);
    ok(heard.lost == 1 && heard.node == 1 && !session_node(session, 1)->present,
       "an agent that dies is lost");
    order(0);
    ok(heard.message == 1 && heard.value == 100, "the others go on");
    end();
    open_local("garbled");
    order(1);
    ok(heard.lost == 1 && heard.node == 1
           && strstr(heard.why, "does not speak"),
       "an agent that breaks the protocol is lost");
    end();
    open_local(NULL);
    session_drop(session, 1);
    listen_once();
    ok(heard.lost == 1 && heard.node == 1, "one that is given up is lost");
    end();
}

static void test_rejoin(void)
{
    open_local("again");
    order(1);
    is_int(heard.lost, 1, "a connection ends: its node is lost");
    listen_once();
    ok(heard.returned == 1 && heard.node == 1
           && session_node(session, 1)->present,
       "its agent calls again: it is back");
    end();
    open_local("twice");
    order(1);
    ok(heard.lost == 1 && strcmp(heard.why, "it calls again") == 0
           && heard.node == 1,
       "an agent that calls while we think that it is here is lost first");
    if (!heard.returned)
        listen_once();
    is_int(heard.returned, 1, "and is back");
    end();
    open_local("other");
    order(1);
    is_int(heard.lost, 1, "another one calls in the place of a lost node");
    order(0);
    ok(!heard.returned && !session_node(session, 1)->present,
       "it is not taken for the node");
    end();
}

static void test_no_return(void)
{
    const struct session_setup setup = {
        .timeout_s = 60, .local = 3, .wireup = WIREUP_TCP, .agent_path = self};

    open_with("again", &setup, &no_return);
    order(1);
    is_int(heard.lost, 1, "where no node may return one is lost");
    order(0);
    ok(heard.message == 1 && !session_node(session, 1)->present,
       "and is told to leave when it calls");
    end();
}

/* --- by srun -------------------------------------------------------------- */

static char folder[64], starts[96];

static void open_by_srun(const char *way, enum wireup_way wireup)
{
    const struct session_setup setup = {.timeout_s = 60,
                                        .wireup = wireup,
                                        .agent_path = self,
                                        .ports = {20000, 40000}};

    (void)unlink(starts);
    open_with(way, &setup, &events);
}

static int started(void)
{
    struct stat st;

    return stat(starts, &st) == 0 ? (int)st.st_size : 0;
}

static void make_srun(void)
{
    char link[96], path[4096];

    snprintf(folder, sizeof folder, "/tmp/evenstep-session.XXXXXX");
    if (!mkdtemp(folder))
        bail("no folder");
    snprintf(link, sizeof link, "%s/srun", folder);
    snprintf(starts, sizeof starts, "%s/starts", folder);
    snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    if (symlink(self, link) < 0)
        bail("no srun");
    setenv("PATH", path, 1);
    setenv("FAKE_STARTS", starts, 1);
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NUM_NODES", "2", 1);
}

static void remove_srun(void)
{
    char link[96];

    snprintf(link, sizeof link, "%s/srun", folder);
    (void)unlink(link);
    (void)unlink(starts);
    (void)rmdir(folder);
}

static void test_srun(void)
{
    char name[STEP_NAME_MAX];

    open_by_srun(NULL, WIREUP_TCP);
    ok(heard.ready == 1 && session_size(session) == 2 && started() == 1,
       "by srun: its agents come");
    session_step_name(session, 1, name);
    is_str(name, "7.2", "the step directory has the step's name");
    end();
    open_by_srun(NULL, WIREUP_AUTO);
    ok(heard.ready == 1 && started() == 2,
       "a Slurm without PMIx: they are started once more without");
    end();
    open_by_srun("other words", WIREUP_AUTO);
    ok(heard.ready == 1 && started() == 2,
       "or whatever a start by PMIx fails by");
    end();
    open_by_srun("other words", WIREUP_PMIX);
    ok(heard.failed == 1 && started() == 1, "but where PMIx must be");
    end();
    open_by_srun(NULL, WIREUP_PMIX);
    ok(heard.failed == 1 && started() == 1
           && strstr(heard.what, "Slurm has no PMIx for the agents: srun:"),
       "where PMIx must be, the start fails");
    end();
    open_by_srun("die", WIREUP_TCP);
    ok(heard.ready == 1 && started() == 2,
       "an agent that is lost during the start: there is a second one");
    end();
    open_by_srun("newer", WIREUP_TCP);
    ok(heard.failed == 1 && started() == 1,
       "another version does not get better by a second start");
    end();
}

int main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/');

    if (strcmp(name ? name + 1 : argv[0], "srun") == 0)
        return srun_main(argc, argv);
    if (getenv("EVENSTEP_FRONT_END"))
        return agent_main();
    (void)alarm(PATIENCE_S);
    (void)signal(SIGPIPE, SIG_IGN);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        bail("no name");
    base = event_base_new();
    test_good();
    test_early();
    test_encrypted();
    test_versions();
    test_failures();
    test_loss();
    test_rejoin();
    test_no_return();
    make_srun();
    test_srun();
    remove_srun();
    /* libevent frees what it deferred. */
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
    event_base_free(base);
    return done();
}
