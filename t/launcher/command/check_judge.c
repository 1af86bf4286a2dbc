/* SPDX-License-Identifier: BSD-2-Clause */
/* Which nodes are named, of what all of them have answered; and how one answers. */
#include "launcher/command/check_judge.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define NODES 5u
#define OURS  "0.2.0"

static struct check_answer a[NODES];

/* All are well. */
static void begin(void)
{
    memset(a, 0, sizeof a);
    for (size_t i = 0; i < NODES; i++) {
        snprintf(a[i].name, sizeof a[i].name, "n%zu", i);
        a[i].is_asked = a[i].has_answered = 1;
        a[i].node.is_step = a[i].node.has_plugin = 1;
        snprintf(a[i].node.version, sizeof a[i].node.version, "%s", OURS);
        snprintf(a[i].node.config, sizeof a[i].node.config, "01ab");
    }
}

static void n2_is(const char *want, const char *what)
{
    size_t unwell = check_judge(a, NODES, OURS, 60);

    is_int((int)unwell, *want != '\0', what);
    is_str(a[2].line, want, what);
    is_str(a[1].line, "", "and of another node nothing is said");
}

static void test_one(void)
{
    begin();
    n2_is("", "all are well");
    snprintf(a[2].node.version, sizeof a[2].node.version, "0.0.9");
    n2_is("it has evenstep 0.0.9, here it is " OURS, "another version");
    begin();
    snprintf(a[2].node.config, sizeof a[2].node.config, "01ac");
    n2_is("its configuration is not that of 4 other nodes: compare `evenstep "
          "config` there",
          "another configuration");
    begin();
    a[2].node.has_plugin = 0;
    n2_is("slurmstepd has not loaded the plugin, as on 4 other nodes: see "
          "plugstack.conf there",
          "no plugin");
    begin();
    a[2].offset = -64;
    a[3].offset = 4;
    n2_is("its clock is 64 s behind", "its clock");
    a[2].offset = 7.2;
    n2_is("its clock is 7 s ahead", "likewise");
    check_node_add(&a[2].node, CHECK_SHM, "/dev/shm takes no file: %s", "Full");
    snprintf(a[2].back, sizeof a[2].back, "it cannot be reached");
    n2_is("its clock is 7 s ahead; it cannot be reached; /dev/shm takes no "
          "file: Full",
          "several faults are one line");
}

static void test_absent(void)
{
    begin();
    a[2].has_answered = 0;
    n2_is("no answer within 60 s", "one that does not answer");
    snprintf(a[2].absent, sizeof a[2].absent, "execve(): Permission denied");
    n2_is("evenstep could not be started there: execve(): Permission denied",
          "with Slurm's words");
    begin();
    a[2].has_answered = a[2].is_asked = 0;
    check_state(a[2].state, "down*", "Not responding");
    n2_is("down*: Not responding", "one that Slurm has down is not asked");
}

static void test_plugin(void)
{
    begin();
    ok(!check_has_no_plugin(a, NODES), "the plugin is there");
    for (size_t i = 0; i < NODES; i++)
        a[i].node.has_plugin = 0;
    n2_is("", "none has the plugin: no node is named");
    ok(check_has_no_plugin(a, NODES), "but that is known");
    for (size_t i = 0; i < NODES; i++)
        a[i].node.is_step = 0;
    ok(!check_has_no_plugin(a, NODES), "not of those that no step has asked");
}

static void test_states(void)
{
    static const struct {
        const char *state, *reason, *text;
        int is_free;
    } cases[] = {
        {"idle", "none", "", 1},
        {"mixed", "none", "", 1},
        {"idle~", "none", "", 1}, /* powered off, Slurm wakes it */
        {"allocated", "none", "", 0},
        {"allocated+", "none", "", 0},
        {"completing", "none", "", 1},
        {"drained", "memory", "drained: memory", 0},
        {"draining", "none", "draining", 0},
        {"down*", "Not responding", "down*: Not responding", 0},
        {"idlesse", "", "idlesse", 0},
        {"maint", "", "maint", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[160];

        check_state(text, cases[i].state, cases[i].reason);
        is_str(text, cases[i].text, cases[i].state);
        is_int(check_is_free(cases[i].state), cases[i].is_free, cases[i].state);
    }
}

static void test_text(void)
{
    struct check_node here = {.node = "n2",
                              .version = "0.2.0",
                              .config = "01ab",
                              .address = "10.0.0.2",
                              .port = 60001,
                              .has_plugin = 1,
                              .is_step = 1,
                              .clock = 1.5e9};
    struct check_node there;
    char *text;
    json_t *json;

    check_node_add(&here, CHECK_AGENT, "a \"fault\"");
    for (unsigned i = 0; i < 2 * CHECK_FAULTS; i++)
        check_node_add(&here, CHECK_AGENT, "%300u",
                       i); /* more, and longer, than it takes */
    is_int((int)here.n, CHECK_FAULTS, "so many faults are kept");
    json = check_node_json(&here);
    text = json_dumps(json, 0);
    ok(text && check_node_read(&there, text) == 0, "a node's answer is read");
    ok(strcmp(there.node, "n2") == 0 && strcmp(there.version, "0.2.0") == 0,
       "its name and version");
    ok(strcmp(there.config, "01ab") == 0 && there.has_plugin && there.is_step,
       "configuration and plugin");
    ok(strcmp(there.address, "10.0.0.2") == 0 && there.port == 60001,
       "where it waits");
    is_near(there.clock, 1.5e9, 0, "its clock");
    ok(there.n == CHECK_FAULTS && strcmp(there.fault[0], "a \"fault\"") == 0,
       "its faults");
    free(text);
    json_decref(json);
    ok(check_node_read(&there, "srun: a warning") < 0, "other lines are none");
    ok(check_node_read(&there, "{\"node\": 5}") < 0, "nor other objects");
    ok(check_node_read(&there,
                       "{\"node\": \"n1\", \"version\": \"1\", \"port\": "
                       "70000, \"faults\": [1, {}]}")
               == 0
           && there.port == 0 && there.n == 0,
       "what is no port and no text is left out");
}

int main(void)
{
    test_one();
    test_absent();
    test_plugin();
    test_states();
    test_text();
    return done();
}
