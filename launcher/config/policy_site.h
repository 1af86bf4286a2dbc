/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_site.h - policies by name where no configuration is at hand: the sets
 * are those of the configuration in force, which is read here.
 */
#ifndef LAUNCHER_CONFIG_POLICY_SITE_H
#define LAUNCHER_CONFIG_POLICY_SITE_H

#include "launcher/config/policy_option.h"

/* policy_option_parse(), where results must not depend on the site: a kind has its defaults,
 * whatever the configuration in force says, but a set of it has its values. */
int policy_site_parse(struct policy_option *o,
                      const char *text,
                      enum policy_strictness strictness,
                      struct es_error *err);

/* The i-th name, or NULL, as struct option has it: the kinds', and of the sets
 * of the configuration in force. */
const char *policy_site_word(size_t i);

#endif
