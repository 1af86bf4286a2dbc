/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/object_id.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

/* What <linux/magic.h> lacks: of ZFS (sys/fs/zfs.h), and of what is in some
 * kernels only. */
#define ZFS_MAGIC      0x2fc12fc1u
#define XFS_MAGIC      0x58465342u
#define BCACHEFS_MAGIC 0xca451a4eu
#define EROFS_MAGIC    0xe0f5e1e2u
#define FUSE_MAGIC     0x65735546u

/* On a disk or in memory of this machine; any other may be behind a network. */
static int is_of_one_machine(uint32_t fs)
{
    static const uint32_t local[] = {
        EXT4_SUPER_MAGIC, XFS_MAGIC,   BTRFS_SUPER_MAGIC,
        ZFS_MAGIC,        TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC,
        F2FS_SUPER_MAGIC, RAMFS_MAGIC, SQUASHFS_MAGIC,
        BCACHEFS_MAGIC,   EROFS_MAGIC};

    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if (local[i] == fs)
            return 1;
    return 0;
}

/* --- what the kernel says ------------------------------------------------- */

/* As the server has it now: a client may keep attributes for a minute.  Where
 * that cannot be asked for, they are as they are. */
static int look(struct object_id *id, int fd)
{
    struct statx now;
    struct stat st;

    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
              STATX_INO | STATX_CTIME, &now)
        == 0) {
        id->dev = makedev(now.stx_dev_major, now.stx_dev_minor);
        id->ino = now.stx_ino;
        id->ctime_ns = (int64_t)((uint64_t)now.stx_ctime.tv_sec * 1000000000u
                                 + now.stx_ctime.tv_nsec);
        return 0;
    }
    if (fstat(fd, &st) < 0)
        return errno;
    id->dev = st.st_dev;
    id->ino = st.st_ino;
    id->ctime_ns = (int64_t)((uint64_t)st.st_ctim.tv_sec * 1000000000u
                             + (uint64_t)st.st_ctim.tv_nsec);
    return 0;
}

/* Those of FUSE are numbers of the client alone. */
static uint64_t handle_of(int fd, uint32_t fs)
{
    union {
        struct file_handle head;
        char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } h;
    int mount;

    memset(h.room, 0, sizeof h.room);
    h.head.handle_bytes = MAX_HANDLE_SZ;
    if (fs == FUSE_MAGIC
        || name_to_handle_at(fd, "", &h.head, &mount, AT_EMPTY_PATH) < 0)
        return 0;
    return XXH3_64bits(h.room, sizeof h.head + h.head.handle_bytes);
}

int object_id_of(struct object_id *id, int fd)
{
    struct statfs fs;
    int why;

    memset(id, 0, sizeof *id);
    why = look(id, fd);
    if (why == 0 && fstatfs(fd, &fs) < 0)
        why = errno;
    id->is_local = why == 0 && is_of_one_machine((uint32_t)fs.f_type);
    if (why == 0 && !id->is_local)
        id->handle = handle_of(fd, (uint32_t)fs.f_type);
    return why;
}

/* Without it the name has to do. */
uint64_t object_id_machine(void)
{
    char text[65] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    if (n <= 0)
        (void)gethostname(text, sizeof text - 1);
    return XXH3_64bits(text, strlen(text));
}

/* --- comparing ------------------------------------------------------------ */

int object_id_is_same(const struct object_id *a,
                      const struct object_id *b,
                      int one_machine)
{
    if (a->ino != b->ino)
        return 0;
    if (one_machine && a->dev == b->dev)
        return 1;
    return !(a->is_local && b->is_local)
           && ((a->handle != 0 && a->handle == b->handle)
               || (a->ctime_ns != 0 && a->ctime_ns == b->ctime_ns));
}

/* --- bytes ---------------------------------------------------------------- */

void object_id_write(struct writer *w, const struct object_id *id)
{
    write_u64(w, id->dev);
    write_u64(w, id->ino);
    write_u64(w, id->handle);
    write_u64(w, (uint64_t)id->ctime_ns);
    write_u32(w, id->is_local != 0);
}

struct object_id object_id_read(struct reader *r)
{
    struct object_id id;

    memset(&id, 0, sizeof id);
    id.dev = read_u64(r);
    id.ino = read_u64(r);
    id.handle = read_u64(r);
    id.ctime_ns = (int64_t)read_u64(r);
    id.is_local = read_u32(r) != 0;
    return id;
}
