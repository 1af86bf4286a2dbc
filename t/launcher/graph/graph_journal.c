/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a journal of a task graph says is heard, and nothing that cannot be;
 * after a crash at any byte a run goes on with what was done.
 */
#include "launcher/graph/graph_journal.h"
#include "tree.h"

#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define RUN "0123456789abcdef"
#define ONE                                                                    \
    "[3,\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"]"
#define MADE "\"outputs\":[" ONE "]"

static struct graph_file graph;
static struct graph_work work;
static const struct graph_input inputs[1]; /* of one file */
static char log_path[600];

struct heard {
    int done, delivered;
    double seconds;
    uint64_t bytes;
};

static void on_done(void *arg,
                    uint32_t task,
                    double seconds,
                    const struct exchange_file made[])
{
    struct heard *h = arg;

    h->bytes = made[0].bytes;
    h->done += task < work.tasks;
    h->seconds = seconds;
}

static void on_delivered(void *arg,
                         uint32_t file,
                         const struct exchange_file *made)
{
    struct heard *h = arg;

    h->bytes = made->bytes;
    h->delivered += file < work.files;
}

static void make_graph(const char *text)
{
    static const struct graph_reading how = {.rate = 1e6, .ccr = 1};
    struct es_error err;

    tree_put("graph.json", text);
    if (graph_file_read(&graph, tree_path("graph.json"), &how, &err) < 0
        || graph_work_read(&work, tree_path("graph.json"), &graph, &err) < 0)
        bail("%s", err.what);
}

static int open_journal(struct heard *h, int resume, char run[GRAPH_RUN_NAME])
{
    const struct graph_journal_events on = {on_done, on_delivered, h};
    struct graph_journal j;
    int rc =
        graph_journal_open(&j, log_path, resume, &work, inputs, run, &on, NULL);

    graph_journal_close(&j);
    return rc;
}

/* What is heard of one line, of which the sum is right, behind the head. */
static struct heard hear(const char *line)
{
    size_t len = strlen(line) - 1;
    struct heard h = {0};
    char run[GRAPH_RUN_NAME] = RUN;
    FILE *file;

    (void)remove(log_path);
    if (open_journal(&h, 0, run) < 0)
        bail("no journal");
    file = fopen(log_path, "a");
    if (!file || fwrite(line, 1, len, file) != len
        || fprintf(file, ",\"sum\":\"%016jx\"}\n",
                   (uintmax_t)XXH3_64bits(line, len))
               < 0
        || fclose(file) != 0)
        bail("%s: %s", log_path, strerror(errno));
    strcpy(run, "f");
    if (open_journal(&h, 1, run) < 0 || strcmp(run, RUN) != 0)
        bail("it is not gone on with");
    return h;
}

static void test_unknown(void)
{
#define DONE  "{\"type\":\"done\",\"task\":\"a\",\"seconds\":1.5"
#define HEX8  "00112233"
#define HEX64 HEX8 HEX8 HEX8 HEX8 HEX8 HEX8 HEX8 HEX8
    static const struct {
        const char *line, *what;
    } rows[] = {
        {"{\"type\":\"done\",\"task\":\"a\"," MADE "}", "how long it took"},
        {"{\"type\":\"done\",\"task\":\"a\",\"seconds\":\"1\"," MADE "}",
         "that in a number"},
        {DONE "}", "what it has made"},
        {DONE ",\"outputs\":[]}", "all that it has made"},
        {DONE ",\"outputs\":[" ONE "," ONE "]}", "no more than that"},
        {DONE ",\"outputs\":[null]}", "what the file is"},
        {DONE ",\"outputs\":[[3]]}", "its digest"},
        {DONE ",\"outputs\":[[3,7]]}", "that in text"},
        {DONE ",\"outputs\":[[3,\"" HEX8 "\"]]}", "all of it"},
        {DONE ",\"outputs\":[[-3,\"" HEX64 "\"]]}", "a size that can be"},
        {DONE ",\"outputs\":[[\"3\",\"" HEX64 "\"]]}", "that in a number"},
        {"{\"type\":\"delivered\",\"made\":" ONE "}", "which was delivered"},
        {"{\"type\":\"delivered\",\"file\":\"q\",\"made\":" ONE "}",
         "one of its files"},
        {"{\"type\":\"delivered\",\"file\":\"r\"}", "what that was"},
        {"{\"type\":\"done\"," MADE "}", "which task it was"},
        {"{\"type\":\"other\"}", "what it is"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct heard h = hear(rows[i].line);

        ok(h.done == 0 && h.delivered == 0, "a line must say %s", rows[i].what);
    }
}

/* --- a run that crashes --------------------------------------------------- */

#define TASKS 3

/* Three tasks in a row: in -> r0 -> r1 -> r2. */
static const char chain[] =
    "{\"tasks\":["
    "{\"id\":\"t0\",\"time\":1,\"command\":\"x\",\"inputs\":[\"in\"],"
    "\"outputs\":[\"r0\"]},"
    "{\"id\":\"t1\",\"time\":1,\"command\":\"x\",\"inputs\":[\"r0\"],"
    "\"outputs\":[\"r1\"]},"
    "{\"id\":\"t2\",\"time\":1,\"command\":\"x\",\"inputs\":[\"r1\"],"
    "\"outputs\":[\"r2\"]}],"
    "\"edges\":[{\"from\":\"t0\",\"to\":\"t1\",\"comm\":1},"
    "{\"from\":\"t1\",\"to\":\"t2\",\"comm\":1}]}";

static struct graph_input chain_input[8];

static struct exchange_file result_of(uint32_t task)
{
    struct exchange_file f = {.bytes = 1000 + task};

    memset(f.digest.byte, 0xa0 + (int)task, sizeof f.digest.byte);
    return f;
}

/* What a journal says, and whether it is all that was said to it. */
struct told {
    unsigned done; /* bit t: of task t */
    int delivered, wrong;
};

static int is_result(const struct exchange_file *made, uint32_t task)
{
    const struct exchange_file want = result_of(task);

    return made->bytes == want.bytes
           && memcmp(&made->digest, &want.digest, sizeof want.digest) == 0;
}

static void on_chain_done(void *arg,
                          uint32_t task,
                          double seconds,
                          const struct exchange_file made[])
{
    struct told *t = arg;

    t->wrong += (t->done >> task & 1) || fabs(seconds - task - 0.5) > 1e-9
                || !is_result(&made[0], task);
    t->done |= 1u << task;
}

static void on_chain_delivered(void *arg,
                               uint32_t file,
                               const struct exchange_file *made)
{
    struct told *t = arg;

    t->wrong += strcmp(work.file[file].name, "r2") != 0 || !is_result(made, 2);
    t->delivered++;
}

static int open_chain(struct graph_journal *j,
                      struct told *t,
                      int resume,
                      struct es_error *err)
{
    const struct graph_journal_events on = {on_chain_done, on_chain_delivered,
                                            t};
    char run[GRAPH_RUN_NAME] = RUN;
    int rc;

    *err = (struct es_error){0};
    rc = graph_journal_open(j, log_path, resume, &work, chain_input, run, &on,
                            err);
    return rc == 0 && strcmp(run, RUN) != 0 ? -2 : rc;
}

static uint32_t file_of(const char *name)
{
    for (uint32_t i = 0; i < work.files; i++)
        if (strcmp(work.file[i].name, name) == 0)
            return i;
    bail("no file %s", name);
}

static long log_size(void)
{
    struct stat st;

    if (stat(log_path, &st) < 0)
        bail("%s: %s", log_path, strerror(errno));
    return (long)st.st_size;
}

/* Do tasks from `first` on and deliver the last result; *end gets the size of
 * the journal after each line. */
static int do_tasks(struct graph_journal *j,
                    uint32_t first,
                    long end[TASKS + 1])
{
    struct exchange_file made;
    struct es_error err;
    int bad = 0;

    for (uint32_t i = first; i < TASKS; i++) {
        made = result_of(i);
        bad |= graph_journal_done(j, &work, i, i + 0.5, &made, &err);
        end[i] = log_size();
    }
    made = result_of(TASKS - 1);
    bad |= graph_journal_delivered(j, &work, file_of("r2"), &made, &err);
    end[TASKS] = log_size();
    return bad;
}

/* Cut the journal off there: does a run go on with just what was done? */
static int goes_on(long left, const long end[TASKS + 1])
{
    struct told t = {0};
    struct graph_journal j;
    struct es_error err;
    long again[TASKS + 1];
    uint32_t n = 0;
    int bad;

    while (n < TASKS && end[n] <= left)
        n++;
    if (truncate(log_path, (off_t)left) < 0 || open_chain(&j, &t, 1, &err) < 0)
        bail("%s", err.what);
    bad = t.wrong || t.done != (1u << n) - 1
          || t.delivered != (left >= end[TASKS]);
    if (!t.delivered)
        bad |= do_tasks(&j, n, again);
    graph_journal_close(&j);
    t = (struct told){0};
    bad |= open_chain(&j, &t, 1, &err) < 0 || t.wrong || t.done != 7
           || t.delivered != 1 || log_size() != end[TASKS];
    graph_journal_close(&j);
    return !bad;
}

static void test_crash(void)
{
    struct told t = {0};
    struct graph_journal j;
    struct es_error err;
    long end[TASKS + 1], head, wrong = 0;

    (void)remove(log_path);
    if (open_chain(&j, &t, 0, &err) < 0)
        bail("%s", err.what);
    head = log_size();
    is_int(do_tasks(&j, 0, end), 0, "what is done is kept");
    graph_journal_close(&j);
    tree_quiet(1);
    for (long left = end[TASKS]; left >= head; left--)
        wrong += !goes_on(left, end);
    tree_quiet(0);
    is_int(wrong, 0,
           "after a crash at any byte a run goes on with the tasks whose line "
           "is whole, their sizes and digests");
}

static int resumes(void)
{
    struct told t = {0};
    struct graph_journal j;
    struct es_error err;
    int rc = open_chain(&j, &t, 1, &err);

    graph_journal_close(&j);
    return rc < 0 && err.kind != ES_USAGE ? -2 : rc;
}

static void test_whose(void)
{
    struct graph_input *in = &chain_input[file_of("in")];
    char *name = work.task[1].argv[0], first = name[0];

    is_int(resumes(), 0, "the same graph with the same inputs may go on");
    in->bytes++;
    is_int(resumes(), -1, "an input of another size may not");
    in->bytes--;
    in->mtime_ns++;
    is_int(resumes(), -1, "nor one of another time");
    in->mtime_ns--;
    name[0] = '?';
    is_int(resumes(), -1, "nor a task with another command");
    name[0] = first;
    is_int(resumes(), 0, "all these leave the journal as it is");
}

static void test_none(void)
{
    const struct graph_journal_events on = {NULL, NULL, NULL};
    struct exchange_file made = result_of(0);
    struct graph_journal j;
    struct es_error err;
    char run[GRAPH_RUN_NAME] = RUN;

    ok(graph_journal_open(&j, NULL, 0, &work, chain_input, run, &on, &err) == 0
           && graph_journal_done(&j, &work, 0, 1, &made, &err) == 0
           && graph_journal_delivered(&j, &work, 0, &made, &err) == 0,
       "without a journal nothing is kept, and nothing fails");
    graph_journal_close(&j);
}

int main(void)
{
    struct heard h;

    tree_make();
    snprintf(log_path, sizeof log_path, "%s", tree_path("journal"));
    make_graph("{\"tasks\":[{\"id\":\"a\",\"time\":1,\"command\":\"x\","
               "\"outputs\":[\"r\"]}],\"edges\":[]}");
    h = hear("{\"type\":\"done\",\"task\":\"a\",\"seconds\":1.5," MADE "}");
    ok(h.done == 1 && h.seconds > 1.4 && h.seconds < 1.6 && h.bytes == 3,
       "a task that is done is heard of");
    h = hear("{\"type\":\"delivered\",\"file\":\"r\",\"made\":" ONE "}");
    ok(h.delivered == 1 && h.bytes == 3, "a result that was delivered, too");
    h = hear("{\"type\":\"done\",\"task\":\"b\",\"seconds\":1.5," MADE "}");
    is_int(h.done, 0, "a task that there is not, is not");
    h = hear("{\"type\":\"done\",\"task\":\"a\",\"seconds\":-1," MADE "}");
    is_int(h.done, 0, "nor one that took less than no time");
    test_unknown();
    graph_work_clear(&work);
    graph_file_clear(&graph);
    make_graph(chain);
    chain_input[file_of("in")] = (struct graph_input){77, 123456789};
    test_crash();
    test_whose();
    test_none();
    graph_work_clear(&work);
    graph_file_clear(&graph);
    tree_remove();
    return done();
}
