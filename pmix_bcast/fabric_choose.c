/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of libfabric's providers, and which of its networks. */
#include "pmix_bcast/fabric_state.h"

#include <dirent.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int has_entries(const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    int n = 0;

    if (!d)
        return 0;
    while ((e = readdir(d)) != NULL)
        n += e->d_name[0] != '.';
    closedir(d);
    return n > 0;
}

/* Where there is none, libfabric need not be asked: that takes 0.1 s. */
static int may_be_fast(void)
{
    return has_entries("/sys/class/infiniband") || has_entries("/sys/class/cxi")
           || has_entries("/sys/class/gni");
}

static struct fi_info *ask_for(const struct fabric_library *lib)
{
    struct fi_info *hints = lib->dupinfo(NULL);

    if (!hints)
        return NULL;
    hints->caps = FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR
                                  | FI_MR_ALLOCATED | FI_MR_PROV_KEY
                                  | FI_MR_ENDPOINT;
    return hints;
}

static void address_of(const struct fi_info *info, char text[NI_MAXHOST])
{
    const struct sockaddr *a = info->src_addr;

    text[0] = '\0';
    if (!a || (a->sa_family != AF_INET && a->sa_family != AF_INET6))
        return;
    if (getnameinfo(a, (socklen_t)info->src_addrlen, text, NI_MAXHOST, NULL, 0,
                    NI_NUMERICHOST)
        != 0)
        text[0] = '\0';
}

static int is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* How well it serves: 0 not at all.  Fast ones before all others, then the one
 * whose address we have, then one that others can reach. */
static int worth(const struct fi_info *info, enum transport t, const char *near)
{
    int is_fast = transport_is_fast(info->fabric_attr->prov_name);
    char address[NI_MAXHOST];

    if (info->domain_attr->mr_key_size > sizeof(uint64_t)
        || (t == TRANSPORT_AUTO && !is_fast))
        return 0;
    address_of(info, address);
    return 1 + 4 * is_fast
           + (near[0] && strcmp(address, near) == 0 ? 2
              : is_loopback(address)                ? 0
                                                    : 1);
}

struct fi_info *fabric_choose(const struct fabric_library *lib,
                              enum transport t,
                              const char *near,
                              char *why,
                              size_t why_size)
{
    struct fi_info *all = NULL, *hints, *best = NULL;
    const char *wanted = getenv("FI_PROVIDER");
    int rc, most = 0;

    why[0] = '\0';
    if (t == TRANSPORT_AUTO && !may_be_fast())
        return NULL;
    hints = ask_for(lib);
    rc = hints ? lib->getinfo(FABRIC_VERSION, NULL, NULL, 0, hints, &all)
               : -FI_ENOMEM;
    if (hints)
        lib->freeinfo(hints);
    for (struct fi_info *i = rc == 0 ? all : NULL; i; i = i->next)
        if (worth(i, t, near) > most) {
            most = worth(i, t, near);
            best = i;
        }
    best = best ? lib->dupinfo(best) : NULL;
    if (rc == 0)
        lib->freeinfo(all);
    if (!best && t != TRANSPORT_AUTO && wanted)
        snprintf(why, why_size,
                 "libfabric has no provider \"%.40s\" that can write to other "
                 "nodes' memory",
                 wanted);
    else if (!best && t != TRANSPORT_AUTO)
        snprintf(why, why_size, "libfabric has no provider here: %s",
                 lib->strerror(rc < 0 ? -rc : FI_ENODATA));
    return best;
}
