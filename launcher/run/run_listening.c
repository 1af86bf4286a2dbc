/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_listening.h"
#include "launcher/base/notice.h"
#include "launcher/session/connections.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* On this machine each node has a folder of its own. */
static void name_step(const struct session *s, char step[STEP_NAME_MAX])
{
    if (session_is_local(s))
        step_dir_local_name(step, (int)getpid(), "{node}");
    else
        session_step_name(s, 0, step);
}

static int start(struct run_listening *l,
                 struct event_base *base,
                 struct session *session,
                 const struct config *config,
                 struct es_error *err)
{
    char step[STEP_NAME_MAX];

    l->tasks = calloc(session_size(session), sizeof *l->tasks);
    if (!l->tasks)
        return es_no_memory(err);
    l->first = connections_of_nodes(session, l->tasks, err);
    if (l->first < 0)
        return -1;
    name_step(session, step);
    if (listening_table_start(&l->table, base, session, &config->bcast,
                              l->first, l->tasks, step, config->step_patience_s)
        < 0)
        return es_no_memory(err);
    return 0;
}

uint32_t run_listening_start(struct run_listening *l,
                             struct event_base *base,
                             struct session *session,
                             const struct config *config)
{
    struct es_error err = {0};

    *l = (struct run_listening){.first = -1};
    if (start(l, base, session, config, &err) == 0)
        return (uint32_t)config->step_patience_s;
    notice("warning: no table for evenstep_listen(): %s: %s", err.what,
           err.mend);
    run_listening_stop(l);
    return 0;
}

void run_listening_stop(struct run_listening *l)
{
    if (!l->tasks)
        return;
    listening_table_stop(&l->table);
    free(l->tasks);
    if (l->first >= 0)
        (void)close(l->first);
    *l = (struct run_listening){.first = -1};
}
