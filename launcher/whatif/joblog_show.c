/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/joblog_show.h"
#include "launcher/base/plain_text.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { COLUMNS = 9, SHOWN = 10, BINS = 10, BAR = 40, TEXT_MOST = 200 };

static const char head[] = "Seq\tHost\tStarttime\tJobRuntime";

struct row {
    uint64_t seq;
    double begun, seconds;
    int status, signal;
    char *text; /* "HOST  COMMAND", ours */
};

struct log {
    struct row *row; /* n, in the order of the file; of a task the last */
    size_t n, room;
};

int joblog_is(const char *path)
{
    char begin[sizeof head];
    struct stat st;
    FILE *file = NULL;
    int is = 0;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        file = fopen(path, "re");
    if (file) {
        is = fread(begin, 1, sizeof head - 1, file) == sizeof head - 1
             && memcmp(begin, head, sizeof head - 1) == 0;
        (void)fclose(file); /* only read */
    }
    return is;
}

/* --- reading -------------------------------------------------------------- */

/* Cut a line at its tabs; what is behind the last column stays in it.  How many. */
static size_t split(char *line, char *column[COLUMNS])
{
    size_t n = 0;

    while (line && n < COLUMNS) {
        column[n++] = line;
        line = strchr(line, '\t');
        if (line)
            *line++ = '\0';
    }
    return n;
}

static int add_row(struct log *l, char *column[COLUMNS])
{
    struct row *r = array_grow(l->row, &l->room, l->n + 1, sizeof *r, SIZE_MAX);
    char text[TEXT_MOST], plain[TEXT_MOST];

    if (!r)
        return -1;
    l->row = r;
    snprintf(text, sizeof text, "%-10.20s %.*s", column[1], TEXT_MOST - 40,
             column[8]);
    plain_text(plain, sizeof plain, text);
    r = &l->row[l->n];
    *r = (struct row){.seq = strtoull(column[0], NULL, 10),
                      .begun = strtod(column[2], NULL),
                      .seconds = strtod(column[3], NULL),
                      .status = (int)strtol(column[6], NULL, 10),
                      .signal = (int)strtol(column[7], NULL, 10),
                      .text = strdup(plain)};
    if (!r->text)
        return -1;
    l->n++;
    return 0;
}

static int read_rows(struct log *l,
                     FILE *file,
                     const char *path,
                     struct es_error *err)
{
    char *line = NULL, *column[COLUMNS];
    size_t room = 0, number = 0;
    ssize_t len;
    int rc = 0;

    while (rc == 0 && (len = getline(&line, &room, file)) > 0) {
        if (number++ == 0 || line[len - 1] != '\n') /* the head; a torn line */
            continue;
        line[len - 1] = '\0';
        if (split(line, column) < COLUMNS)
            rc = es_fail(err, ES_USAGE, "give a job log that is whole",
                         "report: %s:%zu: fewer than %d columns", path, number,
                         COLUMNS);
        else if (add_row(l, column) < 0)
            rc = es_no_memory(err);
    }
    free(line);
    return rc;
}

static void clear_log(struct log *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->row[i].text);
    free(l->row);
}

static int by_task(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return (x->begun > y->begun) - (x->begun < y->begun);
}

/* Of a task that was run again only the last time counts. */
static void keep_last(struct log *l)
{
    size_t n = 0;

    if (l->n > 0)
        qsort(l->row, l->n, sizeof *l->row, by_task);
    for (size_t i = 0; i < l->n; i++) {
        if (i + 1 < l->n && l->row[i].seq == l->row[i + 1].seq) {
            free(l->row[i].text);
            continue;
        }
        l->row[n++] = l->row[i];
    }
    l->n = n;
}

/* --- printing ------------------------------------------------------------- */

static int has_failed(const struct row *r)
{
    return r->status != 0 || r->signal != 0;
}

static int slowest_first(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static void print_sum(FILE *out, const struct log *l)
{
    double begin = INFINITY, end = 0, busy = 0;
    size_t failed = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct row *r = &l->row[i];

        begin = fmin(begin, r->begun);
        end = fmax(end, r->begun + r->seconds);
        busy += r->seconds;
        failed += (size_t)has_failed(r);
    }
    fprintf(out,
            "%zu task%s in %.2f s, %zu failed; %.2f s of work, mean %.3f s\n",
            l->n, l->n == 1 ? "" : "s", end - begin, failed, busy,
            busy / (double)l->n);
}

static void print_failed(FILE *out, const struct log *l)
{
    size_t shown = 0, more = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct row *r = &l->row[i];

        if (!has_failed(r))
            continue;
        if (shown == SHOWN) {
            more++;
            continue;
        }
        if (shown++ == 0)
            fprintf(out, "\nfailed:\n%8s %6s %6s %9s  %-10s %s\n", "task",
                    "status", "signal", "seconds", "host", "command");
        fprintf(out, "%8" PRIu64 " %6d %6d %9.3f  %s\n", r->seq, r->status,
                r->signal, r->seconds, r->text);
    }
    if (more > 0)
        fprintf(out, "%8s %zu more\n", "and", more);
}

/* The rows are in the order of their times, the slowest first. */
static void print_slowest(FILE *out, const struct log *l)
{
    fprintf(out, "\nslowest:\n%8s %9s  %-10s %s\n", "task", "seconds", "host",
            "command");
    for (size_t i = 0; i < l->n && i < SHOWN; i++)
        fprintf(out, "%8" PRIu64 " %9.3f  %s\n", l->row[i].seq,
                l->row[i].seconds, l->row[i].text);
}

/* How many took how long, in steps that grow: the longest is in the last. */
static void print_times(FILE *out, const struct log *l)
{
    double most = fmax(l->row[0].seconds, 1e-3);
    double least = fmax(l->row[l->n - 1].seconds, most * 1e-6);
    double step = pow(fmax(most / fmax(least, 1e-3), 1.0001), 1.0 / BINS);
    size_t count[BINS] = {0}, top = 1;

    least = most / pow(step, BINS);
    for (size_t i = 0; i < l->n; i++) {
        double at = log(fmax(l->row[i].seconds, least) / least) / log(step);
        size_t bin = at < BINS ? (size_t)at : BINS - 1;

        count[bin]++;
        top = count[bin] > top ? count[bin] : top;
    }
    fprintf(out, "\ntimes:\n");
    for (size_t i = 0; i < BINS; i++)
        fprintf(out, "%10.3f s to %10.3f s %8zu  %.*s\n",
                i == 0 ? 0 : least * pow(step, (double)i),
                least * pow(step, (double)i + 1), count[i],
                (int)(count[i] * BAR / top),
                "########################################");
}

int joblog_show(FILE *out, const char *path, struct es_error *err)
{
    FILE *file = fopen(path, "re");
    struct log l = {.n = 0};
    int rc;

    if (!file)
        return es_fail(err, ES_USAGE, es_mend_file(errno), "report: %s: %s",
                       path, strerror(errno));
    rc = read_rows(&l, file, path, err);
    (void)fclose(file); /* only read */
    if (rc == 0 && l.n == 0)
        fprintf(out, "no task has ended\n");
    if (rc == 0 && l.n > 0) {
        keep_last(&l);
        print_sum(out, &l);
        print_failed(out, &l);
        qsort(l.row, l.n, sizeof *l.row, slowest_first);
        print_slowest(out, &l);
        if (l.n > 1)
            print_times(out, &l);
    }
    clear_log(&l);
    return rc < 0 || fflush(out) == 0 ? rc : es_no_space(err);
}
