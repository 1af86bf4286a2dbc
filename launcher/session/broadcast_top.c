/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/broadcast_top.h"

#include <event2/event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOK_MS 250 /* whether it is time to write */

static enum top_state state_of(const struct bcast_standing *s)
{
    if (s->failed)
        return TOP_LOST;
    return s->ended ? TOP_DONE : TOP_WORKING;
}

static void look_at(struct top_part *t,
                    const char *name,
                    const struct bcast_standing *s,
                    double all)
{
    double missing = all - (double)s->bytes;

    *t = (struct top_part){.state = state_of(s),
                           .slots = 1,
                           .running = !s->ended,
                           .part = all,
                           .done = (double)s->bytes,
                           .total = (double)s->bytes,
                           .rate = s->rate,
                           .left = -1,
                           .waiting = missing};
    snprintf(t->name, sizeof t->name, "%s", name);
    if (s->ended)
        t->left = 0;
    else if (s->rate > 0)
        t->left = missing / s->rate;
}

/* Of all nodes together; who is lost gets no more. */
static struct top_progress progress_of(const struct broadcast_top *t)
{
    struct top_progress p = {.elapsed = top_place_elapsed(&t->place),
                             .planned = -1,
                             .efficiency = -1,
                             .gain = -1};

    for (size_t i = 0; i < t->n; i++) {
        const struct top_part *part = &t->part[i];

        p.done += part->done;
        p.all += part->state == TOP_LOST ? part->done : part->part;
        p.rate += part->rate;
        if (part->left < 0 || p.left < 0)
            p.left = -1;
        else
            p.left = fmax(p.left, part->left);
    }
    return p;
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct broadcast_top *t = arg;
    struct bcast_result now;
    struct top_view top = {
        .kind = TOP_BCAST, .what = *t->source, .meter = "", .parts = t->n};
    struct top_progress progress;

    (void)fd;
    (void)what;
    if (!*t->home || !top_place_is_due(&t->place, t->n))
        return;
    now = bcast_home_result(*t->home);
    for (uint32_t v = 0; v < t->n; v++) {
        struct bcast_standing s = bcast_home_standing(*t->home, v);

        look_at(&t->part[v], session_node(t->session, v)->name, &s,
                (double)now.plan.bytes);
    }
    progress = progress_of(t);
    top.progress = &progress;
    top.part = t->part;
    session_job(t->session, &top.job, &top.step);
    top_place_write(&t->place, &top);
}

void broadcast_top_start(struct broadcast_top *t,
                         struct event_base *base,
                         const struct session *session,
                         struct bcast_home *const *home,
                         const char *const *source)
{
    struct timeval tv = {0, LOOK_MS * 1000};
    size_t n = session_start_size(session);

    *t = (struct broadcast_top){
        .session = session, .home = home, .source = source};
    t->part = calloc(n, sizeof *t->part);
    t->look = event_new(base, -1, EV_PERSIST, on_look, t);
    if (!t->part || !t->look || event_add(t->look, &tv) < 0) {
        broadcast_top_stop(t);
        return;
    }
    t->n = n;
    top_place_start(&t->place);
}

void broadcast_top_stop(struct broadcast_top *t)
{
    top_place_stop(&t->place);
    if (t->look)
        event_free(t->look);
    free(t->part);
    *t = (struct broadcast_top){.n = 0};
}
