/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_syntax.h - what may stand in a section policy "NAME": the parameters of
 * that policy, or of the kind that it gives.
 */
#ifndef LAUNCHER_CONFIG_POLICY_SYNTAX_H
#define LAUNCHER_CONFIG_POLICY_SYNTAX_H

#include "launcher/config/grammar.h"
#include "policy/kinds.h"

/* Parameters of all policies together, their kind, and the end. */
#define POLICY_KEYS_MAX (KINDS_MAX * POLICY_PARAMS + 2)

/* The kind, the parameters of all policies, each once, and a CFG_END(). */
void policy_keys(cfg_opt_t keys[POLICY_KEYS_MAX]);
/* The section's check, at its end. */
int policy_check(cfg_t *cfg, cfg_opt_t *opt);

#endif
