/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_fabric.h - a stand-in for libfabric, within one process: a write is a
 * copy, at once, unless it is told to go wrong.  fabric_library() is this one's,
 * so that the library itself is not opened.
 */
#ifndef T_LIB_FAKE_FABRIC_H
#define T_LIB_FAKE_FABRIC_H

#include "pmix_bcast/fabric_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FAKE_QUEUE 256

/* What goes wrong; all 0: nothing. */
static struct {
    int is_absent, no_provider, no_endpoint, no_address, no_memory;
    int no_descriptor;
    unsigned again;            /* so many writes are to be tried later */
    unsigned fail_post;        /* 1: the next write is refused, 2: the second */
    unsigned fail, lose, harm; /* likewise: it ends in an error, never, or
                                  brings something else */
    unsigned writes;           /* so many arrived */
    int writers;               /* domains that are open, and what is in them */
} fake;

struct fake_ep {
    struct fid_fabric fabric;
    struct fid_domain domain;
    struct fid_av av;
    struct fid_cq cq;
    struct fid_ep ep;
    int fd;
    struct fi_context2 *done[FAKE_QUEUE];
    int is_bad[FAKE_QUEUE];
    unsigned first, n;
};

/* Does this count down to now? */
static inline int fake_due(unsigned *count)
{
    return *count > 0 && --*count == 0;
}

static int fake_close(struct fid *fid)
{
    fake.writers--;
    if (fid->fclass == FI_CLASS_MR) {
        free(fid);
    } else if (fid->fclass == FI_CLASS_FABRIC) {
        struct fake_ep *e = fid->context;

        close(e->fd);
        free(e);
    }
    return 0;
}

static int fake_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    (void)fid;
    (void)to;
    (void)flags;
    return 0;
}

static int fake_control(struct fid *fid, int command, void *arg)
{
    struct fake_ep *e = fid->context;

    if (command == FI_GETWAIT && fake.no_descriptor)
        return -FI_ENOSYS;
    if (command == FI_GETWAIT)
        memcpy(arg, &e->fd, sizeof e->fd);
    return 0;
}

static struct fi_ops fake_ops = {.size = sizeof fake_ops,
                                 .close = fake_close,
                                 .bind = fake_bind,
                                 .control = fake_control};

static ssize_t fake_read(struct fid_cq *cq, void *buf, size_t count)
{
    struct fake_ep *e = cq->fid.context;
    struct fi_cq_entry *to = buf;
    uint64_t v;
    size_t got = 0;

    for (; got < count && e->n > 0; got++) {
        if (e->is_bad[e->first])
            return got > 0 ? (ssize_t)got : -FI_EAVAIL;
        to[got].op_context = e->done[e->first];
        e->first = (e->first + 1) % FAKE_QUEUE;
        e->n--;
    }
    if (got == 0 && read(e->fd, &v, sizeof v) < 0)
        return -FI_EAGAIN;
    return got > 0 ? (ssize_t)got : -FI_EAGAIN;
}

static ssize_t fake_read_error(struct fid_cq *cq,
                               struct fi_cq_err_entry *to,
                               uint64_t flags)
{
    struct fake_ep *e = cq->fid.context;

    (void)flags;
    memset(to, 0, sizeof *to);
    to->op_context = e->done[e->first];
    to->err = FI_EIO;
    e->first = (e->first + 1) % FAKE_QUEUE;
    e->n--;
    return 1;
}

static struct fi_ops_cq fake_cq_ops = {
    .size = sizeof fake_cq_ops, .read = fake_read, .readerr = fake_read_error};

static ssize_t fake_write(struct fid_ep *ep,
                          const void *buf,
                          size_t len,
                          void *desc,
                          fi_addr_t to,
                          uint64_t addr,
                          uint64_t key,
                          void *context)
{
    struct fake_ep *e = ep->fid.context;
    unsigned at = (e->first + e->n) % FAKE_QUEUE;
    uint64_t one = 1;

    (void)desc;
    (void)key;
    (void)to;
    if (fake.again > 0) {
        fake.again--;
        return -FI_EAGAIN;
    }
    if (fake_due(&fake.fail_post))
        return -FI_EIO;
    if (fake_due(&fake.lose))
        return 0;
    e->is_bad[at] = fake_due(&fake.fail);
    if (!e->is_bad[at]) {
        memcpy((void *)(uintptr_t)addr, buf, len);
        if (fake_due(&fake.harm))
            *(uint8_t *)(uintptr_t)addr ^= 1;
        fake.writes++;
    }
    e->done[at] = context;
    e->n++;
    return write(e->fd, &one, sizeof one) == sizeof one ? 0 : -FI_EIO;
}

static struct fi_ops_rma fake_rma_ops = {.size = sizeof fake_rma_ops,
                                         .write = fake_write};

static int fake_getname(fid_t fid, void *addr, size_t *len)
{
    static const char name[] = "here";

    (void)fid;
    memcpy(addr, name, sizeof name);
    *len = sizeof name;
    return 0;
}

static struct fi_ops_cm fake_cm_ops = {.size = sizeof fake_cm_ops,
                                       .getname = fake_getname};

static int fake_insert(struct fid_av *av,
                       const void *addr,
                       size_t count,
                       fi_addr_t *to,
                       uint64_t flags,
                       void *context)
{
    (void)av;
    (void)addr;
    (void)flags;
    (void)context;
    *to = 0;
    return fake.no_address ? 0 : (int)count;
}

static struct fi_ops_av fake_av_ops = {.size = sizeof fake_av_ops,
                                       .insert = fake_insert};

static void fake_fid(struct fid *fid, size_t class, struct fake_ep *e)
{
    *fid = (struct fid){.fclass = class, .context = e, .ops = &fake_ops};
    fake.writers++;
}

static int fake_reg(struct fid *fid,
                    const void *buf,
                    size_t len,
                    uint64_t access,
                    uint64_t offset,
                    uint64_t wish,
                    uint64_t flags,
                    struct fid_mr **mr,
                    void *context)
{
    (void)fid;
    (void)buf;
    (void)len;
    (void)access;
    (void)offset;
    (void)flags;
    (void)context;
    *mr = fake.no_memory ? NULL : calloc(1, sizeof **mr);
    if (!*mr)
        return -FI_ENOMEM;
    fake_fid(&(*mr)->fid, FI_CLASS_MR, NULL);
    (*mr)->key = wish;
    return 0;
}

static struct fi_ops_mr fake_mr_ops = {.size = sizeof fake_mr_ops,
                                       .reg = fake_reg};

static int fake_av_open(struct fid_domain *d,
                        struct fi_av_attr *attr,
                        struct fid_av **av,
                        void *context)
{
    struct fake_ep *e = d->fid.context;

    (void)attr;
    (void)context;
    fake_fid(&e->av.fid, FI_CLASS_AV, e);
    e->av.ops = &fake_av_ops;
    *av = &e->av;
    return 0;
}

static int fake_cq_open(struct fid_domain *d,
                        struct fi_cq_attr *attr,
                        struct fid_cq **cq,
                        void *context)
{
    struct fake_ep *e = d->fid.context;

    (void)context;
    if (fake.no_descriptor && attr->wait_obj == FI_WAIT_FD)
        return -FI_ENOSYS;
    fake_fid(&e->cq.fid, FI_CLASS_CQ, e);
    e->cq.ops = &fake_cq_ops;
    *cq = &e->cq;
    return 0;
}

static int fake_endpoint(struct fid_domain *d,
                         struct fi_info *info,
                         struct fid_ep **ep,
                         void *context)
{
    struct fake_ep *e = d->fid.context;

    (void)info;
    (void)context;
    if (fake.no_endpoint)
        return -FI_ENODEV;
    fake_fid(&e->ep.fid, FI_CLASS_EP, e);
    e->ep.rma = &fake_rma_ops;
    e->ep.cm = &fake_cm_ops;
    *ep = &e->ep;
    return 0;
}

static struct fi_ops_domain fake_domain_ops = {.size = sizeof fake_domain_ops,
                                               .av_open = fake_av_open,
                                               .cq_open = fake_cq_open,
                                               .endpoint = fake_endpoint};

static int fake_domain(struct fid_fabric *f,
                       struct fi_info *info,
                       struct fid_domain **d,
                       void *context)
{
    struct fake_ep *e = f->fid.context;

    (void)info;
    (void)context;
    fake_fid(&e->domain.fid, FI_CLASS_DOMAIN, e);
    e->domain.ops = &fake_domain_ops;
    e->domain.mr = &fake_mr_ops;
    *d = &e->domain;
    return 0;
}

static int fake_trywait(struct fid_fabric *f, struct fid **fids, int count)
{
    const struct fake_ep *e = f->fid.context;

    (void)fids;
    (void)count;
    return e->n > 0 ? -FI_EAGAIN : 0;
}

static struct fi_ops_fabric fake_fabric_ops = {.size = sizeof fake_fabric_ops,
                                               .domain = fake_domain,
                                               .trywait = fake_trywait};

static int fake_fabric(struct fi_fabric_attr *attr,
                       struct fid_fabric **f,
                       void *context)
{
    struct fake_ep *e = calloc(1, sizeof *e);

    (void)attr;
    (void)context;
    if (!e)
        return -FI_ENOMEM;
    e->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    fake_fid(&e->fabric.fid, FI_CLASS_FABRIC, e);
    e->fabric.ops = &fake_fabric_ops;
    *f = &e->fabric;
    return 0;
}

/* One piece: what an fi_info points to stands behind it. */
struct fake_info {
    struct fi_info info;
    struct fi_tx_attr tx;
    struct fi_rx_attr rx;
    struct fi_ep_attr ep;
    struct fi_domain_attr domain;
    struct fi_fabric_attr fabric;
    char provider[16];
};

static struct fi_info *fake_dupinfo(const struct fi_info *from)
{
    struct fake_info *i = calloc(1, sizeof *i);

    (void)from;
    if (!i)
        return NULL;
    i->info.tx_attr = &i->tx;
    i->info.rx_attr = &i->rx;
    i->info.ep_attr = &i->ep;
    i->info.domain_attr = &i->domain;
    i->info.fabric_attr = &i->fabric;
    i->info.addr_format = FI_ADDR_STR;
    i->domain.mr_key_size = 8;
    i->domain.mr_mode = FI_MR_VIRT_ADDR | FI_MR_LOCAL;
    memcpy(i->provider, "fake", 5);
    i->fabric.prov_name = i->provider;
    return &i->info;
}

static void fake_freeinfo(struct fi_info *info)
{
    free(info);
}

static int fake_getinfo(uint32_t version,
                        const char *node,
                        const char *service,
                        uint64_t flags,
                        const struct fi_info *hints,
                        struct fi_info **info)
{
    (void)version;
    (void)node;
    (void)service;
    (void)flags;
    *info = fake.no_provider ? NULL : fake_dupinfo(hints);
    return *info ? 0 : -FI_ENODATA;
}

static const char *fake_strerror(int error)
{
    return error == FI_EIO ? "it broke" : "another reason";
}

static const struct fabric_library fake_library = {.getinfo = fake_getinfo,
                                                   .freeinfo = fake_freeinfo,
                                                   .dupinfo = fake_dupinfo,
                                                   .fabric = fake_fabric,
                                                   .strerror = fake_strerror};

const struct fabric_library *fabric_library(char *why, size_t why_size)
{
    snprintf(why, why_size, "%s", fake.is_absent ? "it is not there" : "");
    return fake.is_absent ? NULL : &fake_library;
}

#endif
