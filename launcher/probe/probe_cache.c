/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_cache.h"
#include "launcher/base/cgroup_limit.h"
#include "launcher/base/spool.h"
#include "launcher/base/sysfs.h"
#include "launcher/probe/probe_crew.h"
#include "launcher/probe/probe_json.h"
#include "launcher/probe/probe_site.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REFRESH "run evenstep probe --fresh as root"

/* --- the stamp ------------------------------------------------------------ */

/* CPUs of our affinity mask, or fewer if a limit of CPU time says so. */
static double usable_cpus(const char *proc, const char *sysfs)
{
    double cpus = (double)probe_crew_cpus(NULL, 0);
    struct cgroup_limit limit;

    cgroup_limit_read(&limit, proc, sysfs);
    return limit.cpus > 0 && limit.cpus < cpus ? limit.cpus : cpus;
}

void probe_cache_node(char node[64])
{
    const char *slurm = getenv("SLURMD_NODENAME");

    if (slurm && *slurm) {
        (void)snprintf(node, 64, "%s", slurm);
        return;
    }
    if (gethostname(node, 64) < 0)
        node[0] = '\0';
    node[63] = '\0';
    node[strcspn(node, ".")] = '\0';
}

int probe_stamp_take(struct probe_stamp *stamp,
                     const char *node,
                     const char *proc,
                     const char *sysfs,
                     struct es_error *err)
{
    char boot[SYSFS_LINE];

    memset(stamp, 0, sizeof *stamp);
    if (!*node || *node == '.' || strchr(node, '/')
        || strlen(node) >= sizeof stamp->node)
        return es_fail(err, ES_ENV, "give the node a usual host name",
                       "\"%.80s\" is no name for a cache file", node);
    if (sysfs_read(boot, "%s/sys/kernel/random/boot_id", proc) < 0 || !*boot
        || strlen(boot) >= sizeof stamp->boot_id)
        return es_fail(err, ES_ENV, "mount /proc",
                       "the boot id of this node cannot be read");
    (void)snprintf(stamp->node, sizeof stamp->node, "%s", node);
    memcpy(stamp->boot_id, boot, strlen(boot) + 1);
    fingerprint_take(stamp->hardware, proc, sysfs);
    (void)snprintf(stamp->version, sizeof stamp->version, "%s",
                   EVENSTEP_VERSION);
    stamp->time_s = (int64_t)time(NULL);
    stamp->cpus = usable_cpus(proc, sysfs);
    return 0;
}

/* --- files that can be trusted -------------------------------------------- */

static int fail_cache(const struct probe_cache *cache,
                      const char *node,
                      struct es_error *err,
                      const char *why)
{
    return es_fail(err, ES_ENV, REFRESH, "cache %s/%s.json: %s", cache->dir,
                   node, why);
}

/* Why an open file or directory cannot be trusted; NULL if it can. */
static const char *why_not_trusted(const struct probe_cache *cache, int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return strerror(errno);
    if (st.st_uid != cache->owner)
        return cache->owner == 0 ? "is not root's" : "is somebody else's";
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return "can be written by others than its owner";
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return "is no file";
    if (S_ISREG(st.st_mode) && st.st_size > PROBE_CACHE_BYTES_MOST)
        return "is too large for one of ours";
    return NULL;
}

static const char *open_error(int error)
{
    if (error == ELOOP || error == EMLINK)
        return "is a symbolic link";
    return error == ENOENT ? "nothing is kept" : strerror(error);
}

/* Open the directory; -1 with the reason. */
static int open_dir(const struct probe_cache *cache, const char **why)
{
    /* With O_DIRECTORY the error for a link would not say that it is one. */
    int fd = open(cache->dir, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    *why = fd < 0 ? open_error(errno) : why_not_trusted(cache, fd);
    if (fd >= 0 && !*why && (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode)))
        *why = "is no directory";
    if (fd < 0 || !*why)
        return fd;
    close(fd);
    return -1;
}

static void file_name(char name[80], const struct probe_stamp *stamp)
{
    (void)snprintf(name, 80, "%s.json", stamp->node);
}

/* What a file says. */
struct kept {
    struct probe_stamp stamp;
    struct probe_result result[ELEMENTS];
    int64_t ring_s;           /* when the ring was; 0: it was not */
    struct probe_result ring; /* of I */
};

/* --- out ------------------------------------------------------------------ */

/* NULL where there is none. */
static json_t *ring_to_json(const struct kept *k)
{
    struct probe_result only[ELEMENTS] = {[ELEMENT_I] = k->ring};

    return k->ring_s > 0
               ? json_pack("{s:I, s:o}", "time", (json_int_t)k->ring_s,
                           "elements", probe_to_json(only))
               : NULL;
}

static char *to_text(const struct kept *k)
{
    const struct probe_stamp *s = &k->stamp;
    json_t *json =
        json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:f, s:o, s:o*}", "format",
                  PROBE_CACHE_FORMAT, "node", s->node, "boot_id", s->boot_id,
                  "hardware", s->hardware, "evenstep", s->version, "time",
                  (json_int_t)s->time_s, "cpus", s->cpus, "elements",
                  probe_to_json(k->result), "ring", ring_to_json(k));
    char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;

    json_decref(json);
    return text;
}

/* Write another file and rename it; 0, or -1 with errno. */
static int replace_file(int dir, const char *name, const char *text)
{
    char beside[120];
    int fd, rc = -1, why;

    (void)snprintf(beside, sizeof beside, ".%s.%ld", name, (long)getpid());
    (void)unlinkat(dir, beside, 0); /* a killed process may have left it */
    fd = openat(dir, beside,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    if (write_all(fd, text, strlen(text)) == 0 && fchmod(fd, 0644) == 0
        && fsync(fd) == 0)
        rc = 0;
    why = errno;
    if (close(fd) < 0 && rc == 0) {
        why = errno;
        rc = -1;
    }
    if (rc == 0) {
        rc = renameat(dir, beside, dir, name);
        why = errno;
    }
    if (rc < 0)
        (void)unlinkat(dir, beside, 0);
    errno = why;
    return rc;
}

/* Open the directory for writing, and create it if it is missing; -1 with err.
 */
static int make_dir(const struct probe_cache *cache, struct es_error *err)
{
    int made = mkdir(cache->dir, 0755) == 0, dir;
    const char *why;

    if (!made && errno != EEXIST)
        return es_fail(err, ES_ENV, "make the directory above it",
                       "cache %s: %s", cache->dir, strerror(errno));
    dir = open_dir(cache, &why);
    if (dir >= 0 && made && fchmod(dir, 0755) < 0) { /* whatever the umask is */
        why = strerror(errno);
        close(dir);
        dir = -1;
    }
    if (dir < 0)
        return es_fail(err, ES_ENV, "make it a directory of root's, mode 0755",
                       "cache %s: %s", cache->dir, why);
    return dir;
}

static const char *mend_of(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "free some space";
    case ENOMEM:
        return "free some memory";
    case EROFS:
        return "it is read-only: give another probe { cache }";
    default:
        return "give another probe { cache }";
    }
}

/* Replace the node's file. */
static int put_file(const struct probe_cache *cache,
                    const struct kept *k,
                    struct es_error *err)
{
    char name[80], *text;
    int dir = make_dir(cache, err), rc;

    if (dir < 0)
        return -1;
    file_name(name, &k->stamp);
    text = to_text(k);
    errno = ENOMEM;
    rc = text ? replace_file(dir, name, text) : -1;
    if (rc < 0)
        es_fail(err, ES_ENV, mend_of(errno), "cache %s/%s: %s", cache->dir,
                name, strerror(errno));
    free(text);
    close(dir);
    return rc;
}

/* --- in ------------------------------------------------------------------- */

/* Read the node's file; NULL with the reason. */
static char *read_file(const struct probe_cache *cache,
                       const char *name,
                       size_t *len,
                       const char **why)
{
    int dir = open_dir(cache, why), fd;
    char *text = NULL;
    ssize_t n;

    if (dir < 0)
        return NULL;
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *why = fd < 0 ? open_error(errno) : why_not_trusted(cache, fd);
    close(dir);
    if (fd >= 0 && !*why) {
        text = malloc(PROBE_CACHE_BYTES_MOST);
        n = text ? read(fd, text, PROBE_CACHE_BYTES_MOST) : -1;
        *len = n > 0 ? (size_t)n : 0;
        if (n < 0) {
            *why = strerror(errno);
            free(text);
            text = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    return text;
}

/* Copy a text into size bytes; -1 if it is too long. */
static int copy_text(char *to, size_t size, const char *from)
{
    size_t len = strlen(from);

    if (len >= size)
        return -1;
    memcpy(to, from, len + 1);
    return 0;
}

static int ring_from_json(json_t *json, struct kept *k)
{
    struct probe_result only[ELEMENTS];
    json_t *elements;
    json_int_t at;

    if (json_unpack_ex(json, NULL, JSON_STRICT, "{s:I, s:o}", "time", &at,
                       "elements", &elements)
            < 0
        || at <= 0 || probe_from_json(only, elements, NULL) < 0)
        return -1;
    k->ring_s = (int64_t)at;
    k->ring = only[ELEMENT_I];
    return k->ring.state == PROBE_MEASURED && k->ring.between ? 0 : -1;
}

/* Read the stamp and the results; -1 if the file is not one of ours. */
static int from_json(json_t *json, struct kept *k)
{
    const char *node, *boot, *hardware, *version;
    struct probe_stamp *stamp = &k->stamp;
    json_t *elements, *ring = NULL;
    json_int_t at;
    int format;

    memset(k, 0, sizeof *k);
    if (json_unpack_ex(json, NULL, JSON_STRICT,
                       "{s:i, s:s, s:s, s:s, s:s, s:I, s:F, s:o, s?:o}",
                       "format", &format, "node", &node, "boot_id", &boot,
                       "hardware", &hardware, "evenstep", &version, "time", &at,
                       "cpus", &stamp->cpus, "elements", &elements, "ring",
                       &ring)
            < 0
        || format != PROBE_CACHE_FORMAT
        || copy_text(stamp->node, sizeof stamp->node, node) < 0
        || copy_text(stamp->boot_id, sizeof stamp->boot_id, boot) < 0
        || copy_text(stamp->hardware, sizeof stamp->hardware, hardware) < 0
        || copy_text(stamp->version, sizeof stamp->version, version) < 0
        || !isfinite(stamp->cpus) || !(stamp->cpus > 0)
        || (ring && ring_from_json(ring, k) < 0))
        return -1;
    stamp->time_s = (int64_t)at;
    return probe_from_json(k->result, elements, NULL);
}

/* NULL, or why what was measured then says nothing of this node. */
static const char *why_foreign(const struct probe_stamp *then,
                               const struct probe_stamp *now)
{
    if (strcmp(then->node, now->node) != 0)
        return "is another node's";
    if (strcmp(then->boot_id, now->boot_id) != 0)
        return "is from another boot";
    if (strcmp(then->hardware, now->hardware) != 0)
        return "is of other hardware";
    if (strcmp(then->version, now->version) != 0)
        return "is by another version of evenstep";
    return NULL;
}

/* NULL, or why what was measured at then_s is not valid at now_s. */
static const char *why_stale(int64_t then_s, int64_t now_s, int64_t ttl_s)
{
    if (then_s > now_s + PROBE_CACHE_EARLY_S)
        return "is from the future";
    if (then_s < now_s - ttl_s)
        return "is older than its ttl";
    return NULL;
}

/* What the links carried says more than what their ports tell. */
static void apply_ring(struct kept *k, int64_t now_s, int64_t ttl_s)
{
    if (k->ring_s > 0 && !why_stale(k->ring_s, now_s, ttl_s))
        k->result[ELEMENT_I] = k->ring;
}

/* NULL, or why the text is not a file of ours. */
static const char *parse_file(const char *text, size_t len, struct kept *k)
{
    json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    const char *why = NULL;

    if (!json)
        why = "is truncated, or no JSON";
    else if (from_json(json, k) < 0)
        why = "is none of ours";
    json_decref(json);
    return why;
}

/* Does the file lack one of these elements, as it is defined today? */
static int lacks_element(const struct probe_result result[ELEMENTS],
                         unsigned elements,
                         const struct probe_site *site)
{
    for (int e = 0; e < ELEMENTS; e++) {
        if (!(elements & PROBE_BIT(e)))
            continue;
        if (result[e].state == PROBE_LEFT_OUT)
            return 1;
        if (e >= ELEMENT_SITE
            && !probe_site_fits(&site[e - ELEMENT_SITE], &result[e]))
            return 1;
    }
    return 0;
}

/* The rate of C is in proportion to the CPUs that may be used. */
static void scale_cpu(struct probe_result *r, double then, double now)
{
    char was[sizeof r->what];

    if (r->state != PROBE_MEASURED || !(fabs(then - now) > 0))
        return;
    memcpy(was, r->what, sizeof was);
    probe_measured(r, r->value / then * now, r->spread,
                   "%.90s, scaled from %.2f to %.2f CPUs", was, then, now);
}

const char *probe_cache_read(const char *text,
                             size_t len,
                             const struct probe_stamp *now,
                             int64_t ttl_s,
                             unsigned elements,
                             const struct probe_site *site,
                             struct probe_result result[ELEMENTS])
{
    struct kept k;
    const char *why = parse_file(text, len, &k);

    if (!why)
        why = why_foreign(&k.stamp, now);
    if (why)
        return why;
    apply_ring(&k, now->time_s, ttl_s);
    why = why_stale(k.stamp.time_s, now->time_s, ttl_s);
    if (!why && lacks_element(k.result, elements, site))
        why = "has not all elements";
    if (why)
        return why;
    scale_cpu(&k.result[ELEMENT_C], k.stamp.cpus, now->cpus);
    for (int e = 0; e < ELEMENTS; e++)
        if (!(elements & PROBE_BIT(e)))
            k.result[e] = (struct probe_result){.state = PROBE_LEFT_OUT};
    memcpy(result, k.result, sizeof k.result);
    return NULL;
}

int probe_cache_get(const struct probe_cache *cache,
                    const struct probe_stamp *now,
                    int64_t ttl_s,
                    unsigned elements,
                    const struct probe_site *site,
                    struct probe_result result[ELEMENTS],
                    struct es_error *err)
{
    const char *why;
    char name[80], *text;
    size_t len = 0;

    file_name(name, now);
    text = read_file(cache, name, &len, &why);
    if (text)
        why = probe_cache_read(text, len, now, ttl_s, elements, site, result);
    free(text);
    return why ? fail_cache(cache, now->node, err, why) : 0;
}

/* --- what is kept beside what is new ---------------------------------------- */

/* What is kept of this node and holds, whatever its age; else an empty one. */
static void load(const struct probe_cache *cache,
                 const struct probe_stamp *now,
                 struct kept *k)
{
    const char *why;
    char name[80], *text;
    size_t len = 0;

    file_name(name, now);
    text = read_file(cache, name, &len, &why);
    if (!text || parse_file(text, len, k) || why_foreign(&k->stamp, now)) {
        memset(k, 0, sizeof *k);
        k->stamp = *now;
    }
    free(text);
}

static int may_write(const struct probe_cache *cache, struct es_error *err)
{
    if (geteuid() == cache->owner)
        return 0;
    return es_fail(err, ES_USAGE, "run it as root, or without the cache",
                   "cache %s: only root may write to it", cache->dir);
}

int probe_cache_put(const struct probe_cache *cache,
                    const struct probe_stamp *stamp,
                    const struct probe_result result[ELEMENTS],
                    struct es_error *err)
{
    struct kept k;

    if (may_write(cache, err) < 0)
        return -1;
    load(cache, stamp, &k);
    k.stamp = *stamp;
    memcpy(k.result, result, sizeof k.result);
    return put_file(cache, &k, err);
}

int probe_cache_put_ring(const struct probe_cache *cache,
                         const struct probe_stamp *stamp,
                         const struct probe_result *ring,
                         struct es_error *err)
{
    struct kept k;

    if (may_write(cache, err) < 0)
        return -1;
    load(cache, stamp, &k);
    k.ring_s = stamp->time_s;
    k.ring = *ring;
    return put_file(cache, &k, err);
}
