/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/history.h"
#include "launcher/run/history_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *last_part(const char *command)
{
    const char *slash = strrchr(command, '/');

    return slash ? slash + 1 : command;
}

/* --- out ------------------------------------------------------------------ */

int history_init(struct history *h, size_t n)
{
    h->n = n;
    h->units = calloc(n, sizeof *h->units);
    h->seconds = calloc(n, sizeof *h->seconds);
    return h->units && h->seconds ? 0 : -1;
}

void history_clear(struct history *h)
{
    free(h->units);
    free(h->seconds);
    *h = (struct history){0};
}

/* A node's slots work at the same time. */
void history_frame(struct history *h,
                   const struct dispatch *d,
                   const struct slots *slots)
{
    for (size_t i = 0; i < dispatch_pieces(d); i++) {
        const struct dispatch_piece *p = dispatch_piece(d, i);
        size_t node;

        if (p->state != PIECE_DONE)
            continue;
        node = slots->node[p->node];
        h->units[node] += (double)(p->units.end - p->units.begin);
        h->seconds[node] += p->seconds / (double)slots_of(slots, node);
    }
}

void history_add(struct history *h, size_t node, double units, double seconds)
{
    h->units[node] += units;
    h->seconds[node] += seconds;
}

static json_t *node_to_json(const double measured[ELEMENTS], double rate)
{
    json_t *node = json_pack("{s:f}", "rate", rate);

    for (int e = 0; e < ELEMENTS; e++) {
        const char key[] = {element_letter((enum element)e), '\0'};

        if (e >= ELEMENT_SITE && !(measured[e] > 0))
            continue; /* none of this site's */
        if (json_object_set_new(node, key, json_real(measured[e])) < 0) {
            json_decref(node);
            return NULL;
        }
    }
    return node;
}

/* The run as a line with its newline, owned by the caller. */
static char *to_line(const struct history *h,
                     const char *command,
                     const double measured[][ELEMENTS])
{
    size_t n = h->n < HISTORY_NODES_MOST ? h->n : HISTORY_NODES_MOST;
    json_t *nodes = json_array();
    json_t *json =
        json_pack("{s:s, s:o}", "command", last_part(command), "nodes", nodes);
    char *text, *line = NULL;
    int whole = json != NULL;

    // cppcheck-suppress knownConditionTrueFalse ; it takes n for 0
    for (size_t k = 0; whole && k < n; k++) {
        size_t i = k * h->n / n; /* spread over all of them */
        double rate = h->seconds[i] > 0 ? h->units[i] / h->seconds[i] : 0;

        whole =
            json_array_append_new(nodes, node_to_json(measured[i], rate)) == 0;
    }
    text = whole ? json_dumps(json, JSON_COMPACT) : NULL;
    if (text && asprintf(&line, "%s\n", text) < 0)
        line = NULL;
    free(text);
    json_decref(json);
    return line;
}

int history_append(const struct history *h,
                   const char *command,
                   const double measured[][ELEMENTS])
{
    char *line = to_line(h, command, measured);
    int rc, why;

    if (!line) {
        errno = ENOMEM;
        return -1;
    }
    rc = history_file_append("history", line, HISTORY_BYTES_MOST);
    why = errno;
    free(line);
    errno = why;
    return rc;
}

/* --- in ------------------------------------------------------------------- */

/* One node's row and rate; -1 if it is none of ours. */
static int take_node(double row[ELEMENTS], double *rate, json_t *node)
{
    for (int e = 0; e < ELEMENTS; e++) {
        const char key[] = {element_letter((enum element)e), '\0'};
        const json_t *value = json_object_get(node, key);

        if (!json_is_number(value) && (value || e < ELEMENT_SITE))
            return -1;
        row[e] = json_number_value(value);
    }
    if (!json_is_number(json_object_get(node, "rate")))
        return -1;
    *rate = json_number_value(json_object_get(node, "rate"));
    return 0;
}

/* A line that is none of ours, or that fit_add() refuses, adds nothing. */
void history_add_line(struct fit *fit, const char *line, const char *command)
{
    static double row[HISTORY_NODES_MOST][ELEMENTS], rate[HISTORY_NODES_MOST];
    json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    const char *name = json_string_value(json_object_get(json, "command"));
    json_t *nodes = json_object_get(json, "nodes");
    size_t n = json_array_size(nodes), i = 0;

    if (name && n <= HISTORY_NODES_MOST
        && (!command || strcmp(name, last_part(command)) == 0)) {
        while (i < n
               && take_node(row[i], &rate[i], json_array_get(nodes, i)) == 0)
            i++;
        if (i == n)
            (void)fit_add(fit, (const double(*)[ELEMENTS])row, rate, n);
    }
    json_decref(json);
}

struct reading {
    struct fit *fit;
    const char *command;
};

static void take_line(void *arg, const char *line)
{
    const struct reading *r = arg;

    history_add_line(r->fit, line, r->command);
}

void history_read(struct fit *fit, const char *command)
{
    struct reading r = {fit, command};

    *fit = (struct fit){.runs = 0};
    history_file_read("history", HISTORY_BYTES_MOST, take_line, &r);
}
