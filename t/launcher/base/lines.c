/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the lines of a file begin and end, however long they are. */
#include "launcher/base/lines.h"
#include "fault.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static char file_path[600];

static void set_content(const char *text, size_t len)
{
    FILE *file = fopen(file_path, "w");

    if (!file || fwrite(text, 1, len, file) != len || fclose(file) != 0)
        bail("%s: %s", file_path, strerror(errno));
}

static struct lines open_lines(void)
{
    struct lines l;
    struct es_error err;

    if (lines_open(&l, file_path, NULL, &err) < 0)
        bail("%s", err.what);
    return l;
}

/* --- small files ---------------------------------------------------------- */

/* The text of the lines [begin, end). */
static const char *text_of(const struct lines *l, uint64_t begin, uint64_t end)
{
    static char text[64];
    uint64_t from, to;
    struct es_error err;

    memset(text, 0, sizeof text);
    if (lines_find(l, begin, end, &from, &to, &err) < 0
        || to - from >= sizeof text
        || lines_read(l, from, text, (size_t)(to - from), &err) < 0)
        bail("%s", err.what);
    return text;
}

static void test_text(void)
{
    struct lines l;

    set_content("one\n\nthree", 10);
    l = open_lines();
    is_int((int)l.n, 3, "a last line without a newline is a line");
    is_str(text_of(&l, 0, 1), "one\n", "a line has its newline");
    is_str(text_of(&l, 1, 2), "\n", "an empty one has nothing else");
    is_str(text_of(&l, 2, 3), "three", "the last one ends with the file");
    is_str(text_of(&l, 0, 3), "one\n\nthree", "all lines are the file");
    is_str(text_of(&l, 1, 1), "", "no lines are no text");
    lines_close(&l);
    set_content("one\ntwo\n", 8);
    l = open_lines();
    is_int((int)l.n, 2, "no line begins behind the last newline");
    is_str(text_of(&l, 1, 2), "two\n", "so the last line has it");
    lines_close(&l);
    lines_close(&l);
    ok(!l.path && !l.landmark, "they may be closed twice");
}

static void test_hash(void)
{
    struct lines a, b, c;

    set_content("one\ntwo\n", 8);
    a = open_lines();
    b = open_lines();
    set_content("one\ntwi\n", 8);
    c = open_lines();
    ok(a.hash == b.hash && a.hash != c.hash, "another text has another hash");
    lines_close(&a);
    lines_close(&b);
    lines_close(&c);
}

/* --- a large file --------------------------------------------------------- */

/* Lines of all lengths from 1 to 199, so that newlines and landmarks come to
 * lie anywhere in a block. */
#define MANY 5000

static char *make_many(uint64_t begin[MANY + 1])
{
    char *text = malloc(MANY * 200), *at = text;

    if (!text)
        bail("no memory");
    for (size_t i = 0; i < MANY; i++) {
        size_t len = 1 + i * 7 % 199;

        begin[i] = (uint64_t)(at - text);
        memset(at, 'a' + (int)(i % 26), len - 1);
        at[len - 1] = '\n';
        at += len;
    }
    begin[MANY] = (uint64_t)(at - text);
    set_content(text, (size_t)(at - text));
    return text;
}

static void test_many(void)
{
    static uint64_t begin[MANY + 1];
    char *text = make_many(begin), *read;
    struct lines l = open_lines();
    size_t wrong = 0;
    uint64_t from, to;
    struct es_error err;

    is_int((int)l.n, MANY, "all lines of many blocks are counted");
    for (size_t i = 0; i < MANY; i += 1 + i % 3) {
        size_t end = i + 1 + i % 1500;

        end = end < MANY ? end : MANY;
        wrong += lines_find(&l, i, end, &from, &to, &err) < 0
                 || from != begin[i] || to != begin[end];
    }
    is_int((int)wrong, 0, "each is found where it is");
    read = malloc(begin[MANY]);
    ok(read && lines_read(&l, 0, read, begin[MANY], &err) == 0
           && memcmp(read, text, begin[MANY]) == 0,
       "and the text is read at once");
    free(read);
    free(text);
    lines_close(&l);
}

/* A line that is longer than a block. */
static void test_long_line(void)
{
    size_t len = 200000;
    char *text = malloc(len + 4);
    struct lines l;
    uint64_t from, to;
    struct es_error err;

    if (!text)
        bail("no memory");
    memset(text, 'l', len);
    memcpy(text + len, "\nend", 4);
    set_content(text, len + 4);
    l = open_lines();
    is_int((int)l.n, 2, "a line may be longer than what is read at a time");
    ok(lines_find(&l, 1, 2, &from, &to, &err) == 0 && from == len + 1
           && to == len + 4,
       "the one behind it is found");
    lines_close(&l);
    free(text);
}

/* --- a file that changes -------------------------------------------------- */

static void test_changes(void)
{
    struct es_error err = {0};
    uint64_t from, to;
    struct lines l;
    char text[16];

    set_content("one\ntwo\nthree\n", 14);
    l = open_lines();
    set_content("one\ntwo\nthree\nfour\n", 19);
    is_int((int)l.n, 3, "what is added later is no line of it");
    is_str(text_of(&l, 0, 3), "one\ntwo\nthree\n",
           "and what was there is read");
    if (truncate(file_path, 6) < 0)
        bail("truncate");
    ok(lines_read(&l, 0, text, 7, &err) == -1 && err.kind == ES_WORK,
       "what is gone is an error: ES_WORK");
    ok(lines_read(&l, 0, text, 6, &err) == -1 && err.kind == ES_WORK,
       "and what is still there is not known to be what it was");
    set_content("one\ntwo\nthree\n", 14);
    ok(lines_read(&l, 0, text, 6, &err) == 0, "but what is there again is");
    set_content("one\ntwo\nthre!\n", 14);
    ok(lines_read(&l, 0, text, 6, &err) == -1
           && strstr(err.what, "was rewritten"),
       "of another text nothing is read");
    err = (struct es_error){0};
    ok(lines_find(&l, 2, 3, &from, &to, &err) == -1 && err.kind == ES_WORK,
       "also where it is looked for");
    lines_close(&l);
}

/* What a command reads, and its hash. */
static void test_sum(void)
{
    struct record_rule header = {.header = 1};
    struct es_error err = {0};
    struct lines l;
    uint64_t sum;

    set_content("one\ntwo\nthree\n", 14);
    l = open_lines();
    ok(lines_sum(&l, 1, 3, &sum, &err) == 0
           && sum == XXH3_64bits("two\nthree\n", 10),
       "the hash of two lines");
    lines_close(&l);
    if (lines_open(&l, file_path, &header, &err) < 0)
        bail("%s", err.what);
    ok(lines_sum(&l, 1, 2, &sum, &err) == 0
           && sum == XXH3_64bits("one\nthree\n", 10),
       "and of one with the header before it");
    if (truncate(file_path, 6) < 0)
        bail("truncate");
    ok(lines_sum(&l, 1, 2, &sum, &err) == -1 && err.kind == ES_WORK,
       "what is gone has none");
    lines_close(&l);
}

/* A file that is open, and has no name any more. */
static void test_open_fd(void)
{
    struct es_error err = {0};
    struct lines l;
    int fd;

    set_content("one\ntwo\n", 8);
    fd = open(file_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || unlink(file_path) < 0)
        bail("%s: %s", file_path, strerror(errno));
    ok(lines_open_fd(&l, fd, "a list", &err) == 0 && l.n == 2,
       "a file that is open has its lines");
    is_str(text_of(&l, 1, 2), "two\n", "which are read from it");
    lines_close(&l);
    ok(fcntl(fd, F_GETFD) < 0, "and it is closed with them");
}

static void test_growing(void)
{
    struct es_error err = {0};
    struct lines l;
    int fd;

    set_content("", 0);
    fd = open(file_path, O_RDWR | O_APPEND | O_CLOEXEC);
    ok(fd >= 0 && lines_open_growing(&l, fd, "a list", &err) == 0 && l.n == 0,
       "a file that grows may be empty");
    for (unsigned i = 0; i < 3000; i++)
        if (dprintf(fd, "line %u\n", i) < 0
            || (i % 7 == 0 && lines_grow(&l, &err) < 0))
            bail("%s: %s", file_path, err.what);
    is_int(lines_grow(&l, &err), 0, "it has grown");
    is_int((int)l.n, 3000, "by all of its lines");
    is_str(text_of(&l, 0, 2), "line 0\nline 1\n", "which are read");
    is_str(text_of(&l, 2998, 3000), "line 2998\nline 2999\n", "to the end");
    is_int(lines_grow(&l, &err), 0, "nothing is no more");
    is_int((int)l.n, 3000, "lines");
    lines_close(&l);
}

/* --- what is no file of lines --------------------------------------------- */

static int refuses(const char *name)
{
    struct lines l;
    struct es_error err = {0};

    return lines_open(&l, name, NULL, &err) == -1 && err.kind == ES_USAGE
           && !l.path && !l.landmark;
}

static void test_refused(void)
{
    char pipe_path[600];

    set_content("", 0);
    ok(refuses(file_path), "an empty file has no lines");
    ok(refuses(tree_path("none")), "a file must be there");
    ok(refuses(tree_root), "a folder is none");
    snprintf(pipe_path, sizeof pipe_path, "%s", tree_path("pipe"));
    if (mkfifo(pipe_path, 0600) < 0)
        bail("no pipe");
    ok(refuses(pipe_path), "nor is a pipe, and it is not waited for");
}

/* As many landmarks as need their room to grow. */
static void test_no_memory(void)
{
    size_t len = 200000, failures = 0, wrong = 0;
    char *text = malloc(len);
    struct lines l;
    struct es_error err;
    int rc = -1;

    if (!text)
        bail("no memory");
    memset(text, '\n', len);
    set_content(text, len);
    free(text);
    for (long at = 0; rc < 0 && at < 100; at++) {
        err = (struct es_error){0};
        fault_at = at;
        rc = lines_open(&l, file_path, NULL, &err);
        fault_at = -1;
        failures += rc < 0;
        wrong += rc < 0 && (err.kind != ES_ENV || l.path);
    }
    ok(rc == 0 && l.n == len && failures > 0 && wrong == 0,
       "without memory it fails with ES_ENV, and nothing stays open");
    lines_close(&l);
}

int main(void)
{
    tree_make();
    snprintf(file_path, sizeof file_path, "%s", tree_path("lines"));
    test_text();
    test_hash();
    test_many();
    test_long_line();
    test_changes();
    test_sum();
    test_open_fd();
    test_growing();
    test_refused();
    test_no_memory();
    tree_remove();
    return done();
}
