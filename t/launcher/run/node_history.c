/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/node_history.h"
#include "tap.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN(release, cluster, job, step, time)                                  \
    "{\"release\":\"" release "\",\"cluster\":\"" cluster "\",\"job\":" job     \
    ",\"step\":" step ",\"time\":" time                                         \
    ",\"whole\":true,\"nodes\":[{\"node\":\"n0\",\"boot_id\":\"b\",\"cpus\":4," \
    "\"hardware\":\"h\",\"probe\":{\"C\":1}}]}"

/* Step 2 of job 7, at 1000 s; a result holds for 100 s. */
static const struct node_history_key now = {.release = "0.9",
                                            .cluster = "c",
                                            .job = 7,
                                            .step = 2,
                                            .now_s = 1000,
                                            .ttl_s = 100};
static const struct node n0 = {.name = "n0", .boot_id = "b", .cpus = 4};

static const struct {
    const char *what, *line;
    int is_known, if_same_step; /* the agents have stayed */
} lines[] = {
    {"a step before", RUN("0.9", "c", "7", "1", "950"), 1, 1},
    {"the step itself", RUN("0.9", "c", "7", "2", "950"), 0, 1},
    {"a later step", RUN("0.9", "c", "7", "3", "950"), 0, 0},
    {"another job", RUN("0.9", "c", "77", "1", "950"), 0, 0},
    {"another cluster", RUN("0.9", "d", "7", "1", "950"), 0, 0},
    {"another release", RUN("0.0.0", "c", "7", "1", "950"), 0, 0},
    {"one that is too old", RUN("0.9", "c", "7", "1", "900"), 0, 0},
    {"one from tomorrow", RUN("0.9", "c", "7", "1", "1001"), 0, 0},
    {"a time that is a text", RUN("0.9", "c", "7", "1", "\"950\""), 0, 0},
    {"nodes that are no list",
     "{\"release\":\"0.9\",\"cluster\":\"c\",\"job\":7,\"step\":1,\"time\":950,\"nodes\":{}}",
     0, 0},
    {"a list", "[7]", 0, 0},
    {"rubbish", "{\"job\":7,", 0, 0},
    {"nothing", "", 0, 0},
};

static int is_known_by(const char *line, int is_same_step)
{
    struct node_history_key key = now;
    struct node_history h = {NULL, NULL};
    const char *hardware;
    int known;

    key.is_same_step = is_same_step;
    node_history_line(&h, &key, line);
    known = node_history_find(&h, &n0, &hardware) != NULL;
    node_history_clear(&h);
    return known;
}

static int is_guessed_by(const char *line, const struct node *node)
{
    struct node_history h = {NULL, NULL};
    int guessed;

    node_history_newest(&h, &now, line);
    guessed = node_history_guess(&h, node) != NULL;
    node_history_clear(&h);
    return guessed;
}

static void test_guess(void)
{
    const char *name;
    struct node_history h = {NULL, NULL};
    struct node other = n0, small = n0;

    strcpy(other.name, "n1");
    small.cpus = 2;
    ok(is_guessed_by(RUN("0.9", "c", "77", "5", "10"), &n0),
       "another job of long ago tells what a node may be");
    ok(!is_guessed_by(RUN("0.9", "d", "7", "1", "950"), &n0)
           && !is_guessed_by(RUN("0.0.0", "c", "7", "1", "950"), &n0)
           && !is_guessed_by("[7]", &n0) && !is_guessed_by("", &n0),
       "not another cluster's or release's, nor rubbish");
    ok(!is_guessed_by(RUN("0.9", "c", "7", "1", "950"), &other)
           && !is_guessed_by(RUN("0.9", "c", "7", "1", "950"), &small),
       "nor of another node, or with other CPUs");
    node_history_newest(&h, &now, RUN("0.9", "c", "77", "5", "10"));
    ok(node_history_rank(&h, 0, 1, &name) && strcmp(name, "n0") == 0
           && !node_history_rank(&h, 0, 2, &name)
           && !node_history_rank(&h, 1, 1, &name),
       "one that is not here yet is known by its rank among as many");
    node_history_clear(&h);
}

static void test_lines(void)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        is_int(is_known_by(lines[i].line, 0), lines[i].is_known, lines[i].what);
        is_int(is_known_by(lines[i].line, 1), lines[i].if_same_step,
               "and for agents that have stayed");
    }
}

static void test_nodes(void)
{
    struct node other = n0;
    struct node_history h = {NULL, NULL};
    const char *hardware;

    node_history_line(&h, &now, lines[0].line);
    ok(node_history_find(&h, &n0, &hardware) && strcmp(hardware, "h") == 0,
       "a node is known, and its hardware");
    strcpy(other.name, "n1");
    ok(!node_history_find(&h, &other, &hardware), "another is not");
    other = n0;
    strcpy(other.boot_id, "c");
    ok(!node_history_find(&h, &other, &hardware), "nor is one that has booted");
    other = n0;
    other.cpus = 8;
    ok(!node_history_find(&h, &other, &hardware), "nor with other CPUs");
    node_history_line(&h, &now, lines[3].line);
    ok(node_history_find(&h, &n0, &hardware) != NULL,
       "a line of another job changes nothing");
    node_history_clear(&h);
    ok(!node_history_find(&h, &n0, &hardware), "cleared: nothing is known");
}

static int keep(uint32_t step, double value)
{
    struct node_history_key key = now;
    json_t *nodes =
        json_pack("[{s:s, s:s, s:i, s:s, s:{s:f}}]", "node", n0.name, "boot_id",
                  n0.boot_id, "cpus", (int)n0.cpus, "hardware", "iron", "probe",
                  "C", value);

    key.step = step;
    key.now_s = 980;
    return node_history_append(&key, nodes, 1);
}

/* What is kept of n0, 0: nothing. */
static double value_of(const struct node_history_key *key)
{
    struct node_history h;
    const char *hardware = "";
    const json_t *probe;
    double value;

    node_history_read(&h, key);
    probe = node_history_find(&h, &n0, &hardware);
    value = probe && strcmp(hardware, "iron") == 0
                ? json_number_value(json_object_get(probe, "C"))
                : 0;
    node_history_clear(&h);
    return value;
}

static void test_file(void)
{
    struct node_history_key other = now;

    ok(value_of(&now) == 0, "no file: nothing is known");
    is_int(keep(0, 2.5), 0, "a run is kept");
    is_near(value_of(&now), 2.5, 0, "and known to a later one");
    is_int(keep(1, 3.5), 0, "a newer one is kept");
    is_near(value_of(&now), 3.5, 0, "and counts");
    other.job = 70;
    is_near(value_of(&other), 0, 0, "another job knows nothing of it");
}

int main(void)
{
    char folder[] = "/tmp/evenstep-node-history-XXXXXX";

    if (!mkdtemp(folder) || chdir(folder) < 0
        || setenv("XDG_STATE_HOME", folder, 1) < 0)
        bail("cannot make a folder");
    test_lines();
    test_guess();
    test_nodes();
    test_file();
    (void)unlink("evenstep/nodes");
    (void)rmdir("evenstep");
    ok(chdir("/") == 0 && rmdir(folder) == 0, "nothing else was made");
    return done();
}
