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

/* 1 if there was something to tell. */
static int tell_field(const char *text, int is_variable)
{
    const char *field = field_here(text);
    char near[OVERSIGHT_FIELD_MAX];

    if (field && is_variable)
        notice("$%s: %s is filled in, and the $ stays: leave the $ out, or "
               "name your variable otherwise",
               field, field);
    else if (!is_variable && oversight_near_field(text, near))
        notice("%.*s} is left as it is: did you mean {%s}?",
               (int)strcspn(text, "}"), text, near);
    else
        return 0;
    return 1;
}

static int tell_fields_of(const char *text)
{
    int told = 0;

    for (const char *at = text; at && (at = strchr(at, '{')); at++)
        told += tell_field(at, at > text && at[-1] == '$');
    return told;
}

int oversight_tell_fields(char *const command[])
{
    int told = 0;

    for (size_t i = 0; command[i]; i++)
        told += tell_fields_of(command[i]);
    return told;
}

/* --- slices --------------------------------------------------------------- */

static int has_slice_field(const char *word)
{
    for (const char *at = word; (at = strchr(at, '{')); at++) {
        const char *field = field_here(at);

        if (field && strcmp(field, "{node}") != 0)
            return 1;
    }
    return 0;
}

/* It says EVENSTEP_BEGIN or so, or uses libevenstep. */
static int says_evenstep(const char *text, size_t len)
{
    return memmem(text, len, "EVENSTEP_", 9) != NULL
           || memmem(text, len, "evenstep_", 9) != NULL;
}

enum look { LOOK_NO, LOOK_YES, LOOK_UNKNOWN };

/* What is compressed, or large, or cannot be read, may say anything. */
static enum look look_through(int fd)
{
    char text[65536 + 8]; /* with the end of what was read before */
    size_t kept = 0, all = 0;
    ssize_t n;

    while ((n = read(fd, text + kept, sizeof text - kept)) > 0) {
        size_t len = kept + (size_t)n;

        if (says_evenstep(text, len))
            return LOOK_YES;
        if (all == 0 && len >= 2 && memcmp(text, "PK", 2) == 0)
            return LOOK_UNKNOWN;
        all += (size_t)n;
        if (all > FILE_BYTES_MAX)
            return LOOK_UNKNOWN;
        kept = len < 8 ? len : 8;
        memmove(text, text + len - kept, kept);
    }
    return n < 0 ? LOOK_UNKNOWN : LOOK_NO;
}

/* LOOK_NO also for what is no file; *found if it is one. */
static enum look look_at_file(const char *path, int *found)
{
    struct stat st;
    enum look look;
    int fd;

    if (stat(path, &st) < 0)
        return LOOK_NO;
    if (!S_ISREG(st.st_mode))
        return S_ISCHR(st.st_mode) ? LOOK_NO : LOOK_UNKNOWN;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return LOOK_UNKNOWN;
    *found = 1;
    look = look_through(fd);
    (void)close(fd); /* was only read */
    return look;
}

/* A file of that name here, or a program of that name. */
static enum look look_at_name(const char *name, int *found)
{
    const char *dirs = getenv("PATH");
    enum look look = look_at_file(name, found);
    char path[4096];
    size_t n;

    if (look != LOOK_NO || *found || strchr(name, '/'))
        return look;
    for (; dirs && *dirs && !*found; dirs += n + (dirs[n] == ':')) {
        n = strcspn(dirs, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", (int)n, dirs, name)
            < (int)sizeof path)
            look = look_at_file(path, found);
    }
    return look;
}

/* What a word names: the whole of it and, as it may be a shell's, its parts. */
static enum look look_at_word(const char *word, int *found, size_t *files)
{
    static const char between[] = " \t\n'\"`;|&<>()=$";
    enum look look = look_at_name(word, found);
    char part[256];

    while (look == LOOK_NO && *word) {
        size_t n = strcspn(word, between);
        int there = 0;

        if (n > 0 && word[n] && n < sizeof part) {
            snprintf(part, sizeof part, "%.*s", (int)n, word);
            look = look_at_name(part, &there);
            *files += there != 0;
        }
        if (*files > TOKEN_FILES_MAX)
            return LOOK_UNKNOWN;
        word += n + strspn(word + n, between);
    }
    return look;
}

int oversight_uses_no_slice(char *const command[])
{
    enum look look = LOOK_NO;
    size_t files = 0;

    for (size_t i = 0; look == LOOK_NO && command[i]; i++) {
        int found = 0;

        if (has_slice_field(command[i])
            || says_evenstep(command[i], strlen(command[i])))
            return 0;
        look = look_at_word(command[i], &found, &files);
        if ((i == 0 && !found) || strcmp(command[i], "-m") == 0)
            return 0; /* a program of the nodes only, a module: who knows */
    }
    return look == LOOK_NO;
}

static void tell_command(const struct run_options *o, char *const command[])
{
    if (oversight_tell_fields(command) > 0 || o->lines || o->persistent
        || (o->n_queues == 0 && o->work.end - o->work.begin <= o->grain))
        return;
    if (oversight_uses_no_slice(command))
        notice("%.100s seems to use no slice, so that each does the same: give "
               "it {begin} and {end}; if it does read EVENSTEP_BEGIN, say so: "
               "env U={begin} %.100s",
               command[0], command[0]);
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
