/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent.h"
#include "launcher/agent_probe.h"
#include "launcher/agent_ring.h"
#include "launcher/execution.h"
#include "launcher/graph_node.h"
#include "launcher/greeting.h"
#include "launcher/monitor.h"
#include "launcher/notice.h"
#include "launcher/persistent.h"
#include "launcher/power_link.h"
#include "launcher/protocol.h"
#include "launcher/spool.h"
#include "launcher/step_dir.h"
#include "launcher/step_tasks.h"
#include "launcher/template.h"
#include "launcher/thread_advice.h"
#include "launcher/throttle.h"
#include "pmix_bcast/mesh.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

/* A command is not read any further while this much of its output waits for
 * the wire, until it is down to a quarter. */
#define BACKLOG_HIGH (4u << 20)
#define BACKLOG_LOW  (BACKLOG_HIGH / 4)

/* A wire-up that takes longer has hung; the front end gives up after 30 s. */
#define WIRE_UP_S 40

/* Slurm's own controller gives a silent node up after so long (SlurmdTimeout's
 * default). */
#define AWAY_S  300
#define AGAIN_S 1 /* from one call to the next */

struct task { /* a slice that waits for its turn */
    STAILQ_ENTRY(task) next;
    struct msg_run run;
    int in_fd; /* its stdin; 0: none */
};

struct agent {
    const struct agent_setup *setup;
    struct event_base *base;
    struct channel *home;
    struct wireup wireup;
    struct adapter adapter;
    struct listener *listener;
    struct mesh *mesh;
    struct bcast_node *broadcast;
    struct graph_node *graph;
    struct greeting *greeting;
    struct throttle *throttle;
    struct monitor *monitor;
    struct power_link *power;
    struct thread_advice advice; /* limits of 0: it is not for us to give */
    struct event *on_term, *on_again;
    struct msg_command command;
    STAILQ_HEAD(task_list, task) waiting;
    int in_fd;      /* the stdin of the slice to come; 0: none yet */
    uint64_t in_id; /* of that slice */
    struct execution *execution; /* of the slice that runs now */
    struct agent_probe *probe;   /* at work, and slices wait for it */
    struct agent_ring *ring;
    struct persistent *program; /* of a persistent command, or NULL */
    int feeding;                /* the program has a slice */
    int quitting;               /* it was told to end */
    int measured;               /* all nodes are, and home has told what */
    char place[64];             /* step directory of its socket, or "" */
    struct step_tasks *tasks;   /* of the step that is fed, or NULL */
    uint64_t id;                /* of the slice that runs now */
    int held;                   /* its output waits for the wire */
    int ready;                  /* READY has been sent */
    int leaving;                /* only the running command is waited for */
    int calls;                  /* since home was lost */
    char step[64];              /* name of the step directory, or "" */
    char directory[STEP_PATH_MAX + 16]; /* EVENSTEP_DIR=… */
    char **environ;                     /* with it; NULL: as in setup */
    char why[200];                      /* why home was lost before READY */
};

static void close_input(int *fd)
{
    if (*fd > 0)
        close(*fd); /* it has no name: nothing of it is to stay */
    *fd = 0;
}

static void task_free(struct task *t)
{
    if (t)
        close_input(&t->in_fd);
    free(t);
}

static void drop_waiting(struct agent *a)
{
    struct task *t;

    while ((t = STAILQ_FIRST(&a->waiting)) != NULL) {
        STAILQ_REMOVE_HEAD(&a->waiting, next);
        task_free(t);
    }
    close_input(&a->in_fd);
}

static void hold(struct agent *a, int on)
{
    a->held = on;
    if (a->execution)
        execution_hold(a->execution, on);
    if (a->program)
        persistent_hold(a->program, on);
}

/* Let what runs see its SIGTERM; execution_stop() bounds how long it then
 * takes.  Is there anything to wait for? */
static int stop_commands(struct agent *a)
{
    unsigned tasks = graph_node_stop(a->graph);

    drop_waiting(a);
    hold(a, 0); /* its end would not be heard */
    if (a->execution)
        execution_stop(a->execution);
    a->quitting = a->program != NULL;
    if (a->program)
        persistent_stop(a->program);
    return tasks > 0 || a->execution || a->program;
}

static void leave(struct agent *a)
{
    a->leaving = 1;
    if (!stop_commands(a))
        event_base_loopexit(a->base, NULL);
}

/* Send what w holds, if there is anybody to hear it. */
static void say(struct agent *a, enum protocol_type type, struct writer *w)
{
    int lost =
        a->home
        && (w->bad
            || channel_send(a->home, (uint16_t)type, w->buf, w->len) < 0);

    writer_clear(w);
    if (lost && !a->leaving)
        channel_hang_up(a->home);
}

/* --- slices --------------------------------------------------------------- */

static void start_next(struct agent *a);

static void on_output(void *arg, const void *buf, size_t len)
{
    struct agent *a = arg;

    if (a->leaving || !a->home)
        return; /* nobody waits for it */
    for (size_t at = 0; at < len; at += OUTPUT_MAX) {
        size_t n = len - at < OUTPUT_MAX ? len - at : OUTPUT_MAX;
        struct msg_output m = {a->id, (const uint8_t *)buf + at, n};
        struct writer w = {0};

        msg_write_output(&w, &m);
        say(a, MSG_OUTPUT, &w);
    }
    if (!a->held && a->home && channel_backlog(a->home) > BACKLOG_HIGH)
        hold(a, 1);
}

static void say_done(struct agent *a, const struct execution_end *end)
{
    struct msg_done m = {
        .id = a->id,
        .status = (uint32_t)end->status,
        .signal = (uint32_t)end->signal,
        .exec_errno = (uint32_t)end->exec_errno,
        .elapsed_ns = (uint64_t)end->elapsed_ns,
        .err_dropped = end->err_dropped,
        .err = (const uint8_t *)end->err_tail,
        .err_len = end->err_len,
    };
    struct writer w = {0};

    if (a->leaving)
        return; /* one that was stopped has not done its slice */
    msg_write_done(&w, &m);
    say(a, MSG_DONE, &w);
}

static void on_end(void *arg, const struct execution_end *end)
{
    struct agent *a = arg;

    say_done(a, end);
    execution_destroy(a->execution);
    a->execution = NULL;
    a->held = 0;
    start_next(a);
}

/* A slice that cannot be started is a slice that failed, with the reason. */
static void refuse(struct agent *a, uint64_t id, const char *why)
{
    struct msg_done m = {.id = id, .status = 126};
    struct writer w = {0};

    m.err = (const uint8_t *)why;
    m.err_len = strlen(why);
    msg_write_done(&w, &m);
    say(a, MSG_DONE, &w);
}

static int start_slice(struct agent *a, const struct task *t)
{
    const struct msg_run *run = &t->run;
    struct es_error err = {0};
    struct execution_spec spec = {.throttle = a->throttle, .in_fd = t->in_fd};
    int rc = -1;

    a->id = run->id;
    if (!a->command.argv) {
        refuse(a, run->id, "the front end sent a slice before its command");
        return -1;
    }
    spec.argv = template_argv(a->command.argv, run, a->setup->node);
    spec.envp = template_environ(a->environ ? a->environ : a->setup->environ,
                                 run, a->setup->node);
    spec.dir = a->command.dir[0] ? a->command.dir : NULL;
    if (spec.argv && spec.envp)
        rc = execution_start(&a->execution, a->base, &spec, on_output, on_end,
                             a, &err);
    else
        es_fail(&err, ES_ENV, "free some memory", "out of memory");
    template_free((char **)spec.argv);
    template_free((char **)spec.envp);
    if (rc < 0) {
        refuse(a, run->id, err.what);
    }
    return rc;
}

/* --- a program that stays alive ------------------------------------------- */

static void on_program_idle(void *arg, const struct msg_idle *idle)
{
    struct writer w = {0};

    msg_write_idle(&w, idle);
    say(arg, MSG_IDLE, &w);
}

static void on_program_done(void *arg, const struct feeder_result *result)
{
    struct agent *a = arg;
    const struct execution_end end = {.elapsed_ns = result->elapsed_ns};

    a->feeding = 0;
    say_done(a, &end);
    start_next(a);
}

static void say_over(struct agent *a, int status, const char *err, size_t len)
{
    struct msg_over m = {(uint32_t)status, (const uint8_t *)err, len};
    struct writer w = {0};

    msg_write_over(&w, &m);
    say(a, MSG_OVER, &w);
}

static void on_program_end(void *arg, const struct execution_end *end)
{
    struct agent *a = arg;

    if (a->feeding && !a->quitting)
        say_done(a, end);
    else if (!a->quitting)
        say_over(a, end->status,
                 end->exec_errno ? strerror(end->exec_errno) : end->err_tail,
                 end->exec_errno ? strlen(strerror(end->exec_errno))
                                 : end->err_len);
    persistent_destroy(a->program);
    a->program = NULL;
    a->feeding = a->held = a->quitting = 0;
    start_next(a);
}

static const struct persistent_events program_events = {
    .idle = on_program_idle,
    .output = on_output,
    .done = on_program_done,
    .end = on_program_end,
};

/* Of what is filled in for a slice, only the node is known. */
static int start_program(struct agent *a, struct es_error *err)
{
    static const struct msg_run none;
    struct execution_spec spec = {.throttle = a->throttle};
    int rc = -1;

    snprintf(a->place, sizeof a->place, AGENT_GROUP, (int)getppid(),
             a->setup->node);
    spec.argv = template_argv(a->command.argv, &none, a->setup->node);
    spec.envp = template_environ(a->environ ? a->environ : a->setup->environ,
                                 &none, a->setup->node);
    spec.dir = a->command.dir[0] ? a->command.dir : NULL;
    if (spec.argv && spec.envp)
        rc = persistent_start(&a->program, a->base, &spec, a->place,
                              &program_events, a, err);
    else
        es_fail(err, ES_ENV, "free some memory", "out of memory");
    template_free((char **)spec.argv);
    template_free((char **)spec.envp);
    return rc;
}

/* It is started when all nodes are measured, and again if it has ended. */
static void feed_program(struct agent *a)
{
    struct task *t = STAILQ_FIRST(&a->waiting);
    struct es_error err = {0};

    if (a->leaving || a->feeding || a->quitting || a->execution)
        return;
    if (!a->program && (t || (a->measured && !a->place[0]))
        && start_program(a, &err) < 0)
        say_over(a, 126, err.what, strlen(err.what));
    if (!t)
        return;
    STAILQ_REMOVE_HEAD(&a->waiting, next);
    a->id = t->run.id;
    a->feeding = a->program != NULL;
    if (a->program)
        persistent_give(a->program, &t->run);
    else
        refuse(a, t->run.id, err.what);
    free(t);
}

static void on_over(struct agent *a, const uint8_t *body, size_t len)
{
    struct msg_over m;

    if (msg_read_over(&m, body, len) < 0)
        leave(a);
    else if (a->tasks)
        step_tasks_over(a->tasks, &m);
    else if (a->program)
        persistent_finish(a->program);
    else
        say_over(a, 0, "", 0); /* it has ended, and that was told */
}

/* --- both ----------------------------------------------------------------- */

static void start_next(struct agent *a)
{
    struct task *t;

    if (a->leaving && !a->execution && !a->program)
        event_base_loopexit(a->base, NULL);
    if (a->command.persistent)
        feed_program(a);
    while (!a->command.persistent && !a->execution && !a->probe
           && (t = STAILQ_FIRST(&a->waiting)) != NULL) {
        STAILQ_REMOVE_HEAD(&a->waiting, next);
        (void)start_slice(a, t); /* a failure has been answered */
        task_free(t);
    }
}

/* --- qualification -------------------------------------------------------- */

static void on_probed(void *arg, const struct msg_probed *m)
{
    struct agent *a = arg;
    struct writer w = {0};

    msg_write_probed(&w, m);
    say(a, MSG_PROBED, &w);
    agent_probe_destroy(a->probe);
    a->probe = NULL;
    start_next(a);
}

static void probe(struct agent *a, const uint8_t *body, size_t len)
{
    const struct agent_probe_setup setup = {.base = a->base,
                                            .throttle = a->throttle,
                                            .speed_pct = a->setup->speed_pct,
                                            .environ = a->setup->environ,
                                            .sysfs = a->setup->sysfs};
    struct msg_probe order;

    if (msg_read_probe(&order, body, len) == 0 && !a->execution && !a->probe)
        a->probe = agent_probe_start(&setup, &order, on_probed, a);
    if (!a->probe)
        leave(a);
}

static void open_ring(struct agent *a)
{
    struct writer w = {0};

    agent_ring_close(a->ring);
    a->ring = agent_ring_open(
        a->base, &a->setup->secret, a->setup->ports,
        strcmp(a->wireup.agent[a->wireup.rank].address, "127.0.0.1") == 0);
    write_u32(&w, a->ring ? agent_ring_port(a->ring) : 0);
    say(a, MSG_RING_PORT, &w);
}

static void on_round(void *arg, double received_per_s)
{
    struct writer w = {0};

    write_double(&w, received_per_s);
    say(arg, MSG_RANG, &w);
}

static void ring(struct agent *a, const uint8_t *body, size_t len)
{
    struct endpoint to;
    struct msg_ring m;

    if (msg_read_ring(&m, body, len) < 0 || m.receiver >= a->wireup.size) {
        leave(a);
        return;
    }
    to = a->wireup.agent[m.receiver];
    to.port = (uint16_t)m.port;
    if (!a->ring
        || agent_ring_round(a->ring, m.port > 0 ? &to : NULL, m.ms, on_round, a)
               < 0)
        on_round(a, 0);
}

/* --- the conversation with home ------------------------------------------- */

/* Keep what a slice is to read; its RUN comes next. */
static void take_input(struct agent *a, const uint8_t *body, size_t len)
{
    struct msg_output m;

    if (msg_read_output(&m, body, len) < 0) {
        leave(a);
        return;
    }
    if (a->in_fd > 0 && a->in_id != m.id)
        close_input(&a->in_fd);
    a->in_id = m.id;
    if (a->in_fd <= 0)
        a->in_fd = spool_open_file();
    if (a->in_fd < 0 || write_all(a->in_fd, m.bytes, m.len) < 0) {
        notice("%s: cannot keep the input of a slice: %s", a->setup->node,
               strerror(errno));
        leave(a);
    }
}

static void queue_slice(struct agent *a, const uint8_t *body, size_t len)
{
    struct task *t = calloc(1, sizeof *t);

    if (!t || a->leaving || msg_read_run(&t->run, body, len) < 0
        || (a->tasks && step_tasks_run(a->tasks, &t->run) < 0)) {
        free(t);
        leave(a);
        return;
    }
    if (a->tasks) {
        free(t);
        return;
    }
    if (a->in_fd > 0 && a->in_id == t->run.id) {
        t->in_fd = a->in_fd;
        a->in_fd = 0;
        (void)lseek(t->in_fd, 0, SEEK_SET); /* a file of ours */
    }
    STAILQ_INSERT_TAIL(&a->waiting, t, next);
    start_next(a);
}

/* From now on the commands hear where the step directory is. */
static int tell_directory(struct agent *a)
{
    char path[STEP_PATH_MAX];
    size_t n = 0;

    if (a->environ)
        return 0;
    while (a->setup->environ[n])
        n++;
    a->environ = calloc(n + 2, sizeof *a->environ);
    if (!a->environ)
        return ENOMEM;
    memcpy(a->environ, a->setup->environ, n * sizeof *a->environ);
    (void)step_dir_path(path, a->step, ""); /* it was made */
    snprintf(a->directory, sizeof a->directory, "EVENSTEP_DIR=%s", path);
    a->environ[n] = a->directory;
    return 0;
}

static void store(struct agent *a, const uint8_t *body, size_t len)
{
    struct writer w = {0};
    struct msg_put m;
    int why;

    if (msg_read_put(&m, body, len) < 0) {
        leave(a);
        return;
    }
    snprintf(a->step, sizeof a->step, "%s", m.dir);
    why = step_dir_put(m.dir, m.file, m.content, m.len);
    if (why == 0)
        why = tell_directory(a);
    write_u32(&w, (uint32_t)why);
    say(a, MSG_STORED, &w);
    a->measured = 1;
    start_next(a);
}

static void say_of_tasks(void *arg, enum protocol_type type, struct writer *w)
{
    say(arg, type, w);
}

static void feed_tasks(struct agent *a, const uint8_t *body, size_t len)
{
    struct msg_tasks m;
    struct writer w = {0};
    int rc;

    if (msg_read_tasks(&m, body, len) < 0 || a->tasks) {
        leave(a);
        return;
    }
    snprintf(a->step, sizeof a->step, "%s", m.dir);
    rc = step_tasks_open(&a->tasks, a->base, m.dir, m.tasks, say_of_tasks, a,
                         NULL);
    write_u32(&w, rc < 0 ? (uint32_t)errno : 0);
    say(a, MSG_STORED, &w);
}

/* --- broadcasts ------------------------------------------------------------
 */

static void end_broadcast(struct agent *a)
{
    mesh_set_broadcast(a->mesh, NULL);
    bcast_node_destroy(a->broadcast);
    a->broadcast = NULL;
}

static void say_bcast(void *arg, enum bcast_kind kind, struct writer *w)
{
    say(arg, (enum protocol_type)(MSG_BCAST + kind), w);
}

/* In a destination {node} is this node's name, as in a command's words. */
static int fill_in(const struct agent *a, struct bcast_order *order)
{
    struct msg_run none = {0};
    char *words[] = {order->destination, NULL};
    char **filled = template_argv(words, &none, a->setup->node);
    int rc = -1;

    if (filled && strlen(filled[0]) < sizeof order->destination) {
        snprintf(order->destination, sizeof order->destination, "%s",
                 filled[0]);
        rc = 0;
    }
    template_free(filled);
    return rc;
}

static void start_broadcast(struct agent *a, const uint8_t *body, size_t len)
{
    struct bcast_node_setup setup = {.base = a->base,
                                     .secret = &a->setup->secret,
                                     .wireup = &a->wireup,
                                     .home_address = a->setup->home_address,
                                     .say = say_bcast,
                                     .arg = a};
    struct bcast_order *order = malloc(sizeof *order);

    end_broadcast(a);
    if (order && bcast_read_order(order, body, len) == 0
        && fill_in(a, order) == 0)
        a->broadcast = bcast_node_start(&setup, order);
    free(order);
    if (a->broadcast)
        mesh_set_broadcast(a->mesh, a->broadcast);
    else
        leave(a);
}

static void on_bcast(struct agent *a,
                     enum bcast_kind kind,
                     const uint8_t *body,
                     size_t len)
{
    if (kind == BCAST_ORDER)
        start_broadcast(a, body, len);
    else if (!a->broadcast
             || bcast_node_told(a->broadcast, kind, body, len) < 0)
        leave(a);
    else if (kind == BCAST_END)
        end_broadcast(a);
}

/* --- meters and limits ---------------------------------------------------- */

static void on_progress(void *arg, const struct msg_progress *m)
{
    struct writer w = {0};

    msg_write_progress(&w, m);
    say(arg, MSG_PROGRESS, &w);
}

static void on_power(void *arg, const struct msg_power *m)
{
    struct writer w = {0};

    msg_write_power(&w, m);
    say(arg, MSG_POWER, &w);
}

static void on_limited(void *arg, const struct msg_limited *m)
{
    struct writer w = {0};

    msg_write_limited(&w, m);
    say(arg, MSG_LIMITED, &w);
}

static const struct power_link_events power_events = {
    .power = on_power,
    .limited = on_limited,
};

static void offer_threads(struct agent *a, const struct msg_monitor *order)
{
    struct msg_power m = {.actuator = "threads", .unit = "threads"};

    thread_advice_init(&a->advice, order->start, order->floor);
    monitor_advise_threads(a->monitor, a->advice.limit);
    m.limit = a->advice.limit;
    m.floor = a->advice.floor;
    m.ceiling = a->advice.ceiling;
    on_power(a, &m);
}

static void set_threads(struct agent *a, uint64_t limit)
{
    struct msg_limited m = {.limit = thread_advice_set(&a->advice, limit)};

    monitor_advise_threads(a->monitor, a->advice.limit);
    on_limited(a, &m);
}

/* A node without meters is one that does not report. */
static void watch(struct agent *a, const uint8_t *body, size_t len)
{
    struct es_error err = {0};
    struct msg_monitor m;

    if (a->monitor || msg_read_monitor(&m, body, len) < 0) {
        leave(a);
        return;
    }
    snprintf(a->step, sizeof a->step, "%s", m.dir);
    a->monitor = monitor_start(a->base, &m, on_progress, a, &err);
    if (!a->monitor)
        notice("%s: %s: %s", a->setup->node, err.what, err.mend);
    else if (m.power == MONITOR_GUARD)
        a->power = power_link_start(a->base, m.dir, &power_events, a);
    else if (m.power == MONITOR_THREADS)
        offer_threads(a, &m);
}

static void limit(struct agent *a, const uint8_t *body, size_t len)
{
    uint64_t v;

    if (msg_read_u64(&v, body, len) < 0)
        leave(a);
    else if (a->power)
        power_link_set(a->power, v);
    else if (a->monitor)
        set_threads(a, v);
}

/* --- task graphs ---------------------------------------------------------- */

static void say_graph(void *arg, enum graph_kind kind, struct writer *w)
{
    say(arg, (enum protocol_type)(MSG_GRAPH + kind), w);
}

static void on_graph_idle(void *arg)
{
    struct agent *a = arg;

    if (a->leaving)
        event_base_loopexit(a->base, NULL);
}

static void start_graph(struct agent *a, const uint8_t *body, size_t len)
{
    struct graph_node_setup setup = {.base = a->base,
                                     .secret = &a->setup->secret,
                                     .wireup = &a->wireup,
                                     .mesh = a->mesh,
                                     .node = a->setup->node,
                                     .home_address = a->setup->home_address,
                                     .environ = a->setup->environ,
                                     .throttle = a->throttle,
                                     .say = say_graph,
                                     .idle = on_graph_idle,
                                     .arg = a};
    struct graph_open *open = malloc(sizeof *open);

    int good = open && !a->graph && graph_read_open(open, body, len) == 0;

    if (good)
        a->graph = graph_node_start(&setup, open);
    if (!good || !a->graph)
        leave(a);
    free(open);
}

static void on_graph(struct agent *a,
                     enum graph_kind kind,
                     const uint8_t *body,
                     size_t len)
{
    if (kind == GRAPH_MSG_OPEN)
        start_graph(a, body, len);
    else if (!a->graph || graph_node_told(a->graph, kind, body, len) < 0)
        leave(a);
}

static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    struct agent *a = arg;

    (void)c;
    if (type == MSG_RUN) {
        queue_slice(a, body, len);
    } else if (type == MSG_INPUT) {
        take_input(a, body, len);
    } else if (type == MSG_PROBE) {
        probe(a, body, len);
    } else if (type == MSG_RING_OPEN) {
        open_ring(a);
    } else if (type == MSG_RING) {
        ring(a, body, len);
    } else if (type == MSG_COMMAND) {
        free(a->command.argv);
        if (msg_read_command(&a->command, body, len) < 0)
            leave(a);
        else
            start_next(a);
    } else if (type == MSG_OVER) {
        on_over(a, body, len);
    } else if (type == MSG_TASKS) {
        feed_tasks(a, body, len);
    } else if (type == MSG_PUT) {
        store(a, body, len);
    } else if (type == MSG_MONITOR) {
        watch(a, body, len);
    } else if (type == MSG_LIMIT) {
        limit(a, body, len);
    } else if (type >= MSG_BCAST && type < MSG_BCAST_END) {
        on_bcast(a, (enum bcast_kind)(type - MSG_BCAST), body, len);
    } else if (type >= MSG_GRAPH && type < MSG_END) {
        on_graph(a, (enum graph_kind)(type - MSG_GRAPH), body, len);
    } else { /* LEAVE, or nothing that we know: in both cases we go */
        leave(a);
    }
}

static uint32_t count_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0
               ? (uint32_t)CPU_COUNT(&set)
               : 0;
}

static void say_ready(struct agent *a)
{
    struct msg_ready m = {.rank = a->wireup.rank,
                          .agents = a->wireup.size,
                          .job = a->setup->job,
                          .step = a->setup->step,
                          .cpus = count_cpus(),
                          .adapter = a->adapter};
    struct writer w = {0};

    snprintf(m.node, sizeof m.node, "%s", a->setup->node);
    msg_write_ready(&w, &m);
    a->ready = 1;
    say(a, MSG_READY, &w);
}

static void on_greeting(void *arg, int reached, const char *why)
{
    struct agent *a = arg;
    struct msg_peer m = {.reached = (uint32_t)reached};
    struct writer w = {0};

    snprintf(m.text, sizeof m.text, "%s", why);
    msg_write_peer(&w, &m);
    say(a, MSG_PEER, &w);
}

static void greet_next(struct agent *a)
{
    const struct wireup *w = &a->wireup;
    const struct endpoint *next = &w->agent[(w->rank + 1) % w->size];

    if (w->size < 2)
        return;
    a->greeting =
        greeting_start(a->base, next, &a->setup->secret, on_greeting, a);
    if (!a->greeting)
        on_greeting(a, 0, strerror(errno));
}

static void on_opened(struct channel *c, void *arg)
{
    struct agent *a = arg;

    int first = !a->ready;

    channel_backlog_mark(c, BACKLOG_LOW);
    a->calls = 0;
    say_ready(a);
    if (first)
        greet_next(a);
}

static void on_drained(struct channel *c, void *arg)
{
    struct agent *a = arg;

    (void)c;
    if (a->held)
        hold(a, 0);
}

static void call_later(struct agent *a)
{
    struct timeval delay = {AGAIN_S, 0};

    if (a->calls++ >= AWAY_S / AGAIN_S || event_add(a->on_again, &delay) < 0)
        leave(a);
}

/* Home is gone, or the way to it: forget what was to be done, and call again;
 * but where nobody listens any more, there is nothing to stay for, nor is there
 * beside a step: its frames have ended with home, and Slurm ends us soon. */
static void on_closed(struct channel *c, void *arg, const char *why)
{
    struct agent *a = arg;

    (void)c;
    a->home = NULL;
    snprintf(a->why, sizeof a->why, "%s", why);
    if (!a->ready || a->leaving || a->tasks
        || strcmp(why, strerror(ECONNREFUSED)) == 0) {
        leave(a);
        return;
    }
    end_broadcast(a);
    (void)stop_commands(a);
    call_later(a);
}

static const struct channel_events events = {
    .opened = on_opened,
    .message = on_message,
    .drained = on_drained,
    .closed = on_closed,
};

/* --- start and end -------------------------------------------------------- */

static void on_term(int signal, short what, void *arg)
{
    (void)signal;
    (void)what;
    leave(arg);
}

static struct sockaddr_in home_of(const struct agent_setup *s)
{
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons(s->home_port);
    (void)inet_pton(AF_INET, s->home_address, &in.sin_addr); /* was checked */
    return in;
}

/* Our address on the interface that reaches home: what the other agents are
 * told.  A datagram socket's connect sends nothing. */
static int own_address(const struct agent_setup *s, struct sockaddr_in *own)
{
    struct sockaddr_in home = home_of(s);
    socklen_t len = sizeof *own;
    int rc = -1, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&home, sizeof home) == 0
        && getsockname(fd, (struct sockaddr *)own, &len) == 0)
        rc = 0;
    close(fd);
    return rc;
}

/* Without one there is no connection table; all else works. */
static void find_adapter(struct agent *a, const struct sockaddr_in *own)
{
    struct es_error err = {0};

    if (adapter_find(&a->adapter, a->setup->sysfs, (const struct sockaddr *)own,
                     &err)
        < 0)
        notice("%s: %s: %s", a->setup->node, err.what, err.mend);
    a->adapter.tcp_port = listener_port(a->listener);
}

static int wire_up(struct agent *a, struct es_error *err)
{
    const struct agent_setup *s = a->setup;
    struct endpoint mine = {0};
    struct sockaddr_in own;

    a->mesh = mesh_create(a->base, &s->secret);
    if (!a->mesh)
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    if (own_address(s, &own) < 0
        || !inet_ntop(AF_INET, &own.sin_addr, mine.address,
                      sizeof mine.address))
        return es_fail(
            err, ES_ENV, "let the compute nodes reach the host of srun",
            "%s: no way to %s: %s", s->node, s->home_address, strerror(errno));
    if (listener_open(&a->listener, a->base, s->ports,
                      strcmp(mine.address, "127.0.0.1") == 0, mesh_take,
                      a->mesh, err)
        < 0)
        return -1;
    find_adapter(a, &own);
    snprintf(mine.node, sizeof mine.node, "%s", s->node);
    mine.port = listener_port(a->listener);
    return wireup_exchange(&a->wireup, &mine, err);
}

static int call_home(struct agent *a, struct es_error *err)
{
    struct sockaddr_in in = home_of(a->setup);

    a->home = channel_call(a->base, (const struct sockaddr *)&in, sizeof in,
                           &a->setup->secret, &events, a);
    if (a->home)
        return 0;
    return es_fail(err, ES_ENV, "let the compute nodes reach the host of srun",
                   "%s: cannot call %s:%u: %s", a->setup->node,
                   a->setup->home_address, a->setup->home_port,
                   strerror(errno));
}

static void on_again(int fd, short what, void *arg)
{
    struct agent *a = arg;

    (void)fd;
    (void)what;
    if (a->execution) /* that was stopped is not over yet */
        call_later(a);
    else if (call_home(a, NULL) < 0)
        leave(a);
}

static int start(struct agent *a, struct es_error *err)
{
    char group[THROTTLE_NAME_MAX];

    snprintf(group, sizeof group, AGENT_GROUP, (int)getppid(), a->setup->node);
    a->base = event_base_new();
    if (!a->base)
        return es_fail(err, ES_ENV, "free some memory", "no event loop");
    /* Until the fence is through a SIGTERM just ends us: there is nothing to
     * clean up, and PMIx may block for ever. */
    (void)alarm(WIRE_UP_S);
    if (wire_up(a, err) < 0)
        return -1;
    (void)alarm(0);
    a->on_term = evsignal_new(a->base, SIGTERM, on_term, a);
    a->on_again = evtimer_new(a->base, on_again, a);
    if (!a->on_term || !a->on_again || event_add(a->on_term, NULL) < 0)
        return es_fail(err, ES_ENV, "free some memory", "no event loop");
    if (a->setup->speed_pct > 0
        && throttle_open(&a->throttle, a->base, a->setup->speed_pct, group,
                         THROTTLE_ANY, err)
               < 0)
        return -1;
    return call_home(a, err);
}

static void stop(struct agent *a)
{
    execution_destroy(a->execution);
    agent_probe_destroy(a->probe);
    agent_ring_close(a->ring);
    persistent_destroy(a->program);
    step_tasks_close(a->tasks);
    drop_waiting(a);
    free(a->command.argv);
    free(a->environ);
    power_link_stop(a->power);
    monitor_stop(a->monitor);
    if (a->step[0])
        step_dir_remove(a->step);
    if (a->place[0])
        step_dir_remove(a->place);
    greeting_destroy(a->greeting);
    listener_close(a->listener);
    bcast_node_destroy(a->broadcast);
    graph_node_destroy(a->graph);
    mesh_destroy(a->mesh);
    channel_destroy(a->home);
    throttle_close(a->throttle);
    wireup_clear(&a->wireup);
    if (a->on_term)
        event_free(a->on_term);
    if (a->on_again)
        event_free(a->on_again);
    if (a->base)
        event_base_free(a->base);
}

int agent_serve(const struct agent_setup *setup, struct es_error *err)
{
    struct agent a = {.setup = setup};
    int rc;

    STAILQ_INIT(&a.waiting);
    rc = start(&a, err);
    if (rc == 0 && event_base_dispatch(a.base) < 0)
        rc = es_fail(err, ES_ENV, "report this", "the event loop failed");
    if (rc == 0 && !a.ready)
        rc =
            es_fail(err, ES_ENV,
                    "let the compute nodes reach the host of srun at the ports "
                    "of SrunPortRange",
                    "%s: no front end at %s:%u: %s", setup->node,
                    setup->home_address, setup->home_port, a.why);
    stop(&a);
    return rc;
}
