/* SPDX-License-Identifier: BSD-2-Clause */
/* What a journal with sums that are right, but of no run, is taken for. */
#include "launcher/run/journal.h"
#include "tree.h"

#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define HEAD                                                                   \
    "{\"type\":\"journal\",\"version\":1,\"work\":\"w\",\"command\":[\"c\"]}"
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
    if (journal_open(&j, log_path, "w", command, 1, &err) < 0)
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

int main(void)
{
    tree_make();
    snprintf(log_path, sizeof log_path, "%s", tree_path("journal"));
    test_lines();
    test_output();
    tree_remove();
    return done();
}
