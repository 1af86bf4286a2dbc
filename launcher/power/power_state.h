/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_state.h - what a guard has found before it set anything, on disk: if
 * the guard is killed, the next one on the node puts it back, or the epilog by
 * `evenstep-power --restore`.
 *
 * A file a step, locked by the guard that wrote it: one that is not locked is
 * of a guard that has died.  Lines:
 *
 *   knob PATH<tab>VALUE
 *   group PATH
 */
#ifndef LAUNCHER_POWER_POWER_STATE_H
#define LAUNCHER_POWER_POWER_STATE_H

#include "launcher/power/actuator_kind.h"

struct power_state {
    char path[SYSFS_PATH];
    int fd; /* locked; -1: none */
    char claim[SYSFS_PATH];
    int claim_fd; /* likewise */
};

/* Nothing is claimed or saved yet. */
void power_state_init(struct power_state *s);
/* What is of the whole node is one step's at a time: claim it, by name, until
 * power_state_remove().  dir is as below. */
int power_state_claim(struct power_state *s,
                      const char *dir,
                      const char *name,
                      struct es_error *err);

/* Write what a has found, as name in dir, see power_dir_make(). */
int power_state_save(struct power_state *s,
                     const char *dir,
                     const char *name,
                     const struct actuator *a,
                     struct es_error *err);
/* All has been put back, if anything was saved or claimed. */
void power_state_remove(struct power_state *s);
/* Put back what dead guards have left, and remove their sockets; how many there
 * were. */
size_t power_state_restore(const char *dir);

#define POWER_STATE_LINE (SYSFS_PATH + KNOB_TEXT + 8) /* with newline, NUL */

enum power_state_kind {
    POWER_STATE_NONE, /* torn, or none of ours: nothing is done for it */
    POWER_STATE_KNOB,
    POWER_STATE_GROUP,
};

/*
 * What a line, with its newline, says; it is cut, and *path and, of a knob,
 * *value point into it.  One without its newline was being written when its
 * guard died, before anything was set.  Pure.
 */
enum power_state_kind power_state_line(char *line,
                                       const char **path,
                                       const char **value);

#endif
