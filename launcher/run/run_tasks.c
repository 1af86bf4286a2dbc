/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_tasks.h"
#include "launcher/base/notice.h"
#include "launcher/exec/task_words.h"
#include "launcher/run/run_failures.h"
#include "launcher/run/task_results.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- task folder --------------------------------------------------------------- */

/* --results DIR: a folder for each task, as GNU parallel has it, with
 * the files stdout, stderr and seq.
 *
 * The folder is called by the task's values, DIR/1/VALUE1/2/VALUE2, in which '/' is
 * \_ and a backslash, a tab are \\, \t; where a value is too long for the name of a
 * file, it is #SEQ.  Files of before are written over. */

#define PATH_MOST 4096u

/* A value as the name of a folder; 0, or -1: it is too long. */
static int name_of(char name[NAME_MAX + 1], const char *value)
{
    static const char plain[] = "\\/\t", *const code[] = {"\\\\", "\\_", "\\t"};
    size_t n = 0;

    for (; *value; value++) {
        const char *at = strchr(plain, *value);
        const char *as = at ? code[at - plain] : (char[]){*value, '\0'};
        size_t len = strlen(as);

        if (n + len > NAME_MAX)
            return -1;
        memcpy(name + n, as, len);
        n += len;
    }
    name[n] = '\0';
    return n > 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 ? 0 : -1;
}

/* Add "/NAME" and make that folder. */
static int enter(char path[PATH_MOST], const char *name)
{
    size_t n = strlen(path);

    if (n + strlen(name) + 16 > PATH_MOST) { /* room for a file in it */
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(path + n, PATH_MOST - n, "%s%s", n > 0 ? "/" : "", name);
    return mkdir(path, 0777) < 0 && errno != EEXIST ? -1 : 0;
}

static int write_file(const char *path,
                      const struct spool *of,
                      uint64_t from,
                      uint64_t to)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), rc = 0;
    char bytes[16384];

    while (fd >= 0 && rc == 0 && from < to) {
        size_t n =
            to - from < sizeof bytes ? (size_t)(to - from) : sizeof bytes;

        rc = spool_read(of, from, bytes, n);
        if (rc == 0)
            rc = write_all(fd, bytes, n);
        from += n;
    }
    return fd < 0 || close(fd) < 0 ? -1 : rc;
}

static int write_whole(const char *path, const char *text)
{
    struct spool s = {0};
    int rc = spool_add(&s, text, strlen(text));

    if (rc == 0)
        rc = write_file(path, &s, 0, spool_size(&s));
    spool_clear(&s);
    return rc;
}

static int enter_all(char path[PATH_MOST],
                     const char *dir,
                     const struct task_record *record,
                     uint64_t seq)
{
    char name[NAME_MAX + 1];

    path[0] = '\0';
    if (enter(path, dir) < 0)
        return -1;
    for (size_t i = 0; i < record->n; i++) {
        snprintf(name, sizeof name, "%zu", i + 1);
        if (enter(path, name) < 0)
            return -1;
        if (name_of(name, record->value[i]) < 0)
            snprintf(name, sizeof name, "#%ju", (uintmax_t)seq);
        if (enter(path, name) < 0)
            return -1;
    }
    return 0;
}

/* Write those of the i-th task of the results, which is number seq, from 1; out has the
 * results' stdout.  0, or -1 with errno and path, the file that could not be written. */
static int task_folder_write(const char *dir,
                             const struct task_record *record,
                             uint64_t seq,
                             const struct task_results *results,
                             size_t i,
                             char path[4096])
{
    char number[32];
    size_t n;

    if (enter_all(path, dir, record, seq) < 0)
        return -1;
    n = strlen(path);
    snprintf(number, sizeof number, "%ju", (uintmax_t)seq);
    strcpy(path + n, "/stdout");
    if (write_file(path, &results->out, task_results_out(results, i),
                   results->task[i].out)
        < 0)
        return -1;
    strcpy(path + n, "/stderr");
    if (write_file(path, &results->err, task_results_err(results, i),
                   results->task[i].err)
        < 0)
        return -1;
    strcpy(path + n, "/seq");
    return write_whole(path, number);
}

/* --- what runs ------------------------------------------------------------ */

static void add_word(char **words, size_t *n, char *word)
{
    words[(*n)++] = word;
}

/* "--ok=0,3" */
static void print_ok(const struct run_options *o, char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, "--ok=");

    for (unsigned i = 0; i < 256 && len < size; i++)
        if (o->ok_status.is_ok[i])
            len += (size_t)snprintf(text + len, size - len, "%s%u",
                                    text[len - 1] == '=' ? "" : ",", i);
}

char **run_tasks_command(struct run *r)
{
    const struct run_options *o = r->o;
    struct run_tasks *t = &r->tasks;
    size_t n = 0, words = 0;
    char **argv;

    while (!o->is_tasks && o->command[words])
        words++;
    argv = calloc(words + 10, sizeof *argv);
    if (!argv)
        return NULL;
    print_ok(o, t->ok, sizeof t->ok);
    snprintf(t->retries, sizeof t->retries, "--retries=%u", o->retries);
    snprintf(t->timeout, sizeof t->timeout, "--timeout=%.0f",
             o->task_timeout_s * 1e3);
    snprintf(t->delay, sizeof t->delay, "--delay=%.0f", o->delay_s * 1e3);
    snprintf(t->shell, sizeof t->shell, "--shell=%s", o->shell ? o->shell : "");
    add_word(argv, &n, t->ok);
    add_word(argv, &n, t->retries);
    if (o->lines)
        add_word(argv, &n, "--records");
    if (o->task_timeout_s > 0)
        add_word(argv, &n, t->timeout);
    if (o->delay_s > 0)
        add_word(argv, &n, t->delay);
    if (o->shell)
        add_word(argv, &n, t->shell);
    if (o->follow)
        add_word(argv, &n, (char *)"--patience=500");
    if (o->repeats)
        add_word(argv, &n, (char *)"--repeat");
    add_word(argv, &n, "--");
    if (words > 0)
        memcpy(argv + n, o->command, words * sizeof *argv);
    return argv;
}

/* --- a piece has come back ------------------------------------------------ */

static int fail_spool(struct run *r)
{
    return es_fail(r->err, ES_WORK, spool_mend(errno),
                   "cannot keep the output of a piece: %s", strerror(errno));
}

static int is_good(const struct run *r, const struct task_end *e)
{
    return e->signal == 0 && e->exec_errno == 0 && e->why == TASK_BY_ITSELF
           && r->o->ok_status.is_ok[e->status & 0xff];
}

static uint64_t count_good(const struct run *r)
{
    uint64_t n = 0;

    for (size_t i = 0; i < r->tasks.now.n; i++)
        n += (uint64_t)is_good(r, &r->tasks.now.task[i].end);
    return n;
}

/* All have failed, at a node where none has ended well: it may be the node's fault,
 * and another tries them. */
static int may_be_nodes_fault(const struct run *r,
                              size_t node,
                              const struct piece *p)
{
    return r->o->local.n == 0 && r->tasks.now.n > 0 && count_good(r) == 0
           && !r->tasks.has_good[node]
           && distribution_doubts(r->distribution, p);
}

static int read_results(struct run *r, const struct piece *p)
{
    task_results_clear(&r->tasks.now);
    return task_results_read(&r->tasks.now, &p->out,
                             p->part.units.end - p->part.units.begin);
}

static void add_times(const struct task_results *now, struct msg_done *m)
{
    m->elapsed_ns = m->cpu_ns = 0;
    for (size_t i = 0; i < now->n; i++) {
        m->elapsed_ns += now->task[i].end.elapsed_ns;
        m->cpu_ns += now->task[i].end.cpu_ns;
    }
}

/* Only the first n of its tasks count, and these do. */
static int cut_piece(struct run *r, struct piece *p, struct msg_done *m)
{
    add_times(&r->tasks.now, m);
    m->status = m->signal = m->exec_errno = 0;
    if (r->tasks.now.n == p->part.units.end - p->part.units.begin)
        return 0;
    return distribution_cut(r->distribution, p, r->tasks.now.n);
}

static int make_nodes(struct run *r)
{
    if (!r->tasks.has_good)
        r->tasks.has_good = calloc(session_size(r->front.session), 1);
    return r->tasks.has_good ? 0 : es_no_memory(r->err);
}

/* What runs them was killed, as by `kill -9 0` of a task: so was the task at hand,
 * and not those behind it. */
static int end_at_hand(struct run *r,
                       const struct piece *p,
                       const struct msg_done *m)
{
    const struct task_end e = {.status = 128 + m->signal,
                               .signal = m->signal,
                               .tries = 1,
                               .begun_ns = (uint64_t)time(NULL) * 1000000000u};

    if (m->signal == 0 || m->signal > 127 || r->stop.is_told
        || r->stop.is_nodes_told
        || r->tasks.now.n == p->part.units.end - p->part.units.begin)
        return 0;
    return task_results_add(&r->tasks.now, &e) < 0 ? es_no_memory(r->err) : 0;
}

static int is_split(const struct run *r, const struct piece *p)
{
    const struct task_at_hand *hand =
        r->tasks.hand ? &r->tasks.hand[p->part.node] : NULL;

    return hand && hand->piece == p->part.id && hand->is_split;
}

int run_tasks_hear(struct run *r, size_t node, struct msg_done *m, int *is_done)
{
    struct piece *p = distribution_piece(r->distribution, node, m->id);
    const struct task_results *now = &r->tasks.now;
    uint64_t units;

    if (!p)
        return 0;
    if (make_nodes(r) < 0)
        return -1;
    if (read_results(r, p) < 0) {
        if (errno != EBADMSG)
            return fail_spool(r);
        *is_done = 0;
        return 0;
    }
    units = p->part.units.end - p->part.units.begin;
    if (end_at_hand(r, p, m) < 0)
        return -1;
    if (now->n == 0) {
        *is_done = 0;
    } else if (now->n < units) {
        if (!*is_done)
            run_failures_stderr(r, p->part.node, m);
        *is_done = cut_piece(r, p, m) == 0;
    } else if (may_be_nodes_fault(r, node, p)) {
        m->status = now->task[0].end.status;
        m->signal = now->task[0].end.signal;
        *is_done = 0;
    } else if (!*is_done) { /* it was ended behind the last one */
        *is_done = cut_piece(r, p, m) == 0;
    } else if (is_split(r, p)) {
        add_times(now, m); /* that of what is done already is in it */
    }
    return 0;
}

/* --- it counts ------------------------------------------------------------ */

static void say_how(const struct task_end *e,
                    double timeout_s,
                    char *how,
                    size_t size)
{
    if (e->why == TASK_LATE)
        snprintf(how, size, "still ran after %g s", timeout_s);
    else if (e->why == TASK_NO_MEMORY)
        snprintf(how, size, "was killed for want of memory: give --mem");
    else if (e->why == TASK_NO_MEMORY_ALONE)
        snprintf(how, size,
                 "was killed for want of memory, alone on its node, too");
    else if (e->exec_errno)
        snprintf(how, size, "could not be started: %s",
                 strerror((int)e->exec_errno));
    else if (e->signal)
        snprintf(how, size, "was killed by signal %u (%s)", e->signal,
                 strsignal((int)e->signal));
    else
        snprintf(how, size, "exited with status %u", e->status);
}

static void add_failure(struct run *r,
                        const struct piece *p,
                        size_t i,
                        const char *node)
{
    const struct task_end *e = &r->tasks.now.task[i].end;
    uint64_t unit = p->part.units.begin + i;
    struct slice units = {unit, unit + 1};
    char how[80];

    say_how(e, r->o->task_timeout_s, how, sizeof how);
    failures_add(&r->failures, p->frame->number, units, node, how);
}

/* What its tasks have said on stderr, as it is: it is theirs. */
static int show_stderr(struct run *r)
{
    struct spool *err = &r->tasks.now.err;

    if (spool_size(err) == 0)
        return 0;
    progress_stop(&r->progress);
    return spool_write_to(err, STDERR_FILENO);
}

/* A run of tasks that ended alike, [from, to) of the piece, is a line of the
 * journal: with what those that are done have printed. */
static int keep_run(struct run *r,
                    const struct piece *p,
                    size_t from,
                    size_t to,
                    const char *node)
{
    const struct task_results *now = &r->tasks.now;
    struct piece part = *p;
    int good = is_good(r, &now->task[from].end), rc = 0;

    part.out = (struct spool){0};
    part.part.units.begin = p->part.units.begin + from;
    part.part.units.end = p->part.units.begin + to;
    part.task = p->task ? p->task + from : NULL;
    part.status = (int)now->task[from].end.status;
    part.signal = (int)now->task[from].end.signal;
    part.part.seconds = 0;
    for (size_t i = from; i < to; i++)
        part.part.seconds += (double)now->task[i].end.elapsed_ns * 1e-9;
    if (p->has_text
        && lines_sum(&r->work.lines, part.part.units.begin, part.part.units.end,
                     &part.text, r->err)
               < 0)
        return -1;
    if (!good)
        return journal_add_failed(r->work.journal, p->frame->number, node,
                                  &part, r->err);
    if (task_results_copy(&part.out, &p->out, task_results_out(now, from),
                          now->task[to - 1].out)
        < 0)
        rc = fail_spool(r);
    else
        rc = journal_add_slice(r->work.journal, p->frame->number, node, &part,
                               r->err);
    spool_clear(&part.out);
    return rc;
}

/* What is to be known of each when the list is another; for free(3).  NULL with
 * r->err. */
static struct task_mark *mark_tasks(struct run *r, const struct piece *p)
{
    const struct task_results *now = &r->tasks.now;
    struct task_mark *mark = calloc(now->n, sizeof *mark);
    uint64_t *sum = calloc(now->n, sizeof *sum);
    int rc = mark && sum
                 ? task_text_sums(&r->work.lines, p->part.units.begin,
                                  p->part.units.begin + now->n, sum, r->err)
                 : es_no_memory(r->err);

    for (size_t i = 0; i < now->n && rc == 0; i++)
        mark[i] = (struct task_mark){
            .text = sum[i],
            .bytes = is_good(r, &now->task[i].end)
                         ? now->task[i].out - task_results_out(now, i)
                         : 0};
    free(sum);
    if (rc == 0)
        return mark;
    free(mark);
    return NULL;
}

/* Each that failed alone, as --resume-failed asks for it alone. */
static int keep_runs(struct run *r, const struct piece *p, const char *node)
{
    const struct task_results *now = &r->tasks.now;
    size_t from = 0, to;

    for (; from < now->n; from = to) {
        int good = is_good(r, &now->task[from].end);

        for (to = from + 1;
             good && to < now->n && is_good(r, &now->task[to].end); to++)
            ;
        if (keep_run(r, p, from, to, node) < 0)
            return -1;
    }
    return 0;
}

static int keep_in_journal(struct run *r,
                           const struct piece *p,
                           const char *node)
{
    struct task_mark *mark = NULL;
    struct piece marked = *p;
    int rc;

    if (p->has_text && r->tasks.now.n > 0) {
        mark = mark_tasks(r, p);
        if (!mark)
            return -1;
    }
    marked.task = mark;
    rc = keep_runs(r, &marked, node);
    free(mark);
    return rc;
}

static struct task_place place_of(const struct run *r,
                                  const struct piece *p,
                                  uint64_t unit,
                                  const char *node)
{
    return (struct task_place){
        .unit = unit,
        .frame = p->frame->number,
        .slot = slots_number(distribution_slots(r->distribution), p->part.node),
        .label = p->frame->label,
        .node = node,
    };
}

/* The text of the task is read. */
static void log_end(struct run *r,
                    const struct piece *p,
                    size_t i,
                    const struct task_place *place)
{
    const struct task_end *e = &r->tasks.now.task[i].end;
    char command[4096];

    task_text_say(&r->tasks.text, r->o, place, command, sizeof command);
    joblog_add_task(&r->joblog,
                    &(struct joblog_task){
                        .unit = p->part.units.begin + i,
                        .node = place->node,
                        .command = command,
                        .begun = (double)e->begun_ns * 1e-9,
                        .seconds = (double)e->elapsed_ns * 1e-9,
                        .cpu = (double)e->cpu_ns * 1e-9,
                        .output = r->tasks.now.task[i].out
                                  - task_results_out(&r->tasks.now, i),
                        .status = e->why == TASK_LATE ? JOBLOG_ENDED
                                  : e->signal         ? 0
                                                      : (int)e->status,
                        .signal = (int)e->signal,
                        .tries = e->tries,
                        .rss_mib = e->rss_mib,
                    });
}

/* In the job log and the folder of results, if these are asked for. */
static int note_task(struct run *r,
                     const struct piece *p,
                     size_t i,
                     const char *node)
{
    struct task_place place = place_of(r, p, p->part.units.begin + i, node);
    char path[4096];

    if (!r->joblog.path && !r->o->results)
        return 0;
    if (task_text_read(&r->tasks.text, &r->work.lines, place.unit, r->err) < 0)
        return -1;
    log_end(r, p, i, &place);
    if (!r->o->results
        || task_folder_write(r->o->results, &r->tasks.text.record,
                             place.unit + 1, &r->tasks.now, i, path)
               == 0)
        return 0;
    return es_fail(r->err, ES_WORK, es_mend_file(errno),
                   "--results: %.400s: %s", path, strerror(errno));
}

static int note_ends(struct run *r, const struct piece *p, const char *node)
{
    const struct task_results *now = &r->tasks.now;
    uint64_t failed = 0;

    for (size_t i = 0; i < now->n; i++) {
        if (note_task(r, p, i, node) < 0)
            return -1;
        if (is_good(r, &now->task[i].end))
            continue;
        failed++;
        add_failure(r, p, i, node);
    }
    r->progress.failed += failed;
    if (failed < now->n)
        r->tasks.has_good[r->slots.node[p->part.node]] = 1;
    return 0;
}

void run_tasks_name(void *arg, uint64_t unit, char *text, size_t size)
{
    struct run *r = arg;
    const struct task_place place = {.unit = unit, .label = "", .node = ""};
    struct task_record *record = &r->tasks.text.record;
    struct es_error none = {0};
    int n;

    if (task_text_read(&r->tasks.text, &r->work.lines, unit, &none) < 0) {
        snprintf(text, size, "task %ju", (uintmax_t)unit + 1);
        return;
    }
    if (record->line > 0 && r->o->list_path)
        n = snprintf(text, size, "%.80s:%ju: ",
                     strcmp(r->o->list_path, "-") == 0 ? "standard input"
                                                       : r->o->list_path,
                     (uintmax_t)record->line);
    else
        n = snprintf(text, size, "task %ju: ", (uintmax_t)unit + 1);
    if (n > 0 && (size_t)n < size)
        task_text_say(&r->tasks.text, r->o, &place, text + n, size - (size_t)n);
}

struct tagging {
    struct run *r;
    const struct piece *p;
    int has_failed; /* r->err says why */
};

/* "a.txt<tab>" */
static char *tag_of(void *arg, size_t i)
{
    struct tagging *t = arg;
    struct task_text *text = &t->r->tasks.text;
    char *tag = NULL;

    if (task_text_read(text, &t->r->work.lines, t->p->part.units.begin + i,
                       t->r->err)
            == 0
        && !(tag = task_text_tag(text)))
        (void)es_no_memory(t->r->err);
    t->has_failed = !tag;
    return tag;
}

static int tag_lines(struct run *r, const struct piece *p)
{
    struct tagging t = {.r = r, .p = p};

    if (task_results_tag(&r->tasks.now, tag_of, &t) == 0)
        return 0;
    return t.has_failed ? -1 : fail_spool(r);
}

void run_tasks_halted(struct run *r)
{
    es_fail(
        r->err, ES_WORK, "see their words above",
        "%ju task%s failed, and --halt or --keep-going has the run end then",
        (uintmax_t)r->failures.n, r->failures.n == 1 ? " has" : "s have");
}

/* --halt soon: what runs is waited for, by run_limit.h. */
static void halt_soon(struct run *r)
{
    if (r->stop.is_halted)
        return;
    r->stop.is_halted = 1;
    r->stop.end_ns = 0;
    distribution_set_end(r->distribution, 0);
    notice(
        "--halt: %ju task%s failed: nothing more is begun, and what runs may "
        "end",
        (uintmax_t)r->failures.n, r->failures.n == 1 ? " has" : "s have");
}

static int too_many(struct run *r)
{
    if (r->failures.n <= r->o->keep_going)
        return 0;
    if (r->o->halt.is_soon) {
        halt_soon(r);
        return 0;
    }
    run_tasks_halted(r);
    return -1;
}

int run_tasks_keep(struct run *r, struct piece *p)
{
    const char *node = distribution_name(r->distribution, p->part.node);
    struct task_results *now = &r->tasks.now;

    if (note_ends(r, p, node) < 0 || (r->o->tag && tag_lines(r, p) < 0))
        return -1;
    spool_clear(&p->out);
    p->out = now->out; /* which is the piece's now */
    now->out = (struct spool){0};
    if (show_stderr(r) < 0)
        notice("warning: stderr: %s: what tasks have said there is lost",
               strerror(errno));
    if (r->work.journal && keep_in_journal(r, p, node) < 0)
        return -1;
    task_results_clear(now);
    return too_many(r);
}

/* --- what runs now ---------------------------------------------------------- */

static void on_text(void *arg,
                    enum task_part kind,
                    const void *bytes,
                    size_t len)
{
    (void)arg, (void)kind, (void)bytes, (void)len;
}

static void on_again(void *arg)
{
    (void)arg;
}

static void on_end(void *arg, const struct task_end *e)
{
    struct task_at_hand *hand = arg;

    (void)e;
    hand->ended++;
    hand->bytes = hand->stream.at;
    hand->gives_back = 0; /* the long one has ended, and its piece follows */
    hand->since_ns = clock_ns();
}

static void on_last(void *arg)
{
    struct task_at_hand *hand = arg;

    hand->gives_back = 1;
}

/* What is before the task at hand counts now: nobody knows how long that one runs.
 * That piece, or NULL: it counts when that task has ended. */
static struct piece *split_piece(struct run *r,
                                 struct piece *p,
                                 struct task_at_hand *hand)
{
    struct piece *head = NULL;
    struct spool rest = {0};
    struct msg_done took = {0};

    if (hand->ended == 0 || hand->is_split
        || hand->ended >= p->part.units.end - p->part.units.begin
        || make_nodes(r) < 0 || read_results(r, p) < 0
        || r->tasks.now.n != hand->ended
        || may_be_nodes_fault(r, r->slots.node[p->part.node], p))
        return NULL;
    if (task_results_copy(&rest, &p->out, hand->bytes, spool_size(&p->out))
        < 0) {
        spool_clear(&rest);
        return NULL;
    }
    add_times(&r->tasks.now, &took);
    head = distribution_split(r->distribution, p, hand->ended, &took, &rest);
    if (head) {
        hand->ended = 0;
        hand->is_split = 1;
    } else {
        spool_clear(&rest);
    }
    return head;
}

int run_tasks_output(struct run *r,
                     size_t node,
                     const struct msg_output *m,
                     struct piece **done)
{
    static const struct task_events on = {on_text, on_again, on_end, on_last};
    struct piece *p = distribution_piece(r->distribution, node, m->id);
    struct run_tasks *t = &r->tasks;
    struct task_at_hand *hand;

    *done = NULL;
    if (!t->hand)
        t->hand = calloc(r->slots.n, sizeof *t->hand);
    if (!p || !t->hand)
        return 0;
    hand = &t->hand[p->part.node];
    if (hand->piece != m->id)
        *hand = (struct task_at_hand){.piece = m->id};
    /* One that is no stream is refused when its piece is back. */
    (void)task_stream_read(&hand->stream, m->bytes, m->len, &on, hand);
    if (!hand->gives_back)
        return 0;
    hand->gives_back = 0;
    if (hand->ended + 1 < p->part.units.end - p->part.units.begin
        && distribution_cut(r->distribution, p, hand->ended + 1) < 0)
        return 0;
    *done = split_piece(r, p, hand);
    return 1;
}

/* The unit of that slot; 0: none. */
static int find_at_hand(const struct run *r,
                        size_t slot,
                        uint64_t *unit,
                        int64_t *since_ns)
{
    const struct task_at_hand *hand =
        r->tasks.hand ? &r->tasks.hand[slot] : NULL;
    const struct piece *p =
        distribution_at_work(r->distribution, slot, since_ns);
    uint64_t ended = 0;

    if (!p)
        return 0;
    if (hand && hand->piece == p->part.id && hand->ended > 0) {
        ended = hand->ended;
        *since_ns = hand->since_ns;
    }
    *unit = p->part.units.begin + ended;
    return *unit < p->part.units.end;
}

void run_tasks_longest(void *arg, struct top_longest *longest)
{
    struct run *r = arg;
    int64_t since, first = INT64_MAX;
    uint64_t unit, which = 0;
    size_t slot = 0;

    *longest = (struct top_longest){.seconds = -1};
    for (size_t i = 0; i < r->slots.n; i++)
        if (find_at_hand(r, i, &unit, &since) && since < first) {
            first = since;
            which = unit;
            slot = i;
        }
    if (first == INT64_MAX)
        return;
    run_tasks_name(r, which, longest->task, sizeof longest->task);
    snprintf(longest->node, sizeof longest->node, "%s",
             distribution_name(r->distribution, slot));
    longest->seconds = fmax((double)(clock_ns() - first) * 1e-9, 0);
}

/* --- what is done of what is not ------------------------------------------ */

static int rescue_piece(struct run *r, size_t node, struct piece *p)
{
    struct msg_done m = {.id = p->part.id};

    if (read_results(r, p) < 0 || r->tasks.now.n == 0 || make_nodes(r) < 0
        || cut_piece(r, p, &m) < 0)
        return 0; /* it is done anew, all of it */
    p = distribution_done(r->distribution, node, &m, 1);
    if (!p)
        return 0;
    progress_units(&r->progress, p->part.units.end - p->part.units.begin);
    return run_tasks_keep(r, p);
}

int run_tasks_rescue(struct run *r, size_t node)
{
    size_t n;
    struct piece *p;
    int rc = 0;

    if (!r->distribution || distribution_open(r->distribution) == 0)
        return 0;
    p = distribution_pieces(r->distribution, &n);
    for (size_t i = 0; i < n && rc == 0; i++) {
        size_t of = r->slots.node[p[i].part.node];

        if (p[i].part.state == PIECE_OUT
            && (node == RUN_ALL_NODES || of == node))
            rc = rescue_piece(r, of, &p[i]);
    }
    return rc;
}

void run_tasks_clear(struct run_tasks *t)
{
    task_results_clear(&t->now);
    task_text_clear(&t->text);
    free(t->has_good);
    free(t->hand);
    *t = (struct run_tasks){0};
}
