/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/plugin_meter.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank_plugin/plugin_options.h"
#include "spank_plugin/plugin_program.h"

#define LIBRARY "libevenstep-mpi.so"
#ifndef EVENSTEP_LIBDIR
#    define EVENSTEP_LIBDIR "/usr/local/lib/evenstep"
#endif

#define LIST_SIZE  (4 * PATH_MAX) /* of what the user has in a variable */
#define SEPARATORS ": "           /* of LD_PRELOAD, see ld.so(8) */

/* Is this a step of which the agent has said so, and has it a page? */
static int is_wanted(spank_t sp)
{
    char word[8], dir[PATH_MAX - sizeof "/meter"], page[PATH_MAX];

    if (spank_getenv(sp, "EVENSTEP_METER", word, sizeof word) != ESPANK_SUCCESS
        || strcmp(word, "mpi") != 0
        || spank_getenv(sp, "EVENSTEP_DIR", dir, sizeof dir) != ESPANK_SUCCESS)
        return 0;
    (void)snprintf(page, sizeof page, "%s/meter", dir);
    return access(page, R_OK | W_OK) == 0;
}

/* Beside the program evenstep, as in a build, or where it is installed. */
static int find_library(char path[PATH_MAX])
{
    char launcher[PATH_MAX];
    const char *slash;
    int n;

    if (realpath(plugin_options_get().launcher, launcher)) {
        slash = strrchr(launcher, '/');
        n = snprintf(path, PATH_MAX, "%.*s/" LIBRARY, (int)(slash - launcher),
                     launcher);
        if (n < PATH_MAX && access(path, R_OK) == 0)
            return 0;
    }
    (void)snprintf(path, PATH_MAX, "%s", EVENSTEP_LIBDIR "/" LIBRARY);
    return access(path, R_OK);
}

/* One line a node. */
static void complain(spank_t sp, const char *path, const char *what)
{
    int task;

    if (spank_get_item(sp, S_TASK_ID, &task) == ESPANK_SUCCESS && task != 0)
        return;
    slurm_error("evenstep: this node's tasks are not metered: %s %s", path,
                what);
}

/* A task of a task may have been given it already. */
static int is_in(const char *list, const char *path)
{
    size_t len = strlen(path), part;

    for (; *list; list += part + strspn(list + part, SEPARATORS)) {
        part = strcspn(list, SEPARATORS);
        if (part == len && strncmp(list, path, len) == 0)
            return 1;
    }
    return 0;
}

/* Put a word in front of what a variable lists.  0, or -1 if it is too long. */
static int put_first(spank_t sp, const char *name, const char *word)
{
    char list[LIST_SIZE], all[LIST_SIZE + PATH_MAX];
    spank_err_t rc = spank_getenv(sp, name, list, sizeof list);

    if (rc == ESPANK_ENV_NOEXIST)
        list[0] = '\0';
    else if (rc != ESPANK_SUCCESS)
        return -1;
    if (is_in(list, word))
        return 0;
    (void)snprintf(all, sizeof all, "%s%s%s", word, list[0] ? ":" : "", list);
    return spank_setenv(sp, name, all, 1) == ESPANK_SUCCESS ? 0 : -1;
}

/* gcc's AddressSanitizer ends a program in which any library comes before it,
 * unless it is told not to look: ours takes none of its functions. */
static void preload(spank_t sp, const char *path)
{
    if (put_first(sp, "ASAN_OPTIONS", "verify_asan_link_order=0") < 0)
        complain(sp, path, "is left out: ASAN_OPTIONS is too long");
    else if (put_first(sp, "LD_PRELOAD", path) < 0)
        complain(sp, path, "is left out: LD_PRELOAD is too long");
}

/* Whoever has asked for no meter is not troubled by its absence. */
static void complain_if_asked(spank_t sp, const char *program)
{
    const struct plugin_options o = plugin_options_get();

    if (o.meter || o.report)
        complain(sp, program,
                 "is linked statically, or not for this system's C library: "
                 "give --evenstep-meter=cpu, or link it with that");
}

void plugin_meter_preload(spank_t sp)
{
    char path[PATH_MAX];
    const char *program;

    if (!is_wanted(sp))
        return;
    if (!plugin_program_is_of_system(sp, &program)) {
        complain_if_asked(sp, program);
        return;
    }
    if (find_library(path) < 0)
        complain(sp, path,
                 "is missing: install it there, or beside the program that "
                 "launcher= in plugstack.conf names (or give "
                 "--evenstep-meter=none)");
    else if (strpbrk(path, SEPARATORS))
        complain(sp, path,
                 "has a blank or a colon in its path, which LD_PRELOAD does "
                 "not take: install it elsewhere");
    else
        preload(sp, path);
}
