/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/stdin_readers.h"

#include "launcher/base/notice.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MAX  64    /* of a command in a text; more are passed over */
#define DEPTH_MAX  8     /* of texts in texts */
#define NAME_SIZE  32    /* bytes of a name, with its NUL */
#define SCRIPT_MAX 65535 /* bytes of a script that are looked at */

enum script { SCRIPT_NONE, SCRIPT_OF_SHELL, SCRIPT_OF_OTHERS };

/* --- names ---------------------------------------------------------------- */

/* Lists of names with a blank around each. */
static const char shells[] = " sh bash dash zsh ksh ksh93 mksh ash yash fish ";
static const char others[] =
    " python python2 python3 pypy3 perl ruby node lua php julia R tclsh ";
static const char wrappers[] = " env nice timeout nohup setsid ionice chrt "
                               "taskset stdbuf time numactl command exec ";
static const char starters[] =
    " mpirun mpiexec mpiexec.hydra orterun prun rsh ";
/* Read all that is there, whatever their words say. */
static const char filters[] = " tee tr bc ";
/* Unless they are given a file, behind a program or a pattern. */
static const char of_files[] =
    " cat wc sort tac nl head tail uniq cut rev md5sum sha256sum base64 ";
static const char of_programs[] = " sed awk gawk mawk grep egrep fgrep ";

static int is_in(const char *list, const char *name)
{
    char word[NAME_SIZE + 2];

    return name[0] && !strchr(name, ' ')
           && snprintf(word, sizeof word, " %s ", name) < (int)sizeof word
           && strstr(list, word) != NULL;
}

static const char *base_of(const char *word)
{
    const char *slash = strrchr(word, '/');

    return slash ? slash + 1 : word;
}

/* python3.11 is python3. */
static void name_of(const char *word, char name[NAME_SIZE])
{
    size_t n;

    snprintf(name, NAME_SIZE, "%s", base_of(word));
    n = strlen(name);
    while (n > 0 && isdigit((unsigned char)name[n - 1]))
        n--;
    if (n > 1 && name[n - 1] == '.' && !is_in(others, name))
        name[n - 1] = '\0';
}

/* --- the words of a command ----------------------------------------------- */

/* The command behind assignments and wrappers with their options. */
static char *const *behind_wrappers(char *const words[])
{
    int is_wrapped = 0;

    for (; *words; words++) {
        const char *w = *words;

        if (is_in(wrappers, base_of(w)))
            is_wrapped = 1;
        else if (!(is_wrapped && (*w == '-' || isdigit((unsigned char)*w)))
                 && !(strchr(w, '=')
                      && (isalpha((unsigned char)*w) || *w == '_')))
            break;
    }
    return words;
}

static int is_stdin(const char *word)
{
    return strcmp(word, "-") == 0 || strcmp(word, "/dev/stdin") == 0
           || strcmp(word, "/dev/fd/0") == 0;
}

/* Has an option one of these letters, or a long name that brings a program? */
static int brings_program(const char *word, const char *letters)
{
    static const char *const names[] = {"eval", "exec",    "file", "print",
                                        "help", "version", "run",  "code"};

    if (word[1] != '-')
        return strpbrk(word + 1, letters) != NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(word, names[i]))
            return 1;
    return 0;
}

/* Does the interpreter have neither a text nor a file?  words[0] is its name. */
static int runs_stdin(char *const words[], const char *letters)
{
    for (words++; *words; words++) {
        const char *w = *words;
        int takes_one = strcmp(w, "-o") == 0 || strcmp(w, "+o") == 0
                        || strcmp(w, "-O") == 0 || strcmp(w, "-W") == 0
                        || strcmp(w, "-X") == 0 || strcmp(w, "--rcfile") == 0
                        || strcmp(w, "--init-file") == 0;

        if (is_stdin(w) || strcmp(w, "-s") == 0)
            return 1;
        if (*w != '-' && *w != '+')
            return 0;
        if (takes_one && words[1])
            words++;
        else if (brings_program(w, letters))
            return 0;
    }
    return 1;
}

/* Does a command, perhaps behind env, nice or the like, run what stands on its
 * standard input?  Then the name of the interpreter is in name. */
static enum script script_of(char *const command[], char name[NAME_SIZE])
{
    char *const *words = behind_wrappers(command);

    name[0] = '\0';
    if (!*words)
        return SCRIPT_NONE;
    name_of(*words, name);
    if (is_in(shells, name) && runs_stdin(words, "c"))
        return SCRIPT_OF_SHELL;
    if (is_in(others, name) && runs_stdin(words, "cmeEpfr"))
        return SCRIPT_OF_OTHERS;
    return SCRIPT_NONE;
}

/* Of a command whose shell has a text (-c): that; else NULL. */
static const char *text_of(char *const command[])
{
    char *const *words = behind_wrappers(command);
    char name[NAME_SIZE];

    if (!*words)
        return NULL;
    name_of(*words, name);
    if (!is_in(shells, name))
        return NULL;
    for (words++; *words && (**words == '-' || **words == '+'); words++)
        if (words[0][0] == '-' && words[0][1] != '-' && strchr(*words, 'c'))
            return words[1];
    return NULL;
}

static int has_option(char *const words[], const char *begin)
{
    for (; *words; words++)
        if (strncmp(*words, begin, strlen(begin)) == 0)
            return 1;
    return 0;
}

/* Words that are neither options nor the numbers of these. */
static size_t count_operands(char *const words[])
{
    size_t n = 0;

    for (size_t i = 1; words[i]; i++)
        n +=
            words[i][0] != '-'
            && !(words[i - 1][0] == '-' && isdigit((unsigned char)words[i][0]));
    return n;
}

/* ssh -n and -f do not read. */
static int is_ssh_alone(char *const words[])
{
    for (words++; *words && **words == '-'; words++) {
        if (strpbrk(*words, "nf"))
            return 1;
        if (strchr("BbcDEeFIiJLlmOopQRSWw", words[0][1]) && !words[0][2]
            && words[1])
            words++; /* what it takes */
    }
    return 0;
}

/* Does a command with that name read its standard input? */
static int reads(const char *name, char *const words[])
{
    size_t own = has_option(words, "-e") || has_option(words, "-f") ? 0 : 1;
    char script[NAME_SIZE];

    if (strcmp(name, "ssh") == 0)
        return !is_ssh_alone(words);
    if (strcmp(name, "ffmpeg") == 0)
        return !has_option(words, "-nostdin");
    if (strcmp(name, "srun") == 0)
        return !has_option(words, "--input") && !has_option(words, "-i");
    if (strcmp(name, "xargs") == 0)
        return !has_option(words, "-a") && !has_option(words, "--arg-file");
    if (is_in(starters, name))
        return !has_option(words, "-stdin") && !has_option(words, "--stdin");
    if (is_in(filters, name))
        return 1;
    if (is_in(of_files, name))
        return count_operands(words) == 0;
    if (is_in(of_programs, name))
        return count_operands(words) <= own;
    return script_of(words, script) != SCRIPT_NONE;
}

/* --- the text of a shell -------------------------------------------------- */

/* What is found in a text. */
struct finding {
    char name[NAME_SIZE]; /* of a program that takes what a loop was to read */
    int drops_last;       /* a loop passes over a last line without its end */
};

struct looking {
    const char *at; /* what is left of the text */
    char *room;     /* for the words of a command, as long as the text */
    char *word[WORDS_MAX + 1];
    size_t words;
    struct finding *to;
    int depth;   /* of texts */
    int loops;   /* that are open, ... */
    int in_loop; /* ... of which this one reads; 0: none does */
    int piped;   /* another command is its stdin */
    int has_in;  /* a file is */
};

static int look(
    const char *text, size_t len, int depth, int in_loop, struct finding *to);

/* The end of what stands in brackets or quotes, whose first is at `at`. */
static const char *end_of(const char *at, char open, char close)
{
    int deep = 0;

    for (; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == close && --deep <= 0)
            return at;
        else if (*at == open)
            deep++;
    }
    return at;
}

/* $(...) and `...` within a word: a text of its own with the same stdin. */
static int look_within(struct looking *l, const char **at)
{
    const char *begin = *at, *end;

    if (*begin == '`') {
        end = strchr(begin + 1, '`');
        end = end ? end : begin + strlen(begin);
        begin += 1;
    } else {
        end = end_of(begin + 1, '(', ')');
        begin += 2;
    }
    *at = *end ? end + 1 : end;
    return end > begin && !l->has_in
           && look(begin, (size_t)(end - begin), l->depth + 1, l->in_loop,
                   l->to);
}

static int begins_text(const char *at)
{
    return *at == '`' || (at[0] == '$' && at[1] == '(' && at[2] != '(');
}

/* One word, without its quotes, to *to.  1: a reader was found in it. */
static int take_word(struct looking *l, char **to)
{
    const char *at = l->at;
    char quote = '\0';
    int found = 0;

    while (*at && !found && (quote || !strchr(" \t\n;&|()<>", *at))) {
        if (quote != '\'' && begins_text(at))
            found = look_within(l, &at);
        else if (*at == quote) {
            quote = '\0';
            at++;
        } else if (!quote && (*at == '\'' || *at == '"'))
            quote = *at++;
        else {
            at += quote != '\'' && *at == '\\' && at[1];
            *(*to)++ = *at++;
        }
    }
    *(*to)++ = '\0';
    l->at = at;
    return found;
}

/* < and > with what they name. */
static int take_redirection(struct looking *l, char **to)
{
    l->has_in |= *l->at == '<';
    l->at += strspn(l->at, "<>&|-");
    l->at += strspn(l->at, " \t");
    return take_word(l, to);
}

/* Does the loop that begins with this command read standard input? */
static int is_loop_of_read(const struct looking *l, char *const words[])
{
    return *words && strcmp(*words, "read") == 0 && !l->has_in && !l->piped
           && !has_option(words, "-u");
}

static void begin_loop(struct looking *l)
{
    l->in_loop = l->loops;
    if (strncmp(l->at, "||", 2) != 0)
        l->to->drops_last = 1;
}

/* A command is whole.  1: it takes what a loop was to read. */
static int end_command(struct looking *l)
{
    static const char reserved[] = " do then else elif if ! { while until ";
    char *const *words = l->word;
    char name[NAME_SIZE];
    const char *text;
    int is_loop = 0;

    l->word[l->words] = NULL;
    for (; *words && is_in(reserved, *words); words++)
        is_loop |= strcmp(*words, "while") == 0 || strcmp(*words, "until") == 0;
    l->loops +=
        is_loop
        || (*words
            && (strcmp(*words, "for") == 0 || strcmp(*words, "select") == 0));
    words = behind_wrappers(words);
    if (is_loop && !l->in_loop && is_loop_of_read(l, words))
        begin_loop(l);
    if (*words && strcmp(*words, "done") == 0) {
        l->in_loop = l->in_loop == l->loops ? 0 : l->in_loop;
        l->loops -= l->loops > 0;
    } else if (l->in_loop && *words && !l->has_in && !l->piped) {
        name_of(*words, name);
        text = text_of(words);
        if (text && look(text, strlen(text), l->depth + 1, 1, l->to))
            return 1;
        if (reads(name, words)) {
            snprintf(l->to->name, NAME_SIZE, "%s", name);
            return 1;
        }
    }
    return 0;
}

/* Does the loop whose words are at `at` have another standard input at its end? */
static int is_redirected(const char *at)
{
    const char *done = NULL;

    while ((at = strstr(at, "done")) != NULL)
        done = at++;
    return done && done[strcspn(done, "<;|\n")] == '<';
}

static int look_through(struct looking *l)
{
    char *to = l->room;
    int found = 0;

    while (!found && *l->at) {
        if (strchr(" \t", *l->at)) {
            l->at++;
        } else if (*l->at == '#') {
            l->at += strcspn(l->at, "\n");
        } else if (*l->at == '<' || *l->at == '>') {
            found = take_redirection(l, &to);
        } else if (strchr("\n;&|()", *l->at)) {
            int is_pipe = l->at[0] == '|' && l->at[1] != '|';

            if (l->at[0] == '&' && l->at[1] != '&')
                l->has_in = 1; /* behind the scenes: /dev/null */
            found = end_command(l);
            l->words = 0;
            l->has_in = 0;
            l->piped = is_pipe;
            l->at += strspn(l->at, "\n;&|()");
        } else if (l->words < WORDS_MAX) {
            l->word[l->words++] = to;
            found = take_word(l, &to);
        } else {
            found = take_word(l, &to);
        }
    }
    return found || end_command(l);
}

static int look(
    const char *text, size_t len, int depth, int in_loop, struct finding *to)
{
    char *copy = depth < DEPTH_MAX ? strndup(text, len) : NULL;
    struct looking l = {.at = copy, .to = to, .depth = depth};
    int found = 0;

    l.in_loop = in_loop ? -1 : 0;               /* one around all of it */
    l.room = copy ? malloc(2 * len + 2) : NULL; /* each word has a NUL */
    if (l.room && !is_redirected(copy))
        found = look_through(&l);
    free(l.room);
    free(copy);
    return found;
}

/* --- the command of a run ------------------------------------------------- */

/* The begin of a file that is a shell's script, for free(); NULL: it is none. */
static char *script_text(const char *path, int must_say_so)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = fd < 0 ? NULL : calloc(1, SCRIPT_MAX + 1);
    struct stat st;
    int is = 0;

    if (text && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
        && read(fd, text, SCRIPT_MAX) > 2) {
        size_t n = strcspn(text, "\n");

        is = !must_say_so
             || (strncmp(text, "#!", 2) == 0
                 && memmem(text, n, "sh", 2) != NULL);
    }
    if (fd >= 0)
        close(fd);
    if (is)
        return text;
    free(text);
    return NULL;
}

/* 1: a program takes the lines of a loop, in the command or its script. */
static int takes_lines(char *const command[], struct finding *to)
{
    char *const *words = behind_wrappers(command);
    const char *text = text_of(command);
    char own[NAME_SIZE], *script = NULL;
    int found;

    if (!text && *words) {
        name_of(*words, own);
        if (!is_in(shells, own))
            script = script_text(*words, 1);
        else if (words[1] && words[1][0] != '-')
            script = script_text(words[1], 0);
        text = script;
    }
    found = text && look(text, strlen(text), 0, 0, to);
    free(script);
    return found;
}

int stdin_readers_check(char *const command[], struct es_error *err)
{
    char name[NAME_SIZE];

    switch (script_of(command, name)) {
    case SCRIPT_OF_SHELL:
        return es_fail(
            err, ES_USAGE,
            "give evenstep tasks FILE: each line is a command of its own",
            "-- %s: with --lines it would run the lines of a piece as one script, "
            "which ends at the first exit and hides what fails before",
            name);
    case SCRIPT_OF_OTHERS:
        return es_fail(
            err, ES_USAGE,
            "name a program that reads them from its standard input, or give "
            "--each: it is run once for each line, {}",
            "-- %s: with --lines it would run the lines of a piece as "
            "one program",
            name);
    default:
        return 0;
    }
}

void stdin_readers_tell(char *const command[], int is_open)
{
    struct finding f = {.drops_last = 0};

    if (takes_lines(command, &f))
        notice(
            "warning: -- %.100s: %s reads standard input, as the loop of read "
            "around it does: lines that it takes are not read by the loop, "
            "and not done: give it </dev/null; or --each, and '{}' for the line",
            command[0], f.name);
    if (f.drops_last && is_open)
        notice(
            "warning: -- %.100s: the last line has no newline, and a loop of "
            "read passes over such a one: add it, or give while read -r l || "
            "[ \"$l\" ]",
            command[0]);
}
