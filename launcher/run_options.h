/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_options.h - the command line of `evenstep run`.
 */
#ifndef LAUNCHER_RUN_OPTIONS_H
#define LAUNCHER_RUN_OPTIONS_H

#include "launcher/config.h"
#include "launcher/determination.h"
#include "launcher/extraction.h"
#include "launcher/qualification.h"
#include "pmix_bcast/error.h"
#include "policy/policy.h"

#define LOCAL_MAX 1024 /* agents of --local; far above any laptop */

struct run_options {
    struct extraction work;
    uint64_t grain;
    const struct policy_kind *policy;
    double policy_value[POLICY_PARAMS]; /* in the kind's order */
    struct threshold threshold;
    enum metrics_source metrics;
    const char *metrics_file; /* METRICS_OF_FILE */
    const struct config_profile *profile;
    int profile_auto; /* fit it; profile is what it falls back to */
    const char *gather, *report, *srun; /* NULL: not given */
    size_t local;                       /* 0: by Slurm */
    int local_speed[LOCAL_MAX];         /* percent of one core each */
    int has_speeds;
    char **command; /* points into argv */
};

/*
 * Parse argv, argv[0] being "run"; what it does not say is as in c.  Returns 0;
 * 1 if --help was asked for and has been printed; -1 with ES_USAGE.  The
 * strings point into argv.
 */
int run_options_parse(struct run_options *o,
                      const struct config *c,
                      int argc,
                      char **argv,
                      struct es_error *err);
#endif
