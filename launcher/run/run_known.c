/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_known.h"
#include "launcher/run/job_nodes.h"
#include "launcher/session/node_records.h"

#include <stdlib.h>
#include <string.h>

void run_known_report(struct run *r)
{
    uint32_t job, step;

    if (!r->report.out.file)
        return;
    session_job(r->front.session, &job, &step);
    report_nodes(&r->report, job, step, r->o->command[0],
                 node_records(&r->qualification));
}

static void put(struct run *r, size_t node, const char *text)
{
    struct msg_put m = {.file = "metrics.json",
                        .content = (const uint8_t *)text,
                        .len = strlen(text)};
    struct writer w = {0};

    session_step_name(r->front.session, node, m.dir);
    msg_write_put(&w, &m);
    session_send(r->front.session, node, MSG_PUT, &w);
}

void run_known_put(struct run *r, size_t node)
{
    char *text = qualification_text(&r->qualification);
    size_t n = session_size(r->front.session);

    for (size_t i = 0; text && i < n; i++) /* else they work without */
        if (node == i
            || (node == RUN_KNOWN_ALL
                && session_node(r->front.session, i)->present))
            put(r, i, text);
    free(text);
}

void run_known_keep(const struct run *r)
{
    job_nodes_keep(&r->qualification);
}
