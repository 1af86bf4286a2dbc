/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slot_send.h - what a slot has to say to the front end (protocol.h): OUTPUT and
 * DONE of a slice, IDLE and OVER of the program that stays alive, METERED of
 * either.
 */
#ifndef LAUNCHER_AGENT_SLOT_SEND_H
#define LAUNCHER_AGENT_SLOT_SEND_H

#include "launcher/agent/slot_common.h"
#include "launcher/exec/execution.h"

/* What the slice with that id has printed, in as many messages as it needs. */
void slot_send_output(const struct slot_common *c,
                      uint64_t id,
                      const void *buf,
                      size_t len);
void slot_send_done(const struct slot_common *c,
                    uint64_t id,
                    const struct execution_end *end);
/* A slice that cannot be started is one that failed, for this reason. */
void slot_send_refusal(const struct slot_common *c,
                       uint64_t id,
                       const char *why);
void slot_send_metered(const struct slot_common *c,
                       const struct msg_metered *m);
void slot_send_idle(const struct slot_common *c, const struct msg_idle *idle);
void slot_send_over(const struct slot_common *c,
                    int status,
                    const char *err,
                    size_t len);

#endif
