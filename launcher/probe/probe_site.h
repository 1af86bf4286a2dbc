/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_site.h - measures an element of the site's own: runs its command, which
 * prints a number.
 */
#ifndef LAUNCHER_PROBE_PROBE_SITE_H
#define LAUNCHER_PROBE_PROBE_SITE_H

#include "launcher/probe/probe_result.h"

/*
 * Run sh -c COMMAND with an empty standard input, and fill in *r, which is all
 * 0, within the command's budget.  What it prints is one number, 0 or more, or
 * above 0 if less is better; with another output, another exit status than 0 or
 * no end in time the element counts as not measured, and "what" says why.
 * Whatever the command has started and left in its process group is ended.
 */
void probe_site_measure(const struct probe_site *site, struct probe_result *r);

/* Give a result the name, the unit and the sense of its element. */
void probe_site_label(const struct probe_site *site, struct probe_result *r);

/* Was a result measured as this element is defined? */
int probe_site_fits(const struct probe_site *site,
                    const struct probe_result *r);

#endif
