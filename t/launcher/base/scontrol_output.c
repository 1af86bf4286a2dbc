/* SPDX-License-Identifier: BSD-2-Clause */
/* What is read from scontrol's words, and is not mistaken for one. */
#include "launcher/base/scontrol_output.h"
#include "tap.h"

#include <string.h>

/* As Slurm 22.05 prints a step. */
#define STEP                                                                   \
    "StepId=7.0 UserId=0 StartTime=2026-11-22T01:00:00 TimeLimit=UNLIMITED\n"  \
    "   State=RUNNING Partition=main NodeList=n[0-3]\n"                        \
    "   Nodes=4 CPUs=8 Tasks=4 Name=sleep Network=(null)\n"

static const struct {
    const char *name, *text, *key, *value; /* NULL: there is none */
} values[] = {
    {"the nodes of a step", STEP, "NodeList", "n[0-3]"},
    {"how many they are", STEP, "Nodes", "4"},
    {"the first word", STEP, "StepId", "7.0"},
    {"a line of the configuration", "A = 1\nSrunPortRange           = 1-2\n",
     "SrunPortRange", "1-2"},
    {"a key in another's name", "ReqNodeList=n9 NodeList=n0\n", "NodeList",
     "n0"},
    {"a key in another's value", "Name=NodeList=n9\n NodeList=n0\n", "NodeList",
     "n0"},
    {"a key that another begins with", "NodesMax=9 Nodes=1\n", "Nodes", "1"},
    {"a key without a value", "Nodes=\n", "Nodes", ""},
    {"no such key", STEP, "Color", NULL},
    {"no equals sign", "Nodes\n", "Nodes", NULL},
    {"a value that is too long", "Nodes=12345678901234567\n", "Nodes", NULL},
    {"nothing", "", "Nodes", NULL},
};

static const struct {
    const char *name, *text;
    unsigned low, high;
} ports[] = {
    {"a range", "SrunPortRange           = 60001-63000\n", 60001, 63000},
    {"of one port", "SrunPortRange = 60001-60001\n", 60001, 60001},
    {"none", "SrunPortRange           = 0-0\n", 0, 0},
    {"one that is reversed", "SrunPortRange = 3-2\n", 0, 0},
    {"one beyond all ports", "SrunPortRange = 3-65536\n", 0, 0},
    {"one that ends in a word", "SrunPortRange = 1-2x\n", 0, 0},
    {"one that is no number", "SrunPortRange = (null)\n", 0, 0},
    {"no such line", "SlurmctldPort = 6817\n", 0, 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char out[16] = "untouched";
        int rc = scontrol_value(values[i].text, values[i].key, out, sizeof out);
        const char *want = values[i].value ? values[i].value : "untouched";

        ok(rc == (values[i].value ? 0 : -1) && strcmp(out, want) == 0,
           "a value: %s", values[i].name);
    }
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
        struct port_range range = scontrol_ports(ports[i].text);

        ok(range.low == ports[i].low && range.high == ports[i].high,
           "ports: %s", ports[i].name);
    }
    return done();
}
