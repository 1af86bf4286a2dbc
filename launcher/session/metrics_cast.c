/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/metrics_cast.h"
#include "launcher/base/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A node that shares its CPUs with many others may be slow to take its part. */
#define PATIENCE_S 30.0

#define METRICS_NAME "metrics.json"

/* Its mode is what it has on the nodes. */
static int fill_source(int fd, const char *text)
{
    return fd < 0 || fchmod(fd, 0600) < 0
                   || write_all(fd, text, strlen(text)) < 0
               ? -1
               : 0;
}

static int make_source(struct metrics_cast *m,
                       const struct qualification *q,
                       struct es_error *err)
{
    char *text = qualification_text(q);
    int rc = 0;

    if (!text)
        return es_no_memory(err);
    m->fd = memfd_create(METRICS_NAME, MFD_CLOEXEC);
    if (fill_source(m->fd, text) < 0)
        rc = es_fail(err, ES_ENV, "free some memory", "no file in memory: %s",
                     strerror(errno));
    free(text);
    snprintf(m->source, sizeof m->source, "/proc/self/fd/%d", m->fd);
    return rc;
}

/* On this machine: a link to our file, as long as we are there. */
static int link_all(const struct metrics_cast *m,
                    const struct session *s,
                    struct es_error *err)
{
    char step[64], target[64];
    int why = 0;

    snprintf(target, sizeof target, "/proc/%d/fd/%d", (int)getpid(), m->fd);
    for (size_t i = 0; i < session_start_size(s) && why == 0; i++) {
        session_step_name(s, i, step);
        why = step_dir_link(step, METRICS_NAME, target);
    }
    if (why)
        return es_fail(err, ES_ENV, "see that /dev/shm can be written",
                       "no " METRICS_NAME ": %s", strerror(why));
    return 1;
}

int metrics_cast_start(struct metrics_cast *m,
                       struct event_base *base,
                       const struct qualification *q,
                       const struct config_bcast *config,
                       const char *step,
                       void (*ended)(void *arg),
                       void *arg,
                       struct es_error *err)
{
    struct bcast_wish wish;
    char own[64];

    memset(m, 0, sizeof *m);
    if (make_source(m, q, err) < 0)
        return -1;
    if (session_is_local(q->session))
        return link_all(m, q->session, err);
    if (!step) {
        session_step_name(q->session, 0, own);
        step = own;
    }
    if (step_dir_anywhere(m->destination, sizeof m->destination, step,
                          METRICS_NAME)
        < 0)
        return es_fail(err, ES_ENV, "report this",
                       "the step directory's name is too long");
    wish = broadcast_wish(config, ORDER_FORCE);
    wish.source = m->source;
    wish.destination = m->destination;
    wish.timeout_s = PATIENCE_S;
    return broadcast_start(&m->broadcast, base, q->session, &wish, ended, arg,
                           err);
}

int metrics_cast_check(const struct metrics_cast *m, struct es_error *err)
{
    return m->broadcast.home ? broadcast_check(&m->broadcast, err) : 0;
}

void metrics_cast_stop(struct metrics_cast *m)
{
    broadcast_stop(&m->broadcast);
    if (m->fd > 0)
        close(m->fd);
    m->fd = 0;
}
