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

/* The companion step's own mark; it has a place on the node, too. */
#define COMPANION "EVENSTEP_COMPANION"

enum promise { PROMISED_NOTHING, PROMISED_ON, PROMISED_REQUIRED };

static int is_set;                  /* the tasks' environment, by slurmstepd */
static int outlet = -1, inlet = -1; /* of a socket for a private /dev/shm */

/* --- what srun has said --------------------------------------------------- */

int plugin_remote_promise(uint32_t job, uint32_t step, int required)
{
    char value[64];

    (void)snprintf(value, sizeof value, "%s:%" PRIu32 ".%" PRIu32,
                   required ? "required" : "on", job, step);
    return setenv(PROMISE, value, 1);
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
    char mark[2];

    if (geteuid() != 0 || find_place(sp, &p, &promise) < 0)
        return;
    if (promise != PROMISED_NOTHING)
        open_socket();
    if (promise != PROMISED_NOTHING
        || spank_getenv(sp, COMPANION, mark, sizeof mark) == ESPANK_SUCCESS)
        plugin_place_evict(&p);
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

    if (find_place(sp, &p, &promise) < 0)
        return;
    (void)spank_unsetenv(sp, PROMISE); /* it is not for the task's own steps */
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
    base = receive_base();
    if (base >= 0) {
        plugin_place_remove(&p, base);
        (void)close(base);
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
    char tasks[16], mark[2];
    struct place p;

    return (o.demand == DEMAND_REQUIRED || o.bcast[0])
           && spank_getenv(sp, "SLURM_NTASKS", tasks, sizeof tasks)
                  == ESPANK_SUCCESS
           && plugin_remote_is_component(sp, tasks)
           && spank_getenv(sp, COMPANION, mark, sizeof mark) != ESPANK_SUCCESS
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
