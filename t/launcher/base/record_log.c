/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log of a --journal: what of it counts after a power cut at any byte, a
 * full disk, a byte that has changed, or with a second process at it.
 */
#include "launcher/base/record_log.h"
#include "tree.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xxhash.h>

#define TEXT_MAX 1024

static const char *const lines[] = {"{\"type\":\"head\"}",
                                    "{\"type\":\"second\",\"n\":2}",
                                    "{\"type\":\"third\"}"};
static char log_path[600];

/* --- the file as it is ---------------------------------------------------- */

static size_t content(char text[TEXT_MAX])
{
    FILE *file = fopen(log_path, "r");
    size_t n = file ? fread(text, 1, TEXT_MAX, file) : 0;

    if (!file || fclose(file) != 0)
        bail("%s: %s", log_path, strerror(errno));
    return n;
}

static void set_content(const char *text, size_t len)
{
    FILE *file = fopen(log_path, "w");

    if (!file || fwrite(text, 1, len, file) != len || fclose(file) != 0)
        bail("%s: %s", log_path, strerror(errno));
}

static int is_content(const char *text, size_t len)
{
    char now[TEXT_MAX];

    return content(now) == len && memcmp(now, text, len) == 0;
}

/* A line with its sum, not by the module's own hand. */
static void append(const char *line, size_t len)
{
    FILE *file = fopen(log_path, "a");

    if (!file || fwrite(line, 1, len - 1, file) != len - 1
        || fprintf(file, ",\"sum\":\"%016jx\"}\n",
                   (uintmax_t)XXH3_64bits(line, len - 1))
               < 0
        || fclose(file) != 0)
        bail("%s: %s", log_path, strerror(errno));
}

/* --- reading -------------------------------------------------------------- */

struct heard {
    int n;
    int64_t at[8]; /* of each line */
};

static enum record_verdict on_line(void *arg,
                                   const char *line,
                                   int64_t at,
                                   struct es_error *err)
{
    struct heard *h = arg;

    h->at[h->n++ % 8] = at;
    if (strstr(line, "\"fail\"")) {
        es_fail(err, ES_USAGE, "mend", "what");
        return RECORD_FAILED;
    }
    return strstr(line, "\"unknown\"") ? RECORD_UNKNOWN
           : strstr(line, "\"part\"")  ? RECORD_PART
                                       : RECORD_KEPT;
}

/* Lines that are heard; -1: refused, with err->kind. */
static int hear(struct heard *h, struct es_error *err)
{
    struct record_log l;
    int rc;

    *h = (struct heard){0};
    *err = (struct es_error){0};
    rc = record_log_open(&l, log_path, 1, err);
    if (rc > 0)
        rc = record_log_read(&l, on_line, h, err);
    record_log_close(&l);
    return rc < 0 ? -1 : h->n;
}

static int lines_heard(void)
{
    struct heard h;
    struct es_error err;

    return hear(&h, &err);
}

/* --- writing -------------------------------------------------------------- */

static json_t *object(const char *text)
{
    json_t *o = json_loads(text, 0, NULL);

    if (!o)
        bail("no object");
    return o;
}

/* A log of all lines, closed; how long it is after each of them. */
static void make_log(size_t end[3])
{
    struct record_log l;
    struct es_error err;

    (void)unlink(log_path);
    if (record_log_open(&l, log_path, 0, &err) != 0)
        bail("%s", err.what);
    for (int i = 0; i < 3; i++) {
        if (record_log_add(&l, object(lines[i]), &err) < 0)
            bail("%s", err.what);
        end[i] = (size_t)l.end;
    }
    record_log_close(&l);
}

/* --- tests ---------------------------------------------------------------- */

static void test_good(void)
{
    char whole[TEXT_MAX];
    struct heard h;
    struct es_error err;
    size_t end[3], len;

    make_log(end);
    len = content(whole);
    is_int((int)len, (int)end[2], "a log ends where its last line ends");
    is_int(hear(&h, &err), 3, "all its lines are heard");
    ok(h.at[0] == 0 && h.at[1] == (int64_t)end[0] && h.at[2] == (int64_t)end[1],
       "each with the place where it begins");
    ok(is_content(whole, len), "and stay");
    set_content("", 0);
    for (int i = 0; i < 3; i++)
        append(lines[i], strlen(lines[i]));
    ok(is_content(whole, len), "each ends with the XXH3-64 of what is before");
}

/* What a power cut leaves is a beginning of the file. */
static void test_power_cut(void)
{
    char whole[TEXT_MAX];
    size_t end[3], len, bad = 0;

    make_log(end);
    len = content(whole);
    tree_quiet(1);
    for (size_t left = 1; left <= len; left++) {
        int n = 0;

        while (n < 3 && end[n] <= left)
            n++;
        set_content(whole, left);
        bad += lines_heard() != (n ? n : -1)
               || !is_content(whole, n ? end[n - 1] : left);
    }
    tree_quiet(0);
    is_int((int)bad, 0,
           "cut at any byte: whole lines are heard, the torn end is cut off, "
           "and a file without a whole first line is left alone");
}

/* A bit that turns over in a line costs it and what is behind it. */
static void test_changed_byte(void)
{
    char whole[TEXT_MAX], text[TEXT_MAX];
    size_t end[3], len, bad = 0;

    make_log(end);
    len = content(whole);
    tree_quiet(1);
    for (size_t i = 0; i < len; i++) {
        int want = i < end[0] ? -1 : i < end[1] ? 1 : 2;

        memcpy(text, whole, len);
        text[i] ^= 4;
        set_content(text, len);
        bad += lines_heard() != want;
    }
    tree_quiet(0);
    is_int((int)bad, 0, "no line with a changed byte is heard, nor any behind");
}

static void test_nul(void)
{
    static const char nul[] = "{\"type\":\"o\0e\"}";
    char whole[TEXT_MAX];
    size_t end[3], len;

    make_log(end);
    len = content(whole);
    append(nul, sizeof nul - 1);
    append(lines[1], strlen(lines[1]));
    is_int(lines_heard(), 3, "a line with a NUL is none, whatever its sum");
    ok(is_content(whole, len), "it and what is behind it are cut off");
}

static void test_verdicts(void)
{
    static const char part[] = "{\"type\":\"part\"}";
    static const char unknown[] = "{\"type\":\"unknown\"}";
    static const char failing[] = "{\"type\":\"fail\"}";
    char text[TEXT_MAX];
    struct heard h;
    struct es_error err;
    size_t end[3], len;

    make_log(end);
    append(part, sizeof part - 1);
    is_int(lines_heard(), 4, "a part is heard");
    is_int((int)content(text), (int)end[2], "and cut off if nothing follows");
    append(part, sizeof part - 1);
    append(lines[1], strlen(lines[1]));
    len = content(text);
    is_int(lines_heard(), 5, "a part with a line behind it");
    ok(is_content(text, len), "stays");
    append(unknown, sizeof unknown - 1);
    append(lines[1], strlen(lines[1]));
    is_int(lines_heard(), 6, "the first unknown line is the last heard");
    ok(is_content(text, len), "it is cut off, with what is behind it");
    append(failing, sizeof failing - 1);
    len = content(text);
    is_int(hear(&h, &err), -1, "a line that is refused ends the reading");
    ok(err.kind == ES_USAGE && is_content(text, len),
       "in the reader's words, and the file stays as it is");
}

static void test_other_file(void)
{
    static const char no_sum[] = "{\"type\":\"head\"}\n";
    static const char letter[] = "Dear reader,\n";
    struct heard h;
    struct es_error err;

    set_content(no_sum, sizeof no_sum - 1);
    ok(hear(&h, &err) == -1 && err.kind == ES_USAGE
           && is_content(no_sum, sizeof no_sum - 1),
       "a first line without its sum: refused, and left alone");
    set_content(letter, sizeof letter - 1);
    ok(hear(&h, &err) == -1 && err.kind == ES_USAGE && h.n == 0
           && is_content(letter, sizeof letter - 1),
       "a text of another kind: likewise");
}

/* Work goes on where the whole lines end. */
static void test_goes_on(void)
{
    char whole[TEXT_MAX];
    struct heard h = {0};
    struct record_log l;
    struct es_error err;
    size_t end[3], len;

    make_log(end);
    len = content(whole);
    set_content(whole, len - 1);
    if (record_log_open(&l, log_path, 1, &err) != 1
        || record_log_read(&l, on_line, &h, &err) < 0)
        bail("%s", err.what);
    is_int(record_log_add(&l, object(lines[2]), &err), 0,
           "behind a torn end that was cut off one can add");
    record_log_close(&l);
    ok(is_content(whole, len), "and the log is as without the cut");
}

static void test_uncommitted(void)
{
    char whole[TEXT_MAX];
    struct heard h = {0};
    struct record_log l;
    struct es_error err;
    size_t end[3], len;
    int64_t at;

    make_log(end);
    len = content(whole);
    if (record_log_open(&l, log_path, 1, &err) != 1
        || record_log_read(&l, on_line, &h, &err) < 0)
        bail("%s", err.what);
    at = l.end;
    ok(record_log_put(&l, lines[0], &at) == 0
           && record_log_put(&l, lines[1], &at) == 0 && at > l.end,
       "lines are put before they count");
    errno = ENOSPC;
    ok(record_log_full(&l, &err) == -1 && err.kind == ES_WORK,
       "a put that is given up says why");
    ok(is_content(whole, len), "and leaves nothing behind");
    ok(record_log_put_object(&l, NULL, &at) == -1 && errno == ENOMEM,
       "an object that there was no memory for is no line");
    record_log_close(&l);
}

/* Files may be so large, and no larger: as on a disk that is full. */
static void set_largest(rlim_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
        bail("no limits");
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
        bail("no limits");
}

static void test_full_disk(void)
{
    struct record_log l;
    struct es_error err;
    size_t end[3], refused = 0, kept = 0, lines_left = 0;
    struct heard h;
    rlim_t room;

    signal(SIGXFSZ, SIG_IGN);
    for (room = 0;; room++) {
        make_log(end);
        if (record_log_open(&l, log_path, 1, &err) != 1
            || record_log_read(&l, on_line, &h, &err) < 0)
            bail("%s", err.what);
        set_largest((rlim_t)end[2] + room);
        err = (struct es_error){0};
        if (record_log_add(&l, object(lines[0]), &err) == 0)
            break;
        refused += err.kind == ES_WORK;
        set_largest(RLIM_INFINITY);
        kept += l.end == (int64_t)end[2];
        lines_left += record_log_add(&l, object(lines[0]), &err) == 0;
        record_log_close(&l);
        lines_left += lines_heard() == 4;
    }
    set_largest(RLIM_INFINITY);
    record_log_close(&l);
    is_int((int)room, (int)end[0], "a line needs its whole room");
    is_int((int)refused, (int)room, "with less adding fails: ES_WORK");
    is_int((int)kept, (int)room, "what was committed stays");
    is_int((int)lines_left, 2 * (int)room,
           "and with room again the line is added, once");
}

static void test_second_writer(void)
{
    struct record_log first, second;
    struct es_error err = {0};
    size_t end[3];

    make_log(end);
    if (record_log_open(&first, log_path, 1, &err) != 1)
        bail("%s", err.what);
    ok(record_log_open(&second, log_path, 1, &err) == -1
           && err.kind == ES_USAGE,
       "a log that another run is at is refused");
    record_log_close(&second);
    record_log_close(&first);
    record_log_close(&first);
    is_int(record_log_open(&second, log_path, 1, &err), 1,
           "until that run is over");
    record_log_close(&second);
}

static int opens(const char *path, int resume)
{
    struct record_log l;
    struct es_error err = {0};
    int rc = record_log_open(&l, path, resume, &err);

    record_log_close(&l);
    return rc < 0 && err.kind != ES_USAGE ? -2 : rc;
}

static void test_open(void)
{
    char other[600];
    size_t end[3];

    make_log(end);
    is_int(opens(log_path, 0), -1, "one that is there is refused");
    is_int(opens(log_path, 1), 1, "but to resume");
    set_content("", 0);
    is_int(opens(log_path, 0), 0, "an empty one is as good as none");
    is_int(opens("/no/such/folder/log", 0), -1, "a folder must be there");
    is_int(opens("/dev/null", 0), -1, "a device is refused");
    is_int(opens(tree_root, 0), -1, "a folder, too");
    snprintf(other, sizeof other, "%s", tree_path("pipe"));
    if (mkfifo(other, 0600) < 0)
        bail("no pipe");
    is_int(opens(other, 0), -1, "a pipe, without waiting for its other end");
    snprintf(other, sizeof other, "%s", tree_path("link"));
    if (symlink(log_path, other) < 0)
        bail("no link");
    is_int(opens(other, 0), 0, "a link is what it leads to");
    set_content("x", 1);
    is_int(opens(other, 0), -1, "and refused as that");
}

int main(void)
{
    tree_make();
    snprintf(log_path, sizeof log_path, "%s", tree_path("log"));
    test_good();
    test_power_cut();
    test_changed_byte();
    test_nul();
    test_verdicts();
    test_other_file();
    test_goes_on();
    test_uncommitted();
    test_full_disk();
    test_second_writer();
    test_open();
    tree_remove();
    return done();
}
