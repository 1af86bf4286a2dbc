/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that libfabric reads and writes.  It is never given back to the system:
 * a peer's write may come after its registration has ended, where a provider
 * writes without asking ours (shm by process_vm_writev(2)), and must then not
 * find what somebody else has put there.
 */
#include "pmix_bcast/fabric_state.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/mman.h>

struct spare {
    struct spare *next;
    size_t size;
    uint8_t *at;
};

/* Of this process; all of it on the loop's thread. */
static struct spare *spares;

static uint8_t *take_spare(size_t size)
{
    for (struct spare **s = &spares; *s; s = &(*s)->next)
        if ((*s)->size == size) {
            struct spare *found = *s;
            uint8_t *at = found->at;

            *s = found->next;
            free(found);
            return at;
        }
    return NULL;
}

/* Without memory for the note of it, it is lost. */
static void keep_spare(uint8_t *at, size_t size)
{
    struct spare *s = malloc(sizeof *s);

    if (!s)
        return;
    *s = (struct spare){.next = spares, .size = size, .at = at};
    spares = s;
}

static uint8_t *make(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    /* A child has no use for it, and must not make the kernel move it. */
    (void)madvise(at, size, MADV_DONTFORK);
    return at;
}

static int register_it(struct memory *m,
                       const struct fabric *f,
                       uint64_t access)
{
    uint64_t mask =
        f->info->domain_attr->mr_key_size >= sizeof mask
            ? UINT64_MAX
            : (UINT64_C(1) << 8 * f->info->domain_attr->mr_key_size) - 1;
    uint64_t wish;
    int rc;

    randombytes_buf(&wish, sizeof wish); /* not to be guessed */
    rc = fi_mr_reg(f->domain, m->at, m->size, access, 0, wish & mask, 0, &m->mr,
                   NULL);
    if (rc == 0 && f->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        rc = fi_mr_bind(m->mr, &f->ep->fid, 0);
        if (rc == 0)
            rc = fi_mr_enable(m->mr);
    }
    if (rc == 0)
        m->key = fi_mr_key(m->mr);
    return rc == 0 && m->key == FI_KEY_NOTAVAIL ? -FI_ENOKEY : rc;
}

int memory_get(struct memory *m,
               const struct fabric *f,
               size_t size,
               uint64_t access)
{
    int rc;

    *m = (struct memory){.size = size, .at = take_spare(size)};
    if (!m->at)
        m->at = make(size);
    if (!m->at)
        return -FI_ENOMEM;
    rc = register_it(m, f, access);
    if (rc != 0)
        memory_put(m);
    return rc;
}

void memory_put(struct memory *m)
{
    if (m->mr)
        (void)fi_close(&m->mr->fid);
    if (m->at)
        keep_spare(m->at, m->size);
    *m = (struct memory){0};
}
