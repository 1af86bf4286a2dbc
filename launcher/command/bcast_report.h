/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bcast_report.h - how a broadcast went, as the lines of its report.
 */
#ifndef LAUNCHER_COMMAND_BCAST_REPORT_H
#define LAUNCHER_COMMAND_BCAST_REPORT_H

#include "launcher/base/report_out.h"
#include "launcher/session/broadcast.h"
#include "launcher/session/session.h"

/* Nothing is written if out is of no file. */
int bcast_report_write(struct report_out *out,
                       const struct session *session,
                       const struct bcast_wish *wish,
                       const struct broadcast_result *r,
                       struct es_error *err);

#endif
