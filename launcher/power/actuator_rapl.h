/* SPDX-License-Identifier: BSD-2-Clause */
/* actuator_rapl.h - power caps of the CPU packages. */
#ifndef LAUNCHER_POWER_ACTUATOR_RAPL_H
#define LAUNCHER_POWER_ACTUATOR_RAPL_H

#include "launcher/power/actuator_kind.h"

extern const struct actuator_kind rapl_kind;

#endif
