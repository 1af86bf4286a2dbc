/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/record_log.h"
#include "launcher/base/file_place.h"
#include "launcher/base/notice.h"
#include "launcher/base/spool.h"
#include "launcher/base/user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static const char mend_path[] = "name a file that you may write";

static int fail_log(const struct record_log *l,
                    enum es_kind kind,
                    const char *mend,
                    const char *what,
                    struct es_error *err)
{
    return es_fail(err, kind, mend, "--journal: %s: %s", l->path, what);
}

/* --- the end of a line ---------------------------------------------------- */

static void write_sum(char text[RECORD_SUM_BYTES + 1],
                      const char *line,
                      size_t len)
{
    snprintf(text, RECORD_SUM_BYTES + 1, ",\"sum\":\"%016jx\"}\n",
             (uintmax_t)XXH3_64bits(line, len));
}

int record_is_whole(const char *line, size_t len)
{
    char sum[RECORD_SUM_BYTES + 1];

    if (len <= RECORD_SUM_BYTES || memchr(line, '\0', len))
        return 0;
    write_sum(sum, line, len - RECORD_SUM_BYTES);
    return memcmp(line + len - RECORD_SUM_BYTES, sum, RECORD_SUM_BYTES) == 0;
}

/* --- writing -------------------------------------------------------------- */

static const char *mend_full(int why)
{
    switch (why) {
    case ENOSPC:
    case EDQUOT:
        return "free some space, then --resume goes on";
    case EFBIG:
        return "raise ulimit -f, then --resume goes on";
    case ENOMEM:
        return "free some memory, then --resume goes on";
    default:
        return "mend that, then --resume goes on";
    }
}

int record_log_full(struct record_log *l, struct es_error *err)
{
    int why = errno;

    (void)!ftruncate(l->fd, l->end); /* else the next reader cuts it off */
    return fail_log(l, ES_WORK, mend_full(why), strerror(why), err);
}

int record_log_put(struct record_log *l, const char *line, int64_t *at)
{
    size_t len = strlen(line) - 1; /* without the brace */
    char sum[RECORD_SUM_BYTES + 1];

    write_sum(sum, line, len);
    if (lseek(l->fd, *at, SEEK_SET) < 0 || write_all(l->fd, line, len) < 0
        || write_all(l->fd, sum, RECORD_SUM_BYTES) < 0)
        return -1;
    *at += (int64_t)len + RECORD_SUM_BYTES;
    return 0;
}

int record_log_put_object(struct record_log *l, json_t *object, int64_t *at)
{
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    int rc = -1;

    json_decref(object);
    errno = ENOMEM;
    if (line)
        rc = record_log_put(l, line, at);
    free(line);
    return rc;
}

int record_log_commit(struct record_log *l,
                      int64_t at,
                      int sync,
                      struct es_error *err)
{
    if (sync && fdatasync(l->fd) < 0)
        return record_log_full(l, err);
    l->end = at;
    return 0;
}

int record_log_add(struct record_log *l, json_t *object, struct es_error *err)
{
    int64_t at = l->end;

    if (record_log_put_object(l, object, &at) < 0
        || (l->end == 0 && user_file_sync_name(l->path) < 0))
        return record_log_full(l, err);
    return record_log_commit(l, at, 1, err);
}

/* --- reading -------------------------------------------------------------- */

static int read_lines(struct record_log *l,
                      FILE *file,
                      record_fn fn,
                      void *arg,
                      struct es_error *err)
{
    enum record_verdict v = RECORD_KEPT;
    char *line = NULL;
    size_t room = 0;
    int64_t at = 0;
    ssize_t len;

    while ((v == RECORD_KEPT || v == RECORD_PART)
           && (len = getline(&line, &room, file)) > 0
           && record_is_whole(line, (size_t)len)) {
        v = fn(arg, line, at, err);
        at += len;
        if (v == RECORD_KEPT)
            l->end = at;
    }
    free(line);
    return v == RECORD_FAILED ? -1 : 0;
}

static int cut_torn_end(struct record_log *l, struct es_error *err)
{
    struct stat st;

    if (l->end == 0)
        return fail_log(l, ES_USAGE, "name another file",
                        "is no journal of evenstep", err);
    if (fstat(l->fd, &st) == 0 && st.st_size > l->end)
        notice("%s: its last %jd bytes are incomplete and not used", l->path,
               (intmax_t)(st.st_size - l->end));
    return ftruncate(l->fd, l->end) < 0 ? record_log_full(l, err) : 0;
}

/* A file of another kind may have no line end for gigabytes: look at its first
 * bytes before a line is read. */
static int begins_well(const struct record_log *l)
{
    static const char head[] = "{\"type\":\"";
    char first[sizeof head] = "";

    return pread(l->fd, first, sizeof head - 1, 0) == sizeof head - 1
           && strcmp(first, head) == 0;
}

int record_log_read(struct record_log *l,
                    record_fn fn,
                    void *arg,
                    struct es_error *err)
{
    int fd = dup(l->fd), rc;
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (!file) {
        rc = fail_log(l, ES_ENV, mend_path, strerror(errno), err);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    rc = begins_well(l) ? read_lines(l, file, fn, arg, err) : 0;
    fclose(file);
    return rc < 0 ? -1 : cut_torn_end(l, err);
}

/* --- opening -------------------------------------------------------------- */

/* Keep other processes out.  Where the file system has no locks, the user must
 * see to it. */
static int lock_log(const struct record_log *l, struct es_error *err)
{
    if (flock(l->fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno == EWOULDBLOCK)
        return fail_log(l, ES_USAGE, "wait for it, or name another file",
                        "another run is using it", err);
    if (errno != ENOLCK && errno != EOPNOTSUPP && errno != ENOSYS)
        return fail_log(l, ES_USAGE, mend_path, strerror(errno), err);
    notice("warning: %s: its file system has no locks: make sure that no other "
           "run uses it",
           l->path);
    return 0;
}

int record_log_open(struct record_log *l,
                    const char *path,
                    int resume,
                    struct es_error *err)
{
    const char *why;
    struct stat st;

    *l = (struct record_log){.path = path};
    l->fd = user_file_open(path, O_RDWR | O_NONBLOCK, &why);
    if (l->fd < 0)
        return fail_log(l, ES_USAGE,
                        why == file_place_of_another ? "name a file of your own"
                                                     : mend_path,
                        why, err);
    if (fstat(l->fd, &st) < 0)
        return fail_log(l, ES_USAGE, mend_path, strerror(errno), err);
    if (!S_ISREG(st.st_mode))
        return fail_log(l, ES_USAGE, mend_path, "is no regular file", err);
    if (lock_log(l, err) < 0)
        return -1;
    if (st.st_size > 0 && !resume)
        return fail_log(l, ES_USAGE,
                        "give --resume to go on with it, or name another file",
                        "is there already", err);
    return st.st_size > 0;
}

void record_log_close(struct record_log *l)
{
    int saved = errno;

    if (l->fd >= 0)
        close(l->fd); /* all that counts was synced */
    l->fd = -1;
    errno = saved;
}
