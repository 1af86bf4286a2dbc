/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice_message.h - what a program that stays alive between slices and the
 * agent of its node say to each other, over a unix socket that keeps messages
 * apart (SOCK_SEQPACKET).  A message is its type, u32, and its fields in order
 * (bytes.h):
 *
 *   type     from     fields
 *   HELLO    program  version u32, rank u32 (among the node's tasks),
 *                     units u64, frames u64 (what the program brings along)
 *   WELCOME  agent    error u32             (0; else why not)
 *   NEXT     program  -
 *   SLICE    agent    id u64, frame u64, begin u64, end u64, label text
 *   OVER     agent    error u32             (0: no more slices; else why)
 *   DONE     program  id u64
 *   TAKEN    agent    -                     (what it has printed is read)
 *   BYE      program  -
 *
 * NEXT is answered by SLICE or OVER, DONE by TAKEN, BYE by nothing.  An error
 * is an errno value of Linux.
 */
#ifndef LAUNCHER_LIBEVENSTEP_SLICE_MESSAGE_H
#define LAUNCHER_LIBEVENSTEP_SLICE_MESSAGE_H

#include "pmix_bcast/bytes.h"

#define SLICE_VERSION     1u
#define SLICE_LABEL_MAX   256u /* LABEL_MAX of protocol.h */
#define SLICE_MESSAGE_MAX 512u /* bytes; a label and five numbers, to spare */

enum slice_message_type {
    SLICE_HELLO = 1,
    SLICE_WELCOME,
    SLICE_NEXT,
    SLICE_SLICE,
    SLICE_OVER,
    SLICE_DONE,
    SLICE_TAKEN,
    SLICE_BYE,
};

struct slice_message { /* of its fields those that the type has */
    enum slice_message_type type;
    uint32_t version, rank, error;
    uint64_t units, frames;
    uint64_t id, frame, begin, end;
    char label[SLICE_LABEL_MAX];
};

void slice_message_write(struct writer *w, const struct slice_message *m);

/* 0, or -1 if these bytes are no message (*m zeroed). */
int slice_message_read(struct slice_message *m, const uint8_t *buf, size_t len);

/*
 * Send on a socket.  Returns 0, or -1 with errno; of a peer that has gone that
 * is EPIPE, without a signal.  A message that does not fit into the socket's
 * buffer (nobody reads) is EAGAIN if the socket does not block.
 */
int slice_message_send(int fd, const struct slice_message *m);

/* Receive one.  1; 0 if the peer has closed; -1 with errno, EBADMSG if it was
 * no message (*m zeroed). */
int slice_message_receive(int fd, struct slice_message *m);

#endif
