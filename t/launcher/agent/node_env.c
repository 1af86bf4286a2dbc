/* SPDX-License-Identifier: BSD-2-Clause */
/* What a node makes of the variables that the front end sends for its tasks. */
#include "launcher/agent/node_env.h"
#include "launcher/base/step_env.h"
#include "pmix_bcast/bcast_message.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

static char tmpdir[] = "TMPDIR=/scratch/job.7";
static char *const environment[] = {tmpdir, NULL};

static const struct {
    const char *name, *given, *filled;
} table[] = {
    {"others stay", "EVENSTEP_SHARE=0.5\nEVENSTEP_X={node}\n",
     "EVENSTEP_SHARE=0.5\nEVENSTEP_X={node}\n"},
    {"a folder", "EVENSTEP_LIBS=/tmp/a_libs\n", "EVENSTEP_LIBS=/tmp/a_libs\n"},
    {"by the node's name", "EVENSTEP_LIBS=/tmp/{node}/a_libs\n",
     "EVENSTEP_LIBS=/tmp/n7/a_libs\n"},
    {"each of several",
     "A=1\nEVENSTEP_LIBS=$TMPDIR/a:/b:${TMPDIR}/{node}\nB=2\n",
     "A=1\nEVENSTEP_LIBS=/scratch/job.7/a:/b:/scratch/job.7/n7\nB=2\n"},
    {"none", "EVENSTEP_LIBS=\n", "EVENSTEP_LIBS=\n"},
    {"no newline at the end", "EVENSTEP_LIBS=/a", "EVENSTEP_LIBS=/a\n"},
    {"nothing", "", ""},
};

static void test_long(void)
{
    char text[DESTINATION_MAX + 64] = STEP_ENV_LIBS "=";
    size_t head = strlen(text), len;

    memset(text + head, 'x', DESTINATION_MAX);
    ok(!node_env_fill((const uint8_t *)text, head + DESTINATION_MAX, "n7",
                      environment, &len)
           && errno == ENAMETOOLONG,
       "a folder that is too long is refused");
}

int main(void)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        size_t len;
        char *filled =
            node_env_fill((const uint8_t *)table[i].given,
                          strlen(table[i].given), "n7", environment, &len);

        ok(filled && len == strlen(table[i].filled)
               && memcmp(filled, table[i].filled, len) == 0,
           "%s", table[i].name);
        free(filled);
    }
    test_long();
    return done();
}
