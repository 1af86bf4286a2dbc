/* SPDX-License-Identifier: BSD-2-Clause */
/* A piece's output taken apart: each task's part of it, and how it ended. */
#include "launcher/run/task_results.h"
#include "fault.h"
#include "tap.h"

#include <errno.h>

static struct spool piece;

static void put(enum task_part kind, const void *bytes, size_t len)
{
    uint8_t head[TASK_PART_HEAD];

    task_part_head(head, kind, len);
    if (spool_add(&piece, head, sizeof head) < 0
        || spool_add(&piece, bytes, len) < 0)
        bail("no memory");
}

static void put_text(enum task_part kind, const char *text)
{
    put(kind, text, strlen(text));
}

static void put_end(uint32_t status)
{
    const struct task_end e = {.status = status, .tries = 1};
    uint8_t bytes[TASK_END_BYTES];

    task_end_write(bytes, &e);
    put(TASK_END, bytes, sizeof bytes);
}

static const char *part(const struct spool *s, uint64_t from, uint64_t to)
{
    static char text[100];

    if (to < from || to - from >= sizeof text || to > spool_size(s)
        || spool_read(s, from, text, (size_t)(to - from)) < 0)
        return NULL;
    text[to - from] = '\0';
    return text;
}

static const char *out_of(const struct task_results *t, size_t i)
{
    return part(&t->out, task_results_out(t, i), t->task[i].out);
}

static const char *err_of(const struct task_results *t, size_t i)
{
    return part(&t->err, task_results_err(t, i), t->task[i].err);
}

/* Three tasks, of which the second prints nothing; the fourth has not ended. */
static void make(void)
{
    spool_clear(&piece);
    put_text(TASK_OUT, "one\n");
    put_text(TASK_ERR, "careful\n");
    put_text(TASK_OUT, "1\n");
    put_end(0);
    put_end(4);
    put_text(TASK_ERR, "no\n");
    put_end(1);
    put_text(TASK_OUT, "half");
    put_text(TASK_ERR, "a word");
}

static void test_apart(void)
{
    struct task_results t;

    make();
    is_int(task_results_read(&t, &piece, 4), 0, "what has come is taken apart");
    is_int((intmax_t)t.n, 3, "into the tasks that have ended");
    ok(t.task[0].end.status == 0 && t.task[1].end.status == 4
           && t.task[2].end.status == 1,
       "each with its status");
    is_str(out_of(&t, 0), "one\n1\n", "stdout of the first is together");
    is_str(err_of(&t, 0), "careful\n", "and its stderr apart from it");
    ok(strcmp(out_of(&t, 1), "") == 0 && strcmp(err_of(&t, 1), "") == 0
           && strcmp(out_of(&t, 2), "") == 0,
       "who prints nothing has nothing");
    is_str(err_of(&t, 2), "no\n", "what follows is of the next");
    ok(spool_size(&t.out) == 6 && spool_size(&t.err) == 11,
       "and what one has printed that has not ended is left out");
    is_int(task_results_add(&t, &(struct task_end){.signal = 9, .tries = 1}), 0,
           "one that others say has ended");
    ok(t.n == 4 && t.task[3].end.signal == 9 && strcmp(out_of(&t, 3), "") == 0
           && strcmp(out_of(&t, 0), "one\n1\n") == 0,
       "is the next, without a word");
    task_results_clear(&t);
    ok(t.n == 0 && spool_size(&t.out) == 0, "it is cleared");
}

static void test_none(void)
{
    struct task_results t;

    spool_clear(&piece);
    ok(task_results_read(&t, &piece, 4) == 0 && t.n == 0,
       "of nothing there is none");
    put_text(TASK_OUT, "half");
    ok(task_results_read(&t, &piece, 4) == 0 && t.n == 0
           && spool_size(&t.out) == 0,
       "nor of one that has not ended");
    task_results_clear(&t);
}

static void test_refused(void)
{
    struct task_results t;

    make();
    errno = 0;
    ok(task_results_read(&t, &piece, 2) == -1 && errno == EBADMSG,
       "more tasks than the piece has units are refused");
    task_results_clear(&t);
    spool_clear(&piece);
    if (spool_add(&piece, "what a shell prints\n", 20) < 0)
        bail("no memory");
    errno = 0;
    ok(task_results_read(&t, &piece, 2) == -1 && errno == EBADMSG,
       "and what is no such stream");
    task_results_clear(&t);
}

/* More than is kept in memory, in the middle of a part or of an end. */
static void test_large(void)
{
    enum { TASKS = 5000 };
    static char text[TASK_PART_MAX];
    struct task_results t;
    char name[32];
    int are_right = 1;

    spool_clear(&piece);
    memset(text, 'x', sizeof text);
    for (uint32_t i = 0; i < TASKS; i++) {
        snprintf(name, sizeof name, "%u\n", i);
        put_text(TASK_OUT, name);
        if (i % 100 == 7)
            put(TASK_ERR, text, sizeof text);
        put_end(i % 256);
    }
    is_int(task_results_read(&t, &piece, TASKS), 0, "many are read");
    is_int((intmax_t)t.n, TASKS, "all of them");
    for (uint32_t i = 0; i < t.n; i++) {
        snprintf(name, sizeof name, "%u\n", i);
        are_right &= out_of(&t, i) && strcmp(out_of(&t, i), name) == 0
                     && t.task[i].end.status == i % 256
                     && t.task[i].err - task_results_err(&t, i)
                            == (i % 100 == 7 ? sizeof text : 0);
    }
    ok(are_right, "each with its own");
    task_results_clear(&t);
}

static void test_no_memory(void)
{
    struct task_results t;
    int rc = -1, failed = 0, n = 0;

    make();
    for (; rc < 0 && n < 100; n++) {
        fault_at = n;
        rc = task_results_read(&t, &piece, 4);
        fault_at = -1;
        failed += rc < 0 && errno == ENOMEM;
        if (rc < 0)
            task_results_clear(&t);
    }
    ok(rc == 0 && failed == n - 1 && failed > 0,
       "without memory it fails with ENOMEM, and with all of it it does not");
    task_results_clear(&t);
}

static void test_copy(void)
{
    struct spool from = {0}, to = {0};

    ok(spool_add(&from, "abcdef", 6) == 0
           && task_results_copy(&to, &from, 1, 4) == 0
           && task_results_copy(&to, &from, 5, 6) == 0
           && task_results_copy(&to, &from, 6, 6) == 0,
       "parts of a spool are copied");
    is_str(part(&to, 0, spool_size(&to)), "bcdf", "one behind the other");
    spool_clear(&from);
    spool_clear(&to);
}

static void test_again(void)
{
    struct task_results t;

    spool_clear(&piece);
    put_text(TASK_OUT, "one\n");
    put_end(0);
    put_text(TASK_OUT, "half");
    put_text(TASK_ERR, "why\n");
    put_text(TASK_AGAIN, "");
    put_text(TASK_OUT, "two\n");
    put_end(0);
    put_text(TASK_AGAIN, "");
    ok(task_results_read(&t, &piece, 4) == 0 && t.n == 2
           && strcmp(out_of(&t, 0), "one\n") == 0
           && strcmp(out_of(&t, 1), "two\n") == 0,
       "what a try that has failed has printed is left out");
    is_str(err_of(&t, 1), "why\n", "but not what it said on stderr");
    task_results_clear(&t);
}

static int no_tag_at = -1;

static char *tag_of(void *arg, size_t i)
{
    char *text = NULL;

    if ((int)i == no_tag_at || asprintf(&text, "%s%zu\t", (char *)arg, i) < 0)
        return NULL;
    return text;
}

static void test_tag(void)
{
    struct task_results t;

    make();
    is_int(task_results_read(&t, &piece, 4), 0, "what has come");
    no_tag_at = 2;
    ok(task_results_tag(&t, tag_of, (char *)"x") == -1
           && strcmp(out_of(&t, 0), "one\n1\n") == 0
           && strcmp(err_of(&t, 2), "no\n") == 0,
       "is as it was where a tag is not to be had");
    no_tag_at = -1;
    is_int(task_results_tag(&t, tag_of, (char *)"x"), 0, "is tagged");
    is_str(out_of(&t, 0), "x0\tone\nx0\t1\n", "each line of the first");
    is_str(err_of(&t, 0), "x0\tcareful\n", "and of its stderr");
    is_str(out_of(&t, 1), "", "nothing where nothing was");
    is_str(err_of(&t, 2), "x2\tno\n", "the last with its own");
    ok(t.task[1].end.status == 4 && t.n == 3, "ends are as they were");
    task_results_clear(&t);
}

int main(void)
{
    test_apart();
    test_none();
    test_refused();
    test_large();
    test_no_memory();
    test_copy();
    test_again();
    test_tag();
    spool_clear(&piece);
    return done();
}
