/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The directory of this program, without its last '/'. */
static int own_directory(char *dir, size_t size, struct es_error *err)
{
    ssize_t n = readlink("/proc/self/exe", dir, size - 1);
    char *slash;

    if (n <= 0)
        return es_fail(err, ES_ENV, "mount /proc",
                       "the path of this program is not known");
    dir[n] = '\0';
    slash = strrchr(dir, '/');
    if (slash)
        *slash = '\0';
    return 0;
}

int path_of_agent(char *path,
                  size_t size,
                  const char *configured,
                  struct es_error *err)
{
    char dir[4096] = "";
    int len;

    if (!configured[0] && own_directory(dir, sizeof dir, err) < 0)
        return -1;
    len = snprintf(path, size, "%s%s", configured[0] ? configured : dir,
                   configured[0] ? "" : "/evenstep-agent");
    if (len < 0 || (size_t)len >= size)
        errno = ENAMETOOLONG;
    else if (access(path, X_OK) == 0)
        return 0;
    if (errno == EACCES)
        return es_fail(err, ES_ENV,
                       "chmod 755 it, or if it is that, see the folders above "
                       "it, and that none is mounted noexec",
                       "%s: not executable: %s", path, strerror(errno));
    return es_fail(err, ES_ENV,
                   "install evenstep-agent beside evenstep, or name it by "
                   "agent_path in evenstep.conf",
                   "%s: no such program", path);
}
