/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/help.h"

#include <stdio.h>

int help_print(const char *text, struct es_error *err)
{
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
        return 0;
    return es_no_space(err);
}
