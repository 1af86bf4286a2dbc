/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_cache.h"
#include "launcher/probe/probe_crew.h"
#include "launcher/probe/probe_site.h"
#include "tree.h"

#include <dirent.h>

#define BOOT "6c1b2f0e-1d0c-4a51-9f0e-0123456789ab"
#define NOW  1795257600
#define TTL  3600

static struct probe_cache cache;
static struct probe_stamp stamp;
static struct probe_result results[ELEMENTS];

/* A node that tells who it is, and what was measured of it. */
static void start(void)
{
    struct es_error err;
    static char dir[600];

    tree_make();
    tree_put("sys/kernel/random/boot_id", BOOT "\n");
    tree_put("cpuinfo", "model name\t: Some CPU\n");
    tree_put("meminfo", "MemTotal: 8388608 kB\n");
    if (probe_stamp_take(&stamp, "n0", tree_root, tree_root, &err) < 0)
        bail("%s", err.what);
    stamp.time_s = NOW;
    stamp.cpus = 4;
    memset(results, 0, sizeof results);
    for (int e = 0; e < ELEMENT_SITE; e++)
        probe_measured(&results[e], 10 + e, 0.01, "as tested");
    probe_not_measured(&results[ELEMENT_S], "the disk is full");
    snprintf(dir, sizeof dir, "%s", tree_path("cache"));
    cache = (struct probe_cache){dir, geteuid()};
}

static void put(void)
{
    struct es_error err;

    if (probe_cache_put(&cache, &stamp, results, &err) < 0)
        bail("%s", err.what);
}

/* NULL if it is taken, else why not; what is not taken changes nothing. */
static const char *get(const struct probe_stamp *now, int64_t ttl)
{
    static struct es_error err;
    struct probe_result r[ELEMENTS], before[ELEMENTS];

    memset(r, 7, sizeof r);
    memset(before, 7, sizeof before);
    err = (struct es_error){ES_OK, "", ""};
    if (probe_cache_get(&cache, now, ttl, PROBE_CORE, NULL, r, &err) == 0)
        return memcmp(r, results, sizeof r) == 0 ? NULL : "it has changed";
    if (memcmp(r, before, sizeof r) != 0 || err.kind != ES_ENV || !err.mend[0])
        return "a failure that is none of ours";
    return err.what;
}

static int ignored(const struct probe_stamp *now, const char *why)
{
    const char *said = get(now, TTL);

    if (said && strstr(said, why))
        return 1;
    diag("%s", said ? said : "was taken");
    return 0;
}

static int entries(const char *name)
{
    DIR *dir = opendir(tree_path(name));
    int n = -2;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static void test_stamp(void)
{
    static const char *const bad[] = {"", ".", "..", ".n0", "a/b", "../n0"};
    struct probe_stamp s;
    char name[80];

    start();
    is_str(stamp.boot_id, BOOT, "a stamp has the boot id");
    is_str(stamp.hardware, "Some CPU, 8 GiB", "and what the node is");
    is_str(stamp.node, "n0", "and its name");
    is_int(probe_stamp_take(&s, "n0", "/proc", "/sys", NULL), 0,
           "this very node has one");
    ok(s.cpus > 0 && s.time_s > 1700000000, "with its CPUs and time");
    tree_put("self/cgroup", "0::/\n");
    tree_put("fs/cgroup/cpu.max", "5000 10000\n");
    ok(probe_stamp_take(&s, "n0", tree_root, tree_root, NULL) == 0
           && s.cpus == 0.5,
       "a bandwidth limit leaves half a CPU");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ok(probe_stamp_take(&s, bad[i], tree_root, tree_root, NULL) == -1,
           "\"%s\" is no name of a node", bad[i]);
    snprintf(name, sizeof name, "%064d", 0);
    is_int(probe_stamp_take(&s, name, tree_root, tree_root, NULL), -1,
           "nor is a name of 64 letters");
    is_int(probe_stamp_take(&s, "n0", tree_path("none"), tree_root, NULL), -1,
           "without a boot id there is no stamp");
    tree_remove();
}

static void test_kept(void)
{
    struct stat st;
    int64_t begin_ns;

    start();
    ok(ignored(&stamp, "cache/n0.json: nothing is kept"),
       "without a directory nothing is kept");
    put();
    ok(stat(cache.dir, &st) == 0 && (st.st_mode & 07777) == 0755,
       "the directory is made, for all to read");
    ok(stat(tree_path("cache/n0.json"), &st) == 0
           && (st.st_mode & 07777) == 0644,
       "and so is the file");
    is_int(entries("cache"), 1, "beside which nothing is left");
    begin_ns = probe_now_ns();
    ok(get(&stamp, TTL) == NULL, "what was put is got");
    diag("in %.3f ms", (double)(probe_now_ns() - begin_ns) / 1e6);
    stamp.time_s += TTL;
    ok(get(&stamp, TTL) == NULL, "also when it is as old as its ttl");
    stamp.time_s = NOW;
    results[ELEMENT_M].value = 99;
    put();
    ok(get(&stamp, TTL) == NULL, "a new result replaces the old one");
    tree_remove();
}

/* I as it is read, or less than 0 if the file is not used. */
static double link_at(int64_t now_s, int64_t ttl, unsigned elements)
{
    struct probe_stamp now = stamp;
    struct probe_result r[ELEMENTS];

    now.time_s = now_s;
    return probe_cache_get(&cache, &now, ttl, elements, NULL, r, NULL) == 0
               ? r[ELEMENT_I].value
               : -1;
}

static void test_ring(void)
{
    struct probe_result ring = {.between = 1};
    struct probe_stamp boot;
    struct es_error err;

    start();
    probe_measured(&ring, 0.1, 0.5, "a flow each way, 3 rounds");
    stamp.time_s = NOW - 10;
    is_int(probe_cache_put_ring(&cache, &stamp, &ring, &err), 0,
           "what the ring measured is kept where there is nothing else");
    ok(link_at(NOW, TTL, PROBE_CORE) < 0, "which makes no whole of it");
    is_near(link_at(NOW, TTL, PROBE_BIT(ELEMENT_I)), 0.1, 0,
            "but for who asks for the link alone");
    stamp.time_s = NOW;
    put();
    is_near(link_at(NOW, TTL, PROBE_CORE), 0.1, 0,
            "it stays when the rest is measured, and says more than the port");
    is_near(link_at(NOW + TTL, TTL, PROBE_CORE), results[ELEMENT_I].value, 0,
            "when it is older than its ttl the port's speed is back");
    ring.value = 0.2;
    stamp.time_s = NOW + 5;
    is_int(probe_cache_put_ring(&cache, &stamp, &ring, &err), 0,
           "it is measured again");
    is_near(link_at(NOW + 5, TTL, PROBE_CORE), 0.2, 0, "and replaced");
    ok(link_at(NOW + TTL + 1, TTL, PROBE_CORE) < 0,
       "the rest has become no younger by it");
    boot = stamp;
    snprintf(boot.boot_id, sizeof boot.boot_id, "another");
    if (probe_cache_put(&cache, &boot, results, &err) < 0)
        bail("%s", err.what);
    stamp = boot;
    is_near(link_at(NOW + 5, TTL, PROBE_CORE), results[ELEMENT_I].value, 0,
            "after another boot it is not known any more");
    cache.owner++;
    ok(probe_cache_put_ring(&cache, &stamp, &ring, &err) < 0
           && strstr(err.what, "only root may write to it"),
       "nobody else may");
    cache.owner--;
    tree_remove();
}

static void test_elements(void)
{
    struct probe_result r[ELEMENTS];
    struct es_error err;

    start();
    results[ELEMENT_G] = (struct probe_result){.state = PROBE_LEFT_OUT};
    put();
    ok(ignored(&stamp, "has not all elements"),
       "an element that is not kept is missed");
    is_int(probe_cache_get(&cache, &stamp, TTL,
                           PROBE_BIT(ELEMENT_C) | PROBE_BIT(ELEMENT_S), NULL, r,
                           &err),
           0, "unless others are asked for");
    ok(r[ELEMENT_C].state == PROBE_MEASURED && r[ELEMENT_C].value == 10
           && r[ELEMENT_S].state == PROBE_NOT_MEASURED
           && r[ELEMENT_M].state == PROBE_LEFT_OUT,
       "and they alone are got");
    ok(probe_result_holds(&r[ELEMENT_M]), "nothing is left of the others");
    tree_remove();
}

static void test_site(void)
{
    struct probe_site site[SITE_ELEMENTS] = {
        {"licences", "seats", "command", 1, 500}};
    struct probe_result *own = &results[ELEMENT_SITE], r[ELEMENTS];
    const unsigned it = PROBE_BIT(ELEMENT_SITE);

    start();
    probe_measured(own, 7, 0, "as tested");
    probe_site_label(&site[0], own);
    put();
    is_int(probe_cache_get(&cache, &stamp, TTL, it, site, r, NULL), 0,
           "an element of the site's is got");
    ok(r[ELEMENT_SITE].value == 7 && r[ELEMENT_SITE].less
           && strcmp(r[ELEMENT_SITE].name, "licences") == 0,
       "with its name and its sense");
    strcpy(site[0].unit, "GB");
    is_int(probe_cache_get(&cache, &stamp, TTL, it, site, r, NULL), -1,
           "unless it has another unit now");
    tree_remove();
    *own = (struct probe_result){.state = PROBE_LEFT_OUT};
}

static void test_scaled(void)
{
    struct probe_result r[ELEMENTS];

    start();
    put();
    stamp.cpus = 0.5;
    is_int(probe_cache_get(&cache, &stamp, TTL, PROBE_CORE, NULL, r, NULL), 0,
           "a step with an eighth of the CPUs");
    is_near(r[ELEMENT_C].value, 10.0 / 8, 1e-12, "has an eighth of C");
    is_near(r[ELEMENT_M].value, 11, 0, "and M as it is");
    is_str(r[ELEMENT_C].what, "as tested, scaled from 4.00 to 0.50 CPUs",
           "which is said");
    tree_remove();
}

static void test_stale(void)
{
    struct probe_stamp now;

    start();
    put();
    now = stamp;
    now.time_s = NOW + TTL + 1;
    ok(ignored(&now, "is older than its ttl"), "one too old is ignored");
    now.time_s = NOW - 3;
    ok(ignored(&now, "is from the future"), "one from the future is");
    now.time_s = NOW - 2;
    ok(get(&now, TTL) == NULL, "but for a clock that was set back a little");
    now = stamp;
    now.boot_id[3] = 'x';
    ok(ignored(&now, "is from another boot"), "one from another boot is");
    now = stamp;
    snprintf(now.hardware, sizeof now.hardware, "Some CPU, 4 GiB");
    ok(ignored(&now, "is of other hardware"), "one of other hardware is");
    now = stamp;
    snprintf(now.version, sizeof now.version, "99.9");
    ok(ignored(&now, "another version of evenstep"),
       "one by another version is");
    tree_remove();
}

/* The whole text of the file that put() wrote. */
static char *read_kept(size_t *len)
{
    static char text[PROBE_CACHE_BYTES_MOST];
    int fd = open(tree_path("cache/n0.json"), O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (n <= 0)
        bail("nothing is kept");
    close(fd);
    text[n] = '\0';
    *len = (size_t)n;
    return text;
}

static void test_truncated(void)
{
    size_t len, taken = 0;
    char *text, saved;

    start();
    put();
    text = read_kept(&len);
    for (size_t i = 0; i < len; i++) {
        saved = text[i];
        text[i] = '\0';
        tree_put("cache/n0.json", text);
        taken += get(&stamp, TTL) == NULL;
        text[i] = saved;
    }
    is_int((long)taken, 0, "no proper prefix of a file is taken");
    diag("%zu of them", len);
    tree_put("cache/n0.json", "");
    ok(ignored(&stamp, "is truncated, or no JSON"), "an empty one is ignored");
    tree_put("cache/n0.json", "{\"format\": 1}");
    ok(ignored(&stamp, "is none of ours"), "one of somebody else's JSON is");
    tree_remove();
}

/* Put with one text in place of another. */
static void put_changed(const char *from, const char *to)
{
    size_t len;
    char *text, *at, changed[PROBE_CACHE_BYTES_MOST];

    put();
    text = read_kept(&len);
    at = strstr(text, from);
    if (!at)
        bail("no %s in the file", from);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to,
             at + strlen(from));
    tree_put("cache/n0.json", changed);
}

static void test_values(void)
{
    static const struct {
        const char *name, *from, *to, *why;
    } bad[] = {
        {"another format", "\"format\": 1", "\"format\": 2", "none of ours"},
        {"another node's name", "\"n0\"", "\"n1\"", "another node's"},
        {"a key too many", "\"format\"", "\"x\": 0, \"format\"",
         "none of ours"},
        {"a key twice", "\"format\": 1", "\"format\": 1, \"format\": 1",
         "no JSON"},
        {"a negative number of CPUs", "\"cpus\": 4", "\"cpus\": -4",
         "none of ours"},
        {"no CPUs", "\"cpus\": 4.0", "\"cpus\": 0", "none of ours"},
        {"a huge time", "1795257600", "9223372036854775807", "the future"},
        {"a time before all", "1795257600", "-9223372036854775807",
         "older than"},
        {"a time that is none", "1795257600", "18446744073709551616",
         "no JSON"},
        {"a negative value", "\"value\": 10", "\"value\": -10", "none of ours"},
        {"an unknown element", "\"M\": ", "\"Q\": ", "none of ours"},
    };

    start();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put_changed(bad[i].from, bad[i].to);
        ok(ignored(&stamp, bad[i].why), "%s is ignored", bad[i].name);
    }
    tree_remove();
}

static void test_files(void)
{
    static char large[PROBE_CACHE_BYTES_MOST + 2];
    char elsewhere[600];

    start();
    put();
    snprintf(elsewhere, sizeof elsewhere, "%s", tree_path("real.json"));
    if (rename(tree_path("cache/n0.json"), elsewhere) < 0
        || symlink(elsewhere, tree_path("cache/n0.json")) < 0)
        bail("no link");
    ok(ignored(&stamp, "is a symbolic link"), "a link is not followed");
    put();
    ok(get(&stamp, TTL) == NULL, "and is replaced by a file");
    chmod(tree_path("cache/n0.json"), 0664);
    ok(ignored(&stamp, "can be written by others"),
       "a file that a group may write is ignored");
    chmod(tree_path("cache/n0.json"), 0646);
    ok(ignored(&stamp, "can be written by others"), "or that all may");
    unlink(tree_path("cache/n0.json"));
    if (mkfifo(tree_path("cache/n0.json"), 0644) < 0)
        bail("no pipe");
    ok(ignored(&stamp, "is no file"), "a pipe does not stop us");
    unlink(tree_path("cache/n0.json"));
    memset(large, ' ', sizeof large - 1);
    tree_put("cache/n0.json", large);
    ok(ignored(&stamp, "is too large"), "a large file is not read");
    tree_remove();
}

static void test_directory(void)
{
    struct es_error err = {ES_OK, "", ""};

    start();
    put();
    chmod(cache.dir, 0777);
    ok(ignored(&stamp, "can be written by others"),
       "a directory that all may write is not trusted");
    ok(probe_cache_put(&cache, &stamp, results, &err) == -1
           && strstr(err.what, "can be written by others"),
       "nor written to");
    chmod(cache.dir, 0755);
    ok(get(&stamp, TTL) == NULL, "(it was only that)");
    if (rename(cache.dir, tree_path("real")) < 0
        || symlink("real", cache.dir) < 0)
        bail("no link");
    ok(ignored(&stamp, "is a symbolic link"), "a link to one is not followed");
    ok(probe_cache_put(&cache, &stamp, results, &err) == -1
           && strstr(err.what, "is a symbolic link"),
       "nor written to");
    unlink(cache.dir);
    tree_put("cache", "x");
    ok(ignored(&stamp, "is no directory"), "a file is no directory");
    tree_remove();
}

static void test_owner(void)
{
    struct es_error err = {ES_OK, "", ""};

    start();
    put();
    cache.owner = geteuid() + 1;
    ok(ignored(&stamp, "is somebody else's"),
       "what is not the owner's is not believed");
    ok(probe_cache_put(&cache, &stamp, results, &err) == -1
           && err.kind == ES_USAGE
           && strstr(err.what, "only root may write to it"),
       "and another user's results do not enter");
    cache.owner = geteuid();
    ok(get(&stamp, TTL) == NULL, "(it was only that)");
    if (geteuid() != 0) {
        skip("a file of another user in it is ignored", "needs root");
    } else {
        if (chown(tree_path("cache/n0.json"), 12345, 12345) < 0)
            bail("cannot give a file away");
        ok(ignored(&stamp, "is not root's"),
           "a file of another user in it is ignored");
    }
    tree_remove();
}

/* sysfs takes no file of root's either. */
static void test_unwritable(void)
{
    const struct probe_cache kernel = {"/sys/kernel", 0};
    struct es_error err = {ES_OK, "", ""};

    if (geteuid() != 0) {
        skip("where nothing can be written", "needs root");
        return;
    }
    start();
    ok(probe_cache_put(&kernel, &stamp, results, &err) == -1
           && strstr(err.mend, "give another probe { cache }"),
       "where nothing can be written no space need be freed");
    tree_remove();
}

int main(void)
{
    umask(077); /* as a careful root has it */
    test_stamp();
    test_kept();
    test_ring();
    test_elements();
    test_site();
    test_scaled();
    test_stale();
    test_truncated();
    test_values();
    test_files();
    test_directory();
    test_owner();
    test_unwritable();
    return done();
}
