/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/absence.h"
#include "launcher/exec/execution.h"
#include "launcher/session/companion.h"
#include "pmix_bcast/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED     8         /* nodes; the others are counted */
#define SINFO_MAX (4 << 20) /* bytes of sinfo's that are read */

struct absence {
    struct execution *sinfo;
    absence_told_fn told;
    void *arg;
    char **came; /* sorted */
    size_t n;
    char *out; /* of sinfo */
    size_t len, cap;
};

/* --- what it says ---------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int absence_is_well(const char *word, size_t len)
{
    static const char *const well[] = {"allocated", "mixed", "idle",
                                       "completing", "reserved"};

    for (size_t i = 0; i < sizeof well / sizeof well[0]; i++)
        if (strlen(well[i]) == len && strncmp(word, well[i], len) == 0)
            return 1;
    return 0;
}

/* "n2", or "n2 (down*: Not responding)", at the end of text. */
static void add_node(
    char *text, size_t size, const char *name, char *state, int is_first)
{
    size_t len = strlen(text);
    char *why = state ? strchr(state, '|') : NULL;

    if (why)
        *why++ = '\0';
    if (!state || absence_is_well(state, strlen(state)))
        snprintf(text + len, size - len, "%s%s", is_first ? "" : ", ", name);
    else if (!why || !why[0] || strcmp(why, "none") == 0)
        snprintf(text + len, size - len, "%s%s (%.40s)", is_first ? "" : ", ",
                 name, state);
    else
        snprintf(text + len, size - len, "%s%s (%.40s: %.80s)",
                 is_first ? "" : ", ", name, state, why);
}

void absence_read(struct absent_nodes *absent,
                  char *sinfo,
                  char *const came[],
                  size_t n)
{
    char *save = NULL, *list = absent->list, last[256] = "";
    const size_t size = sizeof absent->text;
    size_t len;

    absent->n = 0;
    absent->text[0] = list[0] = '\0';
    for (char *line = strtok_r(sinfo, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char *state = strchr(line, '|');

        if (state)
            *state++ = '\0';
        line[strcspn(line, " ")] = '\0';
        if (!line[0] || strcmp(line, last) == 0
            || (n > 0 && bsearch(&line, came, n, sizeof *came, by_name)))
            continue; /* of another partition, or it is here */
        snprintf(last, sizeof last, "%s", line);
        if (absent->n > 0)
            list = stpcpy(list, ",");
        list = stpcpy(list, line);
        if (absent->n++ < NAMED)
            add_node(absent->text, size, line, state, absent->n == 1);
    }
    len = strlen(absent->text);
    if (absent->n > NAMED)
        snprintf(absent->text + len, size - len, " and %zu more",
                 absent->n - NAMED);
}

/* --- asking ----------------------------------------------------------------- */

static void on_output(void *arg, const void *buf, size_t len)
{
    struct absence *a = arg;
    char *out = array_grow(a->out, &a->cap, a->len + len + 1, 1, SINFO_MAX);

    if (!out)
        return; /* then fewer are named */
    a->out = out;
    memcpy(out + a->len, buf, len);
    a->len += len;
    out[a->len] = '\0';
}

static void on_end(void *arg, const struct execution_end *end)
{
    struct absence *a = arg;
    struct absent_nodes absent = {.list = malloc(a->len + 1)};

    if (absent.list)
        absent.list[0] = '\0';
    if (end->status == 0 && a->out && absent.list)
        absence_read(&absent, a->out, a->came, a->n);
    a->told(a->arg, &absent);
    free(absent.list);
}

static int copy_came(struct absence *a, const char *const came[], size_t n)
{
    a->came = calloc(n + 1, sizeof *a->came);
    if (!a->came)
        return -1;
    for (; a->n < n; a->n++)
        if (!(a->came[a->n] = strdup(came[a->n])))
            return -1;
    qsort(a->came, n, sizeof *a->came, by_name);
    return 0;
}

int absence_ask(struct absence **out,
                struct event_base *base,
                const char *list,
                const char *const came[],
                size_t n,
                absence_told_fn told,
                void *arg)
{
    struct absence *a = calloc(1, sizeof *a);
    char **env = companion_environ(), *nodes = strdup(list);
    char sinfo[] = "sinfo", quiet[] = "-h", each[] = "-N", as[] = "-o",
         format[] = "%N|%T|%E", of[] = "-n";
    char *argv[] = {sinfo, quiet, each, as, format, of, nodes, NULL};
    const struct execution_spec spec = {.argv = argv, .envp = env};
    int rc = -1;

    if (a && env && nodes && copy_came(a, came, n) == 0) {
        a->told = told;
        a->arg = arg;
        rc =
            execution_start(&a->sinfo, base, &spec, on_output, on_end, a, NULL);
    }
    free(env);
    free(nodes);
    if (rc < 0)
        absence_destroy(a);
    else
        *out = a;
    return rc;
}

void absence_destroy(struct absence *a)
{
    if (!a)
        return;
    execution_destroy(a->sinfo);
    for (size_t i = 0; i < a->n; i++)
        free(a->came[i]);
    free(a->came);
    free(a->out);
    free(a);
}
