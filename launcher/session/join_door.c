/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/join_door.h"
#include "launcher/base/file_limit.h"
#include "launcher/base/front_address.h"
#include "pmix_bcast/pending.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct guest { /* an `evenstep join` whose nodes have seats */
    LIST_ENTRY(guest) next;
    struct join_door *door;
    struct channel *channel;
    size_t n;
    size_t seat[];
};

struct join_door {
    struct join_door_setup s;
    struct join_file file;
    struct listener *listener; /* NULL: the run is over */
    struct pending_list pending;
    LIST_HEAD(guests, guest) guests;
};

/* --- those whose nodes have seats ------------------------------------------ */

static void guest_gone(struct guest *g)
{
    if (g->door->listener)
        for (size_t i = 0; i < g->n; i++)
            session_seat_free(g->door->s.session, g->seat[i]);
    LIST_REMOVE(g, next);
    free(g);
}

static void on_guest_message(struct channel *c,
                             void *arg,
                             uint16_t type,
                             const uint8_t *body,
                             size_t len)
{
    const struct guest *g = arg;
    const struct join_door *d = g->door;

    (void)body;
    if (type != MSG_LEAVE || len > 0) {
        channel_hang_up(c);
        return;
    }
    for (size_t i = 0; d->listener && i < g->n; i++)
        if (session_node(d->s.session, g->seat[i])->present)
            d->s.leaves(d->s.arg, g->seat[i]);
}

static void on_guest_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)why;
    guest_gone(arg);
}

static const struct channel_events guest_events = {
    .message = on_guest_message,
    .closed = on_guest_closed,
};

static void send_seats(const struct guest *g)
{
    const struct join_door *d = g->door;
    struct msg_seats m = {.port = session_port(d->s.session),
                          .secret = *session_secret(d->s.session),
                          .agents = (uint32_t)session_size(d->s.session),
                          .energy = d->s.energy != 0,
                          .n = (uint32_t)g->n};
    struct writer w = {0};

    msg_write_seats(&w, &m, g->seat);
    if (w.bad || channel_send(g->channel, MSG_SEATS, w.buf, w.len) < 0)
        channel_hang_up(g->channel);
    if (w.buf)
        sodium_memzero(w.buf, w.len);
    writer_clear(&w);
    sodium_memzero(&m, sizeof m);
}

/* --- those who ask ---------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void refuse(struct channel *c,
                                                         const char *mend,
                                                         const char *fmt,
                                                         ...)
{
    struct msg_refused m;
    struct writer w = {0};
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(m.what, sizeof m.what, fmt, ap);
    va_end(ap);
    snprintf(m.mend, sizeof m.mend, "%s", mend);
    msg_write_refused(&w, &m);
    if (w.bad || channel_send(c, MSG_REFUSED, w.buf, w.len) < 0)
        channel_hang_up(c);
    writer_clear(&w);
}

/* Is it one that may ask?  Else it is told why not. */
static int may_ask(const struct join_door *d,
                   struct channel *c,
                   const struct msg_join *m)
{
    int is_local = session_is_local(d->s.session);

    if (m->version != PROTOCOL_VERSION
        || strcmp(m->release, EVENSTEP_VERSION) != 0)
        refuse(c, "join with the same version",
               "this evenstep is %s (protocol %u), the run's is %s (protocol "
               "%u)",
               m->release, m->version, EVENSTEP_VERSION, PROTOCOL_VERSION);
    else if (is_local && !m->local)
        refuse(c, "give --local N", "the run's nodes are those of --local");
    else if (!is_local && m->local)
        refuse(c, "run it inside salloc or sbatch, without --local",
               "the run's nodes are Slurm's");
    else
        return 1;
    return 0;
}

/* All of them, or -1; the caller frees name. */
static enum seats_verdict give(const struct join_door *d,
                               const struct msg_join *m,
                               const char *name[],
                               struct guest *g,
                               size_t *which)
{
    const char *at = (const char *)m->name;

    for (uint32_t i = 0; i < m->n; i++, at += strlen(at) + 1)
        name[i] = at;
    return session_seats(d->s.session, name, m->n, g->seat, which);
}

static void receive_join(struct join_door *d,
                         struct pending *p,
                         const struct msg_join *m)
{
    struct guest *g = calloc(1, sizeof *g + m->n * sizeof g->seat[0]);
    const char **name = calloc(m->n, sizeof *name);
    enum seats_verdict v = SEATS_FULL;
    size_t which = 0;

    if (g && name)
        v = give(d, m, name, g, &which);
    if (v == SEATS_TAKEN) {
        refuse(p->channel, "give --nodelist with those that are new",
               "%s is in the run already", name[which]);
    } else if (v == SEATS_FULL) {
        refuse(p->channel, "give the run a larger --joinable",
               "%u node%s more cannot join: the run has %zu seats", m->n,
               m->n == 1 ? "" : "s",
               session_size(d->s.session) - session_start_size(d->s.session));
    } else {
        g->door = d;
        g->n = m->n;
        g->channel = p->channel;
        pending_leave(p);
        LIST_INSERT_HEAD(&d->guests, g, next);
        channel_set_events(g->channel, &guest_events, g);
        send_seats(g);
        g = NULL;
    }
    free(g);
    free(name);
}

static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    struct pending *p = arg;
    struct join_door *d = p->owner;
    struct msg_join m;

    if (type != MSG_JOIN || p->has_said || msg_read_join(&m, body, len) < 0) {
        pending_end(p);
        return;
    }
    p->has_said = 1;
    if (may_ask(d, c, &m))
        receive_join(d, p, &m);
}

static void on_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)why;
    pending_leave(arg);
}

static const struct channel_events events = {
    .message = on_message,
    .closed = on_closed,
};

static void on_called(void *arg, struct listener *l, int fd)
{
    struct join_door *d = arg;

    (void)pending_accept_channel(&d->pending, d->s.base, fd, l, &events);
}

/* --- its life --------------------------------------------------------------- */

static int describe(struct join_door *d, struct es_error *err)
{
    struct join_file *f = &d->file;
    uint32_t job, step;

    session_job(d->s.session, &job, &step);
    f->local = session_is_local(d->s.session);
    join_file_name(f->run, f->local ? 0 : job, step);
    f->port = listener_port(d->listener);
    return join_file_put(f, err);
}

/* Which one is called: 0, or -1. */
static int find_address(struct join_door *d, struct es_error *err)
{
    struct join_file *f = &d->file;

    if (session_is_local(d->s.session))
        snprintf(f->address, sizeof f->address, "%s",
                 address_loopback_text(address_own_loopback()));
    else
        front_address_find(companion_job_nodes(), f->address);
    return f->address[0] ? 0
                         : es_fail(err, ES_ENV,
                                   "give this host an address that nodes reach",
                                   "--joinable: no address but loopback ones");
}

static int start(struct join_door *d, struct es_error *err)
{
    struct listen_at at = {0};
    const struct listener_setup setup = {.base = d->s.base,
                                         .secret = &d->file.secret,
                                         .purpose = PURPOSE_JOIN,
                                         .self = FRONT_END,
                                         .ports = session_ports(d->s.session),
                                         .at = &at,
                                         .called = on_called,
                                         .full = file_limit_reached,
                                         .arg = d};

    if (secret_make(&d->file.secret) < 0)
        return es_fail(err, ES_ENV, "see that libsodium is whole",
                       "no random numbers");
    d->file.secret.encrypt = 1;
    if (find_address(d, err) < 0)
        return -1;
    listen_at_add(&at, d->file.address);
    return listener_open(&d->listener, &setup, err) < 0 ? -1 : describe(d, err);
}

int join_door_open(struct join_door **out,
                   const struct join_door_setup *setup,
                   struct es_error *err)
{
    struct join_door *d = calloc(1, sizeof *d);

    if (!d)
        return es_no_memory(err);
    d->s = *setup;
    pending_init(&d->pending, d);
    LIST_INIT(&d->guests);
    if (start(d, err) < 0) {
        join_door_destroy(d);
        return -1;
    }
    *out = d;
    return 0;
}

const char *join_door_run(const struct join_door *d)
{
    return d->file.run;
}

void join_door_end(struct join_door *d)
{
    struct guest *g;

    if (!d || !d->listener)
        return;
    if (d->file.address[0])
        join_file_remove(d->file.run);
    pending_clear(&d->pending);
    listener_close(d->listener);
    d->listener = NULL;
    LIST_FOREACH(g, &d->guests, next)
    (void)channel_send(g->channel, MSG_LEAVE, NULL, 0); /* else it sees us go */
}

void join_door_destroy(struct join_door *d)
{
    if (!d)
        return;
    join_door_end(d);
    while (!LIST_EMPTY(&d->guests)) {
        channel_destroy(LIST_FIRST(&d->guests)->channel);
        guest_gone(LIST_FIRST(&d->guests));
    }
    sodium_memzero(&d->file.secret, sizeof d->file.secret);
    free(d);
}
