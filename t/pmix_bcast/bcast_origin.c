/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the source is: what home finds, and what a node does not replace. */
#include "pmix_bcast/bcast_origin.h"
#include "fault.h"
#include "tree.h"

static struct writer origin;
static char why[512];

static void find(uint32_t flags, const char *a, const char *b)
{
    char first[600], second[600];
    const struct tree_top top[] = {{0, first}, {1, second}};

    snprintf(first, sizeof first, "%s", tree_path(a));
    snprintf(second, sizeof second, "%s", tree_path(b ? b : a));
    writer_clear(&origin);
    if (bcast_origin_write(&origin, top, b ? 2 : 1, flags) != 0)
        bail("%s: no origin", a);
    if (!bcast_origin_is_sound(origin.buf, origin.len))
        bail("%s: its origin is not sound", a);
}

static int check_tree(const char *name)
{
    return bcast_origin_check(origin.buf, origin.len, tree_path(name), 1, why,
                              sizeof why);
}

static void test_check(void)
{
    static const struct {
        const char *source, *destination, *why;
    } cases[] = {
        {"x/src", "x/src", "the source itself: give another DST"},
        {"x/src", "x", "a folder that holds the source: give another DST"},
        {"x/src/in", "x", "a folder that holds the source: give another DST"},
        {"x/src", "x/src/in", "within the source: give another DST"},
        {"x/src", "x/src/in/a", "within the source: give another DST"},
        {"x", "x/src/in", "within the source: give another DST"},
        {"link", "x/src", "the source itself: give another DST"},
        {"link/in", "x", "a folder that holds the source: give another DST"},
        {"x/src", "link/in", "within the source: give another DST"},
        {"x/src", "link", NULL},
        {"x/src", "x/other", NULL},
        {"x/src", "x/none", NULL},
        {"x/src", "x/src/none", NULL},
        {"x/src", "none/none", NULL},
        {"x/src/in", "x/src/in2", NULL},
        {"x/src/in", "x/src/a", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int error;

        find(0, cases[i].source, NULL);
        error = check_tree(cases[i].destination);
        ok(cases[i].why ? error == EINVAL && strstr(why, cases[i].why)
                        : error == 0 && why[0] == '\0',
           "%s to %s: %s", cases[i].source, cases[i].destination,
           cases[i].why ? cases[i].why : "allowed");
    }
}

static void test_flags(void)
{
    find(ORIGIN_MAY_BE, "x/src", NULL);
    is_int(check_tree("x/src"), 0, "where nothing is lost it may be itself");
    is_int(check_tree("x"), EINVAL, "but not what holds it");
    find(ORIGIN_UPDATE, "x/src", NULL);
    ok(check_tree("x/src") == EINVAL && strstr(why, "give --update, which"),
       "where --update would help, that is said");
    find(0, "x/src/a", "x/other");
    ok(check_tree("x/other") == EINVAL && check_tree("x/src") == EINVAL
           && check_tree("x/src/in") == 0,
       "of several each counts");
    find(0, "x/other", NULL);
    ok(bcast_origin_check(origin.buf, origin.len, tree_path("x/other"), 0, why,
                          sizeof why)
               == EINVAL
           && bcast_origin_check(origin.buf, origin.len, tree_path("x"), 0, why,
                                 sizeof why)
                  == 0,
       "a file is replaced by itself alone");
    is_int(bcast_origin_check(NULL, 0, tree_path("x/src"), 1, why, sizeof why),
           0, "without an origin nothing is");
}

/* Machines that have nothing in common but the image they are made of. */
static void test_elsewhere(void)
{
    struct object_id id;
    int fd = open(tree_path("x"), O_PATH | O_CLOEXEC), is_shared;

    if (fd < 0 || object_id_of(&id, fd) != 0)
        bail("x: %s", strerror(errno));
    close(fd);
    is_shared = !id.is_local;
    find(0, "x/src", NULL);
    origin.buf[4] ^= 1; /* the machine */
    is_int(check_tree("x/src") == EINVAL, is_shared,
           "the same on another machine, if it can be");
    is_int(check_tree("x/src/in") == EINVAL, is_shared, "and within it");
}

static void test_sound(void)
{
    int taken = 0;

    find(0, "x/src", "x/other");
    for (size_t len = 1; len < origin.len; len++)
        taken += len % OBJECT_ID_BYTES != BCAST_ORIGIN_HEAD
                 && bcast_origin_is_sound(origin.buf, len);
    is_int(taken, 0, "an origin that ends within something is not sound");
    ok(!bcast_origin_is_sound(origin.buf, BCAST_ORIGIN_HEAD)
           && !bcast_origin_is_sound(origin.buf,
                                     BCAST_ORIGIN_HEAD + OBJECT_ID_BYTES),
       "nor one with fewer objects than sources");
    origin.buf[3] = 3;
    ok(!bcast_origin_is_sound(origin.buf, origin.len), "nor an unknown flag");
}

static void test_most(void)
{
    size_t most = BCAST_ORIGIN_MAX;
    uint8_t *b = calloc(1, most + OBJECT_ID_BYTES);
    struct tree_top *top =
        calloc(BCAST_ORIGIN_OBJECTS + 1u, sizeof(struct tree_top));
    struct writer w = {0};
    char path[600];

    if (!b || !top)
        bail("no memory");
    snprintf(path, sizeof path, "%s", tree_path("x/other"));
    for (size_t i = 0; i <= BCAST_ORIGIN_OBJECTS; i++)
        top[i].path = path;
    ok(bcast_origin_is_sound(b, most)
           && !bcast_origin_is_sound(b, most + OBJECT_ID_BYTES),
       "there are 65536 objects at most");
    is_int(bcast_origin_write(&w, top, BCAST_ORIGIN_OBJECTS + 1u, 0), E2BIG,
           "more sources are too many");
    writer_clear(&w);
    free(top);
    free(b);
}

static void test_home(void)
{
    char path[600];
    struct tree_top top = {.path = path};
    struct writer w = {0};
    int error = ENOMEM, failed = 0;

    snprintf(path, sizeof path, "%s", tree_path("none"));
    is_int(bcast_origin_write(&w, &top, 1, 0), ENOENT,
           "a source that is not there");
    snprintf(path, sizeof path, "%s", tree_path("x/src"));
    for (long n = 0; error == ENOMEM && n < 100; n++) {
        writer_clear(&w);
        fault_at = n;
        error = bcast_origin_write(&w, &top, 1, 0);
        fault_at = -1;
        failed += error != 0;
    }
    ok(error == 0 && failed >= 2, "each allocation that fails is told");
    writer_clear(&w);
}

int main(void)
{
    tree_make();
    tree_put("x/src/in/a", "a");
    tree_put("x/src/in2/a", "a");
    tree_put("x/src/a", "a");
    tree_put("x/other", "other");
    if (symlink("x/src", tree_path("link")) < 0)
        bail("no link");
    test_check();
    test_flags();
    test_elsewhere();
    test_sound();
    test_most();
    test_home();
    writer_clear(&origin);
    tree_remove();
    return done();
}
