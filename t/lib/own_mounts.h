/*
 * own_mounts.h - mounts that only this test sees.
 */
#ifndef OWN_MOUNTS_H
#define OWN_MOUNTS_H

#include "tree.h"

#include <sched.h>
#include <sys/mount.h>

/* From now on; 0: they cannot be had. */
static inline int own_mounts_begin(void)
{
    return unshare(CLONE_NEWNS) == 0
           && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Both are there, below tree_root. */
static inline void own_mounts_bind(const char *what, const char *where)
{
    char from[600];

    snprintf(from, sizeof from, "%s", tree_path(what));
    if (mount(from, tree_path(where), NULL, MS_BIND, NULL) < 0)
        bail("cannot bind %s to %s: %s", what, where, strerror(errno));
}

static inline void own_mounts_memory(const char *where)
{
    if (mount("none", tree_path(where), "tmpfs", 0, NULL) < 0)
        bail("cannot mount on %s: %s", where, strerror(errno));
}

static inline void own_mounts_end(const char *where)
{
    if (umount2(tree_path(where), MNT_DETACH) < 0)
        bail("%s is no mount point: %s", where, strerror(errno));
}

#endif
