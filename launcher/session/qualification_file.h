/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qualification_file.h - the metrics of the nodes out of a metrics FILE.
 */
#ifndef LAUNCHER_SESSION_QUALIFICATION_FILE_H
#define LAUNCHER_SESSION_QUALIFICATION_FILE_H

#include "launcher/session/qualification_state.h"

/* The nodes of the file in the order of the session, ranked.  Fails with
 * ES_USAGE if it has not all of them or gives none any load. */
int qualification_take_file(struct qualification *q, struct es_error *err);

#endif
