/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.h - which of the slices in a journal count: of several with the same
 * units the last one, where a later run may have done units again, as they had
 * failed or as their text had changed.
 */
#ifndef LAUNCHER_RUN_KEPT_H
#define LAUNCHER_RUN_KEPT_H

#include "launcher/run/frame.h"

enum kept_settled { KEPT_SETTLED, KEPT_NO_MEMORY, KEPT_TWICE };

/* Keep those that count, by frame and units.  KEPT_TWICE: units were done
 * twice, and had no reason to. */
enum kept_settled kept_settle(struct kept kept[], size_t *n);

#endif
