/* SPDX-License-Identifier: BSD-2-Clause */
/* evenstep_listen(), with a table of a step and an agent of the test. */
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/slice_message.h"
#include "pmix_bcast/conntable.h"
#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS 2

static char dir[] = "/tmp/evenstep-listen.XXXXXX";
static char table[64], beside[64], door[64];
static const int port = 7000; /* the agent of the test believes it */
static int agent;

/* --- the table, and the agent ----------------------------------------------- */

static void write_file(const char *path, const uint8_t *bytes, size_t len)
{
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd) < 0
        || rename(beside, path) < 0)
        bail("no table");
}

/* Of two tasks on this machine; the second one, if there are ports. */
static void write_table(const uint16_t *own)
{
    static const uint32_t node_of[TASKS] = {0, 0};
    const struct conntable_layout layout = {1, TASKS, node_of};
    const struct conntable_listening at = {own, TASKS};
    struct adapter adapter = {.link = ADAPTER_IP, .tcp_port = 4000};
    uint8_t first[CONNTABLE_HEAD + TASKS * CONNTABLE_ENTRY];
    uint8_t second[sizeof first];
    struct conntable t;
    uint32_t local;

    inet_pton(AF_INET6, "::ffff:127.0.0.1", adapter.ip);
    if (conntable_compose(first, &layout, &adapter, &local, NULL) < 0
        || conntable_read(&t, "x", first, sizeof first, CONNTABLE_DIGEST, NULL)
               < 0
        || (own && conntable_of_tasks(second, &t, &at, 1, NULL) < 0))
        bail("no table");
    write_file(table, own ? second : first, sizeof first);
}

static void open_agent(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    snprintf(at.sun_path, sizeof at.sun_path, "%s", door);
    agent = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (bind(agent, (const struct sockaddr *)&at, sizeof at) < 0
        || listen(agent, 5) < 0)
        bail("no agent");
}

/* --- what the task asks, in a process of its own ----------------------------- */

static int port_of(uint32_t rank)
{
    struct evenstep_peer p;

    return evenstep_peer(rank, &p) < 0 ? -1 : p.tcp_port;
}

static int fails(int at, int why)
{
    errno = 0;
    return evenstep_listen(at) == -1 && errno == why;
}

static int bad_ports(void)
{
    return fails(-1, EINVAL) && fails(65536, EINVAL);
}

static int not_under_evenstep(void)
{
    unsetenv("EVENSTEP_SOCKET");
    return fails(port, ENOENT);
}

static int nobody_listens(void)
{
    return fails(port, EADDRNOTAVAIL) && port_of(1) == 4000;
}

static int gets_table(void)
{
    return port_of(1) == 4000 && evenstep_listen(port) == 0
           && port_of(0) == 5000 && port_of(1) == 5001;
}

static int listens_nowhere(void)
{
    return evenstep_listen(0) == 0 && port_of(1) == 5001;
}

static int too_late(void)
{
    return fails(port, ETIMEDOUT) && port_of(1) == 4000;
}

static int agent_gone(void)
{
    return fails(port, ECONNRESET);
}

static int damaged(void)
{
    return fails(port, EBADMSG) && port_of(1) == 4000;
}

/* Run the question; what the agent hears, and answers if answer is not NULL, with
 * this as the table by then.  1 if the answer to the question is yes. */
static int ask(int (*question)(void),
               struct slice_message *heard,
               const struct slice_message *answer,
               const uint16_t *own)
{
    pid_t pid;
    int status, fd;

    write_table(NULL);
    pid = fork();
    if (pid == 0)
        _exit(question() ? 0 : 1);
    if (heard) {
        fd = accept(agent, NULL, NULL);
        if (slice_message_receive(fd, heard) != 1)
            bail("the agent hears nothing");
        if (own)
            write_table(own);
        if (answer && slice_message_send(fd, answer) < 0)
            bail("the agent cannot speak");
        close(fd);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
           && WEXITSTATUS(status) == 0;
}

static void test_calls(void)
{
    static const uint16_t own[TASKS] = {5000, 5001};
    struct slice_message yes = {.type = SLICE_LISTENED};
    const struct slice_message late = {.type = SLICE_LISTENED,
                                       .error = ETIMEDOUT};
    const struct slice_message silent = {.type = SLICE_LISTENED,
                                         .error = EADDRNOTAVAIL};
    const struct slice_message other = {.type = SLICE_TAKEN};
    struct slice_message m;

    ok(ask(bad_ports, NULL, NULL, NULL), "-1 and 65536 are no ports");
    ok(ask(not_under_evenstep, NULL, NULL, NULL), "without an agent: ENOENT");
    ok(ask(nobody_listens, &m, &silent, NULL),
       "the agent says that nobody listens there, and the ports are as before");
    ok(ask(gets_table, &m, &yes, own),
       "when the agent says so the peers have ports of their own");
    ok(m.type == SLICE_LISTEN && m.port == (uint32_t)port && m.rank == 1,
       "the agent has heard which is ours");
    ok(ask(listens_nowhere, &m, &yes, own) && m.port == 0,
       "a task that listens nowhere knows the others'");
    ok(ask(too_late, &m, &late, NULL),
       "an error is told, and the ports are as before");
    ok(ask(agent_gone, &m, NULL, NULL), "an agent that dies is ECONNRESET");
    ok(ask(damaged, &m, &other, NULL), "another answer is EBADMSG");
}

int main(void)
{
    (void)alarm(60);
    if (!mkdtemp(dir))
        bail("no directory");
    snprintf(table, sizeof table, "%s/conntable", dir);
    snprintf(beside, sizeof beside, "%s/beside", dir);
    snprintf(door, sizeof door, "%s/socket", dir);
    setenv("EVENSTEP_DIR", dir, 1);
    setenv("EVENSTEP_SOCKET", door, 1);
    setenv("SLURM_LOCALID", "1", 1);
    open_agent();
    test_calls();
    unlink(table);
    unlink(door);
    rmdir(dir);
    return done();
}
