/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep config: the configuration in force, in the file's own syntax.
 */
#include "launcher/base/help.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"

#include <string.h>

int command_config(int argc, char **argv, struct es_error *err)
{
    struct config config;

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return help_print("usage: evenstep config\n\nPrint the configuration "
                          "that is in force, in the file's own syntax.\n",
                          err);
    if (argc > 1)
        return es_fail(err, ES_USAGE, "give none",
                       "config: unexpected argument \"%s\"", argv[1]);
    if (config_load(&config, NULL, err) < 0)
        return -1;
    return config_print(&config) == 0 ? 0 : es_no_space(err);
}
