/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Phases: the agents come (session), they open their folders (OPENING), the
 * plan is made and run.  Each message of an agent changes the state
 * (graph_state.h), and what follows from that is sent.  After a loss the state
 * is reviewed, what has no place any more gets one, and what each waits for is
 * sent again.  Every end goes through graph_finish().
 */
#include "launcher/graph/graph_run.h"
#include "launcher/base/file_limit.h"
#include "launcher/base/json_member.h"
#include "launcher/base/named_files.h"
#include "launcher/base/notice.h"
#include "launcher/base/plain_text.h"
#include "launcher/base/report_head.h"
#include "launcher/base/report_out.h"
#include "launcher/exec/work_folder.h"
#include "launcher/graph/graph_feedback.h"
#include "launcher/graph/graph_opening.h"
#include "launcher/graph/graph_recover.h"
#include "launcher/graph/graph_stage_out.h"
#include "launcher/graph/graph_state.h"
#include "launcher/graph/graph_watts.h"
#include "launcher/session/energy.h"
#include "launcher/session/session.h"
#include "pmix_bcast/mesh.h"
#include "policy/schedule.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- graph result -------------------------------------------------------------- */

/* Prints how a task graph ran, beside its plan. */

struct graph_result {
    const struct graph_file *f;
    const struct graph_state *state;
    const struct machine *machine;
    const struct schedule_sum *planned;
    const struct session *session;
    const struct energy_watch *energy; /* NULL: not watched */
    const struct watts *watts;         /* of this run and those before it */
    double messages_s; /* of all files on their way between nodes */
};

static double seconds(int64_t ns)
{
    return round((double)ns / 1e3) / 1e6;
}

/* Add up how the run was, as schedule.h does for a plan. */
static int add_up(const struct graph_result *r, struct schedule_sum *sum)
{
    const struct graph_state *s = r->state;
    const struct power *w = &r->machine->power;
    uint8_t *used = calloc(s->nodes, 1);
    double busy = 0, cores = 0, span;

    *sum = (struct schedule_sum){0};
    if (!used)
        return -1;
    for (uint32_t i = 0; i < s->places; i++) {
        const struct place *p = &s->place[i];

        if (p->state != PLACE_DONE)
            continue;
        sum->processors += !used[p->node];
        cores += used[p->node] ? 0 : machine_cores(r->machine, p->node);
        used[p->node] = 1;
        busy += (double)(p->finish - p->start) / GRAPH_NS_PER_S
                * machine_width(r->machine, s->graph, p->task, p->node);
        if (p->finish > sum->makespan)
            sum->makespan = p->finish;
    }
    free(used);
    span = (double)sum->makespan / GRAPH_NS_PER_S;
    sum->energy.busy = w->busy * busy;
    sum->energy.idle = w->idle * fmax(0, cores * span - busy);
    sum->energy.base = w->base * sum->processors * span;
    sum->energy.comm = w->link * r->messages_s;
    sum->energy.total = sum->energy.busy + sum->energy.idle + sum->energy.base
                        + sum->energy.comm;
    return 0;
}

/* What the nodes have used, by what counts or measures it; the model has its own
 * figure. */
static int is_measured(const struct graph_result *r, struct energy_view *used)
{
    if (!r->energy)
        return 0;
    *used = energy_sum(r->energy);
    return used->source == ENERGY_MEASURED || used->source == ENERGY_SLURM;
}

/* --- JSON ----------------------------------------------------------------- */

static json_t *json_sum(const struct schedule_sum *s)
{
    return json_pack("{s:f,s:i,s:{s:f,s:f,s:f,s:f,s:f}}", "makespan",
                     seconds(s->makespan), "processors", (int)s->processors,
                     "energy", "busy", s->energy.busy, "idle", s->energy.idle,
                     "base", s->energy.base, "comm", s->energy.comm, "total",
                     s->energy.total);
}

static json_t *json_used(const struct energy_view *used)
{
    return json_pack("{s:f,s:f,s:s}", "joules", used->joules, "watts",
                     used->joules / used->seconds, "source",
                     energy_source_name(used->source));
}

/* What a core draws, by all counters so far; only where this run has any. */
static json_t *json_fitted(const struct watts *w)
{
    double busy, idle;

    return watts_fit(w, &busy, &idle) == 0
               ? json_pack("{s:f,s:f,s:i}", "busy", busy, "idle", idle,
                           "points", (int)w->points)
               : json_null();
}

static json_t *json_instance(const struct graph_result *r,
                             const struct place *p)
{
    return json_pack("{s:O,s:i,s:s,s:i,s:f,s:f,s:f,s:f}", "task",
                     json_array_get(r->f->ids, p->task), "processor",
                     (int)p->node, "node",
                     session_node(r->session, p->node)->name, "core",
                     (int)p->core, "planned_start", seconds(p->planned_start),
                     "planned_finish", seconds(p->planned_finish), "start",
                     seconds(p->start), "finish", seconds(p->finish));
}

static json_t *json_instances(const struct graph_result *r)
{
    const struct graph_state *s = r->state;
    json_t *all = json_array();

    for (uint32_t i = 0; all && i < s->places; i++) {
        const struct place *p = &s->place[i];

        if (p->state != PLACE_DONE)
            continue;
        if (json_array_append_new(all, json_instance(r, p)) < 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static int print_json(FILE *out,
                      const struct graph_result *r,
                      const struct schedule_sum *was)
{
    json_t *all =
        json_pack("{s:o,s:o,s:o}", "planned", json_sum(r->planned), "real",
                  json_sum(was), "instances", json_instances(r));
    struct energy_view used;
    int rc;

    if (is_measured(r, &used))
        all = json_member(json_member(all, "used", json_used(&used)), "watts",
                          json_fitted(r->watts));
    rc =
        all ? json_dumpf(all, out, JSON_COMPACT | JSON_REAL_PRECISION(12)) : -1;

    json_decref(all);
    return rc < 0 || putc('\n', out) < 0 ? -1 : 0;
}

/* --- text ----------------------------------------------------------------- */

static int print_instance(FILE *out,
                          const struct graph_result *r,
                          const struct place *p)
{
    char *task = plain_text_new(r->state->work->task[p->task].name);

    if (!task)
        return -1;
    fprintf(out, "%-24s %-12s %4u %12.6f %12.6f %12.6f %12.6f\n", task,
            session_node(r->session, p->node)->name, p->core,
            seconds(p->planned_start), seconds(p->planned_finish),
            seconds(p->start), seconds(p->finish));
    free(task);
    return 0;
}

static void print_fitted(FILE *out, const struct graph_result *r)
{
    const struct power *p = &r->machine->power;
    double busy, idle;

    if (watts_fit(r->watts, &busy, &idle) == 0)
        fprintf(out,
                "so a core draws %.3g W at work and %.3g W idle; planned with "
                "%.3g W and %.3g W\n",
                busy, idle, p->busy, p->idle);
}

static int print_text(FILE *out,
                      const struct graph_result *r,
                      const struct schedule_sum *was)
{
    double planned = seconds(r->planned->makespan);
    double took = seconds(was->makespan);
    struct energy_view used;
    char text[ENERGY_TEXT];

    fprintf(out, "%-24s %-12s %4s %12s %12s %12s %12s\n", "task", "node",
            "core", "planned s", "to", "real s", "to");
    for (uint32_t i = 0; i < r->state->places; i++)
        if (r->state->place[i].state == PLACE_DONE
            && print_instance(out, r, &r->state->place[i]) < 0)
            return -1;
    fprintf(out,
            "planned %.3f s, %.1f J on %u nodes; took %.3f s (%+.1f %%), "
            "%.1f J on %u nodes\n",
            planned, r->planned->energy.total, r->planned->processors, took,
            planned > 0 ? (took / planned - 1) * 100 : 0, was->energy.total,
            was->processors);
    if (is_measured(r, &used)) {
        energy_used_text(text, &used);
        fprintf(out, "its nodes have used %s\n", text);
        print_fitted(out, r);
    }
    return ferror(out) ? -1 : 0;
}

/*
 * Print it: the sums and a line for each instance, or with json one object in
 * one line.  Energy is the plan's model with the times that were measured;
 * what was measured itself stands beside it.
 * 0, or -1 if memory runs out or the stream has an error; the caller flushes.
 */
static int graph_result_print(FILE *out, const struct graph_result *r, int json)
{
    struct schedule_sum was;

    if (add_up(r, &was) < 0)
        return -1;
    return json ? print_json(out, r, &was) : print_text(out, r, &was);
}

/* --- a report ------------------------------------------------------------- */

static json_t *report_sums(const struct graph_result *r,
                           const struct schedule_sum *was)
{
    uint32_t job, step;
    struct energy_view used;
    json_t *line = json_pack("{s:s,s:o,s:o}", "type", "graph", "planned",
                             json_sum(r->planned), "real", json_sum(was));

    if (is_measured(r, &used))
        line = json_member(line, "used", json_used(&used));
    session_job(r->session, &job, &step);
    return json_member(line, "report", report_head("graph", job, step));
}

static json_t *report_task(const struct graph_result *r, const struct place *p)
{
    json_t *line = json_instance(r, p);

    line = json_member(line, "type", json_string("task"));
    return json_member(line, "name",
                       json_text(r->state->work->task[p->task].name));
}

/* The lines of a report: the sums, and each instance.  Nothing is written if out
 * is of no file. */
static int graph_result_report(struct report_out *out,
                               const struct graph_result *r,
                               struct es_error *err)
{
    const struct graph_state *s = r->state;
    struct schedule_sum was;
    int rc;

    if (!out->file)
        return 0;
    if (add_up(r, &was) < 0)
        return es_no_memory(err);
    rc = report_out_line(out, report_sums(r, &was), err);
    for (uint32_t i = 0; rc == 0 && i < s->places; i++)
        if (s->place[i].state == PLACE_DONE)
            rc = report_out_line(out, report_task(r, &s->place[i]), err);
    return rc;
}

/* --- the session ---------------------------------------------------------- */

static void on_message(
    void *arg, size_t from, uint16_t type, const uint8_t *body, size_t len)
{
    struct graph_running *r = arg;
    uint32_t node = (uint32_t)from;
    struct graph_opened opened;
    struct graph_brought brought;
    struct graph_done done;
    int good = 1;

    if (r->energy && energy_message(r->energy, from, type, body, len))
        return;
    if (graph_opening_message(r, node, type, body, len))
        return;
    if (type == MSG_GRAPH + GRAPH_MSG_OPENED && r->phase >= OPENING) {
        good = graph_read_opened(&opened, body, len) == 0;
        if (good)
            graph_opening_answered(r, node, &opened);
        free(opened.room);
    } else if (type == MSG_GRAPH + GRAPH_MSG_DONE && r->phase == RUNNING) {
        good = graph_read_done(&done, body, len) == 0;
        if (good)
            graph_feedback_done(r, node, &done);
        free(done.room);
    } else if (type == MSG_GRAPH + GRAPH_MSG_BROUGHT && r->phase == RUNNING) {
        good = graph_read_brought(&brought, body, len) == 0;
        if (good)
            graph_feedback_brought(r, node, &brought);
    } else if (type == MSG_LEAVE) {
        good = len == 0;
        r->is_told |= good;
        graph_progress_stop(&r->progress);
        notice("%s: SIGTERM: it leaves", graph_node_name(r, node));
    }
    if (!good)
        session_drop(r->front.session, node);
}

/* No node is left.  Where Slurm has ended them that is no failure. */
static int fail_alone(struct graph_running *r)
{
    if (!r->is_told)
        return es_fail(r->err, ES_WORK, "see why in the lines above",
                       "all nodes are lost");
    return es_fail(r->err, ES_TIME,
                   r->o->journal
                       ? "--resume goes on with it"
                       : "with --journal FILE, --resume would go on with it",
                   "stopped by SIGTERM");
}

static void on_lost(void *arg, size_t lost, const char *why)
{
    struct graph_running *r = arg;
    uint32_t node = (uint32_t)lost, left = 0;

    graph_progress_stop(&r->progress);
    if (!r->released[node])
        notice("%s is lost (%s): the other nodes do its part",
               graph_node_name(r, node), why);
    exchange_forget(r->exchange, node);
    graph_state_lose(&r->state, node);
    for (uint32_t i = 0; i < r->work.files; i++)
        if (r->user[i].from == node)
            r->user[i].from = GRAPH_NOBODY;
    for (uint32_t i = 0; i < r->state.nodes; i++)
        left += r->state.usable[i];
    if (left == 0) {
        graph_finish(r, fail_alone(r));
    } else if (r->phase == RUNNING) {
        graph_recover(r);
        graph_check_end(r);
    } else {
        graph_finish(r, es_fail(r->err, ES_ENV, "start it again",
                                "%s was lost before the start",
                                graph_node_name(r, node)));
    }
}

static int open_exchange(struct graph_running *r)
{
    struct exchange_setup x = {.base = r->front.base,
                               .secret = session_secret(r->front.session),
                               .self = FRONT_END,
                               .keep = r->o->journal != NULL,
                               .open = graph_open_input,
                               .fetched = graph_take_result,
                               .arg = r};
    const struct listen_at at = session_listen_at(r->front.session);
    struct listener_setup door = {
        .base = r->front.base,
        .secret = session_secret(r->front.session),
        .purpose = PURPOSE_MESH,
        .self = FRONT_END,
        .ports = session_ports(r->front.session),
        .loopback = address_loopback_for(session_is_local(r->front.session)),
        .at = &at,
        .called = mesh_take,
        .full = file_limit_reached};

    r->mesh = mesh_create(r->front.base);
    door.arg = r->mesh;
    r->exchange = exchange_create(&x);
    if (!r->mesh || !r->exchange)
        return es_no_memory(r->err);
    mesh_set_exchange(r->mesh, r->exchange);
    return listener_open(&r->listener, &door, r->err);
}

/* A node that was lost is back: it knows nothing. */
static void on_returned(void *arg, size_t back)
{
    struct graph_running *r = arg;
    uint32_t node = (uint32_t)back;

    if (r->phase != RUNNING || r->released[node])
        return;
    graph_progress_stop(&r->progress);
    notice("%s is back", graph_node_name(r, node));
    if (r->energy)
        energy_order(r->energy, back);
    if (graph_opening_ask(r, node) < 0)
        graph_finish(r, 1);
}

static void on_ready(void *arg)
{
    struct graph_running *r = arg;
    uint32_t nodes = (uint32_t)session_size(r->front.session);
    uint32_t most = r->o->plan.machine.processors;

    r->phase = OPENING;
    r->machine = r->o->plan.machine;
    r->machine.processors = most > 0 && most < nodes ? most : nodes;
    r->kind = calloc(nodes, sizeof *r->kind);
    r->own_cores = calloc(nodes, sizeof *r->own_cores);
    r->released = calloc(nodes, 1);
    if (graph_state_init(&r->state, r->f->graph, &r->work, nodes) < 0
        || !r->kind || !r->own_cores || !r->released) {
        graph_finish(r, es_no_memory(r->err));
        return;
    }
    if (open_exchange(r) < 0 || graph_opening_ask_all(r) < 0)
        graph_finish(r, 1);
}

static const struct session_events session_events = {
    .ready = on_ready,
    .message = on_message,
    .lost = on_lost,
    .returned = on_returned,
};

/* --- start ---------------------------------------------------------------- */

static int open_session(struct graph_running *r)
{
    struct session_setup setup = {
        .local = r->o->local->n,
        .local_speed = local_option_speeds(r->o->local),
        .place.srun_args = r->o->srun,
        .energy = r->o->local->n == 0,
        .spare = 1,
    };

    return front_open(&r->front, r->o->config, &setup, &session_events, r);
}

/* The user's own files must be there. */
static int look_at_inputs(struct graph_running *r)
{
    struct stat st;

    for (uint32_t i = 0; i < r->work.files; i++) {
        const struct graph_work_file *f = &r->work.file[i];
        const char *why = NULL;

        r->user[i].from = GRAPH_NOBODY;
        if (f->maker != GRAPH_NOBODY)
            continue;
        if (stat(f->name, &st) < 0 || access(f->name, R_OK) < 0)
            why = strerror(errno);
        else if (!S_ISREG(st.st_mode))
            why = "is no file";
        if (why)
            return es_fail(r->err, ES_USAGE,
                           "no task makes it: start where it is",
                           "input %s: %s", f->name, why);
        r->input[i] = graph_input_of(&st);
        r->user[i].file = (struct exchange_file){.number = i,
                                                 .mode = st.st_mode & 07777,
                                                 .bytes = r->input[i].bytes};
        r->measured.bytes[i] = (uint64_t)st.st_size;
    }
    return 0;
}

/* What this run writes is none of the tasks' files. */
static int check_files(const struct graph_running *r)
{
    const char *option[] = {"journal", "report"};
    const char *path[] = {r->o->journal, r->o->report};
    struct named_files f = {.n = 0};

    for (size_t i = 0; i < 2; i++)
        if (path[i] && named_files_written(&f, option[i], path[i], r->err) < 0)
            return -1;
    for (uint32_t i = 0; i < r->work.files; i++) {
        const char *name = r->work.file[i].name;
        struct stat st;

        if (graph_is_result(r, i) && stat(name, &st) == 0
            && !S_ISREG(st.st_mode))
            return es_fail(r->err, ES_USAGE, "move it away",
                           "output %s: is there, and no regular file", name);
        if (named_files_read(&f, NULL,
                             r->work.file[i].maker == GRAPH_NOBODY
                                 ? "an input of the graph"
                                 : "what a task makes",
                             name, r->err)
            < 0)
            return -1;
    }
    return 0;
}

static void journal_done(void *arg,
                         uint32_t task,
                         double seconds,
                         const struct exchange_file made[])
{
    struct graph_running *r = arg;

    for (uint32_t i = 0; i < r->work.task[task].outputs; i++)
        r->made[r->work.task[task].output[i]] = made[i];

    r->was_done[task] = 1;
    r->measured.seconds[task] = seconds;
}

/* A result that has been taken away since, or changed, is to be delivered
 * again. */
static void journal_delivered(void *arg,
                              uint32_t file,
                              const struct exchange_file *made)
{
    struct graph_running *r = arg;

    r->delivered[file] = (uint8_t)graph_is_delivered(r, file, made);
}

static int read_work(struct graph_running *r)
{
    const struct graph_journal_events events = {journal_done, journal_delivered,
                                                r};
    uint32_t tasks = r->f->graph->tasks;

    if (graph_work_read(&r->work, r->o->graph, r->f, r->err) < 0)
        return -1;
    r->user = calloc(r->work.files + (size_t)1, sizeof *r->user);
    r->input = calloc(r->work.files + (size_t)1, sizeof *r->input);
    r->made = calloc(r->work.files + (size_t)1, sizeof *r->made);
    r->delivered = calloc(r->work.files + (size_t)1, 1);
    r->was_done = calloc(tasks, 1);
    if (!r->user || !r->input || !r->made || !r->delivered || !r->was_done
        || graph_measured_init(&r->measured, tasks, r->work.files) < 0)
        return es_no_memory(r->err);
    snprintf(r->run, sizeof r->run, "%08x%08x", randombytes_random(),
             randombytes_random());
    if (look_at_inputs(r) < 0 || check_files(r) < 0
        || graph_journal_open(&r->journal, r->o->journal, r->o->resume,
                              &r->work, r->input, r->run, &events, r->err)
               < 0)
        return -1;
    for (uint32_t i = 0; i < r->work.files; i++)
        r->undelivered += graph_is_result(r, i) && !r->delivered[i];
    return 0;
}

static int start(struct graph_running *r)
{
    if (front_is_alone(r->o->local->n > 0, r->err) < 0
        || front_begin(&r->front, r->err) < 0
        || front_catch(&r->front, "nothing is left running") < 0
        || read_work(r) < 0 || front_has_nodes(r->o->local->n > 0, r->err) < 0
        || report_out_open(&r->report, r->o->report, r->err) < 0)
        return -1;
    return open_session(r);
}

/* --- the end -------------------------------------------------------------- */

static int print_result(struct graph_running *r)
{
    struct watts watts = r->f->watts;
    struct graph_result result = {.f = r->f,
                                  .state = &r->state,
                                  .machine = &r->machine,
                                  .planned = &r->planned,
                                  .session = r->front.session,
                                  .energy = r->energy,
                                  .watts = &watts,
                                  .messages_s = r->messages_s};

    graph_progress_stop(&r->progress);
    graph_measured_watts(&watts, &r->state, &r->machine, r->energy);
    if (graph_result_print(stdout, &result, r->o->json) < 0
        || fflush(stdout) != 0)
        return es_no_space(r->err);
    if (graph_result_report(&r->report, &result, r->err) < 0)
        return -1;
    if (!r->o->learn)
        return 0;
    graph_measured_tasks(&r->measured, &r->state, &r->machine);
    return graph_learn(r->o->graph, &r->work, &r->measured, &watts, r->err);
}

/* The folders on the nodes are not needed any more. */
static void send_close(struct graph_running *r)
{
    for (uint32_t i = 0; i < r->state.nodes; i++) {
        struct writer w = {0};

        graph_say(r, i, GRAPH_MSG_CLOSE, &w);
    }
}

/* On this machine: what agents that were killed have left. */
static void sweep(const struct graph_running *r)
{
    struct work_folder f;

    for (uint32_t i = 0; i < r->state.nodes; i++)
        if (!r->state.usable[i]
            && work_folder_open(&f, graph_opening_folder(r), r->run,
                                graph_node_name(r, i), NULL)
                   == 0)
            work_folder_close(&f, 0);
}

static void clear(struct graph_running *r, int keep)
{
    if (r->mesh)
        mesh_set_exchange(r->mesh, NULL);
    graph_top_stop(&r->top);
    exchange_destroy(r->exchange);
    energy_stop(r->energy);
    if (r->front.session && session_is_local(r->front.session) && !keep)
        sweep(r);
    front_close(&r->front);
    listener_close(r->listener);
    mesh_destroy(r->mesh);
    graph_journal_close(&r->journal);
    graph_state_clear(&r->state);
    graph_work_clear(&r->work);
    free(r->kind);
    free(r->own_cores);
    graph_speeds_clear(&r->speeds);
    free(r->released);
    free(r->order);
    free(r->user);
    free(r->input);
    free(r->made);
    free(r->delivered);
    free(r->was_done);
    graph_measured_clear(&r->measured);
    front_end(&r->front);
}

int graph_run(const struct graph_run_wish *wish,
              const struct graph_file *f,
              struct es_error *err)
{
    struct graph_running *r = calloc(1, sizeof *r);
    int rc;

    if (!r)
        return es_no_memory(err);
    r->o = wish;
    r->f = f;
    r->err = err;
    if (start(r) < 0)
        graph_finish(r, 1);
    rc = front_run(&r->front) < 0 ? -1 : print_result(r);
    if (report_out_close(&r->report, rc < 0 ? NULL : err) < 0)
        rc = -1;
    graph_progress_stop(&r->progress);
    if (rc == 0)
        send_close(r);
    else if (wish->journal && r->state.tasks_done > 0)
        notice("%u of %u tasks are done: go on with --resume",
               r->state.tasks_done, f->graph->tasks);
    clear(r, rc < 0 && wish->journal);
    free(r);
    return rc;
}
