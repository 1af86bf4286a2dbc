/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/evenstep.h"
#include "pmix_bcast/conntable.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS 5

static char dir[] = "/tmp/libevenstep.XXXXXX";
static char path[64];

/* A table of TASKS tasks on two nodes, cyclic, the last len bytes cut off. */
static void write_table(size_t cut)
{
    static const uint32_t node_of[TASKS] = {0, 1, 0, 1, 0};
    struct conntable_layout layout = {2, TASKS, node_of};
    struct adapter adapter[2] = {0};
    uint32_t local[2];
    size_t size = conntable_size(TASKS);
    uint8_t *table = malloc(size);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    for (uint8_t i = 0; i < 2; i++) {
        adapter[i].link = ADAPTER_INFINIBAND;
        adapter[i].address[15] = (uint8_t)(i + 1);
        adapter[i].ip[10] = adapter[i].ip[11] = 0xff;
        adapter[i].ip[12] = 10;
        adapter[i].ip[15] = (uint8_t)(i + 1);
        adapter[i].network = 0xfe80u;
        adapter[i].lid = 30u + i;
        adapter[i].port = 1;
        adapter[i].rate_mbps = 100000;
        adapter[i].lmc = 2;
        adapter[i].tcp_port = (uint16_t)(4000 + i);
    }
    if (!table || fd < 0
        || conntable_compose(table, &layout, adapter, local, NULL) < 0
        || write(fd, table, size - cut) != (ssize_t)(size - cut))
        bail("no table");
    close(fd);
    free(table);
}

/* The table is looked for once a process: each question asks in one of its
 * own, which exits 0 if the answer is as expected. */
static int ask(int (*question)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(question() ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
           && WEXITSTATUS(status) == 0;
}

static int is_third(void)
{
    struct evenstep_peer p;

    return evenstep_peer(3, &p) == 0 && p.node == 1 && p.local_rank == 1
           && p.window == 1 && p.lid == 31 && p.port == 1 && p.lmc == 2
           && p.rate_mbps == 100000 && p.tcp_port == 4001
           && p.network == 0xfe80u && p.address[15] == 2 && p.ip[12] == 10
           && p.link == EVENSTEP_LINK_INFINIBAND;
}

static int refused(uint32_t rank, int why)
{
    static const struct evenstep_peer none;
    struct evenstep_peer p;

    memset(&p, 1, sizeof p);
    errno = 0;
    return evenstep_peer(rank, &p) == -1 && errno == why
           && memcmp(&p, &none, sizeof p) == 0;
}

static int no_rank(void)
{
    return refused(TASKS, ERANGE) && refused(UINT32_MAX, ERANGE) && is_third();
}
static int no_table(void)
{
    return refused(0, ENOENT) && refused(0, ENOENT);
}
static int damaged(void)
{
    return refused(0, EBADMSG);
}

int main(void)
{
    if (!mkdtemp(dir))
        bail("no directory");
    snprintf(path, sizeof path, "%s/conntable", dir);
    setenv("EVENSTEP_DIR", dir, 1);
    ok(ask(no_table), "no table in the directory is ENOENT");
    write_table(0);
    ok(ask(is_third), "a task's line is all there");
    ok(ask(no_rank), "a rank that is none is ERANGE, the others are there");
    write_table(1);
    ok(ask(damaged), "a table that is cut short is EBADMSG");
    unsetenv("EVENSTEP_DIR");
    ok(ask(no_table), "without evenstep it is ENOENT");
    unlink(path);
    rmdir(dir);
    return done();
}
