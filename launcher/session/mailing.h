/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mailing.h - messages of one type that are for many nodes at the same moment and
 * differ, such as the first RUNs of a frame.  They are collected and go down the
 * tree of the agents (session_send_each()), so that the front end does not send
 * one to each; a few go to their nodes as they are.
 */
#ifndef LAUNCHER_SESSION_MAILING_H
#define LAUNCHER_SESSION_MAILING_H

#include "launcher/session/session.h"

/* What an agent of the tree has of children: no fewer messages would be sent. */
#define MAILING_FEW 8u

struct mailing {
    struct session *session;
    enum protocol_type type;
    size_t few;      /* up to so many go alone */
    size_t n, count; /* nodes, and those that have a message */
    size_t *node;    /* those, as they came */
    /* One a node; NULL: no memory, each goes at once. */
    struct writer *w;
    char *to;
};

/* For the nodes that there are now. */
void mailing_begin(struct mailing *m,
                   struct session *session,
                   enum protocol_type type,
                   size_t few);
/* What w holds is for a node, and w is cleared.  Behind a message to the same
 * node that waits, all that wait are sent first. */
void mailing_add(struct mailing *m, size_t node, struct writer *w);
/* Send what waits. */
void mailing_send(struct mailing *m);
/* What waits is dropped; one that was never begun is allowed. */
void mailing_clear(struct mailing *m);

#endif
