/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has not come, by what sinfo prints. */
#include "launcher/session/absence.h"
#include "tap.h"

static char *came[] = {"n0", "n1", "n3"};

static const struct {
    const char *name, *sinfo;
    size_t came;
    const char *text, *list;
    int n;
} of[] = {
    {"a node at work needs no reason",
     "n0|mixed|none\nn1|mixed|none\nn2|mixed|none\nn3|mixed|none\n", 3, "n2",
     "n2", 1},
    {"a node in two partitions is one", "n2|mixed|none\nn2|mixed|none\n", 3,
     "n2", "n2", 1},
    {"Slurm's state and reason", "n2|down*|Not responding\nn4|drained|none\n",
     3, "n2 (down*: Not responding), n4 (drained)", "n2,n4", 2},
    {"all have come", "n0|idle|none\nn1|idle|none\n", 3, "", "", 0},
    {"none has", "n0|idle|none\nn1|unknown*|\n", 0, "n0, n1 (unknown*)",
     "n0,n1", 2},
    {"of many eight are named",
     "a|idle|\nb|idle|\nc|idle|\nd|idle|\ne|idle|\nf|idle|\ng|idle|\nh|idle|\n"
     "i|idle|\nj|idle|\n",
     3, "a, b, c, d, e, f, g, h and 2 more", "a,b,c,d,e,f,g,h,i,j", 10},
    {"a line that does not fit", "n7\n\n|\n", 3, "n7", "n7", 1},
    {"nothing", "", 3, "", "", 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        char sinfo[400], list[400];
        struct absent_nodes absent = {.list = list};

        snprintf(sinfo, sizeof sinfo, "%s", of[i].sinfo);
        absence_read(&absent, sinfo, came, of[i].came);
        is_str(absent.text, of[i].text, of[i].name);
        is_str(list, of[i].list, "and all, as srun takes them");
        is_int((intmax_t)absent.n, of[i].n, "so many");
    }
    return done();
}
