/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/networks_tell.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

#define NODES 20

/* n<i> with these networks, as text. */
static struct endpoint node(unsigned i, const char *networks)
{
    struct endpoint e = {.address = "10.0.0.1", .port = 1};

    snprintf(e.node, sizeof e.node, "n%u", i);
    if (networks_parse(&e.networks, networks) < 0)
        bail("bad networks");
    return e;
}

int main(void)
{
    static const char first[] = " 10.1.0.1/16,0,0,hsn0",
                      other[] = " 10.2.0.1/16,0,0,hsn0";
    struct endpoint agent[NODES];
    struct networks home, nothing = {0};
    char names[NETWORKS_TELL_MAX];

    (void)networks_parse(&home, first); /* node() has, too */
    for (unsigned i = 0; i < NODES; i++)
        agent[i] = node(i, first);
    ok(networks_apart(agent, NODES, &home, names) == 0 && !names[0],
       "all are together");
    agent[0] = node(0, other);
    agent[3] = node(3, "");
    is_int(networks_apart(agent, NODES, &home, names), 2,
           "one is in another network, one in none");
    is_str(names, "n0, n3", "they are named, also if it is the first");
    is_int(networks_apart(agent, NODES, &nothing, names), 3,
           "home may be apart as well");
    is_str(names, "this host, n0, n3", "and is named first");
    for (unsigned i = 0; i < NODES; i++)
        agent[i] = node(i, "");
    is_int(networks_apart(agent, NODES, &nothing, names), NODES + 1,
           "or nobody has any");
    is_str(names, "this host, n0, n1, n2, n3, n4, n5, n6 and 13 more",
           "of many the others are counted");
    return done();
}
