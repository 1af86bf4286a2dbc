/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a journal holds of a run after a crash at any byte, or on a full disk,
 * and what one with sums that are right, but of no run, is taken for.
 */
#include "launcher/run/journal.h"
#include "tree.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xxhash.h>

#define HEAD                                                                   \
    "{\"type\":\"journal\",\"version\":2,\"work\":\"w\",\"command\":[\"c\"]}"
#define SLICE(frame, begin, end, bytes)                                        \
    "{\"type\":\"slice\",\"frame\":" #frame ",\"begin\":" #begin               \
    ",\"end\":" #end ",\"bytes\":" #bytes "}"
#define QUEUED(frame, begin, end, source)                                      \
    "{\"type\":\"queued\",\"frame\":" #frame ",\"begin\":" #begin              \
    ",\"end\":" #end ",\"label\":\"\",\"source\":" #source "}"
#define HELLO "{\"type\":\"output\",\"data\":\"aGVsbG8=\"}"

static char log_path[600];

/* One line with its sum, added to the file. */
static void add(const char *line)
{
    size_t len = strlen(line) - 1; /* without the brace */
    FILE *file = fopen(log_path, "a");

    if (!file || fwrite(line, 1, len, file) != len
        || fprintf(file, ",\"sum\":\"%016jx\"}\n",
                   (uintmax_t)XXH3_64bits(line, len))
               < 0
        || fclose(file) != 0)
        bail("%s: %s", log_path, strerror(errno));
}

/* The journal with these lines behind its head; bails if it is refused. */
static struct journal *journal_of(const char *first, const char *second)
{
    char word[] = "c", *command[] = {word, NULL};
    struct es_error err = {0};
    struct journal *j;

    tree_put("journal", "");
    add(HEAD);
    add(first);
    if (second)
        add(second);
    if (journal_open(&j, log_path,
                     &(struct journal_work){.work = "w", .command = command},
                     JOURNAL_RESUME, &err)
        < 0)
        bail("%s", err.what);
    return j;
}

static int slices(const char *line)
{
    struct journal *j = journal_of(line, NULL);
    size_t n;

    (void)journal_kept(j, 0, &n);
    journal_close(j);
    return (int)n;
}

static int frames(const char *line)
{
    struct journal *j = journal_of(line, NULL);
    size_t n;

    (void)journal_queued(j, &n);
    journal_close(j);
    return (int)n;
}

static void test_lines(void)
{
    is_int(slices(SLICE(0, 0, 5, 0)), 1, "a slice is kept");
    is_int(slices(SLICE(0, 5, 5, 0)), 0, "one without units is none");
    is_int(slices(SLICE(0, 5, 0, 0)), 0, "nor is one that is reversed");
    is_int(slices(SLICE(0, -5, 5, 0)), 0, "nor one of negative units");
    is_int(slices(SLICE(0, 0, 5, -1)), 0, "nor one of negative output");
    is_int(frames(QUEUED(0, 0, 5, 0)), 1, "a queued frame is kept");
    is_int(frames(QUEUED(1, 0, 5, 0)), 0, "one out of its order is none");
    is_int(frames(QUEUED(0, 5, 5, 0)), 0, "nor is one without units");
    is_int(frames(QUEUED(0, 0, 5, -1)), 0, "nor one of no queue");
}

/* Bytes that are written of a slice with this output; -1: refused. */
static long written(const char *output, const char *line)
{
    struct journal *j = journal_of(output, line);
    FILE *out = tmpfile();
    struct stat st;
    size_t n;
    const struct kept *kept = journal_kept(j, 0, &n);
    int rc;

    if (!kept || !out)
        bail("no slice");
    rc = journal_write_output(j, kept, fileno(out));
    if (rc < 0 && errno != EBADMSG)
        bail("%s", strerror(errno));
    if (fstat(fileno(out), &st) < 0)
        bail("fstat");
    fclose(out);
    journal_close(j);
    return rc < 0 ? -1 : (long)st.st_size;
}

static void test_output(void)
{
    is_int(written(HELLO, SLICE(0, 0, 5, 5)), 5, "a slice's output is written");
    is_int(written(HELLO, SLICE(0, 0, 5, 3)), -1,
           "one of more bytes than it says");
    is_int(written(HELLO, SLICE(0, 0, 5, 6)), -1,
           "and one of fewer are refused");
    is_int(written("{\"type\":\"output\",\"data\":\"aGVs!G8=\"}",
                   SLICE(0, 0, 5, 5)),
           -1, "as is one that is no base64, in the same words");
}

/* --- a run that crashes --------------------------------------------------- */

#define SLICES 3
#define LARGE  100003 /* bytes of output: three lines of it */

/* What a run does: slice i of frame 0, its output of so many bytes. */
static const struct {
    uint64_t begin, end;
    size_t bytes;
} done_by_run[SLICES] = {{10, 20, 7}, {0, 10, 0}, {20, 30, 301}};

static const char *output_of(size_t slice, size_t bytes)
{
    static char text[LARGE];

    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)(i * 7 + slice); /* NUL and newline, too */
    return text;
}

static int open_at(struct journal **j,
                   enum journal_resume resume,
                   struct es_error *err)
{
    char word[] = "c", *command[] = {word, NULL};

    *j = NULL;
    *err = (struct es_error){0};
    return journal_open(j, log_path,
                        &(struct journal_work){.work = "w", .command = command},
                        resume, err);
}

static struct journal *open_journal(enum journal_resume resume)
{
    struct es_error err;
    struct journal *j;

    if (open_at(&j, resume, &err) < 0)
        bail("%s", err.what);
    return j;
}

static int add_slice(struct journal *j, size_t i, size_t bytes)
{
    struct piece p = {.part.units = {done_by_run[i].begin, done_by_run[i].end},
                      .part.attempt = 1,
                      .part.seconds = 0.5};
    struct es_error err = {0};
    int rc;

    if (spool_add(&p.out, output_of(i, bytes), bytes) < 0)
        bail("no memory");
    rc = journal_add_slice(j, 0, "n1", &p, &err);
    spool_clear(&p.out);
    return rc < 0 && err.kind != ES_WORK ? -2 : rc;
}

/* The journal of a run, closed; its size after each slice. */
static void make_journal(size_t end[SLICES])
{
    const struct queued q = {.frame = {.end = 30, .label = "a"}};
    struct es_error err;
    struct journal *j;
    struct stat st;

    (void)unlink(log_path);
    j = open_journal(JOURNAL_NEW);
    if (journal_add_queued(j, &q, &err) < 0)
        bail("%s", err.what);
    for (size_t i = 0; i < SLICES; i++) {
        if (add_slice(j, i, done_by_run[i].bytes) < 0
            || stat(log_path, &st) < 0)
            bail("no slice");
        end[i] = (size_t)st.st_size;
    }
    journal_close(j);
}

static size_t file_content(char *text, size_t room)
{
    FILE *file = fopen(log_path, "r");
    size_t n = file ? fread(text, 1, room, file) : 0;

    if (!file || fclose(file) != 0)
        bail("%s", log_path);
    return n;
}

/* Does a kept slice give out what slice i printed? */
static int is_output_of(const struct journal *j,
                        const struct kept *kept,
                        size_t i,
                        size_t bytes)
{
    FILE *out = tmpfile();
    char *got = malloc(bytes + 1);
    int same;

    if (!out || !got)
        bail("no memory");
    same = journal_write_output(j, kept, fileno(out)) == 0
           && pread(fileno(out), got, bytes + 1, 0) == (ssize_t)bytes
           && memcmp(got, output_of(i, bytes), bytes) == 0;
    free(got);
    fclose(out);
    return same;
}

/* Are the first n slices that the run did kept, and no other? */
static int holds(const struct journal *j, size_t n)
{
    size_t there, found = 0;
    const struct kept *kept = journal_kept(j, 0, &there);

    for (size_t k = 0; k < there; k++)
        for (size_t i = 0; i < n; i++)
            found += kept[k].units.begin == done_by_run[i].begin
                     && kept[k].units.end == done_by_run[i].end
                     && kept[k].bytes == done_by_run[i].bytes
                     && is_output_of(j, &kept[k], i, done_by_run[i].bytes);
    return there == n && found == n;
}

/* Resume a journal of which a crash has left so many bytes, and do what is
 * missing: is it as if nothing had happened? */
static int goes_on(const char *whole,
                   size_t len,
                   size_t left,
                   const size_t end[SLICES])
{
    char now[4096];
    struct journal *j;
    size_t n = 0;
    int fine;

    while (n < SLICES && end[n] <= left)
        n++;
    if (truncate(log_path, (off_t)left) < 0)
        bail("truncate");
    j = open_journal(JOURNAL_RESUME);
    fine = holds(j, n);
    for (; n < SLICES; n++)
        fine &= add_slice(j, n, done_by_run[n].bytes) == 0;
    journal_close(j);
    return fine && file_content(now, sizeof now) == len
           && memcmp(now, whole, len) == 0;
}

static void test_crash(void)
{
    size_t end[SLICES], len, bad = 0;
    char whole[4096];
    struct journal *j;

    make_journal(end);
    len = file_content(whole, sizeof whole);
    j = open_journal(JOURNAL_RESUME);
    ok(holds(j, SLICES),
       "a run that resumes has all slices, with their output");
    journal_close(j);
    tree_quiet(1);
    for (size_t left = end[0]; left <= len; left++)
        bad += !goes_on(whole, len, left, end);
    tree_quiet(0);
    is_int((int)bad, 0,
           "after a crash at any byte it has those whose line is whole, and "
           "goes on as if there had been none");
}

static void test_order(void)
{
    size_t end[SLICES], n;
    struct journal *j;
    const struct kept *kept;
    const struct queued *queued;

    make_journal(end);
    j = open_journal(JOURNAL_RESUME);
    kept = journal_kept(j, 0, &n);
    ok(n == 3 && kept[0].units.begin == 0 && kept[1].units.begin == 10
           && kept[2].units.begin == 20,
       "slices are ascending, in whatever order they were done");
    (void)journal_kept(j, 1, &n);
    is_int((int)n, 0, "another frame has none");
    queued = journal_queued(j, &n);
    ok(n == 1 && queued[0].frame.end == 30
           && strcmp(queued[0].frame.label, "a") == 0 && queued[0].source == 0,
       "a frame from a queue is kept as it was");
    journal_close(j);
    (void)journal_kept(NULL, 0, &n);
    is_int((int)n, 0, "no journal has no slices");
    (void)journal_queued(NULL, &n);
    is_int((int)n, 0, "nor frames");
    journal_close(NULL);
}

static void test_large_output(void)
{
    struct journal *j;
    size_t n;
    const struct kept *kept;

    (void)unlink(log_path);
    j = open_journal(JOURNAL_NEW);
    is_int(add_slice(j, 0, LARGE), 0, "output of many lines is kept");
    journal_close(j);
    j = open_journal(JOURNAL_RESUME);
    kept = journal_kept(j, 0, &n);
    ok(n == 1 && kept->bytes == LARGE && is_output_of(j, kept, 0, LARGE),
       "and comes back, byte by byte");
    journal_close(j);
}

static void set_largest(rlim_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
        bail("no limits");
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
        bail("no limits");
}

/* Whether the disk is full in the output or in the line of the slice. */
static void test_full_disk(void)
{
    size_t end[SLICES], n, bad = 0, tries = 0;
    struct journal *j;

    signal(SIGXFSZ, SIG_IGN);
    make_journal(end);
    for (rlim_t room = end[1]; room < end[2]; room += 13, tries++) {
        if (truncate(log_path, (off_t)end[1]) < 0)
            bail("truncate");
        j = open_journal(JOURNAL_RESUME);
        set_largest(room);
        bad += add_slice(j, 2, done_by_run[2].bytes) != -1;
        set_largest(RLIM_INFINITY);
        bad += !holds(j, 2);
        bad += add_slice(j, 2, done_by_run[2].bytes) != 0;
        journal_close(j);
        j = open_journal(JOURNAL_RESUME);
        bad += !holds(j, 3);
        journal_close(j);
    }
    ok(tries > 10 && bad == 0,
       "on a full disk a slice is refused, and with room it is added once");
    make_journal(end);
    j = open_journal(JOURNAL_RESUME);
    (void)journal_kept(j, 0, &n);
    journal_close(j);
    is_int((int)n, SLICES, "all are there in the end");
}

/* Many frames, in an order that is not theirs. */
static void test_frames(void)
{
    char line[200];
    size_t n, wrong = 0;
    struct journal *j;

    tree_put("journal", "");
    add(HEAD);
    for (int i = 0; i < 100; i++) {
        snprintf(line, sizeof line,
                 "{\"type\":\"slice\",\"frame\":%d,\"begin\":%d,"
                 "\"end\":%d,\"bytes\":0}",
                 i * 37 % 20, i * 37 % 100, i * 37 % 100 + 1);
        add(line);
    }
    j = open_journal(JOURNAL_RESUME);
    for (uint64_t frame = 0; frame < 21; frame++) {
        const struct kept *kept = journal_kept(j, frame, &n);

        wrong += n != (frame < 20 ? 5 : 0);
        for (size_t i = 0; i < n; i++)
            wrong += kept[i].frame != frame
                     || (i > 0 && kept[i].units.begin < kept[i - 1].units.end);
    }
    is_int((int)wrong, 0, "each frame has its own slices, ascending");
    journal_close(j);
}

/* --- whose journal it is -------------------------------------------------- */

/* The journal of "w" and {"c"}: is it opened for this? */
static int opens_for(const char *work, const char *first, const char *second)
{
    char a[8], b[8], *command[] = {a, second ? b : NULL, NULL};
    struct es_error err = {0};
    struct journal *j = NULL;
    int rc;

    snprintf(a, sizeof a, "%s", first);
    snprintf(b, sizeof b, "%s", second ? second : "");
    rc = journal_open(&j, log_path,
                      &(struct journal_work){.work = work, .command = command},
                      JOURNAL_RESUME, &err);
    journal_close(j);
    return rc < 0 && err.kind != ES_USAGE ? -2 : rc;
}

static void test_whose(void)
{
    size_t end[SLICES], n;
    struct journal *j;
    struct es_error err;
    char text[4096];

    make_journal(end);
    is_int(opens_for("w", "c", NULL), 0, "the same work may go on");
    is_int(opens_for("v", "c", NULL), -1, "another may not");
    is_int(opens_for("w", "d", NULL), -1, "nor the same by another command");
    is_int(opens_for("w", "c", "c"), -1, "or with one word more");
    ok(open_at(&j, JOURNAL_NEW, &err) == -1 && err.kind == ES_USAGE,
       "nor is one overwritten that nobody wants to go on with");
    n = file_content(text, sizeof text);
    is_int((int)n, (int)end[2], "all these leave it as it is");
    (void)unlink(log_path);
    is_int(opens_for("w", "\xff", NULL), 0, "a word may be no text");
    is_int(opens_for("w", "\xff", NULL), 0, "and is found again");
    is_int(opens_for("w", "\xfe", NULL), -1, "unless it is another");
}

static int opens_with(const char *first, const char *second)
{
    struct journal *j;
    struct es_error err;
    int rc;

    tree_put("journal", "");
    add(HEAD);
    add(first);
    add(second);
    rc = open_at(&j, JOURNAL_RESUME, &err);
    journal_close(j);
    return rc < 0 && err.kind != ES_USAGE ? -2 : rc;
}

static void test_overlap(void)
{
    is_int(opens_with(SLICE(0, 0, 5, 0), SLICE(0, 5, 9, 0)), 0,
           "slices may adjoin");
    is_int(opens_with(SLICE(0, 5, 9, 0), SLICE(0, 0, 5, 0)), 0, "in any order");
    is_int(opens_with(SLICE(0, 0, 5, 0), SLICE(0, 4, 9, 0)), -1,
           "a unit that is done twice is of no run of ours");
    is_int(opens_with(SLICE(0, 0, 5, 0), SLICE(0, 0, 5, 0)), -1,
           "nor is a slice");
    is_int(opens_with(SLICE(0, 0, 5, 0), SLICE(1, 0, 5, 0)), 0,
           "but for another frame's");
}

/* --- what was left out, and text that has changed -------------------------- */

#define OF(version, work, more)                                                \
    "{\"type\":\"journal\",\"version\":" version ",\"work\":\"" work           \
    "\",\"command\":[\"c\"]" more "}"
#define LINES(type, begin, end, text)                                          \
    "{\"type\":\"" type "\",\"frame\":0,\"node\":\"n1\",\"begin\":" #begin     \
    ",\"end\":" #end ",\"bytes\":0,\"status\":3,\"signal\":0,\"text\":\"" text \
    "\"}"
#define HASH "00000000000000ab"

static size_t asked; /* how often units were looked at */
static struct es_error refused;

/* Units up to 10 are as they were. */
static int is_as_before(void *arg,
                        struct slice units,
                        uint64_t text,
                        struct es_error *err)
{
    (void)arg;
    asked++;
    if (units.begin == 66)
        return es_fail(err, ES_WORK, "mend", "cannot be read");
    return units.end <= 10 && text == 0xab;
}

/* The journal in the file, of units whose text is this; NULL: refused. */
static struct journal *open_text(const char *text,
                                 const char *version1,
                                 enum journal_resume resume)
{
    char word[] = "c", *command[] = {word, NULL};
    const struct journal_work work = {.work = "w",
                                      .text = text,
                                      .version1 = version1,
                                      .command = command,
                                      .is_same = is_as_before};
    struct journal *j = NULL;

    asked = 0;
    refused = (struct es_error){0};
    (void)journal_open(&j, log_path, &work, resume, &refused);
    return j;
}

static size_t closed(struct journal *j)
{
    size_t n;

    (void)journal_kept(j, 0, &n);
    journal_close(j);
    return n;
}

static void put(const char *head, const char *first, const char *second)
{
    tree_put("journal", "");
    add(head);
    add(first);
    add(second);
}

static void test_versions(void)
{
    struct journal *j;

    put(OF("1", "w t", ""), SLICE(0, 0, 5, 0), SLICE(0, 5, 50, 0));
    j = open_text("t", "w t", JOURNAL_RESUME);
    ok(j && closed(j) == 2 && asked == 0, "a journal of version 1 goes on");
    ok(!open_text("u", "w u", JOURNAL_RESUME),
       "but not with another text, as it cannot tell what has changed");
    put(OF("3", "w", ""), SLICE(0, 0, 5, 0), SLICE(0, 5, 9, 0));
    ok(!open_text(NULL, NULL, JOURNAL_RESUME)
           && strstr(refused.what,
                     "is of version 3, of a later evenstep; this one reads up "
                     "to 2"),
       "one of version 3 is refused with both numbers");
    put(OF("0", "w", ""), SLICE(0, 0, 5, 0), SLICE(0, 5, 9, 0));
    ok(!open_text(NULL, NULL, JOURNAL_RESUME)
           && strstr(refused.what, "is no journal"),
       "one of version 0 is none");
}

static void test_text(void)
{
    const char *head = OF("2", "w", ",\"text\":\"t\"");
    struct journal *j;

    put(head, LINES("slice", 0, 5, HASH), LINES("slice", 5, 50, HASH));
    j = open_text("t", NULL, JOURNAL_RESUME);
    ok(j && closed(j) == 2 && asked == 0, "of the same text all is kept");
    j = open_text("u", NULL, JOURNAL_RESUME);
    ok(j && closed(j) == 1 && asked == 2, "of another what is still the same");
    j = open_text("u", NULL, JOURNAL_RESUME);
    ok(j && closed(j) == 1, "and again");
    add(LINES("slice", 5, 50, HASH));
    j = open_text("u", NULL, JOURNAL_RESUME);
    ok(j && closed(j) == 2, "what was done with that since then is kept");
    j = open_text("t", NULL, JOURNAL_RESUME);
    ok(j && closed(j) == 2, "back to the first text: what was of that");
    put(head, LINES("slice", 0, 5, HASH), SLICE(0, 5, 9, 0));
    j = open_text("u", NULL, JOURNAL_RESUME);
    ok(j && closed(j) == 1, "one that does not say its text is done again");
    put(head, LINES("slice", 0, 5, HASH), LINES("slice", 66, 70, HASH));
    ok(!open_text("u", NULL, JOURNAL_RESUME), "what cannot be read is told");
    put(head, LINES("slice", 0, 5, "ab"), LINES("slice", 5, 9, HASH));
    ok(closed(open_text("t", NULL, JOURNAL_RESUME)) == 0,
       "a hash of two digits is none, and nothing behind it counts");
    put(head, LINES("slice", 0, 5, "0000000000000xyz"), SLICE(0, 5, 9, 0));
    ok(closed(open_text("t", NULL, JOURNAL_RESUME)) == 0,
       "nor is what is no number");
}

static void test_failed(void)
{
    struct piece p = {.part.units = {4, 6}, .status = 137, .signal = 9};
    struct es_error err;
    const struct kept *kept;
    struct journal *j;
    size_t n;

    (void)unlink(log_path);
    j = open_journal(JOURNAL_NEW);
    ok(journal_add_failed(j, 0, "n7", &p, &err) == 0, "what is left out");
    p.part.units = (struct slice){6, 8};
    p.signal = p.status = 0; /* not a status of --ok-status */
    ok(journal_add_failed(j, 0, "n8", &p, &err) == 0, "is noted");
    journal_close(j);
    j = open_journal(JOURNAL_RESUME);
    kept = journal_kept(j, 0, &n);
    ok(n == 2 && kept[0].failed && kept[1].failed && kept[0].units.begin == 4,
       "and found again");
    is_str(journal_failure(j, &kept[0])->how,
           "was killed by signal 9 in a run before", "with how it ended");
    is_str(journal_failure(j, &kept[1])->how,
           "exited with status 0 in a run before", "each");
    is_str(journal_failure(j, &kept[0])->node, "n7", "and where");
    journal_close(j);
    j = open_journal(JOURNAL_REDO_FAILED);
    ok(closed(j) == 0, "it may be done again");
    add(SLICE(0, 4, 5, 0));
    add(SLICE(0, 5, 8, 0));
    j = open_journal(JOURNAL_RESUME);
    kept = journal_kept(j, 0, &n);
    ok(n == 2 && !kept[0].failed && !kept[1].failed,
       "and is done then, in whatever pieces");
    journal_close(j);
}

/* --- what does not count any more ------------------------------------------- */

static size_t count_of(struct journal *j, uint64_t frame)
{
    size_t n;

    (void)journal_kept(j, frame, &n);
    return n;
}

static size_t count_gone(struct journal *j)
{
    size_t n;

    (void)journal_gone(j, &n);
    return n;
}

static void test_mended(void)
{
    const struct frame now = {.begin = 3, .end = 9, .label = "now"};
    struct journal *j;
    struct es_error err;
    const struct kept *gone;
    size_t n;

    j = journal_of(QUEUED(0, 0, 5, 0), QUEUED(1, 0, 5, 0));
    journal_close(j);
    add(SLICE(0, 0, 5, 0));
    add(SLICE(1, 0, 5, 0));
    j = open_journal(JOURNAL_RESUME);
    ok(journal_mend(j, 0, &now, &err) == 0
           && journal_mend(j, 1, NULL, &err) == 0,
       "one frame is another now, and one is gone");
    journal_close(j);
    j = open_journal(JOURNAL_RESUME);
    ok(count_of(j, 0) == 1 && journal_queued(j, &n)[0].frame.end == 5,
       "which is as before unless all are mended");
    if (journal_mend(j, 0, &now, &err) < 0
        || journal_mend(j, 1, NULL, &err) < 0)
        bail("%s", err.what);
    for (int again = 0; again < 2; again++) {
        ok(journal_mended(j, &err) == 0 && count_of(j, 0) == 0
               && count_of(j, 1) == 0,
           "then what was done of them does not count");
        gone = journal_gone(j, &n);
        ok(n == 2 && journal_frame(j, &gone[0])->end == 5,
           "and its frame is known as it was then");
        is_str(journal_queued(j, &n)[0].frame.label, "now",
               "the frame is as it is now");
        ok(journal_queued(j, &n)[1].is_gone, "or gone");
        journal_close(j);
        j = open_journal(JOURNAL_RESUME);
    }
    journal_close(j);
    add(SLICE(0, 3, 9, 0));
    add(SLICE(0, 4, 5, 0)); /* twice, for no reason */
    ok(open_at(&j, JOURNAL_RESUME, &err) < 0, "and counts from then on");
}

/* Slices that begin there. */
static int begins_at(void *arg, const struct kept *k, struct es_error *err)
{
    (void)err;
    return k->units.begin == *(const uint64_t *)arg;
}

static void test_dropped(void)
{
    uint64_t at = 5;
    struct es_error err;
    struct journal *j = journal_of(SLICE(0, 0, 5, 0), SLICE(0, 5, 9, 0));

    ok(journal_drop(j, begins_at, &at, &err) == 0 && count_of(j, 0) == 1
           && count_gone(j) == 1,
       "a slice that is lost does not count any more");
    journal_close(j);
    j = open_journal(JOURNAL_RESUME);
    ok(count_of(j, 0) == 1 && count_gone(j) == 1, "nor in the next run");
    journal_close(j);
    add(SLICE(0, 5, 9, 0));
    j = open_journal(JOURNAL_RESUME);
    ok(count_of(j, 0) == 2 && count_gone(j) == 1, "it is done again");
    journal_close(j);
    add("{\"type\":\"dropped\",\"slice\":3}");
    add(SLICE(0, 9, 10, 0));
    tree_quiet(1);
    j = open_journal(JOURNAL_RESUME);
    tree_quiet(0);
    ok(count_of(j, 0) == 2, "one that is not there cannot be dropped");
    journal_close(j);
}

static void test_forgotten(void)
{
    struct es_error err;
    struct journal *j;

    put(OF("2", "w", ",\"text\":\"t\""), LINES("slice", 0, 5, HASH),
        LINES("slice", 5, 50, HASH));
    j = open_text("u", NULL, JOURNAL_RESUME);
    ok(count_of(j, 0) == 1 && journal_forget(j, &err) == 0,
       "a slice of another text is forgotten");
    journal_close(j);
    ok(closed(open_text("t", NULL, JOURNAL_RESUME)) == 1,
       "and does not count when the text is once more as it was");
}

static void test_marks(void)
{
    struct file_mark mark[2] = {{5, 1700000000123456789}, {0, 1}};
    struct piece p = {.part.units = {0, 6}, .back.mark = mark};
    const struct file_mark *read;
    const struct kept *kept;
    struct es_error err;
    struct journal *j;
    size_t n;

    p.back.n_marks = 2;
    (void)unlink(log_path);
    j = open_journal(JOURNAL_NEW);
    if (journal_add_slice(j, 0, "n", &p, &err) < 0)
        bail("%s", err.what);
    journal_close(j);
    j = open_journal(JOURNAL_RESUME);
    kept = journal_kept(j, 0, &n);
    read = n == 1 ? journal_marks(j, kept) : NULL;
    ok(read && kept->n_marks == 2 && memcmp(read, mark, sizeof mark) == 0,
       "the sizes and times of files that came back are kept");
    journal_close(j);
}

int main(void)
{
    tree_make();
    snprintf(log_path, sizeof log_path, "%s", tree_path("journal"));
    test_lines();
    test_output();
    test_order();
    test_frames();
    test_large_output();
    test_whose();
    test_overlap();
    test_versions();
    test_text();
    test_failed();
    test_mended();
    test_dropped();
    test_forgotten();
    test_marks();
    test_full_disk();
    test_crash();
    tree_remove();
    return done();
}
