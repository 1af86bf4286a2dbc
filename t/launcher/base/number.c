/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/number.h"
#include "tap.h"

static const char *const bad_whole[] = {
    "",
    "-",
    " 1",
    "1 ",
    "+1",
    "1.0",
    "1e3",
    "0x10",
    "1x",
    "--1",
    "99999999999999999999999",
    "9223372036854775808000",
    "1,000",
    "1_000",
    "one",
    "\xd9\xa1", /* an Arabic one */
};
static const char *const bad_real[] = {
    "",   "nan", "inf", "-inf",  "infinity", "0x1p3", "1,5",
    " 1", "1 ",  "1e",  ".",     "1e999",    "--1",   "-",
    "e5", "1e+", "1f",  "1.2.3", "5%",       "1e5.",  "+-1",
};

int main(void)
{
    int64_t whole = 77;
    uint64_t natural = 77;
    double real = 77;

    for (size_t i = 0; i < sizeof bad_whole / sizeof bad_whole[0]; i++)
        ok(number_parse_int(bad_whole[i], INT64_MIN, INT64_MAX, &whole) == -1
               && number_parse_u64(bad_whole[i], &natural) == -1,
           "\"%s\" is no whole number", bad_whole[i]);
    for (size_t i = 0; i < sizeof bad_real / sizeof bad_real[0]; i++)
        ok(number_parse_double(bad_real[i], -1e308, 1e308, &real) == -1,
           "\"%s\" is no number", bad_real[i]);
    ok(number_parse_int("1\n", 0, 9, &whole) == -1
           && number_parse_u64("\t1", &natural) == -1
           && number_parse_double("1\n", 0, 9, &real) == -1,
       "a number with a line's end is none");
    is_int(number_parse_int("11", 1, 10, &whole), -1, "above the range");
    is_int(number_parse_int("0", 1, 10, &whole), -1, "below the range");
    is_int(number_parse_double("1.01", 0, 1, &real), -1, "a little above");
    is_int(number_parse_u64("-1", &natural), -1, "a negative natural");
    is_int(number_parse_u64("18446744073709551616", &natural), -1, "2^64");
    is_int(
        number_parse_int("9223372036854775808", INT64_MIN, INT64_MAX, &whole),
        -1, "2^63 is no integer of 64 bits");
    is_int(number_parse_int("-9223372036854775809", INT64_MIN, 0, &whole), -1,
           "nor is -2^63 - 1");
    is_int(number_parse_double("0.0099999", 0.01, 1, &real), -1,
           "a little below");
    ok(whole == 77 && natural == 77 && real == 77,
       "what is refused changes nothing");
    ok(number_parse_int("-9223372036854775808", INT64_MIN, 0, &whole) == 0
           && whole == INT64_MIN,
       "-2^63 is a number");
    ok(number_parse_u64("18446744073709551615", &natural) == 0
           && natural == UINT64_MAX,
       "2^64 - 1 is one");
    ok(number_parse_double("-2.5e-1", -1, 1, &real) == 0 && real == -0.25,
       "-2.5e-1 is one");
    ok(number_parse_int("007", 7, 7, &whole) == 0 && whole == 7,
       "leading zeros are not octal, and both bounds are allowed");
    ok(number_parse_int("-0", 0, 0, &whole) == 0 && whole == 0, "-0 is 0");
    ok(number_parse_double("1", 0, 1, &real) == 0 && real == 1
           && number_parse_double("0", 0, 1, &real) == 0 && real == 0,
       "both bounds of a range of doubles are allowed");
    ok(number_parse_double("+.5E0", 0, 1, &real) == 0 && real == 0.5,
       "+.5E0 is a half");
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    ok(number_parse_double("0.5", 0, 1, &real) == 0 && real == 0.5,
       "0.5 is a half in Germany, too");
    return done();
}
