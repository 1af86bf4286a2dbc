/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/top_file.h"
#include "launcher/base/json_member.h"
#include "launcher/base/step_dir.h"
#include "launcher/base/user_dir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STALE_S   10
#define COUNT_MAX 9e15 /* below it a double counts by one */
#define STEPS_MAX 1024 /* of one user at once on one host */

/* --- the front end's side ------------------------------------------------- */

static json_t *node_to_json(const struct steering_view *v)
{
    const struct energy_view *e = &v->energy;
    json_t *json = json_pack(
        "{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:s}", "name",
        v->name, "rack", v->rack, "slots", (json_int_t)v->slots, "progress",
        v->progress, "speed", v->speed, "waiting", v->waiting, "skew", v->skew,
        "misuse", (json_int_t)v->misuse, "limit", (json_int_t)v->limit, "floor",
        (json_int_t)v->floor, "ceiling", (json_int_t)v->ceiling, "unit",
        v->unit);

    if (e->source == ENERGY_UNKNOWN)
        return json;
    json =
        json_member(json, "energy", json_string(energy_source_name(e->source)));
    json = json_member(json, "joules", json_real(e->joules));
    return json_member(json, "energy_seconds", json_real(e->seconds));
}

/* To the object of the node. */
static json_t *add_ranks(json_t *json, const struct step_times *t, size_t i)
{
    const struct step_node *n = &t->node[i];

    if (!json || n->sum.ranks == 0)
        return json;
    return json_member(
        json, "ranks",
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "n", (double)n->sum.ranks,
                  "useful", n->sum.useful / 1e9, "waiting",
                  n->sum.waiting / 1e9, "most", n->sum.most / 1e9, "elapsed",
                  n->sum.elapsed / 1e9, "last", n->last));
}

/* To the object of the step. */
static int add_run(json_t *all, const struct top_run *r)
{
    json_t *run =
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "frame", r->frame,
                  "frames", r->frames, "done", r->done, "all", r->all, "rate",
                  r->rate, "left", r->left, "efficiency", r->efficiency);

    return json_object_set_new(all, "run", run);
}

int top_file_write(const char *dir, const struct top_view *top)
{
    json_t *list = json_array(), *all;
    char *text;
    int why = ENOMEM;

    for (size_t i = 0; i < top->n; i++) {
        struct steering_view view = top->node(top->from, i);
        json_t *node = node_to_json(&view);

        if (top->times)
            node = add_ranks(node, top->times, i);
        if (json_array_append_new(list, node) < 0) {
            json_decref(list);
            return ENOMEM;
        }
    }
    all = json_pack("{s:I, s:I, s:f, s:s, s:s, s:o}", "job",
                    (json_int_t)top->job, "step", (json_int_t)top->step, "skew",
                    top->skew, "meter", top->meter, "aggregate",
                    aggregate_name(top->aggregate), "nodes", list);
    if (all && top->run && add_run(all, top->run) < 0) {
        json_decref(all);
        all = NULL;
    }
    text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    if (text)
        why = step_dir_put(dir, TOP_FILE, text, strlen(text));
    free(text);
    json_decref(all);
    return why;
}

/* --- the reader's side ---------------------------------------------------- */

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
        || read_energy(n, json) < 0)
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

/* No more frames and units than a 64-bit number counts. */
static int read_run(struct top_run *r, const json_t *json)
{
    return read_number(&r->frame, json, "frame") < 0
                   || read_number(&r->frames, json, "frames") < 0
                   || read_number(&r->done, json, "done") < 0
                   || read_number(&r->all, json, "all") < 0
                   || read_number(&r->rate, json, "rate") < 0
                   || read_amount(&r->left, json, "left") < 0
                   || read_amount(&r->efficiency, json, "efficiency") < 0
                   || r->frame > COUNT_MAX || r->frames > COUNT_MAX
                   || r->done > COUNT_MAX || r->all > COUNT_MAX
               ? -1
               : 0;
}

int top_step_read(struct top_step *step, const json_t *json)
{
    const json_t *nodes = json_object_get(json, "nodes");
    const json_t *run = json_object_get(json, "run");
    size_t n = json_array_size(nodes);

    memset(step, 0, sizeof *step);
    step->is_run = run != NULL;
    if ((n == 0 && !run) || n > TOP_NODES_MAX || !json_is_array(nodes)
        || (run && read_run(&step->run, run) < 0)
        || read_id(&step->job, json, "job") < 0
        || read_id(&step->step, json, "step") < 0
        || read_number(&step->skew, json, "skew") < 0
        || read_name(step->meter, sizeof step->meter, json, "meter") < 0
        || read_aggregate(&step->aggregate, json) < 0)
        goto fail;
    if (n == 0)
        return 0;
    step->node = calloc(n, sizeof *step->node);
    for (; step->node && step->n < n; step->n++)
        if (read_node(&step->node[step->n], json_array_get(nodes, step->n)) < 0)
            goto fail;
    if (step->node)
        return 0;
fail:
    free(step->node);
    memset(step, 0, sizeof *step);
    return -1;
}

/* Of a file that is ours alone, and whose front end lives: it writes twice a
 * second. */
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
        && time(NULL) - st.st_mtime <= STALE_S)
        file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return NULL;
    }
    json = json_loadf(file, 0, NULL);
    (void)fclose(file); /* only read */
    return json;
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
            if (job == 0 || steps[n].job == job)
                n++;
            else
                free(steps[n].node);
        }
        json_decref(json);
    }
    if (list)
        (void)closedir(list); /* only read */
    return n;
}

size_t top_steps_find(struct top_step **steps, uint32_t job)
{
    struct user_dirs all;
    size_t n = 0;
    int user;

    *steps = calloc(STEPS_MAX, sizeof **steps);
    if (!*steps || user_dirs_open(&all) < 0)
        return 0;
    while (n < STEPS_MAX && (user = user_dirs_next(&all)) >= 0)
        n += find_in(user, *steps + n, STEPS_MAX - n, job);
    user_dirs_close(&all);
    return n;
}

void top_steps_free(struct top_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(steps[i].node);
    free(steps);
}
