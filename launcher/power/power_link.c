/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/power_link.h"
#include "launcher/power/power_socket.h"
#include "launcher/wire/power_line.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOK_MS 50 /* between two looks for the guard */

struct power_link {
    struct event_base *base;
    const struct power_link_events *on;
    void *arg;
    struct power_place place;
    int fd; /* -1: not there yet */
    struct event *timer, *readable, *late;
    uint64_t limit; /* in force; 0: none */
    unsigned asked; /* limits that were asked for, and not answered yet */
    struct node_parts parts;
};

static void hang_up(struct power_link *l)
{
    if (l->readable)
        event_free(l->readable);
    l->readable = NULL;
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

/* --- what the guard says -------------------------------------------------- */

/* The answer to a limit that was asked for. */
static void receive_limited(struct power_link *l, const struct msg_limited *m)
{
    if (l->asked == 0)
        return;
    l->asked--;
    if (l->late && l->asked == 0)
        (void)event_del(l->late); /* fails for a broken base only */
    l->limit = m->limit;
    l->on->limited(l->arg, m);
}

static void receive_line(struct power_link *l, const char *text)
{
    struct power_line line;

    if (parts_line_is(text)) {
        (void)parts_line_read(&l->parts, text); /* else there are none */
        l->on->parts(l->arg, &l->parts);
        return;
    }
    power_line_read(&line, text, l->limit);
    if (line.kind == POWER_LINE_POWER)
        l->on->power(l->arg, &line.power);
    else if (line.kind == POWER_LINE_ENERGY)
        l->on->energy(l->arg, &line.energy);
    else
        receive_limited(l, &line.limited);
}

/* Whatever was asked for has this answer. */
static void answer_all(struct power_link *l, const char *text)
{
    do
        receive_line(l, text);
    while (l->asked > 0);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct power_link *l = arg;
    char text[POWER_PACKET_MAX];
    ssize_t n = recv((int)fd, text, sizeof text - 1, MSG_DONTWAIT);

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hang_up(l); /* the step or the guard has ended */
        answer_all(l, "");
        return;
    }
    text[n] = '\0';
    receive_line(l, text);
}

/* --- start and end -------------------------------------------------------- */

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct power_link *l = arg;

    (void)fd;
    (void)what;
    hang_up(l); /* if it still lives, it sees this and restores all */
    answer_all(l, "error evenstep-power does not answer");
}

static int call_guard(struct power_link *l)
{
    l->fd = power_socket_call(&l->place);
    if (l->fd >= 0)
        l->readable =
            event_new(l->base, l->fd, EV_READ | EV_PERSIST, on_readable, l);
    if (l->readable && event_add(l->readable, NULL) == 0)
        return 0;
    hang_up(l);
    return -1;
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct power_link *l = arg;

    (void)fd;
    (void)what;
    if (call_guard(l) == 0)
        (void)event_del(l->timer);
}

struct power_link *power_link_start(struct event_base *base,
                                    const char *dir,
                                    const char *step,
                                    const struct power_link_events *on,
                                    void *arg)
{
    struct timeval tv = {0, LOOK_MS * 1000};
    struct power_link *l = calloc(1, sizeof *l);
    int end = 0;

    if (!l)
        return NULL;
    *l = (struct power_link){
        .base = base, .on = on, .arg = arg, .place.dir = dir, .fd = -1};
    if (sscanf(step, "%" SCNu32 ".%" SCNu32 "%n", &l->place.job, &l->place.step,
               &end)
            == 2
        && !step[end]) {
        l->timer = event_new(base, -1, EV_PERSIST, on_time, l);
        l->late = evtimer_new(base, on_late, l);
    }
    if (l->timer && l->late && event_add(l->timer, &tv) == 0)
        return l;
    power_link_stop(l);
    return NULL;
}

void power_link_set(struct power_link *l,
                    uint64_t limit,
                    const uint64_t part[],
                    size_t n)
{
    static const struct timeval most = {POWER_ANSWER_MS / 1000,
                                        POWER_ANSWER_MS % 1000 * 1000};
    char text[POWER_PACKET_MAX];
    int len = order_line_write(text, sizeof text, limit, part, n);

    l->asked++;
    if (l->fd < 0 || len < 0
        || send(l->fd, text, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) != len
        || evtimer_add(l->late, &most) < 0)
        answer_all(l, ""); /* it has gone, as at the end of the step */
}

void power_link_threads(struct power_link *l, const pid_t thread[], size_t n)
{
    char text[POWER_PACKET_MAX];
    int len = threads_line_write(text, sizeof text, thread, n);

    if (l->fd >= 0 && len > 0) /* if it has gone, the next read shows it */
        (void)send(l->fd, text, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void power_link_stop(struct power_link *l)
{
    if (!l)
        return;
    hang_up(l);
    if (l->timer)
        event_free(l->timer);
    if (l->late)
        event_free(l->late);
    free(l);
}
