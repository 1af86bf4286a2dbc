/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of an endpoint, and that it is to be looked at. */
#include "pmix_bcast/fabric_state.h"

#include <stdio.h>

void fabric_note(struct fabric *f, const char *what, int error)
{
    if (!f->why[0])
        snprintf(f->why, sizeof f->why, "libfabric (%s): %s%s%s",
                 fabric_provider(f), what, error ? ": " : "",
                 error ? f->lib->strerror(error < 0 ? -error : error) : "");
}

const char *fabric_provider(const struct fabric *f)
{
    return f->info->fabric_attr->prov_name;
}

int fabric_is_open(const struct fabric *f)
{
    return f->is_open;
}

const char *fabric_why(const struct fabric *f)
{
    if (!f->opening)
        return f->why; /* else its thread writes there */
    return f->transport == TRANSPORT_OFI ? FABRIC_LATE : "";
}

uint64_t fabric_bytes(const struct fabric *f)
{
    return f->bytes;
}

void fabric_soon(const struct fabric *f)
{
    if (f->readable)
        event_active(f->readable, EV_READ, 0);
    else
        event_active(f->timer, EV_TIMEOUT, 0);
}
