/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_comment.h"
#include "tap.h"

#include <string.h>

int main(void)
{
    struct summary s = {
        .status = "done",
        .frames = 5,
        .seconds = 4.55,
        .account = {.time = 4.55, .ideal = 3.4, .equal = 11.83}};
    char line[RUN_COMMENT], name[300];

    run_comment_text(line, &s, "n3");
    is_str(line,
           "evenstep: 5 frames in 4.55 s, 2.60 times as fast as equal parts, "
           "efficiency 0.75, slowest node n3",
           "all that is known");
    s.frames = 1;
    s.status = "unfinished";
    s.account.equal = 0;
    run_comment_text(line, &s, NULL);
    is_str(line, "evenstep: 1 frame in 4.55 s, efficiency 0.75, unfinished",
           "less is known, and it did not come to its end");
    s.account.ideal = 0;
    run_comment_text(line, &s, NULL);
    is_str(line, "evenstep: 1 frame in 4.55 s, unfinished",
           "and nothing was done");
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    run_comment_text(line, &s, name);
    ok(strlen(line) < RUN_COMMENT && strstr(line, ", unfinished"),
       "a long name is cut");
    return done();
}
