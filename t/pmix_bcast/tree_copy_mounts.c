/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree does not replace what is mounted, nor what has mounts within it. */
#include "own_mounts.h"
#include "pmix_bcast/tree_copy.h"
#include "pmix_bcast/tree_source.h"
#include "tap.h"
#include "tree.h"

#include <dirent.h>
#include <stdlib.h>

static char to[600];

static int begin(struct tree_copy **t, struct tree_copy_setup setup)
{
    char source[600], *at = source;
    const struct tree_wish wish = {.source = &at, .n = 1};
    struct tree_source s;
    struct es_error err = {0};
    uint8_t *index;

    snprintf(source, sizeof source, "%s", tree_path("from"));
    setup.destination = to;
    tree_source_init(&s, NULL);
    if (tree_source_open(&s, &wish, &err) < 0)
        bail("%s", err.what);
    index = malloc(s.index.len);
    if (!index)
        bail("no memory");
    memcpy(index, s.index.encoded, s.index.len);
    if (tree_copy_create(t, &setup, index, s.index.len) != 0)
        bail("no copy");
    tree_source_close(&s);
    return tree_copy_prepare(*t);
}

/* Nothing is beside it. */
static int is_alone(void)
{
    DIR *list = opendir(tree_path("place"));
    int n = 0;

    if (!list)
        bail("no place: %s", strerror(errno));
    while (readdir(list))
        n++;
    closedir(list);
    return n == 3; /* with . and .. */
}

static void refused(const char *how, struct tree_copy_setup setup)
{
    struct tree_copy *t;

    diag("%s", how);
    own_mounts_bind("other", "place/to/data");
    is_int(begin(&t, setup), EBUSY, "a mount in it is refused");
    is_str(tree_copy_why(t), "data is a mount point there: unmount it first",
           "and named");
    tree_copy_destroy(t);
    own_mounts_end("place/to/data");
    own_mounts_bind("other", "place/to");
    is_int(begin(&t, setup), EBUSY, "a mount on it is refused");
    is_str(tree_copy_why(t), "", "and it needs no name");
    tree_copy_destroy(t);
    own_mounts_end("place/to");
    ok(is_alone(), "nothing is left");
    if (begin(&t, setup) != 0)
        bail("no copy");
    own_mounts_bind("other", "place/to/data");
    is_int(tree_copy_finish(t), EBUSY, "what is mounted meanwhile, too");
    tree_copy_destroy(t);
    ok(is_alone() && access(tree_path("place/to/data/mine"), F_OK) == 0,
       "all is as it was");
    own_mounts_end("place/to/data");
}

static void replaced(const char *how, struct tree_copy_setup setup)
{
    struct tree_copy *t;

    diag("%s", how);
    is_int(begin(&t, setup), 0, "without mounts");
    is_int(tree_copy_finish(t), 0, "it is replaced");
    tree_copy_destroy(t);
    ok(is_alone() && access(tree_path("place/to/new"), F_OK) == 0,
       "by the new one");
}

int main(void)
{
    const struct tree_copy_setup force = {.force = 1}, update = {.update = 1},
                                 only = {.update = 1, .delete = 1};

    if (!own_mounts_begin())
        skip_all("needs a mount name space");
    tree_make();
    tree_put("from/new/folder", "");
    tree_put("place/to/data/x", "");
    tree_put("other/data/mine", "mine");
    tree_put("other/mine", "mine");
    snprintf(to, sizeof to, "%s", tree_path("place/to"));
    refused("--force", force);
    refused("--update", update);
    refused("--update --delete", only);
    replaced("--update", update);
    replaced("--update --delete", only);
    replaced("--force", force);
    tree_remove();
    return done();
}
