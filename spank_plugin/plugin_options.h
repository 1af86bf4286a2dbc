/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_options.h - what the user asked for on the command line of srun,
 * sbatch or salloc, and what the site wrote behind the plugin's name in
 * plugstack.conf.
 *
 * Both are kept in the one place that the callbacks of Slurm's options, which
 * have no user pointer, can reach.  Called on the program's main thread.
 */
#ifndef SPANK_PLUGIN_OPTIONS_H
#define SPANK_PLUGIN_OPTIONS_H

#include <slurm/spank.h>

#define BCAST_MAX 16 /* --evenstep-bcast is given so often, at most */

enum plugin_demand {
    DEMAND_NONE,   /* --evenstep=off */
    DEMAND_UNSAID, /* plugin_unasked.h decides */
    DEMAND_ON,
    DEMAND_REQUIRED, /* no step without it */
};

/* Values are as given and checked; NULL where nothing was given. */
struct plugin_options {
    enum plugin_demand demand;
    const char *profile;
    const char *const *bcast; /* SRC:DST, of each; NULL behind the last */
    const char *probe;        /* cached, fresh, off */
    const char *power;        /* pair, boost, save, off */
    const char *meter;        /* mpi, cpu, none */
    const char *report;       /* a file, or "" */
    const char *lend;         /* on, off */
    const char *agents;       /* none, energy, limits: a step of evenstep's own
                                 agents, in which nobody asked for more */
    int libs;                 /* those of the programs of bcast, too */
    const char *by_default;   /* on, off or on:PARTITION,... */
    const char *config;       /* absolute path */
    const char *launcher;     /* absolute path of the program evenstep */
    int timeout_s;            /* how long a step waits for evenstep's start, */
    int may_add_s;            /* or so much more than it says; < 0: not more */
    int admin_comment;        /* 1: the site wants it set */
};

/*
 * Take the arguments of the plugin's line in plugstack.conf.  A bad one is
 * left out, with one error line if complain is set.  av must live as long as
 * the plugin.
 */
void plugin_options_set_arguments(int ac, char **av, int complain);

/* Register the options; to be called from slurm_spank_init(). */
void plugin_options_register(spank_t sp);

/*
 * In slurmstepd, from slurm_spank_init(): take out of the step's environment the
 * variables by which Slurm hands on options of sbatch and salloc.  slurmstepd
 * would read them after those that it has from srun, and anybody can set them:
 * what srun has sent is all that counts.
 */
void plugin_options_drop_environ(spank_t sp);

/* The whole of it; the strings are valid until plugin_options_clear(). */
struct plugin_options plugin_options_get(void);

/* Forget what the user gave. */
void plugin_options_clear(void);

#endif
