/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/works_file.h"
#include "launcher/base/user_file.h"
#include "launcher/config/config_file.h"
#include "launcher/config/grammar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what may stand there ------------------------------------------------- */

static int check_words(cfg_t *cfg, cfg_opt_t *opt)
{
    if (cfg_opt_getnstr(opt, 0)[0] || cfg_opt_size(opt) > 1)
        return 0;
    return grammar_refuse(cfg, "give a line for sh, or a list of words",
                          "work \"%s\": command is empty", cfg_title(cfg));
}

static int check_name_given(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *text = cfg_opt_getnstr(opt, 0);

    if (text[0] && strlen(text) < WORK_TEXT_MAX)
        return 0;
    return grammar_refuse(cfg, "give a name", "work \"%s\": %s is out of range",
                          cfg_title(cfg), opt->name);
}

static int check_work(cfg_t *cfg, cfg_opt_t *opt)
{
    unsigned n = cfg_opt_size(opt);
    cfg_t *section = cfg_opt_getnsec(opt, n - 1);

    if (!grammar_is_name(cfg_title(section), WORK_NAME_MAX))
        return grammar_refuse(cfg, "give at most 31 of a-z, 0-9, - and _",
                              "work: the name is out of range");
    if (n > WORKS_MAX)
        return grammar_refuse(cfg, "give at most 32",
                              "there are too many works");
    if (cfg_size(section, "command") > 0 && cfg_getstr(section, "command"))
        return 0;
    return grammar_refuse(cfg, "give it command = \"LINE\"",
                          "work \"%s\" has no command", cfg_title(section));
}

static cfg_t *grammar(void)
{
    cfg_opt_t work[] = {
        grammar_key((cfg_opt_t)CFG_STR_LIST("command", NULL, CFGF_NODEFAULT),
                    check_words),
        grammar_text("profile", check_name_given),
        grammar_text("policy", check_name_given), CFG_END()};
    cfg_opt_t all[] = {grammar_titled("work", work, check_work), grammar_end(),
                       CFG_END()};

    return cfg_init(all, CFGF_NONE);
}

/* --- what stands there ---------------------------------------------------- */

/* The words of a list; of one word, that is a line, those of a shell with it. */
static char **words_of(cfg_t *section)
{
    static const char *const shell[] = {"/bin/sh", "-c"};
    unsigned n = cfg_size(section, "command"), k = 0;
    char **words = calloc(n + 3, sizeof *words);

    if (!words)
        return NULL;
    while (n == 1 && k < 2) {
        words[k] = strdup(shell[k]);
        if (!words[k++])
            goto no_memory;
    }
    for (unsigned i = 0; i < n; i++) {
        words[k] = strdup(cfg_getnstr(section, "command", i));
        if (!words[k++])
            goto no_memory;
    }
    return words;
no_memory:
    for (k = 0; words[k]; k++)
        free(words[k]);
    free(words);
    return NULL;
}

static void take_text(char text[WORK_TEXT_MAX], const char *given)
{
    snprintf(text, WORK_TEXT_MAX, "%s", given ? given : "");
}

static int take_work(struct works *w, cfg_t *section, struct es_error *err)
{
    struct works_entry *e = &w->work[w->n];

    snprintf(e->name, sizeof e->name, "%s", cfg_title(section));
    take_text(e->profile, cfg_getstr(section, "profile"));
    take_text(e->policy, cfg_getstr(section, "policy"));
    e->command = words_of(section);
    if (!e->command)
        return es_no_memory(err);
    w->n++;
    return 0;
}

int works_parse(struct works *w,
                const char *name,
                const char *text,
                struct es_error *err)
{
    cfg_t *cfg = grammar_parse(grammar(), name, text, err);
    int rc = cfg ? 0 : -1;

    memset(w, 0, sizeof *w);
    for (unsigned i = 0; rc == 0 && i < cfg_size(cfg, "work"); i++)
        rc = take_work(w, cfg_getnsec(cfg, "work", i), err);
    if (rc == 0 && w->n == 0)
        rc = es_fail(err, ES_USAGE,
                     "give it work \"NAME\" { command = \"LINE\" }",
                     "%s: has no work", name);
    if (cfg)
        cfg_free(cfg);
    if (rc < 0)
        works_clear(w);
    return rc;
}

int works_read(struct works *w, const char *path, struct es_error *err)
{
    const char *in = user_file_in(path);
    char *text = in ? config_file_text(in) : NULL;
    int rc;

    memset(w, 0, sizeof *w);
    if (!text)
        return es_fail(err, ES_USAGE, "name a readable file of at most 1 MiB",
                       "--works: %s: %s", path, strerror(errno));
    rc = works_parse(w, path, text, err);
    free(text);
    return rc;
}

void works_clear(struct works *w)
{
    for (size_t i = 0; i < w->n; i++) {
        for (char **word = w->work[i].command; *word; word++)
            free(*word);
        free(w->work[i].command);
    }
    memset(w, 0, sizeof *w);
}
