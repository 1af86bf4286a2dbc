/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_entries.h - how many descriptors, or threads, this process has: to be
 * compared with how many it had.
 */
#ifndef OWN_ENTRIES_H
#define OWN_ENTRIES_H

#include "tap.h"

#include <dirent.h>

/* Of a folder of this process, "/proc/self/fd" or "/proc/self/task". */
static int own_entries(const char *folder)
{
    DIR *dir = opendir(folder);
    int n = 0;

    if (!dir)
        bail("no %s", folder);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

#endif
