/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the agent has written is looked for twice: by slurmstepd before it
 * starts the tasks, and where that finds nothing by each task, which Slurm has
 * put into the job's own name spaces by then (job_container/tmpfs: another
 * /dev/shm).
 *
 * A private /dev/shm is cleaned from outside: a task sends it to slurmstepd,
 * as a descriptor.  The hooks of slurmstepd may run in a process of their own
 * (SlurmdParameters=contain_spank), so nothing here goes by a process id.
 */
#include "spank_plugin/plugin_remote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank_plugin/env_file.h"
#include "spank_plugin/plugin_libs.h"
#include "spank_plugin/plugin_meter.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/plugin_place.h"

/* By this the agent knows that we are on its node, for the step's tasks, too. */
#define LOADED "EVENSTEP_PLUGIN"

#define FAILED_SIZE 1200 /* a line of the front end's, and the step */

enum promise { PROMISED_NOTHING, PROMISED_ON, PROMISED_REQUIRED };

static int is_set;                  /* the tasks' environment, by slurmstepd */
static int outlet = -1, inlet = -1; /* of a socket for a private /dev/shm */
static int own_base = -1;           /* that, once a task has sent it */

/* --- what srun has said --------------------------------------------------- */

int plugin_remote_promise(uint32_t job, uint32_t step, int required)
{
    char value[64];

    (void)snprintf(value, sizeof value, "%s:%" PRIu32 ".%" PRIu32,
                   required ? "required" : "on", job, step);
    return setenv(PROMISE, value, 1);
}

void plugin_remote_failed(uint32_t job, uint32_t step, const char *why)
{
    char value[FAILED_SIZE];

    (void)snprintf(value, sizeof value, "%" PRIu32 ".%" PRIu32 ":%s", job, step,
                   why);
    (void)setenv(FAILED, value, 1); /* or the user alone reads it */
}

void plugin_remote_log(spank_t sp)
{
    char value[FAILED_SIZE], mark[2], *why;
    struct place p;
    int is_refused;

    if (plugin_place_find(sp, &p) < 0
        || spank_getenv(sp, FAILED, value, sizeof value) != ESPANK_SUCCESS)
        return;
    why = strchr(value, ':');
    if (!why)
        return;
    *why++ = '\0';
    if (strcmp(value, p.step_dir) != 0)
        return; /* of a step around this one */
    for (char *c = why; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127)
            *c = '?';
    is_refused = spank_getenv(sp, REFUSED, mark, sizeof mark) == ESPANK_SUCCESS;
    slurm_info("evenstep: step %s %s: %s", p.step_dir,
               is_refused ? "is not started" : "runs without evenstep", why);
}

/* For this step: tasks hand what srun has in its environment on to others. */
static enum promise promised(spank_t sp, const struct place *p)
{
    char value[64];
    const char *colon;

    if (spank_getenv(sp, PROMISE, value, sizeof value) != ESPANK_SUCCESS)
        return PROMISED_NOTHING;
    colon = strchr(value, ':');
    if (!colon || strcmp(colon + 1, p->step_dir) != 0)
        return PROMISED_NOTHING;
    return strncmp(value, "required:", 9) == 0 ? PROMISED_REQUIRED
                                               : PROMISED_ON;
}

static int find_place(spank_t sp, struct place *p, enum promise *promise)
{
    if (plugin_place_find(sp, p) < 0)
        return -1;
    *promise = promised(sp, p);
    p->thorough = *promise != PROMISED_NOTHING;
    return 0;
}

/* --- reading it ----------------------------------------------------------- */

/* Read the whole of fd into buf[0..size): its length, or -1 with *v. */
static ssize_t read_all(int fd, char *buf, size_t size, struct verdict *v)
{
    size_t len = 0;

    while (len < size) {
        ssize_t n = read(fd, buf + len, size - len);

        if (n == 0)
            return (ssize_t)len;
        if (n < 0 && errno != EINTR)
            return plugin_place_refuse(v, "it cannot be read");
        if (n > 0)
            len += (size_t)n;
    }
    return plugin_place_refuse(v, "it is larger than 16384 bytes");
}

static ssize_t read_file(const struct place *p, char *buf, struct verdict *v)
{
    int fd = plugin_place_open(p, "env", v);
    ssize_t len;

    if (fd < 0)
        return -1;
    len = read_all(fd, buf, ENV_FILE_BYTES + 1, v);
    (void)close(fd);
    return len;
}

static void set_variables(spank_t sp, const char *buf, size_t len)
{
    const char *at = buf;

    while (at < buf + len) {
        const char *value = at + strlen(at) + 1;

        if (spank_setenv(sp, at, value, 1) != ESPANK_SUCCESS)
            slurm_error("evenstep: cannot set %s for the tasks", at);
        at = value + strlen(value) + 1;
    }
}

/* 0 if all of it is set. */
static int set_environment(spank_t sp, const struct place *p, struct verdict *v)
{
    char buf[ENV_FILE_BYTES + 2]; /* one to see too much by, one for NUL */
    ssize_t len;

    v->what = NULL;
    if (geteuid() != p->uid) /* never with root's rights */
        return -1;
    len = read_file(p, buf, v);
    if (len >= 0)
        v->what = env_file_cut(buf, (size_t)len);
    if (len < 0 || v->what)
        return -1;
    set_variables(sp, buf, (size_t)len);
    return 0;
}

/* --- a /dev/shm of the job's own ------------------------------------------ */

static void open_socket(void)
{
    int fd[2];

    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd)
        < 0)
        return; /* then what a killed agent leaves there stays with the job */
    outlet = fd[0];
    inlet = fd[1];
}

/* One byte and one descriptor, in either direction. */
struct parcel {
    char byte;
    struct iovec io;
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    struct msghdr m;
};

static struct msghdr *parcel_init(struct parcel *p)
{
    memset(p, 0, sizeof *p);
    p->io = (struct iovec){&p->byte, 1};
    p->m = (struct msghdr){.msg_iov = &p->io,
                           .msg_iovlen = 1,
                           .msg_control = p->room,
                           .msg_controllen = sizeof p->room};
    return &p->m;
}

static void send_base(void)
{
    int base = open(PLACE_BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct parcel parcel;
    const struct msghdr *m = parcel_init(&parcel);
    struct cmsghdr *head = CMSG_FIRSTHDR(m);

    if (base < 0)
        return;
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof base);
    memcpy(CMSG_DATA(head), &base, sizeof base);
    (void)sendmsg(inlet, m, 0); /* one is enough, full or not */
    (void)close(base);
}

/* What a task has sent, or -1. */
static int receive_base(void)
{
    struct parcel parcel;
    struct msghdr *m = parcel_init(&parcel);
    const struct cmsghdr *head;
    int base;

    if (outlet < 0 || recvmsg(outlet, m, MSG_CMSG_CLOEXEC) < 0)
        return -1;
    head = CMSG_FIRSTHDR(m);
    if (!head || head->cmsg_type != SCM_RIGHTS
        || head->cmsg_len != CMSG_LEN(sizeof base))
        return -1;
    memcpy(&base, CMSG_DATA(head), sizeof base);
    return base;
}

/* --- the hooks ------------------------------------------------------------ */

void plugin_remote_prepare(spank_t sp)
{
    enum promise promise;
    struct place p;

    if (geteuid() != 0 || find_place(sp, &p, &promise) < 0)
        return;
    if (promise != PROMISED_NOTHING)
        open_socket();
    if (promise != PROMISED_NOTHING || plugin_options_get().agents)
        plugin_place_evict(&p); /* agents have a place on the node, too */
}

void plugin_remote_set_environment(spank_t sp)
{
    enum promise promise;
    struct verdict v;
    struct place p;

    if (find_place(sp, &p, &promise) == 0)
        is_set = set_environment(sp, &p, &v) == 0;
}

/* One line a node. */
static void complain(spank_t sp,
                     const struct place *p,
                     enum promise promise,
                     const char *what)
{
    const char *sequel = "";
    int task;

    if (spank_get_item(sp, S_TASK_ID, &task) == ESPANK_SUCCESS && task != 0)
        return;
    if (promise == PROMISED_REQUIRED)
        sequel = "; the step is not started (--evenstep=required)";
    /* Anybody can put a directory of that name there: those who never asked
     * for evenstep shall not be troubled by it. */
    if (promise == PROMISED_NOTHING)
        slurm_verbose("evenstep: " PLACE_BASE "/%s/%s/env is left out: %s",
                      p->user_dir, p->step_dir, what);
    else
        slurm_error("evenstep: " PLACE_BASE "/%s/%s/env is left out: %s%s",
                    p->user_dir, p->step_dir, what, sequel);
}

/* In the task itself: what slurmstepd has not found may be here. */
static int find_environment(spank_t sp,
                            const struct place *p,
                            struct verdict *v)
{
    if (is_set)
        return 0;
    if (inlet >= 0)
        send_base();
    return set_environment(sp, p, v);
}

void plugin_remote_task(spank_t sp)
{
    enum promise promise;
    struct verdict v;
    struct place p;

    if (plugin_options_get().agents)
        (void)spank_setenv(sp, LOADED, "1", 1);
    if (find_place(sp, &p, &promise) < 0)
        return;
    (void)spank_unsetenv(sp, PROMISE); /* it is not for the task's own steps */
    (void)spank_unsetenv(sp, FAILED);
    if (find_environment(sp, &p, &v) == 0) {
        plugin_libs_add(sp);
        plugin_meter_preload(sp);
        return;
    }
    if (!v.what && promise != PROMISED_NOTHING)
        v.what = "it is not there: do tasks and agents see one /dev/shm on "
                 "this node (job_container.conf)?";
    if (v.what)
        complain(sp, &p, promise, v.what);
    if (promise == PROMISED_REQUIRED)
        _exit(1);
}

/* struct rank_exit of launcher/agent/rank_use.h */
struct ended {
    uint32_t rank, status;
    int64_t ns;
};

/* In the job's own /dev/shm where it has one. */
static int append_exit(const struct place *p, const struct ended *exit)
{
    int base = open(PLACE_BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = -1;

    if (base >= 0) {
        rc = plugin_place_append(p, base, "ended", exit, sizeof *exit);
        (void)close(base);
    }
    if (rc < 0 && own_base < 0)
        own_base = receive_base();
    if (rc < 0 && own_base >= 0)
        rc = plugin_place_append(p, own_base, "ended", exit, sizeof *exit);
    return rc;
}

void plugin_remote_exit(spank_t sp)
{
    enum promise promise;
    struct timespec now;
    struct ended exit;
    struct place p;
    int status;

    if (find_place(sp, &p, &promise) < 0 || promise == PROMISED_NOTHING
        || spank_get_item(sp, S_TASK_GLOBAL_ID, &exit.rank) != ESPANK_SUCCESS
        || spank_get_item(sp, S_TASK_EXIT_STATUS, &status) != ESPANK_SUCCESS)
        return;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    exit.status = (uint32_t)status;
    exit.ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    (void)append_exit(&p, &exit); /* or it is not told of what the rank died */
}

void plugin_remote_clean(spank_t sp)
{
    enum promise promise;
    struct place p;
    int base;

    if (find_place(sp, &p, &promise) < 0)
        return;
    base = open(PLACE_BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (base >= 0) {
        plugin_place_remove(&p, base);
        (void)close(base);
    }
    if (own_base < 0)
        own_base = receive_base();
    if (own_base >= 0) {
        plugin_place_remove(&p, own_base);
        (void)close(own_base);
        own_base = -1;
    }
}

int plugin_remote_is_component(spank_t sp, const char *all)
{
    uint32_t own;

    return all
           && spank_get_item(sp, S_JOB_TOTAL_TASK_COUNT, &own) == ESPANK_SUCCESS
           && strtoul(all, NULL, 10) > own;
}

/* srun had made the environment of all components but the first when it asked
 * us: the others do not hear of a refusal. */
static int is_refused_with_the_first(spank_t sp)
{
    struct plugin_options o = plugin_options_get();
    char tasks[16];
    struct place p;

    return (o.demand == DEMAND_REQUIRED || o.bcast[0])
           && spank_getenv(sp, "SLURM_NTASKS", tasks, sizeof tasks)
                  == ESPANK_SUCCESS
           && plugin_remote_is_component(sp, tasks)
           && plugin_place_find(sp, &p) == 0
           && promised(sp, &p) == PROMISED_NOTHING;
}

void plugin_remote_refuse(spank_t sp)
{
    char mark[2];

    if (spank_getenv(sp, REFUSED, mark, sizeof mark) == ESPANK_SUCCESS
        || is_refused_with_the_first(sp))
        _exit(1);
}
