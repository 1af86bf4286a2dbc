/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep run: its begin and its end; see run_state.h for the rest.
 *
 * The run has three phases: the agents come (session), they are measured
 * (qualification) and told what all are (metrics_cast), the frames are done.
 * Where that can be (run_early.h) each node goes through the first two by itself.
 * Every end goes through run_finish().
 */
#include "launcher/base/named_files.h"
#include "launcher/base/notice.h"
#include "launcher/base/options.h"
#include "launcher/base/spool.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/exec/file_name.h"
#include "launcher/exec/template.h"
#include "launcher/run/command_fields.h"
#include "launcher/run/job_nodes.h"
#include "launcher/run/oversight.h"
#include "launcher/run/profile_auto.h"
#include "launcher/run/run_answers.h"
#include "launcher/run/run_comment.h"
#include "launcher/run/run_costs.h"
#include "launcher/run/run_early.h"
#include "launcher/run/run_failures.h"
#include "launcher/run/run_frames.h"
#include "launcher/run/run_join.h"
#include "launcher/run/run_known.h"
#include "launcher/run/run_limit.h"
#include "launcher/run/run_looks.h"
#include "launcher/run/run_nodes.h"
#include "launcher/run/run_options.h"
#include "launcher/run/run_slots.h"
#include "launcher/run/run_tasks.h"
#include "launcher/run/stdin_readers.h"
#include "launcher/run/task_feed.h"
#include "launcher/run/task_habits.h"
#include "launcher/run/task_need.h"
#include "launcher/run/task_source.h"
#include "launcher/run/tasks_option.h"
#include "pmix_bcast/clock.h"
#include "pmix_bcast/error.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- task add ------------------------------------------------------------------ */

/* Lines are added to a list of tasks that a run follows, or the list ends:
 * under a lock, so that several may do so at once, all or nothing. */

#define TAIL 256 /* bytes at a list's end in which the line that ends it is */

struct list { /* that grows */
    const char *path;
    int fd;
    int is_file;
    off_t size;
    int is_torn; /* its last line has no newline */
    int is_closed;
};

/* --- what is added -------------------------------------------------------- */

static int write_lines(struct task_reader *from, FILE *to, struct es_error *err)
{
    struct task_row row = {0};
    int rc;

    while ((rc = task_reader_next(from, &row, err)) > 0)
        if (rc == ROW_BARRIER) {
            (void)fputs(TASK_LINE_BARRIER "\n", to);
        } else {
            if (row.need.line > 0)
                task_need_print(to, &row.need);
            (void)(fwrite(row.value[0].at, 1, row.value[0].len, to)
                   + (size_t)fputc('\n', to));
        }
    free(row.value);
    return rc;
}

/* Read them whole: who waits for input holds no lock. */
static int read_lines(const char *lines,
                      int closes,
                      FILE *to,
                      struct es_error *err)
{
    struct task_sources s = {.commands = 1};
    struct task_reader *from = NULL;
    int rc = 0;

    if (lines) {
        rc = task_sources_file(&s, "--add", lines, err);
        from = rc == 0 ? task_reader_open(&s, 0, err) : NULL;
        rc = from ? write_lines(from, to, err) : -1;
        task_reader_close(from);
    }
    if (closes)
        (void)fputs(TASK_LINE_END "\n", to);
    return rc;
}

/* --- the list ------------------------------------------------------------- */

static int refuse(const struct list *l, const char *why, struct es_error *err)
{
    return es_fail(err, ES_USAGE,
                   "name the file of a list, as in: evenstep tasks --follow "
                   "FILE",
                   "%s: %s", l->path, why);
}

static int open_list(struct list *l, struct es_error *err)
{
    struct stat st;

    l->fd = stat(l->path, &st) == 0 && S_ISFIFO(st.st_mode)
                ? open(l->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                : open(l->path, O_RDWR | O_APPEND | O_CLOEXEC);
    if (l->fd < 0 && errno == ENXIO)
        return refuse(l, "no run follows this pipe", err);
    if (l->fd < 0 || fstat(l->fd, &st) < 0)
        return refuse(l, strerror(errno), err);
    l->is_file = S_ISREG(st.st_mode);
    if (!l->is_file && !S_ISFIFO(st.st_mode))
        return refuse(l, "is neither a file nor a named pipe", err);
    if (!l->is_file && fcntl(l->fd, F_SETFL, 0) < 0)
        return refuse(l, strerror(errno), err);
    return 0;
}

static void lock(const struct list *l)
{
    int rc;

    do
        rc = flock(l->fd, LOCK_EX);
    while (rc < 0 && errno == EINTR);
    if (rc < 0)
        notice("warning: %s: cannot be locked: %s: lines that others add at "
               "the same time may come between these",
               l->path, strerror(errno));
}

/* By its last line; the lock is held. */
static int look_at_end(struct list *l, struct es_error *err)
{
    static const char end[] = TASK_LINE_END;
    size_t n = sizeof end - 1, len;
    char tail[TAIL];
    struct stat st;
    ssize_t got;

    if (!l->is_file)
        return 0;
    if (fstat(l->fd, &st) < 0)
        return refuse(l, strerror(errno), err);
    l->size = st.st_size;
    got = pread(l->fd, tail, sizeof tail, l->size > TAIL ? l->size - TAIL : 0);
    if (got < 0)
        return refuse(l, strerror(errno), err);
    len = (size_t)got;
    l->is_torn = len > 0 && tail[len - 1] != '\n';
    while (len > 0 && isspace((unsigned char)tail[len - 1]))
        len--;
    l->is_closed = len >= n && memcmp(tail + len - n, end, n) == 0
                   && (len == n ? l->size <= TAIL : tail[len - n - 1] == '\n');
    return 0;
}

/* All or nothing. */
static int append(const struct list *l,
                  const char *text,
                  size_t len,
                  struct es_error *err)
{
    int rc = l->is_torn ? write_all(l->fd, "\n", 1) : 0;

    if (rc == 0)
        rc = write_all(l->fd, text, len);
    if (rc == 0)
        return 0;
    es_fail(err, ES_WORK, es_mend_file(errno), "%s: %s: nothing was added",
            l->path, strerror(errno));
    if (l->is_file && ftruncate(l->fd, l->size) < 0)
        notice("warning: %s: ends with a part of what was to be added: %s",
               l->path, strerror(errno));
    return -1;
}

static int add_text(struct list *l,
                    const char *text,
                    size_t len,
                    int closes,
                    struct es_error *err)
{
    lock(l);
    if (look_at_end(l, err) < 0)
        return -1;
    if (!l->is_closed)
        return append(l, text, len, err);
    if (closes && len == sizeof TASK_LINE_END) {
        notice("%s: has ended before", l->path);
        return 0;
    }
    return es_fail(
        err, ES_USAGE, "add to another list: nothing behind that line is run",
        "%s: has ended: \"" TASK_LINE_END "\" is its last line", l->path);
}

/*
 * Append the lines of a file ("-": standard input, read to its end first; NULL: none) to
 * the list at path, a file or a named pipe, and, if it closes, the line that ends it.
 * Comments and blank lines are left out; a last line of the list without a newline gets
 * one.  Fails with ES_USAGE where a line is no task, or the list is not there or has
 * ended, and with ES_WORK where it cannot be written.
 */
static int task_add(const char *path,
                    const char *lines,
                    int closes,
                    struct es_error *err)
{
    struct list l = {.path = path, .fd = -1};
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    int rc;

    if (!to)
        return es_no_memory(err);
    rc = read_lines(lines, closes, to, err);
    if (fclose(to) != 0 && rc == 0)
        rc = es_no_memory(err);
    if (rc == 0)
        rc = open_list(&l, err);
    if (rc == 0 && len == 0)
        notice("%s: no lines: nothing was added", lines);
    else if (rc == 0)
        rc = add_text(&l, text, len, closes, err);
    if (l.fd >= 0 && close(l.fd) < 0 && rc == 0)
        rc = es_fail(err, ES_WORK, es_mend_file(errno), "%s: %s", path,
                     strerror(errno));
    free(text);
    return rc;
}

/* --- run files ----------------------------------------------------------------- */

/* What `evenstep run` writes is not what it reads, of all files that
 * its command line names. */

struct checking {
    const struct run_options *o;
    struct named_files files;
    struct es_error *err;
};

/* --- files of pieces ------------------------------------------------------ */

static int check_name(struct checking *c,
                      const char *option,
                      const char *name,
                      const char *of,
                      const char *path)
{
    if (!path || strcmp(path, "-") == 0 || !file_name_may_be(name, path))
        return 0;
    return es_fail(c->err, ES_USAGE, "name it unlike that",
                   "--%s %.80s: a piece may have the file of %s, %.200s",
                   option, name, of, path);
}

static int check_names(struct checking *c, const char *of, const char *path)
{
    if (c->o->output && check_name(c, "stdout", c->o->output, of, path) < 0)
        return -1;
    for (uint32_t i = 0; i < c->o->n_returned; i++)
        if (check_name(c, "return", c->o->returned[i], of, path) < 0)
            return -1;
    return 0;
}

static int check_options(struct checking *c)
{
    for (const struct option *o = run_options_table; o->type != OPTION_END;
         o++) {
        const char *path = NULL;
        char of[40];

        if (o->file == OPTION_NO_FILE)
            continue;
        memcpy(&path, (const char *)c->o + o->offset, sizeof path);
        snprintf(of, sizeof of, "--%s", o->name);
        if (check_names(c, of, path) < 0)
            return -1;
    }
    for (uint32_t i = 0; c->o->output && i < c->o->n_returned; i++)
        if (file_name_clash(c->o->output, c->o->returned[i]))
            return es_fail(c->err, ES_USAGE, "name them unlike each other",
                           "--stdout and --return: %.80s may be one file",
                           c->o->output);
    return 0;
}

/* --- what is read --------------------------------------------------------- */

static int check_read(struct checking *c,
                      const char *option,
                      const char *what,
                      const char *path)
{
    char of[40];

    snprintf(of, sizeof of, "%s%s", option ? "--" : "", option ? option : what);
    if (named_files_read(&c->files, option, what, path, c->err) < 0)
        return -1;
    return check_names(c, of, path);
}

/* Behind an interpreter is the text of the program, or what it reads. */
static int looks_read(const char *word)
{
    struct stat st;

    return word && word[0] != '-' && strpbrk(word, "./")
           && stat(word, &st) == 0;
}

static int check_command(struct checking *c, char *const command[])
{
    if (!command[0])
        return 0;
    if (strchr(command[0], '/')
        && check_read(c, NULL, "the program", command[0]) < 0)
        return -1;
    return looks_read(command[1])
               ? check_read(c, NULL, "what the program reads", command[1])
               : 0;
}

/* SRC of SRC:DST. */
static int check_source(struct checking *c, const char *text)
{
    char source[DESTINATION_MAX];

    snprintf(source, sizeof source, "%.*s", (int)strcspn(text, ":"), text);
    return source[0] ? check_read(c, "bcast", NULL, source) : 0;
}

/* Beyond what options_parse() has compared: queues, what is brought, and the files
 * of pieces.  Both fail with ES_USAGE. */
static int run_files_check(const struct run_options *o, struct es_error *err)
{
    struct checking c = {.o = o, .err = err};

    if (named_files_of_options(&c.files, run_options_table, o, err) < 0
        || check_options(&c) < 0)
        return -1;
    for (size_t i = 0; i < o->n_queues; i++)
        if (check_read(&c, "queue", NULL, o->queue[i]) < 0)
            return -1;
    for (size_t i = 0; i < o->n_bcast; i++)
        if (check_source(&c, o->bcast[i]) < 0)
            return -1;
    return 0;
}

/* And the programs, when run_options_settle() has found them. */
static int run_files_check_programs(const struct run_options *o,
                                    struct es_error *err)
{
    struct checking c = {.o = o, .err = err};

    if (named_files_of_options(&c.files, run_options_table, o, err) < 0)
        return -1;
    for (size_t i = 0; i < o->types.n; i++)
        if (check_command(&c, o->types.type[i].command) < 0)
            return -1;
    return 0;
}

/* --- start ---------------------------------------------------------------- */

/* The queue may have something again. */
static void on_there(void *arg)
{
    struct run *r = arg;

    if (r->phase != WORKING)
        return;
    if (distribution_open(r->distribution) > 0)
        run_frames_grow(r);
    if (r->phase == WORKING && r->idle)
        run_frames_ask(r);
}

static int wants_ring(const struct run *r)
{
    int wants = qualification_wants_ring(&r->profile);

    for (size_t t = 1; t < r->o->types.n; t++)
        wants |= qualification_wants_ring(&r->o->types.type[t].profile);
    return wants;
}

static void set_qualification(struct run *r)
{
    r->qualify = (struct qualification_setup){
        .source = r->o->metrics,
        .file = &r->metrics,
        .file_name = r->o->metrics_file,
        .probe = &r->config->probe,
        .profile = &r->profile,
        .sparing = r->o->metrics == METRICS_PROBE && !r->o->profile_auto
                   && !r->o->works, /* which learn from them all */
        .ring = r->o->metrics == METRICS_PROBE && wants_ring(r),
    };
}

static int init_types(struct run *r, size_t nodes)
{
    for (size_t t = 0; t < r->o->types.n; t++)
        if (history_init(&r->type[t].history, nodes) < 0)
            return -1;
    return 0;
}

/* What takes each line for a unit takes the header for one, too, in each piece. */
static void tell_header(const struct run_options *o)
{
    char *const *word = o->command;
    const char *text = word[0], *read, *body;

    if (o->record.header == 0 || !text)
        return;
    if (word[1] && word[2] && strcmp(word[1], "-c") == 0)
        text = word[2] + strspn(word[2], " \t\n");
    read = strstr(text, "read ");
    body = strstr(text, "do");
    if (strncmp(text, "xargs", 5) == 0
        || (strncmp(text, "while ", 6) == 0 && read && (!body || read < body)))
        notice("--header: each piece begins with the header, which \"%.5s\" "
               "takes for a unit: read it before, as in sh -c \"read -r "
               "header; %.5s ...\"",
               text, text);
}

static void on_ready(void *arg)
{
    struct run *r = arg;
    size_t n = session_size(r->front.session);

    r->phase = QUALIFYING;
    r->overdue = calloc(n, 1);
    if (r->o->local.n == 0 && r->config->slurm.drain_interval_s > 0)
        r->drain = drain_watch(r->front.base, r->config->slurm.drain_interval_s,
                               run_nodes_drain, r);
    r->standstill = standstill_create(r->front.session);
    if (!r->standstill || !r->overdue
        || programs_init(&r->programs, r->front.session, r->front.base) < 0
        || init_types(r, n) < 0) {
        run_finish(r, es_no_memory(r->err));
        return;
    }
    set_qualification(r);
    if (!r->o->metrics_now)
        job_nodes_find(&r->node_history, &r->qualify, r->front.session);
    if (run_slots_ask(r) < 0
        || qualification_start(&r->qualification, r->front.session, &r->qualify,
                               r->err)
               < 0) {
        run_finish(r, 1);
        return;
    }
    if (!r->o->each)
        oversight_tell_command(r->o);
    if (r->o->lines && !r->o->persistent && !r->o->each)
        stdin_readers_tell(r->o->command, lines_are_open(&r->work.lines));
    if (!r->o->each)
        tell_header(r->o);
    if (!r->o->dry_run && run_nodes_command(r, RUN_ALL_NODES) < 0) {
        run_finish(r, 1);
        return;
    }
    run_nodes_qualified(r);
}

static const struct session_events session_events = {
    .ready = on_ready,
    .came = run_nodes_came,
    .message = run_answers_message,
    .lost = run_nodes_lost,
    .returned = run_nodes_returned,
    .stranded = run_nodes_stranded,
};

static int open_session(struct run *r)
{
    struct session_setup setup = {
        .local = r->o->local.n,
        .local_speed = local_option_speeds(&r->o->local),
        .place.srun_args = r->o->srun,
        .guard = run_wants_guard(r),
        .energy = run_wants_energy(r),
        .seats = (size_t)r->o->joinable,
        .spare = 1,
        .early = run_early_may(r),
    };

    r->early.since_ns = clock_ns();
    return front_open(&r->front, r->config, &setup, &session_events, r);
}

static int start(struct run *r)
{
    if (front_is_alone(r->o->local.n > 0, r->err) < 0
        || front_begin(&r->front, r->err) < 0
        || front_catch(&r->front, "nothing is left running") < 0)
        return -1;
    r->failures.words = unit_words_of(r->o->lines ? &r->o->record : NULL);
    if (r->o->each) {
        r->failures.words = (struct unit_words){"task", "tasks", 1};
        r->failures.task = run_tasks_name;
        r->failures.arg = r;
    }
    if (run_looks_start(r) < 0)
        return es_no_memory(r->err);
    if (run_limit_start(r) < 0)
        return -1;
    if (r->o->metrics == METRICS_OF_FILE
        && metrics_file_read(&r->metrics, r->o->metrics_file, r->err) < 0)
        return -1;
    if (bring_list_open(&r->to_bring, r->o, &r->config->bcast, r->err) < 0)
        return -1;
    if (receiving_open(&r->receiving, r->o->gather, !r->o->no_sync, r->err) < 0
        || work_open(&r->work, r->o, r->front.base, on_there, r, r->err) < 0
        || front_has_nodes(r->o->local.n > 0, r->err) < 0
        || report_open(&r->report, r->o->report, r->err) < 0
        || work_look(&r->work, r->err) < 0 /* and the report tells of it */
        || joblog_open(&r->joblog, r->o->joblog,
                       r->o->resume || r->o->resume_failed, r->o->command,
                       r->o->each, r->err)
               < 0)
        return -1;
    r->joblog.types = &r->o->types;
    r->joblog.lines = r->o->lines ? &r->work.lines : NULL;
    r->receiving.journal = r->work.journal;
    r->receiving.unordered = r->o->unordered;
    r->receiving.elsewhere = r->o->output != NULL;
    return open_session(r);
}

/* --- the end -------------------------------------------------------------- */

/* Only a run whose nodes were measured says what its rates followed. */
static void keep_history(const struct run *r)
{
    if (r->o->metrics == METRICS_EQUAL || r->qualification.n <= 1)
        return;
    for (size_t t = 0; t < r->o->types.n; t++)
        (void)history_append(
            &r->type[t].history, r->o->types.type[t].command[0],
            (const double(*)[ELEMENTS])r->qualification.measured);
}

static const char *status(const struct run *r, int rc)
{
    if (rc < 0)
        return r->err->kind == ES_TIME ? "unfinished" : "failed";
    return r->failures.n == 0 ? "done" : "incomplete";
}

/* What of a run that did not come to its end is not lost.  One that --resume is to
 * go on with, as its time was up, has all in its journal. */
static void keep_remains(struct run *r)
{
    if (!r->o->dry_run && !(r->work.journal && r->err->kind == ES_TIME))
        remains_begin(&r->remains, &r->receiving, &r->failures.words,
                      r->is_unkept ? NULL : r->o->journal,
                      work_frames(&r->work));
    run_frames_report(r);
}

/* How it ended, and if it has failed how far it came. */
static int write_report(struct run *r, int rc)
{
    r->summary.left_out = r->failures.units;
    r->summary.status = status(r, rc);
    if (rc < 0)
        keep_remains(r);
    if (report_summary(&r->report, &r->summary, rc == 0 ? r->err : NULL) < 0)
        rc = -1;
    return rc;
}

static void tell_kept(const struct run *r)
{
    if (r->receiving.path && r->receiving.frames > 0 && r->remains.holes == 0)
        notice("%ju whole frames are kept in %s",
               (uintmax_t)r->receiving.frames, r->receiving.path);
    if (r->work.journal && r->err->kind == ES_WORK)
        notice("what is done is kept in %s: --resume goes on with it",
               r->o->journal);
}

/* The run ends early, and r->err says why. */
static void rescue_tasks(struct run *r)
{
    struct es_error later = {0}, *why = r->err;

    r->err = &later;
    if (run_tasks_rescue(r, RUN_ALL_NODES) < 0)
        notice_error("evenstep", &later);
    r->err = why;
}

static int write_results(struct run *r, int rc)
{
    int keeps;

    progress_stop(&r->progress);
    if (rc < 0 && r->o->each)
        rescue_tasks(r);
    rc = write_report(r, rc);
    if (report_close(&r->report, rc == 0 ? r->err : NULL) < 0)
        rc = -1;
    keeps = (r->remains.to && remains_end(&r->remains)) || rc == 0
            || r->receiving.frames > 0;
    if (receiving_close(&r->receiving, keeps, rc == 0 ? r->err : NULL) < 0)
        rc = -1;
    if (r->o->dry_run)
        return rc;
    oversight_tell_stdin(r->o, &r->told_stdin);
    if (r->start_ns > 0 && rc == 0)
        work_tell_changes(&r->work);
    if (r->front.session && r->start_ns > 0)
        run_comment_tell(r->front.session,
                         r->o->job_comment || r->config->slurm.job_comment,
                         &r->summary, r->distribution);
    if (rc == 0) {
        piece_files_close(&r->work.files);
        keep_history(r);
        if (run_early_is_waiting(r))
            run_known_keep(r); /* else it was kept when all were known */
        run_costs_keep(r);
        run_frames_tell_idlers(r);
        progress_end(&r->progress, &r->summary);
        if (r->o->report && strcmp(r->o->report, "-") != 0)
            notice("`evenstep report %s` prints more", r->o->report);
        if (r->front.session)
            run_slots_tell(r);
        rc = run_failures_end(r);
    } else {
        failures_list(&r->failures);
        tell_kept(r);
    }
    return rc;
}

static void clear(struct run *r)
{
    drain_stop(r->drain);
    metrics_cast_stop(&r->cast);
    run_listening_stop(&r->listening);
    bringing_stop(&r->bringing);
    bring_list_clear(&r->to_bring);
    run_join_end(r);
    run_tasks_clear(&r->tasks);
    front_close(&r->front);
    run_join_clear(r);
    run_early_clear(r);
    work_close(&r->work);
    joblog_close(&r->joblog);
    standstill_destroy(r->standstill);
    programs_clear(&r->programs);
    qualification_clear(&r->qualification);
    node_history_clear(&r->node_history);
    metrics_file_clear(&r->metrics);
    for (size_t t = 0; t < r->o->types.n; t++) {
        history_clear(&r->type[t].history);
        job_load_adjuster_clear(&r->adjuster[t]);
    }
    run_account_clear(&r->account);
    run_meter_stop(&r->meter);
    run_top_stop(&r->top);
    run_power_stop(&r->power);
    run_energy_stop(&r->energy);
    run_slots_clear(r);
    distribution_destroy(r->distribution);
    determination_clear(&r->determination);
    run_looks_stop(r);
    run_limit_close(r);
    free(r->overdue);
    free(r->idlers.why);
}

/* Nobody has named a policy: what pieces cost decides, once that is known. */
static int is_by_cost(const struct run_options *o)
{
    return !o->policy_text && !o->profile->policy[0]
           && o->pieces == DISPATCH_BY_COST;
}

static void fit_profiles(struct run *r, struct run_options *o)
{
    for (size_t t = 0; t < o->types.n; t++) {
        struct work_type *type = &o->types.type[t];

        if (type->profile_auto)
            profile_auto(&type->profile, r->config, type->command[0]);
    }
    r->profile = o->types.type[0].profile;
}

/* o->each: what its tasks are.  1: they are printed, and that is all. */
static int settle_tasks(struct run_options *o, struct es_error *err)
{
    if (!o->each)
        return 0;
    if (front_is_alone(o->local.n > 0, err) < 0)
        return -1; /* nor does it set a journal aside */
    if (tasks_option_settle(o, err) < 0)
        return -1;
    if (!o->dry_run)
        return 0;
    return tasks_option_print(o, err) < 0 ? -1 : 1;
}

static int run_parsed(struct run_options *o, struct es_error *err)
{
    struct config config;
    struct run r = {.o = o, .config = &config, .err = err};
    int rc = settle_tasks(o, err);

    if (rc == 0)
        rc = run_files_check(o, err);
    if (rc == 0)
        rc = config_load(&config, NULL, err);
    if (rc == 0)
        rc = run_options_settle(o, &config, err);
    if (rc == 0 && !o->each)
        rc = command_fields_settle(o, err);
    if (rc == 0)
        rc = run_files_check_programs(o, err);
    if (rc == 0) {
        r.summary.policy = is_by_cost(o) ? REPORT_BY_COST : o->policy_name;
        fit_profiles(&r, o);
        if (start(&r) < 0)
            run_finish(&r, 1);
        rc = write_results(&r, front_run(&r.front));
        clear(&r);
        front_end(&r.front);
    }
    return rc < 0 ? -1 : 0;
}

static void clear_options(struct run_options *o)
{
    work_types_clear(&o->types);
    template_free(o->renamed);
    task_feed_close(o->feed);
    free(o);
}

/* Of tasks the first operand is their list, and there is no command. */
static int parse_and_run(int is_tasks,
                         int argc,
                         char **argv,
                         struct es_error *err)
{
    struct run_options *o = calloc(1, sizeof *o);
    int rc;

    if (!o)
        return es_no_memory(err);
    o->is_tasks = o->each = is_tasks;
    o->command = argv + 1 + is_tasks;
    rc = options_parse(is_tasks ? &command_tasks : &command_run, o, argc, argv,
                       err);
    if (rc == 0 && is_tasks)
        o->lines = argv[1];
    if (rc == 0 && (o->add || o->close))
        rc = task_add(argv[1], o->add, o->close, err);
    else if (rc == 0)
        rc = run_parsed(o, err);
    clear_options(o);
    return rc < 0 ? -1 : 0;
}

static int run_main(int argc, char **argv, struct es_error *err)
{
    return parse_and_run(0, argc, argv, err);
}

static int tasks_main(int argc, char **argv, struct es_error *err)
{
    return parse_and_run(1, argc, argv, err);
}

const struct subcommand command_tasks = {
    .name = "tasks",
    .brief = "run the command lines of a file, each by a process of its own",
    .usage = "evenstep tasks [options] FILE|-\n"
             "       evenstep tasks [--add LINES|-] [--close] FILE",
    .about =
        "Run each line of FILE (-: standard input) as a command line of its own, on all\n"
        "cores of the job's nodes or, outside of a job, of this machine.  Blank lines and\n"
        "those that begin with # are none.  One that fails has failed alone.\n"
        "\n"
        "With --follow FILE may grow while tasks run: --add appends lines to it, and\n"
        "--close ends it.\n"
        "\n"
        "What tasks print comes in the order of the lines.  A journal beside FILE keeps\n"
        "what is done: --resume goes on with it, --resume-failed tries again what failed.\n",
    .option = run_options_table,
    .end =
        "exit status: 0 done, 1 tasks have failed, 2 usage, 3 no Slurm or agents,\n"
        "             4 not finished: time is up, or SIGTERM\n",
    .often =
        " slots results joblog retries timeout halt resume resume-failed follow dry-run ",
    .examples = "  evenstep tasks cmds.txt\n"
                "  evenstep tasks -j 8 --results out --retries 1 cmds.txt\n"
                "  evenstep tasks --resume-failed cmds.txt\n",
    .operands = "FILE",
    .without =
        " policy threshold pieces profile range lines record recstart recend header may-leave-lines queue "
        "works repeat grain each arg-file colsep max-args xargs "
        "arg-sep ahead meter power bisect overlap persistent replace "
        "reads-env exec stdout return ",
    .elsewhere = "evenstep run has it; with --each its units are tasks",
    .habit = task_habits,
    .run = tasks_main,
};

const struct subcommand command_run = {
    .name = "run",
    .brief = "run CMD over a range of units on all nodes, evenly",
    .usage = "evenstep run [options] WORK -- CMD [ARG...]",
    .about =
        "Divide the units of a frame into one slice per node, sized to what each node can\n"
        "do, run CMD once per piece of a slice on all nodes of the allocation, and resize\n"
        "the slices from frame to frame so that all nodes finish together.  A piece has\n"
        "one unit or many.\n"
        "\n"
        "In CMD {begin} {end} {count} {frame} {slot} {label} {node} are replaced.  A\n"
        "piece has the units from {begin} up to, not with, {end}; {{end}} keeps a brace.\n"
        "Its environment has EVENSTEP_BEGIN, _END, _COUNT, _FRAME, _SLOT, _LABEL, _NODE.\n"
        "Output comes in the order of the units, whichever node did them.\n",
    .option = run_options_table,
    .end =
        "exit status: 0 done, 1 the work failed, 2 usage, 3 no Slurm or agents,\n"
        "             4 not finished: time is up, or SIGTERM\n",
    .often =
        " range lines each slots stdout journal resume keep-going report dry-run local ",
    .examples =
        "  evenstep run --range 0:1000 -- ./render {begin} {end}\n"
        "  evenstep run --lines reads.fq --record 4 -- ./align >aligned\n"
        "  evenstep run --each -- ./simulate {1} {2} ::: a b c ::: 1 2 3\n",
    .operands = "[CMD...]",
    .without = " add close ",
    .elsewhere = "evenstep tasks has it",
    .habit = task_habits,
    .stops = 1,
    .run = run_main,
};
