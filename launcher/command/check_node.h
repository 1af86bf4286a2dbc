/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_node.h - is evenstep well on this node?  Found here, told as one line of
 * JSON, and read again by who has asked all nodes.
 */
#ifndef LAUNCHER_COMMAND_CHECK_NODE_H
#define LAUNCHER_COMMAND_CHECK_NODE_H

#include "pmix_bcast/address.h"
#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stdint.h>

#define CHECK_FAULTS 8u
#define CHECK_TEXT   240
#define CHECK_DIGEST 16u /* bytes */

enum check_reason {
    CHECK_CONFIG,
    CHECK_AGENT,
    CHECK_SHM,
    CHECK_RUN,
    CHECK_GPU,
    CHECK_PORTS,
    CHECK_REASONS,
    CHECK_TOLD = CHECK_REASONS /* by another node, which has a reason */
};

struct check_node {
    char node[64];
    char version[32];
    char config[2 * CHECK_DIGEST + 1]; /* of all configuration, in hex */
    char address
        [ADDRESS_MAX]; /* of the node, as it has called; "": it has not */
    uint16_t port;     /* at which it waits to be called; 0: it does not */
    int has_plugin;    /* slurmstepd has loaded it */
    int is_step;       /* it was asked by a task of Slurm's */
    double clock;      /* seconds since the epoch, as it said so */
    char fault[CHECK_FAULTS][CHECK_TEXT]; /* each whole in itself */
    uint32_t n;
    uint32_t by_reason[CHECK_REASONS]; /* of all, not read from text */
};

/* Fill it in; call: "ADDRESS:PORT", where somebody listens and will call back, or
 * NULL.  *fd is where it waits for that, or -1: see check_node_wait(). */
void check_node_look(struct check_node *c, const char *call, int *fd);
/* Until the other side has called, for some seconds at most; closes it. */
void check_node_wait(int fd);
/* One more fault; all but the first CHECK_FAULTS are dropped. */
void check_node_add(struct check_node *c,
                    enum check_reason reason,
                    const char *format,
                    ...) __attribute__((format(printf, 3, 4)));

/* NULL if memory ran out. */
json_t *check_node_json(const struct check_node *c);
/* 0, or -1: that text is none. */
int check_node_read(struct check_node *c, const char *text);

#endif
