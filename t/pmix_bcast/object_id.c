/* SPDX-License-Identifier: BSD-2-Clause */
/* The same file or folder, on one machine and on two. */
#include "pmix_bcast/object_id.h"
#include "tree.h"

static struct object_id id_of(const char *name)
{
    struct object_id id;
    int fd = open(tree_path(name), O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || object_id_of(&id, fd) != 0)
        bail("%s: %s", name, strerror(errno));
    close(fd);
    return id;
}

static void test_here(void)
{
    struct object_id a, b;

    tree_put("a", "text");
    tree_put("b", "text");
    if (symlink("a", tree_path("link")) < 0)
        bail("no link");
    a = id_of("a");
    b = id_of("b");
    ok(object_id_is_same(&a, &a, 1), "a file is itself");
    ok(!object_id_is_same(&a, &b, 1), "and not another");
    b = id_of("link");
    ok(!object_id_is_same(&a, &b, 1), "nor a link to it");
    b = id_of("sub/../a");
    ok(object_id_is_same(&a, &b, 1), "by another name, too");
    if (chmod(tree_path("a"), 0600) < 0)
        bail("no mode");
    b = id_of("a");
    ok(object_id_is_same(&a, &b, 1), "and after a change");
    is_int(object_id_of(&a, -1), EBADF, "what is not open is told");
    ok(object_id_machine() != 0 && object_id_machine() == object_id_machine(),
       "a machine is itself");
}

/* Of a shared file system, as another machine sees it. */
static void test_elsewhere(void)
{
    static const struct object_id one = {
        .dev = 50, .ino = 7, .handle = 99, .ctime_ns = 123456789};
    static const struct {
        const char *name;
        struct object_id id;
        int is_same;
    } cases[] = {
        {"another inode is another", {50, 8, 99, 123456789, 0}, 0},
        {"another device is none", {51, 7, 99, 123456789, 0}, 1},
        {"the handle is enough", {51, 7, 99, 5, 0}, 1},
        {"the time is enough", {51, 7, 98, 123456789, 0}, 1},
        {"one of them must be right", {50, 7, 98, 5, 0}, 0},
        {"no handle is no handle", {50, 7, 0, 5, 0}, 0},
        {"no time is no time", {50, 7, 98, 0, 0}, 0},
        {"its server has it on a disk", {52, 7, 0, 123456789, 1}, 1},
        {"but not all that is on that", {50, 7, 0, 123456788, 1}, 0},
    };
    const struct object_id none = {.dev = 50, .ino = 7};
    struct object_id local = one;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ok(object_id_is_same(&one, &cases[i].id, 0) == cases[i].is_same
               && object_id_is_same(&cases[i].id, &one, 0) == cases[i].is_same,
           "%s", cases[i].name);
    local.is_local = 1;
    ok(!object_id_is_same(&local, &local, 0)
           && object_id_is_same(&local, &local, 1),
       "nodes made of one image have files of their own");
    ok(!object_id_is_same(&none, &none, 0),
       "nothing that is known is not the same");
    ok(object_id_is_same(&one, &cases[2].id, 1),
       "on one machine a file system may be mounted twice");
}

static void test_bytes(void)
{
    static const struct object_id in = {UINT64_MAX, 2, 3, INT64_MIN, 1};
    struct object_id out;
    struct writer w = {0};
    struct reader r;

    object_id_write(&w, &in);
    r = (struct reader){w.buf, w.len, 0};
    out = object_id_read(&r);
    ok(w.len == OBJECT_ID_BYTES && read_end(&r) == 0 && out.dev == in.dev
           && out.ino == in.ino && out.handle == in.handle
           && out.ctime_ns == in.ctime_ns && out.is_local == in.is_local,
       "it goes over the wire");
    writer_clear(&w);
}

int main(void)
{
    tree_make();
    tree_put("sub/x", "");
    test_here();
    test_elsewhere();
    test_bytes();
    tree_remove();
    return done();
}
