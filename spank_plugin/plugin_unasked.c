/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/plugin_unasked.h"

#include <fcntl.h>
#include <limits.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_OF_SITE "on:" /* partitions follow */
#define VARIABLE     "EVENSTEP_DEFAULT"
#define WORD_SIZE    16               /* of the user's file, with its newline */
#define PTY          "SLURM_PTY_PORT" /* srun sets it with --pty */

enum word { WORD_NONE, WORD_ON, WORD_OFF };

static char pty_before[16]; /* its port in an srun around this one, or "" */

/* --- the site's --------------------------------------------------------------- */

static const char *find_list(const char *value)
{
    size_t len = strlen(LIST_OF_SITE);

    return strncmp(value, LIST_OF_SITE, len) == 0 ? value + len : NULL;
}

int plugin_unasked_allows(const char *value)
{
    const char *list = find_list(value);
    size_t len;

    if (!list)
        return strcmp(value, "on") == 0 || strcmp(value, "off") == 0;
    len = strlen(list);
    return len > 0 && list[0] != ',' && list[len - 1] != ','
           && !strstr(list, ",,");
}

static int is_listed(const char *list, const char *name)
{
    size_t len = strlen(name), part;

    for (; *list; list += part + strspn(list + part, ",")) {
        part = strcspn(list, ",");
        if (part == len && strncmp(list, name, len) == 0)
            return 1;
    }
    return 0;
}

/* --- the user's --------------------------------------------------------------- */

static enum word to_word(const char *text)
{
    if (strcmp(text, "on") == 0)
        return WORD_ON;
    return strcmp(text, "off") == 0 ? WORD_OFF : WORD_NONE;
}

/* ~/.config/evenstep/default, by the rules of XDG.  0, or -1: there is no such place. */
static int find_file(char path[PATH_MAX])
{
    const char *base = getenv("XDG_CONFIG_HOME"), *dir = "";
    int n;

    if (!base || base[0] != '/') {
        base = getenv("HOME");
        dir = "/.config";
    }
    if (!base || base[0] != '/')
        return -1;
    n = snprintf(path, PATH_MAX, "%s%s/evenstep/default", base, dir);
    return n < PATH_MAX ? 0 : -1;
}

/* Only a file of his own: with sudo, HOME may be another's.  -1: there is none. */
static int read_file(const char *path, char text[WORD_SIZE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t len = -1;
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()
        && getuid() == geteuid())
        len = read(fd, text, WORD_SIZE - 1);
    (void)close(fd);
    if (len < 0)
        return -1;
    text[len] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return 0;
}

/* *off becomes what is said of a word that is off. */
static enum word find_word(const char **off)
{
    const char *variable = getenv(VARIABLE);
    char path[PATH_MAX], text[WORD_SIZE];
    enum word word;

    if (variable && variable[0]) {
        *off = VARIABLE " is off";
        word = to_word(variable);
        if (word == WORD_NONE)
            slurm_error("evenstep: " VARIABLE
                        "='%s' is left out: give on or off",
                        variable);
        return word;
    }
    if (find_file(path) < 0 || read_file(path, text) < 0)
        return WORD_NONE;
    *off = "~/.config/evenstep/default is off";
    word = to_word(text);
    if (word == WORD_NONE)
        slurm_error("evenstep: %s is left out: write one word into it, on or "
                    "off",
                    path);
    return word;
}

/* --- both --------------------------------------------------------------------- */

void plugin_unasked_note(void)
{
    const char *port = getenv(PTY);

    (void)snprintf(pty_before, sizeof pty_before, "%s", port ? port : "");
}

static int has_pty(void)
{
    const char *port = getenv(PTY);

    return port && strcmp(port, pty_before) != 0;
}

static int is_in_site_list(const char *list)
{
    const char *partition = getenv("SLURM_JOB_PARTITION");

    return partition && is_listed(list, partition);
}

/* Why it is not attended though somebody's default is on; NULL: it is. */
static const char *find_reason(uint32_t nodes, int is_component)
{
    if (nodes == 1)
        return "it has one node";
    if (has_pty())
        return "it has --pty";
    return is_component ? "it is heterogeneous" : NULL;
}

int plugin_unasked_wants(const char *site, uint32_t nodes, int is_component)
{
    const char *why = NULL, *list = find_list(site);
    enum word word = find_word(&why);

    if (word == WORD_NONE && strcmp(site, "off") == 0)
        return 0;
    if (word == WORD_NONE && list && !is_in_site_list(list))
        why = "default= in plugstack.conf does not name its partition";
    else if (word != WORD_OFF)
        why = find_reason(nodes, is_component);
    if (why)
        slurm_verbose("evenstep: the step is not attended: %s; --evenstep "
                      "attends it",
                      why);
    return !why;
}
