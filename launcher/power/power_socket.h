/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_socket.h - the socket by which an agent reaches the guard of its step
 * (evenstep-power).  It is in a folder that only root can write to.
 *
 * Its name is "@<host>.<job>.<step>" in POWER_DIR; it belongs to the step's
 * user.  Each end checks who the other is before it reads anything.  Nothing
 * here blocks.
 */
#ifndef LAUNCHER_POWER_POWER_SOCKET_H
#define LAUNCHER_POWER_POWER_SOCKET_H

#include "pmix_bcast/error.h"

#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#define POWER_DIR "/run/evenstep/power"

/* Names the socket of a step; dir is POWER_DIR except in tests. */
struct power_place {
    const char *dir;
    uint32_t job, step;
};

/* Create dir and its parent if they are missing: all may read them, only we may
 * write.  0, or -1 with errno. */
int power_dir_make(const char *dir);
/* Open dir if nobody else can write to it; -1 with errno. */
int power_dir_open(const char *dir);

/* Listen for root and this user; the socket of a guard that was killed is
 * replaced.  Returns the socket, or -1 with *err. */
int power_socket_listen(const struct power_place *place,
                        uid_t uid,
                        struct es_error *err);
/* Accept a caller; -1 if there is none, or it is neither root nor uid. */
int power_socket_accept(int listener, uid_t uid);
/* Connect to the guard; -1 if there is none, it is busy, or it runs neither as
 * root nor as our user. */
int power_socket_call(const struct power_place *place);
/* Remove the socket's name when nobody listens there any more. */
void power_socket_remove(const struct power_place *place);
/* Remove a name in the folder `at` if it is the socket of a guard that was
 * killed. */
void power_socket_sweep(int at, const char *name);

#endif
