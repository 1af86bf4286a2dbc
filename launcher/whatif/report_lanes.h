/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_lanes.h - frames of a report that were at work side by side (--ahead),
 * each in a lane of its own: in one lane, one frame follows the other.  Pure.
 */
#ifndef LAUNCHER_WHATIF_REPORT_LANES_H
#define LAUNCHER_WHATIF_REPORT_LANES_H

#include "launcher/whatif/report_file.h"

#define REPORT_LANES 8 /* at most; with more, those of one lane overlap */

/* The lane of each frame in [begin, end), by its place: end - begin values from
 * 0.  Returns how many there are: 1 if the frames follow each other. */
size_t report_lanes(const struct report_file *f,
                    size_t begin,
                    size_t end,
                    unsigned char lane[]);
/* Do any of its frames overlap? */
int report_overlaps(const struct report_file *f);

#endif
