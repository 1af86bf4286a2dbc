/*
 * fake_spank.h - what Slurm gives a plugin, in one struct that a test sets and
 * looks at: the program that has loaded it, one step, its environment, the
 * options that were registered, and what was said.
 */
#ifndef FAKE_SPANK_H
#define FAKE_SPANK_H

#include <slurm/spank.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define FAKE_SPANK_MAX 32 /* variables, and options */

struct spank_handle {
    int of_a_step; /* 0: nothing is known of one */
};

static struct fake_spank {
    struct spank_handle handle;
    spank_context_t context;
    uid_t uid;
    uint32_t job, step, nodes; /* nodes 0: Slurm does not tell */
    uint32_t node;             /* which of them this is */
    int task;
    uint32_t tasks; /* of the component, and so of a step that has one */
    uint32_t rank;  /* of the task */
    int status;     /* with which it ended */
    pid_t pid;      /* of the task */
    char *cores;    /* of the job; NULL: Slurm does not tell */
    char **argv;    /* the tasks' command; likewise */
    char *env[FAKE_SPANK_MAX]; /* "NAME=value" of the step */
    struct spank_option option[FAKE_SPANK_MAX];
    int options, refuse_option; /* the number of one that another has */
    int errors, remarks;        /* lines that were said */
    char said[2048];            /* the last of them */
} fake_spank = {.refuse_option = -1};

static inline size_t fake_spank_find(const char *name)
{
    size_t i = 0, len = strlen(name);

    while (i < FAKE_SPANK_MAX
           && !(fake_spank.env[i] && strncmp(fake_spank.env[i], name, len) == 0
                && fake_spank.env[i][len] == '='))
        i++;
    return i;
}

/* The value of a variable of the step; NULL: it is not set. */
static inline const char *fake_spank_env(const char *name)
{
    size_t i = fake_spank_find(name);

    return i < FAKE_SPANK_MAX ? fake_spank.env[i] + strlen(name) + 1 : NULL;
}

static inline void fake_spank_clear(void)
{
    for (size_t i = 0; i < FAKE_SPANK_MAX; i++)
        free(fake_spank.env[i]);
    memset(&fake_spank, 0, sizeof fake_spank);
    fake_spank.refuse_option = -1;
    fake_spank.handle.of_a_step = 1;
}

spank_context_t spank_context(void)
{
    return fake_spank.context;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *o)
{
    (void)sp;
    if (o->val == fake_spank.refuse_option)
        return ESPANK_BAD_ARG;
    fake_spank.option[fake_spank.options++] = *o;
    return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
    spank_err_t rc = sp->of_a_step ? ESPANK_SUCCESS : ESPANK_NOT_AVAIL;
    va_list ap;
    char ***argv = NULL;
    void *to;

    va_start(ap, item);
    to = va_arg(ap, void *);
    if (item == S_JOB_ARGV)
        argv = va_arg(ap, char ***);
    va_end(ap);
    if (rc != ESPANK_SUCCESS)
        return rc;
    if (item == S_JOB_UID)
        *(uid_t *)to = fake_spank.uid;
    else if (item == S_JOB_NODEID)
        *(uint32_t *)to = fake_spank.node;
    else if (item == S_JOB_ID)
        *(uint32_t *)to = fake_spank.job;
    else if (item == S_JOB_STEPID)
        *(uint32_t *)to = fake_spank.step;
    else if (item == S_JOB_NNODES && fake_spank.nodes)
        *(uint32_t *)to = fake_spank.nodes;
    else if (item == S_JOB_TOTAL_TASK_COUNT && fake_spank.tasks)
        *(uint32_t *)to = fake_spank.tasks;
    else if (item == S_TASK_ID)
        *(int *)to = fake_spank.task;
    else if (item == S_TASK_GLOBAL_ID)
        *(uint32_t *)to = fake_spank.rank;
    else if (item == S_TASK_EXIT_STATUS)
        *(int *)to = fake_spank.status;
    else if (item == S_TASK_PID)
        *(pid_t *)to = fake_spank.pid;
    else if (item == S_JOB_ALLOC_CORES && fake_spank.cores)
        *(char **)to = fake_spank.cores;
    else if (argv && fake_spank.argv)
        *argv = fake_spank.argv;
    else
        rc = ESPANK_NOEXIST;
    if (argv && rc == ESPANK_SUCCESS)
        for (*(int *)to = 0; fake_spank.argv[*(int *)to]; ++*(int *)to)
            ;
    return rc;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *buf, int len)
{
    const char *value = fake_spank_env(name);

    (void)sp;
    if (!value)
        return ESPANK_ENV_NOEXIST;
    return snprintf(buf, (size_t)len, "%s", value) < len ? ESPANK_SUCCESS
                                                         : ESPANK_NOSPACE;
}

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
    size_t i = fake_spank_find(name);

    (void)sp;
    if (i < FAKE_SPANK_MAX) {
        free(fake_spank.env[i]);
        fake_spank.env[i] = NULL;
    }
    return ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t sp,
                         const char *name,
                         const char *value,
                         int overwrite)
{
    size_t i = 0;

    if (!overwrite && fake_spank_env(name))
        return ESPANK_ENV_EXISTS;
    (void)spank_unsetenv(sp, name);
    while (i < FAKE_SPANK_MAX && fake_spank.env[i])
        i++;
    if (i == FAKE_SPANK_MAX
        || asprintf(&fake_spank.env[i], "%s=%s", name, value) < 0)
        return ESPANK_ERROR;
    return ESPANK_SUCCESS;
}

__attribute__((format(printf, 1, 2))) void slurm_error(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(fake_spank.said, sizeof fake_spank.said, fmt, ap);
    va_end(ap);
    fake_spank.errors++;
}

__attribute__((format(printf, 1, 2))) void slurm_info(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(fake_spank.said, sizeof fake_spank.said, fmt, ap);
    va_end(ap);
    fake_spank.remarks++;
}

__attribute__((format(printf, 1, 2))) void slurm_verbose(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(fake_spank.said, sizeof fake_spank.said, fmt, ap);
    va_end(ap);
    fake_spank.remarks++;
}

#endif
