/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/plugin_power.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "spank_plugin/plugin_child.h"
#include "spank_plugin/plugin_options.h"

#define PROGRAM   "evenstep-power" /* beside the program evenstep */
#define ANSWER_MS 1000 /* a task is put where it belongs in far less */
#define STOP_MS   1000 /* likewise for what was found */
#define PATH_SIZE 4096
#define WORDS     13 /* of its command line, at most, and a NULL */
#define LINE_SIZE 1024

/* The one guard of this slurmstepd.  Not known by who started it: the hooks
 * may run in another process (SlurmdParameters=contain_spank of 24.05). */
static struct {
    int is_running, is_for_energy;
    struct plugin_child child;
} guard;

struct words {
    char program[PATH_SIZE], job[16], step[16], uid[16];
};

static int find_program(char path[PATH_SIZE], const char *launcher)
{
    const char *slash = strrchr(launcher, '/');
    int n = snprintf(path, PATH_SIZE, "%.*s/" PROGRAM, (int)(slash - launcher),
                     launcher);

    return n > 0 && n < PATH_SIZE ? 0 : -1;
}

enum wish { NOTHING, ENERGY, LIMITS };

/* By what srun has sent alone: anybody can set variables, also by mistake.  The
 * energy is in the report, and only root can read it. */
static enum wish find_wish(const struct plugin_options *o)
{
    if (o->agents)
        return strcmp(o->agents, "limits") == 0   ? LIMITS
               : strcmp(o->agents, "energy") == 0 ? ENERGY
                                                  : NOTHING;
    if (o->demand == DEMAND_NONE)
        return NOTHING;
    if (o->power && strcmp(o->power, "off") != 0)
        return LIMITS;
    return o->report && strcmp(o->report, "off") != 0 ? ENERGY : NOTHING;
}

/* 1 if this is a step whose limits may be set. */
static int find_step(spank_t sp, struct words *w)
{
    uint32_t job, step;
    uid_t uid;

    if (spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS
        || spank_get_item(sp, S_JOB_ID, &job) != ESPANK_SUCCESS
        || spank_get_item(sp, S_JOB_STEPID, &step) != ESPANK_SUCCESS
        || step >= SLURM_MAX_NORMAL_STEP_ID)
        return 0;
    (void)snprintf(w->job, sizeof w->job, "%" PRIu32, job);
    (void)snprintf(w->step, sizeof w->step, "%" PRIu32, step);
    (void)snprintf(w->uid, sizeof w->uid, "%" PRIu32, (uint32_t)uid);
    return 1;
}

/* posix_spawn does not write to the words. */
static void make_words(spank_t sp,
                       const struct plugin_options *o,
                       enum wish wish,
                       struct words *w,
                       const char *argv[WORDS])
{
    char *cores;
    size_t n = 0;

    argv[n++] = w->program;
    argv[n++] = "--job";
    argv[n++] = w->job;
    argv[n++] = "--step";
    argv[n++] = w->step;
    argv[n++] = "--uid";
    argv[n++] = w->uid;
    if (o->config) {
        argv[n++] = "--config";
        argv[n++] = o->config;
    }
    if (spank_get_item(sp, S_JOB_ALLOC_CORES, &cores) == ESPANK_SUCCESS
        && cores) {
        argv[n++] = "--cores";
        argv[n++] = cores;
    }
    if (wish == ENERGY)
        argv[n++] = "--energy";
    argv[n] = NULL;
}

/* A report without the energy of a node is nothing that its user can mend. */
static void complain(const char *what, const char *why)
{
    const char *colon = why[0] ? ": " : "";

    if (guard.is_for_energy)
        slurm_info("evenstep: the energy of this node is not counted: %s%s%s",
                   what, colon, why);
    else
        slurm_error("evenstep: no limits are set on this node: %s%s%s", what,
                    colon, why);
}

void plugin_power_start(spank_t sp)
{
    struct plugin_options o = plugin_options_get();
    enum wish wish = find_wish(&o);
    const char *argv[WORDS];
    struct words w;
    int why;

    if (wish == NOTHING || guard.is_running || !find_step(sp, &w)
        || find_program(w.program, o.launcher) < 0)
        return;
    make_words(sp, &o, wish, &w, argv);
    guard.is_for_energy = wish == ENERGY;
    why = plugin_child_start(&guard.child, (char *const *)argv);
    if (why)
        complain(w.program, strerror(why));
    else
        guard.is_running = 1;
}

/* Its next line, or its end, which is an empty one.  -1 if there is neither. */
static int receive_line(char line[LINE_SIZE], int timeout_ms)
{
    struct pollfd p = {.fd = guard.child.stdout_fd, .events = POLLIN};
    ssize_t n = 0;

    if (poll(&p, 1, timeout_ms) <= 0)
        return -1;
    n = read(p.fd, line, LINE_SIZE - 1); /* there is only one answer */
    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return 0;
}

/* Of all tasks that are still to come none waits for it again.  Should it go
 * on, it sees that we have, and puts back what it found. */
static void give_up(const char *why)
{
    guard.is_running = 0;
    (void)plugin_child_stop(&guard.child, 0); /* what we started has ended */
    complain(why, "");
}

void plugin_power_task(spank_t sp)
{
    char line[LINE_SIZE];
    pid_t pid;
    int len;

    if (!guard.is_running
        || spank_get_item(sp, S_TASK_PID, &pid) != ESPANK_SUCCESS)
        return;
    len = snprintf(line, sizeof line, "%d\n", (int)pid);
    (void)!write(guard.child.stdin_fd, line, (size_t)len); /* or it has ended */
    if (receive_line(line, ANSWER_MS) < 0)
        give_up(PROGRAM " does not answer");
    else if (strcmp(line, "ok") != 0)
        give_up(line[0] ? line : PROGRAM " has ended");
}

void plugin_power_stop(void)
{
    char line[LINE_SIZE];

    if (!guard.is_running)
        return;
    guard.is_running = 0;
    (void)close(guard.child.stdin_fd); /* which tells it */
    guard.child.stdin_fd = -1;
    (void)receive_line(line, STOP_MS);
    (void)plugin_child_stop(&guard.child, 0); /* what we started has ended */
}
