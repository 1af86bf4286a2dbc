/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots that are filled, written, taken and freed. */
#include "pmix_bcast/clock.h"
#include "pmix_bcast/fabric_state.h"

#include <stdlib.h>
#include <string.h>

#define RING_BYTES (4u << 20) /* of a lane, one way, if that is enough slots */
#define SLOTS_MIN  4u
#define ALIGN      4096u

/* --- begin and end -------------------------------------------------------- */

static uint32_t slots_for(uint32_t slot_bytes)
{
    uint32_t n = RING_BYTES / slot_bytes;

    return n < SLOTS_MIN          ? SLOTS_MIN
           : n > FABRIC_SLOTS_MAX ? FABRIC_SLOTS_MAX
                                  : n;
}

static int get_memory(const struct lane *l, struct memory *m, uint64_t access)
{
    size_t all = (size_t)l->slots * l->slot_bytes;
    int rc = memory_get(m, l->fabric, all, access);

    if (rc != 0)
        fabric_note(l->fabric, "memory cannot be registered", rc);
    return rc == 0 ? 0 : -1;
}

struct lane *lane_create(struct fabric *f,
                         uint32_t bytes,
                         int takes,
                         void (*wake)(void *arg),
                         void *arg)
{
    uint32_t slot_bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    struct lane *l;

    if (bytes > FABRIC_SLOT_MAX || f->n_lanes >= LANES_MAX)
        return NULL;
    l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->fabric = f;
    l->wake = wake;
    l->arg = arg;
    l->slot_bytes = slot_bytes;
    l->slots = slots_for(slot_bytes);
    l->is_settled = f->transport != TRANSPORT_OFI;
    l->since = clock_s();
    l->next = f->lanes;
    f->lanes = l;
    f->n_lanes++;
    if (!takes || get_memory(l, &l->in, FI_REMOTE_WRITE) == 0)
        return l;
    lane_free(l);
    return NULL;
}

void lane_free(struct lane *l)
{
    struct fabric *f = l->fabric;

    for (struct lane **at = &f->lanes; *at; at = &(*at)->next)
        if (*at == l) {
            *at = l->next;
            f->n_lanes--;
            break;
        }
    memory_put(&l->out);
    memory_put(&l->in);
    free(l);
}

void lane_destroy(struct lane *l)
{
    if (!l)
        return;
    l->wake = NULL;
    memory_put(&l->in);
    if (l->outstanding == 0)
        lane_free(l);
}

void lane_fail(struct lane *l, const char *what, int error)
{
    if (l->has_failed)
        return;
    l->has_failed = 1;
    l->queued = 0;
    fabric_note(l->fabric, what, error);
    if (l->wake)
        l->wake(l->arg);
}

void lane_give_up(struct lane *l)
{
    lane_fail(l, "what was written is not what arrived", FI_EIO);
}

/* --- the two ends meet ---------------------------------------------------- */

void lane_offer(const struct lane *l, struct fabric_place *p)
{
    const struct fabric *f = l->fabric;
    size_t len = strlen(fabric_provider(f));

    memset(p, 0, sizeof *p);
    memcpy(p->provider, fabric_provider(f),
           len < sizeof p->provider ? len : sizeof p->provider - 1);
    memcpy(p->name, f->name, f->name_len);
    p->name_len = (uint32_t)f->name_len;
    if (!l->in.at)
        return;
    if (f->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
        p->memory = (uintptr_t)l->in.at;
    p->key = l->in.key;
    p->slots = l->slots;
    p->slot_bytes = l->slot_bytes;
}

/* libfabric is not told how long a name is. */
static int is_name(const struct fabric *f, const struct fabric_place *p)
{
    if (f->info->addr_format == FI_ADDR_STR)
        return p->name[p->name_len - 1] == '\0';
    return p->name_len == f->name_len;
}

int lane_meet(struct lane *l, const struct fabric_place *p)
{
    struct fabric *f = l->fabric;

    if (l->is_met)
        return -1;
    l->is_settled = 1;
    if (strcmp(p->provider, fabric_provider(f)) != 0) {
        fabric_note(f, "another node has another provider", 0);
        return 0;
    }
    if (p->slots == 0 || p->slot_bytes < l->slot_bytes)
        return 0;
    if (!is_name(f, p))
        return -1;
    if (fi_av_insert(f->av, p->name, 1, &l->peer_address, 0, NULL) != 1) {
        lane_fail(l, "a peer's address is refused", FI_EADDRNOTAVAIL);
        return 0;
    }
    if (get_memory(l, &l->out, FI_WRITE) < 0) {
        l->has_failed = 1;
        return 0;
    }
    l->peer = *p;
    l->is_met = 1;
    return 0;
}

int lane_is_settled(const struct lane *l)
{
    return l->is_settled || l->has_failed;
}

int lane_is_open(const struct lane *l)
{
    return l->is_met && !l->has_failed;
}

int lane_has_failed(const struct lane *l)
{
    return l->has_failed;
}

/* --- what is written ------------------------------------------------------ */

static uint8_t *out_slot(const struct lane *l, uint32_t n)
{
    return l->out.at + (size_t)(n % l->slots) * l->slot_bytes;
}

uint8_t *lane_room(const struct lane *l)
{
    uint32_t window = l->slots < l->peer.slots ? l->slots : l->peer.slots;

    return lane_is_open(l) && l->filled - l->freed < window
               ? out_slot(l, l->filled)
               : NULL;
}

/* Returns libfabric's word for it. */
static ssize_t post(struct lane *l, uint32_t n)
{
    struct write *w = &l->write[n % FABRIC_SLOTS_MAX];
    uint64_t to =
        l->peer.memory + (uint64_t)(n % l->peer.slots) * l->peer.slot_bytes;
    int needs_desc = (l->fabric->info->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
    void *desc = needs_desc ? fi_mr_desc(l->out.mr) : NULL;

    return fi_write(l->fabric->ep, out_slot(l, n), w->bytes, desc,
                    l->peer_address, to, l->peer.key, &w->context);
}

void lane_post(struct lane *l)
{
    while (l->wake && !l->has_failed && l->posted != l->filled) {
        ssize_t rc = post(l, l->posted);

        if (rc == -FI_EAGAIN)
            return;
        if (rc != 0) {
            lane_fail(l, "nothing can be written", (int)rc);
            return;
        }
        l->posted++;
        l->outstanding++;
    }
}

void lane_write(struct lane *l, uint32_t bytes)
{
    struct write *w = &l->write[l->filled % FABRIC_SLOTS_MAX];

    *w = (struct write){.lane = l, .bytes = bytes, .since = clock_s()};
    l->filled++;
    l->queued += bytes;
    lane_post(l);
    fabric_soon(l->fabric);
}

uint32_t lane_arrived(const struct lane *l)
{
    uint32_t n = 0;

    while (!l->has_failed && l->told + n != l->filled
           && l->write[(l->told + n) % FABRIC_SLOTS_MAX].has_arrived)
        n++;
    return n;
}

void lane_told(struct lane *l)
{
    l->told++;
}

int lane_freed(struct lane *l, uint32_t count)
{
    if (count - l->freed > l->told - l->freed)
        return -1;
    l->freed = count;
    return 0;
}

uint64_t lane_queued(const struct lane *l)
{
    return l->queued;
}

/* --- what is taken -------------------------------------------------------- */

const uint8_t *lane_take(const struct lane *l, uint32_t bytes)
{
    if (!l->in.at || bytes > l->slot_bytes)
        return NULL;
    return l->in.at + (size_t)(l->taken % l->slots) * l->slot_bytes;
}

void lane_take_end(struct lane *l)
{
    l->taken++;
}

int lane_owes(const struct lane *l)
{
    return l->said != l->taken;
}

uint32_t lane_say(struct lane *l)
{
    l->said = l->taken;
    return l->said;
}
