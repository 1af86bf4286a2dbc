/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/rack.h"
#include "tap.h"

int main(void)
{
    static const struct {
        const char *what, *address, *pattern, *rack;
    } rows[] = {
        {"nothing is told", "", "", ""},
        {"there is no topology", "n7", "node", ""},
        {"a node below one switch", "s4.n7", "switch.node", "s4"},
        {"and below two", "s0.s4.n7", "switch.switch.node", "s4"},
        {"the address is shorter than the pattern", "n7", "switch.node", ""},
        {"a node of a block", "b1.n7", "block.node", "b1"},
        {"what is above the node is neither", "b1.n7", "noswitch.node", ""},
        {"more than one switch", "s0.s[1,2].n7", "switch.switch.node", ""},
        {"a name that plays tricks", "s\"0.n7", "switch.node", ""},
        {"one that is too long", "switch-12345678.n7", "switch.node", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char rack[8];

        rack_find(rack, sizeof rack, rows[i].address, rows[i].pattern);
        is_str(rack, rows[i].rack, rows[i].what);
    }
    return done();
}
