/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balance_options.h - the command line of `evenstep simulate balance`.
 */
#ifndef LAUNCHER_WHATIF_BALANCE_OPTIONS_H
#define LAUNCHER_WHATIF_BALANCE_OPTIONS_H

#include "launcher/base/option.h"
#include "launcher/config/policy_option.h"
#include "policy/balance.h"

struct balance_options {
    struct balance_setup setup; /* without the policy */
    double *speed, *lag;        /* setup.n; lag: NULL: starts wait alike */
    struct balance_change *change;
    struct policy_option *policy;
    size_t n_policies;
    int64_t frames; /* 0: not given */
    int64_t seed;   /* below 0: not given */
    int64_t ahead;  /* likewise */
    uint64_t nodes; /* 0: not given */
    int json, power, is_equal, is_cpu;
    const char *trace, *speeds, *startup, *policies; /* NULL: not given */
};

extern const struct option balance_options_table[];

/* What the options come to.  Returns 0, or -1.  Clear o in any case. */
int balance_options_settle(struct balance_options *o, struct es_error *err);
void balance_options_clear(struct balance_options *o);

#endif
