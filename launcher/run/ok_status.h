/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ok_status.h - the exit statuses with which a command has done its slice:
 * --ok-status LIST.
 */
#ifndef LAUNCHER_RUN_OK_STATUS_H
#define LAUNCHER_RUN_OK_STATUS_H

#include "launcher/wire/protocol.h"
#include "pmix_bcast/error.h"

struct ok_status {
    unsigned char is_ok[256];
};

/* "0,1": of an option, into a struct ok_status.  Fails with ES_USAGE. */
int ok_status_take(void *at, const char *text, struct es_error *err);
/* Not one that was killed or could not be started. */
int ok_status_is(const struct ok_status *s, const struct msg_done *m);

#endif
