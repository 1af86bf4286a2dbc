/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice_message.h - the messages between the agent of a node and a program that
 * stays alive from slice to slice.
 *
 * They go over a unix socket of type SOCK_SEQPACKET, which keeps messages
 * apart.  A message is its type, u32, and its fields in order (bytes.h):
 *
 *   type     from     fields
 *   HELLO    program  version u32, rank u32 (among the node's tasks),
 *                     units u64, frames u64 (the work, under srun),
 *                     flags u32 (of evenstep.h; not in version 1, which a
 *                     program without flags still says)
 *   WELCOME  agent    error u32             (0: welcome)
 *   NEXT     program  -
 *   SLICE    agent    id u64, frame u64, begin u64, end u64, label text
 *   OVER     agent    error u32             (0: there are no more slices)
 *   DONE     program  id u64
 *   TAKEN    agent    -                     (the slice's output was read)
 *   BYE      program  -
 *   LISTEN   program  version u32, rank u32 (as in HELLO), port u32: the first
 *                     and only message of its connection; see
 *                     evenstep_listen()
 *   LISTENED agent    error u32             (0: the table of all is there)
 *
 * Where slices have lines (--lines), a descriptor comes with SLICE
 * (SCM_RIGHTS): a file, to be read from where it stands, of the slice's lines.
 *
 * NEXT is answered by SLICE or OVER, DONE by TAKEN, BYE by nothing,
 * LISTEN by LISTENED.  An error
 * is an errno value of Linux.  Of a HELLO of any other version only that is
 * looked at: it is refused.
 */
#ifndef LAUNCHER_LIBEVENSTEP_SLICE_MESSAGE_H
#define LAUNCHER_LIBEVENSTEP_SLICE_MESSAGE_H

#include "pmix_bcast/bytes.h"

#define SLICE_VERSION     2u
#define SLICE_PLAIN       1u   /* the version without flags */
#define SLICE_LABEL_MAX   256u /* LABEL_MAX of protocol.h */
#define SLICE_MESSAGE_MAX 512u /* bytes: a label, five numbers and some room */

enum slice_message_type {
    SLICE_HELLO = 1,
    SLICE_WELCOME,
    SLICE_NEXT,
    SLICE_SLICE,
    SLICE_OVER,
    SLICE_DONE,
    SLICE_TAKEN,
    SLICE_BYE,
    SLICE_LISTEN,
    SLICE_LISTENED,
};

struct slice_message { /* only the fields of its type are used */
    enum slice_message_type type;
    uint32_t version, rank, flags, error, port;
    uint64_t units, frames;
    uint64_t id, frame, begin, end;
    char label[SLICE_LABEL_MAX];
};

void slice_message_write(struct writer *w, const struct slice_message *m);

/* Decode a message.  0, or -1 if these bytes are none (*m zeroed). */
int slice_message_read(struct slice_message *m, const uint8_t *buf, size_t len);

/*
 * Send a message, and with it a descriptor (-1: none), which the other end gets
 * a copy of if it takes it.  Returns 0, or -1 with errno: EPIPE if the peer has gone (no
 * signal is raised), EAGAIN if the socket does not block and its buffer is full
 * because nobody reads.
 */
int slice_message_send(int fd, const struct slice_message *m);
int slice_message_send_file(int fd, const struct slice_message *m, int file);

/* Receive a message.  Returns 1; 0 if the peer has closed; or -1 with errno
 * (*m zeroed), EBADMSG if the bytes were no message. */
int slice_message_receive(int fd, struct slice_message *m);
/* Likewise, and the descriptor that came with it, the caller's; -1: none. */
int slice_message_receive_file(int fd, struct slice_message *m, int *file);

#endif
