/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/number.h"
#include "tap.h"

static const char *const bad_whole[] = {
    "",   "-",   " 1",    "1 ",    "+1",  "1.0",      "1e3", "0x10",
    "1x", "--1", "1,000", "1_000", "one", "\xd9\xa1", /* an Arabic one */
};
static const char *const bad_real[] = {
    "",    "nan", "inf",   "-inf", "infinity", "0x1p3", "1,5",
    " 1",  "1 ",  "1e",    ".",    "--1",      "-",     "e5",
    "1e+", "1f",  "1.2.3", "5%",   "1e5.",     "+-1",
};

/* With a unit behind it: what it is, or why it is none. */
static const struct {
    const char *text;
    enum number_unit unit;
    double value; /* below 0: why not */
} units[] = {
    {"", NUMBER_BYTES, NUMBER_NONE},
    {"k", NUMBER_BYTES, NUMBER_NONE},
    {"5x", NUMBER_BYTES, NUMBER_NONE},
    {"5kk", NUMBER_BYTES, NUMBER_NONE},
    {"5 k", NUMBER_BYTES, NUMBER_NONE},
    {"5i", NUMBER_BYTES, NUMBER_NONE},
    {"5Mbit", NUMBER_BYTES, NUMBER_NONE},
    {"5M/s", NUMBER_BYTES, NUMBER_NONE},
    {"5e", NUMBER_BYTES, NUMBER_NONE},
    {"nan", NUMBER_BYTES, NUMBER_NONE},
    {"0x5k", NUMBER_BYTES, NUMBER_NONE},
    {"-1k", NUMBER_BYTES, NUMBER_OUT_OF_RANGE},
    {"1e17", NUMBER_BYTES, NUMBER_OUT_OF_RANGE},
    {"11P", NUMBER_BYTES, NUMBER_OUT_OF_RANGE},
    {"7", NUMBER_BYTES, 7},
    {"7B", NUMBER_BYTES, 7},
    {"7b", NUMBER_BYTES, 7},
    {"125k", NUMBER_BYTES, 125e3},
    {"125K", NUMBER_BYTES, 125e3},
    {"125kB", NUMBER_BYTES, 125e3},
    {"1Ki", NUMBER_BYTES, 1024},
    {"1.5KiB", NUMBER_BYTES, 1536},
    {"50MB", NUMBER_BYTES, 50e6},
    {"1m", NUMBER_BYTES, 1e6},
    {"1e3M", NUMBER_BYTES, 1e9},
    {"1GiB", NUMBER_BYTES, 0x1p30},
    {"2Ti", NUMBER_BYTES, 0x1p41},
    {"10P", NUMBER_BYTES, 1e16},
    {"125e6", NUMBER_RATE, 125e6},
    {"125M", NUMBER_RATE, 125e6},
    {"125MB/s", NUMBER_RATE, 125e6},
    {"100mbit", NUMBER_RATE, 12.5e6},
    {"100Mbit/s", NUMBER_RATE, 12.5e6},
    {"8bit", NUMBER_RATE, 1},
    {"1Gibit", NUMBER_RATE, 0x1p27},
    {"5bits", NUMBER_RATE, NUMBER_NONE},
    {"5mbps", NUMBER_RATE, NUMBER_NONE},
    {"10s", NUMBER_SECONDS, 10},
    {"10", NUMBER_SECONDS, 10},
    {"20us", NUMBER_SECONDS, 20e-6},
    {"5ns", NUMBER_SECONDS, 5e-9},
    {"1MS", NUMBER_SECONDS, 1e-3},
    {"3m", NUMBER_SECONDS, 180},
    {"3min", NUMBER_SECONDS, 180},
    {"1.5h", NUMBER_SECONDS, 5400},
    {"5d", NUMBER_SECONDS, NUMBER_NONE},
    {"5k", NUMBER_SECONDS, NUMBER_NONE},
};

static void test_units(void)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double v = -7;
        int rc = number_parse_unit(units[i].text, units[i].unit, 0, 1e16, &v);

        if (units[i].value < 0)
            ok(rc == (int)units[i].value && v == -7, "\"%s\" is refused, %s",
               units[i].text,
               rc == NUMBER_NONE ? "as no number" : "as out of range");
        else
            ok(rc == 0 && fabs(v - units[i].value) <= 1e-12 * v, "\"%s\" is %g",
               units[i].text, units[i].value);
    }
}

static void is_bytes(double bytes, const char *want)
{
    char text[NUMBER_BYTES_TEXT];

    number_print_bytes(text, bytes);
    is_str(text, want, want);
}

static void test_bytes(void)
{
    is_bytes(0, "0 bytes");
    is_bytes(1, "1 byte");
    is_bytes(999, "999 bytes");
    is_bytes(1000, "1.0 kB");
    is_bytes(99999, "100.0 kB");
    is_bytes(1e5, "0.1 MB");
    is_bytes(20971520, "21.0 MB");
    is_bytes(1e300, "1000000000000000.0 MB");
}

int main(void)
{
    test_bytes();
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
    is_int(number_parse_int("11", 1, 10, &whole), NUMBER_OUT_OF_RANGE,
           "above the range");
    is_int(number_parse_int("0", 1, 10, &whole), NUMBER_OUT_OF_RANGE,
           "below the range");
    is_int(number_parse_double("1.01", 0, 1, &real), NUMBER_OUT_OF_RANGE,
           "a little above");
    is_int(number_parse_u64("-1", &natural), -1, "a negative natural");
    is_int(number_parse_u64("18446744073709551616", &natural),
           NUMBER_OUT_OF_RANGE, "2^64");
    is_int(
        number_parse_int("9223372036854775808", INT64_MIN, INT64_MAX, &whole),
        NUMBER_OUT_OF_RANGE, "2^63 is no integer of 64 bits");
    is_int(number_parse_int("-9223372036854775809", INT64_MIN, 0, &whole),
           NUMBER_OUT_OF_RANGE, "nor is -2^63 - 1");
    is_int(number_parse_double("0.0099999", 0.01, 1, &real),
           NUMBER_OUT_OF_RANGE, "a little below");
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
    test_units();
    return done();
}
