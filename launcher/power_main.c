/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep-power, the guard: sets the limits of one step on one node, and
 * restores what it found at the end, even if other processes were killed.
 *
 *   evenstep-power --job J --step S --uid U [--cores LIST] [--config FILE]
 *                  [--energy]                                 (the plugin)
 *   evenstep-power --restore                                  (an epilog)
 *
 * The plugin starts it as root for the life of a step; the site's configuration
 * says what it may set.  It needs no setuid bit and reads no file of the user.
 * It follows orders only within the bounds that it has found itself:
 *
 *   stdin    from the plugin: a line with the pid of each task, answered by
 *            "ok"; the end of the file is the end of the step
 *   socket   from the agent, see power_link.h: limits; before the first of them
 *            nothing is set
 *
 * Where the job has the whole node, it also tells the agent every 10 s how much
 * energy the node has used since the step began; with --energy it does nothing
 * else.  The kernel keeps these counters for root, as they show what others
 * compute: all guards of a node read at the same instants.
 *
 * If it cannot start, it answers the first task with the reason.  If the agent
 * dies, it restores what it found after a moment, in which the front end takes
 * from the other nodes what this one gave them.
 */
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/base/options.h"
#include "launcher/base/plain_text.h"
#include "launcher/config/config_file.h"
#include "launcher/power/actuator.h"
#include "launcher/power/allowed_cpus.h"
#include "launcher/power/energy_rapl.h"
#include "launcher/power/power_link.h"
#include "launcher/power/power_socket.h"
#include "launcher/power/power_state.h"
#include "launcher/power/whole_node.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define RESTORE_MS   2000  /* the front end notices a lost agent at once */
#define ORDER_MS     50    /* between two orders that are read, */
#define ORDERS_MS    1000  /* but for so many at first */
#define LINE_MAX_LEN 32    /* of a line with a pid */
#define ENERGY_MS    10000 /* between two readings of the counters */
#define MEMORY_BYTES (64 << 20)

static int64_t now_ms(void)
{
    return clock_ns() / 1000000;
}

struct guard {
    struct config config;
    const char *config_path;
    struct actuator_place place;
    uid_t uid;
    const char *state_dir;
    struct actuator actuator;
    struct power_state state;
    pid_t task[PART_TASKS_MAX]; /* that have begun */
    size_t tasks;
    pid_t thread[PART_TASKS_MAX]; /* of them, that the agent has named */
    size_t threads;
    int is_told;   /* the agent knows over what the limit can be divided */
    int has_parts; /* and that there are parts */
    struct es_error why;        /* why nothing can be set; kind ES_OK: it can */
    int is_open;                /* the actuator is open */
    struct energy_rapl energy;  /* n 0: it is not counted */
    struct es_error energy_why; /* then: why */
    int64_t began_ns, energy_ms; /* when it began, and the next reading */
    int listener, agent;         /* sockets, or -1 */
    int had_agent;      /* an agent has connected; a second one may not */
    int is_greeted;     /* it was sent what can be set */
    int64_t paid_ms;    /* the orders so far have used up the time until then */
    int64_t restore_ms; /* when to restore, as the agent has gone; 0: never */
    char line[LINE_MAX_LEN];
    size_t len;
};

/* --- the actuator --------------------------------------------------------- */

static int refuse_actuator(const struct guard *g, struct es_error *err)
{
    char mend[sizeof err->mend];

    (void)snprintf(mend, sizeof mend,
                   "as root, set actuator = \"cgroup\" in power { } of %s",
                   g->config_path);
    return es_fail(err, ES_USAGE, mend, "the actuator is %s",
                   strcmp(g->config.power.actuator, "off") == 0
                       ? "off"
                       : "for evenstep run --meter");
}

static int start_actuator(struct guard *g, struct es_error *err)
{
    const struct actuator_kind *kind = actuator_find(g->config.power.actuator);
    char name[200], host[65] = "";

    (void)gethostname(host, sizeof host - 1); /* nodes may share state_dir */
    if (!kind)
        return refuse_actuator(g, err);
    snprintf(name, sizeof name, "%s.%s", host, kind->name);
    if (kind->is_of_node
        && (whole_node_check(g->place.sysfs, g->place.cores, err) < 0
            || power_state_claim(&g->state, g->state_dir, name, err) < 0))
        return -1;
    if (actuator_open(&g->actuator, kind, &g->place, g->config.power.cap,
                      g->config.power.floor, err)
        < 0)
        return -1;
    snprintf(name, sizeof name, "%s.%u.%u.%d", host, g->place.job,
             g->place.step, (int)getpid());
    if (actuator_check(&g->actuator, err) < 0)
        return -1;
    return power_state_save(&g->state, g->state_dir, name, &g->actuator, err);
}

static void stop_actuator(struct guard *g)
{
    if (g->actuator.kind)
        actuator_close(&g->actuator);
    power_state_remove(&g->state);
    g->is_open = 0;
}

/* --- the agent ------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void send_line(struct guard *g,
                                                            const char *fmt,
                                                            ...)
{
    char text[POWER_LINE_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap); /* cut off if too long */
    va_end(ap);
    /* If the agent has gone, the next read shows it. */
    (void)send(g->agent, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* --- energy --------------------------------------------------------------- */

/* By the clock, which all guards of the node share: more of them see no more. */
static int64_t next_reading_ms(int64_t now_ns)
{
    return (now_ns / 1000000 / ENERGY_MS + 1) * ENERGY_MS;
}

/* A shared node's counters show what other users do. */
static void start_energy(struct guard *g)
{
    g->began_ns = clock_ns();
    g->energy_ms = next_reading_ms(g->began_ns);
    if (!g->config.power.energy
        || whole_node_check(g->place.sysfs, g->place.cores, NULL) < 0)
        return;
    (void)energy_rapl_open(&g->energy, g->place.sysfs, g->began_ns,
                           &g->energy_why);
}

/* As it was read last.  A node that has no counters is nothing to complain
 * of. */
static void tell_energy(struct guard *g)
{
    if (g->energy.n > 0)
        send_line(g, "energy %ju %jd", (uintmax_t)g->energy.uj,
                  (intmax_t)(g->energy.read_ns - g->began_ns));
    else if (g->energy_why.kind != ES_OK)
        send_line(g, "noenergy %s: %s", g->energy_why.what, g->energy_why.mend);
}

static void read_energy(struct guard *g)
{
    int64_t now = clock_ns();

    g->energy_ms = next_reading_ms(now);
    if (g->agent < 0 || g->energy.n == 0)
        return;
    if (energy_rapl_read(&g->energy, now, &g->energy_why) < 0)
        energy_rapl_close(&g->energy);
    tell_energy(g);
}

static void greet_agent(struct guard *g)
{
    const struct actuator *a = &g->actuator;

    if (g->agent < 0 || g->is_greeted || (!g->is_open && g->why.kind == ES_OK))
        return;
    g->is_greeted = 1;
    if (g->is_open)
        send_line(g, "power %s %s %ju %ju %ju", a->kind->name, a->kind->unit,
                  (uintmax_t)a->limit, (uintmax_t)a->floor,
                  (uintmax_t)a->ceiling);
    else
        send_line(g, "off %s: %s", g->why.what, g->why.mend);
}

/* It is outside of the job's group, and works on CPUs that the agent may use. */
static void follow_agent(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
        (void)allowed_cpus_take(peer.pid); /* it may have gone */
}

/* What the user asks for costs root's time, outside of the job's group. */
static void count_order(struct guard *g)
{
    int64_t now = now_ms();

    g->paid_ms = (g->paid_ms > now ? g->paid_ms : now) + ORDER_MS;
}

/* Milliseconds until the next order is read; 0: at once. */
static int pause_of(const struct guard *g)
{
    int64_t ahead = g->paid_ms - now_ms() - ORDERS_MS;

    return ahead > 0 ? (int)ahead : 0;
}

static void accept_agent(struct guard *g)
{
    int fd = power_socket_accept(g->listener, g->uid);

    count_order(g);
    if (fd < 0)
        return;
    if (g->had_agent) {
        close(fd);
        return;
    }
    g->had_agent = 1;
    g->agent = fd;
    follow_agent(fd);
    tell_energy(g);
    greet_agent(g);
}

/* Tell the agent over what the limit can be divided, for the tasks that there
 * are now.  Where it cannot, only the node has one. */
static void tell_parts(struct guard *g)
{
    struct actuator *a = &g->actuator;
    const struct actuator_runs runs = {g->task, g->thread, g->tasks,
                                       g->threads};
    static const struct node_parts none;
    char text[POWER_PACKET_MAX];
    int has_parts, had_parts = g->has_parts;

    g->is_told = 1;
    if (!g->config.power.within_nodes || g->tasks == 0)
        return;
    has_parts = actuator_divide(a, &g->place, &runs, NULL) > 0
                && power_state_add(&g->state, a) == 0;
    g->has_parts = has_parts;
    if (!has_parts && !had_parts)
        return;
    a->parts.rule = (struct power_rule){.bound = g->config.power.bound,
                                        .band = g->config.power.band,
                                        .gain = g->config.power.gain};
    if (parts_line_write(has_parts ? &a->parts : &none, text, sizeof text) == 0)
        (void)send(g->agent, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* They are divided at once, if there is a limit; or with the first one. */
static void receive_threads(struct guard *g, const char *text)
{
    int n = threads_line_read(text, g->thread);

    g->threads = n > 0 ? (size_t)n : 0;
    if (g->is_open && g->is_told)
        tell_parts(g);
}

static void restore_found(struct guard *g)
{
    actuator_restore(&g->actuator);
    send_line(g, "set 0");
}

/* An order for parts that are no longer these is one for the node. */
static int set_all(struct guard *g,
                   uint64_t limit,
                   const uint64_t part[],
                   int n,
                   struct es_error *err)
{
    if (n == 0 || (size_t)n != g->actuator.parts.n || !g->is_told)
        return actuator_set(&g->actuator, limit, err);
    return actuator_set_parts(&g->actuator, limit, part, err);
}

static void set_limit(struct guard *g, const char *text)
{
    uint64_t limit, part[PARTS_MAX];
    int n = order_line_read(text, &limit, part);
    struct es_error err = {0};

    if (n < 0 || !g->is_open) {
        send_line(g, "error no limit can be set");
    } else if (limit == 0) {
        restore_found(g);
    } else if (set_all(g, limit, part, n, &err) < 0) {
        send_line(g, "error %s: %s", err.what, err.mend);
    } else {
        send_line(g, "set %ju", (uintmax_t)limit);
        if (!g->is_told)
            tell_parts(g);
    }
}

static void receive_limit(struct guard *g)
{
    char text[POWER_PACKET_MAX];
    ssize_t n = recv(g->agent, text, sizeof text - 1, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        count_order(g);
        text[n] = '\0';
        if (threads_line_is(text))
            receive_threads(g, text);
        else
            set_limit(g, text);
        return;
    }
    close(g->agent);
    g->agent = -1;
    if (g->is_open)
        g->restore_ms = now_ms() + RESTORE_MS;
}

/* --- the plugin ----------------------------------------------------------- */

/* A task that begins when limits are set has none of its own, so the node has
 * it until all are divided again. */
static void enter_task(struct guard *g, pid_t task)
{
    struct actuator *a = &g->actuator;

    if (a->is_divided)
        (void)actuator_set(a, a->limit, NULL);
    g->is_told = 0;
    if (a->kind->enter)
        (void)a->kind->enter(a, task, NULL);
}

static void start_task(struct guard *g, const char *text)
{
    int64_t pid;

    if (number_parse_int(text, 2, INT32_MAX, &pid) < 0)
        return;
    if (g->tasks < PART_TASKS_MAX)
        g->task[g->tasks++] = (pid_t)pid;
    if (g->is_open) {
        enter_task(g, (pid_t)pid);
    } else if (!g->is_open && g->why.kind == ES_OK) {
        g->place.task = (pid_t)pid;
        g->is_open = start_actuator(g, &g->why) == 0;
        if (!g->is_open)
            stop_actuator(g);
        greet_agent(g);
    }
}

/* Returns 0 at the end of the step. */
static int read_plugin(struct guard *g)
{
    char byte;
    ssize_t n = read(STDIN_FILENO, &byte, 1);

    if (n <= 0)
        return n < 0 && errno == EINTR;
    if (byte != '\n') {
        if (g->len < sizeof g->line - 1)
            g->line[g->len++] = byte;
        return 1;
    }
    g->line[g->len] = '\0';
    g->len = 0;
    start_task(g, g->line);
    return write(STDOUT_FILENO, "ok\n", 3) == 3;
}

/* --- start and end -------------------------------------------------------- */

/* Restore what was found, if it is time.  Returns the milliseconds until then,
 * -1 if there is nothing to restore. */
static int restore_when_due(struct guard *g)
{
    int64_t left = g->restore_ms - now_ms();

    if (g->restore_ms == 0)
        return -1;
    if (left > 0)
        return (int)left;
    g->restore_ms = 0;
    actuator_restore(&g->actuator);
    return -1;
}

/* Read the counters, if it is time.  Returns the milliseconds until then, -1 if
 * nobody wants to know. */
static int read_when_due(struct guard *g)
{
    int64_t left = g->energy_ms - now_ms();

    if (g->agent < 0 || g->energy.n == 0)
        return -1;
    if (left > 0)
        return (int)left;
    read_energy(g);
    return 0;
}

static int sooner(int a, int b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void serve(struct guard *g)
{
    for (;;) {
        int pause = pause_of(g);
        struct pollfd p[] = {{STDIN_FILENO, POLLIN, 0},
                             {pause > 0 ? -1 : g->listener, POLLIN, 0},
                             {pause > 0 ? -1 : g->agent, POLLIN, 0}};
        int due = sooner(restore_when_due(g), read_when_due(g));
        int n = poll(p, 3, sooner(due, pause > 0 ? pause : -1));

        if (n < 0 && errno != EINTR)
            return;
        if (n <= 0)
            continue;
        if (p[0].revents && !read_plugin(g))
            return;
        if (p[1].revents)
            accept_agent(g);
        if (p[2].revents)
            receive_limit(g);
    }
}

struct arguments {
    int64_t job, step, uid; /* -1: not given */
    const char *cores, *config, *sysfs, *state;
    int restore, energy;
};

#define AT(member)    OPTION_AT(struct arguments, member)
#define ID_AT(member) AT(member), .high = UINT32_MAX

/* clang-format off */
static const struct option options[] = {
    {OPTION_COUNT, "job", "ID", ID_AT(job), .low = 1, .help = "the job"},
    {OPTION_COUNT, "step", "ID", ID_AT(step), .help = "the step in it"},
    {OPTION_COUNT, "uid", "UID", ID_AT(uid), .help = "of its user"},
    {OPTION_TEXT, "cores", "LIST", AT(cores), .help = "that the step has"},
    {OPTION_TEXT, "config", "FILE", AT(config), .help = "the configuration"},
    {OPTION_FLAG, "energy", NULL, AT(energy), .help =
     "only tell how much the node uses, set nothing"},
    {OPTION_TEXT, "sysfs", "FOLDER", AT(sysfs), .def = "/sys", .help =
     "for tests"},
    {OPTION_TEXT, "state", "FOLDER", AT(state), .def = POWER_DIR, .help =
     "for tests: where what is to be put back is kept"},
    {OPTION_FLAG, "restore", NULL, AT(restore), .excludes = "job step uid energy",
     .help = "put back what a guard that has died has left, for an epilog"},
    {.type = OPTION_END},
};
/* clang-format on */

static const struct subcommand power = {
    .name = "evenstep-power",
    .usage = "evenstep-power --job ID --step ID --uid UID [options]\n"
             "       evenstep-power --restore",
    .about =
        "Set the limits of one step on one node, and put back what was there.\n",
    .option = options,
    .see = "the plugin starts it, or an epilog with --restore",
};

static int parse(struct arguments *a,
                 int argc,
                 char **argv,
                 struct es_error *err)
{
    int rc = options_parse(&power, a, argc, argv, err);

    if (rc == 0 && !a->restore && (a->job < 0 || a->step < 0 || a->uid < 0))
        return es_fail(err, ES_USAGE, power.see, "no --job, --step or --uid");
    return rc;
}

/* It is in no group of the job: what the user makes it do must not cost the node
 * more than that.  Sanitizers need more. */
static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    static const struct rlimit most = {MEMORY_BYTES, MEMORY_BYTES};

    (void)setrlimit(RLIMIT_AS, &most); /* cannot fail: it is less, or root's */
#endif
}

/* Slurm kills all descendants of slurmstepd at the end of a step: become a child
 * of init. */
static int leave_family(struct es_error *err)
{
    pid_t pid = fork();

    if (pid > 0)
        _exit(0);
    if (pid == 0)
        return 0;
    return es_fail(err, ES_ENV, "raise the limit of processes (ulimit -u)",
                   "fork: %s", strerror(errno));
}

static int guard_step(const struct arguments *a, struct es_error *err)
{
    struct power_place socket = {
        .dir = a->state, .job = (uint32_t)a->job, .step = (uint32_t)a->step};
    struct guard g = {.listener = -1,
                      .agent = -1,
                      .state_dir = a->state,
                      .config_path = a->config ? a->config : EVENSTEP_CONF,
                      .uid = (uid_t)a->uid};
    int seat;

    g.place = (struct actuator_place){.sysfs = a->sysfs,
                                      .proc = "/proc",
                                      .cores = a->cores,
                                      .job = (uint32_t)a->job,
                                      .step = (uint32_t)a->step};
    limit_memory();
    power_state_init(&g.state);
    (void)power_state_restore(a->state);
    (void)unsetenv("EVENSTEP_CONF"); /* bounds are the site's to give */
    if (config_load(&g.config, a->config, err) < 0 || leave_family(err) < 0)
        return -1;
    if (a->energy)
        (void)es_fail(&g.why, ES_USAGE, "give --evenstep-power",
                      "no limits are asked for");
    start_energy(&g);
    g.listener = power_socket_listen(&socket, g.uid, err);
    if (g.listener < 0) {
        energy_rapl_close(&g.energy);
        return -1;
    }
    seat = power_state_seat(a->state, g.uid, err);
    if (seat < 0) {
        power_socket_remove(&socket);
        energy_rapl_close(&g.energy);
        return -1;
    }
    serve(&g);
    read_energy(&g); /* that of its last seconds, too */
    power_socket_remove(&socket);
    stop_actuator(&g);
    energy_rapl_close(&g.energy);
    close(seat);
    return 0;
}

/* The plugin reads one line. */
static void answer(const struct es_error *err)
{
    char text[sizeof err->what + sizeof err->mend + 2], line[sizeof text];

    (void)snprintf(text, sizeof text, "%s: %s", err->what, err->mend);
    plain_text(line, sizeof line, text);
    (void)dprintf(STDOUT_FILENO, "%s\n", line);
}

int main(int argc, char **argv)
{
    struct arguments a = {.job = -1, .step = -1, .uid = -1};
    struct es_error err = {0};
    int rc = parse(&a, argc, argv, &err);

    (void)signal(SIGPIPE, SIG_IGN); /* a plugin that has gone is an error */
    if (rc == 0 && a.restore)
        (void)power_state_restore(a.state);
    else if (rc == 0)
        rc = guard_step(&a, &err);
    if (rc >= 0)
        return 0;
    notice_error("evenstep-power", &err);
    answer(&err);
    return (int)err.kind;
}
