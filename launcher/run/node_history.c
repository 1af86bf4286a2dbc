/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/node_history.h"
#include "launcher/run/history_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "nodes"

static int is_text(const json_t *json, const char *name, const char *value)
{
    const char *text = json_string_value(json_object_get(json, name));

    return text && strcmp(text, value) == 0;
}

static int is_number(const json_t *json, const char *name, int64_t value)
{
    const json_t *number = json_object_get(json, name);

    return json_is_integer(number) && json_integer_value(number) == value;
}

/* --- in ------------------------------------------------------------------- */

/* Of a step before, or of the very agents that are here. */
static int is_before(const json_t *run, const struct node_history_key *key)
{
    const json_t *step = json_object_get(run, "step");

    return json_is_integer(step)
           && json_integer_value(step)
                  < (json_int_t)key->step + (key->is_same_step != 0);
}

static int is_fresh(const json_t *run, const struct node_history_key *key)
{
    const json_t *time = json_object_get(run, "time");
    int64_t age = key->now_s - (int64_t)json_integer_value(time);

    return json_is_integer(time) && age >= 0 && age < key->ttl_s;
}

static int is_of_cluster(const json_t *run, const struct node_history_key *key)
{
    return is_text(run, "release", key->release)
           && is_text(run, "cluster", key->cluster);
}

static int is_whole(const json_t *run, const struct node_history_key *key)
{
    return is_of_cluster(run, key)
           && json_is_true(json_object_get(run, "whole"));
}

static int is_of_job(const json_t *run, const struct node_history_key *key)
{
    return is_of_cluster(run, key) && is_number(run, "job", key->job)
           && is_before(run, key) && is_fresh(run, key);
}

static void take(json_t **to,
                 const struct node_history_key *key,
                 const char *line,
                 int (*is)(const json_t *, const struct node_history_key *))
{
    json_t *run = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    json_t *nodes = json_object_get(run, "nodes");

    if (json_is_array(nodes) && is(run, key)) {
        json_decref(*to);
        *to = json_incref(nodes);
    }
    json_decref(run);
}

void node_history_line(struct node_history *h,
                       const struct node_history_key *key,
                       const char *line)
{
    take(&h->nodes, key, line, is_of_job);
}

void node_history_newest(struct node_history *h,
                         const struct node_history_key *key,
                         const char *line)
{
    take(&h->newest, key, line, is_whole);
}

struct reading {
    struct node_history *h;
    const struct node_history_key *key;
    char job[32]; /* as a line of this job has it */
    char *last;   /* line of a whole run; NULL: none, or no memory */
};

static void take_line(void *arg, const char *line)
{
    struct reading *r = arg;

    if (strstr(line, "\"whole\":true")) {
        free(r->last);
        r->last = strdup(line);
    }
    /* Most are of other jobs, and need no parser to say so. */
    if (strstr(line, r->job))
        node_history_line(r->h, r->key, line);
}

void node_history_read(struct node_history *h,
                       const struct node_history_key *key)
{
    struct reading r = {.h = h, .key = key};

    h->nodes = h->newest = NULL;
    (void)snprintf(r.job, sizeof r.job, "\"job\":%u,", key->job);
    history_file_read(FILE_NAME, NODE_HISTORY_BYTES_MOST, take_line, &r);
    if (r.last)
        node_history_newest(h, key, r.last);
    free(r.last);
}

json_t *node_history_find(const struct node_history *h,
                          const struct node *node,
                          const char **hardware)
{
    size_t i;
    json_t *one;

    json_array_foreach(h->nodes, i, one)
    {
        *hardware = json_string_value(json_object_get(one, "hardware"));
        if (*hardware && node->boot_id[0] && is_text(one, "node", node->name)
            && is_text(one, "boot_id", node->boot_id)
            && is_number(one, "cpus", node->cpus))
            return json_object_get(one, "probe");
    }
    return NULL;
}

json_t *node_history_guess(const struct node_history *h,
                           const struct node *node)
{
    size_t i;
    json_t *one;

    json_array_foreach(h->newest, i, one)
    {
        if (is_text(one, "node", node->name)
            && is_number(one, "cpus", node->cpus))
            return json_object_get(one, "probe");
    }
    return NULL;
}

json_t *node_history_rank(const struct node_history *h,
                          size_t rank,
                          size_t n,
                          const char **name)
{
    json_t *one = json_array_size(h->newest) == n
                      ? json_array_get(h->newest, rank)
                      : NULL;

    *name = json_string_value(json_object_get(one, "node"));
    return *name ? json_object_get(one, "probe") : NULL;
}

void node_history_clear(struct node_history *h)
{
    json_decref(h->nodes);
    json_decref(h->newest);
    h->nodes = h->newest = NULL;
}

/* --- out ------------------------------------------------------------------ */

int node_history_append(const struct node_history_key *key,
                        json_t *nodes,
                        int is_whole)
{
    json_t *run =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:o}", "release",
                  key->release, "cluster", key->cluster, "job",
                  (json_int_t)key->job, "step", (json_int_t)key->step, "time",
                  (json_int_t)key->now_s, "whole", is_whole, "nodes", nodes);

    return history_file_append_json(FILE_NAME, run, 0, NODE_HISTORY_BYTES_MOST);
}
