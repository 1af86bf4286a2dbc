/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/attend_libs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* 1: it is a program; 0: it is not. */
static int find_of(struct attend_input *in,
                   const char *exclude,
                   struct es_error *err)
{
    struct stat st;

    if (stat(in->source, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    if (libs_find(&in->libs, in->source, in->destination, exclude, err) == 0)
        return 1;
    if (errno != ENOEXEC)
        return -1;
    *err = (struct es_error){0};
    return 0;
}

static int add_folder(char list[LIBS_LIST_MAX],
                      const char *folder,
                      struct es_error *err)
{
    size_t len = strlen(list);
    int n = snprintf(list + len, LIBS_LIST_MAX - len, "%s%s", len ? ":" : "",
                     folder);

    return (size_t)n < LIBS_LIST_MAX - len
               ? 0
               : es_fail(err, ES_USAGE, "bring the programs to shorter paths",
                         "--evenstep-libs: the paths are too long for "
                         "LD_LIBRARY_PATH");
}

int attend_libs_find(struct attend_options *o,
                     const char *exclude,
                     char list[LIBS_LIST_MAX],
                     struct es_error *err)
{
    int programs = 0;

    list[0] = '\0';
    for (size_t i = 0; i < o->inputs; i++) {
        int found = find_of(&o->input[i], exclude, err);

        if (found < 0)
            return -1;
        programs += found;
        if (o->input[i].libs.n > 0
            && add_folder(list, o->input[i].libs.destination, err) < 0)
            return -1;
    }
    return programs > 0 ? 0
                        : es_fail(err, ES_USAGE,
                                  "bring a program by --evenstep-bcast, or "
                                  "leave it out",
                                  "--evenstep-libs: no file that is brought "
                                  "is a program");
}
