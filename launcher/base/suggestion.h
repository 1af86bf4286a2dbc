/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suggestion.h - what somebody may have meant who typed a name wrongly.
 */
#ifndef LAUNCHER_BASE_SUGGESTION_H
#define LAUNCHER_BASE_SUGGESTION_H

#include <stddef.h>

/* Begun with the word that was typed, and the others 0. */
struct suggestion {
    const char *typed;
    const char *name; /* the nearest one so far; NULL: none is near */
    size_t mistakes;
};

/* Letters that are missing, too many, wrong, or two that are exchanged: one
 * mistake in a name of three letters at most, two in one of six, and so on. */
void suggestion_try(struct suggestion *s, const char *name);
/* Are there so many mistakes at most, whatever the length? */
int suggestion_is_near(const char *typed, const char *name, size_t most);

#endif
