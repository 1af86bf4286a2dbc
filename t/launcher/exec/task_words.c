/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of tasks, and the words of their commands. */
#include "launcher/exec/task_words.h"
#include "fault.h"
#include "tap.h"

static const struct task_place place = {
    .unit = 6, .frame = 2, .slot = 3, .label = "dusk", .node = "n1"};

/* Words or values as one text, "<a> <b c>"; ended by NULL, or at most n. */
static const char *shown(char *const words[], size_t n)
{
    static char text[4096];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < n && words[i]; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s<%s>",
                               i > 0 ? " " : "", words[i]);
    return text;
}

/* --- records -------------------------------------------------------------- */

static const struct {
    const char *text, *values; /* NULL: it is none */
    uint64_t line;
} records[] = {
    {"1\ttrue", "<true>", 1},
    {"18446744073709551615\ta\tb", "<a> <b>", UINT64_MAX},
    {"\ta", "<a>", 0},
    {"", "", 0},
    {"7", "", 7},
    {"7\t", "<>", 7},
    {"7\t\t\t", "<> <> <>", 7},
    {"7\ta\\tb\\nc\\\\d\t\\\\t", "<a\tb\nc\\d> <\\t>", 7},
    {"7\t\\\\", "<\\>", 7},
    {"7\t {1} 'x' \r", "< {1} 'x' \r>", 7},
    {"0\ta", NULL, 0},
    {"07\ta", NULL, 0},
    {"18446744073709551616\ta", NULL, 0},
    {"7x\ta", NULL, 0},
    {"-1\ta", NULL, 0},
    {"a", NULL, 0},
    {"7\ta\\", NULL, 0},
    {"7\ta\\\tb", NULL, 0},
    {"7\ta\\x", NULL, 0},
    {"7\ta\nb", NULL, 0},
};

static void test_records(void)
{
    struct task_record r = {0};
    char text[100];

    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        int rc;

        snprintf(text, sizeof text, "%s", records[i].text);
        rc = task_record_parse(&r, text, strlen(text));
        is_str(rc == 0 ? shown(r.value, r.n) : NULL, records[i].values,
               "a record");
        if (rc == 0)
            ok(r.line == records[i].line, "its line is %ju",
               (uintmax_t)records[i].line);
    }
    memcpy(text, "7\ta\0b", 6);
    is_int(task_record_parse(&r, text, 5), -1, "there is no NUL in a value");
    memcpy(text, "7\ta\nx", 6);
    ok(task_record_parse(&r, text, 3) == 0 && r.n == 1
           && strcmp(r.value[0], "a") == 0,
       "its newline may stand behind it");
    task_record_free(&r);
    ok(r.room == 0, "its memory is given back");
}

/* What is written comes back. */
static void test_write(void)
{
    static const char odd[] = "\t\n\\\\t'\"\r\x01\xff {} \\";
    struct task_record r = {0};
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    task_record_begin(to, 1234567890123u);
    task_record_value(to, odd, strlen(odd));
    task_record_value(to, "", 0);
    task_record_value(to, "abc", 2);
    task_record_end(to);
    task_record_begin(to, 0);
    task_record_value(to, "x", 1);
    task_record_end(to);
    fclose(to);
    ok(strchr(text, '\n') == strstr(text, "\n\tx\n"), "a record is one line");
    is_int(task_record_parse(&r, text, strcspn(text, "\n")), 0, "it is read");
    ok(r.line == 1234567890123u && r.n == 3 && strcmp(r.value[0], odd) == 0
           && strcmp(r.value[1], "") == 0 && strcmp(r.value[2], "ab") == 0,
       "all is there, byte for byte");
    task_record_free(&r);
    free(text);
}

/* --- words ---------------------------------------------------------------- */

#define MOST 6

static const struct {
    const char *cmd[MOST], *values[MOST];
    unsigned how;
    const char *want;
} words[] = {
    /* an argument vector */
    {{"echo", "{}"}, {"a b"}, 0, "<echo> <a b>"},
    {{"echo"}, {"a"}, 0, "<echo> <a>"},
    {{"echo"}, {"a", "b c"}, 0, "<echo> <a> <b c>"},
    {{"echo"}, {NULL}, 0, "<echo>"},
    {{"echo"}, {""}, 0, "<echo> <>"},
    {{NULL}, {"a", "b"}, 0, "<a> <b>"},
    {{"echo", "-{}-"}, {"a", "b c"}, 0, "<echo> <-a b c->"},
    {{"{}", "x"}, {"a", "b"}, 0, "<a> <b> <x>"},
    {{"echo", "{}"}, {NULL}, 0, "<echo>"},
    {{"echo", "{2}{1}", "{1}"}, {"a", "b"}, 0, "<echo> <ba> <a>"},
    {{"echo", "{3}", "x{-3}"}, {"a", "b"}, 0, "<echo> <x>"},
    {{"echo", "{-1}{-2}"}, {"a", "b"}, 0, "<echo> <ba>"},
    {{"echo", "{01}{+1}{0}"}, {"a"}, 0, "<echo> <a{+1}{0}>"},
    {{"echo", "{1}", "{2}"}, {"{2}", "'$x`"}, 0, "<echo> <{2}> <'$x`>"},
    {{"{.}"}, {"d.x/b.tar.gz"}, 0, "<d.x/b.tar>"},
    {{"{.}", "{/.}"}, {"d.x/b"}, 0, "<d.x/b> <b>"},
    {{"{.}"}, {"a.x", "b.y"}, 0, "<a> <b>"},
    {{"{.}", "{/}"}, {".x"}, 0, "<> <.x>"},
    {{"{/}", "{//}", "{/.}"}, {"d/b.c"}, 0, "<b.c> <d> <b>"},
    {{"{/}", "{//}", "{/.}"}, {"b"}, 0, "<b> <.> <b>"},
    {{"{/}", "{//}"}, {"/b"}, 0, "<b> </>"},
    {{"{/}", "{//}"}, {"a//b//"}, 0, "<> <a>"},
    {{"{/}", "{//}"}, {""}, 0, "<> <.>"},
    {{"{//}", "{//}"}, {"//"}, 0, "</> </>"},
    {{"{1.}:{2/}:{2//}:{-1/.}"}, {"a.b", "c/d.e"}, 0, "<a:d.e:c:d>"},
    {{"{#}", "{%}", "{begin}-{end}"}, {"a"}, 0, "<7> <4> <6-7>"},
    {{"{count}{frame}{slot}{label}{node}"}, {"a"}, 0, "<123duskn1>"},
    {{"{#}"}, {"a"}, 0, "<7>"}, /* {} is not added */
    /* braces */
    {{"{{}}", "{{1}}"}, {"a"}, 0, "<{}> <{1}> <a>"},
    {{"{{{}}}", "{{{1}}}"}, {"a"}, 0, "<{a}> <{a}>"},
    {{"{{{{1}}}}{{{{#}}}}"}, {"a"}, 0, "<{{1}}{{#}}> <a>"},
    {{"{\"a\":{\"b\":{1}}}"}, {"a"}, 0, "<{\"a\":{\"b\":a}}>"},
    {{"{{1}", "{1}}"}, {"a"}, 0, "<{a> <a}>"},
    {{"{a} {1 } { } {1..2} {1"}, {"a"}, 0, "<{a} {1 } { } {1..2} {1> <a>"},
    {{"${1}${#}${label}$x"}, {"a"}, 0, "<${1}${#}${label}$x> <a>"},
    {{"${}"}, {"a"}, 0, "<$a>"},
    {{"{99999999999999999999}"}, {"a"}, 0, "<{99999999999999999999}> <a>"},
    {{"{999999999}", "{-999999999}"}, {"a"}, 0, ""},
    {{"x{2}", "{2.}", "{1}"}, {"a"}, 0, "<x> <a>"},
    /* a word for each value */
    {{"-{}-{1}", "y"}, {"a", "b c"}, TASK_REPEAT, "<-a-a> <-b c-a> <y>"},
    {{"{.}{}", "{1}"}, {"a.x", "b.y"}, TASK_REPEAT, "<aa.x> <bb.y> <a.x>"},
    {{"-{}"}, {NULL}, TASK_REPEAT, "<->"},
    {{"echo"}, {"a", "b"}, TASK_REPEAT, "<echo> <a> <b>"},
    /* for a shell */
    {{"echo", "{}"}, {"a", "b c"}, TASK_SHELL, "<echo a 'b c'>"},
    {{"echo {} >{.}.o"}, {"a b.c"}, TASK_SHELL, "<echo 'a b.c' >'a b'.o>"},
    {{"echo"}, {"it's"}, TASK_SHELL, "<echo 'it'\\''s'>"},
    {{"echo"}, {"", "-n", "*"}, TASK_SHELL, "<echo '' -n '*'>"},
    {{"echo", "a;", "x{}"}, {"a\nb"}, TASK_SHELL, "<echo a; x'a\nb'>"},
    {{"{}", "x"}, {"A=b"}, TASK_SHELL, "<'A=b' x>"},
    {{"x {} y"}, {NULL}, TASK_SHELL, "<x  y>"},
    {{"x"}, {NULL}, TASK_SHELL, "<x>"},
    {{"a-{} \"b\"", "{}"},
     {"1", "2"},
     TASK_SHELL | TASK_REPEAT,
     "<a-1 a-2 \"b\" 1 2>"},
    {{"{node}:{#}"}, {"a"}, TASK_SHELL, "<n1:7>"},
    {{NULL},
     {"echo 'a  b' {} ${1}; x"},
     TASK_SHELL,
     "<echo 'a  b' {} ${1}; x>"},
    {{NULL}, {"echo", "a b"}, TASK_SHELL, "<echo a b>"},
};

static void test_words(void)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct task_record r = {.value = (char **)words[i].values};
        char **got;

        while (r.n < MOST && r.value[r.n])
            r.n++;
        got = task_words((char **)words[i].cmd, &r, &place, words[i].how);
        is_str(got ? shown(got, 100) : NULL, words[i].want,
               words[i].cmd[0] ? words[i].cmd[0] : "no word");
        free(got);
    }
}

/* A word has as many bytes as the kernel takes. */
static void test_longest(void)
{
    char *value = malloc(TASK_WORD_MAX + 1), **got;
    char echo[] = "echo", all[] = "{}", two[] = "-{}";
    char *cmd[] = {echo, all, NULL}, *more[] = {echo, two, NULL};
    struct task_record r = {.n = 1, .value = &value};

    memset(value, 'x', TASK_WORD_MAX);
    value[TASK_WORD_MAX - 1] = '\0';
    got = task_words(cmd, &r, &place, 0);
    ok(got && strlen(got[1]) == TASK_WORD_MAX - 1, "the longest word is made");
    free(got);
    errno = 0;
    ok(!task_words(more, &r, &place, 0) && errno == E2BIG,
       "one that is a byte longer is not");
    ok(!task_words(cmd, &r, &place, TASK_SHELL) && errno == E2BIG,
       "nor a line for the shell");
    value[TASK_WORD_MAX - 1] = 'x';
    value[TASK_WORD_MAX] = '\0';
    ok(!task_words(cmd, &r, &place, 0) && errno == E2BIG, "nor a value");
    free(value);
}

static void test_no_memory(void)
{
    char echo[] = "echo", a[] = "a";
    char *cmd[] = {echo, NULL}, *value[] = {a}, **got = NULL, text[] = "7\ta";
    struct task_record r = {.n = 1, .value = value}, parsed = {0};
    long n = 0;

    for (fault_at = n; !got && n < 100; fault_at = ++n)
        got = task_words(cmd, &r, &place, 0);
    fault_at = -1;
    ok(n > 2 && got && strcmp(shown(got, 10), "<echo> <a>") == 0,
       "each allocation that fails gives no words");
    free(got);
    fault_at = 0;
    is_int(task_record_parse(&parsed, text, 3), -1, "nor a record");
    fault_at = -1;
    is_int(errno, ENOMEM, "and says so");
    task_record_free(&parsed);
}

int main(void)
{
    test_records();
    test_write();
    test_words();
    test_longest();
    test_no_memory();
    return done();
}
