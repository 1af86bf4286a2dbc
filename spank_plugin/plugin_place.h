/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_place.h - where a step's directory is on this node: in
 * /dev/shm/evenstep-<uid>, or where somebody else has put something of that
 * name in /dev/shm/evenstep-<uid>.<random> (launcher/user_dir.h).
 *
 * Nothing is believed that is not the user's own, or that others can write to.
 */
#ifndef SPANK_PLUGIN_PLACE_H
#define SPANK_PLUGIN_PLACE_H

#include <slurm/spank.h>
#include <stdint.h>
#include <sys/types.h>

#define PLACE_BASE      "/dev/shm" /* USER_DIR_BASE of launcher/user_dir.h */
#define PLACE_NAME_SIZE 32         /* of "evenstep-4294967295.0123abcd" */

/* Why something is not believed; NULL: it is not there, which is fine. */
struct verdict {
    const char *what;
};

/* Say why; -1. */
int plugin_place_refuse(struct verdict *v, const char *what);

struct place {
    uid_t uid;
    uint32_t job, step;
    /* Look for the second kind, too: a step that evenstep does not attend
     * shall not have to read through all of /dev/shm. */
    int thorough;
    char user_dir[PLACE_NAME_SIZE], step_dir[PLACE_NAME_SIZE];
};

/* -1 if it is no step that could have a directory: batch script, shell,
 * extern. */
int plugin_place_find(spank_t sp, struct place *p);

/* Open a file in the step's directory, wherever that is; -1 with *v. */
int plugin_place_open(const struct place *p,
                      const char *name,
                      struct verdict *v);

/* Add bytes to a file in the step's directory below base, with the user's
 * rights; the file must be there, and stay below 16384 bytes.  0, or -1. */
int plugin_place_append(const struct place *p,
                        int base,
                        const char *name,
                        const void *bytes,
                        size_t len);

/*
 * Remove the step's directory below base, /dev/shm or what a job has in its
 * stead, and the user's if it was the last.  With the user's rights: what a
 * user can make us open does no harm.
 */
void plugin_place_remove(const struct place *p, int base);

/* What is not the user's leaves the user's name for another one.  To be
 * called as root. */
void plugin_place_evict(const struct place *p);

#endif
