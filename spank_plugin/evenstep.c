/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep.c - what Slurm looks up in the plugin: which hook does what in
 * which of Slurm's programs.
 *
 *                     srun       sbatch, salloc   slurmstepd    slurmd
 *   init              arguments, options          arguments,    arguments
 *                                                 options from
 *                                                 srun alone
 *   init_post_opt                                 guard
 *                                                 starts, room
 *                                                 is made, child
 *                                                 for the comment
 *   local_user_init   front end
 *                     starts
 *   user_init                                     environment
 *   task_init                                     refused steps,
 *                                                 environment,
 *                                                 libraries, meter,
 *                                                 socket
 *   task_post_fork                                to the guard
 *   task_exit                                     to the agent
 *   exit              front end                   guard ends,
 *                     ends                        clean-up,
 *                                                 child ends
 *
 * A job's prolog and epilog (job_script) do not load it: it has no hook there.
 */
#include <slurm/spank.h>

#include "spank_plugin/plugin_comment.h"
#include "spank_plugin/plugin_local.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/plugin_power.h"
#include "spank_plugin/plugin_remote.h"
#include "spank_plugin/plugin_unasked.h"

SPANK_PLUGIN(evenstep, 1)

int slurm_spank_init(spank_t sp, int ac, char **av)
{
    switch (spank_context()) {
    case S_CTX_LOCAL:
        plugin_unasked_note();
        /* fall through */
    case S_CTX_ALLOCATOR:
        plugin_options_set_arguments(ac, av, 1);
        plugin_options_register(sp);
        break;
    case S_CTX_REMOTE: /* once a node and step: whoever typed srun has read
                          of a bad argument already */
        plugin_options_set_arguments(ac, av, 0);
        plugin_options_register(sp);
        plugin_options_drop_environ(sp);
        break;
    case S_CTX_SLURMD:
        plugin_options_set_arguments(ac, av, 1);
        break;
    case S_CTX_ERROR:
    case S_CTX_JOB_SCRIPT:
    default:
        break;
    }
    return 0;
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
    (void)ac;
    (void)av;
    if (spank_context() == S_CTX_REMOTE) {
        plugin_remote_log(sp);
        plugin_power_start(sp);
        plugin_remote_prepare(sp);
        plugin_comment_prepare(sp);
    }
    return 0;
}

int slurm_spank_local_user_init(spank_t sp, int ac, char **av)
{
    (void)ac;
    (void)av;
    return spank_context() == S_CTX_LOCAL ? plugin_local_start(sp) : 0;
}

int slurm_spank_user_init(spank_t sp, int ac, char **av)
{
    (void)ac;
    (void)av;
    if (spank_context() == S_CTX_REMOTE)
        plugin_remote_set_environment(sp);
    return 0;
}

int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
    (void)ac;
    (void)av;
    if (spank_context() == S_CTX_REMOTE) {
        plugin_remote_refuse(sp);
        plugin_remote_task(sp);
        plugin_comment_task(sp);
    }
    return 0;
}

int slurm_spank_task_post_fork(spank_t sp, int ac, char **av)
{
    (void)ac;
    (void)av;
    if (spank_context() == S_CTX_REMOTE)
        plugin_power_task(sp);
    return 0;
}

int slurm_spank_task_exit(spank_t sp, int ac, char **av)
{
    (void)ac;
    (void)av;
    if (spank_context() == S_CTX_REMOTE)
        plugin_remote_exit(sp);
    return 0;
}

int slurm_spank_exit(spank_t sp, int ac, char **av)
{
    (void)ac;
    (void)av;
    if (spank_context() == S_CTX_LOCAL) {
        plugin_local_stop();
    } else if (spank_context() == S_CTX_REMOTE) {
        plugin_power_stop();
        plugin_remote_clean(sp);
        plugin_comment_end(sp);
    }
    plugin_options_clear();
    return 0;
}
