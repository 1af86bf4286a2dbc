/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/attend_libs.h"

int attend_libs_find(struct attend_options *o,
                     const char *exclude,
                     char list[LIBS_LIST_MAX],
                     struct es_error *err)
{
    int programs = 0;

    list[0] = '\0';
    for (size_t i = 0; i < o->inputs; i++) {
        struct attend_input *in = &o->input[i];
        int found = libs_add(&in->libs, list, in->source, in->destination,
                             exclude, err);

        if (found < 0)
            return -1;
        programs += found;
    }
    return programs > 0 ? 0
                        : es_fail(err, ES_USAGE,
                                  "bring a program by --evenstep-bcast, or "
                                  "leave it out",
                                  "--evenstep-libs: no file that is brought "
                                  "is a program");
}
