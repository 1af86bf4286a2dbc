/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any lines behind the head of a run's journal, with their sums: refused and
 * left as they are, or slices that are apart and whose output can be written,
 * whole or not at all, or how they have failed, and frames of a queue, in their
 * order; whether their text is as it was or not.
 */
#include "launcher/run/journal.h"

#include "folder.h"
#include "record_text.h"

#include <errno.h>

#define HEAD                                                                   \
    "{\"type\":\"journal\",\"version\":2,\"work\":\"w\",\"command\":[\"c\"]}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int log_fd = -1, out_fd;
static char log_path[4096];

static void must(int holds)
{
    if (!holds)
        abort();
}

/* The head, then what is given. */
static void fill(const uint8_t *data, size_t size)
{
    char head[sizeof HEAD + RECORD_SUM_BYTES];
    size_t head_len = record_text_line(head, HEAD, strlen(HEAD)), len;
    char *text = record_text(data, size, &len);

    folder_fill(log_fd, head, head_len);
    must(pwrite(log_fd, text, len, (off_t)head_len) == (ssize_t)len);
    free(text);
}

/* All that is written counts in full. */
static void write_output(const struct journal *j, const struct kept *k)
{
    struct stat st;

    must(ftruncate(out_fd, 0) == 0 && lseek(out_fd, 0, SEEK_SET) == 0);
    if (journal_write_output(j, k, out_fd) < 0) {
        must(errno == EBADMSG);
        return;
    }
    must(fstat(out_fd, &st) == 0 && (uint64_t)st.st_size == k->bytes);
}

static void look_at(const struct failure *f, const struct kept *k)
{
    must(f->frame == k->frame && f->units.begin == k->units.begin
         && f->units.end == k->units.end);
    must(strnlen(f->node, sizeof f->node) < sizeof f->node);
    must(strlen(f->how) > 0);
}

static void walk_kept(const struct journal *j, uint64_t frame)
{
    size_t n;
    const struct kept *kept = journal_kept(j, frame, &n);

    for (size_t i = 0; i < n; i++) {
        must(kept[i].frame == frame && kept[i].units.begin < kept[i].units.end);
        must(kept[i].units.end <= INT64_MAX);
        must(i == 0 || kept[i - 1].units.end <= kept[i].units.begin);
        if (kept[i].failed)
            look_at(journal_failure(j, &kept[i]), &kept[i]);
        else
            write_output(j, &kept[i]);
    }
}

static void walk_queued(const struct journal *j)
{
    size_t n;
    const struct queued *q = journal_queued(j, &n);

    for (size_t i = 0; i < n; i++) {
        must(q[i].frame.number == i && q[i].frame.begin < q[i].frame.end);
        must(q[i].frame.end <= INT64_MAX && q[i].source <= INT32_MAX);
        must(strnlen(q[i].frame.label, LABEL_MAX) < LABEL_MAX);
        walk_kept(j, q[i].frame.number);
    }
}

static void walk_gone(const struct journal *j)
{
    size_t n;
    const struct kept *k = journal_gone(j, &n);

    for (size_t i = 0; i < n; i++) {
        const struct file_mark *mark = journal_marks(j, &k[i]);
        const struct frame *f = journal_frame(j, &k[i]);

        must(k[i].is_gone && k[i].n_marks <= FILES_MAX);
        must(!f || (f->number == k[i].frame && f->begin < f->end));
        must(k[i].n_marks == 0 || mark);
        if (!k[i].failed)
            write_output(j, &k[i]);
    }
}

/* Some of the text is as it was. */
static int is_same(void *arg,
                   struct slice units,
                   uint64_t text,
                   struct es_error *err)
{
    (void)arg, (void)err;
    must(units.begin < units.end);
    return text % 2 == 0;
}

/* Eight tasks there are, of four texts. */
static int sums(void *arg, uint64_t **sum, uint64_t *n, struct es_error *err)
{
    (void)arg, (void)err;
    *n = 8;
    *sum = calloc(8, sizeof **sum);
    must(*sum != NULL);
    for (uint64_t i = 0; i < 8; i++)
        (*sum)[i] = i / 2;
    return 0;
}

static void read_journal(const char *text, enum journal_resume resume)
{
    char word[] = "c", *command[] = {word, NULL};
    const struct journal_work work = {.work = "w",
                                      .text = text,
                                      .command = command,
                                      .is_same = is_same,
                                      .sums = sums,
                                      .may_move = resume == JOURNAL_RESUME};
    struct es_error err = {0};
    struct journal *j = NULL;

    if (journal_open(&j, log_path, &work, resume, &err) < 0) {
        must(!j && err.what[0] && err.mend[0]);
        return;
    }
    walk_queued(j);
    walk_gone(j);
    for (uint64_t frame = 0; frame < 8; frame++)
        walk_kept(j, frame);
    journal_close(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (log_fd < 0) {
        log_fd = folder_file("journal");
        out_fd = folder_file("out");
        (void)folder_path(log_path, "journal");
    }
    fill(data, size);
    read_journal(NULL, JOURNAL_RESUME);
    fill(data, size);
    read_journal("t", JOURNAL_RESUME); /* the head is of another text */
    read_journal("t", JOURNAL_REDO_FAILED);
    return 0;
}
