/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/work_folder.h"
#include "launcher/base/number.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_SIZE 32 /* of a file of the store, or a task's folder */
#define KEPT      "kept"
#define PREFIX    "evenstep-graph-%u-" /* the user */

static int fail_on(const char *path, struct es_error *err)
{
    return es_fail(err, ES_WORK, "see --work", "%s: %s", path, strerror(errno));
}

/* --- open ----------------------------------------------------------------- */

void work_folder_sweep(const char *folder, const char *node)
{
    char prefix[64];

    snprintf(prefix, sizeof prefix, PREFIX, (unsigned)getuid());
    own_folder_sweep(folder, prefix, node, KEPT);
}

int work_folder_keep(const struct work_folder *f, struct es_error *err)
{
    int fd =
        openat(f->fd, KEPT, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return fail_on(f->path, err);
    close(fd);
    return 0;
}

/* Remove folders of tasks that were running when the run before ended. */
static void remove_tasks(int fd)
{
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    struct dirent *d;

    if (!list) {
        if (again >= 0)
            close(again);
        return;
    }
    while ((d = readdir(list)) != NULL)
        if (strncmp(d->d_name, "task-", 5) == 0)
            own_folder_remove(dirfd(list), d->d_name);
    closedir(list);
}

int work_folder_open(struct work_folder *f,
                     const char *folder,
                     const char *run,
                     const char *node,
                     struct es_error *err)
{
    int n;

    *f = WORK_FOLDER_CLOSED;
    n = snprintf(f->path, sizeof f->path, "%s/" PREFIX "%s-%s", folder,
                 (unsigned)getuid(), run, node);
    if (n < 0 || (size_t)n >= sizeof f->path - NAME_SIZE) {
        f->path[0] = '\0';
        return es_fail(err, ES_USAGE, "give a shorter path",
                       "--work: the path is too long");
    }
    f->fd = own_folder_open(AT_FDCWD, f->path);
    if (f->fd >= 0)
        f->store = own_folder_open(f->fd, "store");
    if (f->store >= 0) {
        (void)flock(f->fd, LOCK_EX | LOCK_NB); /* until this process ends */
        remove_tasks(f->fd);
        return 0;
    }
    (void)fail_on(f->path, err);
    work_folder_close(f, 1);
    return -1;
}

void work_folder_close(struct work_folder *f, int keep)
{
    if (f->store >= 0)
        close(f->store);
    if (f->fd >= 0)
        close(f->fd);
    if (f->fd >= 0 && !keep)
        own_folder_remove(AT_FDCWD, f->path);
    *f = WORK_FOLDER_CLOSED;
}

/* --- the store ------------------------------------------------------------ */

static void store_name(char name[NAME_SIZE], uint32_t number)
{
    snprintf(name, NAME_SIZE, "%u", number);
}

static void task_name(char name[NAME_SIZE], uint32_t task)
{
    snprintf(name, NAME_SIZE, "task-%u", task);
}

/* Find mode, size and digest of a file; 1 if it is no regular one, -1 with
 * errno. */
static int describe_file(int dir,
                         const char *name,
                         int sync,
                         struct exchange_file *file)
{
    struct stat st;
    int fd, rc = -1;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT || errno == ENOTDIR ? 1 : -1;
    if (!S_ISREG(st.st_mode))
        return 1;
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    file->mode = st.st_mode & 07777;
    if (file_digest_of(&file->digest, &file->bytes, fd) == 0
        && (!sync || fsync(fd) == 0))
        rc = 0;
    close(fd);
    return rc;
}

static int add_listed(const struct work_folder *f,
                      const char *name,
                      struct exchange_file **file,
                      uint32_t *n,
                      size_t *room)
{
    struct exchange_file *grown, found = {0};
    int64_t number;

    if (number_parse_int(name, 0, UINT32_MAX, &number) < 0
        || describe_file(f->store, name, 0, &found) != 0)
        return 0; /* no file of ours, or one that cannot be read */
    found.number = (uint32_t)number;
    grown = array_grow(*file, room, *n + (size_t)1, sizeof *grown, UINT32_MAX);
    if (!grown)
        return -1;
    *file = grown;
    grown[(*n)++] = found;
    return 0;
}

int work_folder_list(const struct work_folder *f,
                     struct exchange_file **file,
                     uint32_t *n,
                     struct es_error *err)
{
    int fd = openat(f->store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *d;
    size_t room = 0;
    int rc = 0;

    *file = NULL;
    *n = 0;
    if (!list) {
        (void)fail_on(f->path, err);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while (rc == 0 && (d = readdir(list)) != NULL)
        rc = add_listed(f, d->d_name, file, n, &room);
    closedir(list);
    if (rc == 0)
        return 0;
    free(*file);
    *file = NULL;
    return es_no_memory(err);
}

int work_folder_read(const struct work_folder *f, uint32_t number)
{
    char name[NAME_SIZE];

    store_name(name, number);
    return openat(f->store, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

int work_folder_path(const struct work_folder *f,
                     uint32_t number,
                     char *path,
                     size_t size)
{
    int n = snprintf(path, size, "%s/store/%u", f->path, number);

    return n < 0 || (size_t)n >= size ? -1 : 0;
}

/* --- tasks ---------------------------------------------------------------- */

int work_folder_make_way(int at, const char *name)
{
    char part[GRAPH_NAME_MAX + 2];

    for (size_t i = 1; name[i]; i++) {
        if (name[i] != '/')
            continue;
        snprintf(part, sizeof part, "%.*s", (int)i, name);
        if (mkdirat(at, part, 0777) < 0 && errno != EEXIST)
            return -1;
    }
    return 0;
}

static int link_input(const struct work_folder *f,
                      int task,
                      const struct graph_named *input)
{
    char name[NAME_SIZE];

    store_name(name, input->number);
    if (work_folder_make_way(task, input->name) < 0)
        return -1;
    return linkat(f->store, name, task, input->name, 0);
}

int work_folder_begin(const struct work_folder *f,
                      const struct graph_task *task,
                      char *path,
                      size_t size,
                      struct es_error *err)
{
    char name[NAME_SIZE];
    int dir, n, rc = 0;

    task_name(name, task->id);
    n = snprintf(path, size, "%s/%s", f->path, name);
    if (n < 0 || (size_t)n >= size)
        return es_fail(err, ES_USAGE, "give a shorter path",
                       "--work: the path is too long");
    own_folder_remove(f->fd, name); /* an earlier attempt may have left it */
    dir = own_folder_open(f->fd, name);
    if (dir < 0)
        return fail_on(path, err);
    for (uint32_t i = 0; rc == 0 && i < task->inputs; i++)
        if (link_input(f, dir, &task->input[i]) < 0)
            rc = fail_on(task->input[i].name, err);
    for (uint32_t i = 0; rc == 0 && i < task->outputs; i++)
        if (work_folder_make_way(dir, task->output[i].name) < 0)
            rc = fail_on(task->output[i].name, err);
    close(dir);
    return rc;
}

static int move_outputs(const struct work_folder *f,
                        int dir,
                        const struct graph_task *task,
                        int sync,
                        struct exchange_file file[],
                        struct es_error *err)
{
    const struct graph_named *output = task->output;
    char name[NAME_SIZE];
    int rc;

    for (uint32_t i = 0; i < task->outputs; i++) {
        file[i] = (struct exchange_file){.number = output[i].number};
        rc = describe_file(dir, output[i].name, sync, &file[i]);
        if (rc != 0)
            return rc < 0 ? fail_on(output[i].name, err) : (int)i + 1;
    }
    for (uint32_t i = 0; i < task->outputs; i++) {
        store_name(name, output[i].number);
        if (renameat(dir, output[i].name, f->store, name) < 0)
            return fail_on(output[i].name, err);
    }
    return sync && fsync(f->store) < 0 ? fail_on(f->path, err) : 0;
}

int work_folder_take(const struct work_folder *f,
                     const struct graph_task *task,
                     int sync,
                     struct exchange_file file[],
                     struct es_error *err)
{
    char name[NAME_SIZE];
    int dir, rc;

    task_name(name, task->id);
    dir = openat(f->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return fail_on(name, err);
    rc = move_outputs(f, dir, task, sync, file, err);
    close(dir);
    return rc;
}

int work_folder_has_directory(const struct work_folder *f,
                              uint32_t task,
                              const char *output)
{
    char name[NAME_SIZE];
    struct stat st;
    int dir, is = 0;

    task_name(name, task);
    dir = openat(f->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return 0;
    is = fstatat(dir, output, &st, AT_SYMLINK_NOFOLLOW) == 0
         && S_ISDIR(st.st_mode);
    close(dir);
    return is;
}

void work_folder_end(const struct work_folder *f, uint32_t task)
{
    char name[NAME_SIZE];

    task_name(name, task);
    own_folder_remove(f->fd, name);
}
