/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a task's LD_LIBRARY_PATH. */
#include "spank_plugin/plugin_libs.h"
#include "fake_spank.h"
#include "tap.h"

static void set(const char *name, const char *value)
{
    if (spank_setenv(&fake_spank.handle, name, value, 1) != ESPANK_SUCCESS)
        bail("no room for %s", name);
}

/* A task's LD_LIBRARY_PATH, of which the user had `before` (NULL: none). */
static const char *added(const char *folders, const char *before)
{
    fake_spank_clear();
    fake_spank.context = S_CTX_REMOTE;
    if (folders)
        set("EVENSTEP_LIBS", folders);
    if (before)
        set("LD_LIBRARY_PATH", before);
    plugin_libs_add(&fake_spank.handle);
    return fake_spank_env("LD_LIBRARY_PATH");
}

int main(void)
{
    static char text[40000];

    is_str(added("/tmp/a_libs", NULL), "/tmp/a_libs",
           "alone, without a colon behind it");
    ok(!fake_spank_env("EVENSTEP_LIBS"), "the task's own steps do not get it");
    is_str(added("/tmp/a_libs", ""), "/tmp/a_libs",
           "likewise of an empty list");
    is_str(added("/a:/b", "/user:/lib"), "/a:/b:/user:/lib",
           "before what the user has");
    is_str(added("/a", "/a:/user"), "/a:/user", "it is not added again");
    is_str(added("/a", "/ab:/a"), "/a:/ab:/a", "where another is first, it is");
    ok(!added(NULL, NULL), "nothing came: nothing is set");
    is_str(added("", "/user"), "/user", "nor by an empty list");
    is_int(fake_spank.errors, 0, "and nothing is said");
    memset(text, 'x', sizeof text - 1);
    is_str(added("/a", text), text, "a list that is too long stays as it is");
    ok(fake_spank.errors == 1
           && strstr(fake_spank.said, "LD_LIBRARY_PATH is too long"),
       "which is said");
    fake_spank_clear();
    return done();
}
