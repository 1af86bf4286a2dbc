/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_release.h"
#include "launcher/base/notice.h"
#include "launcher/session/mailing.h"
#include "launcher/session/scontrol.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX  65536 /* bytes of a list of nodes */
#define SHOWN_MAX  400   /* of those that are named to people */
#define NOTICE_CUT 8     /* names */

/* Where this process stands, as a batch script does, cannot be given back. */
static int is_own_host(const struct graph_running *r, uint32_t node)
{
    const char *host = getenv("SLURMD_NODENAME");

    return host && strcmp(host, graph_node_name(r, node)) == 0;
}

/* Names of nodes whose keep[] is so, with commas; how many there are. */
static uint32_t list(const struct graph_running *r,
                     const uint8_t keep[],
                     int so,
                     char *names,
                     size_t size,
                     uint32_t most)
{
    uint32_t n = 0;
    size_t len = 0;

    names[0] = '\0';
    for (uint32_t i = 0; i < r->state.nodes; i++) {
        if (keep[i] != so)
            continue;
        if (n++ < most && len < size)
            len += (size_t)snprintf(names + len, size - len, "%s%s",
                                    len ? "," : "", graph_node_name(r, i));
    }
    if (n > most && len < size)
        (void)snprintf(names + len, size - len, " and others");
    return n;
}

/* Slurm is told which nodes the job keeps.  0, or -1. */
static int give_back(const struct graph_running *r)
{
    static char word[] = "update";
    char id[32], *names = malloc(NAMES_MAX), *text = malloc(NAMES_MAX + 16);
    char *words[] = {word, id, text, NULL};
    uint32_t job, step;
    int rc = -1;

    session_job(r->front.session, &job, &step);
    snprintf(id, sizeof id, "jobid=%" PRIu32, job);
    if (names && text && job > 0) {
        (void)list(r, r->released, 0, names, NAMES_MAX, r->state.nodes);
        snprintf(text, NAMES_MAX + 16, "NodeList=%s", names);
        if (strlen(names) < NAMES_MAX - 1)
            rc = scontrol_run(words, NULL, 0, SCONTROL_S);
    }
    free(names);
    free(text);
    return rc;
}

/* The agents there have cleaned up.  Slurm ends them; they are not lost. */
static void on_time(evutil_socket_t none, short events, void *arg)
{
    struct graph_running *r = arg;
    char names[SHOWN_MAX];

    (void)none;
    (void)events;
    if (r->phase != RUNNING)
        return; /* it is over: the job may end anyway */
    (void)list(r, r->released, 1, names, sizeof names, NOTICE_CUT);
    graph_progress_stop(&r->progress);
    if (give_back(r) < 0) {
        notice("--release: Slurm does not take %s back", names);
        return;
    }
    notice("%s: given back to Slurm", names);
}

/* What has no more to it than its type, to all of them. */
static void tell_released(struct graph_running *r, enum protocol_type type)
{
    struct mailing m;

    mailing_begin(&m, r->front.session, type, MAILING_FEW);
    for (uint32_t i = 0; i < r->state.nodes; i++) {
        struct writer w = {0};

        if (r->released[i])
            mailing_add(&m, i, &w);
    }
    mailing_send(&m);
    mailing_clear(&m);
}

/* They get nothing to do any more, remove their folders and leave. */
static void retire(struct graph_running *r, const uint8_t keep[])
{
    static const struct timeval soon = {1, 0};

    for (uint32_t i = 0; i < r->state.nodes; i++)
        if (!keep[i]) {
            r->released[i] = 1;
            r->state.usable[i] = 0;
        }
    tell_released(r, (enum protocol_type)(MSG_GRAPH + GRAPH_MSG_CLOSE));
    tell_released(r, MSG_LEAVE);
    if (event_base_once(r->front.base, -1, EV_TIMEOUT, on_time, r, &soon) < 0)
        notice("--release: out of memory: the job keeps all nodes");
}

void graph_release(struct graph_running *r)
{
    uint8_t *keep = calloc(r->state.nodes, 1);
    char names[SHOWN_MAX];
    uint32_t unused = 0, used = 0;

    for (uint32_t i = 0; keep && i < r->state.places; i++)
        keep[r->state.place[i].node] = 1;
    for (uint32_t i = 0; keep && i < r->state.nodes; i++) {
        keep[i] |= r->o->release && is_own_host(r, i);
        used += keep[i];
    }
    if (keep && used > 0)
        unused = list(r, keep, 0, names, sizeof names, NOTICE_CUT);
    if (unused > 0 && r->o->release)
        retire(r, keep);
    else if (unused > 0)
        notice(
            "the plan has no use for %s: -N %u is enough, or --release gives "
            "%s back",
            names, used, unused == 1 ? "it" : "them");
    free(keep);
}
