/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/drain.h"
#include "launcher/execution.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

/* Slurm's controller is everybody's; who drains a node waits for hours. */
#define ASK_S 10

#define TEXT_BYTES 65536 /* names of 250 nodes and more; others come later */

struct drain {
    struct event_base *base;
    struct event *timer;
    struct execution *sinfo; /* that runs now */
    void (*on)(void *arg, const char *node);
    void *arg;
    size_t len;
    char text[TEXT_BYTES]; /* what it has printed */
};

static void wait_again(struct drain *d)
{
    struct timeval delay = {ASK_S, 0};

    (void)event_add(d->timer, &delay); /* else nothing more is heard */
}

static void on_output(void *arg, const void *text, size_t len)
{
    struct drain *d = arg;
    size_t room = sizeof d->text - 1 - d->len;

    if (len > room)
        len = room;
    memcpy(d->text + d->len, text, len);
    d->len += len;
}

static void on_end(void *arg, const struct execution_end *end)
{
    struct drain *d = arg;
    char *next = d->text, *line;
    int well = end->status == 0;

    execution_destroy(d->sinfo);
    d->sinfo = NULL;
    d->text[d->len] = '\0';
    while (well && (line = strsep(&next, "\n")) != NULL && next)
        d->on(d->arg, line);
    wait_again(d);
}

static void ask(int fd, short what, void *arg)
{
    static char sinfo[] = "sinfo", plain[] = "-h", each[] = "-N",
                state[] = "-t", drain[] = "drain", form[] = "-o", name[] = "%N";
    char *argv[] = {sinfo, plain, each, state, drain, form, name, NULL};
    struct execution_spec spec = {.argv = argv};
    struct drain *d = arg;

    (void)fd;
    (void)what;
    d->len = 0;
    if (execution_start(&d->sinfo, d->base, &spec, on_output, on_end, d, NULL)
        < 0)
        wait_again(d);
}

struct drain *drain_watch(struct event_base *base,
                          void (*on)(void *arg, const char *node),
                          void *arg)
{
    struct drain *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->base = base;
    d->on = on;
    d->arg = arg;
    d->timer = evtimer_new(base, ask, d);
    if (!d->timer) {
        free(d);
        return NULL;
    }
    wait_again(d);
    return d;
}

void drain_stop(struct drain *d)
{
    if (!d)
        return;
    execution_destroy(d->sinfo);
    event_free(d->timer);
    free(d);
}
