/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as the file of a --journal: refused and left as they are, or cut
 * to the lines that count, which are then read again just so. */
#include "folder.h"
#include "record_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

struct heard {
    size_t lines;
    int64_t end; /* of the last one that counts */
    int last;    /* nothing is heard behind this */
};

/* What is thought of a line, by its first letter behind the head. */
static enum record_verdict on_line(void *arg,
                                   const char *line,
                                   int64_t at,
                                   struct es_error *err)
{
    struct heard *h = arg;
    size_t len = strlen(line);

    must(!h->last && record_is_whole(line, len));
    h->lines++;
    switch (len > 9 ? line[9] : 'k') {
    case 'u':
        h->last = 1;
        return RECORD_UNKNOWN;
    case 'f':
        h->last = 1;
        es_fail(err, ES_USAGE, "mend", "what");
        return RECORD_FAILED;
    case 'p':
        return RECORD_PART;
    default:
        h->end = at + (int64_t)len;
        return RECORD_KEPT;
    }
}

static int64_t size_of(const char *path)
{
    struct stat st;

    must(stat(path, &st) == 0);
    return st.st_size;
}

/* One that counts is heard just so by the next run, and can be added to. */
static void read_again(const char *path, const struct heard *before)
{
    struct heard h = {0};
    struct es_error err = {0};
    struct record_log l;
    int64_t at;

    must(size_of(path) == before->end);
    must(record_log_open(&l, path, 1, &err) == 1);
    must(record_log_read(&l, on_line, &h, &err) == 0 && h.end == before->end);
    at = l.end;
    must(record_log_put(&l, "{\"type\":\"k\"}", &at) == 0);
    must(record_log_commit(&l, at, 0, &err) == 0 && size_of(path) == at);
    record_log_close(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[4096];
    static int fd = -1;
    struct heard h = {0};
    struct es_error err = {0};
    struct record_log l;
    size_t len;
    char *text = record_text(data, size, &len);
    int rc;

    if (fd < 0) {
        fd = folder_file("log");
        (void)folder_path(path, "log");
    }
    folder_fill(fd, text, len);
    rc = record_log_open(&l, path, 1, &err);
    must(rc == (len > 0));
    if (rc > 0 && record_log_read(&l, on_line, &h, &err) == 0) {
        must(l.end == h.end && l.end > 0);
        record_log_close(&l);
        read_again(path, &h);
    } else if (rc > 0) {
        must(err.what[0] && err.mend[0] && size_of(path) == (int64_t)len);
    }
    record_log_close(&l);
    free(text);
    return 0;
}
