/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_list.h"
#include "launcher/base/notice.h"
#include "launcher/base/spool.h"
#include "launcher/exec/task_words.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* More are a mistake, and would fill the disk. */
#define TASKS_MAX 1000000000u

/* A source, whose first row is looked at before it is needed. */
struct source {
    struct task_reader *reader;
    struct task_row row;
    int is_ready; /* the row is still to be taken */
    int is_over;
    size_t columns; /* of the first row */
};

/* The rows of a group behind the first, in memory. */
struct table {
    char *text;
    size_t text_len, text_room;
    size_t *end; /* of each value in the text */
    size_t n, room;
    size_t rows, at; /* in all, and the one at hand */
};

/* Sources that are linked: all go on at once. */
struct group {
    size_t first, n; /* of the sources */
    size_t columns;
    struct table table;
};

struct task_list {
    const struct task_sources *s;
    struct source source[TASK_SOURCES_MAX];
    struct group group[TASK_SOURCES_MAX];
    size_t groups;
    size_t columns; /* of a row of all */
    char **names;   /* NULL: none */
    size_t need;
    /* --- what is written --- */
    FILE *to;
    struct task_value *value; /* of a row of all */
    size_t value_room;
    uint64_t rows; /* in the task at hand */
    size_t bytes;  /* likewise, each value with its NUL */
    uint64_t tasks;
    uint64_t *barrier; /* tasks before each */
    size_t barriers, barrier_room;
    struct need_list needs;
    size_t needs_room;
    task_need_check *check; /* NULL: none */
    void *arg;
};

/* --- open ----------------------------------------------------------------- */

/* Have a row of each source at hand: an enum task_next, or -1. */
static int look(struct source *source, struct es_error *err)
{
    int rc;

    if (source->is_ready)
        return ROW_THERE;
    if (source->is_over)
        return ROW_END;
    rc = task_reader_next(source->reader, &source->row, err);
    source->is_ready = rc == ROW_THERE;
    source->is_over = rc == ROW_END;
    return rc;
}

static int add_name(struct task_list *l,
                    const struct source *source,
                    size_t i,
                    struct es_error *err)
{
    struct task_value v = source->row.value[i];
    char *name = strndup(v.at, v.len);

    if (!name)
        return es_no_memory(err);
    l->names[l->columns + i] = name;
    for (size_t k = 0; k < l->columns + i; k++)
        if (name[0] && strcmp(l->names[k], name) == 0)
            return es_fail(
                err, ES_USAGE,
                "rename one of them, or leave --header away and take "
                "{1}, {2} ...",
                "%s: columns %zu and %zu are both named %s",
                task_reader_name(source->reader), k + 1, l->columns + i + 1,
                name);
    return 0;
}

/* The first row has names. */
static int take_names(struct task_list *l,
                      struct source *source,
                      struct es_error *err)
{
    size_t n = l->columns + source->row.n;
    char **more = realloc(l->names, (n + 1) * sizeof *more);

    if (!more)
        return es_no_memory(err);
    l->names = more;
    for (size_t i = l->columns; i <= n; i++)
        more[i] = NULL;
    for (size_t i = 0; i < source->row.n; i++)
        if (add_name(l, source, i, err) < 0)
            return -1;
    source->is_ready = 0;
    return 0;
}

static int open_source(struct task_list *l, size_t i, struct es_error *err)
{
    struct source *source = &l->source[i];
    struct group *g;
    int rc;

    source->reader = task_reader_open(l->s, i, err);
    rc = source->reader ? look(source, err) : -1;
    if (rc < 0)
        return -1;
    source->columns = rc == ROW_THERE ? source->row.n : 1;
    if (rc == ROW_THERE && l->s->header && take_names(l, source, err) < 0)
        return -1;
    if (!l->s->source[i].linked || l->groups == 0)
        l->group[l->groups++].first = i;
    g = &l->group[l->groups - 1];
    g->n++;
    g->columns += source->columns;
    l->columns += source->columns;
    return 0;
}

struct task_list *task_list_open(const struct task_sources *s,
                                 struct es_error *err)
{
    struct task_list *l = calloc(1, sizeof *l);

    if (!l) {
        es_no_memory(err);
        return NULL;
    }
    l->s = s;
    for (size_t i = 0; i < s->n; i++)
        if (open_source(l, i, err) < 0) {
            task_list_close(l);
            return NULL;
        }
    return l;
}

void task_list_close(struct task_list *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->s->n; i++) {
        task_reader_close(l->source[i].reader);
        free(l->source[i].row.value);
    }
    for (size_t i = 0; i < l->groups; i++) {
        free(l->group[i].table.text);
        free(l->group[i].table.end);
    }
    for (size_t i = 0; l->names && l->names[i]; i++)
        free(l->names[i]);
    free(l->names);
    free(l->value);
    free(l->barrier);
    free(l->needs.need);
    free(l);
}

/* Rows of a task, 0: any number. */
static uint64_t rows_of(const struct task_sources *s)
{
    return s->most > 0 ? s->most : s->room > 0 ? 0 : 1;
}

size_t task_list_columns(const struct task_list *l)
{
    uint64_t rows = l->s->none ? 0 : rows_of(l->s);

    return rows > SIZE_MAX / (l->columns + 1) ? 0 : (size_t)rows * l->columns;
}

char *const *task_list_names(const struct task_list *l)
{
    return l->names;
}

/* --- what is written ------------------------------------------------------ */

static int refuse_many(struct es_error *err)
{
    return es_fail(err, ES_USAGE,
                   "combine fewer lists, or link some of them by :::+",
                   "more than %u tasks", TASKS_MAX);
}

static int end_task(struct task_list *l, struct es_error *err)
{
    if (l->rows == 0)
        return 0;
    task_record_end(l->to);
    l->rows = 0;
    l->bytes = 0;
    return ++l->tasks <= TASKS_MAX ? 0 : refuse_many(err);
}

/* What a row adds to the command line. */
static size_t bytes_of(const struct task_value *value, size_t n)
{
    size_t bytes = n;

    for (size_t i = 0; i < n; i++)
        bytes += value[i].len;
    return bytes;
}

static int refuse_long(const struct task_list *l,
                       uint64_t line,
                       size_t bytes,
                       size_t most,
                       struct es_error *err)
{
    char where[32] = "";

    if (line > 0)
        snprintf(where, sizeof where, ":%ju", (uintmax_t)line);
    return es_fail(
        err, ES_USAGE, "put it into a file, and give the name of that",
        "%s%s: %zu bytes, and there is room for %zu",
        task_reader_name(l->source[0].reader), where, bytes - 1, most - 1);
}

/* Bytes of the values of a task, each with a NUL or blank; 0: no bound. */
static size_t room_of(const struct task_sources *s)
{
    size_t word = s->word > 0 ? s->word + 1 : TASK_WORD_MAX;

    if (!s->joined)
        return s->room;
    return s->room > 0 && s->room < word ? s->room : word;
}

/* It is of the task at hand. */
static int add_need(struct task_list *l,
                    const struct unit_need *need,
                    struct es_error *err)
{
    const char *name = task_reader_name(l->source[0].reader);
    struct unit_need *more;

    if (l->s->shuf)
        return es_fail(err, ES_USAGE, "leave --shuf out",
                       "--shuf: %s:%ju says what a task needs, and so which "
                       "begins first",
                       name, (uintmax_t)need->line);
    if (l->check && l->check(l->arg, name, need, err) < 0)
        return -1;
    more = array_grow(l->needs.need, &l->needs_room, l->needs.n + 1,
                      sizeof *more, SIZE_MAX);
    if (!more)
        return es_no_memory(err);
    l->needs.need = more;
    more[l->needs.n] = *need;
    more[l->needs.n++].unit = l->tasks;
    return 0;
}

/* A row of all sources: of this task, or of the next. */
static int put_row(struct task_list *l,
                   const struct task_value *value,
                   size_t n,
                   uint64_t line,
                   struct es_error *err)
{
    const struct task_sources *s = l->s;
    size_t bytes = s->none ? 0 : bytes_of(value, n), room = room_of(s);

    if (room > 0 && bytes > room)
        return refuse_long(l, line, bytes, room, err);
    if (l->rows > 0
        && (l->rows == rows_of(s) || (room > 0 && l->bytes + bytes > room))
        && end_task(l, err) < 0)
        return -1;
    if (l->rows == 0 && l->source[0].row.need.line > 0
        && add_need(l, &l->source[0].row.need, err) < 0)
        return -1;
    if (l->rows++ == 0)
        task_record_begin(l->to, line);
    for (size_t i = 0; i < n && !s->none; i++)
        task_record_value(l->to, value[i].at, value[i].len);
    l->bytes += bytes;
    return ferror(l->to) ? es_no_space(err) : 0;
}

/* --- rows of one source --------------------------------------------------- */

static int refuse_columns(const struct task_list *l,
                          const struct source *source,
                          size_t want,
                          struct es_error *err)
{
    size_t n = source->row.n;
    char name[40];

    snprintf(name, sizeof name, source->row.line ? "%ju" : "argument",
             (uintmax_t)source->row.line);
    if (want > 0)
        return es_fail(err, ES_USAGE,
                       "give all rows of a file that is combined with others "
                       "as many columns",
                       "%s:%s: has %zu column%s, and the first row %zu",
                       task_reader_name(source->reader), name, n,
                       n == 1 ? "" : "s", want);
    return es_fail(err, ES_USAGE, "mend the row, or leave the field away",
                   "%s:%s: has %zu column%s, and the command uses {%zu}",
                   task_reader_name(source->reader), name, n, n == 1 ? "" : "s",
                   l->need);
}

/* The next row of a source, or as look() has it. */
static int next_row(const struct task_list *l,
                    struct source *source,
                    struct es_error *err)
{
    int rc = look(source, err);

    if (rc != ROW_THERE)
        return rc;
    if (l->s->n > 1 && source->row.n != source->columns)
        return refuse_columns(l, source, source->columns, err);
    if (l->s->n == 1 && rows_of(l->s) == 1 && source->row.n < l->need
        && !l->s->none)
        return refuse_columns(l, source, 0, err);
    source->is_ready = 0;
    return ROW_THERE;
}

/* The next row of each source of a group: what the first that has none says. */
static int next_rows(struct task_list *l,
                     const struct group *g,
                     struct es_error *err)
{
    int rc = ROW_THERE;

    for (size_t i = 0; rc == ROW_THERE && i < g->n; i++)
        rc = next_row(l, &l->source[g->first + i], err);
    return rc;
}

/* --- groups in memory ----------------------------------------------------- */

static int keep_value(struct table *t,
                      struct task_value v,
                      struct es_error *err)
{
    char *text = array_grow(t->text, &t->text_room, t->text_len + v.len + 1, 1,
                            SIZE_MAX);
    size_t *end;

    if (!text)
        return es_no_memory(err);
    t->text = text;
    end = array_grow(t->end, &t->room, t->n + 1, sizeof *end, SIZE_MAX);
    if (!end)
        return es_no_memory(err);
    t->end = end;
    memcpy(text + t->text_len, v.at, v.len);
    t->text_len += v.len;
    end[t->n++] = t->text_len;
    return 0;
}

static int load_group(struct task_list *l,
                      struct group *g,
                      struct es_error *err)
{
    int rc;

    while ((rc = next_rows(l, g, err)) == ROW_THERE) {
        for (size_t i = g->first; i < g->first + g->n; i++)
            for (size_t k = 0; k < l->source[i].row.n; k++)
                if (keep_value(&g->table, l->source[i].row.value[k], err) < 0)
                    return -1;
        g->table.rows++;
    }
    return rc;
}

static struct task_value kept_value(const struct table *t, size_t i)
{
    size_t begin = i > 0 ? t->end[i - 1] : 0;

    return (struct task_value){t->text + begin, t->end[i] - begin};
}

/* --- combinations --------------------------------------------------------- */

static int make_room(struct task_list *l, size_t n, struct es_error *err)
{
    struct task_value *more =
        array_grow(l->value, &l->value_room, n, sizeof *more, SIZE_MAX);

    if (!more)
        return es_no_memory(err);
    l->value = more;
    return 0;
}

/* The values of the row of a group behind the first that is at hand. */
static size_t copy_kept(const struct group *g, struct task_value *to)
{
    for (size_t i = 0; i < g->columns; i++)
        to[i] = kept_value(&g->table, g->table.at * g->columns + i);
    return g->columns;
}

/* Step to the next combination of the groups behind the first; 0: they begin anew. */
static int step(struct task_list *l)
{
    for (size_t i = l->groups - 1; i > 0; i--) {
        struct table *t = &l->group[i].table;

        if (++t->at < t->rows)
            return 1;
        t->at = 0;
    }
    return 0;
}

/* One row of the first group with all combinations of the others. */
static int combine(struct task_list *l, struct es_error *err)
{
    const struct group *g = &l->group[0];
    size_t n = 0, kept;
    uint64_t line = l->source[0].row.line;

    for (size_t i = 0; i < g->n; i++) {
        const struct task_row *row = &l->source[i].row;

        if (make_room(l, l->columns + n + row->n + 1, err) < 0)
            return -1;
        for (size_t k = 0; k < row->n; k++)
            l->value[n++] = row->value[k];
    }
    do {
        kept = n;
        for (size_t i = 1; i < l->groups; i++)
            kept += copy_kept(&l->group[i], l->value + kept);
        if (put_row(l, l->value, kept, line, err) < 0)
            return -1;
    } while (step(l));
    return 0;
}

/* A file that comes from another system makes names that nobody finds. */
static void tell_line_ends(const struct task_list *l)
{
    const struct task_row *row = &l->source[0].row;
    struct task_value last;

    if (row->n == 0 || row->line == 0 || l->s->nul)
        return;
    last = row->value[row->n - 1];
    if (last.len > 0 && last.at[last.len - 1] == '\r')
        notice("warning: %s: its lines end with CR LF, and the CR belongs to "
               "the argument: tr -d '\\r' removes it",
               task_reader_name(l->source[0].reader));
}

/* Those behind the first: 1, 0 if one has no rows, or -1. */
static int load_groups(struct task_list *l, struct es_error *err)
{
    uint64_t rows = 1;

    for (size_t i = 1; i < l->groups; i++) {
        if (load_group(l, &l->group[i], err) < 0)
            return -1;
        if (__builtin_mul_overflow(rows, l->group[i].table.rows, &rows)
            || rows > TASKS_MAX)
            return refuse_many(err);
    }
    return rows > 0;
}

/* One that separates nothing is none. */
static int add_barrier(struct task_list *l, struct es_error *err)
{
    uint64_t *more;

    if (l->s->shuf)
        return es_fail(err, ES_USAGE, "leave --shuf out, or the barriers",
                       "--shuf: %s has a barrier, and so an order",
                       task_reader_name(l->source[0].reader));
    if (end_task(l, err) < 0)
        return -1;
    if (l->tasks == 0
        || (l->barriers > 0 && l->barrier[l->barriers - 1] == l->tasks))
        return 0;
    more = array_grow(l->barrier, &l->barrier_room, l->barriers + 1,
                      sizeof *more, SIZE_MAX);
    if (!more)
        return es_no_memory(err);
    l->barrier = more;
    more[l->barriers++] = l->tasks;
    return 0;
}

/* 0, 1: more may come, or -1. */
static int write_all_tasks(struct task_list *l, struct es_error *err)
{
    struct es_error none = {0};
    int rc = load_groups(l, err);

    if (rc <= 0)
        return rc;
    while ((rc = next_rows(l, &l->group[0], err)) == ROW_THERE
           || rc == ROW_BARRIER) {
        if (rc == ROW_THERE && l->tasks == 0 && l->rows == 0)
            tell_line_ends(l);
        if ((rc == ROW_THERE ? combine(l, err) : add_barrier(l, err)) < 0)
            return -1;
    }
    if (end_task(l, rc < 0 ? &none : err) < 0) /* also in front of a bad line */
        return -1;
    return rc < 0 ? -1 : rc == ROW_LATER;
}

/* --- in an order by chance ------------------------------------------------ */

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void shuffle(uint64_t *at, uint64_t n, uint64_t state)
{
    for (uint64_t i = n; i > 1; i--) {
        uint64_t k = next_random(&state) % i, was = at[k];

        at[k] = at[i - 1];
        at[i - 1] = was;
    }
}

/* The lines of a text, n of them, in that order. */
static int put_shuffled(const char *text,
                        size_t size,
                        uint64_t n,
                        uint64_t seed,
                        FILE *to,
                        struct es_error *err)
{
    uint64_t *at = malloc((size_t)(n + 1) * sizeof *at);
    const char *line = text, *end = text + size;

    if (!at)
        return es_no_memory(err);
    for (uint64_t i = 0; i < n; i++) {
        at[i] = (uint64_t)(line - text);
        line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
    }
    shuffle(at, n, seed);
    for (uint64_t i = 0; i < n; i++) {
        line = text + at[i];
        end = (const char *)memchr(line, '\n', size - (size_t)at[i]) + 1;
        (void)fwrite_unlocked(line, 1, (size_t)(end - line), to);
    }
    free(at);
    return ferror(to) ? es_no_space(err) : 0;
}

/* Of a file of ours, which nobody else can make shorter. */
static int write_shuffled(struct task_list *l, FILE *to, struct es_error *err)
{
    off_t size = ftello(l->to);
    uint64_t seed = l->s->seed;
    char *text;
    int rc;

    text = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fileno(l->to), 0);
    if (text == MAP_FAILED)
        return es_no_memory(err);
    if (!l->s->seeded)
        (void)getrandom(&seed, sizeof seed, 0); /* any order will do */
    rc = put_shuffled(text, (size_t)size, l->tasks, seed, to, err);
    (void)munmap(text, (size_t)size);
    return rc;
}

static FILE *open_spool(struct es_error *err)
{
    int fd = spool_open_file();
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+e");

    if (file)
        return file;
    es_fail(err, ES_USAGE, spool_mend(errno), "--shuf: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* --- all together --------------------------------------------------------- */

static int refuse_none(const struct task_list *l, struct es_error *err)
{
    if (l->s->n == 0)
        return es_fail(err, ES_USAGE, "give a file, or a list: ::: a b c",
                       "no source of arguments");
    for (size_t i = 0; i < l->s->n; i++)
        if (l->group[0].table.rows == 0 && l->source[i].is_over)
            return es_fail(err, ES_USAGE,
                           "give at least one argument: ::: a b c, or a file "
                           "with a line for each",
                           "%s: no tasks",
                           task_reader_name(l->source[i].reader));
    return es_fail(err, ES_USAGE, "give at least one argument", "no tasks");
}

int task_list_write(struct task_list *l,
                    size_t need,
                    FILE *to,
                    uint64_t *tasks,
                    struct es_error *err)
{
    int rc;

    l->need = need;
    l->to = l->s->shuf ? open_spool(err) : to;
    if (!l->to)
        return -1;
    rc = l->s->n > 0 ? write_all_tasks(l, err) : 0;
    if (rc == 0 && l->tasks == 0 && !l->s->follow)
        rc = refuse_none(l, err);
    if (fflush(l->to) != 0 && rc >= 0)
        rc = es_no_space(err);
    if (rc == 0 && l->s->shuf)
        rc = write_shuffled(l, to, err);
    if (rc == 0 && fflush(to) != 0)
        rc = es_no_space(err);
    if (l->s->shuf)
        (void)fclose(l->to); /* it is of no use any more */
    *tasks = l->tasks;
    return rc;
}

const uint64_t *task_list_barriers(const struct task_list *l, size_t *n)
{
    *n = l->barriers;
    return l->barrier;
}

const struct need_list *task_list_needs(const struct task_list *l)
{
    return &l->needs;
}

int task_list_check_needs(struct task_list *l,
                          task_need_check *check,
                          void *arg,
                          struct es_error *err)
{
    l->check = check;
    l->arg = arg;
    for (size_t i = 0; i < l->needs.n; i++)
        if (check(arg, task_reader_name(l->source[0].reader), &l->needs.need[i],
                  err)
            < 0)
            return -1;
    return 0;
}

int task_list_pipe(const struct task_list *l)
{
    return task_reader_pipe(l->source[0].reader);
}
