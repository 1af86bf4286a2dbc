/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_state.h"

void run_finish(struct run *r, int failed)
{
    r->phase = FINISHED;
    front_finish(&r->front, failed);
}
