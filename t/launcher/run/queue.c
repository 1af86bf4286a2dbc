/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames from files and pipes: each line once, in order, none twice. */
#include "launcher/run/queue.h"
#include "tree.h"

#include <event2/event.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SOURCES 3

static struct event_base *base;
static int told; /* how often there() was called */

static void there(void *arg)
{
    (void)arg;
    told++;
}

/* A name of ours that lasts. */
static const char *name_of(const char *name)
{
    static char kept[8][600];
    static size_t used;
    char *path = kept[used++ % 8];

    snprintf(path, 600, "%s", tree_path(name));
    return path;
}

static int follow; /* as --follow says */

static int open_queue(struct queue **q,
                      const char *first,
                      const char *second,
                      struct journal *journal,
                      struct es_error *err)
{
    static const char *path[SOURCES];
    struct queue_setup setup = {
        .path = path, .n = 1, .follow = follow, .journal = journal};

    path[0] = first;
    path[1] = second;
    setup.n += second != NULL;
    *q = NULL;
    *err = (struct es_error){0};
    if (queue_open(q, base, &setup, there, NULL, err) < 0)
        return -1;
    if (queue_look(*q, err) == 0)
        return 0;
    queue_close(*q);
    *q = NULL;
    return -1;
}

static struct queue *queue_of(const char *first, const char *second)
{
    struct es_error err;
    struct queue *q;

    if (open_queue(&q, first, second, NULL, &err) < 0)
        bail("%s", err.what);
    return q;
}

/* The next frame in words: "0: 5:9 label", "later", "end", "bad". */
static const char *next(struct queue *q)
{
    static char text[400];
    struct frame f;
    struct es_error err = {0};
    int rc = queue_next(q, &f, &err);

    if (rc < 0)
        return err.kind == ES_USAGE ? "bad" : "failed";
    if (rc != EXTRACTED_FRAME)
        return rc == EXTRACTED_END ? "end" : "later";
    snprintf(text, sizeof text, "%ju: %ju:%ju%s%s", (uintmax_t)f.number,
             (uintmax_t)f.begin, (uintmax_t)f.end, f.label[0] ? " " : "",
             f.label);
    return text;
}

/* --- files ---------------------------------------------------------------- */

static void test_file(void)
{
    struct queue *q;

    tree_put("f", "0:10\n10:20 a label\n0:5\tb\n9223372036854775806:"
                  "9223372036854775807 a label\n");
    q = queue_of(name_of("f"), NULL);
    is_str(next(q), "0: 0:10", "a line is a frame");
    is_str(next(q), "1: 10:20 a label", "with what is behind it as its label");
    is_str(next(q), "2: 0:5 b", "units may come again under another label");
    is_str(next(q), "3: 9223372036854775806:9223372036854775807 a label",
           "to the last unit that a number holds");
    is_str(next(q), "end", "and the file ends");
    is_str(next(q), "end", "for good");
    queue_close(q);
}

/* More lines than the ring holds, and more text than is read at a time. */
static void test_long_file(void)
{
    struct queue *q;
    FILE *file = fopen(tree_path("long"), "w");
    char want[64];
    int wrong = 0;

    if (!file)
        bail("no file");
    for (int i = 0; i < 1000; i++)
        fprintf(file, "%d:%d frame-%0*d\n", i * 10, i * 10 + 10, i % 200, i);
    if (fclose(file) != 0)
        bail("no room");
    q = queue_of(name_of("long"), NULL);
    for (int i = 0; i < 1000; i++) {
        snprintf(want, sizeof want, "%d: %d:%d ", i, i * 10, i * 10 + 10);
        wrong += strncmp(next(q), want, strlen(want)) != 0;
    }
    is_int(wrong, 0, "a thousand frames come in their order");
    is_str(next(q), "end", "and no other");
    queue_close(q);
}

static void test_two_files(void)
{
    struct queue *q;
    int seen[6] = {0}, wrong = 0;
    unsigned long begin;

    tree_put("a", "0:1\n1:2\n2:3\n");
    tree_put("b", "3:4\n4:5\n5:6\n");
    q = queue_of(name_of("a"), name_of("b"));
    for (int i = 0; i < 6; i++) {
        if (sscanf(next(q), "%*d: %lu", &begin) != 1 || begin > 5)
            bail("no frame");
        wrong += begin % 3 > 0 && !seen[begin - 1];
        seen[begin]++;
        wrong += seen[begin] > 1;
    }
    is_int(wrong, 0, "two files are one queue: each in its order, none twice");
    is_str(next(q), "end", "which ends with the last of them");
    queue_close(q);
}

/* --- bad lines ------------------------------------------------------------ */

/* What becomes of a bad line, alone and behind a good one. */
static void test_bad(const char *line, const char *what)
{
    struct queue *q;
    struct es_error err;
    char text[6000];

    snprintf(text, sizeof text, "%s", line);
    tree_put("bad", text);
    ok(open_queue(&q, name_of("bad"), NULL, NULL, &err) == -1
           && err.kind == ES_USAGE && strstr(err.what, "bad:1:") && !q,
       "%s is told at once, with its line's number", what);
    snprintf(text, sizeof text, "0:10 good\n%s", line);
    tree_put("bad", text);
    q = queue_of(name_of("bad"), NULL);
    ok(strcmp(next(q), "0: 0:10 good") == 0 && strcmp(next(q), "bad") == 0
           && strcmp(next(q), "bad") == 0,
       "and after the frames before it, and ends the queue");
    queue_close(q);
}

static void test_bad_lines(void)
{
    char text[6000];

    test_bad("ten\n", "a word");
    test_bad("10:10\n", "a frame without units");
    test_bad("10:5\n", "a frame that is reversed");
    test_bad("\n", "an empty line");
    test_bad("20:30", "a line without an end");
    snprintf(text, sizeof text, "20:30 %0256d\n", 1);
    test_bad(text, "a label of 256 bytes");
    snprintf(text, sizeof text, "20:30 %05000d\n", 1);
    test_bad(text, "a line that is too long");
}

static void test_longest_label(void)
{
    struct queue *q;
    struct frame f;
    struct es_error err;
    char text[400];

    snprintf(text, sizeof text, "0:10 %0255d\n", 1);
    tree_put("label", text);
    q = queue_of(name_of("label"), NULL);
    ok(queue_next(q, &f, &err) == EXTRACTED_FRAME && strlen(f.label) == 255,
       "a label may have 255 bytes");
    queue_close(q);
}

static void test_nul(void)
{
    FILE *file = fopen(tree_path("nul"), "w");
    struct queue *q;
    struct es_error err;

    if (!file || fwrite("0:10\0 a\n", 1, 8, file) != 8 || fclose(file) != 0)
        bail("no file");
    ok(open_queue(&q, name_of("nul"), NULL, NULL, &err) == -1
           && err.kind == ES_USAGE,
       "a NUL is no text");
}

static void test_overlap(void)
{
    static const struct {
        const char *second;
        int bad;
    } cases[] = {{"10:20 l", 0}, {"19:30 l", 0}, {"0:10 l", 1}, {"4:6 l", 1},
                 {"9:11 l", 1},  {"0:1 l", 1},   {"4:6", 0},    {"4:6 m", 0}};
    struct queue *q;
    char text[100];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, "0:10 l\n%s\n", cases[i].second);
        tree_put("over", text);
        q = queue_of(name_of("over"), NULL);
        (void)next(q);
        ok((strcmp(next(q), "bad") == 0) == cases[i].bad,
           "behind 0:10 l, %s is %s", cases[i].second,
           cases[i].bad ? "refused: units twice" : "taken");
        queue_close(q);
    }
    tree_put("a", "0:10 l\n");
    tree_put("b", "5:15 l\n");
    q = queue_of(name_of("a"), name_of("b"));
    (void)next(q);
    is_str(next(q), "bad", "units twice in two files are found, too");
    queue_close(q);
}

/* Each of ten adjoining frames, in an order that is not theirs. */
static void test_adjoining(void)
{
    struct queue *q;
    char text[200] = "";
    int frames = 0;

    for (int i = 0; i < 10; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d:%d l\n",
                 i * 7 % 10, i * 7 % 10 + 1);
    tree_put("adjoin", text);
    q = queue_of(name_of("adjoin"), NULL);
    while (strcmp(next(q), "end") != 0 && frames < 20)
        frames++;
    is_int(frames, 10, "frames may adjoin, in any order");
    queue_close(q);
}

static void test_refused(void)
{
    struct queue *q;
    struct es_error err;

    ok(open_queue(&q, name_of("none"), NULL, NULL, &err) == -1
           && err.kind == ES_USAGE,
       "a file that is not there is refused");
    ok(open_queue(&q, tree_root, NULL, NULL, &err) == -1
           && err.kind == ES_USAGE,
       "so is a folder");
    q = queue_of("/dev/null", NULL);
    is_str(next(q), "end", "/dev/null is an empty queue");
    queue_close(q);
}

/* --- pipes ---------------------------------------------------------------- */

static void put(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        bail("the pipe is full");
}

/* Until there is something to hear. */
static void wait_told(void)
{
    struct timeval limit = {20, 0};

    told = 0;
    event_base_loopexit(base, &limit);
    for (int i = 0; !told && i < 1000; i++)
        event_base_loop(base, EVLOOP_ONCE);
}

static void test_pipe(void)
{
    const char *path = name_of("pipe");
    struct queue *q;
    int fd;

    if (mkfifo(path, 0600) < 0 || (fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
        bail("no pipe");
    q = queue_of(path, NULL);
    is_str(next(q), "later", "an empty pipe has nothing yet");
    put(fd, "0:10 a\n10:");
    wait_told();
    is_str(next(q), "0: 0:10 a", "what comes is heard");
    is_str(next(q), "later", "a part of a line is none yet");
    put(fd, "20 b\n");
    wait_told();
    is_str(next(q), "1: 10:20 b", "its rest makes it one");
    close(fd);
    wait_told();
    is_str(next(q), "end", "without a writer it ends");
    queue_close(q);
}

/* --- with --follow -------------------------------------------------------- */

static void append(const char *name, const char *text)
{
    int fd = open(tree_path(name), O_WRONLY | O_APPEND | O_CLOEXEC);

    if (fd < 0)
        bail("%s", name);
    put(fd, text);
    close(fd);
}

static void test_follow_file(void)
{
    struct queue *q;

    tree_put("grows", "0:10 a\n10:");
    follow = 1;
    q = queue_of(name_of("grows"), NULL);
    is_str(next(q), "0: 0:10 a", "of a file that may grow a line is a frame");
    is_str(next(q), "later", "and its end is none");
    append("grows", "20 a\n20:30 a\n");
    wait_told();
    is_str(next(q), "1: 10:20 a", "what is added is found");
    is_str(next(q), "2: 20:30 a", "all of it");
    is_str(next(q), "later", "and more may come");
    follow = 0;
    queue_close(q);
}

static void test_follow_pipe(void)
{
    const char *path = name_of("pipe3");
    struct queue *q;
    int fd;

    if (mkfifo(path, 0600) < 0)
        bail("no pipe");
    follow = 1;
    q = queue_of(path, NULL);
    follow = 0;
    for (int i = 0; i < 2; i++) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            bail("no pipe");
        put(fd, i ? "10:20\n" : "0:10\n");
        close(fd);
        wait_told();
        is_str(next(q), i ? "1: 10:20" : "0: 0:10",
               i ? "nor with the next" : "a pipe does not end with its writer");
    }
    is_str(next(q), "later", "there may always be another");
    queue_close(q);
}

/* --- with a journal ------------------------------------------------------- */

static struct journal *journal_at(const char *path, enum journal_resume resume)
{
    static char word[] = "c";
    char *command[] = {word, NULL};
    struct es_error err;
    struct journal *j;

    if (journal_open(&j, path,
                     &(struct journal_work){.work = "w", .command = command},
                     resume, &err)
        < 0)
        bail("%s", err.what);
    return j;
}

static struct queue *resumed(struct journal **j,
                             const char *log,
                             enum journal_resume resume,
                             const char *first,
                             const char *second)
{
    struct es_error err;
    struct queue *q;

    *j = journal_at(log, resume);
    if (open_queue(&q, first, second, *j, &err) < 0)
        bail("%s", err.what);
    return q;
}

static void test_resume(void)
{
    const char *log = name_of("log"), *file = name_of("growing");
    struct journal *j;
    struct queue *q;
    struct es_error err;

    tree_put("growing", "0:10 a\n10:20 b\n");
    q = resumed(&j, log, 0, file, NULL);
    (void)next(q);
    queue_close(q);
    journal_close(j);
    tree_put("growing", "0:10 a\n10:20 b\n20:30 c\n");
    q = resumed(&j, log, 1, file, NULL);
    is_str(next(q), "0: 0:10 a", "a run that resumes begins with the first");
    is_str(next(q), "1: 10:20 b", "then what was read, and not given out");
    is_str(next(q), "2: 20:30 c", "then goes on in the file");
    is_str(next(q), "end", "and has nothing twice");
    queue_close(q);
    journal_close(j);
    j = journal_at(log, JOURNAL_RESUME);
    is_int(open_queue(&q, "/dev/null", NULL, j, &err), 0,
           "without the file it goes on");
    is_str(next(q), "0: 0:10 a", "with what was read");
    queue_close(q);
    journal_close(j);
    tree_quiet(1);
    tree_put("growing", "0:10 a\n10:21 b\n");
    q = resumed(&j, log, 1, file, NULL);
    tree_quiet(0);
    is_str(next(q), "0: 0:10 a", "of a file that is not the same");
    is_str(next(q), "1: 10:21 b", "a line that has changed is what it is now");
    is_str(next(q), "end", "and one that is gone is none");
    queue_close(q);
    journal_close(j);
    tree_put("growing", "0:10 a\n10:21 b\n21:22 d\n22:23 e\n");
    q = resumed(&j, log, 1, file, NULL);
    (void)next(q), (void)next(q);
    is_str(next(q), "2: 21:22 d", "another one may take its place");
    is_str(next(q), "3: 22:23 e", "and others follow it");
    queue_close(q);
    journal_close(j);
}

static void test_resume_two(void)
{
    const char *log = name_of("log2"), *a = name_of("a"), *b = name_of("b");
    struct journal *j;
    struct queue *q;
    struct es_error err;
    int frames = 0;

    tree_put("a", "0:10\n");
    tree_put("b", "10:20\n20:30\n");
    q = resumed(&j, log, 0, a, b);
    queue_close(q);
    journal_close(j);
    q = resumed(&j, log, 1, a, b);
    while (strcmp(next(q), "end") != 0 && frames < 10)
        frames++;
    is_int(frames, 3, "each file goes on where it was");
    queue_close(q);
    journal_close(j);
    j = journal_at(log, JOURNAL_RESUME);
    ok(open_queue(&q, a, NULL, j, &err) == -1 && err.kind == ES_USAGE,
       "with fewer files than before it is refused");
    journal_close(j);
}

/* What a pipe gave is in the journal only: it does not come again. */
static void test_resume_pipe(void)
{
    const char *log = name_of("log3"), *path = name_of("pipe2");
    struct journal *j;
    struct queue *q;
    int fd;

    if (mkfifo(path, 0600) < 0 || (fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
        bail("no pipe");
    q = resumed(&j, log, 0, path, NULL);
    put(fd, "0:10 a\n");
    wait_told();
    queue_close(q); /* read, and not given out */
    journal_close(j);
    q = resumed(&j, log, 1, path, NULL);
    is_str(next(q), "0: 0:10 a", "what a pipe gave before is given out");
    put(fd, "10:20 a\n");
    wait_told();
    is_str(next(q), "1: 10:20 a", "then what comes is new");
    put(fd, "5:6 a\n");
    wait_told();
    is_str(next(q), "bad", "units of before are units twice");
    queue_close(q);
    journal_close(j);
    close(fd);
}

/* A frame that cannot be noted must not be given out: a run that resumes would
 * not know of it. */
static void test_full_disk(void)
{
    const char *log = name_of("log4");
    struct rlimit before, none;
    struct journal *j = journal_at(log, JOURNAL_NEW);
    struct queue *q;
    struct es_error err;
    int rc;

    tree_put("f", "0:10\n");
    if (getrlimit(RLIMIT_FSIZE, &before) < 0)
        bail("no limits");
    none = before;
    none.rlim_cur = 1;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    rc = open_queue(&q, name_of("f"), NULL, j, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    ok(rc == -1 && err.kind == ES_WORK,
       "a frame that the journal has no room for is not given out");
    queue_close(q);
    journal_close(j);
}

int main(void)
{
    base = event_base_new();
    if (!base)
        bail("no event loop");
    tree_make();
    test_file();
    test_long_file();
    test_two_files();
    test_bad_lines();
    test_longest_label();
    test_nul();
    test_overlap();
    test_adjoining();
    test_refused();
    test_pipe();
    test_follow_file();
    test_follow_pipe();
    test_resume();
    test_resume_two();
    test_resume_pipe();
    test_full_disk();
    tree_remove();
    event_base_free(base);
    return done();
}
