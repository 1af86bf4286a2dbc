/* SPDX-License-Identifier: BSD-2-Clause */
/* An environment made from another. */
#include "launcher/base/env_list.h"
#include "fault.h"
#include "tap.h"

#include <string.h>

static char a[] = "A=1", b[] = "B=2", c[] = "C=3", more[] = "D=4";
static char *const three[] = {a, b, c, NULL}, *const none[] = {NULL};

static int is_not_b(const char *entry)
{
    return strncmp(entry, "B=", 2) != 0;
}

static int is_nothing(const char *entry)
{
    (void)entry;
    return 0;
}

/* Is it these, by their places, and no more? */
static void is_list(char **list, const char *const want[], const char *what)
{
    size_t i = 0;

    while (list && list[i] && list[i] == want[i])
        i++;
    ok(list && !list[i] && !want[i], "%s", what);
    free(list);
}

int main(void)
{
    const char *const all[] = {a, b, c, NULL}, *const two[] = {a, c, NULL};
    const char *const four[] = {a, b, c, more, NULL};
    const char *const others[] = {a, c, more, NULL}, *const one[] = {more,
                                                                     NULL};
    const char *const nothing[] = {NULL};
    char **list;

    is_list(env_list_make(three, NULL, NULL), all, "all of it");
    is_list(env_list_make(three, is_not_b, NULL), two, "what is kept");
    is_list(env_list_make(three, is_nothing, NULL), nothing, "nothing");
    is_list(env_list_make(three, NULL, more), four, "and one more");
    is_list(env_list_make(three, is_not_b, more), others, "both");
    is_list(env_list_make(none, NULL, more), one, "of one without entries");
    fault_at = 0;
    list = env_list_make(three, NULL, more);
    fault_at = -1;
    ok(!list, "without memory there is none");
    return done();
}
