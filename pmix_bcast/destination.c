/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/destination.h"
#include "pmix_bcast/file_io.h"
#include "pmix_bcast/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define FD_FOLDER  "/proc/self/fd"
#define FLOW_MAX_S 0.02 /* a hint takes microseconds where the disk keeps up */

static int check_name(const struct destination *d)
{
    struct stat st;

    if (fstatat(d->target.folder, d->target.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (!d->force)
        return EEXIST;
    return mounts_is_point(d->target.folder, d->target.name) ? EBUSY : 0;
}

/* A file in memory: to reserve room is to get every page there and then (12.5
 * MB on each of 23 nodes that shared two cores: the file came 40 ms later). */
static int is_in_memory(int fd, struct statfs *fs)
{
    return fstatfs(fd, fs) == 0
           && (fs->f_type == TMPFS_MAGIC || fs->f_type == RAMFS_MAGIC);
}

/* So that a full disk is known at once.  What cannot fit is not tried: fallocate()
 * would take all that is left from everybody before it finds that out.  What it has
 * reserved need not be promised. */
static int reserve(const struct destination *d,
                   uint64_t bytes,
                   struct room *room)
{
    struct statfs fs;

    room_begin(room, d->target.folder);
    room_add(room, bytes);
    if (room_ask(room, d->target.folder, 0) != 0)
        return ENOSPC;
    if (bytes == 0)
        return 0;
    if (!is_in_memory(d->fd, &fs)) {
        if (fallocate(d->fd, 0, 0, (off_t)bytes) == 0) {
            room->need.blocks = 0;
            return 0;
        }
        if (errno != EOPNOTSUPP && errno != ENOSYS)
            return errno;
    }
    return ftruncate(d->fd, (off_t)bytes) < 0 ? errno : 0;
}

static void choose_part(struct destination *d)
{
    snprintf(d->part, sizeof d->part, ".evenstep-%08x%08x.part",
             randombytes_random(), randombytes_random());
}

/* Where the file system can, and /proc lets us name it later, a file without a
 * name: nothing is left of it even if we are killed. */
static int open_part(struct destination *d)
{
    if (access(FD_FOLDER, X_OK) == 0) {
        d->fd =
            openat(d->target.folder, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
        if (d->fd >= 0)
            return 0;
        if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
            return errno;
    }
    choose_part(d);
    d->fd = openat(d->target.folder, d->part,
                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (d->fd >= 0)
        return 0;
    d->part[0] = '\0';
    return errno;
}

int destination_open(struct destination *d,
                     const char *path,
                     uint64_t bytes,
                     int force,
                     struct room *room)
{
    struct room alone = {.n_before = 0};
    struct statfs fs;
    int why;

    *d = DESTINATION_CLOSED;
    d->force = force;
    why = target_open(&d->target, path);
    if (why == 0)
        why = check_name(d);
    if (why == 0)
        why = open_part(d);
    if (why == 0)
        why = reserve(d, bytes, room ? room : &alone);
    if (why)
        destination_close(d);
    else if (is_in_memory(d->fd, &fs))
        huge_map_open(&d->map, d->fd, bytes);
    return why;
}

void destination_keep(struct destination *d)
{
    struct statfs fs;

    d->keep = !is_in_memory(d->fd, &fs);
    d->flow = d->keep;
}

/* Not clock.h's, which is of the main thread alone. */
static double seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* fails for a bad id only */
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* On its way at once, so that little is left to wait for at the end.  No more
 * than a hint: a disk that makes us wait even for that would hold up all to whom
 * we pass chunks on, and what is left is brought to it at the end. */
static void send_to_disk(struct destination *d, size_t len, uint64_t at)
{
    double begin = seconds();

    (void)sync_file_range(d->fd, (off_t)at, (off_t)len, SYNC_FILE_RANGE_WRITE);
    d->flow = seconds() - begin < FLOW_MAX_S;
}

uint8_t *destination_place(const struct destination *d, size_t len, uint64_t at)
{
    return huge_map_place(&d->map, len, at);
}

uint8_t *destination_find(const struct destination *d, size_t len, uint64_t at)
{
    return huge_map_find(&d->map, len, at);
}

int destination_write(struct destination *d,
                      const void *bytes,
                      size_t len,
                      uint64_t at)
{
    const uint8_t *place = destination_place(d, len, at);
    int why =
        place && place == bytes ? 0 : file_write_at(d->fd, bytes, len, at);

    if (!why && d->flow)
        send_to_disk(d, len, at);
    return why;
}

/* A first name for a file that has none (open(2), O_TMPFILE). */
static int link_nameless(const struct destination *d, const char *name)
{
    char self[sizeof FD_FOLDER + 12];

    snprintf(self, sizeof self, FD_FOLDER "/%d", d->fd);
    return linkat(AT_FDCWD, self, d->target.folder, name, AT_SYMLINK_FOLLOW);
}

/* Without force the name must still be free; where the file system cannot
 * say so in one step a hard link can.  A link cannot replace: with force a
 * nameless file has another name first. */
static int give_name(struct destination *d)
{
    struct statfs fs;

    if (!d->part[0] && !d->force)
        return link_nameless(d, d->target.name);
    if (!d->part[0]) {
        choose_part(d);
        if (link_nameless(d, d->part) < 0) {
            d->part[0] = '\0';
            return -1;
        }
    }
    if (d->force) {
        if (is_in_memory(d->fd, &fs))
            d->old = openat(d->target.folder, d->target.name,
                            O_PATH | O_NOFOLLOW | O_CLOEXEC);
        return renameat(d->target.folder, d->part, d->target.folder,
                        d->target.name);
    }
    if (renameat2(d->target.folder, d->part, d->target.folder, d->target.name,
                  RENAME_NOREPLACE)
        == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (linkat(d->target.folder, d->part, d->target.folder, d->target.name, 0)
        < 0)
        return -1;
    return unlinkat(d->target.folder, d->part, 0);
}

static int set_mtime(int fd, int64_t ns)
{
    struct timespec times[2];

    file_times(times, ns);
    return futimens(fd, times);
}

int destination_finish(struct destination *d,
                       unsigned mode,
                       const int64_t *mtime_ns)
{
    huge_map_close(&d->map); /* others may cut it short once it has its name */
    if (fchmod(d->fd, mode & 07777) < 0)
        return errno;
    if (mtime_ns && set_mtime(d->fd, *mtime_ns) < 0)
        return errno;
    if (d->keep && fsync(d->fd) < 0)
        return errno;
    if (give_name(d) < 0)
        return errno;
    d->part[0] = '\0';
    return d->keep ? target_sync(&d->target, d->fd) : 0;
}

void destination_close(struct destination *d)
{
    if (d->part[0])
        (void)unlinkat(d->target.folder, d->part, 0);
    huge_map_close(&d->map);
    if (d->fd >= 0)
        close(d->fd);
    if (d->old >= 0)
        close(d->old);
    target_close(&d->target);
    *d = DESTINATION_CLOSED;
}
