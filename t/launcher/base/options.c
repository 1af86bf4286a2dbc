/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/options.h"
#include "launcher/base/suggestion.h"
#include "tap.h"

struct values {
    int flag, other, word;
    uint32_t count, size, most;
    uint64_t wide, size64;
    double number, seconds, rate;
    struct option_range range;
    const char *text;
    size_t taken;
};

static struct values v;
static struct es_error err;

/* Counts how often it is given, but "bad" never. */
static int take(void *into, const char *text, struct es_error *e)
{
    if (strcmp(text, "bad") == 0)
        return es_fail(e, ES_USAGE, "give another", "--take: bad");
    ((struct values *)into)->taken++;
    return 0;
}

#define AT(member) OPTION_AT(struct values, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_GROUP, .name = "numbers:"},
    {OPTION_COUNT, "count", "N", AT(count), .low = 1, .high = 65536,
     .letter = 'c', .alias = "number-of-them", .def = "3", .help = "a count"},
    {OPTION_COUNT, "wide", "N", AT(wide), .help = "a wide one"},
    {OPTION_NUMBER, "number", "X", AT(number), .low = -1, .high = 1,
     .help = "a number"},
    {OPTION_SECONDS, "seconds", "T", AT(seconds), .low = 0.1, .high = 1e6,
     .help = "seconds"},
    {OPTION_RATE, "rate", "R", AT(rate), .low = 1e3, .high = 1e12,
     .help = "a rate"},
    {OPTION_SIZE, "size", "S", AT(size), .low = 1024, .high = 4 << 20,
     .letter = 's', .help = "a size"},
    {OPTION_SIZE, "size64", "S", AT(size64), .low = 1, .help = "a wide one"},
    {OPTION_RANGE, "range", "B:E", AT(range), .help = "a range"},
    {OPTION_GROUP, .name = "others:"},
    {OPTION_FLAG, "flag", NULL, AT(flag), .letter = 'f', .help =
     "a flag whose help is so long that it has to be folded, which is done "
     "between two words and never within one"},
    {OPTION_FLAG, "other", NULL, AT(other), .letter = 'o',
     .excludes = "text take", .only = "this", .help = "another flag"},
    {OPTION_WORD, "word", "one|two|three", AT(word), .help = "a word"},
    {OPTION_TEXT, "text", "TEXT", AT(text), .letter = 't', .help = "a text"},
    {OPTION_COUNT, "most", "N", AT(most), .high = 9, .letter = 'm',
     .bare = "9", .help = "a count that may be left out"},
    {OPTION_TAKE, "take", "X", .take = take, .needs = "flag",
     .help = "a function"},
    {.type = OPTION_END},
};
static const struct option strict_options[] = {
    {OPTION_TEXT, "text", "TEXT", AT(text), .required = 1, .help = "a text"},
    {.type = OPTION_END},
};
/* clang-format on */

static const struct subcommand some = {.name = "some",
                                       .about = "Does something.\n",
                                       .option = options,
                                       .end = "exit status: 0\n",
                                       .operands = "[WHAT] [FILE]"};
static const struct subcommand any = {.name = "any",
                                      .about = "",
                                      .option = options,
                                      .operands = "CMD [ARG...]",
                                      .stops = 1};
static const struct subcommand strict = {.name = "strict",
                                         .about = "",
                                         .option = strict_options,
                                         .operands = "this|that SRC DST"};
static const struct subcommand hidden = {.name = "hidden",
                                         .about = "",
                                         .option = strict_options,
                                         .see = "the plugin starts it"};

static const struct option_habit habits[] = {
    {"array", 'A', "HyperQueue", .answer = "give --range 0:N"},
    {"times", 'n', "xargs", .as = "count"},
    {"flagged", 0, "xargs", .as = "flag"},
    {"rang", 0, "GNU parallel", .answer = "give another"},
    {"bar", 'b', .whose = "GNU parallel"},
    {.letter = 'q', .whose = "GNU parallel"},
    {.whose = NULL}};
static const struct subcommand homely = {.name = "homely",
                                         .about = "",
                                         .option = options,
                                         .habit = habits,
                                         .without = " range other count ",
                                         .elsewhere = "some has it"};
static const struct subcommand known = {
    .name = "known", .about = "", .option = options, .habit = habits};

static char *argv[40];
static int rest; /* operands that are left */

/* Parse the name of c and the words of line. */
static int parse(const struct subcommand *c, const char *line)
{
    static char copy[300];
    char *at = copy, *word;
    int argc = 1, rc;

    snprintf(copy, sizeof copy, "%s", line);
    argv[0] = "name";
    while ((word = strsep(&at, " ")) != NULL)
        if (*word)
            argv[argc++] = word;
    argv[argc] = NULL;
    memset(&v, 0, sizeof v);
    memset(&err, 0, sizeof err);
    rc = options_parse(c, &v, argc, argv, &err);
    for (rest = 0; rc == 0 && argv[rest + 1]; rest++)
        ;
    return rc;
}

static const struct {
    const struct subcommand *command;
    const char *line, *what, *mend;
} bad[] = {
    {&some, "--xylophone", "--xylophone: no such option",
     "see `evenstep some --help`"},
    {&some, "--cuont 5", "--cuont: no such option", "did you mean --count?"},
    {&some, "--siz64=5", "--siz64: no such option", "did you mean --size64?"},
    {&some, "--si 5", "--si: no such option", "see `evenstep some --help`"},
    {&some, "--t x", "--t: no such option", "see `evenstep some --help`"},
    {&some, "--numbers: 5", "--numbers:: no such option",
     "did you mean --number?"},
    {&some, "a -xf b", "-x: no such option", "see `evenstep some --help`"},
    {&some, "-fx", "-x: no such option", "see `evenstep some --help`"},
    {&some, "-f\303\251", "-f\303\251: no such option",
     "see `evenstep some --help`"},
    {&some, "--count", "--count: a value is missing", "give --count N"},
    {&some, "-c", "--count: a value is missing", "give --count N"},
    {&some, "--range -- this", "--range: a value is missing",
     "give --range B:E"},
    {&some, "--flag=1", "--flag: it has no value", "leave it out"},
    {&some, "--count x", "--count: \"x\" is no whole number",
     "give a whole number from 1 to 65536"},
    {&some, "--count 5k", "--count: \"5k\" is no whole number",
     "give a whole number from 1 to 65536"},
    {&some, "--count=", "--count: \"\" is no whole number",
     "give a whole number from 1 to 65536"},
    {&some, "--count 0", "--count: \"0\" is out of range",
     "give a whole number from 1 to 65536"},
    {&some, "-c65537", "--count: \"65537\" is out of range",
     "give a whole number from 1 to 65536"},
    {&some, "--number-of 1.5", "--count: \"1.5\" is no whole number",
     "give a whole number from 1 to 65536"},
    {&some, "--most=", "--most: \"\" is no whole number",
     "give a whole number from 0 to 9"},
    {&some, "--most=10", "--most: \"10\" is out of range",
     "give a whole number from 0 to 9"},
    {&some, "-m5", "-5: no such option", "see `evenstep some --help`"},
    {&some, "--wide -1", "--wide: \"-1\" is out of range",
     "give a whole number from 0"},
    {&some, "--wide 9223372036854775808",
     "--wide: \"9223372036854775808\" is out of range",
     "give a whole number from 0"},
    {&some, "--number 1.5", "--number: \"1.5\" is out of range",
     "give a number from -1 to 1"},
    {&some, "--number half", "--number: \"half\" is no number",
     "give a number from -1 to 1"},
    {&some, "--seconds 2d", "--seconds: \"2d\" is no time",
     "give seconds from 0.1 to 1000000, as 90 or 1.5h"},
    {&some, "--seconds 20ms", "--seconds: \"20ms\" is out of range",
     "give seconds from 0.1 to 1000000, as 90 or 1.5h"},
    {&some, "--rate 5mbps", "--rate: \"5mbps\" is no rate",
     "give bytes a second from 1k to 1T, as 125M or 100mbit"},
    {&some, "--rate 1kbit", "--rate: \"1kbit\" is out of range",
     "give bytes a second from 1k to 1T, as 125M or 100mbit"},
    {&some, "-s 12q", "--size: \"12q\" is no size",
     "give bytes from 1Ki to 4Mi, as 125k or 1MiB"},
    {&some, "-s1k", "--size: \"1k\" is out of range",
     "give bytes from 1Ki to 4Mi, as 125k or 1MiB"},
    {&some, "--size64 0.5", "--size64: \"0.5\" is out of range",
     "give bytes from 1, as 125k or 1MiB"},
    {&some, "--range 5", "--range: \"5\" is no range",
     "give BEGIN:END, whole numbers"},
    {&some, "--range 5k:9k", "--range: \"5k:9k\" is no range",
     "give BEGIN:END, whole numbers"},
    {&some, "--range 0:9223372036854775808",
     "--range: 0:9223372036854775808 is out of range",
     "give an END below 2^63"},
    {&some, "--range 9:5", "--range: 9:5 is reversed",
     "give a begin below the end"},
    {&some, "--range 5:5", "--range: 5:5 is empty",
     "give a begin below the end"},
    {&some, "--word four", "--word: \"four\" is unknown",
     "give one, two or three"},
    {&some, "--word o", "--word: \"o\" is unknown", "give one, two or three"},
    {&some, "--word one|two", "--word: \"one|two\" is unknown",
     "give one, two or three"},
    {&some, "-f --take bad", "--take: bad", "give another"},
    {&some, "--take x", "--take: there is no --flag", "give --flag, too"},
    {&some, "this -o -tx", "--other and --text exclude each other",
     "give one of them"},
    {&some, "this -of --take x", "--other and --take exclude each other",
     "give one of them"},
    {&some, "that -o", "some that: --other is not for it",
     "see `evenstep some --help`"},
    {&some, "this a b", "some: unexpected argument \"b\" behind \"a\"",
     "give `evenstep some [WHAT] [FILE]`, and options"},
    {&any, "-f", "any: no CMD", "see `evenstep any --help`"},
    {&strict, "--text x", "strict: no action", "give this or that"},
    {&strict, "those --text x", "strict: no such action: those",
     "give this or that"},
    {&strict, "--text x this", "strict: no SRC",
     "see `evenstep strict --help`"},
    {&strict, "--text x this a", "strict: no DST",
     "see `evenstep strict --help`"},
    {&strict, "this a b", "strict: --text is missing", "give --text TEXT"},
    {&hidden, "", "hidden: --text is missing", "the plugin starts it"},
    {&hidden, "-x", "-x: no such option", "the plugin starts it"},
    {&known, "--array 1", "--array: an option of HyperQueue",
     "give --range 0:N"},
    {&known, "--array=1", "--array: an option of HyperQueue",
     "give --range 0:N"},
    {&known, "-fA1", "-A: an option of HyperQueue", "give --range 0:N"},
    {&known, "--rang 1:2", "--rang: an option of GNU parallel", "give another"},
    {&known, "--arr 1", "--arr: no such option", "see `evenstep known --help`"},
    {&known, "--bar=1", "--bar: it has no value", "leave it out"},
    {&known, "--times 0", "--count: \"0\" is out of range",
     "give a whole number from 1 to 65536"},
    {&homely, "--range 1:2", "--range: not an option of homely", "some has it"},
    {&homely, "-fo", "-o: not an option of homely", "some has it"},
    {&homely, "--times 5", "--count: not an option of homely", "some has it"},
    {&homely, "--ran 1:2", "--ran: no such option",
     "see `evenstep homely --help`"},
    {&homely, "--rnage 1:2", "--rnage: no such option",
     "see `evenstep homely --help`"},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int rc = parse(bad[i].command, bad[i].line);

        if (!ok(rc == -1 && err.kind == ES_USAGE
                    && strcmp(err.what, bad[i].what) == 0
                    && strcmp(err.mend, bad[i].mend) == 0,
                "%s %s: %s", bad[i].command->name, bad[i].line, bad[i].what))
            diag("  said \"%s: %s\"", err.what, err.mend);
    }
}

static void test_good(void)
{
    ok(parse(&some, "") == 0 && v.count == 3 && v.flag == 0 && !v.text
           && rest == 0,
       "nothing is given: the defaults, and nothing else");
    ok(parse(&some, "--count 65536 --wide 9223372036854775807 --number -1") == 0
           && v.count == 65536 && v.wide == INT64_MAX && v.number == -1,
       "bounds are allowed, and a value may begin with a -");
    ok(parse(&some, "--seconds 20m --rate 100mbit --size 4Mi --size64 2G") == 0
           && v.seconds == 1200 && v.rate == 12.5e6 && v.size == 4 << 20
           && v.size64 == 2000000000,
       "units");
    ok(parse(&some, "--range=3:9 --word=three --text= -s2k") == 0
           && v.range.begin == 3 && v.range.end == 9 && v.word == 2
           && strcmp(v.text, "") == 0 && v.size == 2000,
       "values behind =, one of them empty, and behind a letter");
    ok(parse(&some, "-fc5 this -ft-x -") == 0 && v.flag && v.count == 5
           && strcmp(v.text, "-x") == 0 && rest == 2
           && strcmp(argv[1], "this") == 0 && strcmp(argv[2], "-") == 0,
       "letters that are joined, between operands, one of them -");
    ok(parse(&some, "--wo two --number-of 7 --secon 5") == 0 && v.word == 1
           && v.count == 7 && v.seconds == 5,
       "names that are cut short, and a second name");
    ok(parse(&some, "--take a --flag --take b") == 0 && v.taken == 2,
       "a function takes each");
    ok(parse(&some, "this --text -f -o") == -1 && strcmp(v.text, "-f") == 0,
       "what stands behind an option is its value");
    ok(parse(&some, "--most 5 -f") == 0 && v.most == 9 && v.flag && rest == 1
           && strcmp(argv[1], "5") == 0,
       "one that may stand alone never takes the next word");
    ok(parse(&some, "--most=5") == 0 && v.most == 5,
       "but what is joined to it");
    ok(parse(&some, "-mf") == 0 && v.most == 9 && v.flag,
       "nor does its letter take the next");
    ok(parse(&some, "--flag -- that --flag") == 0 && rest == 2
           && strcmp(argv[2], "--flag") == 0,
       "behind -- nothing is an option");
    ok(parse(&any, "-f cmd -x --count -- y") == 0 && v.flag && rest == 5
           && strcmp(argv[2], "-x") == 0 && strcmp(argv[4], "--") == 0,
       "nor behind the command's name");
    ok(parse(&any, "-- -x") == 0 && rest == 1 && strcmp(argv[1], "-x") == 0,
       "a command may begin with a -");
    ok(parse(&strict, "that --text x a b") == 0 && rest == 3,
       "all that is required");
}

static void test_habits(void)
{
    ok(parse(&known, "--times=7 --flagged") == 0 && v.count == 7 && v.flag,
       "an option of others is ours");
    ok(parse(&known, "-n 7 -fbqc5") == 0 && v.count == 5 && v.flag,
       "its letter, too; what is done anyhow is passed over");
    ok(parse(&known, "-n8") == 0 && v.count == 8, "a value joined to it");
    ok(parse(&known, "--bar --range 1:2") == 0 && v.range.end == 2,
       "an option of ours is not what others call so");
    ok(parse(&homely, "--flag") == 0 && v.count == 3,
       "one that the command does not have keeps its default");
}

static void test_numbers(void)
{
    double x[3] = {0};

    ok(option_numbers_parse(x, 3, 0, 100, "list", "80,40.5,1e1", &err) == 3
           && x[0] == 80 && x[1] == 40.5 && x[2] == 10,
       "three numbers");
    ok(option_numbers_parse(x, 3, 0, 100, "list", "80,,1", &err) == 0
           && strcmp(err.what, "--list: \"\" is no number") == 0
           && strcmp(err.mend, "give numbers from 0 to 100, as 80,40") == 0,
       "a number is missing");
    ok(option_numbers_parse(x, 3, 0, 100, "list", "80,101", &err) == 0
           && strcmp(err.what, "--list: \"101\" is out of range") == 0,
       "one is too large");
    ok(option_numbers_parse(x, 3, 0, 100, "list", "1,2,3,4", &err) == 0
           && strcmp(err.what, "--list: more than 3 numbers") == 0,
       "one is too many");
}

/* What --help prints to, and what parsing returns then. */
static int read_help(const struct subcommand *c, char *text, size_t size)
{
    int saved = dup(STDOUT_FILENO), rc;
    FILE *file = tmpfile();

    if (!file || saved < 0 || dup2(fileno(file), STDOUT_FILENO) < 0)
        bail("no temporary file");
    rc = parse(c, "-fh --bogus");
    (void)dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    return rc;
}

static void test_help(void)
{
    static const struct subcommand pair = {.name = "pair",
                                           .about = "Both.\n",
                                           .option = strict_options,
                                           .operands = "this|that SRC [DST]"};
    char text[2000];

    is_int(read_help(&some, text, sizeof text), 1,
           "--help is met before what is wrong behind it");
    is_str(text,
           "usage: evenstep some [options] [WHAT] [FILE]\n"
           "\n"
           "Does something.\n"
           "\n"
           "numbers:\n"
           "  -c, --count N        a count (also --number-of-them) (3)\n"
           "  --wide N             a wide one\n"
           "  --number X           a number\n"
           "  --seconds T          seconds\n"
           "  --rate R             a rate\n"
           "  -s, --size S         a size\n"
           "  --size64 S           a wide one\n"
           "  --range B:E          a range\n"
           "others:\n"
           "  -f, --flag           a flag whose help is so long that it has to "
           "be folded,\n"
           "                       which is done between two words and never "
           "within one\n"
           "  -o, --other          another flag\n"
           "  --word one|two|three\n"
           "                       a word\n"
           "  -t, --text TEXT      a text\n"
           "  -m, --most[=N]       a count that may be left out\n"
           "  --take X             a function\n"
           "\n"
           "exit status: 0\n",
           "--help, line by line");
    is_int(read_help(&homely, text, sizeof text), 1, "of one without some");
    ok(strstr(text, "numbers:\n  --wide N") && !strstr(text, "--range")
           && !strstr(text, "--other") && !strstr(text, "bar"),
       "these, and what others call so, are not in its help");
    memset(&err, 0, sizeof err);
    is_int(read_help(&pair, text, sizeof text), -1, "-f is not for this one");
    is_str(text, "", "and nothing is printed");
}

static void test_suggestions(void)
{
    static const struct {
        const char *typed, *name;
    } near[] =
        {
            {"rnage", "range"}, {"rang", "range"},   {"raange", "range"},
            {"ragne", "range"}, {"orange", "range"}, {"rum", "run"},
            {"urn", "run"},     {"bacst", "bcast"},  {"range", "range"},
        },
      far[] = {
          {"grain", "range"}, {"x", "run"}, {"", "run"},
          {"rm", "rn"},       {"a", "b"},   {"threshold", "range"},
      };

    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        struct suggestion s = {.typed = near[i].typed};

        suggestion_try(&s, near[i].name);
        is_str(s.name, near[i].name, near[i].typed);
    }
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        struct suggestion s = {.typed = far[i].typed};

        suggestion_try(&s, far[i].name);
        ok(!s.name, "\"%s\" is not near %s", far[i].typed, far[i].name);
    }
}

static void test_nearest(void)
{
    struct suggestion s = {.typed = "graen"};

    suggestion_try(&s, "greens");
    suggestion_try(&s, "grain");
    suggestion_try(&s, "groans");
    is_str(s.name, "grain", "the nearest of three is suggested");
}

int main(void)
{
    test_bad();
    test_good();
    test_habits();
    test_numbers();
    test_help();
    test_suggestions();
    test_nearest();
    return done();
}
