/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_report_file.h"
#include "launcher/base/text_file.h"
#include "launcher/graph/graph_report.h"
#include "launcher/graph/graph_text.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define REPORT_MAX (64u << 20) /* bytes */

static int read_one(struct graph_times *t,
                    const char *path,
                    const char *name,
                    struct es_error *err)
{
    char *text = graph_text_read(path, REPORT_MAX, err);
    int rc = text ? graph_report_parse(t, name, text, err) : -1;

    free(text);
    return rc;
}

/* Benchmarks are what is looked for in a folder: a first line tells them. */
static int is_benchmark(const char *path)
{
    char head[8] = "";
    size_t len = strlen(path);
    FILE *file = fopen(path, "re");
    int is;

    if (!file)
        return 0;
    text_file_skip_mark(file);
    is = fgets(head, sizeof head, file)
         && (strcmp(head, "s\th:m:s") == 0
             || (*head == '{' && len > 6
                 && strcmp(path + len - 6, ".jsonl") == 0));
    (void)fclose(file); /* was only read */
    return is;
}

static int read_folder(struct graph_times *t,
                       const char *path,
                       struct es_error *err)
{
    char *copy = strdup(path), *const list[] = {copy, NULL};
    FTS *walk = copy ? fts_open(list, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
    const FTSENT *at;
    int rc = walk ? 0 : es_no_memory(err);

    while (rc == 0 && (at = fts_read(walk)))
        if (at->fts_info == FTS_F && is_benchmark(at->fts_path)) {
            const char *name = at->fts_path + strlen(path);

            rc = read_one(t, at->fts_path, name + strspn(name, "/"), err);
        }
    if (walk)
        (void)fts_close(walk);
    free(copy);
    if (rc == 0 && t->rows == 0)
        return es_fail(err, ES_USAGE,
                       "give the folder of Snakemake's benchmarks",
                       "--times: %s: no benchmark is in it", path);
    return rc;
}

int graph_report_read(struct graph_times *t,
                      const char *path,
                      struct es_error *err)
{
    struct stat st;

    if (strcmp(path, "-") == 0)
        return read_one(t, path, path, err);
    if (stat(path, &st) < 0)
        return es_fail(err, ES_USAGE, "give a report that can be read",
                       "--times: %s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return read_folder(t, path, err);
    return read_one(t, path, path, err);
}
