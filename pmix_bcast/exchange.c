/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is asked for on a link is answered in that order, so the chunk that
 * comes always belongs to the first that was asked.
 */
#include "pmix_bcast/exchange.h"
#include "pmix_bcast/clock.h"
#include "pmix_bcast/destination.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define CHUNK     (256u << 10) /* large enough for the wire, small for turns */
#define ASKED_MAX 8u           /* files asked for and not yet here, a link */

struct fetch {
    STAILQ_ENTRY(fetch) next;
    struct exchange_file file;
    struct destination to;
    struct file_digester *sum; /* of what came; NULL: nothing to compare to */
    uint64_t got;
    int64_t asked_ns; /* when; 0: not yet */
    int error;        /* of the disk: the rest is thrown away */
};

struct peer {
    LIST_ENTRY(peer) next;
    struct exchange *exchange;
    uint32_t rank;
    struct link *link; /* NULL: it has not called yet */
    int64_t free_ns;   /* when the last fetch ended */
    int hello_due;
    STAILQ_HEAD(fetch_list, fetch) fetches;
    uint8_t *in; /* a chunk that comes */
    /* What it has asked for: a ring. */
    struct asked {
        uint32_t file;
        uint64_t bytes;
    } asked[ASKED_MAX];
    unsigned asked_first, asked_n;
    int fd; /* of the first of them, or -1 */
    uint64_t given;
};

struct exchange {
    struct exchange_setup s;
    LIST_HEAD(peer_list, peer) peers;
    uint8_t out[CHUNK]; /* to reckon the digest of what goes out */
};

/* --- peers ---------------------------------------------------------------- */

static struct peer *find_peer(struct exchange *x, uint32_t rank)
{
    struct peer *p;

    LIST_FOREACH(p, &x->peers, next)
    if (p->rank == rank)
        return p;
    return NULL;
}

static struct peer *add_peer(struct exchange *x, uint32_t rank)
{
    struct peer *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->exchange = x;
    p->rank = rank;
    p->fd = -1;
    STAILQ_INIT(&p->fetches);
    LIST_INSERT_HEAD(&x->peers, p, next);
    return p;
}

static void free_fetch(struct fetch *f)
{
    destination_close(&f->to);
    file_digester_destroy(f->sum);
    free(f);
}

/* p is out of the list; each fetch that it had is told why, if that is not
 * NULL. */
static void free_peer(struct peer *p, const char *why)
{
    struct exchange *x = p->exchange;
    struct fetch *f;

    while ((f = STAILQ_FIRST(&p->fetches)) != NULL) {
        uint32_t number = f->file.number;

        STAILQ_REMOVE_HEAD(&p->fetches, next);
        free_fetch(f);
        if (why)
            x->s.fetched(x->s.arg, p->rank, number, 0, why);
    }
    if (p->fd >= 0)
        close(p->fd);
    free(p->in);
    free(p);
}

static void drop_peer(struct peer *p)
{
    LIST_REMOVE(p, next);
    link_destroy(p->link);
    free_peer(p, NULL);
}

/* --- what we give --------------------------------------------------------- */

static void end_giving(struct peer *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
    p->given = 0;
    p->asked_first = (p->asked_first + 1) % ASKED_MAX;
    p->asked_n--;
}

/* Open the first that is asked for; an errno value if it is not as expected. */
static int begin_giving(struct peer *p, const struct asked *a)
{
    struct exchange *x = p->exchange;
    struct stat st;

    p->fd = x->s.open(x->s.arg, a->file);
    if (p->fd < 0 || fstat(p->fd, &st) < 0)
        return errno;
    return (uint64_t)st.st_size == a->bytes ? 0 : ESTALE;
}

static void digest(uint8_t out[TAG_BYTES], const uint8_t *bytes, size_t len)
{
    XXH64_canonical_t xxh3;

    XXH64_canonicalFromHash(&xxh3, XXH3_64bits(bytes, len));
    memset(out, 0, TAG_BYTES);
    memcpy(out, xxh3.digest, sizeof xxh3.digest);
}

static int is_whole(const struct link_head *h, const uint8_t *bytes)
{
    uint8_t want[TAG_BYTES];

    digest(want, bytes, h->size);
    return memcmp(want, h->digest, sizeof want) == 0;
}

static int lack(struct peer *p, struct link_head *h, int error)
{
    h->type = LINK_LACK;
    h->broadcast = p->asked[p->asked_first].file;
    h->chunk = (uint32_t)error;
    end_giving(p);
    return 1;
}

static int give(struct peer *p, struct link_head *h, int *fd, off_t *at)
{
    const struct asked *a = &p->asked[p->asked_first];
    uint8_t *out = p->exchange->out;
    int why = p->fd < 0 ? begin_giving(p, a) : 0;
    ssize_t n;

    if (why)
        return lack(p, h, why);
    h->size =
        a->bytes - p->given < CHUNK ? (uint32_t)(a->bytes - p->given) : CHUNK;
    n = pread(p->fd, out, h->size, (off_t)p->given);
    if (n != (ssize_t)h->size) {
        h->size = 0;
        return lack(p, h, n < 0 ? errno : ESTALE);
    }
    h->type = LINK_CHUNK;
    h->broadcast = a->file;
    h->chunk = (uint32_t)(p->given / CHUNK);
    digest(h->digest, out, h->size);
    *fd = p->fd;
    *at = (off_t)p->given;
    p->given += h->size;
    return 1;
}

/* An empty file needs no chunk, and nobody asks for one. */
static int note_asked(struct peer *p, const struct link_head *h)
{
    if (p->asked_n == ASKED_MAX || h->bytes == 0)
        return -1;
    p->asked[(p->asked_first + p->asked_n++) % ASKED_MAX] =
        (struct asked){h->broadcast, h->bytes};
    link_wake(p->link);
    return 0;
}

/* --- what we get ---------------------------------------------------------- */

static const char *say_why(int error)
{
    return error == EBADMSG ? "it is not what was made: its digest is another"
                            : strerror(error);
}

/* The fetch is over: tell, and let the next be asked for. */
static void end_fetch(struct peer *p, struct fetch *f, int error)
{
    struct exchange *x = p->exchange;
    uint32_t number = f->file.number, rank = p->rank;
    int64_t now = clock_ns(), since = f->asked_ns ? f->asked_ns : now;

    if (since < p->free_ns)
        since = p->free_ns;
    p->free_ns = now;
    STAILQ_REMOVE(&p->fetches, f, fetch, next);
    free_fetch(f);
    if (p->link)
        link_wake(p->link);
    x->s.fetched(x->s.arg, rank, number, now - since,
                 error ? say_why(error) : NULL);
}

static struct fetch *first_asked(const struct peer *p)
{
    struct fetch *f = STAILQ_FIRST(&p->fetches);

    return f && f->asked_ns ? f : NULL;
}

/* Is this the chunk that is due? */
static int is_due(const struct fetch *f, const struct link_head *h)
{
    uint64_t left = f ? f->file.bytes - f->got : 0;

    return f && h->broadcast == f->file.number && h->chunk == f->got / CHUNK
           && h->size == (left < CHUNK ? left : CHUNK);
}

/* All of it has come: it gets its name if it is what was to come. */
static int finish_fetch(struct fetch *f)
{
    if (f->sum) {
        const struct file_digest sum = file_digester_end(f->sum);

        if (!file_digest_is_equal(&sum, &f->file.digest))
            return EBADMSG;
    }
    return destination_finish(&f->to, f->file.mode, NULL);
}

static int take_chunk(struct peer *p,
                      const struct link_head *h,
                      const uint8_t *bytes)
{
    struct fetch *f = first_asked(p);

    if (!is_due(f, h) || !bytes || !is_whole(h, bytes))
        return -1;
    if (!f->error)
        f->error = destination_write(&f->to, bytes, h->size, f->got);
    if (f->sum)
        file_digester_add(f->sum, bytes, h->size);
    f->got += h->size;
    if (f->got < f->file.bytes)
        return 0;
    if (!f->error)
        f->error = finish_fetch(f);
    end_fetch(p, f, f->error);
    return 0;
}

static int take_lack(struct peer *p, const struct link_head *h)
{
    struct fetch *f = first_asked(p);

    if (!f || h->broadcast != f->file.number || h->chunk == 0
        || h->chunk > INT32_MAX)
        return -1;
    end_fetch(p, f, (int)h->chunk);
    return 0;
}

/* The next of ours that may be asked for, or NULL. */
static struct fetch *to_ask(const struct peer *p)
{
    struct fetch *f;
    unsigned asked = 0;

    f = STAILQ_FIRST(&p->fetches);
    for (; f && asked < ASKED_MAX; f = STAILQ_NEXT(f, next)) {
        if (!f->asked_ns)
            return f;
        asked++;
    }
    return NULL;
}

/* --- links ---------------------------------------------------------------- */

static uint8_t *on_place(struct link *l, void *arg, const struct link_head *h)
{
    struct peer *p = arg;

    (void)l;
    if (!is_due(first_asked(p), h))
        return NULL;
    if (!p->in)
        p->in = malloc(CHUNK);
    return p->in;
}

static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct peer *p = arg;

    (void)l;
    switch (h->type) {
    case LINK_ASK:
        return note_asked(p, h);
    case LINK_CHUNK:
        return take_chunk(p, h, bytes);
    case LINK_LACK:
        return take_lack(p, h);
    default:
        return -1;
    }
}

static int on_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at)
{
    struct peer *p = arg;
    struct fetch *f = to_ask(p);

    (void)l;
    if (p->hello_due) {
        p->hello_due = 0;
        h->type = LINK_HELLO;
        h->broadcast = EXCHANGE_ID;
        return 1;
    }
    if (f) {
        f->asked_ns = clock_ns();
        h->type = LINK_ASK;
        h->broadcast = f->file.number;
        h->bytes = f->file.bytes;
        return 1;
    }
    return p->asked_n > 0 ? give(p, h, fd, at) : 0;
}

/* The file stays open until the kernel has its last chunk. */
static void on_sent(struct link *l, void *arg, const struct link_head *h)
{
    struct peer *p = arg;

    (void)l;
    if (h->type == LINK_CHUNK && p->given == p->asked[p->asked_first].bytes)
        end_giving(p);
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    struct peer *p = arg;

    (void)l;
    LIST_REMOVE(p, next);
    free_peer(p, why);
}

static const struct link_events events = {
    .place = on_place,
    .taken = on_taken,
    .next = on_next,
    .sent = on_sent,
    .closed = on_closed,
};

/* --- public --------------------------------------------------------------- */

struct exchange *exchange_create(const struct exchange_setup *setup)
{
    struct exchange *x = malloc(sizeof *x);

    if (!x)
        return NULL;
    x->s = *setup;
    LIST_INIT(&x->peers);
    return x;
}

int exchange_call(struct exchange *x, uint32_t rank, const struct endpoint *at)
{
    const struct parties parties = {PURPOSE_MESH, x->s.self, rank};
    struct address to;
    struct peer *p;

    if (address_parse(&to, at->address, at->port) < 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    p = add_peer(x, rank);
    if (!p)
        return -1;
    p->hello_due = 1;
    p->link = link_call(x->s.base, (const struct sockaddr *)&to.at, to.len,
                        x->s.secret, &parties, &events, p);
    if (!p->link) {
        drop_peer(p);
        return -1;
    }
    link_set_chunk(p->link, CHUNK);
    return 0;
}

void exchange_join(struct exchange *x, struct link *l)
{
    uint32_t rank = link_caller(l);
    struct peer *p = find_peer(x, rank);

    /* Two that call each other at once have two links. */
    if (!p || p->link)
        p = add_peer(x, rank);
    if (!p) {
        link_destroy(l);
        return;
    }
    p->link = l;
    link_set_events(l, &events, p);
    link_set_chunk(l, CHUNK);
    link_wake(l);
}

/* Where it is to go, and what it is compared to; -1 with errno. */
static int prepare(const struct exchange *x, struct fetch *f, const char *path)
{
    errno = destination_open(&f->to, path, f->file.bytes, 1, NULL);
    if (errno)
        return -1;
    if (x->s.keep)
        destination_keep(&f->to);
    if (f->file.bytes == 0 || !file_digest_is_known(&f->file.digest))
        return 0;
    f->sum = file_digester_create();
    errno = ENOMEM;
    return f->sum ? 0 : -1;
}

int exchange_fetch(struct exchange *x,
                   uint32_t from,
                   const struct endpoint *at,
                   const struct exchange_file *file,
                   const char *path)
{
    struct peer *p = find_peer(x, from);
    struct fetch *f;

    if (!p && at && exchange_call(x, from, at) < 0)
        return -1;
    p = p || at ? find_peer(x, from) : add_peer(x, from);
    f = calloc(1, sizeof *f);
    if (!p || !f) {
        free(f);
        return -1;
    }
    f->file = *file;
    f->to = DESTINATION_CLOSED;
    if (prepare(x, f, path) < 0) {
        free_fetch(f);
        return -1;
    }
    STAILQ_INSERT_TAIL(&p->fetches, f, next);
    if (file->bytes == 0)
        end_fetch(p, f, destination_finish(&f->to, file->mode, NULL));
    else if (p->link)
        link_wake(p->link);
    return 0;
}

void exchange_forget(struct exchange *x, uint32_t rank)
{
    struct peer *p;

    while ((p = find_peer(x, rank)) != NULL)
        drop_peer(p);
}

void exchange_destroy(struct exchange *x)
{
    int saved = errno;

    if (!x)
        return;
    while (!LIST_EMPTY(&x->peers))
        drop_peer(LIST_FIRST(&x->peers));
    free(x);
    errno = saved;
}
