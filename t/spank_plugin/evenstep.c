/* SPDX-License-Identifier: BSD-2-Clause */
/* Which hook does what in which of Slurm's programs: all of them, in all. */
#include "fake_spank.h"
#include "spank_plugin/plugin_comment.h"
#include "spank_plugin/plugin_local.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/plugin_power.h"
#include "spank_plugin/plugin_remote.h"
#include "spank_plugin/plugin_unasked.h"
#include "tap.h"

static char done_so_far[200]; /* what the hooks have called, in order */
static int start_rc;

static void note(const char *word)
{
    size_t len = strlen(done_so_far);

    snprintf(done_so_far + len, sizeof done_so_far - len, "%s%s",
             len ? " " : "", word);
}

void plugin_options_set_arguments(int ac, char **av, int complain)
{
    ok(ac == 1 && strcmp(av[0], "default=on") == 0, "arguments are handed on");
    note(complain ? "arguments!" : "arguments");
}

void plugin_options_register(spank_t sp)
{
    (void)sp;
    note("options");
}

void plugin_options_drop_environ(spank_t sp)
{
    (void)sp;
    note("srun's alone");
}

void plugin_options_clear(void)
{
    note("clear");
}

void plugin_unasked_note(void)
{
    note("pty");
}

int plugin_local_start(spank_t sp)
{
    (void)sp;
    note("start");
    return start_rc;
}

void plugin_local_stop(void)
{
    note("stop");
}

void plugin_power_start(spank_t sp)
{
    (void)sp;
    note("guard");
}

void plugin_power_task(spank_t sp)
{
    (void)sp;
    note("to guard");
}

void plugin_power_stop(void)
{
    note("guard ends");
}

void plugin_remote_log(spank_t sp)
{
    (void)sp;
    note("log");
}

void plugin_remote_prepare(spank_t sp)
{
    (void)sp;
    note("room");
}

void plugin_remote_set_environment(spank_t sp)
{
    (void)sp;
    note("environment");
}

void plugin_remote_refuse(spank_t sp)
{
    (void)sp;
    note("refused");
}

void plugin_remote_task(spank_t sp)
{
    (void)sp;
    note("task");
}

void plugin_remote_exit(spank_t sp)
{
    (void)sp;
    note("to agent");
}

void plugin_remote_clean(spank_t sp)
{
    (void)sp;
    note("clean");
}

void plugin_comment_prepare(spank_t sp)
{
    (void)sp;
    note("child");
}

void plugin_comment_task(spank_t sp)
{
    (void)sp;
    note("socket");
}

void plugin_comment_end(spank_t sp)
{
    (void)sp;
    note("child ends");
}

typedef int (*hook_fn)(spank_t sp, int ac, char **av);

int slurm_spank_init(spank_t sp, int ac, char **av);
int slurm_spank_init_post_opt(spank_t sp, int ac, char **av);
int slurm_spank_local_user_init(spank_t sp, int ac, char **av);
int slurm_spank_user_init(spank_t sp, int ac, char **av);
int slurm_spank_task_init(spank_t sp, int ac, char **av);
int slurm_spank_task_post_fork(spank_t sp, int ac, char **av);
int slurm_spank_task_exit(spank_t sp, int ac, char **av);
int slurm_spank_exit(spank_t sp, int ac, char **av);
extern const char plugin_name[], plugin_type[];

static const struct {
    const char *name;
    hook_fn call;
} hooks[] = {
    {"init", slurm_spank_init},
    {"init_post_opt", slurm_spank_init_post_opt},
    {"local_user_init", slurm_spank_local_user_init},
    {"user_init", slurm_spank_user_init},
    {"task_init", slurm_spank_task_init},
    {"task_post_fork", slurm_spank_task_post_fork},
    {"task_exit", slurm_spank_task_exit},
    {"exit", slurm_spank_exit},
};
#define HOOKS (sizeof hooks / sizeof hooks[0])

static const struct {
    const char *name;
    spank_context_t context;
    const char *want[HOOKS];
} programs[] = {
    {"srun",
     S_CTX_LOCAL,
     {"pty arguments! options", "", "start", "", "", "", "", "stop clear"}},
    {"slurmstepd",
     S_CTX_REMOTE,
     {"arguments options srun's alone", "log guard room child", "",
      "environment", "refused task socket", "to guard", "to agent",
      "guard ends clean child ends clear"}},
    {"sbatch",
     S_CTX_ALLOCATOR,
     {"arguments! options", "", "", "", "", "", "", "clear"}},
    {"slurmd", S_CTX_SLURMD, {"arguments!", "", "", "", "", "", "", "clear"}},
    {"a prolog", S_CTX_JOB_SCRIPT, {"", "", "", "", "", "", "", "clear"}},
    {"nobody knows", S_CTX_ERROR, {"", "", "", "", "", "", "", "clear"}},
};

int main(void)
{
    char *argument[] = {"default=on", NULL};
    char what[100];

    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
        for (size_t h = 0; h < HOOKS; h++) {
            fake_spank_clear();
            fake_spank.context = programs[p].context;
            done_so_far[0] = '\0';
            snprintf(what, sizeof what, "%s in %s", hooks[h].name,
                     programs[p].name);
            is_int(hooks[h].call(&fake_spank.handle, 1, argument), 0, what);
            is_str(done_so_far, programs[p].want[h], what);
        }
    start_rc = -1;
    fake_spank.context = S_CTX_LOCAL;
    is_int(slurm_spank_local_user_init(&fake_spank.handle, 1, argument), -1,
           "a start that failed is told to Slurm");
    is_str(plugin_name, "evenstep", "the plugin says its name");
    is_str(plugin_type, "spank", "and that it is one of spank's");
    return done();
}
