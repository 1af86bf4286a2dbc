/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile_option.h - an influence profile by the name that --profile gives,
 * with one message wherever it is given.
 */
#ifndef LAUNCHER_CONFIG_PROFILE_OPTION_H
#define LAUNCHER_CONFIG_PROFILE_OPTION_H

#include "launcher/config/config.h"
#include "pmix_bcast/error.h"

/* One of c's, valid as long as c is: the default if name is NULL or
 * `auto`, which is for profile_auto() when the command is known.  NULL with
 * ES_USAGE if it has none such; option is for the message. */
const struct config_profile *profile_option_find(const struct config *c,
                                                 const char *name,
                                                 const char *option,
                                                 struct es_error *err);

/* The i-th name, or NULL, as struct option has it: those of the configuration
 * in force, and `auto`. */
const char *profile_option_word(size_t i);

#endif
