/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep join: adds the nodes of this allocation to a run that is at work.
 *
 * It asks the run's door (join_door.h) for seats, starts agents that call the
 * run's front end, and stays until one of these ends: the run, the agents, or
 * by a signal this command, which takes its nodes out first.
 */
#include "launcher/base/notice.h"
#include "launcher/base/options.h"
#include "launcher/base/paths.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/config/local_option.h"
#include "launcher/session/front.h"
#include "launcher/session/join_file.h"
#include "launcher/session/launch.h"

#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASK_MS   10000 /* for the run to answer */
#define GRACE_MS 3000  /* for its last word, once the agents have ended */
#define LEAVE_MS 6000  /* for agents to end by themselves, above their 2 s */
#define FORCE_MS 4000  /* and when srun was told to end them */

struct options {
    struct local_option local;
    const char *nodelist;
};

enum stage { ASKING, JOINED, LEAVING };

struct joining {
    const struct options *o;
    struct config config;
    struct es_error *err;
    struct front front; /* without a session */
    struct join_file run;
    struct channel *channel; /* to the run; NULL: it has ended */
    struct launch *launch;
    struct event *timer;
    enum stage stage;
    int run_is_over;
    char *text; /* that the names are in */
    const char **name;
    size_t n;
    struct secret secret; /* of the run's session, as all below */
    uint16_t port;
    uint32_t agents, energy;
    char *seats; /* "n2=4 n3=5" */
    struct launch_join where;
};

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_TEXT, "nodelist", "LIST", AT(nodelist), .excludes = "local", .help =
     "only these nodes of the allocation, as Slurm lists them: those that are new "
     "in a job that has grown"},
    {OPTION_LOCAL, AT(local)},
    {.type = OPTION_END},
};
/* clang-format on */

static void finish_failed(struct joining *j, int rc)
{
    front_finish(&j->front, rc < 0);
}

static void set_timer(struct joining *j, int ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    if (evtimer_add(j->timer, &tv) < 0)
        finish_failed(j, es_no_memory(j->err));
}

/* --- the agents ------------------------------------------------------------ */

/* None runs any more: because the run is over, which it says itself, or not. */
static void on_ended(void *arg)
{
    struct joining *j = arg;

    if (j->stage == LEAVING || j->run_is_over)
        event_base_loopbreak(j->front.base);
    else
        set_timer(j, GRACE_MS);
}

static void on_failed(void *arg)
{
    (void)arg; /* on_ended() has come, or will */
}

static char *seats_text(const struct joining *j, const struct msg_seats *m)
{
    size_t size = 1, at = 0;
    char *text;

    for (size_t i = 0; i < j->n; i++)
        size += strlen(j->name[i]) + 12;
    text = calloc(1, size);
    for (size_t i = 0; text && i < j->n; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s=%u", i ? " " : "",
                               j->name[i], msg_seat(m, (uint32_t)i));
    return text;
}

static int fill_place(const struct joining *j, struct session_setup *s)
{
    const char *list = j->o->nodelist;

    if (!list)
        return 0;
    if (strlen(list) >= sizeof s->place.nodes)
        return es_fail(j->err, ES_USAGE, "join in several parts",
                       "--nodelist: it is over 4,000 characters");
    snprintf(s->place.nodes, sizeof s->place.nodes, "%s", list);
    s->place.n_nodes = (uint32_t)j->n;
    return 0;
}

static int start_agents(struct joining *j)
{
    char agent[4096];
    struct session_setup s = {.local = j->o->local.n,
                              .local_speed = local_option_speeds(&j->o->local),
                              .wireup = WIREUP_TCP,
                              .agent_path = agent,
                              .energy = (int)j->energy,
                              .interfaces = j->config.bcast.interface};
    struct launch_setup l = {.base = j->front.base,
                             .session = &s,
                             .secret = &j->secret,
                             .ports = j->config.bcast.ports,
                             .port = j->port,
                             .join = &j->where,
                             .failed = on_failed,
                             .ended = on_ended,
                             .arg = j};

    if (path_of_agent(agent, sizeof agent, j->config.agent_path, j->err) < 0
        || fill_place(j, &s) < 0)
        return -1;
    if (s.local == 0 && l.ports.high == 0
        && companion_ports(j->front.base, &l.ports, j->err) < 0)
        return -1;
    j->where = (struct launch_join){.address = j->run.address,
                                    .agents = j->agents,
                                    .seats = j->seats,
                                    .local = j->name};
    if (launch_open(&j->launch, &l, j->err) < 0)
        return -1;
    return launch_start(j->launch, j->err);
}

/* --- the run --------------------------------------------------------------- */

static int fail_refused(struct joining *j, const uint8_t *body, size_t len)
{
    struct msg_refused m;

    if (msg_read_refused(&m, body, len) < 0)
        return es_fail(j->err, ES_ENV, "join with the run's version",
                       "join: %s: no answer that can be read", j->run.run);
    return es_fail(j->err, ES_ENV, m.mend, "join: %s: %.300s", j->run.run,
                   m.what);
}

/* Later from the loop, as Slurm's commands run one of their own. */
static void take_seats(struct joining *j, const uint8_t *body, size_t len)
{
    struct msg_seats m;

    if (msg_read_seats(&m, body, len) < 0 || m.n != j->n) {
        finish_failed(j, fail_refused(j, NULL, 0));
        return;
    }
    j->secret = m.secret;
    j->port = (uint16_t)m.port;
    j->agents = m.agents;
    j->energy = m.energy;
    j->seats = seats_text(j, &m);
    sodium_memzero(&m.secret, sizeof m.secret);
    j->stage = JOINED;
    if (!j->seats)
        finish_failed(j, es_no_memory(j->err));
    else
        event_base_loopbreak(j->front.base);
}

static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    struct joining *j = arg;

    (void)c;
    if (type == MSG_LEAVE) {
        j->run_is_over = 1;
        front_finish(&j->front, 0);
    } else if (j->stage != ASKING) {
        return;
    } else if (type == MSG_SEATS) {
        take_seats(j, body, len);
    } else {
        finish_failed(j, fail_refused(j, body, len));
    }
}

static void ask(struct channel *c, void *arg)
{
    struct joining *j = arg;
    struct msg_join m = {.version = PROTOCOL_VERSION,
                         .release = EVENSTEP_VERSION,
                         .local = j->o->local.n > 0,
                         .n = (uint32_t)j->n};
    struct writer w = {0};
    char *names, *at;

    for (size_t i = 0; i < j->n; i++)
        m.len += strlen(j->name[i]) + 1;
    names = at = malloc(m.len);
    for (size_t i = 0; names && i < j->n; i++)
        at = stpcpy(at, j->name[i]) + 1;
    m.name = (const uint8_t *)names;
    if (names)
        msg_write_join(&w, &m);
    if (!names || w.bad || channel_send(c, MSG_JOIN, w.buf, w.len) < 0)
        channel_hang_up(c);
    writer_clear(&w);
    free(names);
}

static int fail_closed(struct joining *j, const char *why)
{
    if (strcmp(why, CHANNEL_STRANGER) == 0 || strcmp(why, "refused") == 0)
        return es_fail(j->err, ES_ENV, "take the key of the run as it is now",
                       "join: %s does not accept this key", j->run.run);
    if (strcmp(why, strerror(ECONNREFUSED)) == 0)
        return es_fail(j->err, ES_ENV, "see `evenstep top` for those at work",
                       "join: %s is over", j->run.run);
    return es_fail(
        j->err, ES_ENV,
        "see that its host is reached from here, and the run at work",
        "join: %s: %s", j->run.run, why);
}

static void on_closed(struct channel *c, void *arg, const char *why)
{
    struct joining *j = arg;

    (void)c;
    j->channel = NULL;
    if (j->run_is_over || j->stage == LEAVING)
        return;
    finish_failed(j, j->stage == ASKING
                         ? fail_closed(j, why)
                         : es_fail(j->err, ES_WORK, "see what it says itself",
                                   "join: %s is lost: %s", j->run.run, why));
}

static const struct channel_events events = {
    .opened = ask,
    .message = on_message,
    .closed = on_closed,
};

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct joining *j = arg;
    const char *said = j->launch ? launch_said(j->launch) : "";

    (void)fd;
    (void)what;
    if (j->stage == LEAVING)
        event_base_loopbreak(j->front.base);
    else if (j->stage == ASKING)
        finish_failed(j, fail_closed(j, "it does not answer"));
    else
        finish_failed(j, es_fail(j->err, ES_WORK,
                                 "see what the run says of these nodes",
                                 "join: %s: the agents have ended%s%s",
                                 j->run.run, said[0] ? ": " : "", said));
}

static int call_run(struct joining *j)
{
    const struct parties parties = {PURPOSE_JOIN, 0, FRONT_END};
    struct address to;

    if (address_parse(&to, j->run.address, j->run.port) == 0)
        j->channel =
            channel_call(j->front.base, (const struct sockaddr *)&to.at, to.len,
                         &j->run.secret, &parties, &events, j);
    if (!j->channel)
        return fail_closed(j, strerror(errno));
    set_timer(j, ASK_MS);
    return 0;
}

/* --- which nodes ----------------------------------------------------------- */

/* Of --local: no other's here are called so. */
static char *local_names(size_t n)
{
    char *text = calloc(n, 48), *at = text;

    for (size_t i = 0; text && i < n; i++)
        at += sprintf(at, "join%d-%zu\n", (int)getpid(), i);
    return text;
}

/* One a line, as scontrol prints them. */
static int split_names(struct joining *j)
{
    size_t n = 0;
    char *save = NULL;

    for (const char *at = j->text; *at; at++)
        n += *at == '\n';
    j->name = calloc(n + 1, sizeof *j->name);
    if (!j->name)
        return es_no_memory(j->err);
    for (char *w = strtok_r(j->text, "\n", &save); w && j->n <= n;
         w = strtok_r(NULL, "\n", &save))
        j->name[j->n++] = w;
    if (j->n > 0 && j->n <= JOINS_MAX)
        return 0;
    return es_fail(j->err, ES_USAGE, "give some, 4,096 at most",
                   "join: %zu nodes", j->n);
}

static int find_names(struct joining *j)
{
    const char *list = j->o->nodelist;

    if (j->o->local.n > 0) {
        j->text = local_names(j->o->local.n);
        return j->text ? split_names(j) : es_no_memory(j->err);
    }
    if (!list)
        list = companion_job_nodes();
    if (companion_job_from_environ() == 0 || !list)
        return es_fail(j->err, ES_ENV, "run it inside salloc or sbatch",
                       "join: no allocation");
    j->text = companion_hostnames(j->front.base, list, j->err);
    return j->text ? split_names(j) : -1;
}

/* --- from its begin to its end --------------------------------------------- */

static int begin(struct joining *j, const char *run)
{
    if (front_is_alone(j->o->local.n > 0, j->err) < 0
        || join_file_find(&j->run, run, j->err) < 0
        || front_begin(&j->front, j->err) < 0
        || front_catch(&j->front, "the run goes on without these nodes") < 0)
        return -1;
    j->timer = evtimer_new(j->front.base, on_timer, j);
    if (!j->timer)
        return es_no_memory(j->err);
    return find_names(j) < 0 ? -1 : call_run(j);
}

/* The run has given us seats. */
static void bring_nodes(struct joining *j)
{
    event_del(j->timer);
    if (start_agents(j) < 0)
        front_finish(&j->front, 1);
    else
        notice("%zu node%s join%s %s", j->n, j->n == 1 ? "" : "s",
               j->n == 1 ? "s" : "", j->run.run);
}

static void await_agents(struct joining *j, int ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    if (!j->launch || launch_running(j->launch) == 0
        || evtimer_add(j->timer, &tv) < 0)
        return;
    (void)event_base_dispatch(j->front.base);
    event_del(j->timer);
}

/* The agents leave when the run tells them to; it is asked to, if it goes on. */
static void end(struct joining *j)
{
    j->stage = LEAVING;
    if (j->timer)
        event_del(j->timer);
    if (j->channel && !j->run_is_over && channel_is_open(j->channel))
        (void)channel_send(j->channel, MSG_LEAVE, NULL, 0);
    await_agents(j, LEAVE_MS);
    if (j->launch && launch_running(j->launch) > 0) {
        launch_stop(j->launch);
        await_agents(j, FORCE_MS);
    }
    launch_destroy(j->launch);
    channel_destroy(j->channel);
    if (j->timer)
        event_free(j->timer);
    sodium_memzero(&j->secret, sizeof j->secret);
    sodium_memzero(&j->run, sizeof j->run);
    free(j->text);
    free(j->name);
    free(j->seats);
}

static int join_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct joining j = {.o = &o, .err = err};
    int rc = options_parse(&command_join, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    if (config_load(&j.config, NULL, err) < 0)
        return -1;
    if (begin(&j, argv[1]) < 0)
        front_finish(&j.front, 1);
    rc = front_run(&j.front);
    if (!j.front.over) {
        bring_nodes(&j);
        rc = front_run(&j.front);
    }
    end(&j);
    front_end(&j.front);
    return rc;
}

const struct subcommand command_join = {
    .name = "join",
    .brief = "add the nodes of this allocation to a run that is at work",
    .about =
        "Add the nodes of this allocation to the run RUN of yours, which was started\n"
        "with --joinable N and has said what it is called: JOB.STEP, its job's number\n"
        "alone, or the path of its file.  They are measured, and get their part of the\n"
        "frames from the next one on.  It ends with the run; a signal takes the nodes\n"
        "out, and the others do what they had.\n",
    .option = options,
    .end =
        "exit status: 0 the run is over, 1 it is lost, or the agents are, 2 usage,\n"
        "             3 no such run, it refuses, or no Slurm or agents\n",
    .operands = "RUN",
    .run = join_main,
};
