/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * label_json.h - a frame's label, of any bytes, as a journal keeps it: a text,
 * or {"hex":TEXT} of one that is not in UTF-8.
 */
#ifndef LAUNCHER_RUN_LABEL_JSON_H
#define LAUNCHER_RUN_LABEL_JSON_H

#include "launcher/wire/protocol.h"

#include <jansson.h>

/* Owned by the caller; NULL without memory. */
json_t *label_to_json(const char *label);
/* 0, or -1: it is none. */
int label_from_json(char label[LABEL_MAX], const json_t *json);

#endif
