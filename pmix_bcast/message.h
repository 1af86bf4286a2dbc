/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message.h - the envelope of everything that evenstep's processes say to
 * each other over TCP, and who owns which numbers of its types.
 *
 *   offset  size  field       (integers big-endian)
 *        0     4  magic       "EVS2"; a change of the envelope, the handshake
 *                             or the seal is a new number, and such ends do
 *                             not understand each other at all
 *        4     2  type        MESSAGE_…; 16 to 255 are defined by the users of
 *                             channel.h, 272 to 511 by link.h; each number is
 *                             written, so that none changes by accident
 *        6     2  zero
 *        8     4  length      of the body, at most the channel's bound
 *       12     n  body        see bytes.h; after the handshake its last
 *                             16 bytes are a tag, see seal.h
 */
#ifndef PMIX_BCAST_MESSAGE_H
#define PMIX_BCAST_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define MESSAGE_HEAD 12u
/* Far above the largest that we send (64 KiB pieces of output, commands of
 * up to 2 MiB, the kernel's ARG_MAX); bounds what a peer can make us hold. */
#define MESSAGE_BODY_MAX (8u << 20)

enum message_type {
    MESSAGE_HELLO = 1,     /* handshake.h: the three of the handshake */
    MESSAGE_CHALLENGE = 2, /* */
    MESSAGE_PROOF = 3,     /* */
    MESSAGE_FREE = 16,     /* first type that is not the channel's own */
};

struct message_head {
    uint16_t type;
    uint32_t length; /* of the body */
};

/*
 * Decode the head at buf[0..len).  Returns 1 and fills *h; 0 if fewer than
 * MESSAGE_HEAD bytes are there; -1 if this is no message or its body is
 * longer than body_max (*h zeroed).
 */
int message_decode(struct message_head *h,
                   const uint8_t *buf,
                   size_t len,
                   uint32_t body_max);
void message_encode(uint8_t buf[MESSAGE_HEAD], const struct message_head *h);

#endif
