/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/exec_option.h"
#include "launcher/session/broadcast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or an errno value. */
static int check_file(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (!S_ISREG(st.st_mode))
        return EACCES;
    return access(path, R_OK | X_OK) < 0 ? errno : 0;
}

static int join(char out[PATH_MAX],
                const char *dir,
                size_t len,
                const char *name)
{
    int n = len > 0 ? snprintf(out, PATH_MAX, "%.*s/%s", (int)len, dir, name)
                    : snprintf(out, PATH_MAX, "%s", name);

    return n < PATH_MAX ? 0 : ENAMETOOLONG;
}

/* In the folders of PATH; what is there and cannot be run is told if there is
 * no other. */
static int search(char out[PATH_MAX], const char *name)
{
    const char *path = getenv("PATH"), *at = path ? path : "/bin:/usr/bin";
    int why = ENOENT;

    for (;; at++) {
        size_t len = strcspn(at, ":");
        int rc = join(out, at, len, name);

        rc = rc ? rc : check_file(out);
        if (rc == 0)
            return 0;
        if (rc == EACCES)
            why = rc;
        at += len;
        if (*at == '\0')
            return why;
    }
}

static int find_program(char out[PATH_MAX],
                        const char *name,
                        struct es_error *err)
{
    int why = strchr(name, '/') ? join(out, "", 0, name) : search(out, name);

    if (why == 0 && strchr(name, '/'))
        why = check_file(out);
    if (why == 0)
        return 0;
    return es_fail(err, why == ENOENT ? ES_USAGE : ES_WORK,
                   why == EACCES ? "give a program, or make it one by chmod +x"
                                 : "give a program of this host behind --",
                   "--exec: %.200s: %s", name, strerror(why));
}

int exec_option_settle(struct exec_option *e,
                       char *const command[],
                       struct es_error *err)
{
    const char *to = e->given, *name;
    char whole[DESTINATION_MAX];

    if (!to)
        return 0;
    if (!command[0])
        return es_fail(err, ES_USAGE,
                       "give it after --, or bring the programs of --works by "
                       "--bcast",
                       "--exec: no command");
    if (find_program(e->source, command[0], err) < 0)
        return -1;
    name = strrchr(e->source, '/');
    if (to[0] && to[strlen(to) - 1] == '/') {
        if (snprintf(whole, sizeof whole, "%s%s", to,
                     name ? name + 1 : e->source)
            >= (int)sizeof whole)
            return es_fail(err, ES_USAGE, "give a shorter one",
                           "--exec: DST is longer than %u bytes",
                           DESTINATION_MAX - 1);
        to = whole;
    }
    return broadcast_destination(e->destination, e->source, to, err);
}
