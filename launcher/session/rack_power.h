/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rack_power.h - the racks of a step whose power is steered: between racks
 * first, then within each, and never more than a rack's budget.
 */
#ifndef LAUNCHER_SESSION_RACK_POWER_H
#define LAUNCHER_SESSION_RACK_POWER_H

#include "launcher/config/config.h"
#include "launcher/session/session.h"
#include "policy/power.h"

struct rack_power;

/* The racks of all nodes of the session, which must be ready, and their
 * budgets.  NULL if memory ran out.  config must outlive it. */
struct rack_power *rack_power_new(const struct session *session,
                                  const struct config_power *config);
/* NULL is allowed. */
void rack_power_free(struct rack_power *r);

/*
 * What a node may have of its rack's budget at the start: of limit, in the
 * actuator's unit ("uW"), an equal part of the budget at most, but not less
 * than its floor; a line to stderr tells once of a rack whose floors are above
 * its budget.
 */
uint64_t rack_power_start(struct rack_power *r,
                          size_t node,
                          uint64_t limit,
                          uint64_t floor,
                          const char *unit);

/* The balancing step over all nodes, in their order; if there is only one rack
 * that of policy/power.h. */
size_t rack_power_step(struct rack_power *r,
                       const struct power_rule *rule,
                       struct power_node node[]);

/* So that limits can be raised one by one: nothing is given yet; a node has so
 * much, or so much more; the most that its rack can still be given. */
void rack_power_clear(struct rack_power *r);
void rack_power_give(struct rack_power *r, size_t node, uint64_t amount);
uint64_t rack_power_left(const struct rack_power *r, size_t node);

#endif
