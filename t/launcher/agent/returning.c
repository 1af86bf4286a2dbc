/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of a slice, sent from the event loop; the other end is this test. */
#include "launcher/agent/returning.h"
#include "tap.h"
#include "tree.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct event_base *base;
static struct returning *returning;
static struct {
    uint64_t bytes[FILES_MAX];
    uint32_t runs[FILES_MAX];
    size_t messages, wrong;
    int ended;
    char why[RETURNING_WHY_MAX];
} got;
static size_t hold_at; /* messages after which to hold; 0: never */

static void on_send(void *arg, enum protocol_type type, struct writer *w)
{
    struct msg_file m;

    (void)arg;
    if (type != MSG_FILE || msg_read_file(&m, w->buf, w->len) < 0 || m.id != 5
        || m.offset != got.bytes[m.file]
        || (m.size != m.offset + m.len && m.len < OUTPUT_MAX))
        got.wrong++;
    else {
        got.bytes[m.file] += m.len;
        got.runs[m.file] = m.runs;
    }
    got.messages++;
    writer_clear(w);
    if (hold_at > 0 && got.messages == hold_at)
        returning_hold(returning, 1);
}

static void on_ended(void *arg, const char *why)
{
    (void)arg;
    got.ended++;
    snprintf(got.why, sizeof got.why, "%s", why ? why : "");
    returning_stop(returning);
    returning = NULL;
}

static void send_names(char *names[], uint32_t n, uint32_t here)
{
    const struct msg_files files = {.here = here, .n = n, .name = names};
    const struct msg_run run = {.id = 5, .begin = 3, .end = 4, .label = "../x"};
    const struct returning_setup setup = {.base = base,
                                          .folder = tree_root,
                                          .files = &files,
                                          .run = &run,
                                          .node = "n0",
                                          .send = on_send,
                                          .ended = on_ended};

    memset(&got, 0, sizeof got);
    returning = returning_start(&setup);
    if (!returning)
        bail("cannot start");
    event_base_loop(base, 0);
}

static void make_file(const char *name, size_t size, mode_t mode)
{
    char path[600];
    FILE *file;

    snprintf(path, sizeof path, "%s", tree_path(name));
    file = fopen(path, "w");
    if (!file || (size > 0 && ftruncate(fileno(file), (off_t)size) < 0)
        || fclose(file) != 0 || chmod(path, mode) < 0)
        bail("%s: %s", path, strerror(errno));
}

/* --- tests ---------------------------------------------------------------- */

static void test_sent(void)
{
    char a[] = "{begin}.a", b[] = "./sub//b-{begin}", c[] = "empty{end}";
    char *names[] = {a, b, c};

    make_file("3.a", 3 * OUTPUT_MAX + 1, 0644);
    if (mkdir(tree_path("sub"), 0700) < 0)
        bail("no folder");
    make_file("sub/b-3", 10, 0755);
    make_file("empty4", 0, 0644);
    send_names(names, 3, 0);
    ok(got.ended == 1 && !got.why[0] && got.wrong == 0, "all files are sent");
    ok(got.bytes[0] == 3 * OUTPUT_MAX + 1 && got.bytes[1] == 10
           && got.bytes[2] == 0 && got.messages == 6,
       "each whole, in as few messages as can be");
    ok(!got.runs[0] && got.runs[1] && !got.runs[2],
       "with what may be executed");
    send_names(names, 3, 1);
    ok(got.ended == 1 && !got.why[0] && got.messages == 0,
       "where they are to stay they are only looked at");
}

static void test_held(void)
{
    char a[] = "huge";
    char *names[] = {a};

    make_file("huge", 100 * OUTPUT_MAX, 0644);
    hold_at = 5;
    send_names(names, 1, 0);
    ok(got.ended == 0 && got.messages == 5, "nothing is sent while it is held");
    hold_at = 0;
    returning_hold(returning, 0);
    event_base_loop(base, 0);
    ok(got.ended == 1 && got.wrong == 0 && got.bytes[0] == 100 * OUTPUT_MAX,
       "then the rest");
    hold_at = 5;
    send_names(names, 1, 0);
    hold_at = 0;
    returning_stop(returning);
    ok(got.ended == 0, "one that is stopped says nothing");
}

static void refused(const char *name, const char *why)
{
    char text[600];
    char *names[] = {text};

    snprintf(text, sizeof text, "%s", name);
    send_names(names, 1, 0);
    ok(got.ended == 1 && strstr(got.why, why) && got.messages == 0,
       "%.40s is refused: %s", name, got.why);
    send_names(names, 1, 1);
    ok(got.ended == 1 && strstr(got.why, why), "also where it is to stay");
}

static void test_refused(void)
{
    char inside[600];

    if (symlink("/etc", tree_path("etc")) < 0
        || symlink("3.a", tree_path("link")) < 0
        || mkfifo(tree_path("pipe"), 0600) < 0)
        bail("cannot make what is refused");
    refused("none", "none: No such file or directory");
    refused("sub/none/x", "No such file or directory");
    refused("3.a/x", "Not a directory");
    refused("link", "is a link");
    refused("etc/passwd", "has a link on its way");
    refused("sub", "is a folder");
    refused("pipe", "is no regular file");
    refused("../x", "not in the command's folder");
    refused("sub/../../x", "not in the command's folder");
    refused("/etc/passwd", "not in the command's folder");
    refused("{label}/{begin}", "leads out of the folder");
    snprintf(inside, sizeof inside, "%0300d", 1);
    refused(inside, "File name too long");
}

int main(void)
{
    tree_make();
    base = event_base_new();
    if (!base)
        bail("no event base");
    test_sent();
    test_held();
    test_refused();
    event_base_free(base);
    tree_remove();
    return done();
}
