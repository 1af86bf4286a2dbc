/* SPDX-License-Identifier: BSD-2-Clause */
/* An endpoint of libfabric begins and ends. */
#include "pmix_bcast/fabric_state.h"
#include "pmix_bcast/offload.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int fabric_is_built(void)
{
    return 1;
}

/* With a descriptor to wait for, if it has that. */
static int open_queue(struct fabric *f)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_CONTEXT,
                              .size = (size_t)LANES_MAX * FABRIC_SLOTS_MAX,
                              .wait_obj = FI_WAIT_FD};
    int rc = fi_cq_open(f->domain, &attr, &f->cq, f);

    if (rc == 0)
        return 0;
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(f->domain, &attr, &f->cq, f);
}

static int open_endpoint(struct fabric *f)
{
    struct fi_av_attr attr = {.type = f->info->domain_attr->av_type,
                              .count = LANES_MAX};
    int rc = f->lib->fabric(f->info->fabric_attr, &f->fabric, f);

    if (rc == 0)
        rc = fi_domain(f->fabric, f->info, &f->domain, f);
    if (rc == 0)
        rc = fi_av_open(f->domain, &attr, &f->av, f);
    if (rc == 0)
        rc = open_queue(f);
    if (rc == 0)
        rc = fi_endpoint(f->domain, f->info, &f->ep, f);
    if (rc == 0)
        rc = fi_ep_bind(f->ep, &f->av->fid, 0);
    if (rc == 0)
        rc = fi_ep_bind(f->ep, &f->cq->fid, FI_TRANSMIT | FI_RECV);
    if (rc == 0)
        rc = fi_enable(f->ep);
    f->name_len = sizeof f->name;
    if (rc == 0)
        rc = fi_getname(&f->ep->fid, f->name, &f->name_len);
    return rc;
}

/* Some providers (shm) take signals for themselves. */
static const int kept_signals[] = {SIGINT, SIGTERM, SIGBUS, SIGSEGV};
#define KEPT (sizeof kept_signals / sizeof kept_signals[0])

static void keep_signals(struct sigaction kept[KEPT])
{
    for (size_t i = 0; i < KEPT; i++)
        (void)sigaction(kept_signals[i], NULL, &kept[i]);
}

static void put_signals_back(const struct sigaction kept[KEPT])
{
    for (size_t i = 0; i < KEPT; i++)
        (void)sigaction(kept_signals[i], &kept[i], NULL);
}

/* In a thread: nothing of the event loop's is touched. */
static int open_aside(void *arg)
{
    struct fabric *f = arg;
    struct sigaction kept[KEPT];
    int rc;

    f->lib = fabric_library(f->why, sizeof f->why);
    if (!f->lib)
        return -1;
    keep_signals(kept);
    f->info =
        fabric_choose(f->lib, f->transport, f->near, f->why, sizeof f->why);
    rc = f->info ? open_endpoint(f) : 0;
    put_signals_back(kept);
    if (rc != 0)
        fabric_note(f, "no endpoint", rc);
    return rc == 0 && f->info ? 0 : -1;
}

static void on_opened(void *arg, int rc)
{
    struct fabric *f = arg;

    offload_destroy(f->opening);
    f->opening = NULL;
    if (rc == 0 && fabric_progress_begin(f) < 0) {
        fabric_note(f, "no endpoint", FI_ENOMEM);
        rc = -1;
    }
    f->is_open = rc == 0;
    f->opened(f->arg);
}

struct fabric *fabric_open(struct event_base *base,
                           enum transport t,
                           const char *near,
                           void (*opened)(void *arg),
                           void *arg)
{
    struct fabric *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->base = base;
    f->opened = opened;
    f->arg = arg;
    f->transport = t;
    snprintf(f->near, sizeof f->near, "%s", near ? near : "");
    f->opening = offload_start(base, open_aside, on_opened, f);
    if (f->opening)
        return f;
    free(f);
    return NULL;
}

static void close_one(struct fid *fid)
{
    (void)fi_close(fid); /* nothing is left to do where it fails */
}

void fabric_close(struct fabric *f)
{
    if (!f)
        return;
    offload_destroy(f->opening);
    fabric_progress_end(f);
    if (f->ep)
        close_one(&f->ep->fid);
    while (f->lanes)
        lane_free(f->lanes);
    if (f->cq)
        close_one(&f->cq->fid);
    if (f->av)
        close_one(&f->av->fid);
    if (f->domain)
        close_one(&f->domain->fid);
    if (f->fabric)
        close_one(&f->fabric->fid);
    if (f->info)
        f->lib->freeinfo(f->info);
    free(f);
}
