/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/slice_spec.h"
#include "launcher/agent/alone.h"
#include "launcher/agent/brought.h"
#include "launcher/agent/places.h"
#include "launcher/exec/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a slice's type of work runs; NULL: nobody has said. */
static char *const *command_of(const struct slot_common *c,
                               const struct msg_run *run)
{
    if (!run->work[0])
        return c->command.argv;
    for (size_t i = 0; i < c->works; i++)
        if (strcmp(c->work[i].name, run->work) == 0)
            return c->work[i].argv;
    return NULL;
}

int slice_spec_is_known(const struct slot_common *c, const struct msg_run *run)
{
    return c->command.argv && command_of(c, run);
}

/* The CPUs and the GPU that are the slot's own, or a task's. */
static int take_place(struct execution_spec *spec,
                      const struct slot_owner *owner,
                      const struct msg_run *run)
{
    const struct slot_common *c = owner->common;
    const struct place *place = owner->place;
    char **env = (char **)spec->envp;
    int rc = 0;

    if (place && c->places && c->command.kind == COMMAND_TASKS)
        place = places_take(c->places, owner->number, run->cores, run->gpus,
                            c->environ);
    if (!place)
        return owner->place ? -1 : 0;
    spec->cpus = place->cpus;
    spec->cpus_bytes = CPU_ALLOC_SIZE(PLACE_CPUS);
    for (size_t i = 0; i < PLACE_WORDS && rc == 0; i++)
        if (place->environ[i])
            rc = template_put(&env, place->environ[i]);
    spec->envp = env;
    return rc;
}

/* Of words that runner_argv() has made, those of the tasks' command. */
static char **words_of_tasks(char **words)
{
    while (*words && strcmp(*words, "--") != 0)
        words++;
    return *words ? words + 1 : words;
}

/* The program is the COMMAND's; its libraries are there for all. */
static int take_brought(struct execution_spec *spec,
                        const struct slot_common *c,
                        const struct msg_run *run,
                        struct es_error *err)
{
    char **env = (char **)spec->envp, **words = (char **)spec->argv;
    int rc = brought_libs(&env, &c->command, c->node, c->environ, err);

    spec->envp = env;
    if (c->command.kind == COMMAND_TASKS)
        words = words_of_tasks(words);
    if (rc < 0 || run->work[0] || !*words)
        return rc;
    return brought_program(words, &c->command, c->node, c->environ, err);
}

/* This very program runs them, see task_runner.h; their words it fills in itself. */
static char **runner_argv(const struct slot_common *c, char *const argv[])
{
    char alone[80] = "--alone=";
    const char *const first[] = {"/proc/self/exe", "--tasks", alone};
    size_t n = 0, before = c->alone_fd > 0 ? 3 : 2;
    char **words;

    if (c->alone_fd > 0)
        alone_path(alone + strlen(alone), c->alone_fd);
    while (argv[n])
        n++;
    words = calloc(n + before + 1, sizeof *words);
    for (size_t i = 0; words && i < n + before; i++) {
        words[i] = strdup(i < before ? first[i] : argv[i - before]);
        if (!words[i]) {
            template_free(words);
            return NULL;
        }
    }
    return words;
}

static char **argv_of(const struct slot_common *c, const struct msg_run *run)
{
    char *const *argv = command_of(c, run);

    return c->command.kind == COMMAND_TASKS ? runner_argv(c, argv)
                                            : template_argv(argv, run, c->node);
}

int slice_spec_fill(struct execution_spec *spec,
                    const struct slot_owner *owner,
                    const struct msg_run *run,
                    struct es_error *err)
{
    const struct slot_common *c = owner->common;

    spec->throttle = c->throttle;
    spec->argv = argv_of(c, run);
    spec->envp = template_environ(c->environ, run, c->node);
    spec->dir = c->command.dir[0] ? c->command.dir : NULL;
    if (!spec->argv || !spec->envp || take_place(spec, owner, run) < 0)
        return es_no_memory(err);
    return take_brought(spec, c, run, err);
}

int slice_spec_rank(struct execution_spec *spec,
                    const struct msg_measured *measured,
                    struct es_error *err)
{
    char **env = (char **)spec->envp, rank[40], ranks[40];
    int rc = 0;

    if (measured->ranks == 0)
        return 0;
    snprintf(rank, sizeof rank, "EVENSTEP_RANK=%u", measured->rank);
    snprintf(ranks, sizeof ranks, "EVENSTEP_RANKS=%u", measured->ranks);
    if (template_put(&env, rank) < 0 || template_put(&env, ranks) < 0)
        rc = es_no_memory(err);
    spec->envp = env;
    return rc;
}

void slice_spec_clear(struct execution_spec *spec)
{
    template_free((char **)spec->argv);
    template_free((char **)spec->envp);
}
