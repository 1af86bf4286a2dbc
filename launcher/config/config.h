/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config.h - what the site and the user have set.
 */
#ifndef LAUNCHER_CONFIG_CONFIG_H
#define LAUNCHER_CONFIG_CONFIG_H

#include "launcher/base/on_error.h"
#include "launcher/base/step_meter.h"
#include "launcher/probe/probe_result.h"
#include "pmix_bcast/channel.h"
#include "pmix_bcast/network.h"
#include "pmix_bcast/pack_choice.h"
#include "pmix_bcast/thread.h"
#include "pmix_bcast/transport.h"
#include "pmix_bcast/wireup_way.h"
#include "policy/aggregate.h"
#include "policy/kinds.h"
#include "policy/profile.h"
#include "policy/rank_by.h"
#include "policy/schedule.h"
#include "policy/threshold.h"

/* A profile that is fitted to earlier runs, not given: profile_auto.h. */
#define PROFILE_AUTO     "auto"
#define PROFILES_MAX     32  /* shipped and the site's */
#define PROFILE_NAME_MAX 32  /* bytes, the NUL included */
#define POLICY_SETS_MAX  64  /* of parameters, of the site */
#define POLICY_NAME_MAX  32  /* of one, bytes with the NUL */
#define WORK_TEXT_MAX    512 /* of what a type of work names */
#define BUDGETS_MAX      512
#define EXCLUDE_LIBS_MAX 4096 /* likewise */
#define BUDGET_RACK_MAX  64   /* likewise */

struct config {
    enum wireup_way wireup; /* wireup */
    enum on_error on_error; /* plugin { on_error } */
    char agent_path[4096];  /* plugin { agent_path }; "": beside evenstep */
    char step_policy[POLICY_NAME_MAX];    /* plugin { policy } */
    struct threshold_rule step_threshold; /* plugin { threshold } */
    int step_patience_s;                  /* plugin { patience } */
    enum step_meter step_meter;           /* plugin { meter } */
    int step_lend;                        /* plugin { lend } */
    int step_report;      /* plugin { report }: how each step went */
    struct config_probe { /* probe { … } */
        int budget_ms;    /* for all elements of a node */
        int64_t ttl_s;    /* how long a result in the cache is valid */
        char cache[PROBE_PATH_MAX];   /* its directory */
        char scratch[PROBE_PATH_MAX]; /* element "S"; "": $TMPDIR or /tmp */
        unsigned elements;            /* element "C" { measure = true }, … */
        struct probe_site site[SITE_ELEMENTS]; /* element "W" { command }, … */
        double outlier[ELEMENTS];              /* robust deviations; 0: never */
        enum rank_by rank_by;                  /* which elements count */
    } probe;
    struct config_slurm {     /* slurm { … } */
        int drain_interval_s; /* between two looks at drained nodes; 0: never */
        int job_comment;      /* a run tells there how it went */
    } slurm;
    struct config_bcast {  /* bcast { … } */
        uint32_t branches; /* 0: as it is best */
        uint32_t chunk;    /* bytes; 0: as it is best */
        uint32_t small;    /* bytes that go with the order, for all nodes */
        struct port_range ports; /* where we listen; 0-0: SrunPortRange */
        char interface[NETWORK_LIST_MAX]; /* meant for data; "": Slurm's */
        char cache[PROBE_PATH_MAX]; /* of nodes: where users have theirs */
        uint64_t cache_bytes;       /* that one may have */
        char exclude_libs[EXCLUDE_LIBS_MAX]; /* folders, or "none" */
        enum pack compress;
        enum transport transport;
        unsigned threads; /* of an agent that receives; or THREADS_AUTO */
        int strict;       /* scheme: as published, CN 102486739 */
        int rails;        /* several networks of interface at once */
    } bcast;
    int timeout_s;        /* agents { timeout }: that they have to come */
    int linger_s;         /* agents { linger }: that they stay; 0: not at all */
    int encrypt;          /* encrypt all connections */
    struct config_power { /* power { … } */
        char actuator[16];
        double cap;    /* of a node: watts, MHz or a part, as the actuator;
                         0: none */
        double floor;  /* part of what a node can have at most */
        int has_start; /* of a file for version 0.1: no effect */
        double bound, band, gain; /* policy/power.h */
        int interval_ms;          /* between two samples of the meters */
        enum aggregate aggregate; /* of a node's threads */
        int within_nodes; /* their ranks and packages are steered, too */
        int energy;       /* users of whole nodes may see RAPL's counters */
        size_t budgets;
        struct config_budget { /* budget "RACK" { most = … } */
            char rack[BUDGET_RACK_MAX];
            double most; /* watts, MHz, CPUs or threads, as the actuator */
        } budget[BUDGETS_MAX];
    } power;
    struct power energy; /* energy { … }: the model of task graphs */
    int has_energy;      /* the site has given some of it, for its nodes */
    size_t profiles;
    struct config_profile { /* profile "NAME" { … }; the default first */
        char name[PROFILE_NAME_MAX];
        struct profile profile;
        double need[ELEMENTS]; /* bytes that a node must have, of M, S and G */
        char policy[POLICY_NAME_MAX]; /* of what has it; "": as without it */
    } profile[PROFILES_MAX];
    double policy[KINDS_MAX][POLICY_PARAMS]; /* by kinds_place(), param */
    size_t sets;
    struct config_set { /* policy "NAME" { kind = … }, no kind's name */
        char name[POLICY_NAME_MAX];
        const struct policy_kind *kind;
        double value[POLICY_PARAMS]; /* in the kind's order */
    } set[POLICY_SETS_MAX];
};

/* Print *c in the file's own syntax.  0, or -1 if that cannot be written. */
int config_print(const struct config *c);

#endif
