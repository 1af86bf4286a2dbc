/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qualification_state.h - what is asked of the nodes (qualification.h), and what
 * is known of them so far.
 *
 *   qualification.c       from the first question to the last answer
 *   qualification.c   what a node is asked
 *   qualification.c  or a FILE tells
 *   qualification_rank.c  what comes of it
 */
#ifndef LAUNCHER_SESSION_QUALIFICATION_STATE_H
#define LAUNCHER_SESSION_QUALIFICATION_STATE_H

#include "launcher/config/config.h"
#include "launcher/session/metrics_file.h"
#include "launcher/session/ring_test.h"
#include "launcher/session/session.h"
#include "policy/metric.h"

#include <jansson.h>

enum metrics_source {
    METRICS_PROBE,   /* measure every node at the start */
    METRICS_CACHED,  /* what the site's cache has; else measure */
    METRICS_EQUAL,   /* take all nodes as alike */
    METRICS_OF_FILE, /* from a metrics FILE */
};

struct qualification_setup {
    enum metrics_source source;
    const struct metrics_file *file; /* of METRICS_OF_FILE */
    const char *file_name;           /* its, for messages */
    const struct config_probe *probe;
    int quiet;   /* no line on an element that some nodes could not measure */
    int sparing; /* only C, and what the profile counts */
    int ring;    /* measure what the links carry, too, unless it is local */
    const struct config_profile *profile; /* that the nodes are ranked by;
                                             NULL: only measured */
    /* What a node has measured before, borrowed (probe_json.h), and *hardware;
     * NULL: nothing.  It is asked for what is not among that, and again for
     * what may have changed.  known NULL: all are asked. */
    json_t *(*known)(void *arg, const struct node *node, const char **hardware);
    /* What a node that has not answered may be, likewise; NULL: nobody knows. */
    json_t *(*guess)(void *arg, const struct session *session, size_t node);
    void *known_arg; /* of both */
};

struct qualification {
    const struct qualification_setup *setup;
    struct session *session;
    struct ring_test ring;
    int in_ring;       /* all have answered, the ring is under way */
    size_t n, missing; /* nodes, and seats; of them still to answer */
    size_t known;      /* without the seats that nobody has yet */
    char *answered;    /* one a node, as all the next */
    char *again;       /* it is asked, or will be, and nobody waits for it */
    struct msg_probed *answer; /* its results are below; hardware, cached */
    struct probe_result (*result)[ELEMENTS];
    double (*measured)[ELEMENTS]; /* completed when none is missing */
    struct metric *metric;        /* likewise, ranked */
    /* workspace */
    double (*counted)[ELEMENTS]; /* of what was measured: what they rank by */
    char *shares;                /* one a node: its machine with another */
    double *scratch;
};

#endif
