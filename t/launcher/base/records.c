/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of a file: found as one who reads every byte would find them. */
#include "launcher/base/lines.h"
#include "launcher/base/lines_look.h"
#include "tap.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

static char file_path[600];

static void set_content(const char *text, size_t len)
{
    FILE *file = fopen(file_path, "w");

    if (!file || fwrite(text, 1, len, file) != len || fclose(file) != 0)
        bail("%s: %s", file_path, strerror(errno));
}

static struct record_mark mark(const char *text)
{
    struct record_mark m = {0};
    struct es_error err;

    if (text && record_mark_parse(&m, "recend", text, &err) < 0)
        bail("%s", err.what);
    return m;
}

static struct record_rule rule(const char *start,
                               const char *end,
                               uint64_t lines,
                               uint64_t header)
{
    return (struct record_rule){mark(start), mark(end), lines, header};
}

/* --- marks and rules ------------------------------------------------------ */

static void test_marks(void)
{
    struct es_error err = {0};
    struct record_mark m = mark("a\\n\\r\\t\\0\\\\");
    char longest[RECORD_MARK_MAX + 2];
    struct record_rule r = rule(NULL, "", 0, 0);

    ok(m.len == 6 && memcmp(m.bytes, "a\n\r\t\0\\", 6) == 0 && m.given,
       "bytes that no word can hold are spelled");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    ok(record_mark_parse(&m, "recend", longest, &err) < 0
           && err.kind == ES_USAGE,
       "a mark has a limit");
    longest[RECORD_MARK_MAX] = '\0';
    ok(record_mark_parse(&m, "recend", longest, &err) == 0
           && m.len == RECORD_MARK_MAX,
       "which it may reach");
    ok(record_mark_parse(&m, "recend", "\\q", &err) < 0
           && record_mark_parse(&m, "recend", "a\\", &err) < 0
           && m.len == RECORD_MARK_MAX,
       "an unknown spelling is refused, and the mark stays");
    ok(record_rule_check(&r, &err) < 0, "an end that is everywhere is refused");
    r = rule("", NULL, 0, 0);
    ok(record_rule_check(&r, &err) < 0, "and such a start");
    r = rule(">", "", 0, 0);
    ok(record_rule_check(&r, &err) == 0, "an empty end is one with a start");
}

/* --- against one who reads every byte ------------------------------------- */

#define MANY 200000u /* bytes: some blocks */

static int is_at(const char *text, size_t len, const struct record_mark *m)
{
    return m->len <= len && memcmp(text, m->bytes, m->len) == 0;
}

/* Where records begin in text, and behind the last of them its end. */
static size_t find_begins(const char *text,
                          const struct record_rule *r,
                          uint64_t *begin)
{
    struct record_mark end = r->end.given ? r->end : mark("\\n");
    size_t n = 0, at = 0, marks = 0;

    for (uint64_t lines = r->header; lines > 0; at++)
        lines -= text[at] == '\n';
    begin[n++] = at;
    at += end.len == 0;
    while (at + end.len < MANY) {
        if (!is_at(text + at, MANY - at, &end)
            || !is_at(text + at + end.len, MANY - at - end.len, &r->start)) {
            at++;
            continue;
        }
        if (++marks % (r->lines > 0 ? r->lines : 1) == 0)
            begin[n++] = at + end.len;
        at += end.len > 0 ? end.len : 1;
    }
    begin[n] = MANY;
    return n;
}

static size_t count_wrong(const struct lines *l, const uint64_t begin[])
{
    struct es_error err;
    uint64_t from, to;
    size_t wrong = 0;

    for (size_t i = 0; i < l->n; i += 1 + l->n / 50) {
        size_t end = i + 1 + i % 1500;

        end = end < l->n ? end : (size_t)l->n;
        wrong += lines_find(l, i, end, &from, &to, &err) < 0 || from != begin[i]
                 || to != begin[end];
    }
    return wrong;
}

static void test_rule(const char *text, struct record_rule r, const char *name)
{
    uint64_t *begin = calloc(MANY + 2, sizeof *begin);
    struct es_error err = {0};
    struct lines l;
    size_t n;

    if (!begin)
        bail("no memory");
    n = find_begins(text, &r, begin);
    if (lines_open(&l, file_path, &r, &err) < 0)
        bail("%s: %s", name, err.what);
    ok(l.n == n && n > 10 && l.header == begin[0], "%s: %zu records, %ju", name,
       n, (uintmax_t)l.n);
    ok(count_wrong(&l, begin) == 0, "%s: each is where it is", name);
    lines_close(&l);
    free(begin);
}

static void test_rules(void)
{
    static const char letters[] = ">a\n\n";
    char *text = malloc(MANY);
    uint32_t random = 7;
    size_t newlines = 0;

    if (!text)
        bail("no memory");
    for (size_t i = 0; i < MANY; i++) {
        random = random * 1664525u + 1013904223u;
        text[i] = letters[random >> 30];
    }
    text[MANY - 1] = 'a'; /* a last record without its end */
    for (size_t i = 0; i < MANY; i++)
        newlines += text[i] == '\n';
    /* Whole records of three lines. */
    for (size_t i = MANY - 2; newlines % 3 != 2; i--)
        if (text[i] == '\n') {
            text[i] = 'a';
            newlines--;
        }
    set_content(text, MANY);
    test_rule(text, rule(NULL, NULL, 0, 0), "lines");
    test_rule(text, rule(NULL, NULL, 3, 0), "--record 3");
    test_rule(text, rule(NULL, NULL, 0, 2), "--header 2");
    test_rule(text, rule(">", NULL, 0, 0), "a start");
    test_rule(text, rule(">", NULL, 0, 5), "a start behind a header");
    test_rule(text, rule(">a", "", 0, 0), "a start within lines");
    test_rule(text, rule(NULL, "\\n\\n", 0, 0), "an end of two bytes");
    test_rule(text, rule(NULL, "aaaaaa", 0, 0), "an end that overlaps itself");
    test_rule(text, rule(">>", "\\n\\n\\n", 0, 0), "both");
    free(text);
}

/* --- small files ---------------------------------------------------------- */

static uint64_t units_of(const char *text,
                         struct record_rule r,
                         struct es_error *err)
{
    struct lines l;
    uint64_t n;

    *err = (struct es_error){0};
    set_content(text, strlen(text));
    if (lines_open(&l, file_path, &r, err) < 0)
        return 0;
    n = l.n;
    lines_close(&l);
    return n;
}

static void test_small(void)
{
    struct es_error err;

    is_int((int)units_of(">a\n", rule(">", NULL, 0, 0), &err), 1,
           "a file of one record is one");
    is_int((int)units_of("a\n>b\n", rule(">", NULL, 0, 0), &err), 2,
           "what stands before the first start is a record, too");
    ok(units_of("a\n b>\n", rule(">", NULL, 0, 0), &err) == 0
           && err.kind == ES_USAGE && strstr(err.what, "nowhere"),
       "a start that is nowhere is refused: %s", err.what);
    ok(units_of("a\nb\n", rule(NULL, "--", 0, 0), &err) == 0
           && err.kind == ES_USAGE && strstr(err.what, "nowhere"),
       "and an end");
    is_int((int)units_of("a--", rule(NULL, "--", 0, 0), &err), 1,
           "one that is at the end only is not");
    is_int((int)units_of(">a\r\nA\r\n>b\r\nB\r\n", rule(">", NULL, 0, 0), &err),
           2, "lines may end as Windows ends them");
    is_int((int)units_of("1\n2\n3\n4", rule(NULL, NULL, 2, 0), &err), 2,
           "the last line of a record needs no end");
    is_int((int)units_of("1\n2\n3\n4\n\n\r\n\n", rule(NULL, NULL, 4, 0), &err),
           1, "empty lines at the end are no record");
    ok(units_of("1\n2\n3\n4\n5\n", rule(NULL, NULL, 4, 0), &err) == 0
           && err.kind == ES_USAGE && strstr(err.what, "only 1 lines"),
       "others are a file that is broken: %s", err.what);
    ok(units_of("1\n", rule(NULL, NULL, 4, 0), &err) == 0
           && err.kind == ES_USAGE,
       "and so is one of fewer lines");
    is_int((int)units_of("h\n1\n", rule(NULL, NULL, 0, 1), &err), 1,
           "a header is no unit");
    ok(units_of("h\n1\n", rule(NULL, NULL, 0, 2), &err) == 0
           && err.kind == ES_USAGE && strstr(err.what, "nothing behind"),
       "a file that is all header is refused");
    ok(units_of("h", rule(NULL, NULL, 0, 2), &err) == 0 && err.kind == ES_USAGE,
       "and one that is less");
}

/* --- what a file looks like ----------------------------------------------- */

static void test_looks(void)
{
    static const struct {
        enum lines_kind kind;
        const char *text, *name;
    } files[] = {
        {LINES_FASTA, ">a\nACG\nTT\n>b\n", "FASTA"},
        {LINES_FASTA, ">a\r\nACG\r\n", "of Windows"},
        {LINES_PLAIN, ">a\n>b\n>c\n", "names of records only"},
        {LINES_PLAIN, "a\n>b\n", "a > further down"},
        {LINES_FASTA, "\n;of 2026\n>a\nACG\n", "below a comment"},
        {LINES_FASTQ, "@a\nACG\n+\nIII\n@b\nA\n+b\nI\n", "FASTQ"},
        {LINES_FASTQ, "@a\nACG\n+\n@+I\n@b\nA\n+b\n@\n",
         "whose marks look like lines of names"},
        {LINES_FASTQ_WRAPPED, "@a\nACG\nT\n+\nIII\nI\n@b\nA\n+\nI\n",
         "FASTQ of several lines a record"},
        {LINES_PLAIN, "@a\nACG\n+\nII\n", "an @ and a + by chance"},
        {LINES_PLAIN, "@a\n@b\n@c\n@d\n", "a list of names"},
        {LINES_HEADER, "name,size\na,1\nb,2.5\n", "names above numbers"},
        {LINES_HEADER, "id\tx\n1\t2\n3\t4\n", "with tabs"},
        {LINES_PLAIN, "name,size\na,1\n", "too few lines to know"},
        {LINES_PLAIN, "1,2\n3,4\n5,6\n", "numbers only"},
        {LINES_PLAIN, "a,b\nc,d\ne,f\n", "words only"},
        {LINES_PLAIN, "name,1\na,1\nb,2\n", "a number in the first line"},
        {LINES_PLAIN, "name,size\na,1\nb,2,3\n", "lines of unlike fields"},
        {LINES_PLAIN, "name,size\na,1\nb,\n", "one number, and one is missing"},
        {LINES_HEADER, "name,size\na,1\nb,\nc,NA\nd,4\n",
         "some that are missing"},
        {LINES_HEADER, "\"a,b\",\"size\"\n\"c,d\",\"1\"\n\"e\",\"2\"\n",
         "names and numbers in quotes"},
        {LINES_PLAIN, "# a title\n\ntext\n", "a text with a title"},
        {LINES_PLAIN, "#a\n#b\n#c\n", "a list of tags"},
        {LINES_PLAIN, "a/b.c\nd/e.c\nf g\n", "paths"},
        {LINES_PLAIN, "echo a, b\necho c, 1\necho d, 2\n", "commands"},
        {LINES_PLAIN, "\n\n\n", "empty lines"},
        {LINES_PLAIN, "", "nothing"},
    };
    size_t header;

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        ok(lines_kind(files[i].text, strlen(files[i].text), 1, &header)
               == files[i].kind,
           "%s", files[i].name);
    is_int((int)lines_kind("n,s\na,1\nb,2,", 12, 0, &header), LINES_PLAIN,
           "a line that was cut off says nothing");
    is_int((int)lines_kind(">a\nACG", 6, 0, &header), LINES_FASTA,
           "but the begin of a long sequence does");
}

static void test_long_reads(void)
{
    enum { LETTERS = 20000 };
    char text[3 * LETTERS] = "@a\n";
    size_t header, len = strlen(text);

    memset(text + len, 'A', LETTERS);
    is_int((int)lines_kind(text, len + LETTERS, 0, &header), LINES_FASTQ,
           "a long read is known by its letters");
    is_int((int)lines_kind(text, len + 10, 0, &header), LINES_PLAIN,
           "a few are not enough");
    len += LETTERS + (size_t)sprintf(text + len + LETTERS, "\n+\n");
    memset(text + len, '@', LETTERS);
    is_int((int)lines_kind(text, len + LETTERS / 2, 0, &header), LINES_FASTQ,
           "with some of its marks");
    is_int((int)lines_kind(text, len + LETTERS, 1, &header), LINES_FASTQ,
           "with all");
    is_int((int)lines_kind(text, len + LETTERS + 1, 1, &header), LINES_PLAIN,
           "it has no more of them than letters");
}

static int header_of(const char *text)
{
    size_t header;

    return lines_kind(text, strlen(text), 1, &header) == LINES_HEADER
               ? (int)header
               : 0;
}

static void test_headers(void)
{
    is_int(header_of("##fileformat=VCFv4.2\n##a\n#CHROM\tPOS\n1\t2\n"), 3,
           "the head of a VCF");
    is_int(header_of("#chrom\tstart\n1\t2\n"), 1, "of a BED");
    is_int(header_of("@HD\tVN:1.6\n@SQ\tSN:1\nread\t0\n"), 2, "of a SAM");
    is_int(header_of("@HD\tVN:1.6\n@SQ\tSN:1\n"), 0,
           "with nothing below there is none");
    is_int(header_of("a,b\nc,1\nd,2\n"), 1, "a line of names");
}

int main(void)
{
    tree_make();
    snprintf(file_path, sizeof file_path, "%s", tree_path("records"));
    test_marks();
    test_rules();
    test_small();
    test_looks();
    test_long_reads();
    test_headers();
    tree_remove();
    return done();
}
