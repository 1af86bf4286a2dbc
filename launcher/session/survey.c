/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/survey.h"
#include "launcher/exec/execution.h"
#include "launcher/session/srun_words.h"

#include <event2/event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct survey {
    struct survey_setup s;
    struct execution *srun;
    struct srun_words words;
    char line[SURVEY_LINE];
    size_t len; /* of the line that is not whole yet */
};

/* --- what comes ------------------------------------------------------------ */

static void end_line(struct survey *s)
{
    s->line[s->len] = '\0';
    s->len = 0;
    s->s.line(s->s.arg, srun_words_unlabelled(s->line));
}

static void on_output(void *arg, const void *buf, size_t len)
{
    struct survey *s = arg;
    const char *text = buf;

    for (size_t i = 0; i < len; i++)
        if (text[i] == '\n')
            end_line(s);
        else if (s->len < sizeof s->line - 1)
            s->line[s->len++] = text[i];
}

static void on_said(void *arg, const void *buf, size_t len)
{
    struct survey *s = arg;

    srun_words_take(&s->words, buf, len);
}

/* The last line of srun's stderr. */
static void last_line(char why[300], const struct execution_end *end)
{
    size_t len = end->err_len, from;

    while (len > 0 && end->err_tail[len - 1] == '\n')
        len--;
    for (from = len; from > 0 && end->err_tail[from - 1] != '\n';)
        from--;
    snprintf(why, 300, "%.*s", (int)(len - from), end->err_tail + from);
}

static void on_end(void *arg, const struct execution_end *end)
{
    struct survey *s = arg;
    char why[300] = "";

    if (end->exec_errno)
        snprintf(why, sizeof why, "srun: %s", strerror(end->exec_errno));
    else if (end->status != 0)
        last_line(why, end);
    execution_destroy(s->srun);
    s->srun = NULL;
    if (s->len > 0)
        end_line(s);
    for (size_t i = 0; i < s->words.n_ends; i++)
        s->s.absent(s->s.arg, s->words.end[i].node,
                    srun_words_why(&s->words, &s->words.end[i]));
    s->s.over(s->s.arg, why[0] ? why : NULL);
}

/* --- start ----------------------------------------------------------------- */

/* srun's words and then the command's; the array alone is the caller's. */
static char **add_words(char **argv, const char *const words[])
{
    size_t n = 0, k = 0;
    char **all;

    while (argv[n])
        n++;
    while (words[k])
        k++;
    all = calloc(n + k + 1, sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, argv, n * sizeof *all);
    memcpy(all + n, words, k * sizeof *all); /* execve(2) writes to none */
    return all;
}

/* So that the plugin takes the step for one of ours, and says that it is there. */
static char **our_environ(void)
{
    static char step[] =
        "SLURM_SPANK__SLURM_SPANK_OPTION_evenstep_evenstep_agents=none";
    static char mark[] = "EVENSTEP_COMPANION=1";
    char **env = companion_environ(), **more;
    size_t n = 0;

    while (env && env[n])
        n++;
    more = env ? realloc(env, (n + 3) * sizeof *env) : NULL;
    if (!more) {
        free(env);
        return NULL;
    }
    more[n++] = step;
    more[n++] = mark;
    more[n] = NULL;
    return more;
}

struct survey *survey_start(const struct survey_setup *setup,
                            struct es_error *err)
{
    struct survey *s = calloc(1, sizeof *s);
    char **argv = NULL, **all = NULL, **env = our_environ();
    int rc = -1;

    if (s && env
        && companion_argv(&argv, setup->place, setup->words[0], err) == 0
        && companion_leave_pmix(argv) == 0
        && (all = add_words(argv, setup->words + 1))) {
        const struct execution_spec spec = {
            .argv = all, .envp = env, .orphan_signal = SIGTERM};

        s->s = *setup;
        rc = execution_start(&s->srun, setup->base, &spec, on_output, on_end, s,
                             err);
        if (rc == 0)
            execution_hear_err(s->srun, on_said);
    } else if (argv || !s || !env) {
        (void)es_no_memory(err);
    }
    companion_argv_free(argv);
    free(all);
    free(env);
    if (rc < 0) {
        free(s);
        s = NULL;
    }
    return s;
}

void survey_destroy(struct survey *s)
{
    if (!s)
        return;
    if (s->srun)
        execution_stop(s->srun); /* srun ends its step */
    execution_release(s->srun);
    free(s);
}

/* --- of the nodes ---------------------------------------------------------- */

static char *ask(char *const argv[], struct es_error *err)
{
    struct event_base *base = event_base_new();
    char *text = NULL;

    if (base)
        text = companion_ask(base, argv, err);
    else
        (void)es_no_memory(err);
    if (base)
        event_base_free(base);
    return text;
}

/* Slurm's commands write to none of their words; nor does execve(2). */
static char *word(const char *text)
{
    return (char *)(uintptr_t)text;
}

char *survey_states(const char *list, struct es_error *err)
{
    char *const argv[] = {word("sinfo"),    word("-h"),
                          word("-N"),       word("-o"),
                          word("%N|%T|%E"), list ? word("-n") : NULL,
                          word(list),       NULL};

    return ask(argv, err);
}

char *survey_partitions(struct es_error *err)
{
    char *const argv[] = {word("sinfo"), word("-h"), word("-o"), word("%R"),
                          NULL};

    return ask(argv, err);
}

char *survey_list(const char *names, struct es_error *err)
{
    char *const argv[] = {word("scontrol"), word("show"), word("hostlist"),
                          word(names), NULL};
    char *text = ask(argv, err);

    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text;
}

char *survey_names(const char *list, struct es_error *err)
{
    char *const argv[] = {word("scontrol"), word("show"), word("hostnames"),
                          word(list), NULL};

    return ask(argv, err);
}
