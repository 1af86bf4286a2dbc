/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/drain.h"
#include "launcher/exec/execution.h"
#include "launcher/session/companion.h"

#include <event2/event.h>
#include <sodium/randombytes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 65536 /* names of 250 nodes and more; others come later */

struct drain {
    struct event_base *base;
    struct event *timer;
    struct execution *sinfo; /* that runs now */
    int interval_s;
    void (*on)(void *arg, const char *node);
    void *arg;
    size_t len;
    char text[TEXT_BYTES]; /* what it has printed */
};

/* Half to one and a half of the interval, evenly: runs that were started
 * together, as those of a job array, do not ask together. */
static void wait_again(struct drain *d)
{
    uint32_t ms = (uint32_t)d->interval_s * 1000;
    struct timeval delay = {0};

    ms = ms / 2 + randombytes_uniform(ms);
    delay.tv_sec = ms / 1000;
    delay.tv_usec = ms % 1000 * 1000;

    (void)event_add(d->timer, &delay); /* else nothing more is heard */
}

static void on_sinfo_output(void *arg, const void *text, size_t len)
{
    struct drain *d = arg;
    size_t room = sizeof d->text - 1 - d->len;

    if (len > room)
        len = room;
    memcpy(d->text + d->len, text, len);
    d->len += len;
}

static void on_sinfo_end(void *arg, const struct execution_end *end)
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

static void ask_sinfo(int fd, short what, void *arg)
{
    static char sinfo[] = "sinfo", plain[] = "-h", each[] = "-N",
                state[] = "-t", drain[] = "drain", form[] = "-o", name[] = "%N",
                nodes[] = "-n";
    char *list = (char *)companion_job_nodes(); /* is not written to */
    char *argv[] = {sinfo, plain, each,  state, drain,
                    form,  name,  nodes, list,  NULL};
    char **env = companion_environ();
    struct execution_spec spec = {.argv = argv, .envp = env};
    struct drain *d = arg;

    (void)fd;
    (void)what;
    if (!list)
        argv[7] = NULL; /* of all, then */
    d->len = 0;
    if (!env
        || execution_start(&d->sinfo, d->base, &spec, on_sinfo_output,
                           on_sinfo_end, d, NULL)
               < 0)
        wait_again(d);
    free(env);
}

struct drain *drain_watch(struct event_base *base,
                          int interval_s,
                          void (*on)(void *arg, const char *node),
                          void *arg)
{
    struct drain *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->base = base;
    d->interval_s = interval_s;
    d->on = on;
    d->arg = arg;
    d->timer = evtimer_new(base, ask_sinfo, d);
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
