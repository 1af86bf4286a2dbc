/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/tasks_option.h"
#include "launcher/base/notice.h"
#include "launcher/exec/task_words.h"
#include "launcher/run/distribution.h"
#include "launcher/run/shell_words.h"
#include "launcher/run/task_feed.h"
#include "launcher/run/task_fields.h"
#include "launcher/session/companion.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_NAME      "the list of tasks"
#define JOURNAL_DIR    ".evenstep-tasks"
#define ARGUMENTS_MOST (128u << 10) /* bytes of -X, as xargs has it */

/* --- the list ------------------------------------------------------------- */

/* --lines and --range are the first source. */
static int add_work(struct run_options *o, struct es_error *err)
{
    if (o->lines
        && task_sources_file(&o->sources, o->is_tasks ? "tasks" : "--lines",
                             o->lines, err)
               < 0)
        return -1;
    if (o->range.end > 0
        && task_sources_range(&o->sources, o->range.begin, o->range.end, err)
               < 0)
        return -1;
    return 0;
}

static void settle_sources(struct run_options *o)
{
    struct task_sources *s = &o->sources;

    s->header = o->record.header > 0;
    s->commands = o->is_tasks;
    s->joined = o->shell != NULL;
    s->nul = o->nul;
    s->shuf = o->shuf;
    s->follow = o->follow;
    s->most = o->values;
    if (o->fill)
        s->room = ARGUMENTS_MOST;
    o->repeats = o->fill || o->values > 0;
    o->record = (struct record_rule){0}; /* the list has none of it */
}

static int settle_fields(struct run_options *o,
                         struct task_list *list,
                         size_t *need,
                         struct es_error *err)
{
    struct task_fields f = {0};

    *need = 0;
    if (o->is_tasks)
        return 0;
    o->renamed =
        task_fields_settle(o->command, task_list_columns(list),
                           task_list_names(list), o->shell != NULL, &f, err);
    if (!o->renamed)
        return -1;
    o->command = o->renamed;
    *need = f.need;
    if (f.quoted)
        notice("warning: %.200s: the value is quoted as it is filled in: leave "
               "the quotes around it out",
               f.quoted);
    if (f.left)
        notice(
            "warning: %.200s: the braces stay as they are: columns have names "
            "by --header : only; write {{ and }} if they are to stay",
            f.left);
    if (f.text)
        notice("warning: %.200s: the value becomes part of the text of a "
               "program, with whatever is in it: pass it as an argument, or "
               "give --shell",
               f.text);
    return 0;
}

static int make_list(struct run_options *o, struct es_error *err)
{
    struct task_list *list = task_list_open(&o->sources, err);
    size_t need;

    if (!list)
        return -1;
    if (settle_fields(o, list, &need, err) < 0) {
        task_list_close(list);
        return -1;
    }
    o->feed = task_feed_open(list, need, err);
    if (!o->feed)
        return -1;
    o->list_path = o->lines;
    o->lines = LIST_NAME;
    o->range = (struct option_range){0};
    return 0;
}

/* --- what is not said ----------------------------------------------------- */

/* "DIR/.evenstep-tasks/NAME.journal" of DIR/NAME; 0, or -1 with errno. */
static int find_journal(const char *path, char journal[PATH_MAX])
{
    char copy[PATH_MAX], base[PATH_MAX];

    if (strlen(path) >= sizeof copy) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(copy, path, strlen(path) + 1);
    memcpy(base, path, strlen(path) + 1);
    if (snprintf(journal, PATH_MAX, "%s/" JOURNAL_DIR, dirname(copy))
        >= PATH_MAX - 64) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if ((mkdir(journal, 0777) < 0 && errno != EEXIST)
        || access(journal, W_OK | X_OK) < 0)
        return -1;
    snprintf(journal + strlen(journal), PATH_MAX - strlen(journal),
             "/%.255s.journal", basename(base));
    return 0;
}

/* A run that is at work has it: record_log.h says so when it is opened. */
static int is_in_use(const char *journal)
{
    int fd = open(journal, O_RDWR | O_CLOEXEC);
    int is =
        fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

    if (fd >= 0)
        close(fd);
    return is;
}

/* One of a run before makes room, and stays. */
static void set_aside(const char *journal)
{
    char old[PATH_MAX + 8];
    struct stat st;

    if (stat(journal, &st) < 0 || st.st_size == 0 || is_in_use(journal))
        return;
    snprintf(old, sizeof old, "%s.old", journal);
    if (rename(journal, old) < 0)
        notice("warning: %s: %s", journal, strerror(errno));
}

/* Of what was read of a pipe no other run can have anything. */
static int is_pipe(const char *path)
{
    struct stat st;

    return (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st))
               == 0
           && !S_ISREG(st.st_mode);
}

static int settle_journal(struct run_options *o, struct es_error *err)
{
    const char *path = o->list_path;

    if (o->follow && is_pipe(path) && !o->dry_run) {
        if (!o->journal && !o->resume && !o->resume_failed)
            return 0;
        return es_fail(err, ES_USAGE,
                       "have lines appended to a file, and follow that",
                       "--follow: %s is no file, so what is read of it is "
                       "gone, and no run can go on with a journal",
                       path);
    }
    if (o->journal || o->dry_run || !path || strcmp(path, "-") == 0
        || strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0)
        return 0;
    if (find_journal(path, o->own_journal) < 0) {
        notice("warning: no journal of this run beside %s: %s: if it is cut "
               "short, --resume cannot go on with it; --journal FILE keeps one "
               "elsewhere",
               path, strerror(errno));
        return 0;
    }
    o->journal = o->own_journal;
    if (!o->resume && !o->resume_failed)
        set_aside(o->journal);
    return 0;
}

/* A failure is known when its piece comes back: each is of one task. */
static void settle_halt(struct run_options *o)
{
    double n = o->halt.fail;

    if (o->halt.is_percent)
        n = ceil((double)task_feed_tasks(o->feed) * n / 100);
    o->keep_going = (uint64_t)n - 1;
    if (!o->policy_text)
        o->policy_text = "manual:size=1";
}

/* Where lines say what a task needs, slots are counted for each, and not cut to what
 * all need. */
static int settle_needs(struct run_options *o, struct es_error *err)
{
    const struct need_list *needs = task_feed_needs(o->feed);
    const char *other =
        o->overlap                              ? "--overlap"
        : o->ahead > 0 && o->ahead <= AHEAD_MAX ? "--ahead"
        : o->speculate                          ? "--speculate"
        : o->slots.kind == SLOTS_GPUS && (o->slots.width == 0 || needs->n == 0)
            ? "slots that are GPUs"
        : o->slots.kind == SLOTS_SOCKETS ? "--slots sockets"
                                         : NULL;

    if (other && needs->n > 0)
        return es_fail(
            err, ES_USAGE, "leave one of them out",
            "%s: line %ju of %s says what a task needs, which counts "
            "cores",
            other, (uintmax_t)needs->need[0].line,
            o->list_path ? o->list_path : "the list");
    o->sources.no_needs = other;
    o->has_needs = needs->n > 0 || (o->follow && !other);
    if (!o->has_needs && o->time_s > 0)
        return es_fail(err, ES_USAGE,
                       "leave it out; --timeout SECONDS is a limit of a task, "
                       "--until-end SECONDS of the job",
                       "--time: no line says what another task takes or needs "
                       "(#EVENSTEP time=10m), so none begins before others");
    if (!o->has_needs) {
        if (o->exclusive)
            o->slots =
                (struct msg_slots){.kind = SLOTS_NUMBER, .n = 1, .beside = 1};
        return 0;
    }
    o->usual =
        (struct unit_need){.memory = o->slots.memory, .seconds = o->time_s};
    if (o->slots.kind == SLOTS_GPUS) {
        o->usual.gpus = o->slots.width;
        o->slots.kind = SLOTS_CORES;
    } else {
        o->usual.cores = o->exclusive ? NEEDS_ALL : o->slots.width;
    }
    o->slots.width = 0;
    o->slots.memory = 0;
    return 0;
}

/* As people expect of tasks. */
static void settle_defaults(struct run_options *o)
{
    if (o->halt.fail > 0)
        settle_halt(o);
    else if (o->keep_going == 0)
        o->keep_going = INT64_MAX;
    o->task_timeout_s = o->timeout_s;
    o->timeout_s = 0;
    if (o->dry_run || o->local.n > 0 || companion_job_from_environ() != 0)
        return;
    o->local.n = 1;
    notice("no job: the tasks run on this machine (--local 1)");
}

/* What must be known of the whole list cannot be of one that grows. */
static int check_follow(const struct run_options *o, struct es_error *err)
{
    const struct task_sources *s = &o->sources;
    const struct {
        int is_given;
        const char *option, *why;
    } no[] = {
        {o->shuf, "--shuf", "an order by chance is of the whole list"},
        {o->fill, "-X", "how many values a task gets depends on those to come"},
        {s->most > 1, "--max-args", "a task would wait for its other values"},
        {o->nul, "--null", "a list that grows has lines"},
        {s->header, "--header", "the names of columns may be yet to come"},
        {s->colsep[0] != '\0', "--colsep", "the columns may be yet to come"},
        {o->halt.is_percent, "--halt",
         "how many tasks there are in all is not known"},
    };

    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (no[i].is_given)
            return es_fail(err, ES_USAGE, "leave one of them out",
                           "--follow and %s: %s", no[i].option, no[i].why);
    if (s->n == 1 && s->source[0].kind == TASK_FILE)
        return 0;
    return es_fail(err, ES_USAGE, "give --lines FILE, and no other values",
                   "--follow: one file is followed");
}

int tasks_option_settle(struct run_options *o, struct es_error *err)
{
    o->each |= o->is_tasks;
    if (!o->is_tasks
        && task_sources_split(&o->sources, o->command, o->arg_sep, err) < 0)
        return -1;
    if (o->is_tasks && !o->shell)
        o->shell = "/bin/sh";
    settle_sources(o);
    if (add_work(o, err) < 0 || (o->follow && check_follow(o, err) < 0))
        return -1;
    if (o->sources.n == 0)
        return es_fail(err, ES_USAGE,
                       "give --lines FILE, --range BEGIN:END, or values behind "
                       "the command, as in: -- echo {} ::: a b c",
                       "no tasks");
    if (!o->is_tasks && !o->command[0])
        return es_fail(err, ES_USAGE, "give it after --", "no command");
    if (make_list(o, err) < 0)
        return -1;
    if (o->is_tasks) {
        o->by_shell[0] = (char *)o->shell;
        o->command = o->by_shell;
    }
    if (o->slots.kind == SLOTS_NUMBER && o->slots.beside == 0)
        o->slots =
            (struct msg_slots){.kind = SLOTS_CORES, .memory = o->slots.memory};
    if (settle_needs(o, err) < 0 || settle_journal(o, err) < 0)
        return -1;
    settle_defaults(o);
    return 0;
}

/* --- --dry-run ------------------------------------------------------------ */

static int print_task(const struct run_options *o,
                      const struct task_record *record,
                      uint64_t unit)
{
    const struct task_place place = {.unit = unit, .label = "", .node = "NODE"};
    unsigned how = (o->shell ? TASK_SHELL : 0) | (o->repeats ? TASK_REPEAT : 0);
    char *none[] = {NULL};
    char **words =
        task_words(o->is_tasks ? none : o->command, record, &place, how);

    if (!words)
        return -1;
    if (o->shell)
        (void)fputs(words[0], stdout);
    else
        shell_words_print(stdout, words);
    (void)putchar('\n');
    free(words);
    return ferror(stdout) ? -1 : 0;
}

int tasks_option_print(const struct run_options *o, struct es_error *err)
{
    struct task_record record = {0};
    FILE *from = fdopen(task_feed_file(o->feed), "r");
    char *line = NULL;
    size_t room = 0;
    uint64_t unit = 0;
    ssize_t n;
    int rc = from ? 0 : -1;

    if (from)
        rewind(from);
    while (rc == 0 && (n = getline(&line, &room, from)) > 0) {
        n -= line[n - 1] == '\n';
        rc = task_record_parse(&record, line, (size_t)n);
        if (rc == 0)
            rc = print_task(o, &record, unit++);
    }
    if (from)
        (void)fclose(from); /* only read */
    free(line);
    task_record_free(&record);
    if (rc == 0 && fflush(stdout) == 0)
        return 0;
    return es_fail(err, ES_WORK, "see the error", "--dry-run: %s",
                   strerror(errno));
}
