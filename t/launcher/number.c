/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/number.h"
#include "tap.h"

#include <locale.h>

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
};
static const char *const bad_real[] = {
    "", "nan", "inf", "0x1p3", "1,5", " 1", "1 ", "1e", ".", "1e999", "--1",
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
        is_int(number_parse_double(bad_real[i], -1e300, 1e300, &real), -1,
               bad_real[i]);
    is_int(number_parse_int("11", 1, 10, &whole), -1, "above the range");
    is_int(number_parse_int("0", 1, 10, &whole), -1, "below the range");
    is_int(number_parse_double("1.01", 0, 1, &real), -1, "a little above");
    is_int(number_parse_u64("-1", &natural), -1, "a negative natural");
    is_int(number_parse_u64("18446744073709551616", &natural), -1, "2^64");
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
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    ok(number_parse_double("0.5", 0, 1, &real) == 0 && real == 0.5,
       "0.5 is a half in Germany, too");
    return done();
}
