#include "launcher/run/cost_history.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>

#define GOOD "\"wait\":0.5,\"burn\":0.25,\"each\":2,\"noise\":0.125}"

static const struct cost_key python = {"python3", "a.py", "0123456789abcdef"};
static const struct cost_key shell = {"sh", "", "fedcba9876543210"};

static const struct {
    const char *what, *line;
    enum cost_match python, shell;
} lines[] = {
    {"the very line", "{\"line\":\"0123456789abcdef\"," GOOD, COST_SAME_LINE,
     COST_STRANGER},
    {"the same program and file",
     "{\"command\":\"python3\",\"file\":\"a.py\",\"line\":\"1\"," GOOD,
     COST_SAME_PROGRAM, COST_STRANGER},
    {"another file", "{\"command\":\"python3\",\"file\":\"b.py\"," GOOD,
     COST_STRANGER, COST_STRANGER},
    {"another program", "{\"command\":\"perl\",\"file\":\"a.py\"," GOOD,
     COST_STRANGER, COST_STRANGER},
    {"a shell with another line",
     "{\"command\":\"sh\",\"file\":\"\",\"line\":\"2\"," GOOD, COST_STRANGER,
     COST_STRANGER},
    {"a shell's very line", "{\"line\":\"fedcba9876543210\"," GOOD,
     COST_STRANGER, COST_SAME_LINE},
    {"nothing", "", COST_STRANGER, COST_STRANGER},
    {"rubbish", "{\"line\":\"0123456789abcdef\",", COST_STRANGER,
     COST_STRANGER},
    {"a list", "[1]", COST_STRANGER, COST_STRANGER},
    {"a number for a line", "{\"line\":1," GOOD, COST_STRANGER, COST_STRANGER},
    {"a term that is missing",
     "{\"line\":\"0123456789abcdef\",\"wait\":1,\"burn\":1,\"each\":1}",
     COST_STRANGER, COST_STRANGER},
    {"one that is a text",
     "{\"line\":\"0123456789abcdef\",\"wait\":\"1\",\"burn\":1,\"each\":1,"
     "\"noise\":0}",
     COST_STRANGER, COST_STRANGER},
    {"a negative one",
     "{\"line\":\"0123456789abcdef\",\"wait\":1,\"burn\":-1,\"each\":1,"
     "\"noise\":0}",
     COST_STRANGER, COST_STRANGER},
    {"one out of all reason",
     "{\"line\":\"0123456789abcdef\",\"wait\":1e10,\"burn\":1,\"each\":1,"
     "\"noise\":0}",
     COST_STRANGER, COST_STRANGER},
    {"units that cost nothing",
     "{\"line\":\"0123456789abcdef\",\"wait\":1,\"burn\":1,\"each\":0,"
     "\"noise\":0}",
     COST_STRANGER, COST_STRANGER},
};

static enum cost_match match_of(const struct cost_key *key, const char *line)
{
    struct cost_record r = {.match = COST_STRANGER};

    cost_history_line(&r, key, line);
    if (r.match != COST_STRANGER && r.terms.wait == 0.5 && r.terms.burn == 0.25
        && r.terms.each == 2 && r.noise == 0.125)
        return r.match;
    return r.match == COST_STRANGER ? COST_STRANGER : (enum cost_match)9;
}

static void test_lines(void)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        is_int(match_of(&python, lines[i].line), lines[i].python,
               lines[i].what);
        is_int(match_of(&shell, lines[i].line), lines[i].shell,
               "and for a shell");
    }
}

#define LINE                                                                   \
    "{\"line\":\"0123456789abcdef\",\"begin\":7,\"units\":360,\"seen\":"
#define PIECE "[0.25,0.5,1.5,0.1]"

static const struct {
    const char *what, *line;
    size_t n;
} profiles[] = {
    {"a profile", LINE "[[0,0.25,0.5,0.1]," PIECE "]," GOOD, 2},
    {"one of the same program only",
     "{\"command\":\"python3\",\"file\":\"a.py\",\"line\":\"1\","
     "\"units\":360,\"seen\":[" PIECE "]," GOOD,
     0},
    {"no pieces", LINE "[]," GOOD, 0},
    {"no list", LINE "1," GOOD, 0},
    {"a piece that is none is left out", LINE "[" PIECE ",7]," GOOD, 1},
    {"one that ends before it begins", LINE "[[0.5,0.25,1,0.1]]," GOOD, 0},
    {"one outside of the frame", LINE "[[0.5,1.25,1,0.1]]," GOOD, 0},
    {"one that is all too sure", LINE "[[0,1,1,0]]," GOOD, 0},
    {"no begin",
     "{\"line\":\"0123456789abcdef\",\"units\":9,\"seen\":[" PIECE "]," GOOD,
     0},
    {"no units",
     "{\"line\":\"0123456789abcdef\",\"begin\":0,\"seen\":[" PIECE "]," GOOD,
     0},
    {"more than there is room for",
     LINE "[" PIECE "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE
          "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE
          "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE
          "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE
          "," PIECE "," PIECE "," PIECE "," PIECE "," PIECE "]," GOOD,
     0},
};

static void test_profiles(void)
{
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        struct cost_record r = {.match = COST_STRANGER};

        cost_history_line(&r, &python, profiles[i].line);
        ok(r.match != COST_STRANGER && r.profile.n == profiles[i].n
               && (r.profile.units > 0) == (profiles[i].n > 0),
           "%s", profiles[i].what);
    }
}

#define KEY "{\"line\":\"0123456789abcdef\","

static const struct {
    const char *what, *line;
    double exponent;
} scalings[] = {
    {"a scaling",
     KEY "\"exponent\":1.5,\"loose\":0.1,\"sure\":3,\"by\":\"probe\"," GOOD,
     1.5},
    {"one of the same program counts, too",
     "{\"command\":\"python3\",\"file\":\"a.py\",\"line\":\"1\","
     "\"exponent\":1.5,\"loose\":0.1,\"sure\":3,\"by\":\"probe\"," GOOD,
     1.5},
    {"none", KEY GOOD, 0},
    {"one of nobody knows what",
     KEY "\"exponent\":1.5,\"loose\":0.1,\"sure\":3," GOOD, 0},
    {"one out of all reason",
     KEY "\"exponent\":9,\"loose\":0.1,\"sure\":3,\"by\":\"probe\"," GOOD, 0},
    {"a part of one", KEY "\"exponent\":1.5,\"loose\":0.1," GOOD, 0},
    {"no number", KEY "\"exponent\":1.5,\"loose\":0.1,\"sure\":null," GOOD, 0},
    {"a negative one",
     KEY "\"exponent\":-1,\"loose\":0.1,\"sure\":3,\"by\":\"probe\"," GOOD, 0},
};

static void test_scalings(void)
{
    for (size_t i = 0; i < sizeof scalings / sizeof scalings[0]; i++) {
        struct cost_record r = {.match = COST_STRANGER};

        cost_history_line(&r, &python, scalings[i].line);
        ok(r.match != COST_STRANGER
               && r.scaling.exponent == scalings[i].exponent,
           "%s", scalings[i].what);
    }
}

static int is_same(const struct cost_key *a, const struct cost_key *b)
{
    return strcmp(a->line, b->line) == 0;
}

static struct cost_key key_of(const char *a, const char *b, const char *c)
{
    char *argv[] = {(char *)a, (char *)b, (char *)c, NULL};
    struct cost_key key;

    cost_key_of(&key, argv);
    return key;
}

static void make(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    if (fd < 0 || close(fd) < 0)
        bail("cannot make %s", path);
}

static void test_keys(void)
{
    struct cost_key a, b;

    make("a.py");
    make("b.py");
    if (mkdir("there", 0700) < 0)
        bail("cannot make a folder");
    make("there/a.py");
    a = key_of("/usr/bin/python3", "a.py", "{begin}");
    is_str(a.command, "python3", "the last part of its path");
    is_str(a.file, "a.py", "the first argument that is a file");
    is_int((intmax_t)strlen(a.line), 16, "a hash");
    b = key_of("/usr/bin/python3", "a.py", "{begin}");
    ok(is_same(&a, &b), "the same line is the same");
    b = key_of("/usr/bin/python3", "a.py", "{end}");
    ok(!is_same(&a, &b) && strcmp(a.file, b.file) == 0, "another argument");
    b = key_of("/usr/bin/python3", "b.py", "{begin}");
    ok(!is_same(&a, &b), "another file");
    is_str(b.file, "b.py", "by its name");
    b = key_of("/usr/bin/python3", "there/a.py", "{begin}");
    ok(!is_same(&a, &b), "a file of that name elsewhere has another line");
    is_str(b.file, "a.py", "but the same name");
    b = key_of("/usr/bin/python3", "./a.py", "{begin}");
    ok(is_same(&a, &b), "the same file by another path is the same");
    b = key_of("python3", "a.py{begin}", NULL);
    is_str(b.file, "", "no file");
    a = key_of("sh", "-c", "x");
    b = key_of("sh", "-cx", NULL);
    ok(!is_same(&a, &b), "where an argument ends counts");
    b = key_of("sh", "there", "a.py");
    is_str(b.file, "a.py", "a folder is no file, and a second one is");
    b = key_of("sh", "a.py", "b.py");
    is_str(b.file, "a.py", "the first of two");
}

static void append(const struct cost_key *key, double wait)
{
    const struct cost_record r = {.terms = {.wait = wait, .each = 1},
                                  .noise = 0.1,
                                  .speed = 20,
                                  .scaling = {1.25, 0.0625, wait},
                                  .by = "probe",
                                  .profile = {.begin = 7,
                                              .units = 1234567,
                                              .n = 1,
                                              .seen = {{0.25, 0.5, 1.5, wait}}},
                                  .lag = {{"n3", wait}, {"n5", -0.5}},
                                  .lags = 2};

    is_int(cost_history_append(key, &r), 0, "a line is appended");
}

static void test_file(void)
{
    struct cost_key other = {"python3", "a.py", "00000000000000ff"};
    struct cost_record r = {.match = COST_STRANGER};

    cost_history_read(&r, &python);
    is_int(r.match, COST_STRANGER, "nothing is known of a new command");
    append(&other, 1);
    cost_history_read(&r, &python);
    is_int(r.match, COST_SAME_PROGRAM, "but of its program");
    is_near(r.terms.wait, 1, 0, "what it cost");
    is_near(r.noise, 0.1, 1e-15, "and its noise");
    is_near(r.speed, 20, 1e-12, "on nodes of such a speed");
    append(&python, 2);
    append(&python, 3);
    append(&other, 4);
    cost_history_read(&r, &python);
    is_int(r.match, COST_SAME_LINE, "its very line is better");
    is_near(r.terms.wait, 3, 0, "the newest one");
    ok(r.profile.n == 1 && r.profile.begin == 7 && r.profile.units == 1234567
           && r.profile.seen[0].begin == 0.25 && r.profile.seen[0].end == 0.5
           && r.profile.seen[0].mean == 1.5 && r.profile.seen[0].deviation == 3,
       "with its profile");
    ok(r.scaling.exponent == 1.25 && r.scaling.loose == 0.0625
           && r.scaling.sure == 3 && strcmp(r.by, "probe") == 0,
       "and its scaling");
    ok(r.lags == 2 && cost_record_lag(&r, "n3") == 3
           && cost_record_lag(&r, "n5") == -0.5
           && cost_record_lag(&r, "n") == 0,
       "and how much longer starts wait on which nodes");
    cost_history_read(&r, &shell);
    is_int(r.match, COST_STRANGER, "and a stranger stays one");
}

/* What is none is left out, and nothing else. */
static void test_lags(void)
{
    struct cost_record r = {.match = COST_STRANGER};
    char line[4096], name[65];
    int at = snprintf(line, sizeof line,
                      "{\"line\":\"0123456789abcdef\",\"wait\":1,\"burn\":1,"
                      "\"each\":1,\"noise\":0,\"lag\":{\"a\":1e10,\"b\":\"2\","
                      "\"\":3,\"%0*d\":4,\"n3\":-5",
                      64, 0);

    for (int i = 0; i < COST_LAGS + 8; i++)
        at += snprintf(line + at, sizeof line - (size_t)at, ",\"m%d\":6", i);
    (void)snprintf(line + at, sizeof line - (size_t)at, "}}");
    cost_history_line(&r, &python, line);
    is_int(r.match, COST_SAME_LINE, "a line with lags, some of which are none");
    (void)snprintf(name, sizeof name, "%0*d", 64, 0);
    ok(cost_record_lag(&r, "a") == 0 && cost_record_lag(&r, "b") == 0
           && cost_record_lag(&r, "") == 0 && cost_record_lag(&r, name) == 0,
       "too long a wait, no number, and names that no node has are left out");
    ok(cost_record_lag(&r, "n3") == -5 && cost_record_lag(&r, "m0") == 6,
       "the others are there");
    is_int((int)r.lags, COST_LAGS, "as many as there is room for");
}

static void test_speeds(void)
{
    struct cost_record r = {.terms = {1, 2, 4}, .speed = 10};
    struct cost_terms t = cost_record_terms(&r, 5);

    ok(t.wait == 1 && t.burn == 4 && t.each == 8, "slow nodes burn for longer");
    t = cost_record_terms(&r, 0);
    ok(t.wait == 1 && t.burn == 2 && t.each == 4, "nodes of no known speed");
    r.speed = 0;
    t = cost_record_terms(&r, 5);
    ok(t.wait == 1 && t.burn == 2 && t.each == 4, "a run of no known speed");
}

/* What the test has made, and nothing else, is in there. */
static void clean_up(const char *folder)
{
    static const char *const made[] = {"a.py", "b.py", "there/a.py",
                                       "evenstep/costs"};

    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        (void)unlink(made[i]);
    (void)rmdir("there");
    (void)rmdir("evenstep");
    ok(chdir("/") == 0 && rmdir(folder) == 0, "nothing else was made");
}

int main(void)
{
    char folder[] = "/tmp/evenstep-cost-history-XXXXXX";

    if (!mkdtemp(folder) || chdir(folder) < 0
        || setenv("XDG_STATE_HOME", folder, 1) < 0)
        bail("cannot make a folder");
    test_lines();
    test_profiles();
    test_scalings();
    test_keys();
    test_file();
    test_lags();
    test_speeds();
    clean_up(folder);
    return done();
}
