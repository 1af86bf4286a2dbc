/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_socket.h - where the agent of a node finds the guard of its step: a
 * socket in a folder in which only root, who starts the guard, can make names.
 *
 * It is "@<host>.<job>.<step>" in POWER_DIR, and the step's user's.  Each end
 * looks who the other is before it believes a word, and nothing here blocks.
 */
#ifndef LAUNCHER_POWER_POWER_SOCKET_H
#define LAUNCHER_POWER_POWER_SOCKET_H

#include "pmix_bcast/error.h"

#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#define POWER_DIR "/run/evenstep/power"

/* Which step's; dir is POWER_DIR but for tests. */
struct power_place {
    const char *dir;
    uint32_t job, step;
};

/* Make dir, and what it is in, if they are not there: ours, for all to look
 * into and for nobody else to change.  0, or -1 with errno. */
int power_dir_make(const char *dir);
/* Open dir if only we can make names in it; -1 with errno. */
int power_dir_open(const char *dir);

/* Listen there, for root and this user; a socket of a guard that was killed is
 * replaced.  Returns the socket, or -1 with *err. */
int power_socket_listen(const struct power_place *place,
                        uid_t uid,
                        struct es_error *err);
/* Take one caller; -1 if there is none, or it is neither root nor uid. */
int power_socket_accept(int listener, uid_t uid);
/* Call the guard; -1 if there is none, it is busy, or it is neither root's nor
 * ours. */
int power_socket_call(const struct power_place *place);
/* Nobody listens there any more. */
void power_socket_remove(const struct power_place *place);
/* Remove name in the folder at if it is the socket of one that was killed. */
void power_socket_sweep(int at, const char *name);

#endif
