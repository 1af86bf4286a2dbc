/* SPDX-License-Identifier: BSD-2-Clause */
/* Which attributes of a file go into an index. */
#include "pmix_bcast/tree_xattrs.h"
#include "pmix_bcast/tree_index.h"
#include "tree.h"

#include <stdlib.h>
#include <sys/xattr.h>

static int set(const char *file, const char *name, const void *v, size_t len)
{
    return setxattr(tree_path(file), name, v, len, 0);
}

/* How many of them there are, and the value of one. */
static int read_of(const char *file, const char *name, char value[100])
{
    struct writer w = {0};
    struct reader r;
    int n = 0;

    value[0] = '\0';
    if (tree_xattrs_read(&w, tree_path(file)) != 0)
        return -1;
    r = (struct reader){.at = w.buf, .left = w.len};
    for (; r.left > 0 && !r.bad; n++) {
        size_t len, value_len;
        const char *key = (const char *)read_blob(&r, &len);
        const uint8_t *bytes = read_blob(&r, &value_len);

        if (r.bad || key[len - 1] != '\0')
            return -1;
        if (strcmp(key, name) == 0)
            snprintf(value, 100, "%.*s", (int)value_len, (const char *)bytes);
    }
    writer_clear(&w);
    return n;
}

static void test_which(void)
{
    char value[100];

    is_int(read_of("f", "", value), 0, "a file without any has none");
    if (set("f", "user.color", "blue", 4) < 0
        || set("f", "user.empty", "", 0) < 0)
        bail("user attributes: %s", strerror(errno));
    ok(read_of("f", "user.color", value) == 2 && strcmp(value, "blue") == 0,
       "the user's own, with their values, also empty ones");
    if (set("f", "trusted.evenstep", "root", 4) == 0)
        ok(read_of("f", "trusted.evenstep", value) == 2 && !value[0],
           "what is the system's stays here");
    ok(read_of(".", "", value) == 0, "a folder may have none, too");
}

static void test_faults(void)
{
    struct writer w = {0};
    char *value = calloc(1, XATTR_SIZE_MAX);
    char name[40];
    int i, rc = 0;

    is_int(tree_xattrs_read(&w, tree_path("nowhere")), ENOENT,
           "a file that is not there");
    for (i = 0; value && i < 40 && rc == 0; i++) {
        snprintf(name, sizeof name, "user.large%d", i);
        rc = set("g", name, value, 60000);
    }
    if (rc == 0)
        is_int(tree_xattrs_read(&w, tree_path("g")), E2BIG,
               "more than an index takes is told");
    writer_clear(&w);
    free(value);
}

int main(void)
{
    tree_make();
    tree_put("f", "x");
    tree_put("g", "x");
    if (set("g", "user.x", "", 0) < 0) {
        tree_remove();
        skip_all("the file system of /tmp has no attributes");
    }
    test_which();
    test_faults();
    tree_remove();
    return done();
}
