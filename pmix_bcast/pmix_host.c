/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/pmix_host.h"

#include <errno.h>
#include <ftw.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pmix_host {
    pmix_nspace_t nspace;
    size_t n;
    char dir[300]; /* the server's own temporary directory */
};

/* --- on PMIx's thread ----------------------------------------------------- */

/* All clients are ours: what was collected is what everybody gets. */
static pmix_status_t on_fence(const pmix_proc_t procs[],
                              size_t nprocs,
                              const pmix_info_t info[],
                              size_t ninfo,
                              char *data,
                              size_t ndata,
                              pmix_modex_cbfunc_t done,
                              void *cbdata)
{
    (void)procs;
    (void)nprocs;
    (void)info;
    (void)ninfo;
    if (done)
        done(PMIX_SUCCESS, data, ndata, cbdata, free, data);
    return PMIX_SUCCESS;
}

static pmix_status_t on_client(const pmix_proc_t *proc,
                               void *server_object,
                               pmix_op_cbfunc_t done,
                               void *cbdata)
{
    (void)proc;
    (void)server_object;
    (void)done;
    (void)cbdata;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_server_module_t module = {
    .client_connected = on_client,
    .client_finalized = on_client,
    .fence_nb = on_fence,
};

/* --- the namespace -------------------------------------------------------- */

/* "0,1,…,n-1", owned by the caller, or NULL. */
static char *list_ranks(size_t n)
{
    size_t size = n * 8 + 1, len = 0;
    char *text = malloc(size);

    for (size_t i = 0; text && i < n; i++)
        len +=
            (size_t)snprintf(text + len, size - len, "%s%zu", i ? "," : "", i);
    return text;
}

static pmix_status_t register_nspace(struct pmix_host *h,
                                     const char *host,
                                     char *ranks)
{
    char *nodes = NULL, *procs = NULL;
    uint32_t n = (uint32_t)h->n, one = 1;
    pmix_info_t *info = NULL;
    pmix_status_t rc;

    rc = PMIx_generate_regex(host, &nodes);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_generate_ppn(ranks, &procs);
    if (rc == PMIX_SUCCESS) {
        PMIX_INFO_CREATE(info, 7);
        rc = info ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    if (rc == PMIX_SUCCESS) {
        PMIX_INFO_LOAD(&info[0], PMIX_UNIV_SIZE, &n, PMIX_UINT32);
        PMIX_INFO_LOAD(&info[1], PMIX_JOB_SIZE, &n, PMIX_UINT32);
        PMIX_INFO_LOAD(&info[2], PMIX_LOCAL_SIZE, &n, PMIX_UINT32);
        PMIX_INFO_LOAD(&info[3], PMIX_NUM_NODES, &one, PMIX_UINT32);
        PMIX_INFO_LOAD(&info[4], PMIX_LOCAL_PEERS, ranks, PMIX_STRING);
        PMIX_INFO_LOAD(&info[5], PMIX_NODE_MAP, nodes, PMIX_REGEX);
        PMIX_INFO_LOAD(&info[6], PMIX_PROC_MAP, procs, PMIX_REGEX);
        rc = PMIx_server_register_nspace(h->nspace, (int)h->n, info, 7, NULL,
                                         NULL);
        PMIX_INFO_FREE(info, 7);
    }
    free(nodes);
    free(procs);
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

static pmix_status_t register_clients(struct pmix_host *h)
{
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t proc;

    for (size_t i = 0; i < h->n && rc == PMIX_SUCCESS; i++) {
        PMIX_LOAD_PROCID(&proc, h->nspace, (pmix_rank_t)i);
        rc = PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL,
                                         NULL);
        if (rc == PMIX_OPERATION_SUCCEEDED)
            rc = PMIX_SUCCESS;
    }
    return rc;
}

/* libpmix lets hwloc look for GPUs by OpenCL, whose drivers take 70 MB and 30 ms,
 * and of which a server of processes on one machine uses nothing: hwloc(7). */
static pmix_status_t init_server(pmix_info_t *info, size_t n)
{
    bool ours = !getenv("HWLOC_COMPONENTS");
    pmix_status_t rc;

    if (ours)
        (void)setenv("HWLOC_COMPONENTS", "-opencl", 1); /* else it is slower */
    rc = PMIx_server_init(&module, info, n);
    if (ours)
        (void)unsetenv("HWLOC_COMPONENTS");
    return rc;
}

static pmix_status_t serve(struct pmix_host *h)
{
    pmix_info_t info[2];
    pmix_status_t rc;
    char host[256] = "localhost";
    char *ranks = list_ranks(h->n);

    if (!ranks)
        return PMIX_ERR_NOMEM;
    (void)gethostname(host, sizeof host - 1); /* else localhost will do */
    PMIX_INFO_CONSTRUCT(&info[0]);
    PMIX_INFO_CONSTRUCT(&info[1]);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, h->dir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, h->dir, PMIX_STRING);
    rc = init_server(info, 2);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    if (rc == PMIX_SUCCESS) {
        rc = register_nspace(h, host, ranks);
        if (rc == PMIX_SUCCESS)
            rc = register_clients(h);
        if (rc != PMIX_SUCCESS)
            (void)PMIx_server_finalize();
    }
    free(ranks);
    return rc;
}

static int remove_one(const char *path,
                      const struct stat *st,
                      int type,
                      struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_dir(const char *dir)
{
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int pmix_host_start(struct pmix_host **out, size_t n, struct es_error *err)
{
    const char *tmp = getenv("TMPDIR");
    struct pmix_host *h = calloc(1, sizeof *h);
    pmix_status_t rc;

    if (!h)
        return es_no_memory(err);
    h->n = n;
    snprintf(h->nspace, sizeof h->nspace, "evenstep-%d", (int)getpid());
    snprintf(h->dir, sizeof h->dir, "%s/evenstep-pmix.XXXXXX",
             tmp && strlen(tmp) < 200 ? tmp : "/tmp");
    if (!mkdtemp(h->dir)) {
        es_fail(err, ES_ENV, "set TMPDIR to a directory that you may write",
                "%s: %s", h->dir, strerror(errno));
        free(h);
        return -1;
    }
    rc = serve(h);
    if (rc != PMIX_SUCCESS) {
        es_fail(err, ES_ENV, "see that libpmix is installed whole",
                "the PMIx server did not start: %s", PMIx_Error_string(rc));
        remove_dir(h->dir);
        free(h);
        return -1;
    }
    *out = h;
    return 0;
}

int pmix_host_environ(struct pmix_host *h,
                      size_t rank,
                      char ***env,
                      struct es_error *err)
{
    pmix_proc_t proc;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&proc, h->nspace, (pmix_rank_t)rank);
    rc = PMIx_server_setup_fork(&proc, env);
    if (rc != PMIX_SUCCESS)
        return es_fail(err, ES_ENV, "see that libpmix is installed whole",
                       "PMIx_server_setup_fork: %s", PMIx_Error_string(rc));
    return 0;
}

/* The server itself ends with the process: libpmix (4.2) releases a client that
 * died while it connected twice, and whoever then waits for its thread, as
 * deregistering and finalizing do, may wait for ever. */
void pmix_host_stop(struct pmix_host *h)
{
    int saved = errno;

    if (!h)
        return;
    remove_dir(h->dir);
    free(h);
    errno = saved;
}
