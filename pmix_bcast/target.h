/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * target.h - where a broadcast makes something: a folder, and the name in it.
 *
 * All that return int return 0 or an errno value.
 */
#ifndef PMIX_BCAST_TARGET_H
#define PMIX_BCAST_TARGET_H

struct target {
    int folder; /* O_PATH; -1: not open */
    char name[256];
};

#define TARGET_CLOSED                                                          \
    (struct target)                                                            \
    {                                                                          \
        .folder = -1                                                           \
    }

/* An absolute path; EISDIR if it ends in no name. */
int target_open(struct target *p, const char *path);
/* That it has its name is on the disk; fd is open there. */
int target_sync(const struct target *p, int fd);
/* A warning, or "": can others put something else in its place? */
const char *target_note(const struct target *p);
void target_close(struct target *p);

#endif
