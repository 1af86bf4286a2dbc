/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scontrol_output.h - values from what Slurm's `scontrol show` prints, which
 * are "Key=value" between blanks, or "Key   = value" one a line.  Pure.
 */
#ifndef LAUNCHER_BASE_SCONTROL_OUTPUT_H
#define LAUNCHER_BASE_SCONTROL_OUTPUT_H

#include "pmix_bcast/channel.h"

#include <stddef.h>

/*
 * Copy the value of the first key of that name, up to a blank.  A key begins a
 * line or stands behind a blank, so one inside another's name or value does not
 * count.  0, or -1 if there is none or it needs more than size bytes (out is
 * untouched).
 */
int scontrol_value(const char *text, const char *key, char *out, size_t size);
/* Parse "LOW-HIGH"; 0-0 if it is no range of ports. */
struct port_range scontrol_port_range(const char *value);
/* The value of SrunPortRange in text; 0-0 if there is none. */
struct port_range scontrol_ports(const char *text);

#endif
