/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/scratch.h"
#include "pmix_bcast/own_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_SIZE 32 /* of a slice's folder, with its '/' */

static int fail(const char *path, const char *why, struct es_error *err)
{
    return es_fail(err, ES_ENV, "set TMPDIR to a folder with room on the node",
                   "--workdir tmp: %.400s: %s", path, why);
}

static int open_all(struct scratch *s, const char *node, struct es_error *err)
{
    const char *dir = getenv("TMPDIR");
    char prefix[64];
    int n;

    if (!dir || dir[0] != '/')
        dir = "/tmp";
    snprintf(prefix, sizeof prefix, "evenstep-run-%u-", (unsigned)getuid());
    own_folder_sweep(dir, prefix, node, NULL);
    n = snprintf(s->path, sizeof s->path, "%s/%s%d-%s", dir, prefix,
                 (int)getpid(), node);
    if (n < 0 || (size_t)n >= sizeof s->path - NAME_SIZE)
        return fail(dir, strerror(ENAMETOOLONG), err);
    s->fd = own_folder_open(AT_FDCWD, s->path);
    if (s->fd < 0) {
        s->fd = 0;
        return fail(s->path, strerror(errno), err);
    }
    (void)flock(s->fd, LOCK_EX | LOCK_NB); /* until this process ends */
    return 0;
}

static void name_of(char name[NAME_SIZE], uint64_t id)
{
    snprintf(name, NAME_SIZE, "%ju", (uintmax_t)id);
}

int scratch_begin(struct scratch *s,
                  const char *node,
                  uint64_t id,
                  char path[SCRATCH_PATH_MAX],
                  struct es_error *err)
{
    char name[NAME_SIZE];

    if (s->fd == 0 && open_all(s, node, err) < 0)
        return -1;
    name_of(name, id);
    own_folder_remove(s->fd, name); /* of a front end before this one */
    (void)snprintf(path, SCRATCH_PATH_MAX, "%.*s/%s",
                   SCRATCH_PATH_MAX - NAME_SIZE - 1, s->path, name);
    if (mkdirat(s->fd, name, 0700) < 0)
        return fail(path, strerror(errno), err);
    return 0;
}

void scratch_end(const struct scratch *s, uint64_t id)
{
    char name[NAME_SIZE];

    name_of(name, id);
    own_folder_remove(s->fd, name);
}

void scratch_close(struct scratch *s)
{
    if (s->fd == 0)
        return;
    close(s->fd);
    own_folder_remove(AT_FDCWD, s->path);
    memset(s, 0, sizeof *s);
}
