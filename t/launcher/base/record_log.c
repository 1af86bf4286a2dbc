/* SPDX-License-Identifier: BSD-2-Clause */
/* Which lines of a --journal are heard, and what becomes of the others. */
#include "launcher/base/record_log.h"
#include "tree.h"

#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define ONE "{\"type\":\"one\"}"
#define TWO "{\"type\":\"two\"}"

static char log_path[600];

/* The line with its sum, added to the file; len is without the brace. */
static void add(const char *line, size_t len)
{
    FILE *file = fopen(log_path, "a");

    if (!file || fwrite(line, 1, len - 1, file) != len - 1
        || fprintf(file, ",\"sum\":\"%016jx\"}\n",
                   (uintmax_t)XXH3_64bits(line, len - 1))
               < 0
        || fclose(file) != 0)
        bail("%s: %s", log_path, strerror(errno));
}

static enum record_verdict on_line(void *arg,
                                   const char *line,
                                   int64_t at,
                                   struct es_error *err)
{
    (void)at;
    (void)err;
    ++*(int *)arg;
    return strstr(line, "unknown") ? RECORD_UNKNOWN : RECORD_KEPT;
}

/* How many lines are heard. */
static int hear(void)
{
    struct record_log l;
    struct es_error err;
    int n = 0;

    if (record_log_open(&l, log_path, 1, &err) < 0
        || record_log_read(&l, on_line, &n, &err) < 0)
        n = -1;
    record_log_close(&l);
    return n;
}

static long size(void)
{
    struct stat st;

    return stat(log_path, &st) == 0 ? (long)st.st_size : -1;
}

static void test_good(void)
{
    long whole;

    tree_put("log", "");
    add(ONE, strlen(ONE));
    add(TWO, strlen(TWO));
    whole = size();
    is_int(hear(), 2, "two lines with their sums are heard");
    is_int(size(), whole, "and stay");
}

static void test_torn(void)
{
    static const char nul[] = "{\"type\":\"o\0e\"}";
    long whole;

    tree_put("log", "");
    add(ONE, strlen(ONE));
    whole = size();
    add(nul, sizeof nul - 1);
    add(TWO, strlen(TWO));
    is_int(hear(), 1, "a line with a NUL is none, nor what is behind it");
    is_int(size(), whole, "they are cut off");
    tree_put("log", ONE "\n");
    is_int(hear(), -1, "a first line without its sum is none of ours");
    is_int(size(), (long)strlen(ONE "\n"), "that file stays as it is");
}

int main(void)
{
    tree_make();
    snprintf(log_path, sizeof log_path, "%s", tree_path("log"));
    test_good();
    test_torn();
    tree_remove();
    return done();
}
