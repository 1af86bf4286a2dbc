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

#include "launcher/session/qualification_state.h"

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
/* A node is back, or here at last: forget what it was, and ask it once more.  1, or
 * 0 if it need not be asked and the metrics hold.  Its answer ranks all nodes
 * anew. */
int qualification_again(struct qualification *q, size_t node);
/* Of a node that has not answered: can it be guessed what it is? */
int qualification_may_guess(const struct qualification *q, size_t node);
/* One at least has answered, and the others are not waited for: until they answer,
 * which ranks all anew, each counts as is guessed. */
void qualification_go_on(struct qualification *q);
/* Is the node's answer to that still to come? */
int qualification_is_again(const struct qualification *q, size_t node);
/* A node has gone: nothing is expected of it any more. */
void qualification_lost(struct qualification *q, size_t node);
/* What is known of the nodes as a metrics FILE (metrics_file.h), owned by
 * the caller; NULL if memory ran out. */
char *qualification_text(const struct qualification *q);

#endif
