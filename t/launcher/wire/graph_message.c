/* SPDX-License-Identifier: BSD-2-Clause */
/* Every message of a task graph: there and back, each prefix, and lies. */
#include "launcher/wire/graph_message.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static struct writer w;

/* Every proper prefix is refused, and so is a byte too many. */
#define REFUSED(read, m)                                                       \
    do {                                                                       \
        int bad_ = 0;                                                          \
        uint8_t *long_ = calloc(1, w.len + 1);                                 \
        memcpy(long_, w.buf, w.len);                                           \
        for (size_t len_ = 0; len_ <= w.len + 1; len_++) {                     \
            uint8_t *copy_ = malloc(len_ + 1);                                 \
            memcpy(copy_, long_, len_ <= w.len ? len_ : w.len + 1);            \
            if (len_ != w.len)                                                 \
                bad_ += read(&m, copy_, len_) == 0;                            \
            free(copy_);                                                       \
        }                                                                      \
        free(long_);                                                           \
        is_int(bad_, 0, #read ": no prefix, and no byte more");                \
    } while (0)

static void again(void)
{
    writer_clear(&w);
    memset(&w, 0, sizeof w);
}

static void test_names(void)
{
    static const char *const good[] = {"a",       "a/b", ".a",  "..a",
                                       "a.b/c d", "...", "a/.b"};
    static const char *const bad[] = {"",     "/",     "/a",    "a/",
                                      "a//b", ".",     "..",    "a/..",
                                      "../a", "a/./b", "a/../b"};
    char name[GRAPH_NAME_MAX + 1];
    int n = 0;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        n += graph_name_is_good(good[i]);
    is_int(n, (int)(sizeof good / sizeof good[0]), "names that are good");
    n = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        n += graph_name_is_good(bad[i]);
    is_int(n, 0, "names that lead elsewhere, or nowhere");
    memset(name, 'x', sizeof name);
    for (size_t i = 100; i < sizeof name; i += 100)
        name[i] = '/';
    name[GRAPH_NAME_MAX] = '\0';
    ok(!graph_name_is_good(name), "a name that is too long");
    name[GRAPH_NAME_MAX - 1] = '\0';
    ok(graph_name_is_good(name), "the longest");
    memset(name, 'x', 256);
    name[256] = '\0';
    ok(!graph_name_is_good(name), "a part over 255 bytes");
}

static void test_open(void)
{
    static struct graph_open m, got;
    const struct graph_open good = {
        .folder = "/tmp", .run = "abc", .port = 65535, .keep = 1};

    m = good;
    graph_write_open(&w, &m);
    ok(graph_read_open(&got, w.buf, w.len) == 0
           && memcmp(&got, &m, sizeof m) == 0,
       "OPEN comes as it was");
    REFUSED(graph_read_open, got);
    for (int i = 0; i < 6; i++) {
        static const char *const what[] = {
            "a folder that is not whole", "a run with a slash",
            "a run without a name",       "port 0",
            "a port above 65535",         "a keep of 2"};

        m = good;
        strcpy(m.folder, i == 0 ? "tmp" : "/tmp");
        strcpy(m.run, i == 1 ? "a/b" : i == 2 ? "" : "abc");
        m.port = i == 3 ? 0 : i == 4 ? 65536 : 1;
        m.keep = i == 5 ? 2 : 0;
        again();
        graph_write_open(&w, &m);
        ok(graph_read_open(&got, w.buf, w.len) < 0 && !got.folder[0],
           "OPEN with %s is refused", what[i]);
    }
    again();
}

static void test_opened(void)
{
    struct exchange_file file[] = {{1, 0644, 5, {{7, [31] = 9}}},
                                   {UINT32_MAX, 0, INT64_MAX, {{0}}}};
    struct graph_opened m = {
        .cores = 2, .why = "no", .file = file, .files = 2, .memory = 1u << 30};
    struct exchange_file no_mode = {.number = 1, .mode = 010000},
                         huge = {.number = 1, .bytes = UINT64_MAX};
    struct graph_opened got;

    graph_write_opened(&w, &m);
    ok(graph_read_opened(&got, w.buf, w.len) == 0 && got.cores == 2
           && strcmp(got.why, "no") == 0 && got.files == 2
           && memcmp(got.file, file, sizeof file) == 0,
       "OPENED comes as it was");
    free(got.room);
    REFUSED(graph_read_opened, got);
    again();
    m.file = &no_mode;
    m.files = 1;
    graph_write_opened(&w, &m);
    ok(graph_read_opened(&got, w.buf, w.len) < 0 && !got.room,
       "a mode that is none is refused");
    again();
    m.file = &huge;
    graph_write_opened(&w, &m);
    ok(graph_read_opened(&got, w.buf, w.len) < 0, "so is a size beyond 2^63");
    again();
    m = (struct graph_opened){.cores = 0};
    graph_write_opened(&w, &m);
    ok(graph_read_opened(&got, w.buf, w.len) < 0, "and no core");
    again();
}

static int same_task(const struct graph_task *a, const struct graph_task *b)
{
    int same = a->id == b->id && a->core == b->core && a->order == b->order
               && a->makes == b->makes && strcmp(a->name, b->name) == 0
               && a->tokens == b->tokens && a->inputs == b->inputs
               && a->outputs == b->outputs;
    uint32_t i;

    for (i = 0; same && a->argv[i]; i++)
        same = b->argv[i] && strcmp(a->argv[i], b->argv[i]) == 0;
    same = same && !b->argv[i];
    for (i = 0; same && i < a->tokens; i++)
        same = a->token[i] == b->token[i];
    for (i = 0; same && i < a->inputs; i++)
        same = a->input[i].number == b->input[i].number
               && strcmp(a->input[i].name, b->input[i].name) == 0;
    for (i = 0; same && i < a->outputs; i++)
        same = a->output[i].number == b->output[i].number
               && strcmp(a->output[i].name, b->output[i].name) == 0;
    return same;
}

static void test_task(void)
{
    static char sh[] = "sh", none[] = "", one[] = "in/one", two[] = "b",
                up[] = "../one";
    char *argv[] = {sh, none, two, NULL}, *nothing[] = {NULL};
    uint32_t token[] = {0, 7, UINT32_MAX};
    struct graph_named in[] = {{1, one}, {2, two}}, out[] = {{3, two}};
    struct graph_named nameless[] = {{1, none}}, outside[] = {{1, up}};
    struct graph_task m = {.id = 9,
                           .cores = 2,
                           .of = 4,
                           .core = 1,
                           .order = 4,
                           .makes = 8,
                           .name = "a b",
                           .argv = argv,
                           .token = token,
                           .tokens = 3,
                           .input = in,
                           .inputs = 2,
                           .output = out,
                           .outputs = 1};
    struct graph_task got;

    graph_write_task(&w, &m);
    ok(graph_read_task(&got, w.buf, w.len) == 0 && same_task(&m, &got),
       "TASK comes as it was");
    free(got.room);
    REFUSED(graph_read_task, got);
    again();
    m.input = nameless;
    m.inputs = 1;
    graph_write_task(&w, &m);
    ok(graph_read_task(&got, w.buf, w.len) < 0 && !got.room,
       "an input without a name is refused");
    again();
    m.input = outside;
    graph_write_task(&w, &m);
    ok(graph_read_task(&got, w.buf, w.len) < 0, "so is one that leads out");
    again();
    m.input = in;
    m.argv = nothing;
    graph_write_task(&w, &m);
    ok(graph_read_task(&got, w.buf, w.len) < 0, "and a command of no words");
    again();
    m = (struct graph_task){.argv = argv, .cores = 1};
    graph_write_task(&w, &m);
    ok(graph_read_task(&got, w.buf, w.len) == 0 && same_task(&m, &got),
       "a task of nothing but a command");
    free(got.room);
    again();
}

static void test_others(void)
{
    struct exchange_file file[] = {{1, 0644, 5, {{3}}}};
    struct graph_bring bring = {.token = 1, .from = 2, .is_file = 1}, got_bring;
    struct graph_brought brought = {
        .token = 1, .from = FRONT_END, .elapsed_ns = 5, .why = "x"};
    struct graph_brought got_brought;
    struct graph_done done_ = {.id = 3,
                               .status = 255,
                               .signal = 9,
                               .exec_errno = 2,
                               .elapsed_ns = 77,
                               .missing = "m",
                               .out = (const uint8_t *)"out",
                               .out_len = 3,
                               .err = (const uint8_t *)"er",
                               .err_len = 2,
                               .file = file,
                               .files = 1};
    struct graph_done got_done;
    uint32_t id;

    bring.file = file[0];
    graph_write_bring(&w, &bring);
    ok(graph_read_bring(&got_bring, w.buf, w.len) == 0 && got_bring.token == 1
           && got_bring.from == 2 && got_bring.is_file == 1
           && memcmp(&got_bring.file, file, sizeof file) == 0,
       "BRING comes as it was");
    REFUSED(graph_read_bring, got_bring);
    again();
    bring.is_file = 2;
    graph_write_bring(&w, &bring);
    ok(graph_read_bring(&got_bring, w.buf, w.len) < 0,
       "half a file is refused");
    again();

    graph_write_brought(&w, &brought);
    ok(graph_read_brought(&got_brought, w.buf, w.len) == 0
           && got_brought.token == 1 && got_brought.from == FRONT_END
           && got_brought.elapsed_ns == 5 && strcmp(got_brought.why, "x") == 0,
       "BROUGHT comes as it was");
    REFUSED(graph_read_brought, got_brought);
    again();
    brought.elapsed_ns = UINT64_MAX;
    graph_write_brought(&w, &brought);
    ok(graph_read_brought(&got_brought, w.buf, w.len) < 0,
       "a time beyond 2^63 is refused");
    again();

    graph_write_done(&w, &done_);
    ok(graph_read_done(&got_done, w.buf, w.len) == 0 && got_done.id == 3
           && got_done.status == 255 && got_done.elapsed_ns == 77
           && strcmp(got_done.missing, "m") == 0 && got_done.out_len == 3
           && memcmp(got_done.err, "er", 2) == 0 && got_done.files == 1
           && got_done.file[0].bytes == 5,
       "DONE comes as it was");
    free(got_done.room);
    REFUSED(graph_read_done, got_done);
    again();
    done_.status = 256;
    graph_write_done(&w, &done_);
    ok(graph_read_done(&got_done, w.buf, w.len) < 0,
       "a status of 256 is refused");
    again();

    graph_write_drop(&w, 4);
    ok(graph_read_drop(&id, w.buf, w.len) == 0 && id == 4, "DROP");
    REFUSED(graph_read_drop, id);
    again();
}

int main(void)
{
    test_names();
    test_open();
    test_opened();
    test_task();
    test_others();
    return done();
}
