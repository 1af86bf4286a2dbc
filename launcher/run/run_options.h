/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_options.h - the command line of `evenstep run`.
 */
#ifndef LAUNCHER_RUN_RUN_OPTIONS_H
#define LAUNCHER_RUN_RUN_OPTIONS_H

#include "launcher/base/record_rule.h"
#include "launcher/config/config.h"
#include "launcher/config/local_option.h"
#include "launcher/config/meter_option.h"
#include "launcher/run/exec_option.h"
#include "launcher/run/extraction.h"
#include "launcher/run/ok_status.h"
#include "launcher/run/queue.h"
#include "launcher/run/task_source.h"
#include "launcher/run/work_types.h"
#include "launcher/session/qualification.h"
#include "pmix_bcast/error.h"
#include "policy/policy.h"
#include "policy/threshold.h"

struct task_feed;

struct halt_rule {  /* all zero: never */
    double fail;    /* so many tasks that fail end the run, ... */
    int is_percent; /* ... or so many of a hundred */
    int is_soon;    /* what runs then ends by itself */
};

struct run_options {
    struct option_range range;
    struct extraction work;
    const char *lines;         /* NULL: no such file */
    struct record_rule record; /* what of it is a unit */
    int may_leave_lines;       /* a command need not read all of its own */
    const char *queue[QUEUE_SOURCES_MAX]; /* n_queues */
    size_t n_queues;
    int follow;
    uint64_t grain;
    uint64_t pieces; /* that a slice is sent in, at most */
    uint64_t ahead;  /* later frames at work, at most */
    const char *policy_text, *profile_name;
    const struct policy_kind *policy;
    char policy_name[POLICY_NAME_MAX];  /* the kind's, or of a set */
    double policy_value[POLICY_PARAMS]; /* in the kind's order */
    struct threshold_rule threshold;
    struct meter_option meter; /* how far a slice is */
    enum power_variant power;
    enum metrics_source metrics;
    const char *metrics_file; /* METRICS_OF_FILE */
    int metrics_now;          /* METRICS_PROBE, whatever is known */
    const struct config_profile *profile;
    int profile_auto; /* fit it; profile is what it falls back to */
    unsigned retries; /* of a slice whose command failed */
    double timeout_s; /* of a command; 0: none */
    int each;         /* units are tasks, one process each */
    int is_tasks;     /* by `evenstep tasks`: they are command lines */
    struct task_sources sources; /* of tasks */
    const char *arg_sep;         /* in place of ":::"; NULL: that */
    int nul, shuf, fill, repeats;
    uint64_t values;   /* of a task at most; 0: one */
    const char *shell; /* that runs their text; NULL: they are words */
    char *by_shell[2]; /* the command of command lines, for what asks for one */
    struct halt_rule halt;
    int unordered;          /* output comes as tasks end */
    int tag;                /* its lines begin with the task's values */
    double delay_s;         /* from the start of one task to the next one's */
    double task_timeout_s;  /* of a task, in place of timeout_s */
    struct task_feed *feed; /* the list of tasks; NULL: none */
    int exclusive;          /* a task is alone on its node */
    double time_s;          /* that one takes, about; 0: not said */
    int has_needs;          /* lines may say what a task needs; others: */
    struct unit_need usual;
    const char *add;        /* a file of lines for a list; NULL: none */
    int close;              /* a list ends */
    const char *results;    /* a folder of them; NULL: none */
    const char *list_path;  /* of the file that it comes of; or NULL */
    char own_journal[4096]; /* beside that, where none is named */
    struct ok_status ok_status;
    uint64_t keep_going;    /* failures that are left out, at most */
    int bisect;             /* what fails is cut in two, to find the fault */
    struct msg_slots slots; /* of each node; beside is 0: by default */
    int overlap;        /* the next command starts before the last has ended */
    int speculate;      /* what is late is done twice at once */
    uint64_t joinable;  /* nodes that may join it, at most */
    int persistent;     /* the command stays alive */
    double until_end_s; /* of the job's time that are kept; 0: not given */
    int dry_run;        /* commands are printed, and none is run */
    int no_sync;        /* the gathered file need not be on the disk */
    const char *gather, *report, *joblog, *journal, *srun; /* NULL: not given */
    const char *bcast[FILES_MAX]; /* SRC:DST, n_bcast */
    size_t n_bcast;
    struct exec_option exec;  /* the command's program is brought, too */
    int libs;                 /* and what programs among all these need */
    const char *exclude_libs; /* NULL: as the configuration says */
    int update;               /* of those only what differs */
    const char *cache;   /* of nodes, for them; "": as configured; NULL: none */
    int compress;        /* enum pack and 1; 0: as configured */
    const char *workdir; /* of the commands on a node, or "tmp"; NULL: ours */
    char *returned[FILES_MAX]; /* names of files that a piece makes */
    uint32_t n_returned;
    const char *output;        /* name of a piece's output; NULL: gathered */
    int job_comment;           /* tells how it went */
    int resume;                /* the journal may be of a run before */
    int resume_failed;         /* likewise, and what failed is redone */
    struct local_option local; /* not given: by Slurm */
    const char *works;         /* NULL: all work is of the command */
    struct work_types types;   /* of that file, and of the command line */
    char **command;            /* points into argv; of the first work, if
                                  there is none */
    const char *replace;       /* around fields, as "[[]]"; NULL: braces */
    char **renamed;            /* the command, where that is given */
    int reads_env;             /* it reads EVENSTEP_END itself */
};

extern const struct option run_options_table[];

/* What the options come to, o->command set; what they do not say is as in c.
 * Returns 0, or -1 with ES_USAGE; o->types are to be cleared in any case. */
int run_options_settle(struct run_options *o,
                       const struct config *c,
                       struct es_error *err);

#endif
