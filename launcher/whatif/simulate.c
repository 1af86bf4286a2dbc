/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep simulate: tries out what no cluster is at hand for.
 */
#include "launcher/base/help.h"
#include "launcher/commands.h"
#include "launcher/whatif/simulations.h"

#include <string.h>

static const char usage[] =
    "usage: evenstep simulate bcast [options]     a broadcast\n"
    "       evenstep simulate balance [options]   frames on unequal nodes\n"
    "       evenstep simulate balance --power [options]   steered power\n"
    "\n"
    "`evenstep simulate bcast --help` tells more, so do the others.\n";

static int is_given(const char *option, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], option) == 0)
            return 1;
    return 0;
}

int command_simulate(int argc, char **argv, struct es_error *err)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "bcast") == 0)
        return simulate_bcast(argc - 1, argv + 1, err);
    if (strcmp(what, "balance") == 0 && is_given("--power", argc, argv))
        return simulate_power(argc - 1, argv + 1, err);
    if (strcmp(what, "balance") == 0)
        return simulate_balance(argc - 1, argv + 1, err);
    if (strcmp(what, "--help") == 0)
        return help_print(usage, err);
    return es_fail(err, ES_USAGE, "give bcast or balance", "simulate: what?");
}
