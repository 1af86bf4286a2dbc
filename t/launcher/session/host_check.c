/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/host_check.h"
#include "tap.h"

#include <string.h>

static const struct {
    const char *name, *hosts[4];
    size_t n, wanted;
    const char *what; /* NULL: it is well */
} checks[] = {
    {"two agents on a node",
     {"n1", "n0", "n1"},
     3,
     3,
     "two of the 3 agents are on n1"},
    {"likewise, the number not known",
     {"n0", "n0"},
     2,
     0,
     "two of the 2 agents are on n0"},
    {"a node without",
     {"n0", "n1"},
     2,
     3,
     "the agents are on 2 nodes, but there are 3"},
    {"one too many",
     {"n0", "n1"},
     2,
     1,
     "the agents are on 2 nodes, but there are 1"},
    {"one a node", {"n3", "n10", "n1", "n2"}, 4, 4, NULL},
    {"the number not known", {"n1", "n0"}, 2, 0, NULL},
    {"one", {"n1"}, 1, 1, NULL},
};

int main(void)
{
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        struct es_error err = {ES_OK, "", ""};
        const char *hosts[4];
        int rc;

        memcpy(hosts, checks[i].hosts, sizeof hosts);
        rc = host_check(hosts, checks[i].n, checks[i].wanted, &err);
        ok(checks[i].what ? rc < 0 && err.kind == ES_ENV
                                && strcmp(err.what, checks[i].what) == 0
                          : rc == 0,
           "%s", checks[i].name);
    }
    return done();
}
