/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/user_dir.h"
#include "launcher/session/top_file.h"
#include "launcher/session/top_place.h"

#include <ctype.h>
#include <dirent.h>
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

#define STALE_S   10
#define BYTES_MAX (64 << 20) /* of a file */
#define COUNT_MAX 9e15       /* below it a double counts by one */
#define STEPS_MAX 1024       /* of one user at once on one host */

static int read_number(double *v, const json_t *json, const char *key)
{
    const json_t *number = json_object_get(json, key);

    *v = json_number_value(number);
    return json_is_number(number) && isfinite(*v) && *v >= 0 ? 0 : -1;
}

/* Printable, so that no name plays tricks on a terminal or a metrics file. */
static int read_name(char *out,
                     size_t size,
                     const json_t *json,
                     const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    if (!text || strlen(text) >= size)
        return -1;
    for (const char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-_./", *p))
            return -1;
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int read_ranks(struct top_node *n, const json_t *json)
{
    struct top_ranks *r = &n->ranks;

    if (read_number(&r->n, json, "n") < 0 || r->n < 1 || r->n > UINT32_MAX
        || read_number(&r->useful, json, "useful") < 0
        || read_number(&r->waiting, json, "waiting") < 0
        || read_number(&r->most, json, "most") < 0
        || read_number(&r->elapsed, json, "elapsed") < 0
        || read_number(&r->last, json, "last") < 0)
        return -1;
    if (json_object_get(json, "room")
        && (read_number(&r->busy, json, "busy") < 0
            || read_number(&r->room, json, "room") < 0 || r->busy < 0
            || r->room < r->busy))
        return -1;
    if (r->useful + r->waiting > 0) /* better than what steering guesses */
        n->waiting = r->waiting / (r->useful + r->waiting);
    return 0;
}

/* Of a node of which it is known. */
static int read_energy(struct top_node *n, const json_t *json)
{
    if (!json_object_get(json, "energy"))
        return 0;
    return read_name(n->energy, sizeof n->energy, json, "energy") < 0
                   || read_number(&n->joules, json, "joules") < 0
                   || read_number(&n->seconds, json, "energy_seconds") < 0
               ? -1
               : 0;
}

/* Of a node whose agent was. */
static int read_lost(struct top_node *n, const json_t *json)
{
    n->is_lost = json_object_get(json, "lost") != NULL;
    return n->is_lost ? read_number(&n->lost, json, "lost") : 0;
}

static int read_node(struct top_node *n, const json_t *json)
{
    const json_t *ranks = json_object_get(json, "ranks");

    if (read_name(n->name, sizeof n->name, json, "name") < 0
        || read_name(n->rack, sizeof n->rack, json, "rack") < 0
        || read_name(n->unit, sizeof n->unit, json, "unit") < 0
        || read_number(&n->slots, json, "slots") < 0
        || read_number(&n->progress, json, "progress") < 0
        || read_number(&n->speed, json, "speed") < 0
        || read_number(&n->waiting, json, "waiting") < 0
        || read_number(&n->skew, json, "skew") < 0
        || read_number(&n->misuse, json, "misuse") < 0
        || read_number(&n->limit, json, "limit") < 0
        || read_number(&n->floor, json, "floor") < 0
        || read_number(&n->ceiling, json, "ceiling") < 0
        || read_energy(n, json) < 0 || read_lost(n, json) < 0)
        return -1;
    return ranks ? read_ranks(n, ranks) : 0;
}

static int read_id(uint32_t *v, const json_t *json, const char *key)
{
    double n;

    if (read_number(&n, json, key) < 0 || n > UINT32_MAX)
        return -1;
    *v = (uint32_t)n;
    return 0;
}

static int read_aggregate(enum aggregate *how, const json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "aggregate"));

    *how = name ? aggregate_find(name) : AGGREGATES;
    return *how < AGGREGATES ? 0 : -1;
}

static int read_amount(double *v, const json_t *json, const char *key)
{
    const json_t *number = json_object_get(json, key);

    *v = json_number_value(number);
    return json_is_number(number) && isfinite(*v) && (*v >= 0 || *v == -1) ? 0
                                                                           : -1;
}

/* No more of anything than a 64-bit number counts. */
static int read_count(double *v, const json_t *json, const char *key)
{
    return read_number(v, json, key) < 0 || *v > COUNT_MAX ? -1 : 0;
}

static int read_progress_energy(struct top_progress *p, const json_t *json)
{
    if (!json_object_get(json, "energy"))
        return 0;
    return read_name(p->energy, sizeof p->energy, json, "energy") < 0
                   || read_number(&p->joules, json, "joules") < 0
                   || read_number(&p->watts, json, "watts") < 0
               ? -1
               : 0;
}

/* A text that may be shown; "" if it is none. */
static void read_shown(char *out, size_t size, const json_t *json)
{
    const char *text = json_string_value(json);

    snprintf(out, size, "%s", text ? text : "");
    for (char *at = out; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
}

/* It need not be there. */
static int read_longest(struct top_longest *l, const json_t *json)
{
    l->seconds = -1;
    if (!json)
        return 0;
    read_shown(l->task, sizeof l->task, json_object_get(json, "task"));
    return read_name(l->node, sizeof l->node, json, "node") < 0
                   || read_number(&l->seconds, json, "seconds") < 0
               ? -1
               : 0;
}

static int read_tasks(struct top_progress *p, const json_t *json)
{
    p->failed = -1;
    p->are_tasks = json_object_get(json, "failed") != NULL;
    p->is_open = json_is_true(json_object_get(json, "open"));
    if (read_longest(&p->longest, json_object_get(json, "longest")) < 0)
        return -1;
    return p->are_tasks ? read_count(&p->failed, json, "failed") : 0;
}

static int read_progress(struct top_progress *p, const json_t *json)
{
    return read_count(&p->frame, json, "frame") < 0
                   || read_count(&p->frames, json, "frames") < 0
                   || read_count(&p->done, json, "done") < 0
                   || read_count(&p->all, json, "all") < 0
                   || read_number(&p->rate, json, "rate") < 0
                   || read_amount(&p->left, json, "left") < 0
                   || read_number(&p->elapsed, json, "elapsed") < 0
                   || read_amount(&p->planned, json, "planned") < 0
                   || read_amount(&p->efficiency, json, "efficiency") < 0
                   || read_amount(&p->gain, json, "gain") < 0
                   || read_tasks(p, json) < 0
                   || read_progress_energy(p, json) < 0
               ? -1
               : 0;
}

/* A word of another version is as good as none. */
static enum idle_reason read_why(const json_t *json)
{
    const char *word = json_string_value(json_object_get(json, "why"));
    int why = word ? IDLE_REASONS - 1 : IDLE_NOT;

    while (why > IDLE_NOT
           && strcmp(word, idle_word((enum idle_reason)why)) != 0)
        why--;
    return (enum idle_reason)why;
}

static int read_state(enum top_state *state, const json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "state"));

    *state = 0;
    while (name && *state < TOP_STATES
           && strcmp(name, top_state_name(*state)) != 0)
        ++*state;
    return name && *state < TOP_STATES ? 0 : -1;
}

static int read_part(struct top_part *p, const json_t *json)
{
    p->why = read_why(json);
    return read_name(p->name, sizeof p->name, json, "name") < 0
                   || read_state(&p->state, json) < 0
                   || read_count(&p->slots, json, "slots") < 0
                   || read_count(&p->running, json, "running") < 0
                   || read_count(&p->part, json, "part") < 0
                   || read_count(&p->done, json, "done") < 0
                   || read_count(&p->underway, json, "underway") < 0
                   || read_count(&p->total, json, "total") < 0
                   || read_amount(&p->rate, json, "rate") < 0
                   || read_amount(&p->left, json, "left") < 0
                   || read_amount(&p->waiting, json, "waiting") < 0
               ? -1
               : 0;
}

static int read_kind(enum top_kind *kind, const json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "kind"));

    *kind = 0;
    while (name && *kind < TOP_KINDS && strcmp(name, top_kind_name(*kind)) != 0)
        ++*kind;
    return name && *kind < TOP_KINDS ? 0 : -1;
}

static int read_head(struct top_step *step, const json_t *json)
{
    return read_kind(&step->kind, json) < 0
                   || read_name(step->what, sizeof step->what, json, "what") < 0
                   || read_id(&step->pid, json, "pid") < 0
                   || read_id(&step->job, json, "job") < 0
                   || read_id(&step->step, json, "step") < 0
                   || read_number(&step->skew, json, "skew") < 0
                   || read_name(step->meter, sizeof step->meter, json, "meter")
                          < 0
                   || read_aggregate(&step->aggregate, json) < 0
               ? -1
               : 0;
}

/* They need not be there.  A text is made one that may be shown. */
static int read_reason(struct top_step *step, const json_t *json)
{
    if (json_object_get(json, "seconds")
        && read_number(&step->seconds, json, "seconds") < 0)
        return -1;
    read_shown(step->reason, sizeof step->reason,
               json_object_get(json, "reason"));
    return 0;
}

/* It need not be there. */
static int read_saved(struct top_step *step, const json_t *json)
{
    const json_t *number = json_object_get(json, "joules_saved");

    step->has_saved = number != NULL;
    step->saved = json_number_value(number);
    return !number || (json_is_number(number) && isfinite(step->saved)) ? 0
                                                                        : -1;
}

static int read_parts(struct top_step *step, const json_t *json)
{
    const json_t *list = json_object_get(json, "parts");
    size_t n = json_array_size(list);

    if (step->kind == TOP_STEP)
        return 0;
    if (!json_is_array(list) || n > TOP_NODES_MAX
        || read_progress(&step->progress, json_object_get(json, "progress"))
               < 0)
        return -1;
    step->part = calloc(n + 1, sizeof *step->part);
    for (; step->part && step->parts < n; step->parts++)
        if (read_part(&step->part[step->parts],
                      json_array_get(list, step->parts))
            < 0)
            return -1;
    return step->part ? 0 : -1;
}

static int read_nodes(struct top_step *step, const json_t *json)
{
    const json_t *list = json_object_get(json, "nodes");
    size_t n = json_array_size(list);

    if (!json_is_array(list) || n > TOP_NODES_MAX
        || (n == 0 && step->kind == TOP_STEP))
        return -1;
    step->node = calloc(n + 1, sizeof *step->node);
    for (; step->node && step->n < n; step->n++)
        if (read_node(&step->node[step->n], json_array_get(list, step->n)) < 0)
            return -1;
    return step->node ? 0 : -1;
}

void top_step_clear(struct top_step *step)
{
    free(step->part);
    free(step->node);
    memset(step, 0, sizeof *step);
}

int top_step_read(struct top_step *step, const json_t *json)
{
    memset(step, 0, sizeof *step);
    if (read_head(step, json) == 0 && read_reason(step, json) == 0
        && read_saved(step, json) == 0 && read_parts(step, json) == 0
        && read_nodes(step, json) == 0)
        return 0;
    top_step_clear(step);
    return -1;
}

/* Of a file that is ours alone, and whose front end lives: it writes every second
 * or so. */
static json_t *load_view(int dir, const char *name)
{
    char path[300];
    int fd;
    FILE *file = NULL;
    json_t *json = NULL;
    struct stat st;

    if ((size_t)snprintf(path, sizeof path, "%s/" TOP_FILE, name)
        >= sizeof path)
        return NULL;
    fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == getuid()
        && st.st_size <= BYTES_MAX && time(NULL) - st.st_mtime <= STALE_S)
        file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return NULL;
    }
    json = json_loadf(file, 0, NULL);
    (void)fclose(file); /* only read */
    return json;
}

/* Does the process that wrote it live? */
static int is_alive(const struct top_step *step)
{
    return step->pid <= INT_MAX && step->pid > 0
           && (kill((pid_t)step->pid, 0) == 0 || errno != ESRCH);
}

/* Of one of this user's directories, which is closed: how many more. */
static size_t find_in(int user,
                      struct top_step *steps,
                      size_t max,
                      uint32_t job)
{
    const struct dirent *d;
    size_t n = 0;
    DIR *list = fdopendir(user);

    if (!list)
        close(user);
    while (list && n < max && (d = readdir(list)) != NULL) {
        json_t *json =
            d->d_name[0] == '.' ? NULL : load_view(dirfd(list), d->d_name);

        if (json && top_step_read(&steps[n], json) == 0) {
            if ((job == 0 || steps[n].job == job) && is_alive(&steps[n]))
                n++;
            else
                top_step_clear(&steps[n]);
        }
        json_decref(json);
    }
    if (list)
        (void)closedir(list); /* only read */
    return n;
}

static int by_number(const void *a, const void *b)
{
    const struct top_step *x = a, *y = b;

    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

size_t top_steps_find(struct top_step **steps, uint32_t job)
{
    struct user_dirs all;
    size_t n = 0;
    int user;

    top_place_sweep();
    *steps = calloc(STEPS_MAX, sizeof **steps);
    if (!*steps || user_dirs_open(&all) < 0)
        return 0;
    while (n < STEPS_MAX && (user = user_dirs_next(&all)) >= 0)
        n += find_in(user, *steps + n, STEPS_MAX - n, job);
    user_dirs_close(&all);
    qsort(*steps, n, sizeof **steps, by_number);
    return n;
}

void top_steps_free(struct top_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        top_step_clear(&steps[i]);
    free(steps);
}
