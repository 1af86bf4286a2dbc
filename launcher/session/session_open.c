/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/awake.h"
#include "launcher/base/file_limit.h"
#include "launcher/session/absence.h"
#include "launcher/session/session_end.h"
#include "launcher/session/session_rescue.h"
#include "launcher/session/session_start.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int session_open(struct session **out,
                 struct event_base *base,
                 const struct session_setup *setup,
                 const struct session_events *on,
                 void *arg,
                 struct es_error *err)
{
    struct session *s = calloc(1, sizeof *s);

    if (!s)
        return es_no_memory(err);
    s->base = base;
    s->on = on;
    s->arg = arg;
    file_limit_raise(); /* a connection a node, and some for ourselves */
    if (session_start(s, setup, err) < 0) {
        session_close(s);
        return -1;
    }
    *out = s;
    return 0;
}

size_t session_size(const struct session *s)
{
    return s->ready ? s->n + s->seats : 0;
}

size_t session_start_size(const struct session *s)
{
    return s->ready ? s->n : 0;
}

uint16_t session_port(const struct session *s)
{
    return listener_port(s->listener);
}

const struct secret *session_secret(const struct session *s)
{
    return &s->secret;
}

struct port_range session_ports(const struct session *s)
{
    return s->ports;
}

struct listen_at session_listen_at(const struct session *s)
{
    struct listen_at at = {0};

    if (s->members)
        members_listen_at(s->members, &at);
    return at;
}

int session_is_local(const struct session *s)
{
    return s->is_local;
}

int session_is_recalled(const struct session *s)
{
    return s->recalled;
}

void session_job(const struct session *s, uint32_t *job, uint32_t *step)
{
    *job = s->job;
    *step = s->step;
}

void session_step_name(const struct session *s,
                       size_t node,
                       char name[STEP_NAME_MAX])
{
    if (s->is_local) /* all nodes are this one */
        step_dir_local_name(name, (int)getpid(), session_node(s, node)->name);
    else
        snprintf(name, 64, "%u.%u", s->job, s->step);
}

const struct node *session_node(const struct session *s, size_t node)
{
    return members_node(s->members, node);
}

int session_has_come(const struct session *s, size_t node)
{
    return node >= s->n || !members_is_awaited(s->members, node);
}

int session_is_rescued(const struct session *s)
{
    return s->rescue.stage != RESCUE_NOT;
}

int session_is_awaited(const struct session *s, size_t node)
{
    return s->given_up && members_is_awaited(s->members, node)
           && !s->given_up[node];
}

void session_send(struct session *s,
                  size_t node,
                  enum protocol_type type,
                  struct writer *w)
{
    members_send(s->members, node, (uint16_t)type, w);
}

void session_send_all(struct session *s,
                      enum protocol_type type,
                      struct writer *w)
{
    members_send_all(s->members, (uint16_t)type, w);
}

void session_send_each(struct session *s,
                       enum protocol_type type,
                       struct writer w[],
                       const char to[])
{
    members_send_each(s->members, (uint16_t)type, w, to);
}

enum seats_verdict session_seats(struct session *s,
                                 const char *const name[],
                                 size_t k,
                                 size_t seat[],
                                 size_t *which)
{
    size_t n = session_size(s);
    struct seat *all = calloc(n + 1, sizeof *all);
    enum seats_verdict v = SEATS_FULL;

    for (size_t i = 0; all && i < n; i++)
        all[i] = (struct seat){session_node(s, i)->name,
                               session_node(s, i)->present};
    if (all)
        v = seats_give(all, n, s->n, name, k, seat, which);
    for (size_t i = 0; v == SEATS_GIVEN && i < k; i++)
        members_seat(s->members, seat[i], name[i]);
    free(all);
    return v;
}

void session_seat_free(struct session *s, size_t seat)
{
    if (!s->sat[seat - s->n])
        members_seat(s->members, seat, "");
}

void session_drop(struct session *s, size_t node)
{
    members_drop(s->members, node);
}

void session_close(struct session *s)
{
    if (!s)
        return;
    s->closing = 1;
    session_end(s);
    arrival_destroy(s->arrival);
    recall_end(s->recall);
    absence_destroy(s->absence);
    absence_destroy(s->late);
    free(s->nodes);
    free(s->without.list);
    session_start_forget(s);
    session_rescue_clear(s);
    lingering_clear(&s->lingering);
    launch_destroy(s->launch);
    awake_stop(s->awake);
    free(s->sat);
    free(s->given_up);
    if (s->deadline)
        event_free(s->deadline);
    if (s->early_timer)
        event_free(s->early_timer);
    if (s->late_timer)
        event_free(s->late_timer);
    sodium_memzero(&s->secret, sizeof s->secret);
    free(s);
}
