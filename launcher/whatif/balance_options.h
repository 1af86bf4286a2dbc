/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balance_options.h - the command line of `evenstep simulate balance`.
 */
#ifndef LAUNCHER_WHATIF_BALANCE_OPTIONS_H
#define LAUNCHER_WHATIF_BALANCE_OPTIONS_H

#include "launcher/config/policy_option.h"
#include "policy/balance.h"

struct balance_options {
    struct balance_setup setup; /* without the policy */
    double *speed;              /* setup.n */
    struct balance_change *change;
    struct policy_option *policy;
    size_t n_policies;
    int64_t frames;
    int json;
    /* As on the command line; NULL: not given. */
    const char *trace, *nodes, *speeds, *policies, *seed;
    int is_equal, help;
};

/*
 * Parse argv, argv[0] being "balance".  Returns 0; 1 if --help was asked for
 * and has been printed; or -1.  Clear o in any case.
 */
int balance_options_parse(struct balance_options *o,
                          int argc,
                          char **argv,
                          struct es_error *err);
void balance_options_clear(struct balance_options *o);

#endif
