/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/on_error.h"

#include <string.h>

static const char *const names[ON_ERRORS] = {
    [ON_ERROR_INPUT] = "input",
    [ON_ERROR_CONTINUE] = "continue",
    [ON_ERROR_FAIL] = "fail",
};

enum on_error on_error_find(const char *name)
{
    enum on_error on = ON_ERROR_INPUT;

    while (on < ON_ERRORS && strcmp(name, names[on]) != 0)
        on++;
    return on;
}

const char *on_error_name(enum on_error on)
{
    return names[on];
}
