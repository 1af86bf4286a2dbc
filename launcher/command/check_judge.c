/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/check_judge.h"
#include "launcher/session/absence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void add(struct check_answer *a,
                                                      const char *format,
                                                      ...)
{
    size_t len = strlen(a->line);
    va_list args;

    if (len > 0 && len < sizeof a->line - 3) {
        memcpy(a->line + len, "; ", 3);
        len += 2;
    }
    va_start(args, format);
    (void)vsnprintf(a->line + len, sizeof a->line - len, format, args);
    va_end(args);
}

/* --- what most have -------------------------------------------------------- */

/* The configuration of most nodes; *count of them have it. */
static const char *usual_config(const struct check_answer a[],
                                size_t n,
                                size_t *count)
{
    const char *usual = "";

    *count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t alike = 0;

        for (size_t k = 0; a[i].has_answered && k < n; k++)
            alike += a[k].has_answered
                     && strcmp(a[k].node.config, a[i].node.config) == 0;
        if (alike > *count) {
            *count = alike;
            usual = a[i].node.config;
        }
    }
    return usual;
}

static size_t count_plugins(const struct check_answer a[], size_t n, int has)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += a[i].has_answered && a[i].node.is_step
                 && a[i].node.has_plugin == has;
    return count;
}

int check_has_no_plugin(const struct check_answer a[], size_t n)
{
    return count_plugins(a, n, 1) == 0 && count_plugins(a, n, 0) > 0;
}

/* --- states ---------------------------------------------------------------- */

/* Of the word, without flags that explain nothing; a * does. */
static size_t word_len(const char *state)
{
    size_t len = strlen(state);

    while (len > 0 && strchr("~#!%$@^-+", state[len - 1]))
        len--;
    return len;
}

int check_is_free(const char *state)
{
    static const char *const busy[] = {"allocated", "reserved"};
    size_t len = word_len(state);

    for (size_t i = 0; i < sizeof busy / sizeof busy[0]; i++)
        if (strncmp(state, busy[i], len) == 0)
            return 0;
    return absence_is_well(state, len); /* one that completes is waited for */
}

void check_state(char text[160], const char *state, const char *reason)
{
    text[0] = '\0';
    if (absence_is_well(state, word_len(state)))
        return;
    if (reason && *reason && strcmp(reason, "none") != 0)
        snprintf(text, 160, "%.40s: %.100s", state, reason);
    else
        snprintf(text, 160, "%.40s", state);
}

/* --- one node -------------------------------------------------------------- */

static void compare(struct check_answer *a,
                    const char *config,
                    size_t alike,
                    size_t plugins,
                    size_t others,
                    const char *version)
{
    const struct check_node *node = &a->node;

    if (strcmp(node->version, version) != 0)
        add(a, "it has evenstep %s, here it is %s", node->version, version);
    if (strcmp(node->config, config) != 0)
        add(a,
            "its configuration is not that of %zu other nodes: compare "
            "`evenstep config` there",
            alike);
    if (node->is_step && !node->has_plugin && plugins > others)
        add(a,
            "slurmstepd has not loaded the plugin, as on %zu other nodes: see "
            "plugstack.conf there",
            plugins);
    if (fabs(a->offset) > CHECK_CLOCK_S)
        add(a, "its clock is %.0f s %s", fabs(a->offset),
            a->offset > 0 ? "ahead" : "behind");
    if (a->back[0])
        add(a, "%s", a->back);
}

size_t check_judge(struct check_answer a[],
                   size_t n,
                   const char *version,
                   int patience_s)
{
    size_t alike, unwell = 0, plugins = count_plugins(a, n, 1),
                  others = count_plugins(a, n, 0);
    const char *config = usual_config(a, n, &alike);

    for (size_t i = 0; i < n; i++) {
        a[i].line[0] = '\0';
        if (a[i].state[0])
            add(&a[i], "%s", a[i].state);
        if (a[i].has_answered) {
            compare(&a[i], config, alike, plugins, others, version);
            for (uint32_t k = 0; k < a[i].node.n; k++)
                add(&a[i], "%s", a[i].node.fault[k]);
        } else if (a[i].absent[0]) {
            add(&a[i], "evenstep could not be started there: %s", a[i].absent);
        } else if (a[i].is_asked) {
            add(&a[i], "no answer within %d s", patience_s);
        }
        unwell += a[i].line[0] != '\0';
    }
    return unwell;
}
