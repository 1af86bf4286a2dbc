/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tasks of a piece have printed, as a stream: written, cut anywhere, read. */
#include "launcher/wire/task_stream.h"
#include "tap.h"

static const struct task_end first = {.status = 3,
                                      .tries = 2,
                                      .rss_mib = 70000,
                                      .begun_ns = 1800000000123456789u,
                                      .elapsed_ns = 5000000000u,
                                      .cpu_ns = 4999999999u};
static const struct task_end second = {
    .status = 137, .signal = 9, .exec_errno = 2, .tries = 1, .why = TASK_LATE};

struct heard {
    char text[200]; /* "o:" of stdout, "e:" of stderr, "." for an end */
    struct task_end end[4];
    size_t n;
};

static void on_text(void *arg, enum task_part kind, const void *bytes, size_t n)
{
    struct heard *h = arg;
    size_t len = strlen(h->text);

    snprintf(h->text + len, sizeof h->text - len, "%c:%.*s",
             kind == TASK_OUT ? 'o' : 'e', (int)n, (const char *)bytes);
}

static void on_again(void *arg)
{
    struct heard *h = arg;

    strncat(h->text, "!", sizeof h->text - strlen(h->text) - 1);
}

static void on_end(void *arg, const struct task_end *e)
{
    struct heard *h = arg;

    strncat(h->text, ".", sizeof h->text - strlen(h->text) - 1);
    if (h->n < 4)
        h->end[h->n++] = *e;
}

static const struct task_events events = {
    .text = on_text, .again = on_again, .end = on_end};

struct stream {
    uint8_t bytes[400];
    size_t len;
};

static void put(struct stream *s,
                enum task_part kind,
                const void *bytes,
                size_t len)
{
    task_part_head(s->bytes + s->len, kind, len);
    if (len > 0)
        memcpy(s->bytes + s->len + TASK_PART_HEAD, bytes, len);
    s->len += TASK_PART_HEAD + len;
}

static void put_end(struct stream *s, const struct task_end *e)
{
    uint8_t bytes[TASK_END_BYTES];

    task_end_write(bytes, e);
    put(s, TASK_END, bytes, sizeof bytes);
}

/* Two tasks that have ended, and one that has not. */
static void make(struct stream *s)
{
    *s = (struct stream){0};
    put(s, TASK_OUT, "one", 3);
    put(s, TASK_ERR, "bad", 3);
    put(s, TASK_AGAIN, "", 0);
    put(s, TASK_OUT, "1", 1);
    put_end(s, &first);
    put_end(s, &second);
    put(s, TASK_OUT, "open", 4);
}

static int are_same(const struct task_end *a, const struct task_end *b)
{
    return a->status == b->status && a->signal == b->signal
           && a->exec_errno == b->exec_errno && a->tries == b->tries
           && a->why == b->why && a->rss_mib == b->rss_mib
           && a->begun_ns == b->begun_ns && a->elapsed_ns == b->elapsed_ns
           && a->cpu_ns == b->cpu_ns;
}

static void test_whole(void)
{
    struct stream s;
    struct heard h = {0};
    struct task_stream r = {0};

    make(&s);
    is_int(task_stream_read(&r, s.bytes, s.len, &events, &h), 0,
           "a stream is read at once");
    is_str(h.text, "o:onee:bad!o:1..o:open", "each part is of its stream");
    is_int((intmax_t)h.n, 2, "two tasks have ended");
    ok(are_same(&h.end[0], &first) && are_same(&h.end[1], &second),
       "as they have, in all numbers");
    is_int(task_stream_read(&r, s.bytes, 0, &events, &h), 0,
           "nothing more changes nothing");
}

/* "o:ono:e" becomes "one". */
static void leave_out_marks(char *text)
{
    char *to = text;

    for (; *text; text++)
        if (text[1] == ':')
            text++;
        else
            *to++ = *text;
    *to = '\0';
}

/* The same, whatever the parts in which it comes. */
static void test_cut(void)
{
    struct stream s;
    int same = 1;

    make(&s);
    for (size_t by = 1; by < s.len; by++) {
        struct heard h = {0};
        struct task_stream r = {0};

        for (size_t at = 0; at < s.len; at += by)
            same &=
                task_stream_read(&r, s.bytes + at,
                                 s.len - at < by ? s.len - at : by, &events, &h)
                == 0;
        same &= h.n == 2 && are_same(&h.end[0], &first)
                && are_same(&h.end[1], &second);
        leave_out_marks(h.text);
        same &= strcmp(h.text, "onebad!1..open") == 0;
    }
    ok(same, "in pieces of 1 to %zu bytes it is the same", s.len - 1);
}

static int is_refused(const struct stream *s)
{
    struct heard h = {0};
    struct task_stream r = {0};

    return task_stream_read(&r, s->bytes, s->len, &events, &h) == -1 && h.n == 0
           && h.text[0] == '\0';
}

static int end_is_refused(struct task_end e)
{
    struct stream s = {0};

    put_end(&s, &e);
    return is_refused(&s);
}

static void test_no_stream(void)
{
    struct stream s = {0};

    put(&s, (enum task_part)0, "x", 1);
    ok(is_refused(&s), "a part of no kind is refused");
    s = (struct stream){0};
    put(&s, (enum task_part)5, "x", 1);
    ok(is_refused(&s), "one of a kind that is none, too");
    s = (struct stream){0};
    put(&s, TASK_OUT, "", 0);
    ok(is_refused(&s), "an empty one, which would be no progress");
    s = (struct stream){.len = TASK_PART_HEAD};
    task_part_head(s.bytes, TASK_ERR, TASK_PART_MAX + 1);
    ok(is_refused(&s), "one that is too large");
    task_part_head(s.bytes, TASK_ERR, TASK_PART_MAX);
    ok(!is_refused(&s), "but not one of the most bytes");
    task_part_head(s.bytes, TASK_END, TASK_END_BYTES - 1);
    ok(is_refused(&s), "an end of another length");
    s = (struct stream){0};
    put(&s, TASK_AGAIN, "x", 1);
    ok(is_refused(&s), "a new try with something in it");
    ok(!end_is_refused((struct task_end){.status = 255, .tries = 1}),
       "of an end what can be is taken");
    ok(end_is_refused((struct task_end){.status = 256, .tries = 1})
           && end_is_refused((struct task_end){.signal = 129, .tries = 1})
           && end_is_refused((struct task_end){.exec_errno = 4096, .tries = 1})
           && end_is_refused((struct task_end){.why = 4, .tries = 1})
           && end_is_refused((struct task_end){.tries = 0}),
       "and what cannot is not");
}

int main(void)
{
    test_whole();
    test_cut();
    test_no_stream();
    return done();
}
