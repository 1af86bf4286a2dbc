/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_top.h - what `evenstep top` shows of a run: how far it is and, if it is
 * metered, how its nodes stand (top_file.h).
 */
#ifndef LAUNCHER_RUN_RUN_TOP_H
#define LAUNCHER_RUN_RUN_TOP_H

#include "launcher/run/progress.h"
#include "launcher/run/run_meter.h"
#include "launcher/run/run_power.h"

struct run_top {
    char dir[32];      /* "": nothing has been written */
    int64_t start_ns;  /* of the first frame */
    int64_t writes_ns; /* when it writes again */
};

void run_top_start(struct run_top *t);
/* To be called now and then. */
void run_top_look(struct run_top *t,
                  const struct distribution *d,
                  const struct session *session,
                  struct run_meter *m,
                  struct run_power *power,
                  const struct progress *p);
void run_top_stop(struct run_top *t);

#endif
