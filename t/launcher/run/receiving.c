/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames cut by the real distribution. */
#include "launcher/run/receiving.h"
#include "run_session.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>

static char dir[] = "/tmp/evenstep-receiving.XXXXXX";
static char path[100];

static void send_frame(uint64_t number)
{
    struct frame frame = {.number = number, .begin = 0, .end = 10};

    session.sent = 0;
    if (distribution_send(d, &frame, NULL, 0, &err) < 0)
        bail("cannot send");
}

static void start(void)
{
    make_distribution(1, 0);
    distribution_begin(d, &adjuster, NULL);
    send_frame(0);
}

static const char *content(const char *name)
{
    static char text[300];
    FILE *fp = fopen(name, "r");
    size_t n = fp ? fread(text, 1, sizeof text - 1, fp) : 0;

    text[n] = '\0';
    if (!fp)
        return NULL;
    fclose(fp);
    return text;
}

static const char ten[] = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";

static void test_in_order(void)
{
    struct receiving r;
    const struct piece *p;

    start();
    is_int(receiving_open(&r, path, 1, &err), 0, "a new file is opened");
    ok(access(path, F_OK) < 0, "and is not there before it is whole");
    is_int((intmax_t)session.sent, NODES, "a frame is a slice a node");
    for (size_t i = NODES; i-- > 0;) { /* the last first */
        answer_output(i);
        p = answer_done(i, 0);
        ok(p && p->part.state == PIECE_DONE && p->status == 0
               && p->part.seconds == 2.5 && p->part.back >= 0,
           "node %zu is done", i);
    }
    is_int((intmax_t)dispatch_left(distribution_dispatch(d)), 0,
           "nothing is left then");
    is_int(receiving_frame(&r, d, &err), 0, "the frame is written");
    ok(access(path, F_OK) < 0, "and is not there yet");
    send_frame(1);
    for (size_t i = 0; i < NODES; i++) {
        answer_output(i);
        answer_done(i, 0);
    }
    receiving_frame(&r, d, &err);
    ok(r.frames == 2, "a second frame too");
    is_int(receiving_close(&r, 1, &err), 0, "at the end");
    ok(content(path) && strncmp(content(path), ten, sizeof ten - 1) == 0
           && strcmp(content(path) + sizeof ten - 1, ten) == 0,
       "the file has its name, the order of the units, and the second frame "
       "behind the first");
    ok(err.kind == ES_OK, "without a complaint");
    distribution_destroy(d);
}

static void write_old(void)
{
    FILE *fp = fopen(path, "w");

    if (!fp || fputs("old\n", fp) < 0 || fclose(fp) != 0)
        bail("no file");
}

static void whole_frame(void)
{
    start();
    for (size_t i = 0; i < NODES; i++) {
        answer_output(i);
        answer_done(i, 0);
    }
}

static void test_failed_runs(void)
{
    struct receiving r;

    write_old();
    whole_frame();
    receiving_open(&r, path, 1, &err);
    is_int(receiving_close(&r, 0, NULL), 0, "a run that fails at once");
    is_str(content(path), "old\n", "leaves the file as it was");
    receiving_open(&r, path, 1, &err);
    receiving_frame(&r, d, &err);
    is_str(content(path), "old\n", "one that fails later, too, until then");
    is_int(receiving_close(&r, 0, NULL), 0, "when it ends");
    is_str(content(path), ten, "its whole frames are there");
    write_old();
    receiving_open(&r, path, 1, &err);
    if (unlink(path) < 0 || mkdir(path, 0700) < 0)
        bail("no folder");
    is_int(receiving_close(&r, 1, &err), -1, "a folder in its place");
    ok(err.kind == ES_WORK && strstr(err.what, path)
           && strstr(err.mend, "name another file"),
       "is told by its name");
    rmdir(path);
    distribution_destroy(d);
}

static void test_bad_files(void)
{
    struct receiving r;
    char name[200];

    whole_frame();
    err = (struct es_error){0};
    snprintf(name, sizeof name, "%s/no/such", dir);
    ok(receiving_open(&r, name, 1, &err) == -1 && err.kind == ES_USAGE
           && strstr(err.what, "--gather: ") && strstr(err.what, name)
           && strstr(err.what, "No such file"),
       "a file in no directory is refused, by its name");
    err = (struct es_error){0};
    ok(receiving_open(&r, dir, 1, &err) == -1 && err.kind == ES_USAGE
           && strstr(err.what, dir) && strstr(err.what, "Is a directory"),
       "a directory is refused");
    err = (struct es_error){0};
    is_int(receiving_open(&r, "/dev/full", 1, &err), 0,
           "a device is written to as it is");
    ok(receiving_frame(&r, d, &err) == -1 && err.kind == ES_WORK
           && strstr(err.what, "/dev/full: No space left"),
       "and a full one told");
    is_int(receiving_close(&r, 0, NULL), 0, "it is closed");
    distribution_destroy(d);

    err = (struct es_error){0};
    receiving_open(&r, "/dev/null", 1, &err);
    close(r.fd);
    ok(receiving_close(&r, 1, &err) == -1 && err.kind == ES_WORK,
       "what cannot be closed is told, with a reason");
}

static void test_stdout(void)
{
    struct receiving r;

    ok(receiving_open(&r, NULL, 1, &err) == 0 && r.fd == STDOUT_FILENO,
       "without a file it is stdout");
    ok(receiving_open(&r, "-", 1, &err) == 0 && r.fd == STDOUT_FILENO,
       "and so is -");
    is_int(receiving_close(&r, 1, &err), 0, "which is closed");
    ok(fcntl(STDOUT_FILENO, F_GETFD) >= 0, "and yet is left open");
}

/* As pieces come, what is before the first that is missing is written. */
static void test_advance(void)
{
    struct receiving r;
    struct piece *p;

    start();
    is_int(receiving_open(&r, "/dev/null", 1, &err), 0, "output as it comes");
    close(r.fd);
    r.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    answer_output(2);
    p = (struct piece *)answer_done(2, 0);
    ok(receiving_advance(&r, d, p, &err) == 0 && r.begun == 0
           && strcmp(content(path), "") == 0,
       "of the last piece nothing yet");
    answer_output(0);
    p = (struct piece *)answer_done(0, 0);
    ok(receiving_advance(&r, d, p, &err) == 0 && r.begun == session.run[0].end
           && strlen(content(path)) == 2 * r.begun
           && strncmp(content(path), ten, 2 * r.begun) == 0,
       "of the first all of it");
    answer_output(1);
    p = (struct piece *)answer_done(1, 0);
    ok(receiving_advance(&r, d, p, &err) == 0 && r.begun == 10
           && strcmp(content(path), ten) == 0,
       "then all, as the one between is there");
    ok(receiving_frame(&r, d, &err) == 0 && r.begun == 0
           && strcmp(content(path), ten) == 0,
       "and at the frame's end nothing twice");
    is_int(receiving_close(&r, 1, &err), 0, "it is closed");
    distribution_destroy(d);
}

int main(void)
{
    if (slots_init(&slots, NODES, NULL) < 0)
        bail("no memory");
    if (!mkdtemp(dir))
        bail("no directory");
    snprintf(path, sizeof path, "%s/out", dir);
    test_in_order();
    test_failed_runs();
    test_bad_files();
    test_stdout();
    test_advance();
    unlink(path);
    is_int(rmdir(dir), 0, "nothing else is left");
    slots_clear(&slots);
    return done();
}
