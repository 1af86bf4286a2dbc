/* SPDX-License-Identifier: BSD-2-Clause */
/* What Slurm's commands are asked, and told; there are none of them here. */
#include "launcher/companion.h"
#include "tap.h"

#include <event2/event.h>
#include <stdlib.h>

static int has_word(char *const argv[], const char *word)
{
    for (; *argv; argv++)
        if (strcmp(*argv, word) == 0)
            return 1;
    return 0;
}

/* The nodes of step 7.0, which has n; -1 if scontrol was asked. */
static int nodes_of_step(struct event_base *base,
                         uint32_t n,
                         struct companion_place *place)
{
    struct es_error err = {ES_OK, "", ""};

    *place = (struct companion_place){0};
    if (companion_step_nodes(base, 7, 0, n, place, &err) == 0)
        return 0;
    return err.kind == ES_ENV && strstr(err.what, "scontrol") ? -1 : 1;
}

static void test_nodes(struct event_base *base)
{
    struct companion_place place;
    char **argv = NULL;

    is_int(nodes_of_step(base, 4, &place), 0,
           "the nodes of a step that has all of its allocation are known");
    ok(companion_argv(&argv, &place, "/agent", NULL) == 0
           && has_word(argv, "--jobid=7") && has_word(argv, "--nodes=4")
           && has_word(argv, "/agent"),
       "its companion has them all, too");
    companion_argv_free(argv);
    is_str(companion_fence(&place), "tree", "and Slurm's own messages do");
    is_int(nodes_of_step(base, 3, &place), -1,
           "those of one that has some are asked for");
    is_int(nodes_of_step(base, 0, &place), -1, "or that does not say");
    setenv("SLURM_JOB_ID", "8", 1);
    is_int(nodes_of_step(base, 4, &place), -1, "or is of another allocation");
    unsetenv("SLURM_JOB_NUM_NODES");
    setenv("SLURM_JOB_ID", "7", 1);
    is_int(nodes_of_step(base, 4, &place), -1, "or of one that does not say");
}

static void test_drops(void)
{
    ok(companion_drops("SLURM_NTASKS=8") && companion_drops("EVENSTEP_HOME=x"),
       "what shapes the job's own tasks is not the companion's");
    ok(!companion_drops("SLURM_JOB_ID=7") && !companion_drops("PATH=/bin"),
       "the rest is");
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
    test_nodes(base);
    test_drops();
    test_pmix();
    event_base_free(base);
    return done();
}
