/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep config: the configuration in force, in the file's own syntax.
 */
#include "launcher/base/options.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"

#include <string.h>

static const struct option options[] = {{.type = OPTION_END}};

static int config_main(int argc, char **argv, struct es_error *err)
{
    struct config config;
    int rc = options_parse(&command_config, NULL, argc, argv, err);

    if (rc != 0)
        return rc;
    if (config_load(&config, NULL, err) < 0)
        return -1;
    return config_print(&config) == 0 ? 0 : es_no_space(err);
}

const struct subcommand command_config = {
    .name = "config",
    .brief = "print the configuration that is in force",
    .about =
        "Print the configuration that is in force, in the file's own syntax.\n",
    .option = options,
    .run = config_main,
};
