/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_nodes.h"
#include "launcher/base/notice.h"
#include "launcher/run/run_early.h"
#include "launcher/run/run_frames.h"
#include "launcher/run/run_join.h"
#include "launcher/run/run_known.h"
#include "launcher/run/run_slots.h"
#include "launcher/run/run_state.h"
#include "launcher/run/run_tasks.h"
#include "launcher/session/qualification_rank.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- run need ------------------------------------------------------------------ */

/* Nodes that have not what the profile needs (profile { need }). */

/* each: room for one a node. */
static int take_slots(struct run *r, uint32_t each[])
{
    size_t n = r->slots.nodes, left = 0;
    int taken = 0;

    for (size_t i = 0; i < n; i++) {
        each[i] = (uint32_t)slots_of(&r->slots, i);
        if (each[i] > 0 && !session_is_vacant(r->front.session, i)
            && qualification_lacks(&r->qualification, i)) {
            each[i] = 0;
            taken = 1;
        }
        left += each[i];
    }
    if (left == 0)
        return es_fail(
            r->err, ES_ENV, "give nodes that have it, or another --profile",
            "no node has what the profile %s needs", r->profile.name);
    if (!taken)
        return 0;
    slots_clear(&r->slots);
    return slots_init(&r->slots, n, each) < 0 ? es_no_memory(r->err) : 0;
}

/* All nodes have been measured and their slots are known: take the slots of
 * those that have less than the profile needs, with a line each, so that they
 * get nothing.  Of what is not known a node counts as having enough.  0, or -1
 * and r->err filled: no node is left, or no memory. */
static int run_need_check(struct run *r)
{
    uint32_t *each = calloc(r->slots.nodes, sizeof *each);
    int rc = each ? take_slots(r, each) : es_no_memory(r->err);

    free(each);
    return rc;
}

/* --- the way to the first frame ------------------------------------------- */

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
    if (r->o->persistent && !r->o->dry_run
        && programs_await_start(
               &r->programs, run_listening_start(&r->listening, r->front.base,
                                                 r->front.session, r->config))
               < 0) {
        run_finish(r, es_no_memory(r->err));
        return;
    }
    if (r->programs.missing == 0)
        run_frames_begin(r);
}

static void write_directory(const struct run *r, struct writer *w, size_t node)
{
    struct msg_put m = {.content = NULL};

    session_step_name(r->front.session, node, m.dir);
    msg_write_put(w, &m);
}

static void make_directory(struct run *r, size_t node)
{
    struct writer w = {0};

    write_directory(r, &w, node);
    session_send(r->front.session, node, MSG_PUT, &w);
}

static int make_directories(struct run *r)
{
    size_t n = session_size(r->front.session);
    struct writer *w = calloc(n, sizeof *w);

    for (size_t i = 0; w && i < n; i++)
        write_directory(r, &w[i], i);
    if (w)
        session_send_each(r->front.session, MSG_PUT, w, NULL);
    free(w);
    return w ? 0 : -1;
}

static int start_cast(struct run *r)
{
    return metrics_cast_start(&r->cast, r->front.base, &r->qualification,
                              &r->config->bcast, NULL, begin_frames, r, r->err);
}

/* On this machine it is linked first: should we and an agent both make the step's
 * directory, there may be two (user_dir.h). */
static int tell_metrics(struct run *r)
{
    int is_local = session_is_local(r->front.session);
    int rc = is_local ? start_cast(r) : 0;

    if (rc < 0)
        return -1;
    if (make_directories(r) < 0)
        return es_no_memory(r->err);
    if (!r->o->dry_run
        && run_power_start(&r->power, r->front.session, &r->slots,
                           &r->config->power, r->o->power)
               < 0)
        return es_no_memory(r->err);
    if (!r->o->dry_run) {
        run_energy_start(&r->energy, r->front.base, r->front.session, r->config,
                         run_wants_guard(r) || run_wants_energy(r));
        r->report.energy = &r->energy;
    }
    if (r->early.awaited) { /* which are to keep nobody */
        run_known_put(r, RUN_KNOWN_ALL);
        begin_frames(r);
        return 0;
    }
    if (!is_local)
        rc = start_cast(r);
    if (rc > 0)
        begin_frames(r);
    return rc;
}

static void on_brought(void *arg, int failed)
{
    struct run *r = arg;

    if (r->phase != BRINGING)
        return;
    r->phase = TELLING;
    if (failed || tell_metrics(r) < 0)
        run_finish(r, 1);
}

static void bring_files(struct run *r)
{
    r->phase = BRINGING;
    if (r->to_bring.n == 0 || r->o->dry_run)
        on_brought(r, 0);
    else if (bringing_start(&r->bringing, r->front.base, r->front.session, r->o,
                            &r->to_bring, &r->config->bcast, on_brought, r,
                            r->err)
             < 0)
        run_finish(r, 1);
}

/* Where no node is left: is one started again, or measured, as it is back? */
static int one_comes(void *arg)
{
    const struct run *r = arg;
    size_t n = session_size(r->front.session);

    if (session_is_rescued(r->front.session))
        return 1;
    for (size_t i = 0; i < n; i++)
        if (session_node(r->front.session, i)->present
            && qualification_is_again(&r->qualification, i))
            return 1;
    return 0;
}

void run_nodes_qualified(struct run *r)
{
    const struct qualification *q = &r->qualification;
    int rc;

    if (r->phase != QUALIFYING || r->asked.missing > 0)
        return;
    rc = run_early_begin(r);
    if (rc <= 0) {
        if (rc < 0)
            run_finish(r, 1);
        return;
    }
    r->summary.rank_by = r->config->probe.rank_by;
    rank_by_elements(r->summary.elements, q->metric, &r->profile.profile,
                     q->known);
    if (run_need_check(r) < 0 || run_slots_open(r) < 0
        || run_slots_rank(r) < 0) {
        run_finish(r, 1);
        return;
    }
    distribution_set_comes(r->distribution, one_comes, r);
    bring_files(r);
}

/* Each piece in a folder of its own? */
static int is_apart(const struct run_options *o)
{
    return o->workdir && strcmp(o->workdir, "tmp") == 0;
}

/* Or to all of them. */
static void tell(struct run *r,
                 size_t node,
                 enum protocol_type type,
                 struct writer *w)
{
    if (node == RUN_ALL_NODES)
        session_send_all(r->front.session, type, w);
    else
        session_send(r->front.session, node, type, w);
}

/* What each slice makes, and whether in a folder of its own. */
static void send_files(struct run *r, size_t node)
{
    const struct run_options *o = r->o;
    struct msg_files m = {
        .apart = is_apart(o) ? 1 : 0,
        .here = !piece_files_come(&r->work.files),
        .all = o->lines && !o->may_leave_lines && !o->each,
        .n = o->n_returned,
        .name = (char **)o->returned,
    };
    struct writer w = {0};

    if (!m.apart && m.n == 0 && !o->lines)
        return;
    for (unsigned i = 0; i < sizeof m.ok; i++)
        m.ok[i] =
            ok_status_is(&o->ok_status, &(struct msg_done){.status = i}) != 0;
    msg_write_files(&w, &m);
    tell(r, node, MSG_FILES, &w);
}

/* Where commands run; NULL with errno. */
static const char *find_folder(const struct run *r, char dir[], size_t size)
{
    if (!r->o->workdir)
        return getcwd(dir, size);
    snprintf(dir, size, "%s", r->o->workdir[0] == '/' ? r->o->workdir : "");
    return dir;
}

/* Has a command a way from here, which in a folder that is empty it has not? */
static int is_from_here(const struct run *r, char *const command[])
{
    return is_apart(r->o) && command[0][0] != '/' && strchr(command[0], '/');
}

/* Its words with the whole path; *whole is to be freed, too.  NULL with
 * errno. */
static char **from_here(char *const command[], char **whole)
{
    char here[4096], **words;
    size_t n = 0;

    while (command[n])
        n++;
    words = calloc(n + 1, sizeof *words);
    if (words && getcwd(here, sizeof here)
        && asprintf(whole, "%s/%s", here, command[0]) >= 0) {
        memcpy(words, command, n * sizeof *words);
        words[0] = *whole;
        return words;
    }
    *whole = NULL;
    free(words);
    return NULL;
}

/* Of a type of work; the first is the COMMAND. */
static int write_type(struct run *r, size_t type, struct writer *w)
{
    const struct work_type *t = &r->o->types.type[type];
    struct msg_command m = {.kind = r->o->each         ? COMMAND_TASKS
                                    : r->o->persistent ? COMMAND_PERSISTENT
                                                       : COMMAND_SLICE};
    char *whole = NULL, **own = t->command, **tasks = NULL;

    if (r->o->each)
        own = tasks = run_tasks_command(r);
    else if (is_from_here(r, t->command))
        own = from_here(t->command, &whole);
    if (!own || (!whole && type == 0 && !find_folder(r, m.dir, sizeof m.dir)))
        return -1;
    m.argv = own;
    memcpy(m.program, r->o->exec.destination, sizeof m.program);
    memcpy(m.libs, r->to_bring.libs, sizeof m.libs);
    if (type == 0)
        msg_write_command(w, &m);
    else
        msg_write_work(w, t->name, own);
    if (whole)
        free(own);
    free(whole);
    free(tasks);
    return 0;
}

static int send_type(struct run *r, size_t node, size_t type)
{
    struct writer w = {0};

    if (write_type(r, type, &w) < 0)
        return es_fail(r->err, ES_USAGE, "go to a directory that is there",
                       "no working directory: %s", strerror(errno));
    if (w.len > MESSAGE_BODY_MAX) {
        writer_clear(&w);
        return es_fail(r->err, ES_USAGE, "put it into a script",
                       "the command is over 8 MiB");
    }
    tell(r, node, type == 0 ? MSG_COMMAND : MSG_WORK, &w);
    return 0;
}

int run_nodes_command(struct run *r, size_t node)
{
    send_files(r, node);
    for (size_t t = 0; t < r->o->types.n; t++)
        if (send_type(r, node, t) < 0)
            return -1;
    return 0;
}

/* --- they leave and return ------------------------------------------------ */

/* The slots of a node stand alike. */
static enum standing standing(const struct run *r, size_t node)
{
    const struct dispatch *held = distribution_dispatch(r->distribution);

    if (slots_of(&r->slots, node) == 0)
        return STANDING_AWAY;
    return dispatch_node(held, r->slots.first[node])->standing;
}

static int has_left(const struct run *r, size_t node)
{
    return standing(r, node) == STANDING_LEAVING
           && distribution_out(r->distribution, node) == 0;
}

void run_nodes_let_go(struct run *r, size_t node)
{
    struct writer nothing = {0};

    if (has_left(r, node))
        session_send(r->front.session, node, MSG_LEAVE, &nothing);
}

/* Slurm wants the node free.  The last one stays: a node that drains lets its
 * jobs end. */
void run_nodes_drain(void *arg, const char *name)
{
    struct run *r = arg;
    size_t node = session_size(r->front.session), others = 0;

    if (r->phase != WORKING)
        return;
    for (size_t i = 0; i < session_size(r->front.session); i++)
        if (strcmp(session_node(r->front.session, i)->name, name) == 0)
            node = i;
        else
            others += standing(r, i) < STANDING_LEAVING
                      && !run_early_is_awaited(r, i);
    if (node == session_size(r->front.session) || others == 0
        || standing(r, node) >= STANDING_LEAVING)
        return;
    notice("%s drains: it leaves, and the other nodes do its part", name);
    if (distribution_retire(r->distribution, node, r->err) < 0)
        run_finish(r, 1);
    run_nodes_let_go(r, node);
}

static void program_lost(struct run *r, size_t node)
{
    if (!programs_heard(&r->programs, node))
        return;
    if (r->phase == LOADING)
        run_frames_begin(r);
    else
        run_finish(r, 0);
}

void run_nodes_lost(void *arg, size_t node, const char *why)
{
    struct run *r = arg;
    const char *name = session_node(r->front.session, node)->name;

    if (run_join_lost(r, node))
        notice("%s has left: the other nodes do its part", name);
    else if (r->phase == WORKING && has_left(r, node))
        notice("%s has left", name);
    else if (r->overdue[node])
        notice("%s is cut off, as --timeout says: the other nodes do its part",
               name);
    else
        notice("%s is lost (%s): the other nodes do its part", name, why);
    run_early_lost(r, node);
    run_power_lost(&r->power, node);
    listening_table_lost(&r->listening.table, node, why);
    if (r->phase == QUALIFYING) {
        qualification_lost(&r->qualification, node);
        if (run_slots_lost(r, node) < 0)
            run_finish(r, 1);
        run_nodes_qualified(r);
    } else if (r->phase == BRINGING) {
        broadcast_lost(&r->bringing.broadcast, node, why);
    } else if (r->phase == TELLING) {
        broadcast_lost(&r->cast.broadcast, node, why);
    } else if (r->phase == LOADING || r->phase == ENDING) {
        program_lost(r, node);
    } else if ((r->o->each && r->phase == WORKING
                && run_tasks_rescue(r, node) < 0)
               || distribution_lost(r->distribution, node, r->err) < 0) {
        run_finish(r, 1);
    } else if (r->phase == WORKING
               && (distribution_is_done(r->distribution)
                   || distribution_wants_frame(r->distribution))) {
        run_frames_next(r); /* its commands have failed at what was left */
    }
}

/* What all nodes are told, and it has not been. */
static int tell_node(struct run *r, size_t node)
{
    run_slots_again(r, node);
    run_meter_order(&r->meter, node);
    make_directory(r, node);
    run_power_returned(&r->power, node);
    run_energy_returned(&r->energy, node);
    return run_nodes_command(r, node);
}

/* Where nobody is asked, what is known of it holds. */
static void ask_again(struct run *r, size_t node)
{
    if (!qualification_again(&r->qualification, node) && r->phase == WORKING)
        run_join_measured(r, node);
}

/* One that has not got the files that commands need may run none. */
static int leave_out(struct run *r, size_t node)
{
    struct writer nothing = {0};

    if (r->to_bring.n == 0 || r->phase < BRINGING)
        return 0;
    notice("%s is back, without the files of --%s: it is not taken in",
           session_node(r->front.session, node)->name,
           r->to_bring.file[0].option);
    session_send(r->front.session, node, MSG_LEAVE, &nothing);
    return 1;
}

/* A node that was lost is back: it knows nothing. */
void run_nodes_returned(void *arg, size_t node)
{
    struct run *r = arg;

    if (r->phase == ENDING || leave_out(r, node))
        return;
    notice(!run_join_is_seat(r, node) ? "%s is back"
           : r->o->each               ? "%s joins"
                        : "%s joins: it gets its part from the next frame on",
           session_node(r->front.session, node)->name);
    r->overdue[node] = 0;
    if (tell_node(r, node) < 0)
        run_finish(r, 1);
    else
        ask_again(r, node);
}

void run_nodes_stranded(void *arg)
{
    struct run *r = arg;

    if (r->phase == WORKING)
        run_frames_feed(r); /* which says that none is left */
}

void run_nodes_came(void *arg, size_t node)
{
    struct run *r = arg;

    if (r->phase == ENDING)
        return;
    if (tell_node(r, node) < 0) {
        run_finish(r, 1);
        return;
    }
    ask_again(r, node);
    run_nodes_qualified(r);
}
