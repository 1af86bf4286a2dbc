/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exchange.h - whole files from one process of a step to another, by number.
 *
 * Both ends of a link (link.h) may ask the other for files.  The bytes go by
 * sendfile(2), in chunks with an XXH3_64 digest each, which finds what was
 * damaged on its way; what comes is written beside and renamed, so that no file
 * is ever half there; one that is not what its own digest says is thrown away.
 * A link is made when the first file is asked for, and kept.
 *
 * All callbacks come from the event loop, but for exchange_fetch() of an empty
 * file.
 */
#ifndef PMIX_BCAST_EXCHANGE_H
#define PMIX_BCAST_EXCHANGE_H

#include "pmix_bcast/file_digest.h"
#include "pmix_bcast/link.h"
#include "pmix_bcast/wireup.h"

#define EXCHANGE_ID 0u /* in HELLO; broadcasts count from 1 */

struct exchange;

struct exchange_setup {
    struct event_base *base;
    const struct secret *secret;
    uint32_t self; /* our rank, or FRONT_END */
    int keep;      /* what has come is on the disk */
    /* A descriptor of the file, to be read and closed by the exchange; -1 with
     * errno if we have not got it. */
    int (*open)(void *arg, uint32_t file);
    /* The end of a fetch: why is NULL if the file is there.  elapsed_ns: since
     * it was asked for, and those before it on the link were there. */
    void (*fetched)(void *arg,
                    uint32_t from,
                    uint32_t file,
                    int64_t elapsed_ns,
                    const char *why);
    void *arg;
};

struct exchange_file {
    uint32_t number;
    unsigned mode;
    uint64_t bytes;
    struct file_digest digest; /* not known: not checked */
};

/* setup's base and secret must outlive it.  NULL if memory ran out. */
struct exchange *exchange_create(const struct exchange_setup *setup);
/* Connect to a process; 0, or -1 with errno. */
int exchange_call(struct exchange *x, uint32_t rank, const struct endpoint *at);
/* A process has called us: a link on which HELLO has come. */
void exchange_join(struct exchange *x, struct link *l);
/*
 * Ask for a file, to be written at an absolute path (what is there is
 * replaced); fetched() follows, of an empty file before this returns.
 *
 *   at  where to call the process if there is no link yet; NULL: wait until
 *       it has called us
 *
 * Returns 0, or -1 with errno.
 */
int exchange_fetch(struct exchange *x,
                   uint32_t from,
                   const struct endpoint *at,
                   const struct exchange_file *file,
                   const char *path);
/* The process is lost: what was asked of it is forgotten, and fetched() does
 * not follow. */
void exchange_forget(struct exchange *x, uint32_t rank);
/* NULL is allowed. */
void exchange_destroy(struct exchange *x);

#endif
