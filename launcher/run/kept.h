/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.h - which of the slices in a journal count: of several with the same
 * units the last one, where a later run may have done units again, as they had
 * failed, as their text had changed or as their files were lost.
 */
#ifndef LAUNCHER_RUN_KEPT_H
#define LAUNCHER_RUN_KEPT_H

#include "launcher/run/frame.h"

enum kept_settled { KEPT_SETTLED, KEPT_NO_MEMORY, KEPT_TWICE };

/* Those that are not gone to the front, by frame and units, the others behind
 * them.  Returns how many count. */
size_t kept_part(struct kept kept[], size_t n);
/* Say of those that do not count that they are gone, and part them; *n is how many
 * count.  KEPT_TWICE: units were done twice, and had no reason to. */
enum kept_settled kept_settle(struct kept kept[], size_t *n);

#endif
