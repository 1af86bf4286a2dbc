/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number.h - numbers from text: the whole text, within a range, in the same
 * way whatever the locale (setlocale() is never called in evenstep).
 */
#ifndef LAUNCHER_BASE_NUMBER_H
#define LAUNCHER_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Decimal integers; 0, or -1 if text is no number or not in [low, high]
 * (*value untouched). */
int number_parse_int(const char *text,
                     int64_t low,
                     int64_t high,
                     int64_t *value);
int number_parse_u64(const char *text, uint64_t *value);
/* A finite decimal number; no hexadecimal, nan or inf. */
int number_parse_double(const char *text,
                        double low,
                        double high,
                        double *value);

#endif
