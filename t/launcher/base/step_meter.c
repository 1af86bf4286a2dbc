/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/step_meter.h"
#include "launcher/base/option.h"
#include "tap.h"

int main(void)
{
    int wrong = 0;

    for (int m = STEP_METER_NONE; m < STEP_METERS; m++) {
        const char *name = step_meter_name((enum step_meter)m);

        wrong += (int)step_meter_find(name) != m
                 || option_word_find(STEP_METER_WORDS, name) != m;
    }
    is_int(wrong, 0, "every meter is found by its name, as an option, too");
    ok(step_meter_find("pmu") == STEP_METERS
           && step_meter_find("") == STEP_METERS
           && step_meter_find("MPI") == STEP_METERS,
       "and nothing by another");
    return done();
}
