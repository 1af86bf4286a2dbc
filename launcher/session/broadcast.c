/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/broadcast.h"
#include "launcher/base/notice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct bcast_wish broadcast_wish(const struct config_bcast *config,
                                 uint32_t flags)
{
    return (struct bcast_wish){.flags = flags,
                               .branches = config->branches,
                               .chunk = config->chunk,
                               .small = config->small};
}

int broadcast_source(const char *source, struct es_error *err)
{
    if (access(source, R_OK) == 0)
        return 0;
    return es_fail(err, ES_WORK, "give a file that can be read", "%s: %s",
                   source, strerror(errno));
}

int broadcast_destination(char out[DESTINATION_MAX],
                          const char *text,
                          struct es_error *err)
{
    char here[DESTINATION_MAX];
    int n;

    if (text[0] == '\0' || text[strlen(text) - 1] == '/')
        return es_fail(err, ES_USAGE, "give the file's whole name",
                       "DST \"%s\" names no file", text);
    if (text[0] == '/')
        n = snprintf(out, DESTINATION_MAX, "%s", text);
    else if (!getcwd(here, sizeof here))
        return es_fail(err, ES_USAGE, "give a whole path for DST",
                       "the working directory has no name");
    else
        n = snprintf(out, DESTINATION_MAX, "%s/%s", here, text);
    if (n < 0 || (size_t)n >= DESTINATION_MAX)
        return es_fail(err, ES_USAGE, "give a shorter one",
                       "DST is longer than %u bytes", DESTINATION_MAX - 1);
    return 0;
}

static void on_send(void *arg,
                    uint32_t node,
                    enum bcast_kind kind,
                    struct writer *w)
{
    struct broadcast *b = arg;

    session_send(b->session, node, (enum protocol_type)(MSG_BCAST + kind), w);
}

static int is_late(void *arg, uint32_t node)
{
    const struct broadcast *b = arg;

    return standstill_is_late(b->standstill, node);
}

static void on_ended(void *arg)
{
    struct broadcast *b = arg;

    b->ended(b->arg);
}

int broadcast_start(struct broadcast *b,
                    struct event_base *base,
                    struct session *session,
                    const struct bcast_wish *wish,
                    void (*ended)(void *arg),
                    void *arg,
                    struct es_error *err)
{
    static uint32_t id = 1; /* so that a late caller of the last one is known */
    struct bcast_home_setup home = {
        .base = base,
        .secret = session_secret(session),
        .ports = session_ports(session),
        .loopback = session_is_local(session),
        .id = id,
        .nodes = (uint32_t)session_size(session),
        .wish = *wish,
        .send = on_send,
        .is_late = is_late,
        .ended = on_ended,
        .arg = b,
    };

    id++;
    *b = (struct broadcast){.session = session, .ended = ended, .arg = arg};
    b->standstill = standstill_create(session);
    if (!b->standstill)
        return es_no_memory(err);
    if (bcast_home_start(&b->home, &home, err) < 0)
        return -1;
    for (size_t i = 0; i < session_size(session); i++)
        if (!session_node(session, i)->present)
            bcast_home_lost(b->home, (uint32_t)i, "it was lost before");
    broadcast_top_start(&b->top, base, session, b->home, wish->source);
    return 0;
}

int broadcast_message(struct broadcast *b,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len)
{
    int64_t stopped;

    if (!b->home)
        return 0;
    if (standstill_message(b->standstill, node, type, body, len, &stopped)) {
        bcast_home_move(b->home, (uint32_t)node, (double)stopped / 1e9);
        return 1;
    }
    if (type < MSG_BCAST || type >= MSG_BCAST_END)
        return 0;
    if (bcast_home_receive(b->home, (uint32_t)node,
                           (enum bcast_kind)(type - MSG_BCAST), body, len)
        < 0)
        session_drop(b->session, node);
    return 1;
}

void broadcast_lost(struct broadcast *b, size_t node, const char *why)
{
    if (b->home)
        bcast_home_lost(b->home, (uint32_t)node, why);
}

int broadcast_check(const struct broadcast *b, struct es_error *err)
{
    struct bcast_result r = bcast_home_result(b->home);

    if (r.err->kind != ES_OK) {
        *err = *r.err;
        return -1;
    }
    for (uint32_t v = 0; v < r.plan.nodes; v++)
        if (r.node[v].why[0])
            notice("%s: %s", session_node(b->session, v)->name, r.node[v].why);
    if (r.failed == 0)
        return 0;
    return es_fail(
        err, ES_WORK,
        r.failed < r.plan.nodes ? "see the lines above; the others have it"
                                : "see the lines above",
        "%u of %u nodes have not got the file", r.failed, r.plan.nodes);
}

void broadcast_stop(struct broadcast *b)
{
    broadcast_top_stop(&b->top);
    bcast_home_destroy(b->home);
    b->home = NULL;
    standstill_destroy(b->standstill);
    b->standstill = NULL;
}
