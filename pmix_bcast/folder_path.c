/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/folder_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD 64u /* levels that stay open: few trees are deeper */

static struct folder_level *innermost(const struct folder_path *p)
{
    return &p->level[p->n - 1];
}

static int make_room(struct folder_path *p)
{
    size_t size = p->size ? p->size * 2 : 16;
    struct folder_level *level;

    if (p->n < p->size)
        return 0;
    level = realloc(p->level, size * sizeof *level);
    if (!level)
        return ENOMEM;
    p->level = level;
    p->size = size;
    return 0;
}

int folder_path_enter(struct folder_path *p, int fd)
{
    struct stat st;
    int why = fstat(fd, &st) < 0 ? errno : make_room(p);

    if (why) {
        close(fd);
        return why;
    }
    if (p->n > HELD) {
        close(innermost(p)->fd);
        innermost(p)->fd = -1;
    }
    p->level[p->n++] =
        (struct folder_level){.fd = fd, .dev = st.st_dev, .ino = st.st_ino};
    return 0;
}

/* Others may have moved the folder below it meanwhile. */
static int reopen(struct folder_level *l, int below)
{
    struct stat st;
    int why = 0;

    l->fd = openat(below, "..", FOLDER_OPEN);
    if (l->fd < 0 || fstat(l->fd, &st) < 0)
        why = errno;
    else if (st.st_dev != l->dev || st.st_ino != l->ino)
        why = ESTALE;
    return why;
}

int folder_path_leave(struct folder_path *p)
{
    struct folder_level left = *innermost(p);
    int why = 0;

    p->n--;
    if (p->n > 0 && innermost(p)->fd < 0)
        why = reopen(innermost(p), left.fd);
    close(left.fd);
    free(left.names);
    return why;
}

int folder_path_fd(const struct folder_path *p)
{
    return innermost(p)->fd;
}

int folder_path_add(struct folder_path *p, const char *name)
{
    struct folder_level *l = innermost(p);
    size_t len = strlen(name) + 1;

    if (l->size - l->len < len) {
        size_t size = (l->size + len) * 2;
        char *names = realloc(l->names, size);

        if (!names)
            return ENOMEM;
        l->names = names;
        l->size = size;
    }
    memcpy(l->names + l->len, name, len);
    l->len += len;
    return 0;
}

const char *folder_path_next(struct folder_path *p)
{
    struct folder_level *l = innermost(p);

    l->now = l->next < l->len ? l->names + l->next : NULL;
    if (l->now)
        l->next += strlen(l->now) + 1;
    return l->now;
}

const char *folder_path_now(const struct folder_path *p)
{
    return innermost(p)->now;
}

void folder_path_clear(struct folder_path *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->level[i].fd >= 0)
            close(p->level[i].fd);
        free(p->level[i].names);
    }
    free(p->level);
    *p = (struct folder_path){0};
}
