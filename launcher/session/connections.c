/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/connections.h"
#include "launcher/session/step_layout.h"
#include "pmix_bcast/conntable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int out_of_memory(struct es_error *err)
{
    return es_no_memory(err);
}

static int read_layout(struct step_layout *l,
                       const struct session *s,
                       char *text,
                       struct es_error *err)
{
    size_t n = session_size(s);
    const char **name = calloc(n, sizeof *name);
    int rc;

    memset(l, 0, sizeof *l);
    if (!name)
        return out_of_memory(err);
    for (size_t i = 0; i < n; i++)
        name[i] = session_node(s, i)->name;
    rc = step_layout_read(l, text, name, n, err);
    free(name);
    return rc;
}

static int compose(uint8_t *table,
                   const struct session *s,
                   const struct step_layout *l,
                   struct es_error *err)
{
    size_t n = session_size(s);
    struct conntable_layout layout = {
        .nodes = (uint32_t)n, .tasks = l->tasks, .node_of = l->node_of};
    struct adapter *adapter = calloc(n, sizeof *adapter);
    uint32_t *local = calloc(n, sizeof *local);
    int rc;

    for (size_t i = 0; adapter && i < n; i++)
        adapter[i] = session_node(s, i)->adapter;
    if (adapter && local)
        rc = conntable_compose(table, &layout, adapter, local, err);
    else
        rc = out_of_memory(err);
    free(adapter);
    free(local);
    return rc;
}

static int fill_table(int fd,
                      const struct session *s,
                      const struct step_layout *l,
                      struct es_error *err)
{
    size_t size = conntable_size(l->tasks);
    void *table;
    int rc;

    if (ftruncate(fd, (off_t)size) < 0)
        return es_fail(err, ES_ENV, "free some memory",
                       "a connection table of %zu bytes: %s", size,
                       strerror(errno));
    table = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (table == MAP_FAILED)
        return out_of_memory(err);
    rc = compose(table, s, l, err);
    (void)munmap(table, size);
    if (rc == 0 && fchmod(fd, 0444) < 0) /* as it is on the nodes */
        rc = es_fail(err, ES_ENV, "report this", "fchmod: %s", strerror(errno));
    return rc;
}

/* The table of those tasks: a file in memory, or -1. */
static int make_file(const struct session *s,
                     const struct step_layout *l,
                     uint32_t tasks[],
                     struct es_error *err)
{
    int fd = memfd_create("conntable", MFD_CLOEXEC);

    memset(tasks, 0, session_size(s) * sizeof *tasks);
    for (uint32_t i = 0; i < l->tasks; i++)
        tasks[l->node_of[i]]++;
    if (fd < 0) {
        es_fail(err, ES_ENV, "free some memory", "no file in memory: %s",
                strerror(errno));
    } else if (fill_table(fd, s, l, err) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int connections_file(const struct session *s,
                     char *text,
                     uint32_t tasks[],
                     struct es_error *err)
{
    struct step_layout l;
    int fd = -1;

    if (read_layout(&l, s, text, err) == 0)
        fd = make_file(s, &l, tasks, err);
    step_layout_clear(&l);
    return fd;
}

int connections_of_nodes(const struct session *s,
                         uint32_t tasks[],
                         struct es_error *err)
{
    size_t n = session_size(s);
    struct step_layout l = {.node_of = calloc(n, sizeof *l.node_of)};
    int fd;

    if (!l.node_of)
        return out_of_memory(err);
    for (size_t i = 0; i < n; i++)
        if (session_node(s, i)->present)
            l.node_of[l.tasks++] = (uint32_t)i;
    fd = make_file(s, &l, tasks, err);
    step_layout_clear(&l);
    return fd;
}
