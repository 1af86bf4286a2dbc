/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/conntable.h"
#include "pmix_bcast/little_endian.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define VERSION 1u

static const uint8_t magic[8] = {'E', 'V', 'S', 'C', 'O', 'N', 'N', '\n'};
static const char see_file[] = "name a regular file that you may read";
static const char copy_again[] = "copy it again, it is truncated or damaged";

size_t conntable_size(uint32_t tasks)
{
    return CONNTABLE_HEAD + (size_t)tasks * CONNTABLE_ENTRY;
}

/* --- compose -------------------------------------------------------------- */

static uint64_t digest(const uint8_t *table, uint32_t tasks, uint32_t ports)
{
    return XXH3_64bits_withSeed(table + CONNTABLE_HEAD,
                                (size_t)tasks * CONNTABLE_ENTRY, ports);
}

static void put_head(uint8_t *out, uint32_t tasks, enum conntable_ports ports)
{
    memset(out, 0, CONNTABLE_HEAD);
    memcpy(out, magic, sizeof magic);
    put_le32(out + 8, VERSION);
    put_le32(out + 12, CONNTABLE_ENTRY);
    put_le32(out + 16, tasks);
    put_le32(out + 20, ports);
    put_le64(out + 24, digest(out, tasks, ports));
}

static void put_entry(uint8_t *out, const struct conntable_entry *e)
{
    adapter_encode(out, &e->adapter);
    put_le32(out + 56, e->node);
    put_le16(out + 60, e->local_rank);
    put_le16(out + 62, e->window);
}

/* Whether one more task can be on a node that has local of them. */
static int check_task(const struct conntable_layout *layout,
                      uint32_t rank,
                      const struct adapter *adapter,
                      const uint32_t *local,
                      struct es_error *err)
{
    uint32_t node = layout->node_of[rank];

    if (node >= layout->nodes)
        return es_fail(err, ES_WORK, "report this",
                       "task %u is on node %u of %u", rank, node,
                       layout->nodes);
    if (local[node] >= CONNTABLE_LOCAL_MAX)
        return es_fail(err, ES_USAGE, "use more nodes",
                       "node %u has more than %u tasks", node,
                       CONNTABLE_LOCAL_MAX);
    if (local[node] == 0 && !adapter_is_sound(&adapter[node]))
        return es_fail(err, ES_WORK, "leave the node out",
                       "node %u has not told its network adapter", node);
    return 0;
}

int conntable_compose(uint8_t *out,
                      const struct conntable_layout *layout,
                      const struct adapter *adapter,
                      uint32_t *local,
                      struct es_error *err)
{
    struct conntable_entry e;

    if (layout->tasks == 0 || layout->tasks > CONNTABLE_TASKS_MAX)
        return es_fail(err, ES_USAGE, "use 1 to 16777216 tasks",
                       "%u tasks have no connection table", layout->tasks);
    memset(local, 0, layout->nodes * sizeof *local);
    for (uint32_t rank = 0; rank < layout->tasks; rank++) {
        if (check_task(layout, rank, adapter, local, err) < 0)
            return -1;
        e.node = layout->node_of[rank];
        e.adapter = adapter[e.node];
        e.local_rank = (uint16_t)local[e.node]++;
        /* No switch hands out windows here: a node has one adapter, all of its
         * tasks share it. */
        e.window = e.local_rank;
        put_entry(out + conntable_size(rank), &e);
    }
    put_head(out, layout->tasks, CONNTABLE_OF_NODES);
    return 0;
}

int conntable_of_tasks(uint8_t *out,
                       const struct conntable *t,
                       const struct conntable_listening *at,
                       uint32_t nodes,
                       struct es_error *err)
{
    struct conntable_entry e;

    for (uint32_t rank = 0; rank < t->tasks; rank++) {
        if (conntable_lookup(t, rank, &e) < 0 || e.node >= nodes
            || e.local_rank >= at[e.node].tasks)
            return es_fail(err, ES_WORK, "report this",
                           "the ports of task %u are not known", rank);
        e.adapter.tcp_port = at[e.node].port[e.local_rank];
        put_entry(out + conntable_size(rank), &e);
    }
    put_head(out, t->tasks, CONNTABLE_OF_TASKS);
    return 0;
}

/* --- read ----------------------------------------------------------------- */

static int is_zero(const uint8_t *p, size_t len)
{
    while (len > 0 && *p == 0)
        p++, len--;
    return len == 0;
}

/* What kind of file it is; then what it says of itself must be so. */
static int check_head(const char *name,
                      const uint8_t *head,
                      size_t len,
                      struct es_error *err)
{
    uint32_t tasks;

    if (len < sizeof magic || memcmp(head, magic, sizeof magic) != 0)
        return es_fail(err, ES_WORK, "name a file that evenstep has made",
                       "%s: no connection table", name);
    if (len < CONNTABLE_HEAD)
        return es_fail(err, ES_WORK, copy_again, "%s: %zu bytes are no table",
                       name, len);
    if (get_le32(head + 8) != VERSION)
        return es_fail(err, ES_WORK, "use the evenstep that has made it",
                       "%s: version %u of the format, not %u", name,
                       get_le32(head + 8), VERSION);
    tasks = get_le32(head + 16);
    if (get_le32(head + 12) != CONNTABLE_ENTRY || tasks == 0
        || tasks > CONNTABLE_TASKS_MAX
        || get_le32(head + 20) > CONNTABLE_OF_TASKS
        || !is_zero(head + 32, CONNTABLE_HEAD - 32))
        return es_fail(err, ES_WORK, copy_again, "%s: its head is damaged",
                       name);
    if (len != conntable_size(tasks))
        return es_fail(err, ES_WORK, copy_again,
                       "%s: %zu bytes, not the %zu of %u tasks", name, len,
                       conntable_size(tasks), tasks);
    return 0;
}

int conntable_read(struct conntable *t,
                   const char *name,
                   const uint8_t *bytes,
                   size_t len,
                   enum conntable_check check,
                   struct es_error *err)
{
    memset(t, 0, sizeof *t);
    if (check_head(name, bytes, len, err) < 0)
        return -1;
    if (check == CONNTABLE_DIGEST
        && digest(bytes, get_le32(bytes + 16), get_le32(bytes + 20))
               != get_le64(bytes + 24))
        return es_fail(err, ES_WORK, copy_again, "%s: its digest is wrong",
                       name);
    t->bytes = bytes;
    t->tasks = get_le32(bytes + 16);
    t->ports = (enum conntable_ports)get_le32(bytes + 20);
    return 0;
}

/* Map what fd is open on; *bytes stays NULL if that is empty. */
static int map(const uint8_t **bytes,
               size_t *len,
               const char *path,
               int fd,
               struct es_error *err)
{
    struct stat st;
    void *p;

    if (fstat(fd, &st) < 0)
        return es_fail(err, ES_WORK, see_file, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return es_fail(err, ES_WORK, see_file, "%s: no regular file", path);
    *len = (size_t)st.st_size;
    if (*len == 0)
        return 0;
    p = mmap(NULL, *len, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return es_fail(err, ES_WORK, "free some memory", "%s: %s", path,
                       strerror(errno));
    *bytes = p;
    return 0;
}

static void unmap(const uint8_t *bytes, size_t len)
{
    if (bytes)
        (void)munmap((void *)(uintptr_t)bytes, len);
}

int conntable_open(struct conntable *t,
                   const char *path,
                   enum conntable_check check,
                   struct es_error *err)
{
    /* A pipe would be waited for without O_NONBLOCK. */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const uint8_t *bytes = NULL;
    size_t len = 0;
    int rc;

    memset(t, 0, sizeof *t);
    if (fd < 0)
        return es_fail(err, errno == ENOENT ? ES_USAGE : ES_WORK, see_file,
                       "%s: %s", path, strerror(errno));
    rc = map(&bytes, &len, path, fd, err);
    (void)close(fd); /* the mapping stays */
    if (rc < 0)
        return -1;
    rc = conntable_read(t, path, bytes, len, check, err);
    if (rc < 0)
        unmap(bytes, len);
    return rc;
}

void conntable_close(struct conntable *t)
{
    int why = errno;

    unmap(t->bytes, conntable_size(t->tasks));
    memset(t, 0, sizeof *t);
    errno = why;
}

int conntable_lookup(const struct conntable *t,
                     uint32_t rank,
                     struct conntable_entry *e)
{
    const uint8_t *p;

    memset(e, 0, sizeof *e);
    if (rank >= t->tasks)
        return -1;
    p = t->bytes + conntable_size(rank);
    if (adapter_decode(&e->adapter, p, ADAPTER_BYTES) < 0)
        return -1;
    e->node = get_le32(p + 56);
    e->local_rank = get_le16(p + 60);
    e->window = get_le16(p + 62);
    return 0;
}
