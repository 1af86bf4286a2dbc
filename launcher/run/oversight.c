/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/oversight.h"
#include "launcher/base/notice.h"
#include "launcher/base/suggestion.h"
#include "launcher/exec/template.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OVERSIGHT_FIELD_MAX 16          /* longer than any field */
#define FILE_BYTES_MAX      (64u << 20) /* that are looked through */
#define TOKEN_FILES_MAX     64          /* of a command's words */

/* --- fields --------------------------------------------------------------- */

/* The word between braces at text[0] in small letters; 0 if it is none that
 * could be a field. */
static size_t word_in_braces(const char *text, char word[OVERSIGHT_FIELD_MAX])
{
    size_t n = 0;

    while (n < OVERSIGHT_FIELD_MAX - 1
           && (isalpha((unsigned char)text[n + 1]) || text[n + 1] == '_')) {
        word[n] = (char)tolower((unsigned char)text[n + 1]);
        n++;
    }
    word[n] = '\0';
    return text[n + 1] == '}' ? n : 0;
}

/* The field that is in the text here, or NULL. */
static const char *field_here(const char *text)
{
    const char *field;

    for (size_t i = 0; (field = template_field(i)) != NULL; i++)
        if (strncmp(text, field, strlen(field)) == 0)
            return field;
    return NULL;
}

int oversight_near_field(const char *text, char near[OVERSIGHT_FIELD_MAX])
{
    char word[OVERSIGHT_FIELD_MAX], name[OVERSIGHT_FIELD_MAX];
    struct suggestion s = {.typed = word};
    const char *field;

    if (field_here(text) || word_in_braces(text, word) == 0)
        return 0;
    for (size_t i = 0; (field = template_field(i)) != NULL; i++) {
        (void)word_in_braces(field, name);
        suggestion_try(&s, name);
        if (s.name == name) {
            snprintf(near, OVERSIGHT_FIELD_MAX, "%s", name);
            s.name = near;
        }
    }
    return s.name != NULL;
}

/* Of a field with a $ before it, which a shell was to see. */
static int tell_variables_of(const char *text)
{
    const char *field, *at;
    int told = 0;

    for (; (field = template_next(text, &at)) != NULL;
         text = at + strlen(field)) {
        if (at == text || at[-1] != '$')
            continue;
        notice("$%s: %s is filled in, and the $ stays: leave the $ out, or "
               "name your variable otherwise",
               field, field);
        told++;
    }
    return told;
}

/* 1 if there was something to tell. */
static int tell_field(const char *text)
{
    char near[OVERSIGHT_FIELD_MAX];

    if (!oversight_near_field(text, near))
        return 0;
    notice("%.*s} is left as it is: did you mean {%s}?",
           (int)strcspn(text, "}"), text, near);
    return 1;
}

static int tell_fields_of(const char *text)
{
    int told = 0;

    if (!text)
        return 0;
    for (const char *at = text; (at = strchr(at, '{')); at += strspn(at, "{"))
        if (at[1] != '{' && (at == text || at[-1] != '$'))
            told += tell_field(at);
    return told + tell_variables_of(text);
}

int oversight_tell_fields(char *const command[])
{
    int told = 0;

    for (size_t i = 0; command[i]; i++)
        told += tell_fields_of(command[i]);
    return told;
}

/* --- slices --------------------------------------------------------------- */

static const struct {
    const char *name; /* behind "EVENSTEP_" */
    unsigned reads;
} variables[] = {
    {"BEGIN", READS_BEGIN}, {"END", READS_END},    {"COUNT", READS_COUNT},
    {"FRAME", READS_OTHER}, {"SLOT", READS_OTHER}, {"LABEL", READS_OTHER},
    {"NODE", READS_OTHER},  {"DIR", READS_OTHER},  {"CONF", 0},
};

#define N_VARIABLES   (sizeof variables / sizeof variables[0])
#define VARIABLE_LONG 16 /* longer than any of them with its prefix */

/* What it says of libevenstep, or otherwise of EVENSTEP_, may be all. */
static unsigned variable_at(const char *text, size_t len)
{
    for (size_t i = 0; i < N_VARIABLES; i++) {
        size_t n = strlen(variables[i].name);

        if (len < 9 + n || memcmp(text + 9, variables[i].name, n) != 0)
            continue;
        if (len == 9 + n
            || (text[9 + n] != '_' && !isalnum((unsigned char)text[9 + n])))
            return variables[i].reads;
    }
    return READS_ANY;
}

/* It says EVENSTEP_BEGIN or so, or uses libevenstep.  What lies at the end is
 * left out if there is more to come. */
static unsigned says_evenstep(const char *text, size_t len, int is_end)
{
    const char *at = text, *end = text + len;
    unsigned reads = memmem(text, len, "evenstep_", 9) ? READS_ANY : 0;

    while ((at = memmem(at, (size_t)(end - at), "EVENSTEP_", 9)) != NULL) {
        if (!is_end && end - at < VARIABLE_LONG)
            break;
        reads |= variable_at(at, (size_t)(end - at));
        at += 9;
    }
    return reads;
}

static unsigned reads_of_word(const char *word)
{
    static const struct {
        const char *field;
        unsigned reads;
    } fields[] = {{"{begin}", READS_BEGIN},
                  {"{end}", READS_END},
                  {"{count}", READS_COUNT},
                  {"{node}", 0}};
    unsigned reads = says_evenstep(word, strlen(word), 1);
    const char *field, *at;

    for (; (field = template_next(word, &at)) != NULL;
         word = at + strlen(field)) {
        size_t i = 0;

        while (i < 4 && strcmp(fields[i].field, field) != 0)
            i++;
        reads |= i < 4 ? fields[i].reads : READS_OTHER;
    }
    return reads;
}

unsigned oversight_words_read(char *const command[])
{
    unsigned reads = 0;

    for (size_t i = 0; command[i]; i++)
        reads |= reads_of_word(command[i]);
    return reads;
}

/* What is compressed, or large, or cannot be read, may say anything. */
static unsigned look_through(int fd)
{
    char text[65536 + VARIABLE_LONG]; /* with the end of what was read before */
    size_t kept = 0, all = 0;
    unsigned reads = 0;
    ssize_t n;

    while ((n = read(fd, text + kept, sizeof text - kept)) > 0) {
        size_t len = kept + (size_t)n;

        if (all == 0 && len >= 2 && memcmp(text, "PK", 2) == 0)
            return READS_UNKNOWN;
        reads |= says_evenstep(text, len, 0);
        all += (size_t)n;
        if (all > FILE_BYTES_MAX)
            return READS_UNKNOWN;
        kept = len < VARIABLE_LONG ? len : VARIABLE_LONG;
        memmove(text, text + len - kept, kept);
    }
    return reads | (n < 0 ? READS_UNKNOWN : says_evenstep(text, kept, 1));
}

/* 0 also for what is no file; *found if it is one. */
static unsigned look_at_file(const char *path, int *found)
{
    struct stat st;
    unsigned reads;
    int fd;

    if (stat(path, &st) < 0)
        return 0;
    if (!S_ISREG(st.st_mode))
        return S_ISCHR(st.st_mode) ? 0 : READS_UNKNOWN;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return READS_UNKNOWN;
    *found = 1;
    reads = look_through(fd);
    (void)close(fd); /* was only read */
    return reads;
}

/* A file of that name here, or a program of that name. */
static unsigned look_at_name(const char *name, int *found)
{
    const char *dirs = getenv("PATH");
    unsigned reads = look_at_file(name, found);
    char path[4096];
    size_t n;

    if (reads != 0 || *found || strchr(name, '/'))
        return reads;
    for (; dirs && *dirs && !*found; dirs += n + (dirs[n] == ':')) {
        n = strcspn(dirs, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", (int)n, dirs, name)
            < (int)sizeof path)
            reads = look_at_file(path, found);
    }
    return reads;
}

/* What a word names: the whole of it and, as it may be a shell's, its parts. */
static unsigned look_at_word(const char *word, int *found, size_t *files)
{
    static const char between[] = " \t\n'\"`;|&<>()=$";
    unsigned reads = look_at_name(word, found);
    char part[256];

    while (*word) {
        size_t n = strcspn(word, between);
        int there = 0;

        if (n > 0 && word[n] && n < sizeof part) {
            snprintf(part, sizeof part, "%.*s", (int)n, word);
            reads |= look_at_name(part, &there);
            *files += there != 0;
        }
        if (*files > TOKEN_FILES_MAX)
            return reads | READS_UNKNOWN;
        word += n + strspn(word + n, between);
    }
    return reads;
}

unsigned oversight_files_read(char *const command[])
{
    unsigned reads = 0;
    size_t files = 0;

    for (size_t i = 0; command[i]; i++) {
        int found = 0;

        reads |= look_at_word(command[i], &found, &files);
        if ((i == 0 && !found) || strcmp(command[i], "-m") == 0)
            reads |= READS_UNKNOWN; /* a program of the nodes only, a module */
    }
    return reads;
}

int oversight_uses_no_slice(char *const command[], int of_queue)
{
    unsigned none = of_queue ? 0 : READS_OTHER;

    return (oversight_words_read(command) & ~none) == 0
           && (oversight_files_read(command) & ~none) == 0;
}

/* It never reads the lines of its pieces. */
static int reads_no_stdin(const char *program)
{
    static const char *const names[] = {"date",   "echo", "false", "hostname",
                                        "printf", "seq",  "sleep", "touch"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(program, names[i]) == 0)
            return 1;
    return 0;
}

static void tell_command(const struct run_options *o, char *const command[])
{
    if (o->lines && !o->persistent && reads_no_stdin(command[0]))
        notice("%s reads no standard input, and the lines of a piece come "
               "there: give a command that reads them, as xargs does",
               command[0]);
    if ((!o->replace && oversight_tell_fields(command) > 0) || o->lines
        || o->persistent || o->reads_env
        || (o->n_queues == 0 && o->work.end - o->work.begin <= o->grain))
        return;
    if (oversight_uses_no_slice(command, o->n_queues > 0))
        notice(
            "%.100s seems to use nothing of its piece, so that each does the "
            "same: give it {begin} and {end}; if it reads EVENSTEP_BEGIN and "
            "EVENSTEP_END itself, say so by --reads-env",
            command[0]);
}

static void tell_names(const struct run_options *o)
{
    (void)tell_fields_of(o->output);
    (void)tell_fields_of(o->workdir);
    for (uint32_t i = 0; i < o->n_returned; i++)
        (void)tell_fields_of(o->returned[i]);
    for (size_t i = 0; i < o->n_bcast; i++)
        (void)tell_fields_of(o->bcast[i]);
}

void oversight_tell_command(const struct run_options *o)
{
    tell_names(o);
    for (size_t t = o->types.has_own ? 0 : 1; t < o->types.n; t++)
        tell_command(o, o->types.type[t].command);
}

/* --- stdin ---------------------------------------------------------------- */

/* Also the parent's, or nobody can tell.  (dash opens a command's files itself,
 * before it forks: a file, but no pipe, looks like its own.) */
static int is_shared(const struct stat *st)
{
    char path[40];
    struct stat parent;

    snprintf(path, sizeof path, "/proc/%d/fd/0", (int)getppid());
    return stat(path, &parent) < 0
           || (parent.st_dev == st->st_dev && parent.st_ino == st->st_ino);
}

int oversight_is_unread(int fd)
{
    struct stat st;
    int bytes = 0;

    if (fstat(fd, &st) < 0 || is_shared(&st))
        return 0;
    if (S_ISREG(st.st_mode))
        return st.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0;
    return S_ISFIFO(st.st_mode) && ioctl(fd, FIONREAD, &bytes) == 0
           && bytes > 0;
}

/* Is stdin read under one of its names? */
static int is_stdin(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0
           || strcmp(path, "/dev/fd/0") == 0
           || strcmp(path, "/proc/self/fd/0") == 0;
}

void oversight_tell_stdin(const struct run_options *o, int *told)
{
    int read = o->lines && is_stdin(o->lines);

    for (size_t i = 0; i < o->n_queues; i++)
        read = read || is_stdin(o->queue[i]);
    if (*told || read || !oversight_is_unread(STDIN_FILENO))
        return;
    *told = 1;
    notice("nobody reads what is on stdin: give --lines - for lines as "
           "units, --queue - for frames, or </dev/null");
}
