/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/listening_table.h"
#include "launcher/base/notice.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMED_MAX 3 /* nodes of a message, before "and n more" */
#define NAMES_MAX (NAMED_MAX * (NODE_NAME_MAX + 2) + 32)

/* --- the end of a round ---------------------------------------------------- */

static void forget_ports(struct listening_table *t)
{
    for (size_t i = 0; i < session_size(t->session); i++) {
        free((void *)(uintptr_t)t->at[i].port);
        t->at[i] = (struct conntable_listening){.port = NULL};
    }
    t->missing = t->nodes;
}

static void tell(const struct listening_table *t,
                 size_t node,
                 uint32_t round,
                 uint32_t error)
{
    const struct msg_ports_end m = {round, error};
    struct writer w = {0};

    msg_write_ports_end(&w, &m);
    session_send(t->session, node, MSG_PORTS, &w);
}

static void end_round(struct listening_table *t, uint32_t error)
{
    const struct msg_ports_end m = {t->round, error};
    struct writer w = {0};

    msg_write_ports_end(&w, &m);
    session_send_all(t->session, MSG_PORTS, &w);
    t->round++;
    t->error = error;
    forget_ports(t);
}

/* "n1, n2, n5 and 7 more": those that have not told. */
static void name_missing(const struct listening_table *t, char out[NAMES_MAX])
{
    size_t n = session_size(t->session), named = 0, len = 0;

    for (size_t i = 0; i < n && named < NAMED_MAX; i++)
        if (t->tasks[i] > 0 && t->at[i].tasks == 0)
            len += (size_t)snprintf(out + len, NAMES_MAX - len, "%s%s",
                                    named++ ? ", " : "",
                                    session_node(t->session, i)->name);
    if (t->missing > named)
        snprintf(out + len, NAMES_MAX - len, " and %zu more",
                 t->missing - named);
}

static void say_lost(const char *node)
{
    notice("evenstep_listen(): there is no table of the tasks' ports: %s is "
           "lost",
           node);
}

static void say_late(const struct listening_table *t,
                     size_t node,
                     const struct msg_ports *m)
{
    char names[NAMES_MAX], which[64] = "";

    name_missing(t, names);
    if (m->missing > 0)
        snprintf(which, sizeof which, " (of %u on %.20s, local rank %u)",
                 m->missing, session_node(t->session, node)->name, m->first);
    notice(
        "evenstep_listen(): not all tasks on %s have called it within %d s%s: "
        "there is no table of the tasks' ports; all tasks of a step must "
        "call it",
        names, t->patience_s, which);
}

/* --- the table ------------------------------------------------------------- */

/* Map a file of so many bytes; NULL: it failed. */
static uint8_t *map(int fd, size_t size, int protection)
{
    void *p = mmap(NULL, size, protection, MAP_SHARED, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

static int compose(const struct listening_table *t,
                   uint8_t *out,
                   const uint8_t *first,
                   size_t size,
                   struct es_error *err)
{
    struct conntable table;

    if (!out || !first)
        return es_no_memory(err);
    if (conntable_read(&table, "the first table", first, size,
                       CONNTABLE_HEAD_ONLY, err)
        < 0)
        return -1;
    return conntable_of_tasks(out, &table, t->at,
                              (uint32_t)session_size(t->session), err);
}

static int fill(const struct listening_table *t, struct es_error *err)
{
    uint8_t *out = NULL, *first = NULL;
    struct stat st;
    size_t size;
    int rc = -1;

    if (fstat(t->first, &st) < 0 || ftruncate(t->fd, st.st_size) < 0)
        return es_no_memory(err);
    size = (size_t)st.st_size;
    out = map(t->fd, size, PROT_READ | PROT_WRITE);
    first = map(t->first, size, PROT_READ);
    rc = compose(t, out, first, size, err);
    if (out)
        (void)munmap(out, size);
    if (first)
        (void)munmap(first, size);
    if (rc == 0 && fchmod(t->fd, 0444) < 0) /* as the first has on the nodes */
        rc = es_no_memory(err);
    return rc;
}

static void close_table(struct listening_table *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
}

static void fail(struct listening_table *t, const struct es_error *err)
{
    notice("evenstep_listen(): there is no table of the tasks' ports: %s: %s",
           err->what, err->mend);
    close_table(t);
    end_round(t, ECONNABORTED);
}

static void on_broadcast(void *arg)
{
    const struct listening_table *t = arg;

    event_active(t->ended, EV_TIMEOUT, 0); /* not within the broadcast's call */
}

static void on_ended(evutil_socket_t fd, short what, void *arg)
{
    struct listening_table *t = arg;
    struct es_error err = {0};
    int rc = broadcast_check(&t->broadcast, &err);

    (void)fd;
    (void)what;
    broadcast_stop(&t->broadcast);
    t->in_broadcast = 0;
    if (rc < 0) {
        fail(t, &err);
        return;
    }
    close_table(t);
    end_round(t, 0);
}

static void bring_table(struct listening_table *t)
{
    struct es_error err = {0};

    t->fd = memfd_create("conntable", MFD_CLOEXEC);
    if (t->fd < 0 || fill(t, &err) < 0) {
        if (t->fd < 0)
            es_no_memory(&err);
        fail(t, &err);
        return;
    }
    snprintf(t->source, sizeof t->source, "/proc/self/fd/%d", t->fd);
    t->wish.source = t->source;
    t->wish.destination = t->destination;
    t->in_broadcast = 1;
    if (broadcast_start(&t->broadcast, t->base, t->session, &t->wish,
                        on_broadcast, t, &err)
        == 0)
        return;
    broadcast_stop(&t->broadcast);
    t->in_broadcast = 0;
    fail(t, &err);
}

/* --- what nodes say --------------------------------------------------------- */

/* 1 if it is kept. */
static int keep_ports(struct listening_table *t,
                      size_t node,
                      const struct msg_ports *m)
{
    uint32_t n = (uint32_t)(m->len / 2);
    uint16_t *port = calloc(n, sizeof *port);

    if (!port)
        return 0; /* its patience will end */
    for (uint32_t i = 0; i < n; i++)
        port[i] = get_u16(m->port + 2 * (size_t)i);
    t->at[node] = (struct conntable_listening){port, n};
    t->missing--;
    return 1;
}

/* A node tells twice, or that some are missing, when its patience is over. */
static void receive_ports(struct listening_table *t,
                          size_t node,
                          const struct msg_ports *m)
{
    if (t->error) { /* it was away when the others were told */
        tell(t, node, m->round, t->error);
        return;
    }
    if (m->round != t->round || t->in_broadcast)
        return;
    if (t->lost > 0) {
        say_lost("a node");
        end_round(t, ECONNABORTED);
    } else if (m->missing > 0 || t->at[node].tasks > 0) {
        say_late(t, node, m);
        end_round(t, ETIMEDOUT);
    } else if (m->len / 2 == t->tasks[node] && keep_ports(t, node, m)
               && t->missing == 0) {
        bring_table(t);
    }
}

int listening_table_message(struct listening_table *t,
                            size_t node,
                            uint16_t type,
                            const uint8_t *body,
                            size_t len)
{
    struct msg_ports m;

    if (!t->session)
        return 0;
    if (t->in_broadcast
        && broadcast_message(&t->broadcast, node, type, body, len))
        return 1;
    if (type != MSG_PORTS)
        return 0;
    if (msg_read_ports(&m, body, len) < 0)
        session_drop(t->session, node);
    else
        receive_ports(t, node, &m);
    return 1;
}

void listening_table_lost(struct listening_table *t,
                          size_t node,
                          const char *why)
{
    if (!t->session || t->tasks[node] == 0)
        return;
    t->lost++;
    if (t->in_broadcast) {
        broadcast_lost(&t->broadcast, node, why);
    } else if (t->missing < t->nodes) {
        say_lost(session_node(t->session, node)->name);
        end_round(t, ECONNABORTED);
    }
}

void listening_table_returned(struct listening_table *t)
{
    if (t->lost > 0)
        t->lost--;
}

/* --- start and end ---------------------------------------------------------- */

int listening_table_start(struct listening_table *t,
                          struct event_base *base,
                          struct session *session,
                          const struct config_bcast *config,
                          int first,
                          const uint32_t *tasks,
                          const char *step,
                          int patience_s)
{
    *t = (struct listening_table){.base = base,
                                  .session = session,
                                  .wish = broadcast_wish(config, ORDER_FORCE),
                                  .patience_s = patience_s,
                                  .first = first,
                                  .tasks = tasks,
                                  .fd = -1};
    for (size_t i = 0; i < session_size(session); i++)
        t->nodes += tasks[i] > 0;
    t->missing = t->nodes;
    (void)step_dir_anywhere(t->destination, sizeof t->destination, step,
                            "conntable"); /* it is short */
    t->at = calloc(session_size(session), sizeof *t->at);
    t->ended = event_new(base, -1, 0, on_ended, t);
    return t->at && t->ended ? 0 : -1;
}

void listening_table_end(struct listening_table *t)
{
    if (t->session && !t->error && !t->in_broadcast)
        end_round(t, ECONNABORTED);
}

void listening_table_stop(struct listening_table *t)
{
    if (!t->session)
        return;
    broadcast_stop(&t->broadcast);
    if (t->ended)
        event_free(t->ended);
    if (t->at)
        forget_ports(t);
    free(t->at);
    close_table(t);
    memset(t, 0, sizeof *t);
}
