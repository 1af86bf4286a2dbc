/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection table of a step, from its layout and its nodes' adapters. */
#define SESSION_NODES 3
#include "launcher/session/connections.h"
#include "fake_session.h"
#include "fault.h"
#include "pmix_bcast/conntable.h"
#include "tap.h"

#include <sys/stat.h>

#define LAYOUT                                                                 \
    "Job step layout:\n\t5 tasks, 3 nodes (n[0-2])\n\n"                        \
    "\tNode 0 (n2), 3 task(s): 0 3 4\n"                                        \
    "\tNode 1 (n0), 2 task(s): 1 2\n"                                          \
    "\tNode 2 (n1), 0 task(s): \n"

static struct session session;

/* Node i is reached at 10.0.0.i, port 4000 + i. */
static void prepare(void)
{
    session_make(&session);
    for (int i = 0; i < SESSION_NODES; i++) {
        struct adapter *a = &session.node[i].adapter;

        a->link = ADAPTER_IP;
        a->address[10] = a->address[11] = a->ip[10] = a->ip[11] = 0xff;
        a->address[12] = a->ip[12] = 10;
        a->address[15] = a->ip[15] = (uint8_t)i;
        a->network = 0x0000ffff0a000000;
        a->tcp_port = (uint16_t)(4000 + i);
    }
}

static int make(const char *layout, uint32_t tasks[], struct es_error *err)
{
    char *text = strdup(layout);
    int fd = connections_file(&session, text, tasks, err);

    free(text);
    return fd;
}

static void test_nodes(void)
{
    struct es_error err = {0};
    struct conntable table;
    struct conntable_entry e;
    uint32_t tasks[SESSION_NODES] = {9, 9, 9};
    static uint8_t bytes[4096];
    ssize_t n;
    int fd;

    prepare();
    session.node[1].present = 0;
    fd = connections_of_nodes(&session, tasks, &err);
    ok(fd >= 0 && tasks[0] == 1 && tasks[1] == 0 && tasks[2] == 1,
       "a task on each node that is present");
    n = read(fd, bytes, sizeof bytes);
    ok(conntable_read(&table, "x", bytes, (size_t)n, CONNTABLE_DIGEST, &err)
               == 0
           && table.tasks == 2 && conntable_lookup(&table, 1, &e) == 0
           && e.node == 2 && e.local_rank == 0 && e.adapter.ip[15] == 2,
       "numbered in their order");
    close(fd);
}

static void test_good(void)
{
    static const uint32_t node_of[] = {2, 0, 0, 2, 2};
    struct es_error err = {0};
    struct conntable table;
    struct conntable_entry e;
    uint32_t tasks[SESSION_NODES] = {9, 9, 9};
    static uint8_t bytes[4096];
    struct stat st;
    int fd, right = 1;
    ssize_t n;

    prepare();
    fd = make(LAYOUT, tasks, &err);
    ok(fd >= 0, "a table is made");
    ok(tasks[0] == 2 && tasks[1] == 0 && tasks[2] == 3,
       "each node's tasks are counted");
    ok(fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0444,
       "nobody may write to it");
    n = pread(fd, bytes, sizeof bytes, 0);
    is_int(n, (intmax_t)conntable_size(5), "its size is that of 5 tasks");
    is_int(conntable_read(&table, "it", bytes, sizeof bytes, CONNTABLE_DIGEST,
                          &err),
           -1, "with more behind it it is none");
    is_int(
        conntable_read(&table, "it", bytes, (size_t)n, CONNTABLE_DIGEST, &err),
        0, "it reads as a table");
    for (uint32_t i = 0; i < 5; i++)
        right &= conntable_lookup(&table, i, &e) == 0 && e.node == node_of[i]
                 && e.adapter.tcp_port == 4000 + node_of[i];
    ok(right, "each task is reached where its node is");
    ok(conntable_lookup(&table, 4, &e) == 0 && e.local_rank == 2,
       "and has its rank among the node's");
    ok(conntable_lookup(&table, 5, &e) < 0, "there is no sixth");
    close(fd);
}

static void test_bad(void)
{
    struct es_error err = {0};
    uint32_t tasks[SESSION_NODES];

    prepare();
    ok(make("Job step layout:\n", tasks, &err) < 0 && err.kind != ES_OK,
       "no layout: no table");
    memset(&err, 0, sizeof err);
    ok(make("Job step layout:\n\t1 tasks, 1 nodes (x)\n\n"
            "\tNode 0 (x), 1 task(s): 0\n",
            tasks, &err)
               < 0
           && err.kind != ES_OK,
       "a node that the session does not have: no table");
    memset(&session.node[2].adapter, 0, sizeof session.node[2].adapter);
    memset(&err, 0, sizeof err);
    ok(make(LAYOUT, tasks, &err) < 0 && err.kind != ES_OK,
       "a node with tasks and no adapter: no table");
    prepare();
    memset(&session.node[1].adapter, 0, sizeof session.node[1].adapter);
    memset(&err, 0, sizeof err);
    ok(make(LAYOUT, tasks, &err) >= 0, "one without tasks needs none");
}

static void test_no_memory(void)
{
    struct es_error err;
    uint32_t tasks[SESSION_NODES];
    char text[sizeof LAYOUT];
    int fd = -1, failed = 0, told = 1;

    prepare();
    for (int i = 0; fd < 0 && i < 1000; i++) {
        memcpy(text, LAYOUT, sizeof text);
        memset(&err, 0, sizeof err);
        fault_at = i;
        fd = connections_file(&session, text, tasks, &err);
        fault_at = -1;
        failed += fd < 0;
        told &= fd >= 0 || err.kind == ES_ENV;
    }
    ok(fd >= 0 && failed >= 3 && told,
       "without memory there is none, at any point, and it is said");
    close(fd);
}

int main(void)
{
    test_good();
    test_nodes();
    test_bad();
    test_no_memory();
    return done();
}
