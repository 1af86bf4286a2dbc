/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json_member.h - objects that are made member by member.
 */
#ifndef LAUNCHER_BASE_JSON_MEMBER_H
#define LAUNCHER_BASE_JSON_MEMBER_H

#include <jansson.h>

/* The object with one more member, of which both are released if either is NULL
 * or memory ran out: then NULL. */
json_t *json_member(json_t *object, const char *key, json_t *value);
/* Of a text that may be no UTF-8: then its other bytes are question marks.  NULL
 * if memory ran out. */
json_t *json_text(const char *text);

#endif
