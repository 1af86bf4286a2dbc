/* SPDX-License-Identifier: BSD-2-Clause */
/* What `evenstep top` makes of a step's file, sound or not. */
#include "launcher/session/top_file.h"
#include "launcher/base/step_dir.h"
#include "launcher/command/top_print.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NODE                                                                   \
    "\"slots\":2,\"progress\":12.5,\"speed\":0.5,\"waiting\":0.25,"            \
    "\"skew\":0.01,\"misuse\":0,\"limit\":400000,\"floor\":1,\"ceiling\":"     \
    "800000"
#define HEAD                                                                   \
    "{\"kind\":\"step\",\"what\":\"\",\"pid\":1,\"job\":7,\"step\":1,"         \
    "\"skew\":0.02,\"meter\":\"\",\"aggregate\":\"min\","
#define STEP(nodes) HEAD "\"nodes\":[" nodes "]}"

static int read_json(struct top_step *step, const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    int rc = top_step_read(step, json);

    json_decref(json);
    return rc;
}

static void test_bad(void)
{
    static const struct {
        const char *what, *text;
    } rows[] = {
        {"nothing", ""},
        {"no object", "[1]"},
        {"no nodes",
         "{\"kind\":\"step\",\"what\":\"\",\"pid\":1,\"job\":1,\"step\":0,\"skew\":0}"},
        {"an empty list of nodes", STEP("")},
        {"nodes that are no list", HEAD "\"nodes\":7}"},
        {"a node without a name",
         STEP("{\"rack\":\"s1\",\"unit\":\"uW\"," NODE "}")},
        {"a name that plays tricks on a terminal",
         STEP("{\"name\":\"\\u001b[2J\",\"rack\":\"s1\",\"unit\":\"uW\"," NODE
              "}")},
        {"a name that ends a label",
         STEP("{\"name\":\"n\\\"}\",\"rack\":\"s1\",\"unit\":\"uW\"," NODE
              "}")},
        {"a unit that is too long",
         STEP("{\"name\":\"n\",\"rack\":\"s1\",\"unit\":"
              "\"aaaaaaaaaaaaaaaa\"," NODE "}")},
        {"an aggregate that is none",
         "{\"kind\":\"step\",\"what\":\"\",\"pid\":1,\"job\":7,\"step\":1,\"skew\":0,\"meter\":\"\",\"aggregate\":"
         "\"most\","
         "\"nodes\":[{\"name\":\"n\",\"rack\":\"s1\",\"unit\":\"uW\"," NODE
         "}]}"},
        {"a node without a rack",
         STEP("{\"name\":\"n\",\"unit\":\"uW\"," NODE "}")},
        {"a node without numbers",
         STEP("{\"name\":\"n\",\"rack\":\"s1\",\"unit\":\"\"}")},
        {"a negative number",
         "{\"kind\":\"step\",\"what\":\"\",\"pid\":1,\"job\":-1,\"step\":0,\"skew\":0,\"meter\":"
         "\"\",\"aggregate\":\"min\","
         "\"nodes\":[{\"name\":\"n\","
         "\"rack\":\"s1\",\"unit\":\"\"," NODE "}]}"},
        {"a job out of range",
         "{\"kind\":\"step\",\"what\":\"\",\"pid\":1,\"job\":4294967296,\"step\":0,\"skew\":0,\"meter\":\"\","
         "\"aggregate\":\"min\","
         "\"nodes\":[{\"name\":"
         "\"n\",\"rack\":\"s1\",\"unit\":\"\"," NODE "}]}"},
    };
    static const struct top_step none;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct top_step step;

        memset(&step, 1, sizeof step);
        ok(read_json(&step, rows[i].text) < 0
               && memcmp(&step, &none, sizeof step) == 0,
           "%s is refused, and nothing left", rows[i].what);
    }
}

#define OF(kind)                                                               \
    "{\"kind\":\"" kind "\",\"what\":\"pov.sh\",\"pid\":4711,\"job\":7,"       \
    "\"step\":1,\"skew\":0,\"meter\":\"\",\"aggregate\":\"min\",\"nodes\":["   \
    "],"
#define PROGRESS(all, left)                                                    \
    "\"progress\":{\"frame\":1,\"frames\":6,\"done\":1080,\"all\":" all ","    \
    "\"rate\":58.3,\"left\":" left ",\"elapsed\":18.5,\"planned\":-1,"         \
    "\"efficiency\":0.93,\"gain\":2.3},"
#define PART(name, state, more)                                                   \
    "{\"name\":\"" name "\",\"state\":\"" state "\",\"slots\":1,\"running\":"     \
    "1,\"part\":180,\"done\":97,\"underway\":0,\"total\":640,\"rate\":14.2," more \
    "}"
#define PARTS(parts) "\"parts\":[" parts "]}"
#define LEFT         "\"left\":5.8,\"waiting\":-1"

static void test_progress(void)
{
    static const char *const bad[] = {
        OF("run") PARTS(""),
        OF("run") PROGRESS("4320", "55.5") "\"parts\":7}",
        OF("run") PROGRESS("4320", "-2") PARTS(""),
        OF("run") PROGRESS("4320", "1,\"energy\":\"slurm\"") PARTS(""),
        OF("run") PROGRESS("4320", "1,\"energy\":\"slurm\",\"joules\":-1,"
                                   "\"watts\":2") PARTS(""),
        OF("run") PROGRESS("1e16", "1") PARTS(""),
        OF("run") PROGRESS("4320", "1,\"failed\":-1") PARTS(""),
        OF("run") PROGRESS("4320", "1,\"failed\":0,\"longest\":{\"task\":"
                                   "\"x\",\"node\":\"n0\"}") PARTS(""),
        OF("run") PROGRESS("4320", "1,\"failed\":0,\"longest\":{\"task\":"
                                   "\"x\",\"node\":\"a b\",\"seconds\":1}")
            PARTS(""),
        OF("dance") PROGRESS("4320", "55.5") PARTS(""),
        OF("step") PROGRESS("4320", "55.5") PARTS(""),
        OF("run") PROGRESS("4320", "55.5") PARTS(PART("n0", "asleep", LEFT)),
        OF("run") PROGRESS("4320", "55.5") PARTS(PART("n 0", "idle", LEFT)),
        OF("run") PROGRESS("4320", "55.5")
            PARTS(PART("n0", "idle", "\"left\":1")),
        OF("run") PROGRESS("4320", "55.5")
            PARTS(PART("n0", "idle", "\"left\":-3,\"waiting\":0")),
    };
    struct top_step step;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(read_json(&step, bad[i]) < 0 && !step.part && !step.node,
           "work that makes no sense is refused: %s", bad[i]);
    is_int(read_json(&step, OF("run") PROGRESS("4320", "-1")
                                PARTS(PART("n0", "leaving",
                                           LEFT) "," PART("n1", "lost", LEFT))),
           0, "a run that is not metered has parts, and no nodes");
    ok(step.kind == TOP_RUN && step.parts == 2 && step.n == 0
           && step.progress.left < 0 && step.pid == 4711
           && strcmp(step.what, "pov.sh") == 0,
       "what is not known is -1");
    ok(!step.progress.are_tasks && step.progress.failed < 0
           && step.progress.longest.seconds < 0,
       "nor are its units tasks");
    ok(step.part[0].state == TOP_LEAVING && step.part[1].state == TOP_LOST
           && step.part[0].total > 639,
       "its parts");
    top_step_clear(&step);
}

static struct steering_view no_view(const void *from, size_t i)
{
    (void)from;
    return (struct steering_view){
        .name = "n", .rack = "", .unit = "", .slots = (uint32_t)i};
}

/* Exactly, as each number is written with all its digits. */
static int is_same_progress(const struct top_progress *a,
                            const struct top_progress *b)
{
    const double of_a[] = {a->frame,      a->frames, a->done,    a->all,
                           a->rate,       a->left,   a->elapsed, a->planned,
                           a->efficiency, a->gain,   a->failed,  a->joules,
                           a->watts};
    const double of_b[] = {b->frame,      b->frames, b->done,    b->all,
                           b->rate,       b->left,   b->elapsed, b->planned,
                           b->efficiency, b->gain,   b->failed,  b->joules,
                           b->watts};

    return memcmp(of_a, of_b, sizeof of_a) == 0 && a->are_tasks == b->are_tasks
           && a->is_open == b->is_open && strcmp(a->energy, b->energy) == 0;
}

/* What a front end writes is what top reads. */
static void test_round(size_t nodes)
{
    const struct top_progress progress = {1,
                                          6,
                                          1080,
                                          4320,
                                          58.3,
                                          55.5,
                                          18.5,
                                          -1,
                                          -1,
                                          2.5,
                                          1,
                                          7,
                                          "slurm",
                                          80,
                                          4,
                                          1,
                                          {"c:4: \033[1m\n\xff", "n0", 7.5}};
    const struct top_part part[2] = {
        {"n0", TOP_BAD, IDLE_NOT, 2, 1, 180, 97, 20, 640, 14.25, 5.5, -1},
        {"n1", TOP_IDLE, IDLE_NO_ROOM, 2, 1, 180, 97, 0, 640, -1, -1, 2}};
    const struct top_view view = {.kind = TOP_RUN,
                                  .what = "/bin/a dog \"runs\"",
                                  .job = 4294967294,
                                  .meter = "",
                                  .n = nodes,
                                  .node = no_view,
                                  .part = part,
                                  .parts = 2,
                                  .progress = &progress,
                                  .has_saved = nodes > 0,
                                  .saved = -7.5};
    struct top_step *steps = NULL;
    char name[64];

    snprintf(name, sizeof name, "top-round-%d", (int)getpid());
    is_int(top_file_write(name, &view), 0, "a run is written");
    is_int((int)top_steps_find(&steps, 4294967294), 1, "and found");
    ok(steps[0].kind == TOP_RUN && steps[0].n == nodes && steps[0].parts == 2
           && is_same_progress(&steps[0].progress, &progress)
           && steps[0].part[0].state == TOP_BAD && steps[0].part[0].left > 5.4
           && steps[0].part[1].left < 0 && steps[0].part[0].why == IDLE_NOT
           && steps[0].part[1].why == IDLE_NO_ROOM
           && strcmp(steps[0].part[1].name, "n1") == 0,
       "as it is, with %zu nodes", nodes);
    is_str(steps[0].progress.longest.task, "c:4: ?[1m??",
           "the task that runs for longest, in characters that can be shown");
    ok(strcmp(steps[0].progress.longest.node, "n0") == 0
           && steps[0].progress.longest.seconds > 7.4,
       "and where, and for how long");
    is_int((int)steps[0].pid, (int)getpid(), "and who wrote it");
    ok(steps[0].has_saved == (nodes > 0)
           && (nodes == 0 || (steps[0].saved < -7 && steps[0].saved > -8)),
       "and what it saved, if that is known");
    is_str(steps[0].what, "a_dog__runs_", "what it runs, in plain letters");
    top_steps_free(steps, 1);
    step_dir_remove(name);
}

#define PLACE "\"rack\":\"\",\"unit\":\"\"," NODE
#define RANKS(n, useful, waiting, most, last)                                  \
    ",\"ranks\":{\"n\":" n ",\"useful\":" useful ",\"waiting\":" waiting       \
    ",\"most\":" most ",\"elapsed\":20,\"last\":" last "}"

static const char ranked[] = STEP("{\"name\":\"n0\"," PLACE RANKS(
    "2", "20", "20", "10", "1") "},"
                                "{\"name\":\"n1\"," PLACE RANKS(
                                    "2",
                                    "36",
                                    "4",
                                    "18",
                                    "99") "},"
                                          "{\"name\":\"n2\"," PLACE "}");

/* Ranks that are metered from outside. */
static void test_ranks(void)
{
    static const char *const bad[] = {
        STEP("{\"name\":\"n\"," PLACE RANKS("0", "1", "1", "1", "1") "}"),
        STEP("{\"name\":\"n\"," PLACE RANKS("2", "-1", "1", "1", "1") "}"),
        STEP("{\"name\":\"n\"," PLACE ",\"ranks\":[]}"),
        STEP("{\"name\":\"n\"," PLACE ",\"ranks\":{\"n\":1,\"useful\":1,"
             "\"waiting\":1,\"most\":1,\"elapsed\":1,\"last\":1,"
             "\"busy\":2,\"room\":1}}"),
        STEP("{\"name\":\"n\"," PLACE RANKS("5e9", "1", "1", "1", "1") "}"),
    };
    struct top_step step;
    char line[TOP_LINE];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(read_json(&step, bad[i]) < 0, "ranks that cannot be are refused");
    is_int(read_json(&step, ranked), 0,
           "nodes with and without ranks are read");
    top_step_line(line, &step);
    is_str(line, "step 7.1: 3 nodes, efficiency 0.70 (balance 0.78)",
           "its efficiency is told");
    step.node[1].ranks.room = 20;
    step.node[1].ranks.busy = 10;
    top_step_line(line, &step);
    is_str(line,
           "step 7.1: 3 nodes, efficiency 0.35 (balance 0.78, threads 0.50)",
           "and that of its threads, if their time is known");
    step.node[1].ranks.room = 0;
    ok(strlen(top_head(&step)) <= 80, "the heads fit a terminal");
    top_node_line(line, &step, &step.node[1]);
    is_str(line,
           "n1                  2  90.0%   10.0%       0.90    99   0.500  -",
           "and how the time of a node's ranks goes");
    top_node_line(line, &step, &step.node[2]);
    ok(strncmp(line, "n2                  0   0.0%", 28) == 0,
       "one without has none");
    free(step.node);
}

/* A node whose agent was lost: it does not look idle. */
static void test_lost(void)
{
    static const char lost[] = STEP("{\"name\":\"n0\"," PLACE RANKS(
        "2", "20", "20", "10",
        "1") "},"
             "{\"name\":\"n1\"," PLACE RANKS("2", "2", "0", "1",
                                             "9") ",\"lost\":12.3},"
                                                  "{\"name\":\"n2\"," PLACE
                                                  ",\"lost\":0}");
    struct top_step step;
    char line[TOP_LINE];

    ok(read_json(&step, STEP("{\"name\":\"n\"," PLACE ",\"lost\":\"x\"}")) < 0,
       "a time that is none is refused");
    is_int(read_json(&step, lost), 0, "lost nodes are read");
    top_step_line(line, &step);
    is_str(line, "step 7.1: 3 nodes (2 lost), efficiency 0.50 (balance 1.00)",
           "they are counted, and not part of how all do");
    top_node_line(line, &step, &step.node[1]);
    ok(strstr(line, " 0.500  lost after 12.3 s") != NULL, "marked: %s", line);
    step.node[0].is_lost = 1;
    top_step_line(line, &step);
    ok(strstr(line, "3 nodes (3 lost), efficiency 0.28"), "unless all are: %s",
       line);
    free(step.node);
}

static const char sound[] = STEP(
    "{\"name\":\"n10\",\"rack\":\"s1\",\"unit\":\"us/s\"," NODE "},"
    "{\"name\":\"n9\",\"rack\":\"s1\",\"unit\":\"\",\"slots\":0,\"progress\":3,"
    "\"speed\":0.25,\"waiting\":0,\"skew\":0,\"misuse\":5,\"limit\":0,"
    "\"floor\":0,\"ceiling\":0}");

/* What was saved is of the step. */
static void test_saved(void)
{
#define SAVED(joules)                                                          \
    HEAD "\"joules_saved\":" joules ",\"nodes\":[{\"name\":\"n0\"," PLACE "}]}"
    struct top_step step;
    char line[TOP_LINE];

    ok(read_json(&step, SAVED("\"8\"")) < 0
           && read_json(&step, SAVED("[]")) < 0,
       "a saving that is no number is refused");
    is_int(read_json(&step, SAVED("8120")), 0, "one that is");
    top_step_line(line, &step);
    is_str(line, "step 7.1: 1 nodes, skew 0.020000, 8.12 kJ saved", "is told");
    top_step_clear(&step);
    is_int(read_json(&step, SAVED("-50.5")), 0, "it may be below 0");
    top_step_line(line, &step);
    ok(strstr(line, ", -0.0505 kJ saved") != NULL, "and is told so: %s", line);
    top_step_clear(&step);
    is_int(read_json(&step, STEP("{\"name\":\"n0\"," PLACE "}")), 0, "none");
    top_step_line(line, &step);
    ok(!step.has_saved && !strstr(line, "saved"), "is not told");
    top_step_clear(&step);
}

/* The program, for how long, and why its ranks wait. */
static void test_reason(void)
{
#define BEGUN(seconds)                                                         \
    HEAD "\"seconds\":" seconds ",\"reason\":\"n1 came last\\u001b\","         \
         "\"nodes\":[{\"name\":\"n0\"," PLACE "}]}"
    struct top_step step;
    char line[TOP_LINE];

    ok(read_json(&step, BEGUN("\"x\"")) < 0, "a time that is none is refused");
    is_int(read_json(&step, BEGUN("12.4")), 0, "a step with a reason is read");
    is_str(step.reason, "n1 came last?", "of which every character is plain");
    strcpy(step.what, "app");
    top_step_line(line, &step);
    is_str(line, "step 7.1 app: 1 nodes, 12 s so far, skew 0.020000",
           "its line has the program and the time");
    top_step_clear(&step);
}

/* A skew of 300 digits, as a file may say it. */
static void test_long_line(void)
{
    struct {
        char line[TOP_LINE], behind[TOP_LINE * 4];
    } text;
    struct top_step step = {.skew = 1e300, .meter = "cpu"};
    size_t touched = 0;

    memset(&text, 7, sizeof text);
    top_step_line(text.line, &step);
    for (size_t i = 0; i < sizeof text.behind; i++)
        touched += text.behind[i] != 7;
    is_int((int)strnlen(text.line, TOP_LINE), TOP_LINE - 1,
           "a line that is too long is cut");
    is_int((int)touched, 0, "and nothing is written behind it");
}

static void test_lines(void)
{
    struct top_group *rack, all;
    struct top_step step;
    char line[TOP_LINE];

    is_int(read_json(&step, sound), 0, "a sound step is read");
    top_step_line(line, &step);
    is_str(line, "step 7.1: 2 nodes, skew 0.020000", "its line");
    strcpy(step.meter, "cpu");
    top_step_line(line, &step);
    is_str(line, "step 7.1: 2 nodes, skew 0.020000, metered by cpu (a proxy)",
           "and with a meter that is a proxy");
    (void)top_groups_find(&step, &rack, &all);
    top_group_line(line, &rack[0], TOP_LINE);
    is_str(line, "rack s1: speed/s of 2: min 0.250 mean 0.375 median 0.375",
           "that of a rack");
    top_group_line(line, &rack[0], 50);
    is_str(line, "rack s1: speed/s of 2: min 0.250 mean 0.375",
           "on a terminal that which fits");
    free(rack);
    top_group_line(line, &(struct top_group){.rack = ""}, 80);
    is_str(line, "all: no speed is known yet", "and before anything is known");
    top_sort(&step, TOP_BY_NAME);
    is_str(step.node[0].name, "n9", "9 comes before 10");
    top_node_line(line, &step, &step.node[0]);
    ok(strstr(line, " ########## ") && strstr(line, " -  -"),
       "a region that is done is a whole bar; no limit is none");
    top_node_line(line, &step, &step.node[1]);
    ok(strstr(line, " #####..... ") && strstr(line, "25.0%")
           && strstr(line, "40.0% CPU"),
       "half a region is half a bar; a limit is told as people do");
    top_sort(&step, TOP_BY_WAITING);
    is_str(step.node[0].name, "n10", "who waits most first");
    top_sort(&step, TOP_BY_SPEED);
    is_str(step.node[0].name, "n9", "who is slowest first");
    top_sort(&step, TOP_BY_LIMIT);
    is_str(step.node[0].name, "n10", "who may have most first");
    top_steps_free(NULL, 0);
    free(step.node);
}

/* A front end that was killed has left its file. */
static void test_stale(void)
{
    static const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    struct top_step *steps;
    char name[64], path[STEP_PATH_MAX];
    size_t there;

    snprintf(name, sizeof name, "top-file-%d", (int)getpid());
    if (step_dir_put(name, TOP_FILE, sound, strlen(sound)) != 0
        || step_dir_path(path, name, TOP_FILE) < 0)
        bail("no step directory");
    there = top_steps_find(&steps, 7);
    top_steps_free(steps, there);
    ok(there >= 1, "a step that has just been written is found");
    if (utimensat(AT_FDCWD, path, old, 0) < 0)
        bail("%s", path);
    is_int((int)(there - top_steps_find(&steps, 7)), 1,
           "one that is not written any more is not");
    top_steps_free(steps, there - 1);
    step_dir_remove(name);
}

/* Only the process that has written it can say so. */
static void test_dead(void)
{
    const struct top_progress none = {.left = -1};
    const struct top_view view = {
        .kind = TOP_GRAPH, .meter = "", .job = 4294967293, .progress = &none};
    struct top_step *steps;
    char name[64], path[STEP_PATH_MAX];
    pid_t child = fork();

    if (child == 0) {
        snprintf(name, sizeof name, "run-%d", (int)getpid());
        _exit(top_file_write(name, &view) != 0);
    }
    snprintf(name, sizeof name, "run-%d", (int)child);
    if (child < 0 || waitpid(child, NULL, 0) < 0)
        bail("no child");
    is_int((int)top_steps_find(&steps, 4294967293), 0,
           "what a dead process has written is not found");
    top_steps_free(steps, 0);
    ok(step_dir_path(path, name, TOP_FILE) < 0, "and is removed");
}

int main(void)
{
    test_bad();
    test_progress();
    test_round(0);
    test_round(3);
    test_lines();
    test_ranks();
    test_lost();
    test_saved();
    test_reason();
    test_long_line();
    test_dead();
    test_stale();
    return done();
}
