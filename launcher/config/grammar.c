/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A text is parsed with one more option at its end.  libconfuse accepts a file
 * that ends within a section or a comment; then that option does not arrive at
 * the top level.
 */
#include "launcher/config/grammar.h"
#include "launcher/config/conf_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END_OPTION "__end"

const char grammar_see[] =
    "see evenstep.conf(5) for what evenstep " EVENSTEP_VERSION " knows";

/* For the error callback of libconfuse, which has no pointer for the caller. */
struct parsing {
    struct es_error err;
    const char *name; /* of the file */
    long end; /* value of the option at the end: the length of the text */
    char unknown[64]; /* the key that there is not, on this line */
    int line;
};
static _Thread_local struct parsing parsing;

__attribute__((format(printf, 2, 0))) static void on_error(cfg_t *cfg,
                                                           const char *fmt,
                                                           va_list ap)
{
    char what[300];

    if (parsing.err.kind != ES_OK)
        return; /* the first error says most */
    vsnprintf(what, sizeof what, fmt, ap);
    if (sscanf(what, "no such option '%63[^']'", parsing.unknown) == 1)
        parsing.line = cfg->line;
    if (strstr(what, END_OPTION))
        es_fail(&parsing.err, ES_USAGE, "close it",
                "%s: a section or comment is open at its end", parsing.name);
    else
        es_fail(&parsing.err, ES_USAGE,
                strstr(what, "boolean") ? "give on or off" : grammar_see,
                "%s:%d: %s", parsing.name, cfg->line, what);
}

int grammar_refuse(const cfg_t *cfg, const char *mend, const char *fmt, ...)
{
    char what[300];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return es_fail(&parsing.err, ES_USAGE, mend, "%s:%d: %s", parsing.name,
                   cfg->line, what);
}

int grammar_is_name(const char *text, size_t size)
{
    size_t len = strlen(text);

    return len > 0 && len < size
           && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

/* Only the one at the end is allowed: a file may not have this key. */
static int check_end(cfg_t *cfg, cfg_opt_t *opt)
{
    if (cfg_opt_getnint(opt, 0) == parsing.end)
        return 0;
    return grammar_refuse(cfg, grammar_see, "no such option '" END_OPTION "'");
}

/* --- keys ----------------------------------------------------------------- */

cfg_opt_t grammar_key(cfg_opt_t key, cfg_validate_callback_t check)
{
    key.validcb = check;
    return key;
}

cfg_opt_t grammar_text(const char *name, cfg_validate_callback_t check)
{
    return grammar_key((cfg_opt_t)CFG_STR(name, NULL, CFGF_NONE), check);
}

cfg_opt_t grammar_whole(const char *name, cfg_validate_callback_t check)
{
    return grammar_key((cfg_opt_t)CFG_INT(name, NOT_GIVEN, CFGF_NONE), check);
}

cfg_opt_t grammar_number(const char *name, cfg_validate_callback_t check)
{
    return grammar_key((cfg_opt_t)CFG_FLOAT(name, (double)NAN, CFGF_NONE),
                       check);
}

cfg_opt_t grammar_section(const char *name, cfg_opt_t *keys)
{
    return (cfg_opt_t)CFG_SEC(name, keys, CFGF_NONE);
}

/* One of many, each with a title of its own. */
cfg_opt_t grammar_titled(const char *name,
                         cfg_opt_t *keys,
                         cfg_validate_callback_t check)
{
    return grammar_key(
        (cfg_opt_t)CFG_SEC(name, keys,
                           CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
        check);
}

cfg_opt_t grammar_end(void)
{
    return grammar_key((cfg_opt_t)CFG_INT(END_OPTION, 0, CFGF_NONE), check_end);
}

/* --- a text --------------------------------------------------------------- */

static int parse(cfg_t *cfg,
                 const char *name,
                 const char *text,
                 struct es_error *err)
{
    char *whole;
    int rc;

    memset(&parsing, 0, sizeof parsing);
    parsing.name = name;
    parsing.end = (long)strlen(text) + 1; /* never 0 */
    if (asprintf(&whole, "%s\n" END_OPTION " = %ld\n", text, parsing.end) < 0)
        return es_no_memory(err);
    cfg_set_error_function(cfg, on_error);
    conf_text_blank_comments(whole);
    rc = cfg_parse_buf(cfg, whole);
    free(whole);
    if (rc == CFG_SUCCESS && cfg_getint(cfg, END_OPTION) == parsing.end)
        return 0;
    if (rc == CFG_SUCCESS)
        return es_fail(err, ES_USAGE, "close it",
                       "%s: a section or comment is open at its end", name);
    if (parsing.err.kind == ES_OK)
        es_fail(&parsing.err, ES_USAGE, grammar_see, "%s: cannot be read",
                name);
    if (err)
        *err = parsing.err;
    return -1;
}

const char *grammar_unknown(int *line)
{
    *line = parsing.line;
    return parsing.unknown;
}

cfg_t *grammar_parse(cfg_t *cfg,
                     const char *name,
                     const char *text,
                     struct es_error *err)
{
    if (!cfg)
        es_no_memory(err);
    else if (parse(cfg, name, text, err) < 0) {
        cfg_free(cfg);
        cfg = NULL;
    }
    return cfg;
}
