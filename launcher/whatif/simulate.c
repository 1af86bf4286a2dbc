/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep simulate: tries out what no cluster is at hand for.
 */
#include "launcher/base/options.h"
#include "launcher/commands.h"
#include "launcher/whatif/simulations.h"

#include <string.h>

static const struct subcommand *const simulations[] = {
    &simulate_bcast, &simulate_balance, &simulate_power, NULL};

static int is_given(const char *option, char **argv)
{
    while (*argv && strcmp(*argv, option) != 0)
        argv++;
    return *argv != NULL;
}

static int simulate_main(int argc, char **argv, struct es_error *err)
{
    int rc = options_parse(&command_simulate, NULL, argc, argv, err);

    if (rc != 0)
        return rc;
    argv++;
    for (argc = 0; argv[argc]; argc++) /* a -- may have gone */
        ;
    if (strcmp(argv[0], "bcast") == 0)
        return simulate_bcast.run(argc, argv, err);
    if (is_given("--power", argv))
        return simulate_power.run(argc, argv, err);
    return simulate_balance.run(argc, argv, err);
}

static const struct option none[] = {{.type = OPTION_END}};

const struct subcommand command_simulate = {
    .name = "simulate",
    .brief = "what-if at sizes that nobody has at hand",
    .usage =
        "evenstep simulate bcast [options]             a broadcast\n"
        "       evenstep simulate balance [options]           frames on unequal nodes\n"
        "       evenstep simulate balance --power [options]   steered power",
    .about = "`evenstep simulate bcast --help` tells more, so do the others.\n",
    .option = none,
    .operands = "bcast|balance [OPTION...]",
    .stops = 1,
    .run = simulate_main,
    .sub = simulations,
};
