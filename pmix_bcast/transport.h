/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transport.h - by what the contents of chunks go: TCP alone, or libfabric
 * (fabric.h) where it is there.  Pure.
 */
#ifndef PMIX_BCAST_TRANSPORT_H
#define PMIX_BCAST_TRANSPORT_H

enum transport {
    TRANSPORT_TCP,
    TRANSPORT_AUTO, /* libfabric, where it drives a fast network */
    TRANSPORT_OFI,  /* libfabric, whatever it drives */
};

/* "tcp", "auto" or "ofi"; transport_find(): -1 if it is none of them. */
const char *transport_name(enum transport t);
int transport_find(const char *name);
/* Is this provider of libfabric ("verbs;ofi_rxm") one of a network that is
 * faster by it than by TCP?  Those over the kernel's sockets, and within one
 * host, are not. */
int transport_is_fast(const char *provider);

#endif
