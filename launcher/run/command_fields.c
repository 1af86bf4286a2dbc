/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/command_fields.h"
#include "launcher/base/notice.h"
#include "launcher/config/policy_option.h"
#include "launcher/exec/template.h"
#include "launcher/run/oversight.h"
#include "policy/dispatch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KEEP                                                                   \
    "; --replace '[[]]' has fields as [[begin]] and leaves braces alone"

/* --- texts of programs ---------------------------------------------------- */

static const char *name_of(const char *program)
{
    const char *slash = strrchr(program, '/');

    return slash ? slash + 1 : program;
}

/* Is it one of names, which have blanks around them, whatever its version? */
static int is_one_of(const char *program, const char *names)
{
    char name[40];
    size_t len = strcspn(name_of(program), ".0123456789");

    if (len == 0 || len > sizeof name - 3)
        return 0;
    snprintf(name, sizeof name, " %.*s ", (int)len, name_of(program));
    return strstr(names, name) != NULL;
}

static int is_python(const char *program)
{
    return is_one_of(program, " python pypy ipython ");
}

/* Their text follows an option, as -c, -e or -ne. */
static int is_interpreter(const char *program)
{
    return is_python(program)
           || is_one_of(program,
                        " sh bash dash zsh ksh fish busybox perl ruby node "
                        "nodejs julia R Rscript lua php tclsh guile octave "
                        "gnuplot ssh srun ");
}

/* Anything behind them may be text, or has braces that they fill in. */
static int has_texts(const char *program)
{
    return is_one_of(program,
                     " awk gawk mawk nawk jq gojq yq sed grep egrep fgrep rg "
                     "find fd fdfind xargs parallel rush curl tr m mlr ");
}

int command_fields_is_text(char *const command[], size_t i)
{
    int interpreter = 0;
    const char *before = i > 0 ? command[i - 1] : "";

    for (size_t k = 0; k < i; k++) {
        if (has_texts(command[k]))
            return 1;
        interpreter |= is_interpreter(command[k]);
    }
    return interpreter
           && (command[i][0] == '-'
               || (before[0] == '-'
                   && strchr("ceEr", before[strlen(before) - 1])));
}

int command_fields_in_f_string(const char *text)
{
    const char *field, *at;

    while ((field = template_next(text, &at)) != NULL) {
        const char *quote = NULL;
        int is_f = 0;

        for (const char *c = text; c < at; c++)
            if (*c != '"' && *c != '\'') {
                continue;
            } else if (!quote) {
                quote = c;
                is_f = c > text && strchr("fF", c[-1])
                       && (c - 1 == text || !isalnum((unsigned char)c[-2])
                           || strchr("rR", c[-2]));
            } else if (*c == *quote) {
                quote = NULL;
            }
        if (quote && is_f)
            return 1;
        text = at + strlen(field);
    }
    return 0;
}

/* --- fields that there are not -------------------------------------------- */

/* What is written by those who know other tools, and what it would be here. */
static const struct {
    const char *names, *field; /* with blanks around them; NULL: the units */
} others[] = {
    {" line lines file files filename item items arg args argument input path "
     "url record records ",
     NULL},
    {" start first from i n index idx id task taskid job unit seed num number "
     "iter iteration ",
     "begin"},
    {" stop last to until ", "end"},
    {" size len length units total ", "count"},
    {" host hostname worker rank nodename ", "node"},
    {" thread core cpu gpu device ", "slot"},
    {" chunk slice piece batch ", NULL},
};

static const char *const all_fields =
    ": {begin} {end} {count} {frame} {slot} {label} {node} are filled in";

struct found {
    char text[40];                  /* as it is written */
    char near[OVERSIGHT_FIELD_MAX]; /* "": no field is */
    int is_value;                   /* of one unit, in other tools */
};

static int is_other(const char *name, struct found *f)
{
    char word[OVERSIGHT_FIELD_MAX + 2];

    snprintf(word, sizeof word, " %s ", name);
    for (char *c = word; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strstr(others[i].names, word)) {
            snprintf(f->near, sizeof f->near, "%s",
                     others[i].field ? others[i].field : "");
            f->is_value = !others[i].field;
            return 1;
        }
    return 0;
}

/* A name between marks that are half long, that is none of a field. */
static int is_strange(const char *at,
                      size_t half,
                      const char *close,
                      struct found *f)
{
    char name[OVERSIGHT_FIELD_MAX], braced[OVERSIGHT_FIELD_MAX + 2];
    size_t n = 0;

    while (isalpha((unsigned char)at[half + n]) || at[half + n] == '_')
        n++;
    if (n == 0 || n >= sizeof name || strncmp(at + half + n, close, half) != 0)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)n, at + half);
    snprintf(braced, sizeof braced, "{%s}", name);
    snprintf(f->text, sizeof f->text, "%.*s", (int)(2 * half + n), at);
    return oversight_near_field(braced, f->near) || is_other(name, f);
}

/* {} {1} {.} {/} {//} {/.} {#} {%} of GNU parallel and xargs, if it is all of the
 * word, or stands behind an = or / in it. */
static int is_parallels(const char *word, const char *at, struct found *f)
{
    size_t n = strspn(at + 1, "0123456789./#%+");

    if (at[1 + n] != '}' || n > 3 || (at > word && !strchr("=/:,", at[-1])))
        return 0;
    snprintf(f->text, sizeof f->text, "%.*s", (int)n + 2, at);
    f->near[0] = '\0';
    f->is_value = 1;
    return 1;
}

/* The first one in a word; none behind what others take for one of theirs. */
static int find_strange(const char *word,
                        const char *mark,
                        int parallels,
                        struct found *f)
{
    static const char braces[] = "{}";
    const char *m = mark ? mark : braces;
    size_t half = strlen(m) / 2;

    for (const char *at = word; *at; at++) {
        if (strncmp(at, m, half) != 0)
            continue;
        if (!mark && (at[1] == '{' || (at > word && at[-1] == '{'))) {
            at += strspn(at, "{") - 1;
            continue;
        }
        if (at > word && strchr("$\\%#@", at[-1]))
            continue;
        if (is_strange(at, half, m + half, f)
            || (!mark && parallels && is_parallels(word, at, f)))
            return 1;
    }
    return 0;
}

static int refuse_strange(const struct run_options *o,
                          const char *where,
                          const struct found *f,
                          struct es_error *err)
{
    const char *mark = o->replace ? o->replace : "{}";
    int half = (int)strlen(mark) / 2;
    char meant[80] = "";

    if (f->near[0])
        snprintf(meant, sizeof meant, ": did you mean %.*s%s%s", half, mark,
                 f->near, mark + half);
    if (!f->near[0] && o->n_queues == 0 && f->is_value)
        return es_fail(err, ES_USAGE,
                       o->lines
                           ? "did you mean --each? Then {} is the line, and "
                             "the command is run once for each" KEEP
                           : "did you mean --each? Then {} is the number, "
                             "and the command is run once for each" KEEP,
                       "%.200s: %s is no field: %s", where, f->text,
                       o->lines ? "the lines of a piece come on the standard "
                                  "input of the command"
                                : "a piece has the units from {begin} up to, "
                                  "not with, {end}");
    return es_fail(err, ES_USAGE,
                   f->near[0] ? "write it so" KEEP
                              : "take what is filled in" KEEP,
                   "%.200s: %s is no field%s", where, f->text,
                   f->near[0] ? meant : all_fields);
}

/* --- all of a piece ------------------------------------------------------- */

/* A file whose lines are all there, and each of a grain; what is wrong with them
 * the queue tells. */
static int has_single_lines(const struct run_options *o, const char *path)
{
    char *line = NULL;
    size_t size = 0;
    struct stat st;
    uintmax_t begin, end;
    FILE *from;
    int single = 1;

    if (o->follow || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    from = fopen(path, "re");
    while (from && single && getline(&line, &size, from) > 0)
        single = sscanf(line, "%ju:%ju", &begin, &end) != 2 || end <= begin
                 || end - begin <= o->grain;
    free(line);
    if (from)
        (void)fclose(from); /* was only read */
    return from && single;
}

/* Of one unit, or what the user knows the size of: a grain, which is a task of
 * --policy manual. */
static int are_single(const struct run_options *o, const struct work_type *t)
{
    int single = o->n_queues > 0 || o->work.end - o->work.begin <= o->grain;

    for (size_t i = 0; single && i < o->n_queues; i++)
        single = has_single_lines(o, o->queue[i]);
    return single
           || (strcmp(t->policy.kind->name, "manual") == 0
               && t->policy.value[0] <= 1);
}

/* Who asks for as many pieces as there are units, or has as many nodes, and gives no
 * policy, means one unit a piece, where --pieces alone is only the most that there may
 * be, and a node may get the units of another. */
static int make_single(struct run_options *o,
                       struct work_type *t,
                       const char *where)
{
    struct policy_option single;
    struct es_error unused = {0};
    uint64_t units = (o->work.end - o->work.begin) / o->grain, most;

    most = o->pieces == DISPATCH_BY_COST ? 1 : o->pieces;
    if (o->local.n > most)
        most = o->local.n;
    if (o->policy_text || o->works || o->n_queues > 0 || most < units
        || policy_option_parse(&single, NULL, "manual:size=1", POLICY_STRICT,
                               &unused)
               < 0)
        return 0;
    t->policy = single;
    o->policy = single.kind;
    memcpy(o->policy_name, single.name, sizeof o->policy_name);
    memcpy(o->policy_value, single.value, sizeof o->policy_value);
    notice("%.200s: the command uses one end of a piece only, and there are as "
           "many pieces as units: each is of one (--policy manual:size=1)",
           where);
    return 1;
}

static int check_whole(struct run_options *o,
                       struct work_type *t,
                       const char *where,
                       struct es_error *err)
{
    unsigned both = READS_BEGIN | READS_END, reads, files;
    char mend[250];
    int is_begin;

    if (o->lines || o->persistent || o->reads_env || are_single(o, t))
        return 0;
    reads = oversight_words_read(t->command);
    if ((reads & both) == both || (reads & (READS_COUNT | READS_ANY)))
        return 0;
    files = oversight_files_read(t->command);
    if ((reads & both) == 0 && (files & READS_UNKNOWN))
        return 0; /* who knows */
    reads |= files;
    if ((reads & both) == 0 || (reads & both) == both
        || (reads & (READS_COUNT | READS_ANY)))
        return 0;
    if (make_single(o, t, where))
        return 0;
    is_begin = (reads & READS_BEGIN) != 0;
    snprintf(mend, sizeof mend,
             "%s; or give it %s or {count}, too; or --reads-env, if it reads "
             "EVENSTEP_BEGIN and EVENSTEP_END itself",
             o->n_queues > 0
                 ? "give --policy manual:size=1, one process a unit"
                 : "give --each, one process a unit, with {} for its number",
             is_begin ? "{end}" : "{begin}");
    return es_fail(
        err, ES_USAGE, mend,
        "%.200s: the command uses %s and neither %s nor {count}: it "
        "would do one unit of each piece, and leave the others undone",
        where, is_begin ? "{begin} (EVENSTEP_BEGIN)" : "{end} (EVENSTEP_END)",
        is_begin ? "{end}" : "{begin}");
}

/* --- all together --------------------------------------------------------- */

/* What a text fills in, or leaves, that was likely meant otherwise. */
static void tell_text(const struct run_options *o,
                      const char *program,
                      const char *text)
{
    struct found f;

    if (is_python(program) && command_fields_in_f_string(text))
        notice("%.100s: a field in an f-string is filled in before Python sees "
               "it: {{end}} leaves it {end}",
               program);
    if (o->lines && is_one_of(program, " sh bash dash zsh ksh ")
        && find_strange(text, NULL, 0, &f) && !f.near[0])
        notice("%s is left as it is: the lines of a piece come on the standard "
               "input of the command",
               f.text);
}

/* Values behind the command, as GNU parallel has them. */
static int refuse_list(const char *where,
                       const char *word,
                       struct es_error *err)
{
    return es_fail(err, ES_USAGE,
                   "did you mean --each? Then the command is run once for each "
                   "value behind it",
                   "%.200s: %s is a word of the command like any other", where,
                   word);
}

static int check_command(const struct run_options *o,
                         const struct work_type *t,
                         const char *where,
                         struct es_error *err)
{
    unsigned reads = oversight_words_read(t->command);
    int parallels = o->lines || (!o->reads_env && !o->persistent && reads == 0);

    for (size_t i = 0; t->command[i]; i++) {
        struct found f = {.near = ""};
        int is_text = command_fields_is_text(t->command, i);

        if (!is_text && i > 0 && strncmp(t->command[i], ":::", 3) == 0)
            return refuse_list(where, t->command[i], err);
        if (!is_text && find_strange(t->command[i], o->replace, parallels, &f))
            return refuse_strange(o, where, &f, err);
        if (is_text && !o->replace)
            tell_text(o, t->command[0], t->command[i]);
    }
    return 0;
}

static int rename_fields(struct run_options *o, struct es_error *err)
{
    char **words;

    if (o->types.has_own) {
        o->renamed = template_renamed(o->command, o->replace);
        if (!o->renamed)
            return es_no_memory(err);
        o->types.type[0].command = o->command = o->renamed;
    }
    for (size_t i = 0; i < o->types.file.n; i++) {
        words = template_renamed(o->types.file.work[i].command, o->replace);
        if (!words)
            return es_no_memory(err);
        template_free(o->types.file.work[i].command);
        o->types.type[i + 1].command = o->types.file.work[i].command = words;
    }
    if (!o->types.has_own)
        o->command = o->types.type[0].command = o->types.type[1].command;
    return 0;
}

int command_fields_settle(struct run_options *o, struct es_error *err)
{
    size_t first = o->types.has_own ? 0 : 1;
    char where[300];

    for (size_t i = first; i < o->types.n; i++) {
        snprintf(where, sizeof where, "%.60s%.200s", i > 0 ? "--works: " : "",
                 i > 0 ? o->types.type[i].name : o->command[0]);
        if (check_command(o, &o->types.type[i], where, err) < 0)
            return -1;
    }
    if (o->replace && rename_fields(o, err) < 0)
        return -1;
    for (size_t i = first; i < o->types.n; i++) {
        snprintf(where, sizeof where, "%.60s%.200s", i > 0 ? "--works: " : "",
                 i > 0 ? o->types.type[i].name : o->command[0]);
        if (check_whole(o, &o->types.type[i], where, err) < 0)
            return -1;
    }
    return 0;
}
