/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/paths.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int path_of_agent(char *path, size_t size, struct es_error *err)
{
    static const char mend[] = "install evenstep-agent beside evenstep";
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;
    int len;

    if (n <= 0)
        return es_fail(err, ES_ENV, "mount /proc", "cannot find myself");
    self[n] = '\0';
    slash = strrchr(self, '/');
    if (!slash)
        return es_fail(err, ES_ENV, mend, "%s: no directory", self);
    len = snprintf(path, size, "%.*s/evenstep-agent", (int)(slash - self), self);
    if (len < 0 || (size_t)len >= size || access(path, X_OK) < 0)
        return es_fail(err, ES_ENV, mend, "%s: no such program", path);
    return 0;
}
