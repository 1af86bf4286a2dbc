/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * knowing.h - a caller who knows the secret, and then writes what it likes: to
 * a blocking socket whose other end is a channel or a link of this process.
 */
#ifndef T_LIB_KNOWING_H
#define T_LIB_KNOWING_H

#include "pmix_bcast/message.h"
#include "pmix_bcast/seal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct knowing {
    int fd;
    struct handshake handshake;
    struct seal *out, *in; /* after knowing_prove() */
};

/* 0, or -1: the other end has gone. */
static int knowing_put(int fd, uint16_t type, const void *body, size_t len)
{
    struct message_head h = {type, (uint32_t)len};
    uint8_t bytes[MESSAGE_HEAD + HANDSHAKE_MAX];

    message_encode(bytes, &h);
    memcpy(bytes + MESSAGE_HEAD, body, len);
    return send(fd, bytes, MESSAGE_HEAD + len, MSG_NOSIGNAL)
                   == (ssize_t)(MESSAGE_HEAD + len)
               ? 0
               : -1;
}

static int knowing_hello(struct knowing *k,
                         int fd,
                         const struct secret *s,
                         const struct parties *p)
{
    uint8_t hello[HELLO_BYTES];

    memset(k, 0, sizeof *k);
    k->fd = fd;
    handshake_call(&k->handshake, s, p);
    caller_hello(&k->handshake, hello);
    return knowing_put(fd, MESSAGE_HELLO, hello, sizeof hello);
}

/* The challenge has come, whole: answer it. */
static int knowing_prove(struct knowing *k)
{
    uint8_t answer[MESSAGE_HEAD + HANDSHAKE_MAX], proof[MAC_BYTES];
    struct connection_keys keys;

    if (recv(k->fd, answer, sizeof answer, MSG_DONTWAIT)
            != (ssize_t)sizeof answer
        || caller_proof(&k->handshake, answer + MESSAGE_HEAD, proof) < 0)
        return -1;
    handshake_keys(&k->handshake, &keys);
    k->out = seal_create(keys.to_listener, (int)k->handshake.secret.encrypt);
    k->in = seal_create(keys.to_caller, (int)k->handshake.secret.encrypt);
    return k->out && k->in
               ? knowing_put(k->fd, MESSAGE_PROOF, proof, sizeof proof)
               : -1;
}

static inline void knowing_end(struct knowing *k)
{
    seal_destroy(k->out);
    seal_destroy(k->in);
    close(k->fd);
}

#endif
