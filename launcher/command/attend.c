/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep attend: the front end that the plugin starts beside one step of an
 * unchanged program.  It brings the connection table of the step and the file
 * of the user to all nodes, qualifies the nodes, and writes what the tasks need
 * to know into the step directory of each node.  It ends with the step.
 *
 * It writes one line to the plugin, on its stdout (plugin_line.h).  When its stdin
 * ends, the step has ended.
 */
#include "launcher/base/notice.h"
#include "launcher/base/options.h"
#include "launcher/base/signals.h"
#include "launcher/base/step_env.h"
#include "launcher/command/attend_options.h"
#include "launcher/command/plugin_line.h"
#include "launcher/command/step_bringing.h"
#include "launcher/command/step_files.h"
#include "launcher/command/step_watch.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/config/policy_option.h"
#include "launcher/config/profile_option.h"
#include "launcher/run/iteration.h"
#include "launcher/run/job_nodes.h"
#include "launcher/run/profile_auto.h"
#include "launcher/session/companion.h"
#include "launcher/session/connections.h"
#include "launcher/session/front.h"
#include "launcher/session/qualification.h"
#include "launcher/session/qualification_rank.h"
#include "launcher/session/step_layout.h"
#include "policy/static.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- attend libs --------------------------------------------------------------- */

/* The libraries that come with the programs among the inputs of
 * a step. */

/*
 * Find those of each input that is a program; list is their folders, "a:b", for
 * STEP_ENV_LIBS.  0, or -1 with err: no input is a program, one lacks a library,
 * or the list gets too long.
 */
static int attend_libs_find(struct attend_options *o,
                            const char *exclude,
                            char list[LIBS_LIST_MAX],
                            struct es_error *err)
{
    int programs = 0;

    list[0] = '\0';
    for (size_t i = 0; i < o->inputs; i++) {
        struct attend_input *in = &o->input[i];
        int found = libs_add(&in->libs, list, in->source, in->destination,
                             exclude, err);

        if (found < 0)
            return -1;
        programs += found;
    }
    return programs > 0 ? 0
                        : es_fail(err, ES_USAGE,
                                  "bring a program by --evenstep-bcast, or "
                                  "leave it out",
                                  "--evenstep-libs: no file that is brought "
                                  "is a program");
}

/* --- attend -------------------------------------------------------------------- */

#define NAMED 4
#define BESIDE_S                                                               \
    45 /* for the layout and the probes, beside the agents' start */

struct attend {
    struct attend_options *o;
    struct config config;
    struct es_error *err;
    struct front front;
    struct event *on_stdin;
    struct signals signals;
    struct plugin_line line;
    char *layout; /* of the tasks of the step, as Slurm prints it */
    struct step_files files;
    char libs[LIBS_LIST_MAX]; /* for them */
    struct step_bringing bringing;
    struct qualification_setup qualify;
    struct qualification qualification;
    struct node_history node_history; /* of the job's nodes */
    struct config_profile profile;    /* `auto` */
    struct policy_option policy;      /* for slices of the tasks */
    struct iteration iteration;
    struct step_watch watch;
    char *unfit;      /* one a node: it gets no work */
    int lacks_plugin; /* a node does */
    int is_sent;      /* all that the nodes are to store has been */
};

/* The plugin starts the tasks once it has its line. */
static int step_runs(const struct attend *a)
{
    return a->line.is_written;
}

/* The step is not started, or without us. */
static void give_up(struct attend *a)
{
    int is_refused = a->o->required || a->config.on_error == ON_ERROR_FAIL;

    /* Where the plugin is not loaded it cannot keep tasks from starting. */
    if (a->lacks_plugin && is_refused && !a->line.is_written)
        companion_cancel_next(a->o->job, a->o->step);
    plugin_line_failed(&a->line,
                       a->o->required ? ON_ERROR_FAIL : a->config.on_error,
                       step_bringing_lacks_input(&a->bringing), a->err);
    front_finish(&a->front, 1);
}

/* --- what every node is given, one after the other ------------------------ */

static void say_if_ready(struct attend *a)
{
    if (a->files.unstored > 0 || !a->is_sent || step_runs(a))
        return;
    plugin_line_ready(&a->line);
    job_nodes_keep(&a->qualification);
}

static void on_metrics(void *arg, int failed)
{
    struct attend *a = arg;

    if (failed) {
        give_up(a);
        return;
    }
    a->files.unstored--;
    say_if_ready(a);
}

/* The tasks of a node that has less than the profile needs get no work; -1: of none
 * would any be left. */
static int find_unfit(struct attend *a)
{
    const struct qualification *q = &a->qualification;
    size_t fit = 0;

    a->unfit = calloc(q->n, 1);
    if (!a->unfit)
        return es_no_memory(a->err);
    for (size_t i = 0; i < q->n; i++) {
        a->unfit[i] = (char)qualification_lacks(q, i);
        fit += !a->unfit[i];
    }
    return fit > 0 ? 0
                   : es_fail(a->err, ES_ENV,
                             "give nodes that have it, or another "
                             "--evenstep-profile",
                             "no node has what the profile %s needs",
                             a->qualify.profile->name);
}

static void qualified(struct attend *a)
{
    const struct qualification *q = &a->qualification;

    if (find_unfit(a) < 0) {
        give_up(a);
        return;
    }
    if (step_files_put_own(&a->files, q, a->unfit) < 0) {
        es_no_memory(a->err);
        give_up(a);
        return;
    }
    a->files.unstored++;
    if (step_bringing_metrics(&a->bringing, q, on_metrics, a) < 0
        || iteration_init(&a->iteration, a->front.session, &a->policy,
                          &a->config.step_threshold, q->metric,
                          &a->qualify.profile->profile, a->unfit,
                          a->watch.power.variant == POWER_OFF
                              ? NULL
                              : a->watch.power.steering,
                          a->err)
               < 0) {
        give_up(a);
        return;
    }
    a->is_sent = 1;
}

static void qualify(struct attend *a)
{
    if (step_watch_start(&a->watch, &a->front, &a->config, a->o) < 0) {
        es_no_memory(a->err);
        give_up(a);
        return;
    }
    if (a->qualify.source == METRICS_CACHED)
        job_nodes_find(&a->node_history, &a->qualify, a->front.session);
    if (qualification_start(&a->qualification, a->front.session, &a->qualify,
                            a->err)
        < 0)
        give_up(a);
    else if (a->qualification.missing == 0)
        qualified(a);
}

/* Not before: the broadcasts kept the nodes busy. */
static void on_inputs(void *arg, int failed)
{
    struct attend *a = arg;

    if (failed)
        give_up(a);
    else
        qualify(a);
}

static void on_table(void *arg, int failed)
{
    struct attend *a = arg;

    if (failed || step_bringing_inputs(&a->bringing, on_inputs, a) < 0)
        give_up(a);
}

/* The tasks of a node where slurmstepd has not loaded the plugin would run without
 * us, and nobody would know. */
static int check_plugins(struct attend *a)
{
    const struct session *s = a->front.session;
    char names[NAMED * (NODE_NAME_MAX + 2)] = "";
    size_t lack = 0, len = 0;

    for (size_t i = 0; i < session_size(s); i++)
        if (!session_node(s, i)->has_plugin && lack++ < NAMED)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s%s",
                                    lack > 1 ? ", " : "",
                                    session_node(s, i)->name);
    if (lack == 0)
        return 0;
    a->lacks_plugin = 1;
    if (lack > NAMED)
        snprintf(names + len, sizeof names - len, " ...");
    return es_fail(a->err, ES_ENV,
                   "see the line of evenstep.so in plugstack.conf there, and "
                   "slurmd's log",
                   "%s: the plugin is not loaded, so tasks would run without "
                   "evenstep on %zu of %zu nodes",
                   names, lack, session_size(s));
}

/* The session is ready, and Slurm has said where the tasks are. */
static void bring_table(struct attend *a)
{
    struct step_files *f = &a->files;
    int fd = -1;

    if (check_plugins(a) < 0) {
        give_up(a);
        return;
    }
    f->session = a->front.session;
    f->tasks = calloc(session_size(f->session), sizeof *f->tasks);
    if (!f->tasks)
        es_no_memory(a->err);
    else
        fd = connections_file(f->session, a->layout, f->tasks, a->err);
    if (fd < 0) {
        give_up(a);
        return;
    }
    step_files_make_directories(f);
    if (step_bringing_table(&a->bringing, fd, on_table, a) < 0)
        give_up(a);
}

/* --- the session ---------------------------------------------------------- */

static void on_ready(void *arg)
{
    struct attend *a = arg;

    if (a->layout)
        bring_table(a); /* else open_session() does it */
}

static void on_stored(struct attend *a, size_t node, uint32_t why)
{
    a->files.unstored--;
    if (why) {
        es_fail(a->err, ES_ENV, "see that there is room in it on the node",
                "%s: no step directory in /dev/shm: %s",
                session_node(a->front.session, node)->name, strerror((int)why));
        give_up(a);
    } else {
        say_if_ready(a);
    }
}

static void on_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct attend *a = arg;
    int runs = step_runs(a);
    uint32_t why;

    if (step_bringing_message(&a->bringing, runs, node, type, body, len)
        || step_watch_message(&a->watch, node, type, body, len))
        return;
    if (a->qualification.missing > 0
        && qualification_message(&a->qualification, node, type, body, len)) {
        if (a->qualification.missing == 0)
            qualified(a);
    } else if (type == MSG_STORED && a->files.unstored > 0
               && msg_read_u32(&why, body, len) == 0) {
        on_stored(a, node, why);
    } else if (runs && a->iteration.n > 0) {
        iteration_message(&a->iteration, node, type, body, len);
    }
}

static void on_lost(void *arg, size_t node, const char *why)
{
    struct attend *a = arg;
    int runs = step_runs(a);

    step_bringing_lost(&a->bringing, node, why);
    step_watch_lost(&a->watch, runs, node, why);
    if (runs && a->iteration.n > 0)
        iteration_lost(&a->iteration, node);
    if (runs)
        return;
    es_fail(a->err, ES_ENV, "see that node's slurmd log", "%s is lost: %.200s",
            session_node(a->front.session, node)->name, why);
    give_up(a);
}

/* What of the step is on that node has lived on with its agent. */
static void on_returned(void *arg, size_t node)
{
    struct attend *a = arg;

    step_watch_returned(&a->watch, node);
    step_bringing_returned(&a->bringing);
    step_files_put_tasks(&a->files, node);
    iteration_returned(&a->iteration, node);
}

static void on_failed(void *arg, const struct es_error *err)
{
    (void)err; /* it is a->err now */
    give_up(arg);
}

static const struct session_events session_events = {
    .ready = on_ready,
    .message = on_message,
    .lost = on_lost,
    .returned = on_returned,
    .failed = on_failed,
};

/* --- start and end -------------------------------------------------------- */

static void on_over(void *arg)
{
    struct attend *a = arg;

    if (a->front.over)
        return; /* by a signal */
    step_watch_tell(&a->watch, &a->qualification);
    front_finish(&a->front, 0);
}

/* The plugin does not wait any longer, or Slurm ends all: there is nobody to be told
 * why.  What reads the inputs has seen it already. */
static void on_signal(void *arg, int number)
{
    struct attend *a = arg;

    (void)number;
    front_finish(&a->front, 0);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct attend *a = arg;
    char byte;

    (void)what;
    if (read((int)fd, &byte, 1) > 0)
        return; /* the plugin writes nothing; only the end counts */
    if (step_runs(a)) {
        (void)event_del(a->on_stdin); /* it is readable from now on */
        step_watch_end(&a->watch, a->front.base, on_over, a);
    } else {
        front_finish(&a->front, 0);
    }
}

/* Called when the configuration is read: it says what becomes of the step if
 * this fails. */
static int set_qualification(struct attend *a)
{
    a->qualify.probe = &a->config.probe;
    a->qualify.quiet = 1; /* else every srun would print it */
    a->qualify.source = a->o->probe;
    a->qualify.profile = profile_option_find(&a->config, a->o->profile,
                                             "--evenstep-profile", a->err);
    if (!a->qualify.profile)
        return -1;
    if (a->o->profile && strcmp(a->o->profile, PROFILE_AUTO) == 0) {
        profile_auto(&a->profile, &a->config, a->o->command);
        a->qualify.profile = &a->profile;
    }
    a->qualify.ring = a->qualify.source == METRICS_PROBE
                      && qualification_wants_ring(a->qualify.profile);
    return 0;
}

/* Ask Slurm where the tasks of the step are. */
static int ask_layout(struct attend *a)
{
    if (!a->layout)
        a->layout =
            companion_step_layout(a->front.base, a->o->job, a->o->step, a->err);
    return a->layout ? 0 : -1;
}

/* The agents run on the nodes of the step. */
static int find_place(struct attend *a, struct companion_place *place)
{
    place->job = a->o->job;
    if (companion_is_whole(a->o->job, a->o->nodes))
        return 0; /* *place says all nodes already */
    if (ask_layout(a) < 0)
        return -1;
    return step_layout_nodes(a->layout, place->nodes, sizeof place->nodes,
                             &place->n_nodes, a->err);
}

static int open_session(struct attend *a)
{
    struct session_setup setup = {0};

    if (find_place(a, &setup.place) < 0
        || front_open(&a->front, &a->config, &setup, &session_events, a) < 0)
        return -1;
    /* Slurm is asked while it starts the companion step. */
    if (ask_layout(a) < 0)
        return -1;
    if (session_size(a->front.session) > 0)
        bring_table(a);
    return a->err->kind == ES_OK ? 0 : -1;
}

/* Lending needs the meter of MPI: whoever wants it gets that, too, unless he has
 * asked for another one. */
static void take_lend(struct attend *a)
{
    struct config *c = &a->config;

    if (a->o->lend != ATTEND_LEND_SITE)
        c->step_lend = a->o->lend == ATTEND_LEND_ON;
    if (a->o->lend == ATTEND_LEND_ON && a->o->meter == STEP_METERS)
        c->step_meter = STEP_METER_MPI;
    if (c->step_meter == STEP_METER_MPI)
        return;
    c->step_lend = 0;
    if (a->o->lend == ATTEND_LEND_ON)
        notice("warning: --evenstep-lend moves nothing with "
               "--evenstep-meter=%s: leave that out, or give mpi",
               step_meter_name(c->step_meter));
}

/* What the user has said goes before what the site has. */
static void take_wishes(struct attend *a)
{
    if (a->o->meter < STEP_METERS)
        a->config.step_meter = a->o->meter;
    take_lend(a);
    if (a->o->report)
        a->config.step_report = strcmp(a->o->report, REPORT_OFF) != 0;
    if (a->config.step_report)
        step_report_want(&a->watch.report, a->o->report);
}

static int check_inputs(struct attend *a)
{
    for (size_t i = 0; i < a->o->inputs; i++)
        if (broadcast_source(a->o->input[i].source, a->err) < 0)
            return -1;
    return a->o->with_libs ? attend_libs_find(
               a->o, a->config.bcast.exclude_libs, a->libs, a->err)
                           : 0;
}

static void name_files(struct attend *a)
{
    struct step_files *f = &a->files;

    snprintf(f->step, sizeof f->step, "%u.%u", a->o->job, a->o->step);
    f->patience_s = (uint32_t)a->config.step_patience_s;
    f->meter = a->config.step_meter;
    f->lend = a->config.step_lend;
    f->by_speed = a->policy.kind != &static_kind;
    f->libs = a->libs;
}

static int start(struct attend *a)
{
    if (config_load(&a->config, a->o->config, a->err) < 0)
        return -1;
    take_wishes(a);
    plugin_line_wait(&a->line, a->config.timeout_s + BESIDE_S);
    if (set_qualification(a) < 0
        || policy_option_parse(&a->policy, &a->config, a->config.step_policy,
                               POLICY_STRICT, a->err)
               < 0
        || check_inputs(a) < 0)
        return -1;
    name_files(a);
    if (front_begin(&a->front, a->err) < 0)
        return -1;
    a->on_stdin =
        event_new(a->front.base, STDIN_FILENO, EV_READ | EV_PERSIST, on_end, a);
    if (!a->on_stdin || event_add(a->on_stdin, NULL) < 0
        || signals_catch(&a->signals, a->front.base, on_signal, a) < 0)
        return es_no_memory(a->err);
    signals_end_at_second();
    return open_session(a);
}

static void clear(struct attend *a)
{
    /* At its end stdin is always readable: session_close() runs the loop. */
    if (a->on_stdin)
        event_free(a->on_stdin);
    step_bringing_stop(&a->bringing);
    free(a->layout);
    front_close(&a->front);
    iteration_clear(&a->iteration);
    free(a->unfit);
    free(a->files.tasks);
    step_watch_stop(&a->watch);
    qualification_clear(&a->qualification);
    node_history_clear(&a->node_history);
    signals_release(&a->signals);
    front_end(&a->front);
}

/* As after `evenstep run`: of a program that asked for slices on nodes that were
 * measured, which the profile `auto` is fitted to. */
static void keep_history(const struct attend *a)
{
    const struct qualification *q = &a->qualification;

    if (a->o->command && a->o->probe != METRICS_EQUAL && q->n > 1
        && a->iteration.frame > 0)
        (void)history_append(&a->iteration.history, a->o->command,
                             (const double(*)[ELEMENTS])q->measured);
}

static int attend_main(int argc, char **argv, struct es_error *err)
{
    struct attend_options o = {.meter = STEP_METERS, .lend = ATTEND_LEND_SITE};
    struct attend a = {.o = &o, .err = err};
    int rc = options_parse(&command_attend, &o, argc, argv, err);

    step_bringing_init(&a.bringing, &a.front, &a.config, &o, &a.files);
    if (rc > 0)
        return rc;
    if (rc < 0 || attend_options_check(&o, err) < 0 || start(&a) < 0)
        give_up(&a);
    else
        (void)front_run(&a.front);
    keep_history(&a);
    clear(&a);
    attend_options_clear(&o);
    /* What failed is in the line that the plugin has got. */
    return 0;
}

const struct subcommand command_attend = {
    .name = "attend",
    .about = "For the plugin: stay beside one step of an unchanged program.\n",
    .option = attend_option_table,
    .see = "the plugin starts it; give srun --evenstep",
    .run = attend_main,
};
