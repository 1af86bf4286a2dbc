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

/* --- out ------------------------------------------------------------------ */

static char *to_text(const struct probe_stamp *s,
                     const struct probe_result result[ELEMENTS])
{
    json_t *json = json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:I, s:f, s:o}", "format",
        PROBE_CACHE_FORMAT, "node", s->node, "boot_id", s->boot_id, "hardware",
        s->hardware, "evenstep", s->version, "time", (json_int_t)s->time_s,
        "cpus", s->cpus, "elements", probe_to_json(result));
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

int probe_cache_put(const struct probe_cache *cache,
                    const struct probe_stamp *stamp,
                    const struct probe_result result[ELEMENTS],
                    struct es_error *err)
{
    char name[80], *text;
    int dir, rc;

    if (geteuid() != cache->owner)
        return es_fail(err, ES_USAGE, "run it as root, or without the cache",
                       "cache %s: only root may write to it", cache->dir);
    dir = make_dir(cache, err);
    if (dir < 0)
        return -1;
    file_name(name, stamp);
    text = to_text(stamp, result);
    errno = ENOMEM;
    rc = text ? replace_file(dir, name, text) : -1;
    if (rc < 0)
        es_fail(err, ES_ENV, "free some space", "cache %s/%s: %s", cache->dir,
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

/* Read the stamp and the results; -1 if the file is not one of ours. */
static int from_json(json_t *json,
                     struct probe_stamp *stamp,
                     struct probe_result result[ELEMENTS])
{
    const char *node, *boot, *hardware, *version;
    json_t *elements;
    json_int_t at;
    int format;

    memset(stamp, 0, sizeof *stamp);
    if (json_unpack_ex(json, NULL, JSON_STRICT,
                       "{s:i, s:s, s:s, s:s, s:s, s:I, s:F, s:o}", "format",
                       &format, "node", &node, "boot_id", &boot, "hardware",
                       &hardware, "evenstep", &version, "time", &at, "cpus",
                       &stamp->cpus, "elements", &elements)
            < 0
        || format != PROBE_CACHE_FORMAT
        || copy_text(stamp->node, sizeof stamp->node, node) < 0
        || copy_text(stamp->boot_id, sizeof stamp->boot_id, boot) < 0
        || copy_text(stamp->hardware, sizeof stamp->hardware, hardware) < 0
        || copy_text(stamp->version, sizeof stamp->version, version) < 0
        || !isfinite(stamp->cpus) || !(stamp->cpus > 0))
        return -1;
    stamp->time_s = (int64_t)at;
    return probe_from_json(result, elements, NULL);
}

/* NULL, or why the results of then are not valid now. */
static const char *why_stale(const struct probe_stamp *then,
                             const struct probe_stamp *now,
                             int64_t ttl_s)
{
    if (strcmp(then->node, now->node) != 0)
        return "is another node's";
    if (strcmp(then->boot_id, now->boot_id) != 0)
        return "is from another boot";
    if (strcmp(then->hardware, now->hardware) != 0)
        return "is of other hardware";
    if (strcmp(then->version, now->version) != 0)
        return "is by another version of evenstep";
    if (then->time_s > now->time_s + PROBE_CACHE_EARLY_S)
        return "is from the future";
    if (then->time_s < now->time_s - ttl_s)
        return "is older than its ttl";
    return NULL;
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
    json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    struct probe_result kept[ELEMENTS];
    struct probe_stamp then;
    const char *why;

    if (!json)
        why = "is truncated, or no JSON";
    else if (from_json(json, &then, kept) < 0)
        why = "is none of ours";
    else if (!(why = why_stale(&then, now, ttl_s))
             && lacks_element(kept, elements, site))
        why = "has not all elements";
    json_decref(json);
    if (why)
        return why;
    scale_cpu(&kept[ELEMENT_C], then.cpus, now->cpus);
    for (int e = 0; e < ELEMENTS; e++)
        if (!(elements & PROBE_BIT(e)))
            kept[e] = (struct probe_result){.state = PROBE_LEFT_OUT};
    memcpy(result, kept, sizeof kept);
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
