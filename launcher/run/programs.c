/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/programs.h"
#include "launcher/base/notice.h"
#include "launcher/run/distribution.h"
#include "launcher/session/standstill.h"
#include "pmix_bcast/clock.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_S                                                             \
    10 /* from one word about those that are missing to the next */

/* The missing, as many as fit on a line. */
static void name_missing(const struct programs *p, char *text, size_t size)
{
    size_t n = session_size(p->session), len = 0, named = 0;

    text[0] = '\0';
    for (size_t i = 0; i < n && len < size / 2; i++) {
        if (!p->awaited[i])
            continue;
        len += (size_t)snprintf(text + len, size - len, "%s%s",
                                named++ ? ", " : "",
                                session_node(p->session, i)->name);
    }
    if (named < p->missing)
        snprintf(text + len, size - len, " and %zu more", p->missing - named);
}

static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    struct programs *p = arg;
    char names[2 * NODE_NAME_MAX + 200];

    (void)fd;
    (void)what;
    name_missing(p, names, sizeof names);
    notice("waiting for the program on %s to %s", names, p->to_do);
}

int programs_init(struct programs *p,
                  struct session *session,
                  struct event_base *base)
{
    memset(p, 0, sizeof *p);
    p->session = session;
    p->asked = calloc(session_size(session), 1);
    p->awaited = calloc(session_size(session), 1);
    p->patience = event_new(base, -1, EV_PERSIST, on_patience, p);
    if (p->asked && p->awaited && p->patience)
        return 0;
    programs_clear(p);
    return -1;
}

void programs_clear(struct programs *p)
{
    if (p->patience)
        event_free(p->patience);
    free(p->asked);
    free(p->awaited);
    memset(p, 0, sizeof *p);
}

/* Of those that are present, but for some (NULL: none). */
static void await(struct programs *p, const char *to_do, const char * not )
{
    const struct timeval patience = {PATIENCE_S, 0};

    p->to_do = to_do;
    p->since_ns = clock_ns();
    p->missing = 0;
    for (size_t i = 0; i < session_size(p->session); i++) {
        p->awaited[i] =
            session_node(p->session, i)->present && !(not &&not [i]);
        p->missing += p->awaited[i] != 0;
    }
    if (p->missing > 0)
        (void)event_add(p->patience, &patience); /* else nobody is told */
}

int programs_await_start(struct programs *p, uint32_t listen_s)
{
    size_t n = session_size(p->session);
    struct writer *w = calloc(n, sizeof *w);
    struct msg_measured m = {.patience_s = listen_s};

    if (!w)
        return -1;
    await(p, "call evenstep_next()", p->asked);
    for (size_t i = 0; i < n; i++)
        m.ranks += session_node(p->session, i)->present != 0;
    for (size_t i = 0; i < n; i++)
        if (session_node(p->session, i)->present) {
            msg_write_measured(&w[i], &m);
            m.rank++;
        }
    session_send_each(p->session, MSG_MEASURED, w, NULL);
    free(w);
    return 0;
}

void programs_await_end(struct programs *p)
{
    const struct msg_over over = {0};
    struct writer w = {0};

    await(p, "end: it has been told that there are no more slices", NULL);
    msg_write_over(&w, &over);
    session_send_all(p->session, MSG_OVER, &w);
}

void programs_move(struct programs *p, int64_t ns)
{
    int64_t now = clock_ns();

    p->since_ns = now - p->since_ns < ns ? now : p->since_ns + ns;
}

void programs_drop_late(struct programs *p,
                        int64_t timeout_ns,
                        struct standstill *standstill,
                        char overdue[])
{
    if (p->missing == 0 || clock_ns() - p->since_ns <= timeout_ns)
        return;
    for (size_t i = 0; i < session_size(p->session); i++)
        if (p->awaited[i] && standstill_is_late(standstill, i)) {
            overdue[i] = 1;
            session_drop(p->session, i); /* which is told later */
        }
}

int programs_heard(struct programs *p, size_t node)
{
    if (!p->awaited[node])
        return 0;
    p->awaited[node] = 0;
    p->missing--;
    if (p->missing > 0)
        return 0;
    (void)event_del(p->patience); /* fails for a broken base only */
    return 1;
}

int programs_asked(struct programs *p, size_t node)
{
    p->asked[node] = 1;
    return programs_heard(p, node);
}
