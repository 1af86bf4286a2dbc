/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep attend: the front end that the plugin starts beside one step of an
 * unchanged program.  It brings the connection table of the step and the file
 * of the user to all nodes, qualifies the nodes, and writes what the tasks need
 * to know into the step directory of each node.  It ends with the step.
 *
 * It writes one line to the plugin, on its stdout:
 *
 *   ready             the step may start
 *   continue: TEXT    something failed; the site lets the step start anyway
 *   fail: TEXT        something failed; the step must not start
 *
 * When its stdin ends, the step has ended.
 */
#include "launcher/base/options.h"
#include "launcher/base/step_dir.h"
#include "launcher/command/attend_libs.h"
#include "launcher/command/attend_options.h"
#include "launcher/command/lost_agents.h"
#include "launcher/command/step_files.h"
#include "launcher/command/step_power.h"
#include "launcher/command/step_report.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/config/policy_option.h"
#include "launcher/config/profile_option.h"
#include "launcher/run/iteration.h"
#include "launcher/run/job_nodes.h"
#include "launcher/run/profile_auto.h"
#include "launcher/session/broadcast.h"
#include "launcher/session/connections.h"
#include "launcher/session/front.h"
#include "launcher/session/listening_table.h"
#include "launcher/session/metrics_cast.h"
#include "launcher/session/qualification.h"
#include "launcher/session/step_layout.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct attend {
    struct attend_options *o;
    struct config config;
    struct es_error *err;
    struct front front;
    struct event *on_stdin, *on_term, *next;
    char *layout;        /* of the tasks of the step, as Slurm prints it */
    char table_path[64]; /* of the connection table; its destination */
    char table_destination[STEP_PATH_MAX];
    int table_fd;
    struct broadcast table, copy;
    struct broadcast *broadcast; /* that is running, or NULL */
    struct metrics_cast metrics;
    struct listening_table listening; /* the second table */
    struct bcast_wish wish;
    struct qualification_setup qualify;
    struct qualification qualification;
    struct node_history node_history; /* of the job's nodes */
    struct config_profile profile;    /* `auto` */
    struct step_files files;
    struct policy_option policy; /* for slices of the tasks */
    struct iteration iteration;
    struct step_power power;
    struct energy_watch *energy;
    struct step_report report;
    struct lost_agents lost;
    char libs[LIBS_LIST_MAX]; /* for the files */
    size_t copied;            /* inputs that are on every node */
    int told;                 /* all files for the nodes have been sent */
    int said;                 /* the line to the plugin has been written */
};

/* Write the line to the plugin, once: only the first counts. */
static void tell_plugin(struct attend *a,
                        const char *word,
                        const struct es_error *err,
                        const char *sequel)
{
    if (a->said)
        return;
    a->said = 1;
    if (err)
        printf("%s: %s: %s%s\n", word, err->what, err->mend, sequel);
    else
        printf("%s\n", word);
    (void)fflush(stdout); /* the plugin takes no line for a failure */
}

/* Is a file of the user still missing on the nodes? */
static int lacks_input(const struct attend *a)
{
    return a->copied < a->o->inputs;
}

static void give_up(struct attend *a)
{
    enum on_error on = a->config.on_error;

    if (!a->o->required && on == ON_ERROR_INPUT && lacks_input(a))
        tell_plugin(a, "fail", a->err,
                    "; the step is not started without its input");
    else
        tell_plugin(a,
                    a->o->required || on == ON_ERROR_FAIL ? "fail" : "continue",
                    a->err, "");
    front_finish(&a->front, 1);
}

/* --- what every node is given --------------------------------------------- */

static void say_if_ready(struct attend *a)
{
    if (a->files.unstored > 0 || !a->told || a->said)
        return;
    tell_plugin(a, "ready", NULL, "");
    job_nodes_keep(&a->qualification);
}

static void on_metrics(void *arg)
{
    struct attend *a = arg;

    if (metrics_cast_check(&a->metrics, a->err) < 0) {
        give_up(a);
        return;
    }
    a->files.unstored--;
    say_if_ready(a);
}

static void bring_metrics(struct attend *a)
{
    a->files.unstored++;
    a->broadcast = &a->metrics.broadcast;
    if (metrics_cast_start(&a->metrics, a->front.base, &a->qualification,
                           &a->config.bcast, a->files.step, on_metrics, a,
                           a->err)
        < 0)
        give_up(a);
}

static void qualified(struct attend *a)
{
    const struct qualification *q = &a->qualification;

    if (step_files_put_own(&a->files, q) < 0) {
        es_no_memory(a->err);
        give_up(a);
        return;
    }
    bring_metrics(a);
    if (a->err->kind == ES_OK)
        (void)iteration_init(&a->iteration, a->front.session, &a->policy,
                             &a->config.step_threshold, q->metric,
                             &a->qualify.profile->profile, a->err);
    a->told = 1;
    if (a->err->kind != ES_OK)
        give_up(a);
}

/* --- the session ---------------------------------------------------------- */

/* The plugin has started guards for these.  Without memory nothing is known of
 * the energy. */
static void watch_energy(struct attend *a)
{
    const struct attend_options *o = a->o;
    int guard = o->power != POWER_OFF
                || (o->report && strcmp(o->report, REPORT_OFF) != 0);

    a->energy =
        energy_start(a->front.base, a->front.session, &a->config, guard);
    energy_in_job(a->energy);
    a->power.energy = a->report.energy = a->energy;
    a->report.saved = a->power.saved;
}

/* Before the tasks start, as their meters look for the page only once. */
static int steer(struct attend *a)
{
    a->power.job = a->o->job;
    a->power.step = a->o->step;
    a->power.meter = a->config.step_meter;
    a->report.job = a->o->job;
    a->report.step = a->o->step;
    step_report_start(&a->report, a->front.session);
    a->power.times = a->report.times;
    if (step_power_start(&a->power, a->front.base, a->front.session,
                         &a->config.power, a->o->power)
            == 0
        && lost_agents_start(&a->lost, a->front.base, a->front.session,
                             a->report.times)
               == 0) {
        watch_energy(a);
        return 0;
    }
    es_no_memory(a->err);
    give_up(a);
    return -1;
}

static void qualify(struct attend *a)
{
    if (steer(a) < 0)
        return;
    if (a->qualify.source == METRICS_CACHED)
        job_nodes_find(&a->node_history, &a->qualify, a->front.session);
    if (qualification_start(&a->qualification, a->front.session, &a->qualify,
                            a->err)
        < 0)
        give_up(a);
    else if (a->qualification.missing == 0)
        qualified(a);
}

/* --- what goes by broadcast, one after the other -------------------------- */

static void copy(struct attend *a,
                 struct broadcast *b,
                 const struct libs *libs,
                 void (*ended)(void *arg))
{
    a->broadcast = b;
    if (broadcast_start(b, a->front.base, a->front.session, &a->wish, libs,
                        ended, a, a->err)
        < 0)
        give_up(a);
}

static void on_copied(void *arg)
{
    struct attend *a = arg;

    event_active(a->next, EV_TIMEOUT, 0); /* not within the broadcast's call */
}

/* The next file of the user; after the last the nodes are qualified, and not
 * before: the broadcast kept them busy. */
static void bring_inputs(struct attend *a)
{
    const struct attend_input *in;

    if (a->copied == a->o->inputs) {
        qualify(a);
        return;
    }
    in = &a->o->input[a->copied];
    a->wish.source = in->source;
    a->wish.destination = in->destination;
    copy(a, &a->copy, &in->libs, on_copied);
}

static void on_next(evutil_socket_t fd, short what, void *arg)
{
    struct attend *a = arg;

    (void)fd;
    (void)what;
    if (a->front.over)
        return;
    if (broadcast_check(&a->copy, a->err) < 0) {
        give_up(a);
        return;
    }
    a->broadcast = NULL;
    broadcast_stop(&a->copy);
    a->copied++;
    bring_inputs(a);
}

/* From now on tasks may say where they listen. */
static int hear_listening(struct attend *a)
{
    if (listening_table_start(&a->listening, a->front.base, a->front.session,
                              &a->config.bcast, a->table_fd, a->files.tasks,
                              a->files.step, a->config.step_patience_s)
        == 0)
        return 0;
    es_no_memory(a->err);
    give_up(a);
    return -1;
}

static void on_table(void *arg)
{
    struct attend *a = arg;

    if (broadcast_check(&a->table, a->err) < 0)
        give_up(a);
    else if (hear_listening(a) == 0)
        bring_inputs(a);
}

static void bring_table(struct attend *a)
{
    struct step_files *f = &a->files;

    f->session = a->front.session;
    f->tasks = calloc(session_size(f->session), sizeof *f->tasks);
    if (!f->tasks)
        es_no_memory(a->err);
    else
        a->table_fd = connections_file(f->session, a->layout, f->tasks, a->err);
    if (a->table_fd < 0) {
        give_up(a);
        return;
    }
    step_files_make_directories(f);
    snprintf(a->table_path, sizeof a->table_path, "/proc/self/fd/%d",
             a->table_fd);
    (void)step_dir_anywhere(a->table_destination, sizeof a->table_destination,
                            f->step, "conntable"); /* it is short */
    a->wish.source = a->table_path;
    a->wish.destination = a->table_destination;
    copy(a, &a->table, NULL, on_table);
}

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
    uint32_t why;

    if ((a->said
         && listening_table_message(&a->listening, node, type, body, len))
        || (a->broadcast
            && broadcast_message(a->broadcast, node, type, body, len))
        || (a->power.steering
            && steering_message(a->power.steering, node, type, body, len))
        || step_report_message(&a->report, node, type, body, len)
        || (a->energy && energy_message(a->energy, node, type, body, len)))
        return;
    if (a->qualification.missing > 0
        && qualification_message(&a->qualification, node, type, body, len)) {
        if (a->qualification.missing == 0)
            qualified(a);
    } else if (type == MSG_STORED && a->files.unstored > 0
               && msg_read_u32(&why, body, len) == 0) {
        on_stored(a, node, why);
    } else if (a->said && a->iteration.n > 0) {
        iteration_message(&a->iteration, node, type, body, len);
    }
}

static void on_lost(void *arg, size_t node, const char *why)
{
    struct attend *a = arg;

    if (a->power.steering)
        steering_lost(a->power.steering, node);
    step_report_lost(&a->report, node);
    listening_table_lost(&a->listening, node, why);
    if (a->said) {
        lost_agents_lost(&a->lost, node, why);
        if (a->iteration.n > 0)
            iteration_lost(&a->iteration, node);
        return;
    }
    es_fail(a->err, ES_ENV, "see that node's slurmd log", "%s is lost: %.200s",
            session_node(a->front.session, node)->name, why);
    give_up(a);
}

/* What of the step is on that node has lived on with its agent. */
static void on_returned(void *arg, size_t node)
{
    struct attend *a = arg;

    if (a->power.steering)
        steering_returned(a->power.steering, node);
    listening_table_returned(&a->listening);
    lost_agents_returned(&a->lost, node);
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
    a->report.is_steered =
        a->power.steering && steering_has_moved(a->power.steering);
    step_report_tell(&a->report, &a->qualification);
    front_finish(&a->front, 0);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct attend *a = arg;
    char byte;

    if (what == EV_READ && read((int)fd, &byte, 1) > 0)
        return; /* the plugin writes nothing; only the end counts */
    if (what == EV_READ && a->said) {
        (void)event_del(a->on_stdin); /* it is readable from now on */
        lost_agents_stop(&a->lost);
        step_report_end(&a->report, a->front.base, on_over, a);
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

/* What the user has said goes before what the site has. */
static void take_wishes(struct attend *a)
{
    if (a->o->meter < STEP_METERS)
        a->config.step_meter = a->o->meter;
    if (a->o->report)
        a->config.step_report = strcmp(a->o->report, REPORT_OFF) != 0;
    if (a->config.step_report)
        step_report_want(&a->report, a->o->report);
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
    f->libs = a->libs;
}

static int start(struct attend *a)
{
    if (config_load(&a->config, a->o->config, a->err) < 0)
        return -1;
    take_wishes(a);
    if (set_qualification(a) < 0
        || policy_option_parse(&a->policy, &a->config, a->config.step_policy,
                               POLICY_STRICT, a->err)
               < 0
        || check_inputs(a) < 0)
        return -1;
    a->wish = broadcast_wish(&a->config.bcast, 0);
    name_files(a);
    if (front_begin(&a->front, a->err) < 0)
        return -1;
    a->on_stdin =
        event_new(a->front.base, STDIN_FILENO, EV_READ | EV_PERSIST, on_end, a);
    a->on_term = evsignal_new(a->front.base, SIGTERM, on_end, a);
    a->next = event_new(a->front.base, -1, 0, on_next, a);
    if (!a->next || !a->on_stdin || !a->on_term
        || event_add(a->on_term, NULL) < 0)
        return es_no_memory(a->err);
    if (event_add(a->on_stdin, NULL) < 0)
        return es_no_memory(a->err);
    return open_session(a);
}

static void clear(struct attend *a)
{
    /* At its end stdin is always readable: session_close() runs the loop. */
    if (a->on_stdin)
        event_free(a->on_stdin);
    broadcast_stop(&a->table);
    broadcast_stop(&a->copy);
    listening_table_stop(&a->listening);
    metrics_cast_stop(&a->metrics);
    if (a->table_fd >= 0)
        close(a->table_fd);
    free(a->layout);
    front_close(&a->front);
    iteration_clear(&a->iteration);
    free(a->files.tasks);
    step_power_stop(&a->power);
    lost_agents_stop(&a->lost);
    step_report_stop(&a->report);
    energy_stop(a->energy);
    qualification_clear(&a->qualification);
    node_history_clear(&a->node_history);
    if (a->on_term)
        event_free(a->on_term);
    if (a->next)
        event_free(a->next);
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
    struct attend_options o = {.meter = STEP_METERS};
    struct attend a = {.o = &o, .err = err, .table_fd = -1};
    int rc = options_parse(&command_attend, &o, argc, argv, err);

    if (rc > 0)
        return rc;
    if (rc < 0 || start(&a) < 0)
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
