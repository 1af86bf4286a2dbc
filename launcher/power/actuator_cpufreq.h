/* SPDX-License-Identifier: BSD-2-Clause */
/* actuator_cpufreq.h - CPU frequencies. */
#ifndef LAUNCHER_POWER_ACTUATOR_CPUFREQ_H
#define LAUNCHER_POWER_ACTUATOR_CPUFREQ_H

#include "launcher/power/actuator_kind.h"

extern const struct actuator_kind cpufreq_kind;

#endif
