/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep run: the loop of seed 1 around its five modules.
 *
 *   extraction -> distribution -> receiving -> determination -> job load
 *   adjuster -> extraction ...
 *
 * The run has three phases: the agents come (session), they are measured
 * (qualification) and told what all are (metrics_cast), the frames are done.
 * Every end goes through finish().
 */
#include "launcher/base/notice.h"
#include "launcher/base/options.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/run/history.h"
#include "launcher/run/job_load_adjuster.h"
#include "launcher/run/profile_auto.h"
#include "launcher/run/programs.h"
#include "launcher/run/progress.h"
#include "launcher/run/receiving.h"
#include "launcher/run/report.h"
#include "launcher/run/run_meter.h"
#include "launcher/run/run_options.h"
#include "launcher/run/work.h"
#include "launcher/session/drain.h"
#include "launcher/session/front.h"
#include "launcher/session/metrics_cast.h"
#include "launcher/session/qualification.h"
#include "launcher/session/standstill.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often a look is taken at who is late: what a run of milliseconds can
 * lose by it is little, and so is what it costs. */
#define LOOK_MS 50

#define TIMED_OUT 124 /* exit status, as of timeout(1) */

/* LOADING and ENDING: of programs that stay alive from slice to slice. */
enum phase {
    STARTING,
    QUALIFYING,
    TELLING,
    LOADING,
    WORKING,
    ENDING,
    FINISHED
};

struct run {
    const struct run_options *o;
    const struct config *config;
    struct es_error *err; /* of the command, filled when the run fails */
    struct front front;
    struct metrics_file metrics; /* --metrics FILE */
    struct qualification_setup qualify;
    struct qualification qualification;
    struct metrics_cast cast;
    struct work work;
    struct config_profile profile; /* that is in force */
    struct history history;
    struct programs programs; /* if they are persistent */
    struct distribution distribution;
    struct receiving receiving;
    struct determination determination;
    struct job_load_adjuster adjuster;
    struct report report;
    struct progress progress;
    struct run_meter meter;
    int idle; /* the queue is empty, but has not ended */
    struct event *look;
    struct event *soon;  /* a look before that, for nodes that wait for it */
    struct drain *drain; /* NULL: not by Slurm */
    struct standstill *standstill;
    struct summary summary;
    int64_t start_ns; /* of the first frame */
    enum phase phase;
};

/* The end of the run, well or (with r->err filled) not. */
static void finish(struct run *r, int failed)
{
    r->phase = FINISHED;
    front_finish(&r->front, failed);
}

/* --- the loop ------------------------------------------------------------- */

/* 1 if the frame is under way, 0 if it was done before, -1 on failure. */
static int begin_frame(struct run *r, const struct frame *frame)
{
    int rc = work_begin(&r->work, frame, &r->distribution, r->err);

    if (rc != 0)
        return rc;
    return receiving_frame(&r->receiving, &r->distribution, frame->number,
                           r->err);
}

static void end_work(struct run *r)
{
    if (r->o->persistent) {
        r->phase = ENDING;
        programs_await_end(&r->programs);
    } else {
        finish(r, 0);
    }
}

static void next_frame(struct run *r)
{
    struct frame frame;
    int rc = 0;

    while (rc == 0) {
        rc = extraction_next(&r->work.extraction, &frame, r->err);
        r->idle = rc == EXTRACTED_LATER;
        if (rc == EXTRACTED_END)
            end_work(r);
        errno = 0;
        if (rc == EXTRACTED_FRAME)
            rc = begin_frame(r, &frame);
    }
    if (rc < 0 && errno != EINTR) /* else on_signal() follows */
        finish(r, 1);
}

/* The queue may have something again. */
static void on_there(void *arg)
{
    struct run *r = arg;

    if (r->phase == WORKING && r->idle)
        next_frame(r);
}

static void frame_done(struct run *r)
{
    struct summary *s = &r->summary;
    int adjusted;

    history_frame(&r->history, &r->distribution);
    determination_weigh(&r->determination, &r->distribution, &r->o->threshold);
    adjusted = job_load_adjuster_step(&r->adjuster, &r->determination);
    s->efficiency +=
        (r->determination.efficiency - s->efficiency) / (double)(s->frames + 1);
    s->frames++;
    s->seconds = (double)(clock_ns() - r->start_ns) * 1e-9;
    progress_stop(&r->progress); /* stdout may be the same terminal */
    if (receiving_frame(&r->receiving, &r->distribution,
                        r->distribution.frame.number, r->err)
        < 0) {
        if (errno != EINTR) /* else on_signal() follows */
            finish(r, 1);
        return;
    }
    progress_frame(&r->progress, &r->distribution, &r->determination, adjusted);
    if (report_frame(&r->report, &r->distribution, &r->determination, adjusted,
                     r->err)
        < 0)
        finish(r, 1);
    else
        next_frame(r);
}

/* Tell the policy what a node is, or that it was lost meanwhile. */
static void introduce(struct run *r, size_t node)
{
    const struct node *n = session_node(r->front.session, node);

    if (n->present)
        job_load_adjuster_threads(&r->adjuster, node, n->cpus);
    else
        job_load_adjuster_leave(&r->adjuster, node);
}

static void begin_work(struct run *r)
{
    for (size_t i = 0; i < session_size(r->front.session); i++)
        introduce(r, i);
    r->phase = WORKING;
    r->start_ns = clock_ns();
    progress_start(&r->progress, r->work.extraction.repeat);
    next_frame(r);
}

/* All have metrics.json, but those of which a line says that they have not:
 * the work goes on without it. */
static void begin_frames(void *arg)
{
    struct run *r = arg;
    struct es_error err = {0};

    if (r->phase != TELLING)
        return;
    if (metrics_cast_check(&r->cast, &err) < 0)
        notice("warning: metrics.json: %s: %s", err.what, err.mend);
    r->phase = LOADING;
    if (r->o->persistent)
        programs_await_start(&r->programs);
    if (r->programs.missing == 0)
        begin_work(r);
}

static void make_directory(struct run *r, size_t node)
{
    struct msg_put m = {.content = NULL};
    struct writer w = {0};

    session_step_name(r->front.session, node, m.dir);
    msg_write_put(&w, &m);
    session_send(r->front.session, node, MSG_PUT, &w);
}

static int tell_metrics(struct run *r)
{
    int rc;

    for (size_t i = 0; i < session_size(r->front.session); i++)
        make_directory(r, i);
    rc = metrics_cast_start(&r->cast, r->front.base, &r->qualification,
                            &r->config->bcast, NULL, begin_frames, r, r->err);
    if (rc > 0)
        begin_frames(r);
    return rc;
}

static void qualified(struct run *r)
{
    const struct qualification *q = &r->qualification;

    r->summary.rank_by = r->config->probe.rank_by;
    rank_by_elements(r->summary.elements, q->metric, &r->profile.profile, q->n);
    if (job_load_adjuster_init(&r->adjuster, r->o->policy, r->o->policy_value,
                               q->metric, &r->profile.profile, q->n, r->err)
        < 0) {
        finish(r, 1);
        return;
    }
    r->distribution.adjuster = &r->adjuster;
    r->distribution.lines = r->o->lines ? &r->work.lines : NULL;
    r->phase = TELLING;
    if (tell_metrics(r) < 0)
        finish(r, 1);
}

/* --- what the nodes say --------------------------------------------------- */

/* How a command ended; returns what may help. */
static const char *how_it_ended(const struct msg_done *m,
                                char *how,
                                size_t size)
{
    if (m->exec_errno) {
        snprintf(how, size, "could not be started: %s",
                 strerror((int)m->exec_errno));
        return "name a program that every node has";
    }
    if (m->signal)
        snprintf(how, size, "was killed by signal %u (%s)", m->signal,
                 strsignal((int)m->signal));
    else
        snprintf(how, size, "exited with status %u", m->status);
    return m->err_len ? "see its last words above"
                      : "it printed nothing on stderr";
}

/* A node that fails and fails: what it had to do is for others. */
static int give_up_node(struct run *r, size_t node)
{
    notice("%s: %u failures in a row: it gets nothing more",
           session_node(r->front.session, node)->name,
           r->distribution.share[node].failures);
    return distribution_distrust(&r->distribution, node, r->err);
}

/* What the command has failed at is in the pool again.  A slice that has
 * failed too often ends the run: its output would have a hole. */
static void slice_failed(struct run *r,
                         const struct piece *p,
                         const char *how,
                         const char *mend)
{
    const struct share *s = &r->distribution.share[p->node];
    size_t node = p->node;
    char what[600];

    progress_stop(&r->progress);
    snprintf(what, sizeof what, "%s: frame %ju, units %ju:%ju: %.100s %s",
             session_node(r->front.session, node)->name,
             (uintmax_t)r->distribution.frame.number, (uintmax_t)p->slice.begin,
             (uintmax_t)p->slice.end, r->o->command[0], how);
    if (p->failures >= r->o->retries) {
        finish(r, es_fail(r->err, ES_WORK, mend, "%s", what));
        return;
    }
    notice("%s: it is tried again", what);
    if ((s->failures == r->o->retries && give_up_node(r, node) < 0)
        || distribution_feed(&r->distribution, r->err) < 0)
        finish(r, 1);
}

/* What a command said on stderr, of which the agent kept the end. */
static void show_stderr(struct run *r, size_t node, const struct msg_done *m)
{
    const char *name = session_node(r->front.session, node)->name;

    if (m->err_len == 0)
        return;
    if (m->err_dropped)
        notice("%s: the first %ju bytes of its stderr are left out", name,
               (uintmax_t)m->err_dropped);
    notice_lines(name, (const char *)m->err, m->err_len);
}

/* A node that wants to leave may, when it has done what it was at. */
static void let_go(struct run *r, size_t node)
{
    const struct share *s = &r->distribution.share[node];
    struct writer nothing = {0};

    if (s->standing == STANDING_LEAVING && s->out == 0)
        session_send(r->front.session, node, MSG_LEAVE, &nothing);
}

/* Slurm wants the node free.  The last one stays: a node that drains lets its
 * jobs end. */
static void on_drain(void *arg, const char *name)
{
    struct run *r = arg;
    struct distribution *d = &r->distribution;
    size_t node = session_size(r->front.session), others = 0;

    for (size_t i = 0;
         r->phase == WORKING && i < session_size(r->front.session); i++)
        if (strcmp(session_node(r->front.session, i)->name, name) == 0)
            node = i;
        else
            others += distribution_may_send(d, i) ? 1 : 0;
    if (node == session_size(r->front.session) || others == 0
        || !distribution_may_send(d, node))
        return;
    notice("%s drains: it leaves, and the other nodes do its part", name);
    if (distribution_retire(d, node, r->err) < 0)
        finish(r, 1);
    let_go(r, node);
}

/* A node that was lost has been measured again. */
static void take_in(struct run *r, size_t node)
{
    if (job_load_adjuster_join(&r->adjuster, node, r->qualification.metric,
                               r->err)
            < 0
        || distribution_returned(&r->distribution, node, r->err) < 0)
        finish(r, 1);
    else
        introduce(r, node);
}

/* --- programs that stay alive --------------------------------------------- */

static void on_idle(struct run *r, size_t node)
{
    if (r->phase < WORKING && programs_asked(&r->programs, node))
        begin_work(r);
}

/* One that ends between two slices is started anew for its next one. */
static void on_over(struct run *r, size_t node, const uint8_t *body, size_t len)
{
    const char *name = session_node(r->front.session, node)->name;
    struct msg_over m;

    if (msg_read_over(&m, body, len) < 0) {
        session_drop(r->front.session, node);
        return;
    }
    notice_lines(name, (const char *)m.err, m.err_len);
    if (r->phase < WORKING)
        finish(r, es_fail(r->err, ES_WORK,
                          "call evenstep_open() and evenstep_next() in it, or "
                          "leave --persistent out",
                          "%s: %.100s ended with status %u before it asked for "
                          "a slice",
                          name, r->o->command[0], m.error));
    else if (m.error)
        finish(r, es_fail(r->err, ES_WORK, "see its last words above",
                          "%s: %.100s ended with status %u", name,
                          r->o->command[0], m.error));
    else if (r->phase == ENDING && programs_heard(&r->programs, node))
        finish(r, 0);
}

/* A node that is idle takes over at the next look at the tail. */
static void look_soon(struct run *r)
{
    int64_t ns = distribution_gap_ns(&r->distribution);
    struct timeval gap = {ns / 1000000000, ns % 1000000000 / 1000};

    if (!event_pending(r->soon, EV_TIMEOUT, NULL))
        (void)event_add(r->soon, &gap); /* else on_look() does it */
}

static void on_done(struct run *r, size_t node, const uint8_t *body, size_t len)
{
    struct msg_done m;
    struct piece *p;
    const char *mend;
    char how[100];

    if (msg_read_done(&m, body, len) < 0) {
        session_drop(r->front.session, node);
        return;
    }
    if (receiving_done(&r->distribution, node, &m, &p, r->err) < 0) {
        finish(r, 1);
        return;
    }
    if (!p)
        return;
    show_stderr(r, node, &m);
    if (m.status == 0 && r->work.journal
        && journal_add_slice(r->work.journal, r->distribution.frame.number,
                             session_node(r->front.session, node)->name, p,
                             r->err)
               < 0) {
        finish(r, 1);
        return;
    }
    if (m.status != 0) {
        mend = how_it_ended(&m, how, sizeof how);
        slice_failed(r, p, how, mend);
    } else if (r->distribution.left == 0) {
        frame_done(r);
    } else if (distribution_feed_node(&r->distribution, node, r->err) < 0) {
        finish(r, 1);
    } else {
        progress_piece(&r->progress, &r->distribution);
        if (r->distribution.hungry)
            look_soon(r);
    }
    let_go(r, node);
}

static void on_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct run *r = arg;
    struct msg_output output;

    int again = qualification_is_again(&r->qualification, node);
    int64_t stopped;

    if (standstill_message(r->standstill, node, type, body, len, &stopped)) {
        distribution_move(&r->distribution, node, stopped);
        programs_move(&r->programs, stopped);
        return;
    }
    if (run_meter_message(&r->meter, node, type, body, len)
        || broadcast_message(&r->cast.broadcast, node, type, body, len))
        return;
    if (qualification_message(&r->qualification, node, type, body, len)) {
        if (r->phase == WORKING && type == MSG_PROBED && again)
            take_in(r, node);
        else if (r->phase == QUALIFYING && r->qualification.missing == 0)
            qualified(r);
    } else if (type == MSG_OUTPUT && r->phase == WORKING) {
        if (msg_read_output(&output, body, len) < 0)
            session_drop(r->front.session, node);
        else if (receiving_output(&r->distribution, node, &output, r->err) < 0)
            finish(r, 1);
    } else if (type == MSG_DONE && r->phase == WORKING) {
        on_done(r, node, body, len);
    } else if (type == MSG_IDLE && r->o->persistent) {
        on_idle(r, node);
    } else if (type == MSG_OVER && r->o->persistent) {
        on_over(r, node, body, len);
    }
}

static int has_left(const struct share *s)
{
    return s->standing == STANDING_LEAVING && s->out == 0;
}

static void program_lost(struct run *r, size_t node)
{
    if (!programs_heard(&r->programs, node))
        return;
    if (r->phase == LOADING)
        begin_work(r);
    else
        finish(r, 0);
}

static void on_lost(void *arg, size_t node, const char *why)
{
    struct run *r = arg;

    const char *name = session_node(r->front.session, node)->name;

    if (r->phase == WORKING && has_left(&r->distribution.share[node]))
        notice("%s has left", name);
    else
        notice("%s is lost (%s): the other nodes do its part", name, why);
    if (r->phase == QUALIFYING) {
        qualification_lost(&r->qualification, node);
        if (r->qualification.missing == 0)
            qualified(r);
    } else if (r->phase == TELLING) {
        broadcast_lost(&r->cast.broadcast, node, why);
    } else if (r->phase == LOADING || r->phase == ENDING) {
        program_lost(r, node);
    } else if (distribution_lost(&r->distribution, node, r->err) < 0) {
        finish(r, 1);
    }
}

/* --- start ---------------------------------------------------------------- */

static int send_command(struct run *r, size_t node)
{
    struct writer w = {0};
    char dir[4096];

    if (!getcwd(dir, sizeof dir))
        return es_fail(r->err, ES_USAGE, "go to a directory that is there",
                       "no working directory: %s", strerror(errno));
    msg_write_command(&w, dir, r->o->persistent, r->o->command);
    if (w.len > MESSAGE_BODY_MAX) {
        writer_clear(&w);
        return es_fail(r->err, ES_USAGE, "put it into a script",
                       "the command is over 8 MiB");
    }
    session_send(r->front.session, node, MSG_COMMAND, &w);
    return 0;
}

/* Where nobody is asked, what is known of it holds. */
static void ask_again(struct run *r, size_t node)
{
    if (!qualification_again(&r->qualification, node) && r->phase == WORKING)
        take_in(r, node);
}

/* A node that was lost is back: it knows nothing. */
static void on_returned(void *arg, size_t node)
{
    struct run *r = arg;

    if (r->phase == ENDING)
        return;
    notice("%s is back", session_node(r->front.session, node)->name);
    run_meter_order(&r->meter, node);
    if (send_command(r, node) < 0)
        finish(r, 1);
    else
        ask_again(r, node);
}

static void set_qualification(struct run *r)
{
    r->qualify = (struct qualification_setup){
        .source = r->o->metrics,
        .file = &r->metrics,
        .file_name = r->o->metrics_file,
        .probe = &r->config->probe,
        .profile = &r->profile,
        .ring = r->o->metrics == METRICS_PROBE
                && qualification_wants_ring(&r->profile),
    };
}

static int start_meter(struct run *r)
{
    const struct run_meter_setup setup = {.session = r->front.session,
                                          .distribution = &r->distribution,
                                          .determination = &r->determination,
                                          .option = &r->o->meter,
                                          .config = &r->config->power};

    return run_meter_start(&r->meter, &setup);
}

static void on_ready(void *arg)
{
    struct run *r = arg;
    size_t n = session_size(r->front.session);

    r->phase = QUALIFYING;
    if (r->o->local.n == 0 && r->config->slurm.drain_interval_s > 0)
        r->drain = drain_watch(r->front.base, r->config->slurm.drain_interval_s,
                               on_drain, r);
    r->standstill = standstill_create(r->front.session);
    if (!r->standstill
        || distribution_init(&r->distribution, r->front.session, r->o->grain,
                             r->o->pieces)
               < 0
        || determination_init(&r->determination, n) < 0
        || programs_init(&r->programs, r->front.session, r->front.base) < 0
        || history_init(&r->history, n) < 0 || start_meter(r) < 0) {
        finish(r, es_no_memory(r->err));
        return;
    }
    set_qualification(r);
    if (qualification_start(&r->qualification, r->front.session, &r->qualify,
                            r->err)
        < 0) {
        finish(r, 1);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (send_command(r, i) < 0) {
            finish(r, 1);
            return;
        }
    if (r->qualification.missing == 0)
        qualified(r);
}

static const struct session_events session_events = {
    .ready = on_ready,
    .message = on_message,
    .lost = on_lost,
    .returned = on_returned,
};

static int is_late(void *arg, size_t node)
{
    const struct run *r = arg;

    return standstill_is_late(r->standstill, node);
}

/* A command that hangs: its node is cut off, which ends it, and may return. */
static int end_overdue(struct run *r)
{
    unsigned most = r->o->retries > 0 ? r->o->retries : 1;
    const char *name;
    struct piece *p;

    while ((p = distribution_overdue(&r->distribution,
                                     (int64_t)(r->o->timeout_s * 1e9),
                                     TIMED_OUT, is_late, r))
           != NULL) {
        name = session_node(r->front.session, p->node)->name;
        if (p->failures >= most)
            return es_fail(r->err, ES_WORK, "see --timeout and --retries",
                           "%s: frame %ju, units %ju:%ju: %.100s still ran "
                           "after %g s",
                           name, (uintmax_t)r->distribution.frame.number,
                           (uintmax_t)p->slice.begin, (uintmax_t)p->slice.end,
                           r->o->command[0], r->o->timeout_s);
        notice("%s: units %ju:%ju still run after %g s", name,
               (uintmax_t)p->slice.begin, (uintmax_t)p->slice.end,
               r->o->timeout_s);
        session_drop(r->front.session, p->node);
    }
    return 0;
}

static void on_look(int fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    if ((r->phase == LOADING || r->phase == ENDING) && r->o->timeout_s > 0)
        programs_drop_late(&r->programs, (int64_t)(r->o->timeout_s * 1e9),
                           r->standstill);
    if (r->phase != WORKING || r->distribution.left == 0)
        return;
    if ((r->o->timeout_s > 0 && end_overdue(r) < 0)
        || run_meter_look(&r->meter, r->err) < 0
        || distribution_feed(&r->distribution, r->err) < 0)
        finish(r, 1);
}

static void on_soon(int fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    if (r->phase == WORKING && r->distribution.left > 0
        && distribution_feed(&r->distribution, r->err) < 0)
        finish(r, 1);
}

static int start_looking(struct run *r)
{
    struct timeval period = {0, LOOK_MS * 1000};

    r->look = event_new(r->front.base, -1, EV_PERSIST, on_look, r);
    r->soon = evtimer_new(r->front.base, on_soon, r);
    return r->look && r->soon && event_add(r->look, &period) == 0 ? 0 : -1;
}

static int open_session(struct run *r)
{
    struct session_setup setup = {
        .local = r->o->local.n,
        .local_speed = local_option_speeds(&r->o->local),
        .place.srun_args = r->o->srun,
    };

    return front_open(&r->front, r->config, &setup, &session_events, r);
}

static int start(struct run *r)
{
    if (front_begin(&r->front, r->err) < 0
        || front_catch(&r->front, "nothing is left running") < 0)
        return -1;
    if (start_looking(r) < 0)
        return es_no_memory(r->err);
    if (r->o->metrics == METRICS_OF_FILE
        && metrics_file_read(&r->metrics, r->o->metrics_file, r->err) < 0)
        return -1;
    if (receiving_open(&r->receiving, r->o->gather, !r->o->no_sync, r->err) < 0
        || work_open(&r->work, r->o, r->front.base, on_there, r, r->err) < 0
        || report_open(&r->report, r->o->report, r->err) < 0)
        return -1;
    r->receiving.journal = r->work.journal;
    return open_session(r);
}

/* --- the end -------------------------------------------------------------- */

/* Only a run whose nodes were measured says what its rates followed. */
static void keep_history(const struct run *r)
{
    if (r->o->metrics != METRICS_EQUAL && r->qualification.n > 1)
        (void)history_append(
            &r->history, r->o->command[0],
            (const double(*)[ELEMENTS])r->qualification.measured);
}

static int write_results(struct run *r, int rc)
{
    progress_stop(&r->progress);
    if (rc == 0)
        rc = report_summary(&r->report, &r->summary, r->err);
    if (report_close(&r->report, rc == 0 ? r->err : NULL) < 0)
        rc = -1;
    if (receiving_close(&r->receiving, rc == 0, rc == 0 ? r->err : NULL) < 0)
        rc = -1;
    if (rc == 0) {
        keep_history(r);
        progress_end(&r->progress, &r->summary);
    } else if (r->o->gather && r->receiving.frames > 0)
        notice("%ju whole frames are kept in %s.part",
               (uintmax_t)r->receiving.frames, r->o->gather);
    return rc;
}

static void clear(struct run *r)
{
    drain_stop(r->drain);
    metrics_cast_stop(&r->cast);
    front_close(&r->front);
    work_close(&r->work);
    standstill_destroy(r->standstill);
    programs_clear(&r->programs);
    qualification_clear(&r->qualification);
    metrics_file_clear(&r->metrics);
    history_clear(&r->history);
    run_meter_stop(&r->meter);
    distribution_clear(&r->distribution);
    determination_clear(&r->determination);
    job_load_adjuster_clear(&r->adjuster);
    if (r->look)
        event_free(r->look);
    if (r->soon)
        event_free(r->soon);
}

static int run_main(int argc, char **argv, struct es_error *err)
{
    struct run_options *o = calloc(1, sizeof *o);
    struct config config;
    struct run r = {.o = o, .config = &config, .err = err};
    int rc;

    if (!o)
        return es_no_memory(err);
    o->command = argv + 1;
    rc = options_parse(&command_run, o, argc, argv, err);
    if (rc == 0)
        rc = config_load(&config, NULL, err);
    if (rc == 0)
        rc = run_options_settle(o, &config, err);
    if (rc == 0) {
        r.summary.policy = o->policy->name;
        r.profile = *o->profile;
        if (o->profile_auto)
            profile_auto(&r.profile, &config, o->command[0]);
        if (start(&r) < 0)
            finish(&r, 1);
        rc = write_results(&r, front_run(&r.front));
        clear(&r);
        front_end(&r.front);
    }
    free(o);
    return rc < 0 ? -1 : 0;
}

const struct subcommand command_run = {
    .name = "run",
    .brief = "run CMD over a range of units on all nodes, evenly",
    .usage = "evenstep run [options] WORK -- CMD [ARG...]",
    .about =
        "Cut the units of a frame into one slice a node, sized to what each node can do,\n"
        "run CMD once a slice on all nodes of the allocation, and re-size the slices\n"
        "from frame to frame so that all nodes finish together.\n"
        "\n"
        "In CMD {begin} {end} {count} {frame} {label} {node} are filled in; its\n"
        "environment has EVENSTEP_BEGIN, _END, _COUNT, _FRAME, _LABEL, _NODE.  What\n"
        "it prints comes out in the order of the units, whichever node did them.\n",
    .option = run_options_table,
    .end =
        "exit status: 0 done, 1 the work failed, 2 usage, 3 no Slurm or agents\n",
    .operands = "[CMD...]",
    .stops = 1,
    .run = run_main,
};
