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
 * The value of the first key of that name, up to a blank: a key begins a line
 * or stands behind a blank, so that one in another's value or name is none.
 * 0, or -1 if there is none or out, of size bytes, is too small (untouched).
 */
int scontrol_value(const char *text, const char *key, char *out, size_t size);
/* "LOW-HIGH"; 0-0 if that is none. */
struct port_range scontrol_port_range(const char *value);
/* SrunPortRange; 0-0 if there is none. */
struct port_range scontrol_ports(const char *text);

#endif
