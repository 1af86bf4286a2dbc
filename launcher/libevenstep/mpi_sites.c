/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/mpi_sites.h"
#include "launcher/libevenstep/mpi_real.h"

#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define SITES    512u /* a power of 2 */
#define PROBES   8u
#define OTHERS   (METER_SITES - 1) /* place of all others */
#define NO_PLACE METER_SITES
#define FIRST_NS 100000u /* less waiting is not worth a name */
#define ENOUGH   3u      /* calls, for the least of them to be transfer */

static struct site {
    const void *caller; /* NULL: not used */
    uint64_t waiting_ns, calls;
    uint64_t transfers, least_ns;
    uint64_t next_ns; /* waiting_ns with which it may come into the page */
    uint32_t number;
    uint32_t place; /* in the page; or NO_PLACE */
} site[SITES];
static struct site *placed[OTHERS];
static uint32_t places;
static uint64_t transfer_ns;
static struct meter_rank *entry;

static void put(_Atomic uint64_t *at, uint64_t value)
{
    atomic_store_explicit(at, value, memory_order_relaxed);
}

void mpi_sites_start(struct meter_rank *e)
{
    entry = e;
}

/* --- names ---------------------------------------------------------------- */

typedef ElfW(Ehdr) file_head;

/* In a program that is not position-independent an address is its own offset,
 * as tools take it. */
static uintptr_t base_of(const Dl_info *where)
{
    const file_head *head = where->dli_fbase;

    return head && head->e_type != ET_EXEC ? (uintptr_t)head : 0;
}

static void name_site(const void *caller, char name[METER_NAME])
{
    const char *file, *slash;
    Dl_info where;

    if (!dladdr || !dladdr(caller, &where) || !where.dli_fname) {
        (void)snprintf(name, METER_NAME, "%p", caller);
        return;
    }
    slash = strrchr(where.dli_fname, '/');
    file = slash ? slash + 1 : where.dli_fname;
    if (where.dli_sname)
        (void)snprintf(
            name, METER_NAME, "%.20s+0x%lx (%.14s)", where.dli_sname,
            (unsigned long)((uintptr_t)caller - (uintptr_t)where.dli_saddr),
            file);
    else
        (void)snprintf(name, METER_NAME, "%.28s+0x%lx", file,
                       (unsigned long)((uintptr_t)caller - base_of(&where)));
}

/* --- the page ------------------------------------------------------------- */

static void put_times(const struct site *s)
{
    struct meter_site *to = &entry->site[s->place];

    put(&to->waiting_ns, s->waiting_ns);
    put(&to->calls, s->calls);
}

/* The readers' side is meter_rank_sites(). */
static void put_site(struct site *s, uint32_t place)
{
    struct meter_site *to = &entry->site[place];

    put(&to->where, 0);
    atomic_thread_fence(memory_order_release);
    s->place = place;
    placed[place] = s;
    name_site(s->caller, to->name);
    atomic_store_explicit(&to->call, s->number + 1, memory_order_relaxed);
    put_times(s);
    atomic_store_explicit(&to->where, (uint64_t)(uintptr_t)s->caller,
                          memory_order_release);
}

static uint32_t least_place(void)
{
    uint32_t least = 0;

    for (uint32_t i = 1; i < places; i++)
        if (placed[i]->waiting_ns < placed[least]->waiting_ns)
            least = i;
    return least;
}

/* It comes in where there is room, or where one waits for less than half. */
static void seek_place(struct site *s)
{
    uint32_t least;

    s->next_ns = 2 * s->waiting_ns;
    if (places < OTHERS) {
        put_site(s, places++);
        atomic_store_explicit(&entry->sites, places, memory_order_release);
        return;
    }
    least = least_place();
    if (placed[least]->waiting_ns > s->waiting_ns / 2)
        return;
    placed[least]->place = NO_PLACE;
    placed[least]->next_ns = 2 * placed[least]->waiting_ns;
    put_site(s, least);
}

void mpi_sites_end(uint64_t waiting_ns)
{
    struct meter_site *to = &entry->site[OTHERS];
    uint64_t named_ns = 0, calls = 0;

    if (places < OTHERS)
        return;
    for (uint32_t i = 0; i < places; i++)
        named_ns += placed[i]->waiting_ns;
    for (uint32_t i = 0; i < SITES; i++)
        calls += site[i].place == NO_PLACE ? site[i].calls : 0;
    (void)snprintf(to->name, METER_NAME, "others");
    put(&to->waiting_ns, waiting_ns > named_ns ? waiting_ns - named_ns : 0);
    put(&to->calls, calls);
    put(&to->where, 1);
    atomic_store_explicit(&entry->sites, METER_SITES, memory_order_release);
}

/* --- calls ---------------------------------------------------------------- */

/* NULL where the table is full. */
static struct site *find_site(const void *caller, uint32_t number)
{
    uint64_t hash =
        (uint64_t)(uintptr_t)caller * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    for (uint32_t i = 0; i < PROBES; i++) {
        struct site *s = &site[(hash + i) % SITES];

        if (s->caller == caller)
            return s;
        if (!s->caller) {
            *s = (struct site){.caller = caller,
                               .number = number,
                               .least_ns = UINT64_MAX,
                               .next_ns = FIRST_NS,
                               .place = NO_PLACE};
            return s;
        }
    }
    return NULL;
}

static uint64_t transfer_of(const struct site *s)
{
    return s->transfers >= ENOUGH ? s->transfers * s->least_ns : 0;
}

static void add_transfer(struct site *s, uint64_t took_ns)
{
    uint64_t before = transfer_of(s);

    s->transfers++;
    if (took_ns < s->least_ns)
        s->least_ns = took_ns;
    transfer_ns += transfer_of(s) - before;
}

void mpi_sites_add(const void *caller,
                   uint32_t number,
                   uint64_t took_ns,
                   uint64_t gap_ns,
                   int is_transfer)
{
    struct site *s = find_site(caller, number);

    if (!s)
        return;
    s->waiting_ns += took_ns + gap_ns;
    s->calls++;
    if (is_transfer)
        add_transfer(s, took_ns);
    if (s->place != NO_PLACE)
        put_times(s);
    else if (s->waiting_ns >= s->next_ns)
        seek_place(s);
}

uint64_t mpi_sites_transfer(void)
{
    return transfer_ns;
}
