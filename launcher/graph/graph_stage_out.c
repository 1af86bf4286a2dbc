/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_stage_out.h"
#include "launcher/base/file_place.h"
#include "launcher/base/notice.h"
#include "launcher/exec/work_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int graph_is_result(const struct graph_running *r, uint32_t file)
{
    return r->work.file[file].takers == 0;
}

/* It goes where links lead to; a pipe or a device stays.  -1 with errno. */
static int fetch_result(struct graph_running *r,
                        uint32_t from,
                        const struct exchange_file *wanted,
                        const char *name)
{
    char path[PLACE_NAME_MAX + 40];
    struct file_place p;
    const char *why;
    int rc, saved;

    if (work_folder_make_way(AT_FDCWD, name) < 0
        || file_place_find(&p, name, &why) < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", p.dir, p.name);
    errno = EEXIST;
    rc = p.is_open || (p.is_there && !S_ISREG(p.st.st_mode))
             ? -1
             : exchange_fetch(r->exchange, from, NULL, wanted, path);
    saved = errno;
    file_place_close(&p);
    errno = saved;
    return rc;
}

void graph_stage_out(struct graph_running *r, uint32_t file)
{
    const struct holder *h = graph_state_source(&r->state, file, GRAPH_NOBODY);
    struct exchange_file wanted;
    uint32_t from;

    if (!h || r->delivered[file] || r->user[file].from != GRAPH_NOBODY)
        return;
    from = h->node;
    wanted = h->file;
    wanted.number = file;
    r->user[file] = (struct user_file){wanted, from};
    if (fetch_result(r, from, &wanted, r->work.file[file].name) < 0)
        graph_finish(r, es_fail(r->err, ES_WORK,
                                "go to a folder that you may write", "%s: %s",
                                r->work.file[file].name, strerror(errno)));
}

void graph_stage_out_all(struct graph_running *r)
{
    for (uint32_t i = 0; i < r->work.files; i++)
        if (graph_is_result(r, i) && r->phase == RUNNING)
            graph_stage_out(r, i);
}

struct graph_input graph_input_of(const struct stat *st)
{
    return (struct graph_input){(uint64_t)st->st_size,
                                st->st_mtim.tv_sec * INT64_C(1000000000)
                                    + st->st_mtim.tv_nsec};
}

/* What is given must be what the run began with. */
static int is_as_it_was(const struct graph_running *r, uint32_t file, int fd)
{
    struct graph_input now;
    struct stat st;

    if (fstat(fd, &st) < 0)
        return 0;
    now = graph_input_of(&st);
    return now.bytes == r->input[file].bytes
           && now.mtime_ns == r->input[file].mtime_ns;
}

int graph_open_input(void *arg, uint32_t file)
{
    struct graph_running *r = arg;
    int fd;

    if (file >= r->work.files || r->work.file[file].maker != GRAPH_NOBODY) {
        errno = EPERM;
        return -1;
    }
    fd = open(r->work.file[file].name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || is_as_it_was(r, file, fd))
        return fd;
    close(fd);
    graph_finish(r, es_fail(r->err, ES_WORK,
                            "leave it as it is until the run is over",
                            "input %s: has changed since the start",
                            r->work.file[file].name));
    errno = ESTALE;
    return -1;
}

int graph_is_delivered(const struct graph_running *r,
                       uint32_t file,
                       const struct exchange_file *made)
{
    struct file_digest now;
    uint64_t bytes;
    int fd = open(r->work.file[file].name, O_RDONLY | O_CLOEXEC), rc;

    if (fd < 0)
        return 0;
    rc = file_digest_of(&now, &bytes, fd);
    close(fd);
    if (rc == 0 && bytes == made->bytes
        && file_digest_is_equal(&now, &made->digest))
        return 1;
    notice("%s is not what was delivered: it is delivered again",
           r->work.file[file].name);
    return 0;
}
