/* SPDX-License-Identifier: BSD-2-Clause */
/* What Prometheus reads: each family once and in one piece, every series once. */
#include "launcher/command/top_metrics.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *print(const struct top_step steps[], size_t n)
{
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    if (!file)
        bail("no memory");
    top_metrics_print(file, steps, n);
    if (fclose(file) != 0)
        bail("no memory");
    return text;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, word)) != NULL; p++)
        n++;
    return n;
}

static void has(const char *text, const char *line)
{
    ok(count(text, line) == 1, "once: %.*s", (int)strcspn(line, "\n"), line);
}

/* A comment tells the name and type of what follows, and of nothing else. */
static void check_families(const char *text)
{
    char family[128] = "", line[512];
    size_t bad = 0, lines = 0;

    for (const char *p = text; *p; p += strcspn(p, "\n") + 1) {
        size_t len = strcspn(p, "\n"), name;

        snprintf(line, sizeof line, "%.*s", (int)len, p);
        lines++;
        if (sscanf(line, "# TYPE %127s ", family) == 1) {
            bad += (strstr(line, "_total ") != NULL)
                   != (strstr(line, " counter") != NULL);
            continue;
        }
        name = strcspn(line, "{ ");
        bad += line[0] != '#'
               && (name != strlen(family) || strncmp(line, family, name) != 0);
        bad += line[0] != '#' && (!strchr(line, '{') || !strstr(line, "} "));
    }
    ok(bad == 0 && lines > 60, "every series stands below its own type");
}

static struct top_part parts[2] = {
    {"n0", TOP_WORKING, IDLE_NOT, 2, 1, 180, 90, 20, 640, 14.5, 6, 40},
    {"n1", TOP_LOST, IDLE_NOT, 2, 0, 0, 0, 0, 20, -1, -1, -1},
};
static struct top_node nodes[2] = {
    {.name = "n0", .rack = "s1", .progress = 12.5, .speed = 2, .joules = 1200},
    {.name = "n1", .rack = "s1", .speed = 9, .is_lost = 1, .lost = 3.5},
};

static void test_all(void)
{
    const struct top_step steps[] = {
        {.kind = TOP_RUN,
         .what = "povray",
         .pid = 4711,
         .job = 12,
         .step = 1,
         .part = parts,
         .parts = 2,
         .progress = {.frame = 1,
                      .frames = 6,
                      .done = 1080,
                      .all = 4320,
                      .rate = 58.5,
                      .left = -1,
                      .elapsed = 18.5,
                      .planned = -1,
                      .efficiency = 0.5,
                      .gain = 2.25,
                      .failed = -1}},
        {.kind = TOP_BCAST,
         .pid = 8,
         .part = parts,
         .parts = 1,
         .progress = {.done = 1e12,
                      .all = 4e12,
                      .rate = 5e9,
                      .left = 7,
                      .elapsed = 1,
                      .planned = -1,
                      .efficiency = -1,
                      .gain = -1,
                      .failed = -1}},
        {.kind = TOP_GRAPH,
         .pid = 9,
         .part = parts,
         .parts = 1,
         .progress = {.done = 5,
                      .all = 10,
                      .rate = 1,
                      .left = 7,
                      .elapsed = 1,
                      .planned = 60,
                      .efficiency = -1,
                      .gain = -1,
                      .failed = -1}},
        {.kind = TOP_STEP,
         .pid = 10,
         .job = 12,
         .node = nodes,
         .n = 2,
         .has_saved = 1,
         .saved = -20},
    };
    char *text = print(steps, 4);

#define RUN "{kind=\"run\",jobid=\"12\",step=\"1\",pid=\"4711\""
    check_families(text);
    has(text, "evenstep_front_ends{kind=\"run\"} 1\n");
    has(text, "evenstep_front_end_info" RUN ",what=\"povray\"} 1\n");
    has(text, "evenstep_run_units_done" RUN "} 1080\n");
    has(text, "evenstep_run_gain_ratio" RUN "} 2.25\n");
    has(text, "evenstep_saved_joules{kind=\"step\",jobid=\"12\",step=\"0\","
              "pid=\"10\"} -20\n");
    has(text, "evenstep_node_units_done_total" RUN ",node=\"n0\"} 640\n");
    has(text, "evenstep_node_units_per_second" RUN ",node=\"n0\"} 14.5\n");
    has(text, "evenstep_node_up" RUN ",node=\"n1\"} 0\n");
    is_int((int)count(text, "evenstep_node_units_per_second{"), 1,
           "what is not known has no line");
    is_int((int)count(text, "evenstep_run_units{"), 1,
           "a broadcast has no units");
    is_int((int)count(text, "evenstep_remaining_seconds{"), 2,
           "of those of which it is known");
    has(text,
        "evenstep_broadcast_received_bytes_total{kind=\"bcast\",jobid=\"0\","
        "step=\"0\",pid=\"8\"} 1000000000000\n");
    has(text,
        "evenstep_graph_planned_seconds{kind=\"graph\",jobid=\"0\",step=\"0\","
        "pid=\"9\"} 60\n");
    has(text, "evenstep_progress_regions{kind=\"step\",jobid=\"12\",step=\"0\","
              "pid=\"10\",node=\"n0\"} 12.5\n");
    has(text, "evenstep_agent_lost{kind=\"step\",jobid=\"12\",step=\"0\","
              "pid=\"10\",node=\"n0\"} 0\n");
    has(text, "evenstep_agent_lost{kind=\"step\",jobid=\"12\",step=\"0\","
              "pid=\"10\",node=\"n1\"} 1\n");
    has(text, "evenstep_group_speed{kind=\"step\",jobid=\"12\",step=\"0\","
              "pid=\"10\",rack=\"s1\",aggregate=\"mean\"} 2\n");
    free(text);
}

static void test_none(void)
{
    char *text = print(NULL, 0);

    has(text, "evenstep_front_ends{kind=\"run\"} 0\n");
    is_int((int)count(text, "\nevenstep_"), TOP_KINDS,
           "without any work that is all");
    free(text);
}

static void test_label(void)
{
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    if (!file)
        bail("no memory");
    top_metrics_label(file, "what", "a\\b\"c\nd");
    (void)fclose(file);
    is_str(text, "what=\"a\\\\b\\\"c\\nd\"",
           "what would end a label is escaped");
    free(text);
}

static void test_file(void)
{
    char path[] = "/tmp/top_metrics.XXXXXX", line[256];
    struct es_error err = {0};
    int fd = mkstemp(path), found = 0;
    FILE *file;

    if (fd < 0)
        bail("no file");
    close(fd);
    is_int(top_metrics_write(path, NULL, 0, &err), 0, "metrics are written");
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        found += strcmp(line, "evenstep_front_ends{kind=\"graph\"} 0\n") == 0;
    if (file)
        fclose(file);
    is_int(found, 1, "to that file");
    ok(top_metrics_write("/nowhere/metrics", NULL, 0, &err) < 0
           && err.kind == ES_WORK && strstr(err.what, "/nowhere/metrics: "),
       "a file that cannot be written is named");
    unlink(path);
}

int main(void)
{
    test_all();
    test_none();
    test_label();
    test_file();
    return done();
}
