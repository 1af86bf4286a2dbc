/* SPDX-License-Identifier: BSD-2-Clause */
/* What Slurm's commands are asked, and told; there are none of them here. */
#include "launcher/session/companion.h"
#include "tap.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int has_word(char *const argv[], const char *word)
{
    for (; *argv; argv++)
        if (strcmp(*argv, word) == 0)
            return 1;
    return 0;
}

static int has_list(char *const argv[])
{
    for (; *argv; argv++)
        if (strncmp(*argv, "--nodelist=", 11) == 0)
            return 1;
    return 0;
}

static char **argv_of(const struct companion_place *place)
{
    char **argv = NULL;

    if (companion_argv(&argv, place, "/agent", NULL) < 0)
        bail("no words");
    return argv;
}

static void test_nodes(void)
{
    struct companion_place whole = {.job = 7}, part = {.job = 7},
                           other = {.job = 8};
    struct companion_place users = {.srun_args = "-N2"};
    char **argv;

    ok(companion_is_whole(7, 4), "a step of 4 nodes has all of its allocation");
    ok(!companion_is_whole(7, 3) && !companion_is_whole(7, 0)
           && !companion_is_whole(8, 4),
       "one of fewer, of another job, or that does not say may have less");
    argv = argv_of(&whole);
    ok(has_word(argv, "--jobid=7") && has_word(argv, "--nodes=4")
           && has_word(argv, "--nodelist=n[0-3]") && has_word(argv, "/agent"),
       "its companion has them all, too, by their names");
    companion_argv_free(argv);
    is_str(companion_fence(&whole), "tree", "and Slurm's own messages do");
    is_int(companion_nodes(&whole), 4, "and must have 4 agents");
    strcpy(part.nodes, "n[1-2]");
    part.n_nodes = 2;
    argv = argv_of(&part);
    ok(has_word(argv, "--nodes=2") && has_word(argv, "--nodelist=n[1-2]"),
       "of a part it has that part");
    companion_argv_free(argv);
    is_int(companion_nodes(&part), 2, "and 2 agents");
    argv = argv_of(&users);
    ok(!has_list(argv) && has_word(argv, "-N2"),
       "whoever gives arguments for srun chooses the nodes");
    companion_argv_free(argv);
    is_int(companion_nodes(&users), 0, "and how many they are");
    argv = argv_of(&other);
    ok(!has_list(argv), "the nodes of another job are not known");
    companion_argv_free(argv);
    is_int(companion_nodes(&other), 0, "nor how many they are");
    is_str(companion_job_nodes(), "n[0-3]", "those of our job are");
}

static void test_leave_out(void)
{
    struct companion_place whole = {.job = 7}, users = {.srun_args = "-N2"};
    char **argv = argv_of(&whole);

    is_int(companion_leave_out(argv, "n2", 3), 0, "a node is left out");
    ok(!has_list(argv) && has_word(argv, "--exclude=n2")
           && has_word(argv, "--nodes=3") && has_word(argv, "/agent"),
       "and the others are as many as are left");
    is_int(companion_leave_out(argv, "n2,n[0-1]", 1), 0, "and two more");
    ok(has_word(argv, "--exclude=n2,n[0-1]") && has_word(argv, "--nodes=1"),
       "of all of them");
    is_int(companion_take_only(argv, "n0,n3", 2), 0, "or only some are taken");
    ok(has_word(argv, "--nodelist=n0,n3") && has_word(argv, "--nodes=2")
           && !has_word(argv, "--exclude=n2,n[0-1]"),
       "which are named");
    companion_argv_free(argv);
    argv = argv_of(&users);
    is_int(companion_leave_out(argv, "n2", 1), -1,
           "not where the user chooses the nodes");
    companion_argv_free(argv);
}

/* Slurm tells the shell of one that is heterogeneous of its first component, as
 * if that was all (sbatch), or of none (salloc). */
static void test_heterogeneous(void)
{
    struct companion_place whole = {.job = 0}, second = {.job = 8};
    struct companion_place users = {.srun_args = "--het-group=1"};
    char **argv;

    setenv("SLURM_HET_SIZE", "2", 1);
    is_int(companion_nodes(&whole), 4,
           "a step of two components, but no such job, has one's nodes");
    setenv("SLURM_JOB_NODELIST_HET_GROUP_0", "n[0-3]", 1);
    setenv("SLURM_JOB_NODELIST_HET_GROUP_1", "m0,m2", 1);
    is_int(companion_nodes(&whole), 0, "Slurm does not tell how many: none");
    setenv("SLURM_JOB_NUM_NODES_HET_GROUP_0", "4", 1);
    setenv("SLURM_JOB_NUM_NODES_HET_GROUP_1", "2", 1);
    setenv("SLURM_JOB_ID_HET_GROUP_0", "7", 1);
    setenv("SLURM_JOB_ID_HET_GROUP_1", "8", 1);
    is_int(companion_nodes(&whole), 6, "all components have agents");
    is_str(companion_job_nodes(), "n[0-3],m0,m2", "on the nodes of each");
    ok(companion_is_whole(7, 6) && !companion_is_whole(7, 4),
       "one component is not the whole job");
    argv = argv_of(&whole);
    ok(has_word(argv, "--het-group=0-1") && !has_list(argv)
           && !has_word(argv, "--nodes=4"),
       "srun starts one step over all of them");
    companion_argv_free(argv);
    argv = argv_of(&users);
    ok(has_word(argv, "--het-group=1"), "the user may name another");
    companion_argv_free(argv);
    strcpy(second.nodes, "m2");
    second.n_nodes = 1;
    argv = argv_of(&second);
    ok(has_word(argv, "--jobid=7") && has_word(argv, "--het-group=1")
           && has_word(argv, "--nodelist=m2"),
       "a step of the second alone: by the id of all");
    companion_argv_free(argv);
    unsetenv("SLURM_HET_SIZE");
    is_str(companion_job_nodes(), "n[0-3]", "else it is as ever");
}

/* What srun(1) of 22.05 to 24.11 takes from the environment, some of what it
 * does not tell (SLURM_HOSTFILE is told elsewhere), what its own tasks have,
 * and what bends our other commands. */
static const char *const drops[] = {
    "SLURM_HOSTFILE=h",
    "SLURM_ARBITRARY_NODELIST=n0,n0",
    "SRUN_CPUS_PER_TASK=64",
    "SRUN_CONTAINER=/c",
    "SRUN_EXPORT_ENV=NONE",
    "SRUN_ERROR=x",
    "SRUN_SEGMENT_SIZE=2",
    "SLURM_CONSTRAINT=fast",
    "SLURM_TIMELIMIT=1",
    "SLURM_NETWORK=x",
    "SLURM_NTASKS=8",
    "SLURM_NPROCS=8",
    "SLURM_NNODES=1",
    "SLURM_NODELIST=n0",
    "SLURM_CPUS_PER_TASK=3",
    "SLURM_TASKS_PER_NODE=3",
    "SLURM_MPI_TYPE=none",
    "SLURM_PARTITION=x",
    "SLURM_RESERVATION=x",
    "SLURM_QOS=x",
    "SLURM_ACCOUNT=x",
    "SLURM_GRES=gpu:9",
    "SLURM_STEP_GRES=gpu:9",
    "SLURM_GPUS_PER_NODE=1",
    "SLURM_TRES_BIND=gpu:single",
    "SLURM_REMOTE_CWD=/x",
    "SLURM_WORKING_DIR=/x",
    "SLURM_PROLOG=/x",
    "SLURM_EPILOG=/x",
    "SLURM_BCAST=/x",
    "SLURM_TEST_EXEC=1",
    "SLURM_DEBUG=5",
    "SLURMD_DEBUG=5",
    "SLURM_SIGNAL=TERM@9",
    "SLURM_NO_KILL=off",
    "SLURM_THREADS=1",
    "SLURM_UNHEARD_OF=1",
    "SLURM_PMIX_FENCE=ring",
    "SLURM_PMIX_MAPPING_SERV=x",
    "SLURM_STEP_ID=3",
    "SLURM_PROCID=3",
    "SLURM_LAUNCH_NODE_IPADDR=127.0.0.1",
    "SLURM_TOPOLOGY_ADDR=s0.n0",
    "SCANCEL_INTERACTIVE=1",
    "SINFO_PARTITION=x",
    "SQUEUE_STATES=PD",
    "SQUEUE_FORMAT=x",
    "SACCT_FEDERATION=1",
    "SCONTROL_ALL=1",
    "EVENSTEP_FRONT_END=x",
    "EVENSTEP_SECRET=x",
    "EVENSTEP_AGENT=x",
    "EVENSTEP_SPEED=10",
};
static const char *const passes[] = {
    "PATH=/bin",
    "SLURM_CONF=/etc/slurm.conf",
    "SLURM_JWT=x",
    "SLURM_WORKING_CLUSTER=c",
    "SLURM_CLUSTER_NAME=c",
    "SLURM_JOB_ID=7",
    "SLURM_JOBID=7",
    "SLURM_JOB_NODELIST=n[0-3]",
    "SLURM_JOB_NUM_NODES=4",
    "SLURM_JOB_NAME=x",
    "SLURM_ARRAY_TASK_ID=3",
    "SLURM_SUBMIT_DIR=/x",
    "SLURMD_NODENAME=n0",
    "SLURM_PMIX_TMPDIR=/x",
    "SLURM_PMIX_DIRECT_CONN_EARLY=1",
    "SLURMISH=1",
    "EVENSTEP_CONF=/x",
};

static void test_drops(void)
{
    char **env;
    size_t n = 0, bad = 0;

    for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++)
        ok(companion_drops(drops[i]), "%s does not reach srun", drops[i]);
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++)
        ok(!companion_drops(passes[i]), "%s does", passes[i]);
    setenv("SLURM_HOSTFILE", "h", 1);
    env = companion_environ();
    for (; env && env[n]; n++)
        bad += strncmp(env[n], "SLURM_HOSTFILE=", 15) == 0;
    ok(n > 2 && bad == 0 && has_word(env, "SLURM_JOB_ID=7"),
       "an environment has what is let through");
    free(env);
}

/* Write a slurm.conf of this text, and another that it may include. */
static void write_conf(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");

    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        bail("%s cannot be written", name);
}

static const struct {
    const char *name, *text;
    uint16_t low, high; /* high 1: scontrol is asked */
} confs[] = {
    {"no range", "ClusterName=c\n#SrunPortRange=1-2\n", 0, 0},
    {"a range", "ClusterName=c\nSrunPortRange=60001-60999\n", 60001, 60999},
    {"any case, blanks, a comment", "  srunPORTrange = 60001-60999 # ours\n",
     60001, 60999},
    {"one of several on a line",
     "SlurmctldPort=1 SrunPortRange=60001-60999 SlurmdPort=2", 60001, 60999},
    {"a line that goes on", "SrunPort\\\nRange=60001-\\\n60999\nA=b\n", 60001,
     60999},
    {"the last of two", "SrunPortRange=1-2\nSrunPortRange=60001-60999\n", 60001,
     60999},
    {"a key that begins so", "SrunPortRangeX=1-2\nXSrunPortRange=1-2\n", 0, 0},
    {"an included file", "Include conf-more\n", 61001, 61999},
    {"one that is not there", "SrunPortRange=1-2\nInclude conf-none\n", 0, 1},
    {"one of the cluster's name", "include conf-%c\n", 0, 1},
    {"one that includes itself", "Include conf-test\n", 0, 1},
    {"a value between quotes", "SrunPortRange=\"60001-60999\"\n", 0, 1},
};

/* Where slurm.conf tells the ports, scontrol, which is none here, is not
 * asked. */
static void test_ports(struct event_base *base)
{
    struct es_error err;
    struct port_range p;

    setenv("SLURM_CONF", "./conf-test", 1);
    write_conf("conf-more", "SrunPortRange=61001-61999\n");
    for (size_t i = 0; i < sizeof confs / sizeof confs[0]; i++) {
        int want = confs[i].high == 1 ? -1 : 0, rc;

        err = (struct es_error){ES_OK, "", ""};
        write_conf("conf-test", confs[i].text);
        rc = companion_ports(base, &p, &err);
        ok(rc == want && (rc < 0 || p.low == confs[i].low)
               && (rc < 0 || p.high == confs[i].high)
               && (rc == 0 || strstr(err.what, "scontrol")),
           "slurm.conf with %s", confs[i].name);
    }
    unlink("conf-test");
    unlink("conf-more");
    ok(companion_ports(base, &p, &err) < 0, "scontrol is, where there is none");
}

/* srun's own words, as Slurm 22.05 and 24.11 print them. */
static void test_pmix(void)
{
    struct companion_place place = {0};
    char **argv = NULL;

    ok(companion_argv(&argv, &place, "/agent", NULL) == 0
           && has_word(argv, "--mpi=pmix"),
       "the companion step has PMIx");
    ok(companion_leave_pmix(argv) == 0 && has_word(argv, "--mpi=none")
           && !has_word(argv, "--mpi=pmix"),
       "or has not");
    companion_argv_free(argv);
    ok(companion_lacks_pmix("srun: error: cannot find mpi plugin for mpi/pmix")
           && companion_lacks_pmix("srun: error: Invalid MPI type 'pmix', "
                                   "--mpi=list for acceptable types")
           && companion_lacks_pmix("evenstep-agent: PMIx_Init: UNREACHABLE"),
       "what is said where it is not to be had is known");
    ok(!companion_lacks_pmix("")
           && !companion_lacks_pmix("srun: error: Unable "
                                    "to create step"),
       "other words are not taken for it");
    ok(companion_drops("EVENSTEP_RANK=7")
           && companion_drops("EVENSTEP_WIREUP="),
       "nobody else tells an agent who it is");
}

int main(void)
{
    struct event_base *base = event_base_new();

    if (!base)
        bail("no event loop");
    setenv("PATH", "/nonexistent", 1);
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NUM_NODES", "4", 1);
    setenv("SLURM_JOB_NODELIST", "n[0-3]", 1);
    test_nodes();
    test_leave_out();
    test_heterogeneous();
    test_drops();
    test_pmix();
    test_ports(base);
    event_base_free(base);
    return done();
}
