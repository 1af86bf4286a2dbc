/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/plugin_local.h"

#include <inttypes.h>
#include <limits.h>
#include <slurm/slurm.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank_plugin/plugin_child.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/plugin_remote.h"
#include "spank_plugin/plugin_unasked.h"

/*
 * How a step is refused: not by returning -1.  Slurm heeds that only from a
 * plugin that plugstack.conf calls "required", and then ends srun without
 * ending the step: within an allocation it stays, holds its CPUs until the
 * job ends, and neither scancel nor srun can take a step away that was never
 * launched (22.05.8, t/3100-plugin.t).  So the step is launched and every task
 * ends before it becomes the user's program: plugin_remote_refuse().
 */
static int refuse(void)
{
    if (setenv(REFUSED, "1", 1) == 0)
        return 0;
    return -1; /* no memory: better a step that is left than one that runs */
}

/* The front end cleans the nodes meanwhile (tens of ms); a user waits. */
#define STOP_GRACE_MS 3000

/* The words of build_argv(), and NULL. */
#define ARGV_MAX   (27 + 2 * BCAST_MAX)
#define NUMBER_LEN 11 /* of a uint32_t, with NUL */

struct step {
    uint32_t job, step, nodes; /* nodes 0: not known */
    const char *command;       /* likewise NULL */
};

/* The one front end of this srun.  slurm_spank_exit() has no other way to it,
 * and runs in processes that srun forked, too: owner tells them apart. */
static struct {
    pid_t owner; /* 0: none is running */
    struct plugin_child child;
} front_end;

static int find_step(spank_t sp, struct step *s)
{
    char **argv = NULL;
    int argc = 0;

    if (spank_get_item(sp, S_JOB_ID, &s->job) != ESPANK_SUCCESS
        || spank_get_item(sp, S_JOB_STEPID, &s->step) != ESPANK_SUCCESS)
        return -1;
    if (spank_get_item(sp, S_JOB_NNODES, &s->nodes) != ESPANK_SUCCESS)
        s->nodes = 0;
    s->command = NULL;
    if (spank_get_item(sp, S_JOB_ARGV, &argc, &argv) == ESPANK_SUCCESS
        && argc > 0 && argv)
        s->command = argv[0];
    return 0;
}

struct words {
    char *argv[ARGV_MAX];
    int n;
    char job[NUMBER_LEN], step[NUMBER_LEN], nodes[NUMBER_LEN];
    char report[PATH_MAX + 16];
};

/* argv is char *const[] by POSIX, though nobody writes to the words. */
static void add(struct words *w, const char *option, const char *value)
{
    w->argv[w->n++] = (char *)option;
    if (value)
        w->argv[w->n++] = (char *)value;
    w->argv[w->n] = NULL;
}

static void build_argv(struct words *w,
                       const struct plugin_options *o,
                       const struct step *s)
{
    w->n = 0;
    (void)snprintf(w->job, sizeof w->job, "%" PRIu32, s->job);
    (void)snprintf(w->step, sizeof w->step, "%" PRIu32, s->step);
    (void)snprintf(w->nodes, sizeof w->nodes, "%" PRIu32, s->nodes);
    add(w, o->launcher, "attend");
    add(w, "--job", w->job);
    add(w, "--step", w->step);
    /* What fails from here on is to stop the step. */
    for (int i = 0; o->bcast[i]; i++)
        add(w, "--bcast", o->bcast[i]);
    if (s->nodes)
        add(w, "--nodes", w->nodes);
    if (o->profile)
        add(w, "--profile", o->profile);
    if (o->probe)
        add(w, "--probe", o->probe);
    if (o->config)
        add(w, "--config", o->config);
    if (o->libs)
        add(w, "--libs", NULL);
    if (o->power)
        add(w, "--power", o->power);
    if (o->meter)
        add(w, "--meter", o->meter);
    if (o->lend)
        add(w, "--lend", o->lend);
    if (o->report) { /* its value may be missing */
        (void)snprintf(w->report, sizeof w->report, "--report%s%s",
                       o->report[0] ? "=" : "", o->report);
        add(w, w->report, NULL);
    }
    if (s->command)
        add(w, "--command", s->command);
    if (o->demand == DEMAND_REQUIRED)
        add(w, "--required", NULL);
}

static void note(const struct step *s, const char *why)
{
    if (s)
        plugin_remote_failed(s->job, s->step, why);
}

/* Say what went wrong on our side, and what becomes of the step (NULL: its ids are
 * not known). */
__attribute__((format(printf, 3, 4))) static int without(
    const struct plugin_options *o, const struct step *s, const char *fmt, ...)
{
    const char *sequel = "the step goes on without evenstep";
    char what[1024];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof what, fmt, ap); /* cut off if too long */
    va_end(ap);
    note(s, what);
    if (o->demand == DEMAND_REQUIRED)
        sequel = "the step is not started (--evenstep=required)";
    else if (o->bcast[0])
        sequel = "the step is not started without its input "
                 "(--evenstep-bcast)";
    slurm_error("evenstep: %s; %s", what, sequel);
    return o->demand == DEMAND_REQUIRED || o->bcast[0] ? refuse() : 0;
}

/* The front end has said it. */
static int say(const struct step *s, const char *text, int is_refused)
{
    note(s, text);
    slurm_error("evenstep: %s", text);
    return is_refused ? refuse() : 0;
}

/* What becomes of the step after this answer. */
static int judge(const struct plugin_options *o,
                 const struct step *s,
                 enum child_answer answer,
                 const char *text)
{
    switch (answer) {
    case ANSWER_READY:
        return plugin_remote_promise(s->job, s->step,
                                     o->demand == DEMAND_REQUIRED);
    case ANSWER_CONTINUE:
        return say(s, text, o->demand == DEMAND_REQUIRED);
    case ANSWER_FAIL:
        return say(s, text, 1);
    case ANSWER_INTERRUPTED:
        return say(s, "interrupted while it started; the step is not started",
                   1);
    case ANSWER_LATE:
        return without(o, s,
                       "%s gave no answer within %d s: see what holds it up "
                       "on the nodes, or give it longer (timeout= in "
                       "plugstack.conf, agents { timeout } of evenstep.conf)",
                       o->launcher, o->timeout_s);
    case ANSWER_NONE:
        return without(o, s,
                       "%s ended before it was ready: see its messages, or "
                       "run '%s --help' on this host",
                       o->launcher, o->launcher);
    case ANSWER_GARBLED:
    default:
        return without(o, s,
                       "%s gave an answer that this plugin does not know: "
                       "install both from one release (launcher= in "
                       "plugstack.conf)",
                       o->launcher);
    }
}

/* Start it and hear what it says. */
static int start(const struct plugin_options *o, const struct step *s)
{
    char text[CHILD_LINE_MAX];
    struct plugin_child child;
    enum child_answer answer;
    struct words words;
    int why;

    build_argv(&words, o, s);
    why = plugin_child_start(&child, words.argv);
    if (why)
        return without(o, s,
                       "cannot run %s (%s): install it there, or name it by "
                       "launcher= in plugstack.conf",
                       o->launcher, strerror(why));
    front_end.child = child;
    front_end.owner = getpid();
    answer = plugin_child_receive(&child, o->timeout_s, o->may_add_s, text);
    if (answer != ANSWER_READY) {
        if (!plugin_child_stop(&child, STOP_GRACE_MS))
            plugin_child_kill(&child);
        front_end.owner = 0;
    }
    return judge(o, s, answer, text);
}

/* Ours have an option (--evenstep-agents) that those of an older evenstep lack:
 * under default=on they would be attended by agents, and these in turn. */
static int is_agent(const char *command)
{
    const char *slash = command ? strrchr(command, '/') : NULL;

    return command
           && strcmp(slash ? slash + 1 : command, "evenstep-agent") == 0;
}

int plugin_local_start(spank_t sp)
{
    struct plugin_options o = plugin_options_get();
    struct step s;
    int is_component;

    (void)unsetenv(FAILED); /* of a step around this one */
    if (o.demand == DEMAND_NONE)
        return 0;
    if (find_step(sp, &s) < 0)
        return o.demand == DEMAND_UNSAID
                   ? 0
                   : without(&o, NULL,
                             "Slurm does not tell the ids of this step");
    if (s.step >= SLURM_MAX_NORMAL_STEP_ID || is_agent(s.command))
        return 0; /* the shell of salloc, not work to be evened */
    is_component = plugin_remote_is_component(sp, getenv("SLURM_NTASKS"));
    if (o.demand == DEMAND_UNSAID
        && !plugin_unasked_wants(o.by_default, s.nodes, is_component))
        return 0;
    if (is_component)
        return without(&o, &s,
                       "a heterogeneous step cannot be attended: start "
                       "each component by an srun of its own");
    if (front_end.owner == getpid())
        plugin_local_stop(); /* srun starts its step again */
    return start(&o, &s);
}

void plugin_local_stop(void)
{
    if (front_end.owner != getpid())
        return;
    front_end.owner = 0;
    (void)plugin_child_stop(&front_end.child, STOP_GRACE_MS);
    /* One that needs longer goes on by itself: its stdin has ended. */
}
