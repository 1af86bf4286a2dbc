/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields in the commands of tasks: names become numbers, others are refused. */
#include "launcher/run/task_fields.h"
#include "fault.h"
#include "launcher/exec/template.h"
#include "tap.h"

static char name[] = "name", age[] = "age", label[] = "label", dotted[] = "a.b",
            blank[] = "a b", none[] = "", year[] = "2019";
static char *people[] = {name, age, NULL};
static char a_name[] = "a", a_dot[] = "a.";
static char *dot_first[] = {a_dot, a_name, NULL},
            *dot_last[] = {a_name, a_dot, NULL};
static char *odd[] = {label, dotted, none, blank, year, NULL};

static const struct {
    const char *cmd[5];
    size_t columns;
    char **names;
    int shell;
    const char *want; /* the last word; NULL: it is refused, and says */
    const char *says;
} commands[] = {
    {{"./x", "{}{1}{-1}{/}{1/.}{#}{%}{node}"},
     1,
     NULL,
     0,
     "{}{1}{-1}{/}{1/.}{#}{%}{node}",
     NULL},
    {{"./x", "{name}-{age}"}, 2, people, 0, "{1}-{2}", NULL},
    {{"./x", "{name/.}{{name}}{{{age}}}{{{{age}}}}"},
     2,
     people,
     0,
     "{1/.}{name}{{{2}}}{{age}}",
     NULL},
    {{"./x", "{label}{a.b}{a b}{2019}{a.b.}"},
     5,
     odd,
     0,
     "{1}{2}{4}{5}{2.}",
     NULL},
    {{"./x", "{{label}}{label}"}, 5, odd, 0, "{{label}}{1}", NULL},
    {{"./x", "${name}{2}"}, 2, people, 0, "${name}{2}", NULL},
    {{"./x", "{a.}{a}{a./}"}, 2, dot_first, 0, "{1}{2}{1/}", NULL},
    {{"./x", "{a.}{a}{a/.}"}, 2, dot_last, 0, "{2}{1}{1/.}", NULL},
    {{"./x", "{5}"}, 0, NULL, 0, "{5}", NULL},
    {{"./x", "{foobar}{ 5}{\"a\":5}{a,b}{}"},
     1,
     NULL,
     0,
     "{foobar}{ 5}{\"a\":5}{a,b}{}",
     NULL},
    {{"./x", "{1..5}{=}{0}"}, 1, NULL, 0, "{1..5}{=}{0}", NULL},
    {{"./x", "{{5}}{{nmae}}{{..}}"}, 1, NULL, 0, "{{5}}{nmae}{{..}}", NULL},
    {{"./x", "%{nmae}@{nmae}${nmae}"},
     2,
     people,
     0,
     "%{nmae}@{nmae}${nmae}",
     NULL},
    /* texts of programs keep what is theirs */
    {{"sh", "-c", "f() { x; }; echo {1} {5} {nmae} {..}"},
     2,
     people,
     0,
     "f() { x; }; echo {1} {{5}} {nmae} {..}",
     NULL},
    {{"grep", "-E", "a{3}"}, 1, NULL, 0, "a{{3}}", NULL},
    {{"grep", "-E", "{{{3}}}{-4}"}, 1, NULL, 0, "{{{{{{3}}}}}}{{-4}}", NULL},
    /* what is refused */
    {{"./x", "{5}"},
     3,
     NULL,
     0,
     NULL,
     "{5}: a task has 3 values: take {1} to {3}"},
    {{"./x", "a{2/.}"}, 1, NULL, 0, NULL, "{2/.}: a task has 1 value: take {}"},
    {{"./x", "{-3}"},
     2,
     people,
     0,
     NULL,
     "{-3}: a task has 2 columns: take {name} {age}"},
    {{"./x", "{nmae}"},
     2,
     people,
     0,
     NULL,
     "unknown field {nmae}: did you mean {name}?: a task has {name} {age}"},
    {{"./x", "{foobar}"},
     2,
     people,
     0,
     NULL,
     "unknown field {foobar}: a task has {name} {age}"},
    {{"./x", "{line}"},
     1,
     NULL,
     0,
     NULL,
     "unknown field {line}: did you mean {}?"},
    {{"./x", "--id={seq}"},
     1,
     NULL,
     0,
     NULL,
     "unknown field {seq}: did you mean {#}?"},
    {{"./x", "{nod}"},
     1,
     NULL,
     0,
     NULL,
     "unknown field {nod}: did you mean {node}?"},
    {{"./x", "{nmae}.txt"},
     1,
     NULL,
     0,
     NULL,
     "unknown field {nmae}: a task has {}, {#} and {%}, and by --header : names "
     "of columns; {{nmae}} keeps the braces"},
    {{"./x", "{..}"}, 1, NULL, 0, NULL, "unknown field {..}"},
    {{"./x", "{1...}"}, 1, NULL, 0, NULL, "unknown field {1...}"},
    {{"./x", "{= s/a/b/ =}"}, 1, NULL, 0, NULL, "unknown field {= s/a/b/ =}"},
    /* a line for the shell is looked at, whatever it starts */
    {{"awk '{print $1}' {} >{name}"},
     2,
     people,
     1,
     "awk '{print $1}' {} >{1}",
     NULL},
    {{"sh -c 'echo {5}'"}, 1, NULL, 1, NULL, "{5}: a task has 1 value"},
};

static void test_commands(void)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct task_fields f;
        struct es_error err = {0};
        char said[1000];
        size_t last = 0;
        char **got =
            task_fields_settle((char **)commands[i].cmd, commands[i].columns,
                               commands[i].names, commands[i].shell, &f, &err);

        while (commands[i].cmd[last + 1])
            last++;
        is_str(got ? got[last] : NULL, commands[i].want, commands[i].cmd[last]);
        snprintf(said, sizeof said, "%s: %s", err.what, err.mend);
        if (commands[i].says)
            ok(!got && err.kind == ES_USAGE && strstr(said, commands[i].says),
               "%s", said);
        template_free(got);
    }
}

static struct task_fields fields_of(const char *a, const char *b, int shell)
{
    char *cmd[] = {(char *)a, (char *)b, NULL};
    struct task_fields f;

    template_free(task_fields_settle(cmd, 2, people, shell, &f, NULL));
    return f;
}

static struct task_fields nameless(const char *a, const char *b, int shell)
{
    char *cmd[] = {(char *)a, (char *)b, NULL}, **got;
    struct task_fields f;
    struct es_error err = {0};

    got = task_fields_settle(cmd, 1, NULL, shell, &f, &err);
    ok(got && got[1] && strcmp(got[1], b) == 0, "%s %s: stays (%s)", a, b,
       err.what);
    template_free(got);
    return f;
}

static const struct {
    const char *cmd, *word;
    int shell;
} own[] = {
    {"awk", "{print}", 0},          {"awk", "{nude}", 0},
    {"awk '{print}'", "{}", 1},     {"echo", "{FOO}", 0},
    {"echo", "${nmae}", 0},         {"echo", "%{nmae}", 0},
    {"echo", "{ nmae }", 0},        {"echo", "{nmae,node}", 0},
    {"git", "HEAD@{upstream}", 0},  {"echo", "'{nmae}'", 1},
    {"find", "{} -exec f {} +", 0}, {"echo", "{n-1}", 0},
};

static void test_fields(void)
{
    struct task_fields f = fields_of("./x", "{{1}} {#}", 0);

    ok(f.any && f.need == 0, "a number of the task needs no value");
    f = fields_of("./x", "{{}} {{1}}", 0);
    ok(!f.any, "braces that are kept are no field");
    f = fields_of("./x{-2}", "{1}{-1}", 0);
    ok(f.need == 2, "{-2} needs two");
    f = fields_of("{age}", "{1}", 0);
    ok(f.need == 2 && !f.quoted && !f.text, "so does the name of the second");
    ok(!f.left, "and there is no other");
    f = nameless("echo", "{foobar}", 0);
    is_str(f.left, "{foobar}", "without names one that is near none is told");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        f = nameless(own[i].cmd, own[i].word, own[i].shell);
        ok(!f.left, "%s %s: is the command's own", own[i].cmd, own[i].word);
    }
    f = fields_of("sh", "-c", 0);
    ok(!f.text, "a text without a value is safe");
    f = fields_of("awk", "/{1}/", 0);
    is_str(f.text, "/{1}/", "one with a value is told");
    f = fields_of("echo", "\"a {}\"", 1);
    is_str(f.quoted, "\"a {}\"", "so is one that stands in quotes");
    f = fields_of("echo 'a'", "\\\" \"a\"{}'b'", 1);
    ok(!f.quoted, "but not one between them");
    f = fields_of("echo", "\"{}\"", 0);
    ok(!f.quoted, "which mean nothing without a shell");
}

static void test_no_memory(void)
{
    char word[] = "a{name}";
    char *cmd[] = {word, word, NULL}, **got = NULL;
    struct task_fields f;
    struct es_error err = {0};
    long n = 0;

    for (fault_at = n; !got && n < 100; fault_at = ++n)
        got = task_fields_settle(cmd, 2, people, 0, &f, &err);
    fault_at = -1;
    ok(got && n > 0 && strcmp(got[1], "a{1}") == 0 && err.kind == ES_ENV,
       "each allocation that fails gives no command");
    template_free(got);
}

int main(void)
{
    test_commands();
    test_fields();
    test_no_memory();
    return done();
}
