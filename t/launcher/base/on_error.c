/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/on_error.h"
#include "tap.h"

int main(void)
{
    int wrong = 0;

    for (enum on_error on = ON_ERROR_INPUT; on < ON_ERRORS; on++)
        wrong += on_error_find(on_error_name(on)) != on;
    is_int(wrong, 0, "every answer is found by its name");
    ok(on_error_find("maybe") == ON_ERRORS && on_error_find("") == ON_ERRORS
           && on_error_find("Fail") == ON_ERRORS,
       "and nothing by another");
    return done();
}
