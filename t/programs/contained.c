/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * contained PLUGIN DIR: a slurmstepd, as far as the plugin sees it, whose
 * slurm_spank_task_post_fork() runs in a process of its own, as Slurm 24.05
 * has it with SlurmdParameters=contain_spank.  DIR/evenstep-power is started;
 * the one task is process 4711.
 */
#include <dlfcn.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct spank_option power;

spank_context_t spank_context(void)
{
    return S_CTX_REMOTE;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *o)
{
    (void)sp;
    if (strcmp(o->name, "evenstep-power") == 0)
        power = *o;
    return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
    spank_err_t rc = ESPANK_SUCCESS;
    va_list ap;

    (void)sp;
    va_start(ap, item);
    if (item == S_TASK_PID)
        *va_arg(ap, pid_t *) = 4711;
    else if (item == S_JOB_UID)
        *va_arg(ap, uid_t *) = getuid();
    else if (item == S_JOB_ID || item == S_JOB_STEPID)
        *va_arg(ap, uint32_t *) = 1;
    else
        rc = ESPANK_ERROR;
    va_end(ap);
    return rc;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *buf, int len)
{
    (void)sp;
    (void)name;
    (void)buf;
    (void)len;
    return ESPANK_ENV_NOEXIST;
}

spank_err_t spank_setenv(spank_t sp, const char *n, const char *v, int over)
{
    (void)sp;
    (void)n;
    (void)v;
    (void)over;
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
    (void)sp;
    (void)name;
    return ESPANK_SUCCESS;
}

void slurm_error(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
}

void slurm_verbose(const char *fmt, ...)
{
    (void)fmt;
}

void slurm_info(const char *fmt, ...)
{
    (void)fmt;
}

/* Of a job's comment, for which nobody asks here; to be found is enough. */
int slurm_load_job(void);
int slurm_update_job(void);
void slurm_init_job_desc_msg(void);

int slurm_load_job(void)
{
    return -1;
}

int slurm_update_job(void)
{
    return -1;
}

void slurm_init_job_desc_msg(void)
{
}

typedef int (*hook_fn)(spank_t sp, int ac, char **av);

static int call(void *plugin, const char *name, int ac, char **av)
{
    hook_fn hook;

    *(void **)&hook = dlsym(plugin, name); /* dlsym(3) has it so */
    return hook ? hook(NULL, ac, av) : -1;
}

/* In a child, and waited for. */
static void call_contained(void *plugin, const char *name)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(call(plugin, name, 0, NULL) == 0 ? 0 : 1);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    char launcher[4096], *av[] = {launcher};
    void *plugin = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;

    if (!plugin) {
        fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "PLUGIN DIR");
        return 2;
    }
    snprintf(launcher, sizeof launcher, "launcher=%s/evenstep", argv[2]);
    (void)call(plugin, "slurm_spank_init", 1, av);
    (void)power.cb(power.val, "pair", 1);
    (void)call(plugin, "slurm_spank_init_post_opt", 0, NULL);
    call_contained(plugin, "slurm_spank_task_post_fork");
    (void)call(plugin, "slurm_spank_exit", 0, NULL);
    return 0;
}
