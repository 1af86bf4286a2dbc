/*
 * tree.h - a folder of one's own, as the /sys and /proc of a made-up node.
 */
#ifndef TREE_H
#define TREE_H

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_root[] = "/tmp/evenstep-tree.XXXXXX";

static inline const char *tree_path(const char *name)
{
    static char path[600];

    if ((size_t)snprintf(path, sizeof path, "%s/%s", tree_root, name)
        >= sizeof path)
        bail("%s: too long", name);
    return path;
}

static inline void tree_make(void)
{
    snprintf(tree_root, sizeof tree_root, "/tmp/evenstep-tree.XXXXXX");
    if (!mkdtemp(tree_root))
        bail("no folder in /tmp: %s", strerror(errno));
}

/* The directories above a name. */
static inline void tree_dirs(const char *name)
{
    char path[600];

    snprintf(path, sizeof path, "%s", tree_path(name));
    for (char *at = path + strlen(tree_root) + 1; (at = strchr(at, '/'));
         at++) {
        *at = '\0';
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            bail("%s: %s", path, strerror(errno));
        *at = '/';
    }
}

static inline void tree_put(const char *name, const char *text)
{
    int fd;

    tree_dirs(name);
    fd = open(tree_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        bail("%s: %s", tree_path(name), strerror(errno));
    close(fd);
}

/* While quiet, what is said on stderr goes into a file there. */
static inline void tree_quiet(int quiet)
{
    static int before = -1;
    int fd = before;

    if (quiet) {
        before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
        fd = open(tree_path("stderr"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                  0600);
    }
    if (before < 0 || fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        bail("stderr: %s", strerror(errno));
    close(fd);
}

static inline int tree_remove_one(const char *path,
                                  const struct stat *st,
                                  int type,
                                  struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void tree_remove(void)
{
    if (nftw(tree_root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0)
        diag("%s stays: %s", tree_root, strerror(errno));
}

#endif
