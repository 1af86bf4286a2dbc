/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/companion.h"
#include "launcher/base/env_list.h"
#include "launcher/base/number.h"
#include "launcher/base/scontrol_output.h"
#include "launcher/base/slurm_conf.h"
#include "launcher/exec/answer.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#define CANCEL_TIMES   20    /* every quarter of a second */
#define COMMAND_MS     10000 /* how long one of Slurm's commands may take */
#define COMPONENTS_MAX 128   /* of a heterogeneous job, as Slurm has it */

#define NODES    "--nodes="
#define NODELIST "--nodelist="
#define EXCLUDE  "--exclude="
#define MPI_PMIX "--mpi=pmix"
#define MPI_NONE "--mpi=none"

static const char mend_slurm[] =
    "see that Slurm's commands are in PATH and slurmctld is up (scontrol ping)";

/* --- running one of Slurm's commands -------------------------------------- */

/* Run argv to its end; its stdout is in a->text.  0 if it exits 0. */
static int ask_slurm(struct answer *a,
                     struct event_base *base,
                     char *const argv[],
                     int limit_ms,
                     struct es_error *err)
{
    char **env = companion_environ();
    int rc;

    memset(a, 0, sizeof *a);
    if (!env)
        return es_no_memory(err);
    rc = answer_ask(a, base, argv, env, limit_ms);
    free(env);
    return rc == 0
               ? 0
               : es_fail(err, ES_ENV, mend_slurm, "%s: %s", argv[0], a->error);
}

int companion_ports(struct event_base *base,
                    struct port_range *ports,
                    struct es_error *err)
{
    char scontrol[] = "scontrol", show[] = "show", config[] = "config";
    char *argv[] = {scontrol, show, config, NULL};
    char value[64];
    struct answer a;
    int rc;

    memset(ports, 0, sizeof *ports);
    if (slurm_conf_find("SrunPortRange", value, sizeof value) == 0) {
        *ports = scontrol_port_range(value);
        return 0;
    }
    rc = ask_slurm(&a, base, argv, COMMAND_MS, err);
    if (rc == 0)
        *ports = scontrol_ports(a.text);
    answer_clear(&a);
    return rc;
}

/* --- the allocation ------------------------------------------------------- */

/* A number from the environment, 0 if there is none. */
static uint32_t number_of(const char *name)
{
    const char *text = getenv(name);
    int64_t n;

    return text && number_parse_int(text, 1, UINT32_MAX, &n) == 0 ? (uint32_t)n
                                                                  : 0;
}

/* What Slurm says of one component of a heterogeneous job. */
static const char *of_component(const char *what, uint32_t i, char name[64])
{
    snprintf(name, 64, "SLURM_JOB_%s_HET_GROUP_%u", what, i);
    return getenv(name);
}

/* How many components our allocation has; 0: it is not heterogeneous. */
static uint32_t components(void)
{
    uint32_t n = number_of("SLURM_HET_SIZE");
    char name[64];

    if (n > COMPONENTS_MAX)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        if (!of_component("NODELIST", i, name))
            return 0; /* no allocation, but a step that srun made one for */
    return n;
}

/* How many nodes has it?  0: that is not known. */
static uint32_t count_nodes(void)
{
    uint32_t n = components(), sum = 0;
    char name[64];

    if (n == 0)
        return number_of("SLURM_JOB_NUM_NODES");
    for (uint32_t i = 0; i < n; i++) {
        (void)of_component("NUM_NODES", i, name);
        if (number_of(name) == 0)
            return 0;
        sum += number_of(name);
    }
    return sum;
}

/* Which component has this job id of its own?  -1: none, or the first, whose is
 * the id of all. */
static int component_of(uint32_t job)
{
    uint32_t n = components();
    char name[64];

    for (uint32_t i = 1; i < n; i++) {
        (void)of_component("ID", i, name);
        if (number_of(name) == job)
            return (int)i;
    }
    return -1;
}

const char *companion_job_nodes(void)
{
    static char *all;
    uint32_t n = components();
    char name[64];

    if (n == 0)
        return getenv("SLURM_JOB_NODELIST");
    for (uint32_t i = 0; i < n; i++) {
        char *longer = NULL;
        int rc = asprintf(&longer, "%s%s%s", i ? all : "", i ? "," : "",
                          of_component("NODELIST", i, name));

        free(all);
        all = rc < 0 ? NULL : longer;
        if (!all)
            return NULL;
    }
    return all;
}

int companion_is_whole(uint32_t job, uint32_t n_nodes)
{
    return job == companion_job_from_environ() && n_nodes > 0
           && n_nodes == count_nodes();
}

char *companion_ask(struct event_base *base,
                    char *const argv[],
                    struct es_error *err)
{
    struct answer a;

    if (ask_slurm(&a, base, argv, COMMAND_MS, err) == 0)
        return a.text;
    answer_clear(&a);
    return NULL;
}

char *companion_step_layout(struct event_base *base,
                            uint32_t job,
                            uint32_t step,
                            struct es_error *err)
{
    char sattach[] = "sattach", layout[] = "--layout", id[32];
    char *argv[] = {sattach, layout, id, NULL};

    snprintf(id, sizeof id, "%u.%u", job, step);
    return companion_ask(base, argv, err);
}

char *companion_hostnames(struct event_base *base,
                          const char *list,
                          struct es_error *err)
{
    char scontrol[] = "scontrol", show[] = "show", names[] = "hostnames";
    char *own = strdup(list), *text = NULL;
    char *argv[] = {scontrol, show, names, own, NULL};

    if (own)
        text = companion_ask(base, argv, err);
    else
        (void)es_no_memory(err);
    free(own);
    return text;
}

void companion_cancel(struct event_base *base, uint32_t job, uint32_t step)
{
    char scancel[] = "scancel", kill[] = "--signal=KILL", id[32];
    char *argv[] = {scancel, kill, id, NULL};
    struct answer a;

    snprintf(id, sizeof id, "%u.%u", job, step);
    (void)ask_slurm(&a, base, argv, COMMAND_MS,
                    NULL); /* the last means there is */
    answer_clear(&a);
}

/* Waits in the child of a fork, where little may be called. */
static int scancel_says(char *argv[], char *envp[])
{
    pid_t pid;
    int status;

    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, envp) != 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

void companion_cancel_next(uint32_t job, uint32_t step)
{
    static const struct timespec nap = {.tv_nsec = 250000000};
    char scancel[] = "scancel", quiet[] = "-Q", kill[] = "--signal=KILL",
         id[32];
    char *argv[] = {scancel, quiet, kill, id, NULL};
    char **env = companion_environ();

    snprintf(id, sizeof id, "%u.%u", job, step);
    if (env && fork() == 0) {
        int null = open("/dev/null", O_RDWR);

        (void)setsid();
        for (int fd = 0; fd < 3; fd++) /* srun waits for the end of ours */
            (void)dup2(null, fd);
        for (int i = 0; i < CANCEL_TIMES; i++) {
            (void)nanosleep(&nap, NULL);
            if (scancel_says(argv, env) != 0)
                break; /* it is over */
        }
        _exit(0);
    }
    free(env);
}

/* --- the companion step --------------------------------------------------- */

uint32_t companion_job_from_environ(void)
{
    return number_of("SLURM_JOB_ID");
}

/* Does it begin with one of these? */
static int is_one_of(const char *entry, const char *const *start)
{
    for (; *start; start++)
        if (strncmp(entry, *start, strlen(*start)) == 0)
            return 1;
    return 0;
}

int companion_drops(const char *entry)
{
    /* They are set for each agent, or are --local's. */
    static const char *const ours[] = {"EVENSTEP_SECRET=",
                                       "EVENSTEP_COMPANION=",
                                       "_SLURM_SPANK_OPTION_evenstep_",
                                       "EVENSTEP_FRONT_END=",
                                       "EVENSTEP_PORTS=",
                                       "EVENSTEP_ENCRYPT=",
                                       "EVENSTEP_WIREUP=",
                                       "EVENSTEP_RANK=",
                                       "EVENSTEP_AGENTS=",
                                       "EVENSTEP_AGENT=",
                                       "EVENSTEP_SEATS=",
                                       "EVENSTEP_SPEED=",
                                       "EVENSTEP_LOCAL=",
                                       "EVENSTEP_PLUGIN_WAITS=",
                                       "EVENSTEP_PLUGIN=",
                                       NULL};
    /* What Slurm's commands take for options of theirs. */
    static const char *const slurm[] = {
        "SLURM_",   "SRUN_",  "SLURMD_", "SCONTROL_", "SATTACH_",
        "SCANCEL_", "SINFO_", "SQUEUE_", "SACCT_",    NULL};
    /* But: where the cluster is and who we are to it, which job this is, and
     * how PMIx is to work there; none of it shapes a step.  srun(1), "INPUT
     * ENVIRONMENT VARIABLES", and what libslurm reads beside them. */
    static const char *const kept[] = {
        "SLURM_CONF=",
        "SLURM_CONF_SERVER=",
        "SLURM_CLUSTERS=",
        "SLURM_CLUSTER_NAME=",
        "SLURM_WORKING_CLUSTER=",
        "SLURM_NODE_ALIASES=",
        "SLURM_JWT=",
        "SLURM_SACK_",
        "SLURM_JOB_",
        "SLURM_JOBID=",
        "SLURM_HET_SIZE=",
        "SLURM_ARRAY_",
        "SLURM_RESTART_COUNT=",
        "SLURM_SUBMIT_",
        "SLURMD_NODENAME=",
        "SLURM_PMIX_DIRECT_CONN",
        "SLURM_PMIX_SAMEARCH=",
        "SLURM_PMIX_TIMEOUT=",
        "SLURM_PMIX_TMPDIR=",
        NULL,
    };

    return is_one_of(entry, ours)
           || (is_one_of(entry, slurm) && !is_one_of(entry, kept));
}

static int companion_keeps(const char *entry)
{
    return !companion_drops(entry);
}

char **companion_environ(void)
{
    return env_list_make(environ, companion_keeps, NULL);
}

/* Does the companion step run on every node of its job? */
static int is_whole(const struct companion_place *place)
{
    if (place->srun_args)
        return 0; /* may be: who knows */
    if (place->n_nodes == 0 || place->job != companion_job_from_environ())
        return 1; /* all of it, or srun's own allocation for its one step */
    return place->n_nodes == count_nodes();
}

uint32_t companion_nodes(const struct companion_place *place)
{
    if (place->srun_args)
        return 0;
    if (place->n_nodes)
        return place->n_nodes;
    if (place->job && place->job != companion_job_from_environ())
        return 0;
    return count_nodes();
}

const char *companion_fence(const struct companion_place *place)
{
    return is_whole(place) ? "tree" : COMPANION_FENCE_PART;
}

struct words {
    char **word;
    size_t n, cap;
    int bad;
};

__attribute__((format(printf, 2, 3))) static void add(struct words *w,
                                                      const char *fmt,
                                                      ...)
{
    va_list ap;
    /* With the NULL behind the last. */
    char **word =
        array_grow(w->word, &w->cap, w->n + 2, sizeof *word, SIZE_MAX);

    if (!word) {
        w->bad = 1;
        return;
    }
    w->word = word;
    va_start(ap, fmt);
    if (vasprintf(&w->word[w->n], fmt, ap) < 0)
        w->bad = 1;
    else
        w->n++;
    va_end(ap);
    w->word[w->n] = NULL;
}

/* All nodes by their names, too: so nothing can put two agents on one.  But for
 * all components of a job: each has its own, and srun takes them all. */
static void add_place(struct words *w, const struct companion_place *place)
{
    const char *nodes = getenv("SLURM_JOB_NUM_NODES");
    const char *list = companion_job_nodes();
    int component = place->job ? component_of(place->job) : -1;
    uint32_t n = place->n_nodes ? 0 : components();

    if (component >= 0) {
        add(w, "--jobid=%u", companion_job_from_environ());
        add(w, "--het-group=%d", component);
    } else if (place->job) {
        add(w, "--jobid=%u", place->job);
    }
    if (place->n_nodes) {
        add(w, NODES "%u", place->n_nodes);
        add(w, NODELIST "%s", place->nodes);
    } else if (n > 1) {
        add(w, "--het-group=0-%u", n - 1);
    } else if (nodes) {
        add(w, NODES "%s", nodes);
        if (list && companion_nodes(place) > 0)
            add(w, NODELIST "%s", list);
    }
}

/* The user's words as a shell would see them, but nothing is run. */
static int add_user(struct words *w, const char *text, struct es_error *err)
{
    wordexp_t user;

    if (!text)
        return 0;
    if (wordexp(text, &user, WRDE_NOCMD) != 0)
        return es_fail(err, ES_USAGE, "quote it as for a shell",
                       "--srun: \"%s\" cannot be read as words", text);
    for (size_t i = 0; i < user.we_wordc; i++)
        add(w, "%s", user.we_wordv[i]);
    wordfree(&user);
    return 0;
}

int companion_argv(char ***argv,
                   const struct companion_place *place,
                   const char *agent_path,
                   struct es_error *err)
{
    /* One agent a node beside whatever runs there, on every CPU of the job;
     * a lost node or agent does not end the others; no -c, which in 22.05
     * means exactly that many CPUs. */
    static const char *const fixed[] = {
        "srun",
        "--overlap",
        MPI_PMIX,
        "--ntasks-per-node=1",
        "--mem=0",
        "--cpu-bind=none",
        "--no-kill",
        "--wait=0",
        "--kill-on-bad-exit=0",
        "--input=none",
        "--label", /* srun_words.h */
        "--export=ALL",
        "--job-name=evenstep",
    };
    struct words w = {0};
    int rc;

    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add(&w, "%s", fixed[i]);
    add_place(&w, place);
    rc = add_user(&w, place->srun_args, err);
    add(&w, "%s", agent_path);
    if (rc == 0 && w.bad)
        rc = es_no_memory(err);
    if (rc < 0) {
        companion_argv_free(w.word);
        return -1;
    }
    *argv = w.word;
    return 0;
}

int companion_leave_pmix(char **argv)
{
    for (; *argv; argv++)
        if (strcmp(*argv, MPI_PMIX) == 0) {
            char *none = strdup(MPI_NONE);

            if (!none)
                return -1;
            free(*argv);
            *argv = none;
        }
    return 0;
}

static int replace(char **word, const char *option, const char *value)
{
    char *other;

    if (asprintf(&other, "%s%s", option, value) < 0)
        return -1;
    free(*word);
    *word = other;
    return 0;
}

/* Which nodes, by one of the options that say so. */
static int set_nodes(char **argv,
                     const char *option,
                     const char *list,
                     uint32_t n)
{
    char **nodes = NULL, **which = NULL, text[16];

    snprintf(text, sizeof text, "%u", n);
    for (; *argv; argv++) {
        if (strncmp(*argv, NODES, strlen(NODES)) == 0)
            nodes = argv;
        if (strncmp(*argv, NODELIST, strlen(NODELIST)) == 0
            || strncmp(*argv, EXCLUDE, strlen(EXCLUDE)) == 0)
            which = argv;
    }
    if (!nodes || !which)
        return -1;
    return replace(nodes, NODES, text) < 0 || replace(which, option, list) < 0
               ? -1
               : 0;
}

int companion_leave_out(char **argv, const char *list, uint32_t left)
{
    return set_nodes(argv, EXCLUDE, list, left);
}

int companion_take_only(char **argv, const char *list, uint32_t n)
{
    return set_nodes(argv, NODELIST, list, n);
}

/* srun puts the one that it takes there, by --mpi or MpiDefault, before the
 * plugin starts anything. */
int companion_step_has_pmix(void)
{
    const char *type = getenv("SLURM_MPI_TYPE");

    return type && strncmp(type, "pmix", 4) == 0;
}

/* srun 22.05 to 26.05 where it has no such plugin: "cannot find mpi plugin for
 * mpi/pmix", "Invalid MPI type 'pmix'"; a slurmstepd that has none says the
 * first.  An agent of ours where the plugin is there and serves another PMIx:
 * "PMIx_Init: ...". */
int companion_lacks_pmix(const char *said)
{
    static const char *const words[] = {"mpi/pmix", "MPI type", "PMIx_Init"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(said, words[i]))
            return 1;
    return 0;
}

void companion_argv_free(char **argv)
{
    for (size_t i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
}
