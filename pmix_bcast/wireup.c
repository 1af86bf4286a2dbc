/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/wireup.h"

#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDPOINT_KEY "evenstep.endpoint"
static const char mend_pmix[] =
    "see that `srun --mpi=list` shows pmix and that Slurm's PMIx plugin is "
    "installed on every node";

void endpoint_format(const struct endpoint *e, char *text, size_t size)
{
    char networks[NETWORKS_TEXT_MAX], door[8] = "";

    networks_format(&e->networks, networks, sizeof networks);
    if (e->door > 0)
        snprintf(door, sizeof door, "/%u", e->door);
    snprintf(text, size, "%s %s %u%s%s", e->node, e->address, e->port, door,
             networks);
}

/* Copy the word at *at (up to a space) into out; -1 if empty or too long. */
static int take_word(const char **at, char *out, size_t size)
{
    size_t len = strcspn(*at, " ");

    if (len == 0 || len >= size || (*at)[len] != ' ')
        return -1;
    memcpy(out, *at, len);
    out[len] = '\0';
    *at += len + 1;
    return 0;
}

/* A port from 1 on, which is passed; 0: there is none. */
static uint16_t take_port(const char **at)
{
    char *end = NULL;
    unsigned long port;

    if (**at < '1' || **at > '9')
        return 0;
    port = strtoul(*at, &end, 10);
    *at = end;
    return port <= UINT16_MAX ? (uint16_t)port : 0;
}

int endpoint_parse(struct endpoint *e, const char *text)
{
    int has_door = 0;

    e->port = e->door = 0;
    if (take_word(&text, e->node, sizeof e->node) == 0
        && take_word(&text, e->address, sizeof e->address) == 0)
        e->port = take_port(&text);
    if (e->port > 0 && *text == '/') {
        has_door = 1;
        text++;
        e->door = take_port(&text);
    }
    if (e->port > 0 && (e->door > 0) == has_door
        && networks_parse(&e->networks, text) == 0)
        return 0;
    memset(e, 0, sizeof *e);
    return -1;
}

void endpoint_write(struct writer *w, const struct endpoint *e)
{
    char text[ENDPOINT_TEXT_MAX];

    endpoint_format(e, text, sizeof text);
    write_text(w, text);
}

void endpoint_read(struct reader *r, struct endpoint *e)
{
    char text[ENDPOINT_TEXT_MAX];

    read_text(r, text, sizeof text);
    if (endpoint_parse(e, text) == 0 && !r->bad)
        return;
    memset(e, 0, sizeof *e);
    r->bad = 1;
}

static int pmix_fail(struct es_error *err, const char *call, pmix_status_t rc)
{
    return es_fail(err, ES_ENV, mend_pmix, "%s: %s", call,
                   PMIx_Error_string(rc));
}

static int put_endpoint(const struct endpoint *mine, struct es_error *err)
{
    char text[ENDPOINT_TEXT_MAX];
    pmix_value_t value = {.type = PMIX_STRING};
    pmix_status_t rc;

    endpoint_format(mine, text, sizeof text);
    value.data.string = text;
    rc = PMIx_Put(PMIX_GLOBAL, ENDPOINT_KEY, &value);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Commit();
    return rc == PMIX_SUCCESS ? 0 : pmix_fail(err, "PMIx_Put", rc);
}

/* Fence over the whole namespace: over a subset Slurm's plugin kills the
 * step. */
static int fence(struct es_error *err)
{
    pmix_info_t info;
    bool yes = true;
    pmix_status_t rc;

    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    rc = PMIx_Fence(NULL, 0, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return rc == PMIX_SUCCESS ? 0 : pmix_fail(err, "PMIx_Fence", rc);
}

static int job_size(const pmix_proc_t *me, uint32_t *size, struct es_error *err)
{
    pmix_proc_t all;
    pmix_value_t *value = NULL;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&all, me->nspace, PMIX_RANK_WILDCARD);
    rc = PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value);
    if (rc != PMIX_SUCCESS)
        return pmix_fail(err, "PMIx_Get of the job's size", rc);
    *size = value->type == PMIX_UINT32 ? value->data.uint32 : 0;
    PMIX_VALUE_RELEASE(value);
    if (*size == 0 || *size > AGENTS_MAX)
        return es_fail(err, ES_ENV, mend_pmix, "PMIx gave a bad job size");
    return 0;
}

static int get_endpoint(const struct wireup *w,
                        uint32_t rank,
                        struct endpoint *e,
                        struct es_error *err)
{
    pmix_proc_t peer;
    pmix_value_t *value = NULL;
    pmix_status_t rc;
    int bad = -1;

    PMIX_LOAD_PROCID(&peer, w->nspace, rank);
    rc = PMIx_Get(&peer, ENDPOINT_KEY, NULL, 0, &value);
    if (rc != PMIX_SUCCESS)
        return pmix_fail(err, "PMIx_Get of an endpoint", rc);
    if (value->type == PMIX_STRING && value->data.string)
        bad = endpoint_parse(e, value->data.string);
    PMIX_VALUE_RELEASE(value);
    if (bad)
        return es_fail(err, ES_ENV, "use one version of evenstep on all nodes",
                       "the agent of rank %u gave no endpoint", rank);
    return 0;
}

/* Nobody who asks us to end shall catch us in the middle of connecting, where
 * it would harm the server: see pmix_host_stop(). */
static pmix_status_t init(pmix_proc_t *me)
{
    sigset_t asked, before;
    pmix_status_t rc;

    sigemptyset(&asked);
    sigaddset(&asked, SIGTERM);
    sigaddset(&asked, SIGINT);
    sigaddset(&asked, SIGHUP);
    if (pthread_sigmask(SIG_BLOCK, &asked, &before) != 0)
        return PMIX_ERROR;
    /* The store in shared memory (ds21) is waited for in steps of 10 ms: 11 to
     * 70 ms on 8 nodes of contrib/testbed, 2 to 7 with the plain one, and all
     * that we have in it is one line a node.  (PMIx 4.2.2, 2026-11.) */
    (void)setenv("PMIX_MCA_gds", "hash", 0); /* or slower */
    rc = PMIx_Init(me, NULL, 0);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int wireup_join(struct wireup *w,
                const struct endpoint *mine,
                struct es_error *err)
{
    pmix_proc_t me;
    pmix_status_t rc;

    memset(w, 0, sizeof *w);
    rc = init(&me);
    if (rc != PMIX_SUCCESS)
        return pmix_fail(err, "PMIx_Init", rc);
    w->rank = me.rank;
    memcpy(w->nspace, me.nspace, sizeof w->nspace);
    if (job_size(&me, &w->size, err) == 0 && put_endpoint(mine, err) == 0)
        return 0;
    (void)PMIx_Finalize(NULL, 0);
    memset(w, 0, sizeof *w);
    return -1;
}

static int exchange(struct wireup *w, struct es_error *err)
{
    struct endpoint *agent = calloc(w->size, sizeof *agent);
    int rc = agent ? fence(err) : es_no_memory(err);

    for (uint32_t i = 0; i < w->size && rc == 0; i++)
        rc = get_endpoint(w, i, &agent[i], err);
    if (rc == 0)
        w->agent = agent;
    else
        free(agent);
    return rc;
}

int wireup_exchange(struct wireup *w, struct es_error *err)
{
    int rc = exchange(w, err);

    /* Left at once, so that a death later on is ours to handle and not
     * PMIx's; what was exchanged is in *w. */
    (void)PMIx_Finalize(NULL, 0);
    return rc;
}

void wireup_write(struct writer *w, const struct endpoint *agent, uint32_t n)
{
    write_u32(w, n);
    for (uint32_t i = 0; i < n; i++)
        endpoint_write(w, &agent[i]);
}

int wireup_take(struct wireup *w, const uint8_t *table, size_t len)
{
    struct reader r = {.at = table, .left = len};
    struct endpoint *agent;

    if (read_u32(&r) != w->size)
        return -1;
    agent = calloc(w->size, sizeof *agent);
    for (uint32_t i = 0; agent && i < w->size && !r.bad; i++)
        endpoint_read(&r, &agent[i]);
    if (!agent || read_end(&r) < 0) {
        free(agent);
        return -1;
    }
    if (w->nspace[0])
        (void)PMIx_Finalize(NULL, 0);
    w->agent = agent;
    return 0;
}

void wireup_clear(struct wireup *w)
{
    free(w->agent);
    memset(w, 0, sizeof *w);
}
