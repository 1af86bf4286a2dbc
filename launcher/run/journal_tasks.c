/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/journal_tasks.h"
#include "pmix_bcast/array.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT64_MAX

struct task {
    size_t of; /* its slice, in t->kept */
    uint64_t unit, text;
    uint64_t skip, bytes; /* its output, in that of what was read with it */
    uint64_t now;         /* its unit now, or NOWHERE */
};

struct look {
    struct journal_tasks *t;
    struct task *task; /* n, by their slices and units */
    size_t n;
    char *is_taken; /* one a unit of the list */
};

static int is_ours(const struct kept *k)
{
    return k->tasks > 0 && !k->is_gone;
}

static uint64_t units_of(const struct kept *k)
{
    return k->units.end - k->units.begin;
}

static int read_tasks(struct look *l, struct es_error *err)
{
    const struct journal_tasks *t = l->t;
    size_t all = 0;

    for (size_t i = 0; i < t->n; i++)
        all += is_ours(&t->kept[i]) ? (size_t)units_of(&t->kept[i]) : 0;
    l->task = calloc(all + 1, sizeof *l->task);
    if (!l->task)
        return es_no_memory(err);
    for (size_t i = 0; i < t->n; i++) {
        const struct kept *k = &t->kept[i];
        uint64_t skip = k->skip;

        for (uint64_t u = 0; is_ours(k) && u < units_of(k); u++) {
            const struct task_mark *m = &t->mark[k->tasks - 1 + u];

            l->task[l->n++] = (struct task){.of = i,
                                            .unit = k->units.begin + u,
                                            .text = m->text,
                                            .skip = skip,
                                            .bytes = m->bytes,
                                            .now = NOWHERE};
            skip += m->bytes;
        }
    }
    return 0;
}

/* --- where they are now --------------------------------------------------- */

/* What other slices have is not to be had twice. */
static void take_others(struct look *l)
{
    for (size_t i = 0; i < l->t->n; i++) {
        const struct kept *k = &l->t->kept[i];

        for (uint64_t u = k->units.begin;
             !k->is_gone && k->tasks == 0 && u < k->units.end
             && u < l->t->units;
             u++)
            l->is_taken[u] = 1;
    }
}

/* Where they were, the last ones first. */
static void find_same(struct look *l)
{
    for (size_t i = l->n; i-- > 0;) {
        struct task *task = &l->task[i];

        if (task->unit >= l->t->units || l->t->sum[task->unit] != task->text
            || l->is_taken[task->unit])
            continue;
        task->now = task->unit;
        l->is_taken[task->unit] = 1;
    }
}

/* A text, and where it is: in the list, or in the array of tasks. */
struct place {
    uint64_t text;
    uint64_t at;
};

static int by_text(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->text != y->text)
        return x->text < y->text ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Is it one that has ended well, and whose text is not where it was? */
static int may_have_moved(const struct look *l, const struct task *task)
{
    return task->now == NOWHERE && !l->t->kept[task->of].failed
           && (task->unit >= l->t->units
               || l->t->sum[task->unit] != task->text);
}

/* The first of those that have a text to the first place that has it, and so on. */
static void match(struct look *l,
                  const struct place *free_at,
                  size_t n_free,
                  const struct place *moved,
                  size_t n_moved)
{
    for (size_t i = 0, k = 0; i < n_free && k < n_moved;) {
        if (free_at[i].text == moved[k].text) {
            l->task[moved[k++].at].now = free_at[i].at;
            l->is_taken[free_at[i++].at] = 1;
        } else if (free_at[i].text < moved[k].text) {
            i++;
        } else {
            k++;
        }
    }
}

static int find_moved(struct look *l, struct es_error *err)
{
    struct place *free_at = calloc((size_t)l->t->units + 1, sizeof *free_at);
    struct place *moved = calloc(l->n + 1, sizeof *moved);
    size_t n_free = 0, n_moved = 0;
    int rc = free_at && moved ? 0 : es_no_memory(err);

    for (uint64_t u = 0; rc == 0 && u < l->t->units; u++)
        if (!l->is_taken[u])
            free_at[n_free++] = (struct place){l->t->sum[u], u};
    for (size_t i = 0; rc == 0 && i < l->n; i++)
        if (may_have_moved(l, &l->task[i]))
            moved[n_moved++] = (struct place){l->task[i].text, i};
    if (n_free > 0 && n_moved > 0) {
        qsort(free_at, n_free, sizeof *free_at, by_text);
        qsort(moved, n_moved, sizeof *moved, by_text);
        match(l, free_at, n_free, moved, n_moved);
    }
    free(free_at);
    free(moved);
    return rc;
}

/* Units of the list that the journal knows, and nothing of it is there now. */
static void count_changed(struct look *l)
{
    for (size_t i = 0; i < l->n; i++) {
        uint64_t unit = l->task[i].unit;

        if (unit < l->t->units && !l->is_taken[unit]) {
            l->t->changed++;
            l->is_taken[unit] = 1;
        }
    }
}

/* --- slices of what is left ----------------------------------------------- */

static int frame_of(const struct look *l, uint64_t unit, uint64_t *frame)
{
    const struct journal_tasks *t = l->t;

    return t->place ? t->place(t->arg, (struct slice){unit, unit + 1}, frame)
                    : 0;
}

/* One more of its slice, as of now: tasks [from, to). */
static int add_slice(struct look *l,
                     size_t from,
                     size_t to,
                     uint64_t frame,
                     struct es_error *err)
{
    struct journal_tasks *t = l->t;
    const struct task *first = &l->task[from], *last = &l->task[to - 1];
    struct kept *k =
        array_grow(t->kept, &t->room, t->n + 1, sizeof *k, SIZE_MAX);

    if (!k)
        return es_no_memory(err);
    t->kept = k;
    k += t->n++;
    *k = t->kept[first->of];
    k->units = (struct slice){first->now, last->now + 1};
    k->frame = frame;
    k->skip = first->skip;
    k->bytes = last->skip + last->bytes - first->skip;
    k->tasks = 0;
    return 0;
}

/* Tasks of a slice: those that adjoin, in one frame, are slices now. */
static int part_slice(struct look *l,
                      size_t from,
                      size_t to,
                      struct es_error *err)
{
    for (size_t i = from, end; i < to; i = end) {
        uint64_t frame = l->t->kept[l->task[i].of].frame, other;

        end = i + 1;
        if (l->task[i].now == NOWHERE
            || frame_of(l, l->task[i].now, &frame) < 0)
            continue;
        other = frame;
        while (end < to && l->task[end].now == l->task[end - 1].now + 1
               && frame_of(l, l->task[end].now, &other) == 0 && other == frame)
            end++;
        if (add_slice(l, i, end, frame, err) < 0)
            return -1;
    }
    return 0;
}

static int part_all(struct look *l, struct es_error *err)
{
    struct journal_tasks *t = l->t;
    size_t slices = t->n;
    int rc = 0;

    for (size_t i = 0, end; i < l->n && rc == 0; i = end) {
        for (end = i + 1; end < l->n && l->task[end].of == l->task[i].of; end++)
            ;
        rc = part_slice(l, i, end, err);
    }
    for (size_t i = 0; i < slices; i++)
        t->kept[i].is_gone |= t->kept[i].tasks > 0;
    return rc;
}

int journal_tasks_settle(struct journal_tasks *t, struct es_error *err)
{
    struct look l = {.t = t, .is_taken = calloc((size_t)t->units + 1, 1)};
    int rc = l.is_taken ? read_tasks(&l, err) : es_no_memory(err);

    if (rc == 0) {
        take_others(&l);
        find_same(&l);
        if (t->may_move)
            rc = find_moved(&l, err);
    }
    if (rc == 0) {
        count_changed(&l);
        rc = part_all(&l, err);
    }
    free(l.is_taken);
    free(l.task);
    return rc;
}
