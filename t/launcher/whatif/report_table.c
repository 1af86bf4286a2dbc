/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/report_table.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void split(void)
{
    static const struct {
        const char *node, *name;
        int slot;
    } table[] = {{"n0", "n0", -1},     {"n0:3", "n0", 3}, {"n0:", "n0:", -1},
                 {"n0:x", "n0:x", -1}, {":1", "", 1},     {"a:b:2", "a:b", 2}};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char name[256];
        int slot;

        report_file_split(name, &slot, table[i].node);
        ok(strcmp(name, table[i].name) == 0 && slot == table[i].slot, "%s",
           table[i].node);
    }
}

static size_t count(const char *text, char c)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == c;
    return n;
}

/* Rows of the report in the file, with their head. */
static char *table_of(const char *lines)
{
    char path[] = "/tmp/report_table.XXXXXX", *got = NULL;
    int fd = mkstemp(path);
    FILE *out;
    struct any_report r;
    struct es_error err = {0};
    size_t len;

    ok(fd >= 0 && write(fd, lines, strlen(lines)) == (ssize_t)strlen(lines),
       "a report");
    close(fd);
    is_int(any_report_read(&r, path, &err), 0, "is read");
    out = open_memstream(&got, &len);
    is_int(report_table_head(out, r.kind), 0, "its head");
    r.path = "r\t1";
    is_int(report_table_rows(out, &r), 0, "its rows");
    fclose(out);
    any_report_clear(&r);
    unlink(path);
    return got;
}

int main(void)
{
    static const char run[] =
        "{\"type\":\"frame\",\"frame\":0,\"last\":2,\"slices\":["
        "{\"node\":\"n0\",\"slot\":0,\"begin\":0,\"end\":6,\"seconds\":2,"
        "\"status\":0},{\"node\":\"n0\",\"slot\":1,\"begin\":6,\"end\":8,"
        "\"seconds\":1,\"status\":0}],\"energy\":[{\"node\":\"n0\","
        "\"joules\":40,\"watts\":20,\"source\":\"measured\"}],\"meters\":[{\"node\":"
        "\"n0\",\"progress\":8,\"limit\":500}],\"report\":{\"format\":2,"
        "\"kind\":\"run\",\"job\":7,\"step\":1,\"nodes\":[{\"node\":\"n0\","
        "\"JL\":100,\"counted\":{\"C\":3.5}}]}}\n";
    char *got = table_of(run), *line;

    split();
    is_int((int)count(got, '\n'), 3, "a head, and a row for each slot");
    is_int((int)count(got, '\t'), 3 * 31, "of as many columns");
    line = strchr(got, '\n') + 1;
    ok(strncmp(line, "r?1\t7\t1\t0\tn0\t0\t6\t0.75\t1\t0\t2\t", 28) == 0,
       "a tab in a name is none in the table");
    ok(strstr(line, "\t100\t3.5\tNA\t") != NULL, "what the node can do");
    ok(strstr(line, "\t8\t500\t40\t20\n") != NULL,
       "progress, limit, joules, watts");
    ok(strstr(line, "\t8\t500\tNA\tNA\n") != NULL,
       "the energy of a node is that of its first slot");
    free(got);
    return done();
}
