/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/cost_history.h"
#include "launcher/run/history_file.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#define FILE_NAME "costs"
#define DIGITS    6 /* of a number that was measured */

/* A command that takes longer to start, or a unit, is none that anybody runs;
 * and no other number is so large. */
#define NUMBER_MOST 1e9
/* All whole numbers up to that are exact. */
#define UNITS_MOST 0x1p53

/* --- which command -------------------------------------------------------- */

static void take_name(char name[64], const char *path)
{
    const char *slash = strrchr(path, '/');

    (void)snprintf(name, 64, "%s", slash ? slash + 1 : path);
}

static int is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static uint64_t hash_of(const char *text, uint64_t before)
{
    return XXH3_64bits_withSeed(text, strlen(text) + 1, before);
}

void cost_key_of(struct cost_key *key, char *const argv[])
{
    uint64_t hash = 0;

    *key = (struct cost_key){.file = ""};
    take_name(key->command, argv[0]);
    for (size_t i = 0; argv[i]; i++) {
        int is_its = i > 0 && key->file[0] == '\0' && is_file(argv[i]);
        char *path = is_its ? realpath(argv[i], NULL) : NULL;

        if (is_its)
            take_name(key->file, argv[i]);
        hash = hash_of(path ? path : argv[i], hash);
        free(path);
    }
    (void)snprintf(key->line, sizeof key->line, "%016" PRIx64, hash);
}

/* --- in ------------------------------------------------------------------- */

static int is_text(const json_t *json, const char *name, const char *value)
{
    const char *text = json_string_value(json_object_get(json, name));

    return text && strcmp(text, value) == 0;
}

static enum cost_match match_of(const json_t *json, const struct cost_key *key)
{
    if (is_text(json, "line", key->line))
        return COST_SAME_LINE;
    return key->file[0] != '\0' && is_text(json, "file", key->file)
                   && is_text(json, "command", key->command)
               ? COST_SAME_PROGRAM
               : COST_STRANGER;
}

/* 0, or -1 if there is no such number, or none that can be. */
static int take_number(double *value, const json_t *json, const char *name)
{
    const json_t *number = json_object_get(json, name);

    *value = json_number_value(number);
    return json_is_number(number) && *value >= 0 && *value <= NUMBER_MOST ? 0
                                                                          : -1;
}

/* 0, or -1 if it is none that can be. */
static int take_seen(struct density_seen *seen, const json_t *json)
{
    seen->begin = json_number_value(json_array_get(json, 0));
    seen->end = json_number_value(json_array_get(json, 1));
    seen->mean = json_number_value(json_array_get(json, 2));
    seen->deviation = json_number_value(json_array_get(json, 3));
    return seen->begin >= 0 && seen->end > seen->begin && seen->end <= 1
                   && seen->mean >= 0 && seen->mean <= NUMBER_MOST
                   && seen->deviation > 0 && seen->deviation <= NUMBER_MOST
               ? 0
               : -1;
}

/* A piece that cannot be is left out. */
static void read_profile(struct cost_profile *p, const json_t *json)
{
    const json_t *values = json_object_get(json, "seen");
    const json_t *begin = json_object_get(json, "begin");
    double units = json_number_value(json_object_get(json, "units"));
    size_t n = json_array_size(values);

    for (size_t i = 0; i < n && n <= COST_PROFILE; i++)
        if (take_seen(&p->seen[p->n], json_array_get(values, i)) == 0)
            p->n++;
    p->begin = json_number_value(begin);
    if (!(units > 0) || !(units <= UNITS_MOST) || !json_is_integer(begin)
        || !(p->begin >= 0))
        p->n = 0;
    p->units = p->n > 0 ? units : 0;
}

/* One that cannot be is none. */
static void read_scaling(struct cost_record *r, const json_t *json)
{
    const char *by = json_string_value(json_object_get(json, "by"));
    struct cost_scaling s;

    if (by && strlen(by) < sizeof r->by
        && take_number(&s.exponent, json, "exponent") == 0
        && take_number(&s.loose, json, "loose") == 0
        && take_number(&s.sure, json, "sure") == 0 && cost_scaling_holds(&s)) {
        r->scaling = s;
        (void)snprintf(r->by, sizeof r->by, "%s", by);
    }
}

static void read_lags(struct cost_record *r, json_t *json)
{
    json_t *lags = json_object_get(json, "lag"), *value;
    const char *node;

    json_object_foreach(lags, node, value)
    {
        if (json_is_number(value)
            && fabs(json_number_value(value)) <= NUMBER_MOST)
            cost_record_add_lag(r, node, json_number_value(value));
    }
}

void cost_history_line(struct cost_record *best,
                       const struct cost_key *key,
                       const char *line)
{
    json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    struct cost_record r = {.match = match_of(json, key)};

    if (r.match != COST_STRANGER && r.match >= best->match
        && take_number(&r.terms.wait, json, "wait") == 0
        && take_number(&r.terms.burn, json, "burn") == 0
        && take_number(&r.terms.each, json, "each") == 0
        && take_number(&r.noise, json, "noise") == 0 && r.terms.each > 0) {
        if (take_number(&r.speed, json, "speed") < 0)
            r.speed = 0;
        read_scaling(&r, json);
        read_lags(&r, json);
        if (r.match == COST_SAME_LINE)
            read_profile(&r.profile, json);
        *best = r;
    }
    json_decref(json);
}

/* Lines that may match, the oldest first. */
struct reading {
    const struct cost_key *key;
    char **line;
    size_t n, room;
};

static void keep_line(struct reading *r, const char *line)
{
    size_t room = r->room > 0 ? 2 * r->room : 64;
    char **more = r->line;

    if (r->n == r->room) {
        more = realloc(r->line, room * sizeof *more);
        if (!more)
            return; /* it only helps */
        r->line = more;
        r->room = room;
    }
    r->line[r->n] = strdup(line);
    r->n += r->line[r->n] != NULL;
}

static void take_line(void *arg, const char *line)
{
    struct reading *r = arg;

    /* Most are of other commands, and need no parser to say so. */
    if (strstr(line, r->key->line)
        || (r->key->file[0] != '\0' && strstr(line, r->key->file)))
        keep_line(r, line);
}

/* The newest that has such a text and is a match at least as good. */
static void look_for(struct cost_record *best,
                     const struct reading *r,
                     const char *text,
                     enum cost_match match)
{
    for (size_t i = r->n; i > 0 && best->match < match; i--)
        if (strstr(r->line[i - 1], text))
            cost_history_line(best, r->key, r->line[i - 1]);
}

void cost_history_read(struct cost_record *best, const struct cost_key *key)
{
    struct reading r = {.key = key};

    *best = (struct cost_record){.match = COST_STRANGER};
    history_file_read(FILE_NAME, COST_HISTORY_BYTES_MOST, take_line, &r);
    look_for(best, &r, key->line, COST_SAME_LINE);
    if (key->file[0] != '\0')
        look_for(best, &r, key->file, COST_SAME_PROGRAM);
    for (size_t i = 0; i < r.n; i++)
        free(r.line[i]);
    free(r.line);
}

struct cost_terms cost_record_terms(const struct cost_record *r, double speed)
{
    double factor = r->speed > 0 && speed > 0 ? r->speed / speed : 1;

    return (struct cost_terms){.wait = r->terms.wait,
                               .burn = factor * r->terms.burn,
                               .each = factor * r->terms.each};
}

double cost_record_lag(const struct cost_record *r, const char *node)
{
    for (size_t i = 0; i < r->lags; i++)
        if (strcmp(r->lag[i].node, node) == 0)
            return r->lag[i].seconds;
    return 0;
}

void cost_record_add_lag(struct cost_record *r,
                         const char *node,
                         double seconds)
{
    struct cost_node_lag *lag = &r->lag[r->lags];

    if (r->lags == COST_LAGS || node[0] == '\0'
        || strlen(node) >= sizeof lag->node)
        return;
    (void)snprintf(lag->node, sizeof lag->node, "%s", node);
    lag->seconds = seconds;
    r->lags++;
}

/* --- out ------------------------------------------------------------------ */

/* Without memory it is none: the next run knows less. */
static void pack_profile(json_t *json, const struct cost_profile *p)
{
    json_t *values = p->n > 0 ? json_array() : NULL;

    if (!values)
        return;
    for (size_t i = 0; i < p->n; i++)
        (void)json_array_append_new(
            values, json_pack("[f, f, f, f]", p->seen[i].begin, p->seen[i].end,
                              p->seen[i].mean, p->seen[i].deviation));
    (void)json_object_set_new(json, "begin",
                              json_integer((json_int_t)p->begin));
    (void)json_object_set_new(json, "units",
                              json_integer((json_int_t)p->units));
    (void)json_object_set_new(json, "seen", values);
}

static void pack_scaling(json_t *json, const struct cost_record *r)
{
    const struct cost_scaling *s = &r->scaling;

    if (!(s->exponent > 0))
        return;
    (void)json_object_set_new(json, "exponent", json_real(s->exponent));
    (void)json_object_set_new(json, "loose", json_real(s->loose));
    (void)json_object_set_new(json, "sure", json_real(s->sure));
    (void)json_object_set_new(json, "by", json_string(r->by));
}

static void pack_lags(json_t *json, const struct cost_record *r)
{
    json_t *lags = r->lags > 0 ? json_object() : NULL;

    for (size_t i = 0; lags && i < r->lags; i++)
        (void)json_object_set_new(lags, r->lag[i].node,
                                  json_real(r->lag[i].seconds));
    if (lags)
        (void)json_object_set_new(json, "lag", lags);
}

json_t *cost_record_json(const struct cost_record *r)
{
    json_t *json =
        json_pack("{s:f, s:f, s:f, s:f}", "wait", r->terms.wait, "burn",
                  r->terms.burn, "each", r->terms.each, "noise", r->noise);

    pack_scaling(json, r);
    pack_profile(json, &r->profile);
    pack_lags(json, r);
    return json;
}

int cost_history_append(const struct cost_key *key, const struct cost_record *r)
{
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:f}", "command", key->command, "file",
                  key->file, "line", key->line, "speed", r->speed);
    json_t *costs = cost_record_json(r);

    if (json_object_update(json, costs) < 0) {
        json_decref(json);
        json = NULL;
    }
    json_decref(costs);
    return history_file_append_json(FILE_NAME, json, DIGITS,
                                    COST_HISTORY_BYTES_MOST);
}
