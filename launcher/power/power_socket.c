/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/power_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOST_SIZE 65 /* HOST_NAME_MAX + 1; a path of a socket has 108 */

/* --- the folder ----------------------------------------------------------- */

int power_dir_open(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid()
        && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* Create a folder of mode 0755, whatever the umask is. */
static int make_one(const char *dir)
{
    int fd, rc;

    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return -1;
    fd = power_dir_open(dir);
    if (fd < 0)
        return -1;
    rc = fchmod(fd, 0755);
    close(fd);
    return rc;
}

int power_dir_make(const char *dir)
{
    const char *slash = strrchr(dir, '/');
    struct sockaddr_un above; /* paths here must fit into one */
    int n;

    n = snprintf(above.sun_path, sizeof above.sun_path, "%.*s",
                 slash ? (int)(slash - dir) : 0, dir);
    if (n <= 0 || (size_t)n >= sizeof above.sun_path) {
        errno = EINVAL;
        return -1;
    }
    return make_one(above.sun_path) < 0 ? -1 : make_one(dir);
}

/* --- names and peers ------------------------------------------------------ */

static int name_of(struct sockaddr_un *name, const struct power_place *place)
{
    char host[HOST_SIZE] = "";
    int n;

    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    (void)gethostname(host, sizeof host - 1); /* nodes may share the folder */
    n = snprintf(name->sun_path, sizeof name->sun_path,
                 "%s/@%s.%" PRIu32 ".%" PRIu32, place->dir, host, place->job,
                 place->step);
    if (n > 0 && (size_t)n < sizeof name->sun_path)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

static int is_of(int fd, uid_t uid)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0
           && (peer.uid == uid || peer.uid == 0);
}

/* A connected socket, or -1 with errno; EAGAIN if too many others wait. */
static int connect_to(const struct sockaddr_un *name)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int why;

    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)name, sizeof *name) == 0)
        return fd;
    why = errno;
    close(fd);
    errno = why;
    return -1;
}

static int is_dead(const struct sockaddr_un *name)
{
    int fd = connect_to(name);

    if (fd < 0)
        return errno == ECONNREFUSED;
    close(fd);
    return 0;
}

/* --- the guard's end ------------------------------------------------------ */

static int bind_name(int fd, const struct sockaddr_un *name)
{
    const struct sockaddr *address = (const struct sockaddr *)name;

    if (bind(fd, address, sizeof *name) == 0)
        return 0;
    if (errno != EADDRINUSE)
        return -1;
    if (is_dead(name) && unlink(name->sun_path) == 0)
        return bind(fd, address, sizeof *name);
    errno = EADDRINUSE;
    return -1;
}

int power_socket_listen(const struct power_place *place,
                        uid_t uid,
                        struct es_error *err)
{
    struct sockaddr_un name = {.sun_path = ""};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0 && power_dir_make(place->dir) == 0 && name_of(&name, place) == 0
        && bind_name(fd, &name) == 0 && chmod(name.sun_path, 0600) == 0
        && lchown(name.sun_path, uid, (gid_t)-1) == 0 && listen(fd, 1) == 0)
        return fd;
    es_fail(err, ES_ENV,
            errno == EADDRINUSE ? "see which evenstep-power has it"
                                : "let evenstep-power write there",
            "socket %s: %s", name.sun_path[0] ? name.sun_path : place->dir,
            strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int power_socket_accept(int listener, uid_t uid)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0 || is_of(fd, uid))
        return fd;
    close(fd);
    return -1;
}

void power_socket_remove(const struct power_place *place)
{
    struct sockaddr_un name;

    if (name_of(&name, place) == 0)
        (void)unlink(name.sun_path);
}

void power_socket_sweep(int at, const char *name)
{
    struct sockaddr_un there = {.sun_family = AF_UNIX};
    struct stat st;
    int n = snprintf(there.sun_path, sizeof there.sun_path,
                     "/proc/self/fd/%d/%s", at, name);

    if (n > 0 && (size_t)n < sizeof there.sun_path
        && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0
        && S_ISSOCK(st.st_mode) && is_dead(&there))
        (void)unlinkat(at, name, 0);
}

/* --- the agent's end ------------------------------------------------------ */

/* Can nobody but root and us write to the folder?  Else anybody could pose as
 * the guard. */
static int is_closed(const char *dir)
{
    struct stat st;

    return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode)
           && (st.st_uid == 0 || st.st_uid == getuid())
           && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int power_socket_call(const struct power_place *place)
{
    struct sockaddr_un name;
    int fd;

    if (!is_closed(place->dir) || name_of(&name, place) < 0)
        return -1;
    fd = connect_to(&name);
    if (fd < 0 || is_of(fd, getuid()))
        return fd;
    close(fd);
    return -1;
}
