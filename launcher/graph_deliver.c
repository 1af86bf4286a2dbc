/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph_running.h"
#include "launcher/work_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int graph_is_result(const struct graph_running *r, uint32_t file)
{
    return r->work.file[file].takers == 0;
}

void graph_deliver(struct graph_running *r, uint32_t file)
{
    const struct holder *h = graph_state_source(&r->state, file, GRAPH_NOBODY);
    struct exchange_file wanted;
    char path[GRAPH_NAME_MAX + 2];
    uint32_t from;

    if (!h || r->delivered[file] || r->user[file].from != GRAPH_NOBODY)
        return;
    from = h->node;
    wanted = h->file;
    wanted.number = file;
    r->user[file].from = from;
    snprintf(path, sizeof path, "./%s", r->work.file[file].name);
    if (work_folder_make_way(AT_FDCWD, path) < 0
        || exchange_fetch(r->exchange, from, NULL, &wanted, path) < 0)
        graph_finish(r, es_fail(r->err, ES_WORK,
                                "go to a folder that you may write", "%s: %s",
                                r->work.file[file].name, strerror(errno)));
}

void graph_deliver_all(struct graph_running *r)
{
    for (uint32_t i = 0; i < r->work.files; i++)
        if (graph_is_result(r, i) && r->phase == RUNNING)
            graph_deliver(r, i);
}

int graph_give(void *arg, uint32_t file)
{
    const struct graph_running *r = arg;

    if (file >= r->work.files || r->work.file[file].maker != GRAPH_NOBODY) {
        errno = EPERM;
        return -1;
    }
    return open(r->work.file[file].name, O_RDONLY | O_CLOEXEC);
}

void graph_take_result(void *arg,
                       uint32_t from,
                       uint32_t file,
                       int64_t elapsed_ns,
                       const char *why)
{
    struct graph_running *r = arg;

    (void)elapsed_ns; /* no part of the plan */
    if (r->phase != RUNNING || r->user[file].from != from)
        return;
    r->user[file].from = GRAPH_NOBODY;
    if (why) {
        graph_bring_failed(r, file, from, "front end", why);
        return;
    }
    r->delivered[file] = 1;
    r->undelivered--;
    if (graph_journal_delivered(&r->journal, &r->work, file, r->err) < 0)
        graph_finish(r, 1);
    else
        graph_check_end(r);
}
