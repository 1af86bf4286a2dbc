/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qualification.h - has every node of a session measured at the start, keeps
 * what came back, and ranks the nodes by it: steps 2 to 7 of US 8,645,454.
 *
 * Whatever goes wrong on a node costs precision, never the job: what could not
 * be measured counts as the median of the other nodes, and if nothing could,
 * all nodes are taken as alike; each with one warning.
 *
 * What nodes of one machine share (containers, several slurmd of one host) is
 * left out: each would measure how much the others leave of it at that moment.
 * By which elements the nodes are ranked the configuration says: probe {
 * rank_by }.
 */
#ifndef LAUNCHER_SESSION_QUALIFICATION_H
#define LAUNCHER_SESSION_QUALIFICATION_H

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
    void *known_arg;
};

struct qualification {
    const struct qualification_setup *setup;
    struct session *session;
    struct ring_test ring;
    int in_ring;       /* all have answered, the ring is under way */
    size_t n, missing; /* nodes, and seats; of them still to answer */
    size_t known;      /* without the seats that nobody has yet */
    char *answered;    /* one a node, as all the next */
    char *again;       /* it was lost, is back, and has not answered yet */
    struct msg_probed *answer; /* its results are below; hardware, cached */
    struct probe_result (*result)[ELEMENTS];
    double (*measured)[ELEMENTS]; /* completed when none is missing */
    struct metric *metric;        /* likewise, ranked */
    /* workspace */
    double (*counted)[ELEMENTS]; /* of what was measured: what they rank by */
    char *shares;                /* one a node: its machine with another */
    double *scratch;
};

/* Does the profile count nothing more than the links? */
int qualification_wants_ring(const struct config_profile *profile);

/*
 * Start: ask every node, or take what setup says; then nothing is missing.
 * setup must outlive q.  Fails with ES_USAGE if the file has not all nodes or
 * gives none of them any load, with ES_ENV if memory ran out; q may then be
 * cleared.
 */
int qualification_start(struct qualification *q,
                        struct session *session,
                        const struct qualification_setup *setup,
                        struct es_error *err);
void qualification_clear(struct qualification *q);
/*
 * Hear a node; an answer that cannot be read counts as nothing measured.
 * Returns 1 if it was for us, else 0.
 */
int qualification_message(struct qualification *q,
                          size_t node,
                          uint16_t type,
                          const uint8_t *body,
                          size_t len);
/* A node is back: forget what it was, and ask it once more.  1, or 0 if nobody
 * is asked and the metrics hold.  Its answer ranks all nodes anew. */
int qualification_again(struct qualification *q, size_t node);
/* Is the node's answer to that still to come? */
int qualification_is_again(const struct qualification *q, size_t node);
/* A node has gone: nothing is expected of it any more. */
void qualification_lost(struct qualification *q, size_t node);
/* What is known of the nodes as a metrics FILE (metrics_file.h), owned by
 * the caller; NULL if memory ran out. */
char *qualification_text(const struct qualification *q);

#endif
