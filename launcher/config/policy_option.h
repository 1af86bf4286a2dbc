/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_option.h - a policy and its parameters from the text of --policy,
 * NAME[:key=value,...], with one message wherever it is given.
 */
#ifndef LAUNCHER_CONFIG_POLICY_OPTION_H
#define LAUNCHER_CONFIG_POLICY_OPTION_H

#include "launcher/config/config.h"
#include "pmix_bcast/error.h"
#include "policy/policy.h"

/* What becomes of a value out of a parameter's range. */
enum policy_strictness {
    POLICY_STRICT, /* an error */
    POLICY_SETTLE  /* what the policy's program of origin makes of it, which
                      also takes blanks around a number */
};

struct policy_option {
    const struct policy_kind *kind;
    char name[POLICY_NAME_MAX];         /* the kind's, or of a set */
    double value[POLICY_PARAMS];        /* in the kind's order, all accepted */
    char warnings[128 * POLICY_PARAMS]; /* a line for each value settled */
};

/* The set of parameters of that name, or NULL. */
const struct config_set *policy_option_find_set(const struct config *c,
                                                const char *name);

/* NAME[:key=value,...], of a kind or of a set of c's; what it does not say is
 * as in c, or the default if c is NULL.  0, or -1 with ES_USAGE. */
int policy_option_parse(struct policy_option *o,
                        const struct config *c,
                        const char *text,
                        enum policy_strictness strictness,
                        struct es_error *err);

/* The text of --policy or, where that was not given (NULL), what the profile
 * says, or the default. */
const char *policy_option_text(const char *text,
                               const struct config_profile *profile);

/* One more "key=value" for the policy that o has; fails alike. */
int policy_option_set(struct policy_option *o,
                      const char *text,
                      enum policy_strictness strictness,
                      struct es_error *err);

/* "give one of: even canon ...", and of the sets of c, which may be NULL;
 * POLICY_NAMES_MAX bytes have room for all kinds, and are enough for es_fail(). */
#define POLICY_NAMES_MAX (32 + KINDS_MAX * 32)
void policy_option_names(const struct config *c, char *text, size_t size);

/* Print all policies, and each one's parameters with default and range. */
void policy_option_print(void);

/* The range of a parameter as people say it: "1 to 5", "1 or more", "any". */
#define POLICY_SPAN 64 /* bytes that are enough */
void policy_option_span(const struct policy_param *param,
                        char text[POLICY_SPAN]);
/* "give a whole number from 1 to 5", as it would mend a value. */
void policy_option_range(const struct policy_param *param,
                         char *text,
                         size_t size);

#endif
