/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_state.h - the values that a guard found before it set anything, on
 * disk. If the guard is killed, the next one on the node restores them, or the
 * epilog by `evenstep-power --restore`.
 *
 * There is one file for each step, locked by its guard.  If a file is not
 * locked, its guard has died.  Its lines:
 *
 *   knob PATH<tab>VALUE
 *   group PATH
 *   threads PATH       of a group in which there may be some of threads
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
/* Limits of the whole node belong to one step at a time: claim them, by name,
 * until power_state_remove().  dir is as below. */
int power_state_claim(struct power_state *s,
                      const char *dir,
                      const char *name,
                      struct es_error *err);

/* At most so many guards of a user run on a node at a time. */
#define POWER_GUARDS 8
/* Be one of them, as long as the descriptor is open, which is returned; or -1.
 * "guards.<host>", beside dir, is locked at one byte a guard. */
int power_state_seat(const char *dir, uid_t uid, struct es_error *err);

/* Write the values that a has found to a file in dir (power_dir_make()). */
int power_state_save(struct power_state *s,
                     const char *dir,
                     const char *name,
                     const struct actuator *a,
                     struct es_error *err);
/* The same of the knobs that were added for its parts, before any is set. */
int power_state_add(struct power_state *s, const struct actuator *a);
/* Give up what was saved and claimed, after all was restored. */
void power_state_remove(struct power_state *s);
/* Restore what dead guards have left, and remove their sockets.  Returns the
 * number of their files. */
size_t power_state_restore(const char *dir);

#define POWER_STATE_LINE (SYSFS_PATH + KNOB_TEXT + 8) /* with newline, NUL */

enum power_state_kind {
    POWER_STATE_NONE, /* incomplete, or not ours: it is ignored */
    POWER_STATE_KNOB,
    POWER_STATE_GROUP,
    POWER_STATE_THREADS,
};

/*
 * Parse a line, which ends with a newline.  *path and, for a knob, *value point
 * into it.  A line without its newline was being written when its guard died,
 * before anything was set.  Pure.
 */
enum power_state_kind power_state_line(char *line,
                                       const char **path,
                                       const char **value);

#endif
