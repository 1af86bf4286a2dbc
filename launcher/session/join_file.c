/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/join_file.h"
#include "launcher/base/spool.h"
#include "launcher/base/state_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER   "join"
#define FILE_MAX 4096 /* 250 are usual */

void join_file_name(char run[JOIN_NAME_MAX], uint32_t job, uint32_t step)
{
    if (job > 0)
        snprintf(run, JOIN_NAME_MAX, "%u.%u", job, step);
    else
        snprintf(run, JOIN_NAME_MAX, "local-%d", (int)getpid());
}

/* --- writing --------------------------------------------------------------- */

/* Owned by the caller. */
static char *compose(const struct join_file *f)
{
    char hex[SECRET_HEX_LEN + 1], *text;
    json_t *json;

    secret_to_hex(&f->secret, hex);
    json = json_pack("{s:s, s:s, s:s, s:i, s:b, s:s}", "evenstep",
                     EVENSTEP_VERSION, "run", f->run, "address", f->address,
                     "port", (int)f->port, "local", f->local, "key", hex);
    text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    sodium_memzero(hex, sizeof hex);
    return text;
}

/* Never half there: under a name with a dot until it is whole. */
static int put_whole(int dir, const char *run, const char *text)
{
    char before[JOIN_NAME_MAX + 2];
    int fd, rc;

    snprintf(before, sizeof before, ".%s", run);
    (void)unlinkat(dir, before, 0); /* of one that has died */
    fd = openat(dir, before,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    rc = write_all(fd, text, strlen(text));
    if (close(fd) < 0 || rc < 0)
        return -1;
    return renameat(dir, before, dir, run);
}

int join_file_put(const struct join_file *f, struct es_error *err)
{
    char *text = compose(f);
    int dir, rc = -1;

    if (!text)
        return es_no_memory(err);
    dir = state_dir_open(FOLDER);
    if (dir >= 0)
        rc = put_whole(dir, f->run, text);
    if (rc < 0)
        rc = es_fail(err, ES_ENV,
                     "set XDG_STATE_HOME to a folder that you may write to",
                     "--joinable: the run's key cannot be kept in your state "
                     "folder: %s",
                     strerror(errno));
    if (dir >= 0)
        close(dir);
    sodium_memzero(text, strlen(text));
    free(text);
    return rc;
}

void join_file_remove(const char *run)
{
    int dir = state_dir_open(FOLDER);

    if (dir < 0)
        return;
    (void)unlinkat(dir, run, 0);
    close(dir);
}

/* --- reading --------------------------------------------------------------- */

static int fail_missing(const char *run, struct es_error *err)
{
    return es_fail(err, ES_ENV,
                   "see its line \"nodes may join\", or give the path of its "
                   "file",
                   "join: no run %.80s takes nodes in: it is over, has no "
                   "--joinable, or is kept in another state folder",
                   run);
}

/* The name of the one run of a job; "" if there is none. */
static int find_of_job(int dir, const char *job, char name[], size_t size)
{
    int fd = dup(dir);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *d;
    size_t len = strlen(job);
    int n = 0;

    while (list && (d = readdir(list)) != NULL)
        if (strncmp(d->d_name, job, len) == 0 && d->d_name[len] == '.'
            && strlen(d->d_name) < size) {
            snprintf(name, size, "%s", d->d_name);
            n++;
        }
    if (list)
        (void)closedir(list); /* only read */
    else if (fd >= 0)
        close(fd);
    return n;
}

static int open_named(const char *run, struct es_error *err)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    char name[JOIN_NAME_MAX] = "";
    int dir, fd, n = 0;

    if (!run[0] || run[0] == '.' || strlen(run) >= JOIN_NAME_MAX)
        return fail_missing(run, err);
    dir = state_dir_open(FOLDER);
    if (dir < 0)
        return fail_missing(run, err);
    fd = openat(dir, run, flags);
    if (fd < 0 && run[strspn(run, "0123456789")] == '\0')
        n = find_of_job(dir, run, name, sizeof name);
    if (n == 1)
        fd = openat(dir, name, flags);
    close(dir);
    if (n > 1)
        return es_fail(err, ES_ENV, "give JOB.STEP, as it says itself",
                       "join: job %s has %d runs", run, n);
    return fd < 0 ? fail_missing(run, err) : fd;
}

/* Who reads the key may send the run what he likes. */
static int check_owner(int fd, const char *run, struct es_error *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return es_fail(err, ES_ENV, "give the name or the file of a run",
                       "join: %.200s is no file", run);
    if (st.st_uid != geteuid())
        return es_fail(err, ES_ENV, "join a run of your own",
                       "join: %.200s is another user's", run);
    if (st.st_mode & 077)
        return es_fail(err, ES_ENV, "chmod 600",
                       "join: others may read or change the key in %.200s",
                       run);
    return 0;
}

static int take_text(struct join_file *f, json_t *json)
{
    const char *run, *address, *key, *release;
    int port, local;
    struct address at;

    if (json_unpack(json, "{s:s, s:s, s:s, s:i, s:b, s:s}", "evenstep",
                    &release, "run", &run, "address", &address, "port", &port,
                    "local", &local, "key", &key)
            < 0
        || port <= 0 || port > UINT16_MAX || strlen(run) >= JOIN_NAME_MAX
        || address_parse(&at, address, (uint16_t)port) < 0
        || secret_from_hex(&f->secret, key) < 0)
        return -1;
    snprintf(f->run, sizeof f->run, "%s", run);
    snprintf(f->address, sizeof f->address, "%s", address);
    f->port = (uint16_t)port;
    f->local = local;
    f->secret.encrypt = 1;
    return 0;
}

static int read_key(struct join_file *f,
                    int fd,
                    const char *run,
                    struct es_error *err)
{
    char text[FILE_MAX];
    ssize_t n = read(fd, text, sizeof text);
    json_t *json = NULL;
    int rc = -1;

    if (n > 0)
        json = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
    if (json)
        rc = take_text(f, json);
    json_decref(json);
    sodium_memzero(text, sizeof text);
    return rc == 0 ? 0
                   : es_fail(err, ES_ENV, "give the name or the file of a run",
                             "join: %.200s is no file of a run", run);
}

int join_file_find(struct join_file *f, const char *run, struct es_error *err)
{
    int fd, rc;

    memset(f, 0, sizeof *f);
    if (!strchr(run, '/')) {
        fd = open_named(run, err);
    } else {
        fd = open(run, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            return es_fail(err, ES_ENV, "give the name or the file of a run",
                           "join: %.200s: %s", run, strerror(errno));
    }
    if (fd < 0)
        return -1;
    rc = check_owner(fd, run, err);
    if (rc == 0)
        rc = read_key(f, fd, run, err);
    close(fd);
    return rc;
}
