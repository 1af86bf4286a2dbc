/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_line.h - what the front end of a step writes to the plugin, on its stdout:
 *
 *   wait N            it may take N seconds from now on; only to a plugin that
 *                     has said in the environment that it knows this
 *
 * and then one line:
 *
 *   ready             the step may start
 *   continue: TEXT    something failed; the site lets the step start anyway
 *   fail: TEXT        something failed; the step must not start
 *
 * Only the first counts: later ones are not written.  TEXT is plain, see
 * plain_text.h.
 */
#ifndef LAUNCHER_COMMAND_PLUGIN_LINE_H
#define LAUNCHER_COMMAND_PLUGIN_LINE_H

#include "launcher/base/on_error.h"
#include "pmix_bcast/error.h"

#define PLUGIN_LINE_MAX                                                        \
    1024 /* with its newline: it does not take a longer one */

struct plugin_line { /* all zero: not written yet */
    int is_written;
};

/* Not if the line is written. */
void plugin_line_wait(const struct plugin_line *l, int seconds);
void plugin_line_ready(struct plugin_line *l);
/* What failed, and by the site's choice what becomes of the step, of which a file
 * may still be missing on the nodes. */
void plugin_line_failed(struct plugin_line *l,
                        enum on_error on,
                        int lacks_input,
                        const struct es_error *err);

#endif
