/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number.h - numbers from text: the whole text, within a range, in the same
 * way whatever the locale (setlocale() is never called in evenstep).
 *
 * All return 0, or, *value untouched, one of the two below, both negative.
 */
#ifndef LAUNCHER_BASE_NUMBER_H
#define LAUNCHER_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum { NUMBER_NONE = -1, NUMBER_OUT_OF_RANGE = -2 };

/* Decimal integers, those of the first in [low, high]. */
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

/*
 * Likewise, with a unit behind it, in capitals or not:
 *
 *   bytes    [k|M|G|T|P][i][B]: k is 1000, Ki is 1024, and so on
 *   a rate   as bytes, a second: 125M; with "bit" for the B bits: 100mbit; "/s"
 *            may follow
 *   seconds  ns, us, ms, s, m or min, h; none: s
 *
 * The values are bytes, bytes a second, and seconds.
 */
enum number_unit { NUMBER_BYTES, NUMBER_RATE, NUMBER_SECONDS };

int number_parse_unit(const char *text,
                      enum number_unit unit,
                      double low,
                      double high,
                      double *value);

/* "1 byte", "123 bytes", "4.1 kB", "21.0 MB": as people read so many bytes (>= 0). */
#define NUMBER_BYTES_TEXT 32
void number_print_bytes(char text[NUMBER_BYTES_TEXT], double bytes);

#endif
