/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources of tasks as people give them, and the records that they come to. */
#include "launcher/run/task_list.h"
#include "fault.h"
#include "launcher/exec/task_words.h"
#include "launcher/run/task_need.h"
#include "tap.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

static char folder[] = "/tmp/task_list.XXXXXX";

/* A file with these bytes; its name is valid up to the next but seven. */
static const char *file_of(const char *bytes, size_t n)
{
    static char path[8][60];
    static unsigned made;
    char *to = path[made % 8];
    FILE *file;

    snprintf(to, sizeof path[0], "%s/%u", folder, made++);
    file = fopen(to, "we");
    if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
        bail("cannot write %s", to);
    return to;
}

static const char *text_file(const char *text)
{
    return file_of(text, strlen(text));
}

/* The records of the sources, or the message. */
static const char *written(const struct task_sources *s, size_t need)
{
    static char text[8192];
    struct es_error err = {0};
    uint64_t tasks = 0;
    struct task_list *l = task_list_open(s, &err);
    FILE *to = fmemopen(text, sizeof text, "w");
    int rc = l ? task_list_write(l, need, to, &tasks, &err) : -1;
    size_t lines = 0;

    fclose(to);
    if (rc < 0)
        snprintf(text, sizeof text, "%d: %s: %s", (int)err.kind, err.what,
                 err.mend);
    for (const char *c = text; rc == 0 && *c; c++)
        lines += *c == '\n';
    ok(rc < 0 || tasks == lines, "the tasks are counted");
    task_list_close(l);
    return text;
}

/* Is it refused, in words with these in them? */
static void refused(const struct task_sources *s, size_t need, const char *says)
{
    const char *got = written(s, need);

    if (!ok(strncmp(got, "2: ", 3) == 0 && strstr(got, says), "%s", says))
        diag("got %s", got);
}

/* --- what tasks need ------------------------------------------------------- */

static int at_most_four(void *arg,
                        const char *name,
                        const struct unit_need *need,
                        struct es_error *err)
{
    (void)arg;
    return need->cores <= 4 || need->cores == NEEDS_ALL
               ? 0
               : task_need_refuse(
                   need, name, "n3",
                   &(struct unit_need){.cores = 4, .memory = 1u << 30}, err);
}

static void test_needs(void)
{
    struct task_sources s = {.commands = 1};
    struct es_error err = {0};
    struct task_list *l;
    const struct need_list *needs;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    uint64_t tasks = 0;

    if (!to
        || task_sources_file(&s, "tasks",
                             text_file("a\n#EVENSTEP cpus=4 mem=2G\n\n"
                                       "#EVENSTEP time=1.5h\nb\nc\n"
                                       "#EVENSTEP exclusive\n"
                                       "#EVENSTEP barrier\nd\n"
                                       "#EVENSTEP cpus=5\ne\n"),
                             &err)
               < 0)
        bail("no list");
    l = task_list_open(&s, &err);
    needs = task_list_needs(l);
    is_int(task_list_write(l, 0, to, &tasks, &err), 0, "a list with needs");
    is_int((long)tasks, 5, "whose lines are no tasks");
    is_int((long)needs->n, 3, "each is of the task behind it");
    ok(needs->need[0].unit == 1 && needs->need[0].cores == 4
           && needs->need[0].memory == 2000000000u
           && needs->need[0].seconds == 5400 && needs->need[0].line == 4,
       "lines before one task are one need");
    ok(needs->need[1].unit == 3 && needs->need[1].cores == NEEDS_ALL,
       "a node, also over a barrier");
    ok(task_list_check_needs(l, at_most_four, NULL, &err) < 0,
       "one that is too large is refused");
    ok(strstr(err.what, ":10: cpus=5 is more than any node has: n3,") != NULL,
       "with its line: %s", err.what);
    task_list_close(l);
    fclose(to);
    free(text);
    s = (struct task_sources){.commands = 1, .shuf = 1};
    (void)task_sources_file(&s, "tasks", text_file("#EVENSTEP cpus=1\na\n"),
                            &err);
    refused(&s, 0, "1 says what a task needs");
    s = (struct task_sources){.commands = 1, .no_needs = "--overlap"};
    (void)task_sources_file(&s, "tasks", text_file("#EVENSTEP cpus=1\na\n"),
                            &err);
    refused(&s, 0, ":1: says what a task needs, and --overlap is given");
}

/* What is written is read as the same. */
static void test_need_print(void)
{
    const struct unit_need need[] = {{0, 1, 4, 2000000000u, 2, 90.5},
                                     {0, 1, NEEDS_ALL, 0, 0, 0}};

    for (size_t i = 0; i < 2; i++) {
        struct unit_need got = {0};
        struct es_error err = {0};
        char *text = NULL;
        size_t size = 0, n = strlen(TASK_LINE_NEED);
        FILE *to = open_memstream(&text, &size);

        task_need_print(to, &need[i]);
        fclose(to);
        is_int(task_need_parse(&got, text + n, size - n, "list", 1, &err), 0,
               "a line of needs is one");
        ok(got.cores == need[i].cores && got.memory == need[i].memory
               && got.gpus == need[i].gpus
               && fabs(got.seconds - need[i].seconds) < 1e-9,
           "and says the same");
        free(text);
    }
}

/* --- the command line ----------------------------------------------------- */

static const struct {
    const char *words[14]; /* behind -- */
    const char *sep;
    const char *cmd, *want;
} typed[] = {
    {{"./x", ":::", "a", "b"}, NULL, "./x", "\ta\n\tb\n"},
    {{"./x", "y", ":::", "a", "b", ":::", "1", "2"},
     NULL,
     "./x y",
     "\ta\t1\n\ta\t2\n\tb\t1\n\tb\t2\n"},
    {{"./x", ":::", "a", "b", ":::+", "1", "2", ":::", "p", "q"},
     NULL,
     "./x",
     "\ta\t1\tp\n\ta\t1\tq\n\tb\t2\tp\n\tb\t2\tq\n"},
    {{"./x", ":::", "p", "q", ":::", "a", "b", ":::+", "1", "2", "3"},
     NULL,
     "./x",
     "\tp\ta\t1\n\tp\tb\t2\n\tq\ta\t1\n\tq\tb\t2\n"},
    {{"./x", ":::", "a", "b", "c", ":::+", "1", "2", ":::+", "p"},
     NULL,
     "./x",
     "\ta\t1\tp\n"},
    {{":::", "a\tb", "", "-n"}, NULL, "", "\ta\\tb\n\t\n\t-n\n"},
    {{"./x", ":::", "a", ",,", "b", ",,+", "c"}, ",,", "./x ::: a", "\tb\tc\n"},
    {{"./x", ":::", "a", ":::", "1", ":::", "2", ":::", "3", ":::", "4", "5"},
     NULL,
     "./x",
     "\ta\t1\t2\t3\t4\n\ta\t1\t2\t3\t5\n"},
};

static void test_lines(void)
{
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        char *words[14], cmd[100] = "";
        struct task_sources s = {0};
        struct es_error err;

        memcpy(words, typed[i].words, sizeof words);
        is_int(task_sources_split(&s, words, typed[i].sep, &err), 0,
               "the words are split");
        for (size_t k = 0; words[k]; k++)
            snprintf(cmd + strlen(cmd), sizeof cmd - strlen(cmd), "%s%s",
                     k > 0 ? " " : "", words[k]);
        is_str(cmd, typed[i].cmd, "the command ends in front of the lists");
        is_str(written(&s, 0), typed[i].want, "the lists are combined");
    }
}

static void split_refused(const char *a, const char *b, const char *says)
{
    char *words[] = {(char *)"x", (char *)a, (char *)b, NULL};
    struct task_sources s = {0};
    struct es_error err = {0};

    ok(task_sources_split(&s, words, NULL, &err) < 0 && err.kind == ES_USAGE
           && strstr(err.what, says),
       "%s", err.what);
}

static void test_split(void)
{
    char *f = (char *)text_file("1\n2\n"), *g = (char *)text_file("p\nq\n");
    char x[] = "x", sep[] = ":::", file[] = "::::", linked[] = "::::+";
    char *words[] = {x, sep, x, x, file, f, g, NULL};
    char *both[] = {x, file, f, linked, g, NULL};
    char *none[] = {x, sep, NULL}, *many[80] = {x};
    struct task_sources s = {0};
    struct es_error err = {0};

    is_int(task_sources_split(&s, words, NULL, &err), 0, "files, too");
    is_str(written(&s, 0),
           "\tx\t1\tp\n\tx\t1\tq\n\tx\t2\tp\n\tx\t2\tq\n"
           "\tx\t1\tp\n\tx\t1\tq\n\tx\t2\tp\n\tx\t2\tq\n",
           "each is a source");
    s = (struct task_sources){0};
    is_int(task_sources_split(&s, both, NULL, &err), 0, "also linked ones");
    is_str(written(&s, 0), "1\t1\tp\n2\t2\tq\n", "both go on at once");
    s = (struct task_sources){0};
    is_int(task_sources_split(&s, none, NULL, &err), 0, "a list may be empty");
    refused(&s, 0, "\":::\": no tasks");
    split_refused(":::+", "a", "no list in front of it");
    split_refused("::::", NULL, "::::: names no file");
    for (size_t i = 1; i < 79; i++)
        many[i] = i % 2 ? sep : x;
    s = (struct task_sources){0};
    ok(task_sources_split(&s, many, NULL, &err) < 0 && err.kind == ES_USAGE,
       "there are not more than %u", TASK_SOURCES_MAX);
}

/* --- files ---------------------------------------------------------------- */

static struct task_sources file_source(const char *path)
{
    struct task_sources s = {0};

    if (task_sources_file(&s, "--arg-file", path, NULL) < 0)
        bail("a file is a source");
    return s;
}

static void test_files(void)
{
    struct task_sources s = file_source(text_file("a\n\n b \n#c\nd"));

    is_str(written(&s, 1), "1\ta\n2\t\n3\t b \n4\t#c\n5\td\n",
           "a line is a value, also an empty one");
    s.commands = 1;
    is_str(written(&s, 1), "1\ta\n3\t b \n5\td\n",
           "of commands blank lines and comments are none");
    s = file_source(text_file("  \n\t# x\n"));
    s.commands = 1;
    refused(&s, 0, "no tasks");
    s = file_source(text_file("\xef\xbb\xbf"
                              "a\\t\\\n\xef\xbb\xbf\n"));
    is_str(
        written(&s, 1), "1\ta\\\\t\\\\\n2\t\xef\xbb\xbf\n",
        "a byte order mark is no part of it, and a backslash nothing special");
    s = file_source(file_of("a\nb\0c\n\0d", 8));
    s.nul = 1;
    is_str(written(&s, 1), "1\ta\\nb\n2\tc\\n\n3\td\n", "-0");
    s = file_source(text_file("1\n2\n"));
    is_int(task_sources_file(&s, "-a", text_file("p\nq\n"), NULL), 0, "two");
    is_str(written(&s, 2), "1\t1\tp\n1\t1\tq\n2\t2\tp\n2\t2\tq\n",
           "are combined");
    s = (struct task_sources){0};
    is_int(task_sources_range(&s, 9, 12, NULL), 0, "a range");
    is_str(written(&s, 1), "\t9\n\t10\n\t11\n", "of numbers");
    s.source[0].end = 9;
    refused(&s, 0, "no tasks");
}

static void test_bad_files(void)
{
    struct task_sources s = file_source("/nonesuch");
    struct es_error err = {0};

    refused(&s, 0, "--arg-file: /nonesuch: No such file");
    s = file_source(folder);
    refused(&s, 0, "is a directory");
    s = file_source(text_file(""));
    refused(&s, 0, "no tasks");
    s = file_source(file_of("a\nb\0c\n", 6));
    refused(&s, 0, ":2: has a NUL");
    s = file_source(file_of("\x1f\x8b\x08\0\0\0\0\0\0", 9));
    refused(&s, 0, "gzip");
    s = file_source("-");
    ok(task_sources_file(&s, "::::", "-", &err) < 0 && err.kind == ES_USAGE,
       "standard input is there once");
    s = (struct task_sources){0};
    refused(&s, 0, "no source");
}

static void test_input(void)
{
    int was = dup(STDIN_FILENO), fds[2];
    struct task_sources s = file_source("-");

    if (was < 0 || pipe(fds) < 0 || write(fds[1], "\xef\xbb", 2) != 2
        || write(fds[1],
                 "\xbf"
                 "a\nb",
                 4)
               != 4
        || close(fds[1]) < 0 || dup2(fds[0], STDIN_FILENO) < 0
        || close(fds[0]) < 0)
        bail("no pipe");
    is_str(written(&s, 1), "1\ta\n2\tb\n", "standard input, as it comes");
    (void)dup2(was, STDIN_FILENO);
    close(was);
}

/* A line that is longer than what is read at once, and one that is too long. */
static void test_long_lines(void)
{
    size_t n = TASK_WORD_MAX - 1;
    char *text = malloc(TASK_LINE_MAX + 100000);
    struct es_error err = {0};
    struct task_sources s;
    struct task_list *l;
    FILE *null = fopen("/dev/null", "we");
    uint64_t tasks;

    memset(text, 'x', TASK_LINE_MAX + 100000);
    memcpy(text, "a\nb\n", 4);
    text[4 + n] = '\n';
    s = file_source(file_of(text, 5 + n));
    l = task_list_open(&s, &err);
    ok(l && task_list_write(l, 1, null, &tasks, &err) == 0 && tasks == 3,
       "the longest argument is taken");
    task_list_close(l);
    s.joined = 1;
    s.word = n - 1;
    refused(&s, 1, ":3: 131071 bytes");
    text[4 + n] = 'x';
    s = file_source(file_of(text, 5 + n));
    refused(&s, 1, ":3: 131072 bytes, and an argument has 131071 at most");
    for (size_t i = 1000; i < 1u << 20; i += 1000)
        text[i] = '\t';
    text[1u << 20] = '\n';
    s = file_source(file_of(text, (1u << 20) + 1));
    is_int(task_sources_colsep(&s, "\\t", NULL), 0, "a line of 1 MiB");
    s.most = 3;
    l = task_list_open(&s, &err);
    ok(l && task_list_write(l, 1, null, &tasks, &err) == 0 && tasks == 1,
       "with many columns is taken, too");
    task_list_close(l);
    memset(text, 'x', TASK_LINE_MAX + 100000);
    s = file_source(file_of(text, TASK_LINE_MAX + 100000));
    refused(&s, 1, ":1: is longer than 8 MiB");
    free(text);
    fclose(null);
}

/* --- columns -------------------------------------------------------------- */

static struct task_sources table(const char *text, const char *colsep)
{
    struct task_sources s = file_source(text_file(text));

    if (task_sources_colsep(&s, colsep, NULL) < 0)
        bail("%s separates columns", colsep);
    return s;
}

static const struct {
    const char *text, *colsep, *want;
} tables[] = {
    {"a\tb\nc\td\n", "\\t", "1\ta\tb\n2\tc\td\n"},
    {"a\t\"b\tc\"\n", "\\t", "1\ta\t\"b\tc\"\n"},
    {"a::b:c\n", "::", "1\ta\tb:c\n"},
    {"a|b.c", "\\|", "1\ta\tb.c\n"},
    {"a b  c\n\n", " ", "1\ta\tb\t\tc\n"},
    {"a,b\r\nc,d\r\n", ",", "1\ta\tb\n2\tc\td\n"},
    {"\"a,b\",\"\",\"c \"\"d\"\"\"\n,\n", ",", "1\ta,b\t\tc \"d\"\n2\t\t\n"},
    {"\"a\nb\n\",c\nd,\"e\"\n", ",", "1\ta\\nb\\n\tc\n4\td\te\n"},
    {"5\" disk,x\n a,\"b\"\"\"\n", ",", "1\t5\" disk\tx\n2\t a\tb\"\n"},
    {"\xef\xbb\xbf\"a\nb\",c\n", ",", "1\ta\\nb\tc\n"},
    {"\"a\"\r\n\"b\r\n\"\r\n", ",", "1\ta\n2\tb\r\\n\n"},
};

static void test_tables(void)
{
    struct task_sources s;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        s = table(tables[i].text, tables[i].colsep);
        is_str(written(&s, 0), tables[i].want, "a table is cut");
    }
    s = table("a,b,c\nd,e\n", ",");
    is_str(written(&s, 2), "1\ta\tb\tc\n2\td\te\n", "rows may be longer");
    refused(&s, 3, ":2: has 2 columns, and the command uses {3}");
    is_int(task_sources_file(&s, "-a", s.source[0].path, NULL), 0, "twice");
    refused(&s, 1, ":2: has 2 columns, and the first row 3");
    s = table("a\n\"b\nc\n", ",");
    refused(&s, 1, ":2: a quote in it does not end");
    s = file_source(file_of("\"a\n\"\0\"b\0c\"\0", 11));
    is_int(task_sources_colsep(&s, ",", NULL), 0, "-0 with quotes");
    s.nul = 1;
    refused(&s, 1, ":2: a quote in it does not end");
    s = table("a\n\"b\"c,d\n", ",");
    refused(&s, 1, ":2: text follows a quote");
}

static void test_colsep(void)
{
    static const char *const bad[] = {"\\s+",  "[,;]", " +", "a*",
                                      "(,|;)", "",     "\n", "\\d"};
    struct task_sources s = {0};
    struct es_error err;
    char *words[] = {(char *)"x", (char *)":::", (char *)"a,\"b,c\"",
                     (char *)"\"d", NULL};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(task_sources_colsep(&s, bad[i], &err) < 0 && err.kind == ES_USAGE,
           "separator %zu is refused", i);
    ok(task_sources_colsep(&s, "+", &err) == 0 && strcmp(s.colsep, "+") == 0
           && task_sources_colsep(&s, "\\\\\\.", &err) == 0
           && strcmp(s.colsep, "\\.") == 0
           && task_sources_colsep(&s, ",", &err) == 0,
       "a plain text is not");
    is_int(task_sources_split(&s, words, NULL, &err), 0, "lists have columns");
    refused(&s, 1, "\":::\": argument 2: a quote in it does not end");
    words[3] = NULL;
    is_str(written(&s, 2), "\ta\tb,c\n", "too");
}

static void test_header(void)
{
    struct task_sources s = table("name,age\nx,1\n\n\ny,2\n", ",");
    struct es_error err = {0};
    struct task_list *l;
    char *words[] = {
        (char *)"x",   (char *)":::", (char *)"f", (char *)"a", (char *)"b",
        (char *)":::", (char *)"age", (char *)"1", NULL};

    s.header = 1;
    is_str(written(&s, 2), "2\tx\t1\n5\ty\t2\n", "the header is no row");
    l = task_list_open(&s, &err);
    ok(l && task_list_columns(l) == 2
           && strcmp(task_list_names(l)[0], "name") == 0
           && strcmp(task_list_names(l)[1], "age") == 0
           && !task_list_names(l)[2],
       "it has names");
    task_list_close(l);
    is_int(task_sources_split(&s, words + 4, NULL, &err), 0, "two headers");
    refused(&s, 1, "\":::\": columns 2 and 3 are both named age");
    s = (struct task_sources){.header = 1};
    words[1] = words[5];
    words[5] = (char *)":::";
    is_int(task_sources_split(&s,
                              (char *[]){(char *)"x", (char *)":::",
                                         (char *)"f", (char *)"a", NULL},
                              NULL, &err),
           0, "a list has one, too");
    is_str(written(&s, 1), "\ta\n", "its first word");
    s = table("name,age\n", ",");
    s.header = 1;
    refused(&s, 1, "no tasks");
    s = table("a,b,,\n1,2,3,4\n", ",");
    s.header = 1;
    is_str(written(&s, 1), "2\t1\t2\t3\t4\n", "columns may have no name");
}

/* --- several values ------------------------------------------------------- */

static void test_several(void)
{
    struct task_sources s = file_source(text_file("a\nbb\nccc\nd\ne\n"));

    s.most = 2;
    is_str(written(&s, 2), "1\ta\tbb\n3\tccc\td\n5\te\n", "-n 2");
    s.most = 0;
    s.room = 5;
    is_str(written(&s, 9), "1\ta\tbb\n3\tccc\n4\td\te\n", "-X, five bytes");
    s.most = 1;
    is_str(written(&s, 1), "1\ta\n2\tbb\n3\tccc\n4\td\n5\te\n", "-X -n 1");
    s.room = 3;
    refused(&s, 1, ":3: 3 bytes, and there is room for 2");
    s.room = 0;
    s.joined = 1;
    s.most = 9;
    s.word = 4;
    is_str(written(&s, 9), "1\ta\tbb\n3\tccc\n4\td\te\n",
           "in one word with blanks between");
    s = file_source(text_file("a\nbb\n"));
    s.none = 1;
    is_str(written(&s, 1), "1\n2\n", "-n 0");
    s = table("a,b\nc,d\ne,f\n", ",");
    s.most = 2;
    is_str(written(&s, 4), "1\ta\tb\tc\td\n3\te\tf\n", "rows of columns");
}

static size_t columns_of(const struct task_sources *s)
{
    struct task_list *l = task_list_open(s, NULL);
    size_t n = task_list_columns(l);

    task_list_close(l);
    return n;
}

static void test_columns(void)
{
    struct task_sources s = table("a,b\nc,d\n", ",");

    is_int((intmax_t)columns_of(&s), 2, "columns of the first row");
    s.most = 3;
    is_int((intmax_t)columns_of(&s), 6, "of three of them");
    s.most = 0;
    s.room = 100;
    is_int((intmax_t)columns_of(&s), 0, "of any number");
    s.room = 0;
    is_int(task_sources_range(&s, 0, 9, NULL), 0, "and a range");
    is_int((intmax_t)columns_of(&s), 3, "of all sources");
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void test_shuffle(void)
{
    struct task_sources s = {.shuf = 1, .seeded = 1, .seed = 7};
    char first[400], again[400], *line[50], *at;
    size_t n = 0;

    is_int(task_sources_range(&s, 10, 60, NULL), 0, "50 numbers");
    snprintf(first, sizeof first, "%s", written(&s, 1));
    snprintf(again, sizeof again, "%s", written(&s, 1));
    is_str(first, again, "a seed gives an order");
    s.seed = 8;
    ok(strcmp(first, written(&s, 1)) != 0, "another seed another");
    s.seeded = 0;
    snprintf(again, sizeof again, "%s", written(&s, 1));
    ok(strcmp(again, written(&s, 1)) != 0, "and none any");
    at = first;
    while (n < 50 && (line[n] = strsep(&at, "\n")) && *line[n])
        n++;
    qsort(line, n, sizeof *line, by_text);
    for (size_t i = 0; i < n; i++)
        n = atoi(line[i] + 1) == (int)i + 10 ? n : 0;
    is_int((intmax_t)n, 50, "all are there, once");
}

/* --- faults --------------------------------------------------------------- */

static void test_faults(void)
{
    struct task_sources s = table("n,m\na,b\nc,d\n", ",");
    FILE *full = fopen("/dev/full", "we"), *null = fopen("/dev/null", "we");
    struct task_list *l = NULL;
    struct es_error err = {0};
    uint64_t tasks;
    int rc = -1;
    long n = 0;

    s.header = 1;
    is_int(task_sources_range(&s, 0, 3, NULL), 0, "a table and a range");
    s.header = 0;
    s.shuf = 1;
    for (fault_at = n; rc < 0 && n < 200; fault_at = ++n) {
        l = task_list_open(&s, &err);
        rc = l ? task_list_write(l, 1, null, &tasks, &err) : -1;
        fault_at = -1;
        task_list_close(l);
        if (rc < 0 && err.kind != ES_ENV)
            break;
    }
    fault_at = -1;
    ok(rc == 0 && n > 8 && tasks == 9, "each allocation that fails is told");
    s.shuf = 0;
    l = task_list_open(&s, &err);
    ok(task_list_write(l, 1, full, &tasks, &err) < 0 && err.kind == ES_WORK,
       "so is a disk that is full");
    task_list_close(l);
    s.n = 0;
    for (int i = 0; i < 4; i++)
        (void)task_sources_range(&s, 0, 100000, NULL);
    refused(&s, 1, "more than 1000000000 tasks");
    fclose(full);
    fclose(null);
}

int main(void)
{
    if (!mkdtemp(folder))
        bail("no folder");
    test_needs();
    test_need_print();
    test_lines();
    test_split();
    test_files();
    test_bad_files();
    test_input();
    test_long_lines();
    test_tables();
    test_colsep();
    test_header();
    test_several();
    test_columns();
    test_shuffle();
    test_faults();
    for (unsigned i = 0; i < 200; i++) {
        char path[60];

        snprintf(path, sizeof path, "%s/%u", folder, i);
        (void)unlink(path);
    }
    is_int(rmdir(folder), 0, "nothing is left behind");
    return done();
}
