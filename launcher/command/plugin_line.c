/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/plugin_line.h"
#include "launcher/base/plain_text.h"

#include <stdio.h>
#include <stdlib.h>

#define WAITS "EVENSTEP_PLUGIN_WAITS"

/* The plugin takes no line for a failure. */
static void end_line(struct plugin_line *l)
{
    l->is_written = 1;
    (void)fflush(stdout);
}

void plugin_line_wait(const struct plugin_line *l, int seconds)
{
    if (l->is_written || !getenv(WAITS))
        return;
    printf("wait %d\n", seconds);
    (void)fflush(stdout);
}

void plugin_line_ready(struct plugin_line *l)
{
    if (l->is_written)
        return;
    printf("ready\n");
    end_line(l);
}

void plugin_line_failed(struct plugin_line *l,
                        enum on_error on,
                        int lacks_input,
                        const struct es_error *err)
{
    int for_input = on == ON_ERROR_INPUT && lacks_input;
    char text[PLUGIN_LINE_MAX - 1], line[sizeof text];

    if (l->is_written)
        return;
    (void)snprintf(text, sizeof text, "%s: %s: %s%s",
                   for_input || on == ON_ERROR_FAIL ? "fail" : "continue",
                   err->what, err->mend,
                   for_input ? "; the step is not started without its input"
                             : "");
    plain_text(line, sizeof line, text);
    printf("%s\n", line);
    end_line(l);
}
