/* SPDX-License-Identifier: BSD-2-Clause */
/* What is executed for a slice: which command, with which words and environment. */
#include "launcher/agent/slice_spec.h"
#include "fault.h"
#include "launcher/agent/places.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static char app[] = "./app", from[] = "{begin}", on[] = "{node}:{slot}";
static char tool[] = "tool", to[] = "{end}";
static char *command[] = {app, from, on, NULL}, *work[] = {tool, to, NULL};
static char path[] = "PATH=/bin", rank_of_old[] = "EVENSTEP_RANK=9";
static char *own[] = {path, rank_of_old, NULL};
static char gpu[] = "CUDA_VISIBLE_DEVICES=3";

static struct slot_common common;
static struct slot_owner self;
static struct execution_spec spec;
static struct es_error err;

/* A node whose front end has said what its slices run. */
static void begin(void)
{
    common = (struct slot_common){
        .node = "n7", .environ = own, .command = {.dir = "/work"}};
    common.command.argv = command;
    strcpy(common.work[0].name, "pack");
    common.work[0].argv = work;
    common.works = 1;
    self = (struct slot_owner){.common = &common, .number = 2};
}

static const char *value(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; spec.envp[i]; i++)
        if (strncmp(spec.envp[i], name, len) == 0 && spec.envp[i][len] == '=')
            return spec.envp[i] + len + 1;
    return "";
}

static int fill(const struct msg_run *run)
{
    memset(&spec, 0, sizeof spec);
    memset(&err, 0, sizeof err);
    return slice_spec_fill(&spec, &self, run, &err);
}

static void test_known(void)
{
    const struct msg_run plain = {.id = 1}, packs = {.work = "pack"},
                         other = {.work = "sort"};

    begin();
    ok(slice_spec_is_known(&common, &plain)
           && slice_spec_is_known(&common, &packs),
       "the command, and that of a type of work, are known");
    ok(!slice_spec_is_known(&common, &other), "that of another type is not");
    common.command.argv = NULL;
    ok(!slice_spec_is_known(&common, &plain)
           && !slice_spec_is_known(&common, &packs),
       "nothing is before the command has come");
}

static void test_words(void)
{
    const struct msg_run run = {.begin = 10, .end = 20, .slot = 2},
                         packs = {.begin = 10, .end = 20, .work = "pack"};

    begin();
    ok(fill(&run) == 0 && strcmp(spec.argv[0], "./app") == 0
           && strcmp(spec.argv[1], "10") == 0
           && strcmp(spec.argv[2], "n7:2") == 0 && !spec.argv[3],
       "the words are those of the slice, its node and its slot");
    ok(strcmp(value("EVENSTEP_BEGIN"), "10") == 0
           && strcmp(value("EVENSTEP_SLOT"), "2") == 0
           && strcmp(value("PATH"), "/bin") == 0,
       "so is the environment, with the agent's");
    is_str(spec.dir, "/work", "it runs in the command's folder");
    slice_spec_clear(&spec);
    ok(fill(&packs) == 0 && strcmp(spec.argv[0], "tool") == 0
           && strcmp(spec.argv[1], "20") == 0 && !spec.argv[2],
       "another type of work has other words");
    slice_spec_clear(&spec);
    common.command.dir[0] = '\0';
    ok(fill(&run) == 0 && !spec.dir, "without a folder it runs where we are");
    slice_spec_clear(&spec);
}

static void test_place(void)
{
    const struct place place = {.cpus = CPU_ALLOC(PLACE_CPUS),
                                .environ = {gpu}};
    const struct msg_run run = {.slot = 2};

    begin();
    ok(fill(&run) == 0 && !spec.cpus && !*value("CUDA_VISIBLE_DEVICES"),
       "without a place of its own a slot has all of the node");
    slice_spec_clear(&spec);
    self.place = &place;
    ok(fill(&run) == 0 && spec.cpus == place.cpus
           && spec.cpus_bytes == CPU_ALLOC_SIZE(PLACE_CPUS)
           && strcmp(value("CUDA_VISIBLE_DEVICES"), "3") == 0,
       "with one it has these CPUs and that GPU");
    slice_spec_clear(&spec);
    CPU_FREE(place.cpus);
}

static void test_brought(void)
{
    const struct msg_run run = {.slot = 2}, packs = {.work = "pack"};

    begin();
    strcpy(common.command.program, "/tmp/{node}/app");
    strcpy(common.command.libs, "/tmp/libs");
    ok(fill(&run) == 0 && strcmp(spec.argv[0], "/tmp/n7/app") == 0
           && strcmp(value("LD_LIBRARY_PATH"), "/tmp/libs") == 0,
       "a program that was brought runs where it is, with its libraries");
    slice_spec_clear(&spec);
    ok(fill(&packs) == 0 && strcmp(spec.argv[0], "tool") == 0
           && strcmp(value("LD_LIBRARY_PATH"), "/tmp/libs") == 0,
       "another type of work has its libraries, too, but its own program");
    slice_spec_clear(&spec);
    memset(common.command.program, 'x', DESTINATION_MAX - 1);
    memcpy(common.command.program, "/{node}", 7);
    common.node = "a-long-name";
    ok(fill(&run) == -1 && err.kind == ES_WORK
           && strstr(err.what, "gets too long on this node"),
       "a path that gets too long here is said: %s", err.what);
    slice_spec_clear(&spec);
}

static void test_rank(void)
{
    const struct msg_measured all = {.rank = 3, .ranks = 8}, none = {.rank = 0};
    const struct msg_run run = {.slot = 2};

    begin();
    ok(fill(&run) == 0 && slice_spec_rank(&spec, &none, &err) == 0
           && strcmp(value("EVENSTEP_RANK"), "9") == 0
           && !*value("EVENSTEP_RANKS"),
       "before all nodes are measured a program has no rank");
    ok(slice_spec_rank(&spec, &all, &err) == 0
           && strcmp(value("EVENSTEP_RANK"), "3") == 0
           && strcmp(value("EVENSTEP_RANKS"), "8") == 0,
       "then it has one, whatever was there before");
    slice_spec_clear(&spec);
}

static void test_memory(void)
{
    const struct place place = {.environ = {gpu}};
    const struct msg_measured all = {.rank = 3, .ranks = 8};
    const struct msg_run run = {.slot = 2};
    long n = 0;
    int rc, wrong = 0;

    begin();
    strcpy(common.command.program, "/tmp/app");
    strcpy(common.command.libs, "/tmp/libs");
    self.place = &place;
    do {
        fault_at = n++;
        rc = fill(&run);
        if (rc == 0)
            rc = slice_spec_rank(&spec, &all, &err);
        fault_at = -1;
        wrong += rc < 0 && strcmp(err.what, "out of memory") != 0;
        slice_spec_clear(&spec);
    } while (rc < 0 && n < 1000);
    ok(rc == 0 && n > 5 && wrong == 0,
       "each of %ld allocations that fails is said, and all is freed", n - 1);
}

int main(void)
{
    test_known();
    test_words();
    test_place();
    test_brought();
    test_rank();
    test_memory();
    return done();
}
