/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep-agent: evenstep's process on a node.  It is started by the front
 * end's companion step (or by --local), never by hand, and takes all it needs
 * from the environment:
 *
 *   EVENSTEP_SECRET     the step's secret in hexadecimal
 *   EVENSTEP_FRONT_END  [ADDRESS]:PORT of the front end; by Slurm its address
 *                       is that of srun, as Slurm tells, but if that is a
 *                       loopback address, which no other node could call
 *   EVENSTEP_ENCRYPT    1: what goes over the wire is encrypted
 *   EVENSTEP_PORTS      LOW-HIGH, where the agent may listen; 0-0 anywhere
 *   EVENSTEP_INTERFACE  which networks are meant for data, see network.h
 *   EVENSTEP_WIREUP     pmix or tcp; with tcp Slurm tells rank and number of
 *                       the agents, or outside of it
 *   EVENSTEP_RANK       and
 *   EVENSTEP_AGENTS     do
 *   EVENSTEP_SEATS      "NODE=RANK ...", each node's rank: it joins a run that
 *                       is at work, and whose front end is just where
 *                       EVENSTEP_FRONT_END says
 *   EVENSTEP_AGENT      the node's name outside Slurm
 *   EVENSTEP_SYSFS      where sysfs is, for tests; /sys
 *   EVENSTEP_SPEED      percent of one core for the commands (--local only)
 *
 * `evenstep-agent --probe ...` measures and prints: the agent runs itself so,
 * under the same limits as the commands to come (agent_probe.h).  Likewise
 * `evenstep-agent --tasks ...` runs the tasks of a piece (task_runner.h).
 */
#include "launcher/agent/agent.h"
#include "launcher/agent/agent_probe.h"
#include "launcher/agent/task_runner.h"
#include "launcher/base/env_list.h"
#include "launcher/base/front_address.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/base/rack.h"
#include "pmix_bcast/wireup_way.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A socket to the plugin, which has opened it: spank_plugin/plugin_comment.h */
#define COMMENT_FD "EVENSTEP_COMMENT_FD"

static const char by_hand[] =
    "evenstep-agent is started by `evenstep run`, not by hand";

/* What belongs to the companion step and would mislead a command: PMIx would
 * take an MPI program for a second client of the agent's rank, and srun and Open MPI would take it for a task. */
static const char *const not_for_commands[] = {
    "PMIX_",
    "PMI_",
    "PMI2_",
    "SLURM_PMIX",
    "EVENSTEP_SECRET=",
    "EVENSTEP_FRONT_END=",
    "EVENSTEP_PORTS=",
    "EVENSTEP_ENCRYPT=",
    "EVENSTEP_WIREUP=",
    "EVENSTEP_INTERFACE=",
    "EVENSTEP_RANK=",
    "EVENSTEP_AGENTS=",
    "EVENSTEP_AGENT=",
    "EVENSTEP_SEATS=",
    "EVENSTEP_SPEED=",
    "EVENSTEP_COMPANION=",
    "EVENSTEP_PLUGIN=",
    "SLURM_SPANK__SLURM_SPANK_OPTION_evenstep_",
    COMMENT_FD "=",
    "SLURM_STEP",
    "SLURM_PROCID=",
    "SLURM_LOCALID=",
    "SLURM_NODEID=",
    "SLURM_TASK_PID=",
    "SLURM_GTIDS=",
    "SLURM_SRUN_COMM_",
    "SLURM_LAUNCH_NODE_IPADDR=",
    "SLURM_MPI_TYPE=",
    "SLURM_OVERLAP=",
};

static int is_for_commands(const char *entry)
{
    size_t n = sizeof not_for_commands / sizeof not_for_commands[0];

    for (size_t i = 0; i < n; i++)
        if (strncmp(entry, not_for_commands[i], strlen(not_for_commands[i]))
            == 0)
            return 0;
    return 1;
}

static const char *env_text(const char *name, const char *otherwise)
{
    const char *text = getenv(name);

    return text && *text ? text : otherwise;
}

static int env_number(const char *name, int64_t low, int64_t high, int64_t *v)
{
    return number_parse_int(env_text(name, "0"), low, high, v);
}

/* Where the front end is: by Slurm where srun is, which it says itself if Slurm
 * knows no more than a loopback address.  What we tell the others is our
 * address on the way there; a step of one node has no others. */
static const char *choose_front_end(const char *own)
{
    const char *srun = env_text("SLURM_LAUNCH_NODE_IPADDR",
                                env_text("SLURM_SRUN_COMM_HOST", ""));
    int64_t nodes;

    if (*env_text("EVENSTEP_AGENT", "")               /* --local */
        || (*own && *env_text("EVENSTEP_SEATS", ""))) /* maybe another job's */
        return own;
    if (!front_address_is_loopback(srun))
        return srun;
    if (!*own && env_number("SLURM_STEP_NUM_NODES", 1, UINT32_MAX, &nodes) == 0
        && nodes == 1)
        return srun;
    return own;
}

/* 10.0.0.1:PORT, [fe80::1%eth0]:PORT, or :PORT */
static int parse_front_end(struct agent_setup *s, const char *text)
{
    char own[ADDRESS_MAX];
    struct address a;

    if (address_split(own, &s->front_port, text) < 0)
        return -1;
    snprintf(s->front_address, sizeof s->front_address, "%s",
             choose_front_end(own));
    return address_parse(&a, s->front_address, 0);
}

static int parse_ports(struct agent_setup *s, const char *text)
{
    unsigned low, high;
    int end = 0;

    if (sscanf(text, "%5u-%5u%n", &low, &high, &end) != 2 || text[end]
        || low > high || high > UINT16_MAX)
        return -1;
    s->ports.low = (uint16_t)low;
    s->ports.high = (uint16_t)high;
    return 0;
}

/* Of "n2=4 n3=5" the number of that node, or "". */
static void find_seat(const char *seats, const char *node, char own[24])
{
    size_t len = strlen(node);

    own[0] = '\0';
    for (const char *at = seats; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, node, len) == 0 && at[len] == '=')
            snprintf(own, 24, "%.*s", (int)strcspn(at + len + 1, " "),
                     at + len + 1);
    }
}

/* Which of the agents we are, where PMIx does not say it. */
static int parse_rank(struct agent_setup *s)
{
    const char *seats = env_text("EVENSTEP_SEATS", "");
    int64_t rank, agents;
    char own[24];

    s->by_tcp =
        wireup_way_find(env_text("EVENSTEP_WIREUP", "pmix")) == WIREUP_TCP;
    if (!s->by_tcp)
        return 0;
    if (number_parse_int(
            env_text("EVENSTEP_AGENTS", env_text("SLURM_STEP_NUM_TASKS", "")),
            1, AGENTS_MAX, &agents)
        < 0)
        return -1;
    if (*seats) {
        s->joins = 1;
        find_seat(seats, s->node, own);
    } else {
        snprintf(own, sizeof own, "%s",
                 env_text("EVENSTEP_RANK", env_text("SLURM_PROCID", "")));
    }
    if (number_parse_int(own, 0, agents - 1, &rank) < 0)
        return -1;
    s->agents = (uint32_t)agents;
    s->rank = (uint32_t)rank;
    return 0;
}

static int setup_from_environ(struct agent_setup *s, struct es_error *err)
{
    const char *front_end = env_text("EVENSTEP_FRONT_END", "");
    int64_t job, step, speed, encrypt, comment;

    snprintf(s->node, sizeof s->node, "%s",
             env_text("EVENSTEP_AGENT", env_text("SLURMD_NODENAME", "")));
    if (!s->node[0]
        || secret_from_hex(&s->secret, env_text("EVENSTEP_SECRET", "")) < 0)
        return es_fail(err, ES_USAGE, by_hand, "no secret or node name");
    rack_find(s->rack, sizeof s->rack, env_text("SLURM_TOPOLOGY_ADDR", ""),
              env_text("SLURM_TOPOLOGY_ADDR_PATTERN", ""));
    if (parse_front_end(s, front_end) < 0)
        return front_end[0] == ':' /* its address is for Slurm to say */
                   ? es_fail(err, ES_ENV,
                             "give the host of srun an address that the nodes "
                             "reach",
                             "%s: no front end to call: Slurm says %s", s->node,
                             env_text("SLURM_LAUNCH_NODE_IPADDR", "nothing"))
                   : es_fail(err, ES_USAGE, by_hand, "no front end to call");
    if (parse_ports(s, env_text("EVENSTEP_PORTS", "0-0")) < 0)
        return es_fail(err, ES_USAGE, by_hand, "no ports");
    if (env_number("SLURM_JOB_ID", 0, UINT32_MAX, &job) < 0
        || env_number("SLURM_STEP_ID", 0, UINT32_MAX, &step) < 0
        || env_number("EVENSTEP_SPEED", 0, 1000000, &speed) < 0
        || env_number("EVENSTEP_ENCRYPT", 0, 1, &encrypt) < 0
        || env_number(COMMENT_FD, 0, INT_MAX, &comment) < 0
        || parse_rank(s) < 0)
        return es_fail(err, ES_USAGE, by_hand,
                       "bad numbers in the environment");
    s->sysfs = env_text("EVENSTEP_SYSFS", "/sys");
    s->interfaces = env_text("EVENSTEP_INTERFACE", "");
    if (network_list_check(s->interfaces) < 0)
        s->interfaces = "";
    s->job = (uint32_t)job;
    s->step = (uint32_t)step;
    s->speed_pct = (int)speed;
    s->comment_fd = (int)comment;
    if (s->comment_fd > 0) /* not for the commands */
        (void)fcntl(s->comment_fd, F_SETFD, FD_CLOEXEC);
    s->secret.encrypt = (uint32_t)encrypt;
    s->environ = env_list_make(environ, is_for_commands, NULL);
    if (!s->environ)
        return es_no_memory(err);
    return 0;
}

static int serve(struct es_error *err)
{
    struct agent_setup setup = {0};
    int rc;

    if (setup_from_environ(&setup, err) < 0)
        return -1;
    (void)signal(SIGPIPE, SIG_IGN); /* a closed connection is an error code */
    (void)signal(SIGXFSZ, SIG_IGN); /* so is the limit of a file (ulimit -f) */
    rc = agent_serve(&setup, err);
    free(setup.environ);
    return rc;
}

int main(int argc, char **argv)
{
    struct es_error err = {0};
    int rc;

    if (argc > 1 && strcmp(argv[1], "--probe") == 0)
        rc = agent_probe_main(argc - 2, argv + 2, &err);
    else if (argc > 1 && strcmp(argv[1], "--tasks") == 0)
        rc = task_runner_main(argc - 2, argv + 2, &err);
    else if (argc == 1)
        rc = serve(&err);
    else
        rc = es_fail(&err, ES_USAGE, by_hand, "unexpected argument \"%s\"",
                     argv[1]);
    if (rc >= 0)
        return rc;
    notice_error("evenstep-agent", &err);
    return (int)err.kind;
}
