/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/step_meter.h"

#include <string.h>

static const char *const names[STEP_METERS] = {
    [STEP_METER_NONE] = "none",
    [STEP_METER_MPI] = "mpi",
    [STEP_METER_CPU] = "cpu",
};

enum step_meter step_meter_find(const char *name)
{
    enum step_meter meter = STEP_METER_NONE;

    while (meter < STEP_METERS && strcmp(name, names[meter]) != 0)
        meter++;
    return meter;
}

const char *step_meter_name(enum step_meter meter)
{
    return names[meter];
}
