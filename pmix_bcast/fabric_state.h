/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_state.h - what the files of a fabric share; for them alone.
 *
 *   fabric_library.c   libfabric itself, opened at run time
 *   fabric_choose.c    which of its providers and networks
 *   fabric_open.c      an endpoint begins and ends
 *   fabric_note.c      what is known of it
 *   fabric_progress.c  what has arrived, what failed, what waits
 *   fabric_lane.c      slots that are filled, written, taken, freed
 *   fabric_memory.c    registered memory
 *   fabric_none.c      instead of all these, without libfabric's headers
 */
#ifndef PMIX_BCAST_FABRIC_STATE_H
#define PMIX_BCAST_FABRIC_STATE_H

#include "pmix_bcast/fabric.h"

#include <event2/event.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define FABRIC_VERSION                                                         \
    FI_VERSION(1, 11) /* since when all that is used is there */
#define LANES_MAX 64u /* of an endpoint, as each has memory of its own */

/* All else of libfabric's is reached by pointers in what these return. */
struct fabric_library {
    int (*getinfo)(uint32_t version,
                   const char *node,
                   const char *service,
                   uint64_t flags,
                   const struct fi_info *hints,
                   struct fi_info **info);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr,
                  struct fid_fabric **fabric,
                  void *context);
    const char *(*strerror)(int errnum);
};

/* Opened once in a process; NULL if it cannot be, with why. */
const struct fabric_library *fabric_library(char *why, size_t why_size);

/* The network that is wanted, to be freed by freeinfo(); NULL as fabric_open()
 * says it. */
struct fi_info *fabric_choose(const struct fabric_library *lib,
                              enum transport t,
                              const char *near,
                              char *why,
                              size_t why_size);

struct memory {
    uint8_t *at;
    size_t size;
    struct fid_mr *mr;
    uint64_t key;
};

/* Registered for access (FI_WRITE: to write from it, FI_REMOTE_WRITE).  Returns
 * 0, or libfabric's error, or -ENOMEM. */
int memory_get(struct memory *m,
               const struct fabric *f,
               size_t size,
               uint64_t access);
void memory_put(struct memory *m);

struct write {
    struct fi_context2 context; /* the first: what a completion names */
    struct lane *lane;
    uint32_t bytes;
    int has_arrived;
    double since; /* when it was filled */
};

struct lane {
    struct fabric *fabric;
    struct lane *next;
    void (*wake)(void *arg); /* NULL: destroyed, but for what is posted */
    void *arg;
    uint32_t slots, slot_bytes; /* of ours, for both directions */
    struct memory out, in;      /* in: at is NULL if nothing is taken */
    int is_settled, is_met, has_failed;
    double since; /* when it was made */
    struct fabric_place peer;
    fi_addr_t peer_address;
    struct write write[FABRIC_SLOTS_MAX];
    /* How many in all, modulo 2^32; a slot's number is what is left modulo the
     * number of slots.  told and what follows it: as the link has said. */
    uint32_t filled, posted, told, freed;
    uint32_t outstanding; /* posted, and libfabric has not done with them */
    uint64_t queued;      /* bytes of what is filled and has not arrived */
    uint32_t taken, said;
};

struct fabric {
    struct event_base *base;
    struct offload *opening; /* NULL: that is over */
    int is_open;
    void (*opened)(void *arg);
    void *arg;
    enum transport transport;
    char near[64]; /* a numeric address, or "" */
    const struct fabric_library *lib;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct event *readable; /* NULL: it has no descriptor to wait for */
    struct event *timer;
    struct lane *lanes;
    uint32_t n_lanes;
    uint8_t name[FABRIC_NAME_MAX];
    size_t name_len;
    uint64_t bytes;
    char why[256];
};

/* Keep the first: what, and libfabric's error number (negative or not; 0:
 * none). */
void fabric_note(struct fabric *f, const char *what, int error);
/* Look soon: something was posted, or is to be. */
void fabric_soon(const struct fabric *f);
/* Its owner is told; what it has posted may still arrive. */
void lane_fail(struct lane *l, const char *what, int error);
/* Post what waits, as far as libfabric takes it. */
void lane_post(struct lane *l);
/* After lane_destroy(), and when nothing of it is with libfabric any more. */
void lane_free(struct lane *l);

int fabric_progress_begin(struct fabric *f);
void fabric_progress_end(struct fabric *f);

#endif
