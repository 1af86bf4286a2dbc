/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a broadcast's file goes on a node. */
#include "launcher/agent/node_destination.h"
#include "tap.h"

#include <string.h>

static char tmpdir[] = "TMPDIR=/scratch/job.7", path[] = "PATH=/bin",
            relative[] = "TMPDIR=here";
static char *const set[] = {path, tmpdir, NULL}, *const unset[] = {path, NULL},
                   *const bad[] = {relative, NULL};

static const struct {
    const char *given, *filled;
    char *const *env;
    const char *what;
} table[] = {
    {"/tmp/x", "/tmp/x", set, "as it is"},
    {"/tmp/{node}/x.{node}", "/tmp/n7/x.n7", set, "the node's name"},
    {"$TMPDIR/x", "/scratch/job.7/x", set, "the job's folder on the node"},
    {"${TMPDIR}/{node}", "/scratch/job.7/n7", set, "both"},
    {"$TMPDIR/x", "/tmp/x", unset, "where there is none: /tmp"},
    {"$TMPDIR/x", "/tmp/x", bad, "one that is no whole path counts as none"},
    {"/a/$TMPDIR/x", "/a/$TMPDIR/x", set, "only in front"},
};

static void test_long(void)
{
    char destination[DESTINATION_MAX];

    memset(destination, 'x', sizeof destination);
    memcpy(destination, "$TMPDIR/", 8);
    destination[DESTINATION_MAX - 1] = '\0';
    is_int(node_destination_fill(destination, "n7", set), -1,
           "too long with its folder");
    memcpy(destination, "/{node}/", 8);
    memset(destination + 8, 'x', DESTINATION_MAX - 9);
    is_int(node_destination_fill(
               destination, "a-node-with-a-name-longer-than-its-braces", set),
           -1, "too long with the node's name");
}

int main(void)
{
    char destination[DESTINATION_MAX];

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        (void)snprintf(destination, sizeof destination, "%s", table[i].given);
        is_int(node_destination_fill(destination, "n7", table[i].env), 0,
               table[i].what);
        is_str(destination, table[i].filled, table[i].given);
    }
    test_long();
    return done();
}
