/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/plugin_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spank_plugin/plugin_unasked.h"

#ifndef EVENSTEP_LAUNCHER
#    define EVENSTEP_LAUNCHER "/usr/local/bin/evenstep"
#endif

/* Well above a companion step's start (0.1 to 0.2 s) on nodes
 * that are slow to answer; a step that waits longer looks stuck. */
#define TIMEOUT_S     60
#define TIMEOUT_S_MAX 3600
#define COPY_S        600 /* more for --evenstep-bcast; as the front end allows */

#define PROFILE_LEN_MAX 63 /* "cpu", "memory", …: a title in evenstep.conf */

/* has_arg of struct spank_option goes to getopt_long(3) as it is. */
enum argument { ARGUMENT_NEEDED = 1, ARGUMENT_OPTIONAL = 2 };

enum option {
    OPTION_EVENSTEP,
    OPTION_PROFILE,
    OPTION_BCAST,
    OPTION_PROBE,
    OPTION_POWER,
    OPTION_METER,
    OPTION_REPORT,
    OPTION_LIBS,
    OPTION_LEND,
    OPTION_AGENTS
};
#define OPTION_COUNT 10

static char *given[OPTION_COUNT];        /* by the user; owned */
static char *given_bcast[BCAST_MAX + 1]; /* likewise, each; NULL at the end */

static struct {
    int admin_comment;
    int timeout_s, is_timed;
    const char *by_default, *config, *launcher;
} site = {
    .timeout_s = TIMEOUT_S, .by_default = "off", .launcher = EVENSTEP_LAUNCHER};

static int is_one_of(const char *arg, const char *const *words)
{
    while (*words && strcmp(arg, *words) != 0)
        words++;
    return *words != NULL;
}

static int is_demand(const char *arg)
{
    static const char *const words[] = {"on", "off", "required", NULL};
    return is_one_of(arg, words);
}

static int is_probe(const char *arg)
{
    static const char *const words[] = {"cached", "fresh", "off", NULL};
    return is_one_of(arg, words);
}

static int is_power(const char *arg)
{
    static const char *const words[] = {"pair", "boost", "save", "off", NULL};
    return is_one_of(arg, words);
}

static int is_meter(const char *arg)
{
    static const char *const words[] = {"mpi", "cpu", "none", NULL};
    return is_one_of(arg, words);
}

static int is_switch(const char *arg)
{
    static const char *const words[] = {"on", "off", NULL};
    return is_one_of(arg, words);
}

static int is_agents(const char *arg)
{
    static const char *const words[] = {"none", "energy", "limits", NULL};
    return is_one_of(arg, words);
}

static int is_report(const char *arg)
{
    return strlen(arg) < PATH_MAX;
}

static int is_profile(const char *arg)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t len = strlen(arg);

    return len > 0 && len <= PROFILE_LEN_MAX && strspn(arg, name) == len
           && arg[0] != '-';
}

/* Absolute here, or by the TMPDIR of each node. */
static int is_place(const char *path)
{
    return (path[0] == '/' && path[1] != '\0')
           || (strncmp(path, "$TMPDIR/", 8) == 0 && path[8] != '\0')
           || (strncmp(path, "${TMPDIR}/", 10) == 0 && path[10] != '\0');
}

static int is_bcast(const char *arg)
{
    const char *colon = strchr(arg, ':');

    return colon && colon > arg && colon - arg < PATH_MAX && is_place(colon + 1)
           && strlen(colon + 1) < PATH_MAX;
}

static const struct {
    const char *name;
    int (*allows)(const char *arg);
    const char *allowed;
} checks[OPTION_COUNT] = {
    [OPTION_EVENSTEP] = {"evenstep", is_demand, "on, off or required"},
    [OPTION_PROFILE] = {"evenstep-profile", is_profile,
                        "the name of a profile in evenstep.conf, of up to 63 "
                        "letters, digits, '_' and '-'"},
    [OPTION_BCAST] = {"evenstep-bcast", is_bcast,
                      "SRC:DST, a file or folder here and an absolute path "
                      "for it on every node"},
    [OPTION_PROBE] = {"evenstep-probe", is_probe, "cached, fresh or off"},
    [OPTION_POWER] = {"evenstep-power", is_power, "pair, boost, save or off"},
    [OPTION_METER] = {"evenstep-meter", is_meter, "mpi, cpu or none"},
    [OPTION_REPORT] = {"evenstep-report", is_report, "a file, or off"},
    [OPTION_LIBS] = {"evenstep-libs", is_switch, "on or off"},
    [OPTION_LEND] = {"evenstep-lend", is_switch, "on or off"},
    [OPTION_AGENTS] = {"evenstep-agents", is_agents, "none, energy or limits"},
};

/*
 * An option without a value arrives as NULL from the command line and, through
 * the environment of a job, as "" or "(null)": 22.05 prints the NULL when it
 * hands an option of sbatch or salloc on to the job's sruns.
 */
static const char *take_bare(int val, const char *arg)
{
    if (arg && arg[0] && strcmp(arg, "(null)") != 0)
        return arg;
    if (val == OPTION_EVENSTEP || val == OPTION_LIBS || val == OPTION_LEND)
        return "on";
    return val == OPTION_REPORT ? "" : arg;
}

/*
 * It may be given more than once.  Slurm may say one twice (from the
 * environment of a job, and when it reads a command line again), and of two for
 * one place the last counts: the place of *slot is kept.  NULL: there are too
 * many.
 */
static char **find_bcast(const char *arg)
{
    const char *place = strchr(arg, ':');
    int i = 0;

    while (given_bcast[i] && strcmp(strchr(given_bcast[i], ':'), place) != 0)
        i++;
    return i < BCAST_MAX ? &given_bcast[i] : NULL;
}

/* sbatch and salloc hand the last of an option on to the job's steps: these would
 * start without what others say. */
static int is_lost(int val, char **slot, int remote)
{
    return val == OPTION_BCAST && !remote && !*slot && slot != given_bcast
           && spank_context() == S_CTX_ALLOCATOR;
}

/* Slurm's callback. */
static int take_option(int val, const char *arg, int remote)
{
    char *copy, **slot;

    if (val < 0 || val >= OPTION_COUNT)
        return remote ? 0 : -1;
    arg = take_bare(val, arg);
    if (!arg || !checks[val].allows(arg)) {
        if (remote)
            return 0; /* checked where it was typed; no reason to stop here */
        slurm_error("evenstep: --%s: '%s' is not allowed: give %s",
                    checks[val].name, arg ? arg : "", checks[val].allowed);
        return -1;
    }
    slot = val == OPTION_BCAST ? find_bcast(arg) : &given[val];
    if (!slot && !remote)
        slurm_error("evenstep: --%s is given more than %d times: bring a "
                    "folder",
                    checks[val].name, BCAST_MAX);
    if (slot && is_lost(val, slot, remote)) {
        slurm_error(
            "evenstep: --evenstep-bcast=%s: sbatch and salloc hand only one "
            "on: give them to srun, or bring a folder",
            arg);
        return -1;
    }
    copy = slot ? strdup(arg) : NULL;
    if (!copy)
        return remote ? 0 : -1;
    free(*slot);
    *slot = copy;
    return 0;
}

void plugin_options_register(spank_t sp)
{
    static struct spank_option options[OPTION_COUNT] = {
        {"evenstep", "[on|off|required]",
         "[evenstep] let all nodes of the step finish together: on (also if "
         "no value is given), off, or required: do not start the step "
         "without it",
         ARGUMENT_OPTIONAL, OPTION_EVENSTEP, take_option},
        {"evenstep-profile", "NAME",
         "[evenstep] what the step needs most: cpu, memory, network, io, gpu, "
         "another profile of evenstep.conf, or auto (implies --evenstep)",
         ARGUMENT_NEEDED, OPTION_PROFILE, take_option},
        {"evenstep-bcast", "SRC:DST",
         "[evenstep] bring the file or folder SRC to DST on every node before "
         "the step starts; may be given more than once (implies --evenstep)",
         ARGUMENT_NEEDED, OPTION_BCAST, take_option},
        {"evenstep-probe", "cached|fresh|off",
         "[evenstep] how to learn what each node can do: from the last "
         "probe, by a new one, or not at all (implies --evenstep)",
         ARGUMENT_NEEDED, OPTION_PROBE, take_option},
        {"evenstep-power", "pair|boost|save|off",
         "[evenstep] steer power or CPU time from the nodes that come first "
         "to a barrier to those that come last: in pairs, or only to the "
         "slowest, or only take what the first do not need (implies "
         "--evenstep)",
         ARGUMENT_NEEDED, OPTION_POWER, take_option},
        {"evenstep-meter", "mpi|cpu|none",
         "[evenstep] meter the program as it is: by its calls of MPI, or by "
         "the CPU time of its tasks (implies --evenstep)",
         ARGUMENT_NEEDED, OPTION_METER, take_option},
        {"evenstep-report", "[FILE|off]",
         "[evenstep] say at the end of the step how well its ranks and nodes "
         "worked together, and write the figures to FILE (implies "
         "--evenstep)",
         ARGUMENT_OPTIONAL, OPTION_REPORT, take_option},
        {"evenstep-libs", "[on|off]",
         "[evenstep] with the programs of --evenstep-bcast bring the shared "
         "objects that they need, to DST_libs, and let the tasks look there "
         "first",
         ARGUMENT_OPTIONAL, OPTION_LIBS, take_option},
        {"evenstep-lend", "[on|off]",
         "[evenstep] lend the CPUs of MPI ranks that wait to OpenMP threads of "
         "other ranks on their node (implies --evenstep)",
         ARGUMENT_OPTIONAL, OPTION_LEND, take_option},
        {"evenstep-agents", "none|energy|limits",
         "[evenstep] evenstep gives this to the srun of its own agents: what "
         "root's evenstep-power does beside them",
         ARGUMENT_NEEDED, OPTION_AGENTS, take_option},
    };

    for (int i = 0; i < OPTION_COUNT; i++)
        if (spank_option_register(sp, &options[i]) != ESPANK_SUCCESS)
            slurm_error("evenstep: cannot register --%s: does another "
                        "plugin in plugstack.conf have it?",
                        options[i].name);
}

/* "_SLURM_SPANK_OPTION_", the plugin's name, '_', and that of the option. */
void plugin_options_drop_environ(spank_t sp)
{
    char name[64];

    for (int i = 0; i < OPTION_COUNT; i++) {
        (void)snprintf(name, sizeof name, "_SLURM_SPANK_OPTION_evenstep_%s",
                       checks[i].name);
        for (char *c = name; *c; c++)
            if (*c == '-')
                *c = '_';
        (void)spank_unsetenv(sp, name); /* most are not there */
    }
}

static int set_config(const char *value)
{
    if (value[0] != '/')
        return -1;
    site.config = value;
    return 0;
}

static int set_default(const char *value)
{
    if (!plugin_unasked_allows(value))
        return -1;
    site.by_default = value;
    return 0;
}

static int set_admin_comment(const char *value)
{
    if (!is_switch(value))
        return -1;
    site.admin_comment = strcmp(value, "on") == 0;
    return 0;
}

static int set_launcher(const char *value)
{
    if (value[0] != '/')
        return -1;
    site.launcher = value;
    return 0;
}

static int set_timeout(const char *value)
{
    char *end;
    long seconds;

    if (value[0] < '0' || value[0] > '9') /* no blank, no sign */
        return -1;
    errno = 0;
    seconds = strtol(value, &end, 10);
    if (errno || *end || seconds < 1 || seconds > TIMEOUT_S_MAX)
        return -1;
    site.timeout_s = (int)seconds;
    site.is_timed = 1;
    return 0;
}

static const struct {
    const char *key; /* with its '=' */
    int (*set)(const char *value);
    const char *allowed;
} arguments[] = {
    {"admin_comment=", set_admin_comment, "on or off"},
    {"config=", set_config, "an absolute path"},
    {"default=", set_default,
     "on, off or on:PARTITION[,PARTITION...], as default=on:large,gpu"},
    {"launcher=", set_launcher, "an absolute path"},
    {"timeout=", set_timeout, "1 to 3600 seconds"},
};
#define ARGUMENT_COUNT (sizeof arguments / sizeof *arguments)

static void set_argument(const char *arg, int complain)
{
    for (size_t i = 0; i < ARGUMENT_COUNT; i++) {
        size_t len = strlen(arguments[i].key);

        if (strncmp(arg, arguments[i].key, len) != 0)
            continue;
        if (arguments[i].set(arg + len) < 0 && complain)
            slurm_error("evenstep: plugstack.conf: '%s' is left out: give "
                        "%s%s",
                        arg, arguments[i].key, arguments[i].allowed);
        return;
    }
    if (complain)
        slurm_error("evenstep: plugstack.conf: '%s' is left out: give "
                    "admin_comment=, config=, default=, launcher= or "
                    "timeout=",
                    arg);
}

void plugin_options_set_arguments(int ac, char **av, int complain)
{
    for (int i = 0; i < ac; i++)
        set_argument(av[i], complain);
}

static int wants_libs(void)
{
    return given[OPTION_LIBS] && strcmp(given[OPTION_LIBS], "on") == 0;
}

static enum plugin_demand reckon_demand(void)
{
    if (given[OPTION_EVENSTEP]) {
        if (strcmp(given[OPTION_EVENSTEP], "off") == 0)
            return DEMAND_NONE;
        if (strcmp(given[OPTION_EVENSTEP], "required") == 0)
            return DEMAND_REQUIRED;
        return DEMAND_ON;
    }
    if (given[OPTION_PROFILE] || given_bcast[0] || given[OPTION_PROBE]
        || given[OPTION_POWER] || given[OPTION_METER] || given[OPTION_REPORT]
        || given[OPTION_LEND])
        return DEMAND_ON; /* "implies --evenstep" */
    return given[OPTION_AGENTS] ? DEMAND_NONE : DEMAND_UNSAID;
}

struct plugin_options plugin_options_get(void)
{
    int more_s = given_bcast[0] ? COPY_S : 0;
    enum plugin_demand demand = reckon_demand();

    return (struct plugin_options){
        .demand = demand,
        .agents = demand == DEMAND_NONE ? given[OPTION_AGENTS] : NULL,
        .profile = given[OPTION_PROFILE],
        .bcast = (const char *const *)given_bcast,
        .probe = given[OPTION_PROBE],
        .power = given[OPTION_POWER],
        .meter = given[OPTION_METER],
        .report = given[OPTION_REPORT],
        .lend = given[OPTION_LEND],
        .libs = wants_libs() && given_bcast[0],
        .by_default = site.by_default,
        .config = site.config,
        .launcher = site.launcher,
        .timeout_s = site.timeout_s + more_s,
        .may_add_s = site.is_timed ? -1 : more_s,
        .admin_comment = site.admin_comment,
    };
}

void plugin_options_clear(void)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        free(given[i]);
        given[i] = NULL;
    }
    for (int i = 0; given_bcast[i]; i++) {
        free(given_bcast[i]);
        given_bcast[i] = NULL;
    }
}
