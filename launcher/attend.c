#include "launcher/commands.h"
int command_attend(int argc, char **argv, struct es_error *err)
{
    (void)argc; (void)argv;
    return es_fail(err, ES_USAGE, "x", "y");
}
