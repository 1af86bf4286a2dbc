/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/text_file.h"
#include "launcher/base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const unsigned char mark[] = {0xef, 0xbb, 0xbf};

size_t text_file_mark(const char *text, size_t len)
{
    return len >= sizeof mark && memcmp(text, mark, sizeof mark) == 0
               ? sizeof mark
               : 0;
}

void text_file_skip_mark(FILE *file)
{
    size_t n = 0;
    int c = EOF;

    while (n < sizeof mark && (c = getc(file)) == mark[n])
        n++;
    if (n == sizeof mark)
        return;
    (void)ungetc(c, file); /* EOF is none; glibc takes all back */
    while (n > 0)
        (void)ungetc(mark[--n], file);
}

/* --- what is no text ------------------------------------------------------ */

static char gzip[] = "gzip", zstd[] = "zstd", bzip2[] = "bzip2", xz[] = "xz",
            lz4[] = "lz4", write_out[] = "-dc";
static char *const by_gzip[] = {gzip, write_out, NULL};
static char *const by_zstd[] = {zstd, write_out, NULL};
static char *const by_bzip2[] = {bzip2, write_out, NULL};
static char *const by_xz[] = {xz, write_out, NULL};
static char *const by_lz4[] = {lz4, write_out, NULL};

static const struct {
    const char *begin;
    size_t n;
    struct text_file_kind kind;
} known[] = {
    {"\x1f\x8b", 2, {gzip, "gzip -dc", by_gzip}},
    {"\x28\xb5\x2f\xfd", 4, {zstd, "zstd -dc", by_zstd}},
    {"BZh", 3, {bzip2, "bzip2 -dc", by_bzip2}},
    {"\xfd"
     "7zXZ",
     5,
     {xz, "xz -dc", by_xz}},
    {"\x04\x22\x4d\x18", 4, {lz4, "lz4 -dc", by_lz4}},
    {"PK\x03\x04", 4, {"zip", "bsdtar -xOf -", NULL}},
    {"\xff\xfe\0\0", 4, {"UTF-32", "iconv -f UTF-32 -t UTF-8", NULL}},
    {"\0\0\xfe\xff", 4, {"UTF-32", "iconv -f UTF-32 -t UTF-8", NULL}},
    {"\xff\xfe", 2, {"UTF-16", "iconv -f UTF-16 -t UTF-8", NULL}},
    {"\xfe\xff", 2, {"UTF-16", "iconv -f UTF-16 -t UTF-8", NULL}},
};

/* "BZh" may begin a text: a digit and the first block, or the end, follow. */
static int is_bzip2(const char *begin, size_t n)
{
    return n >= 6 && begin[3] >= '1' && begin[3] <= '9'
           && (memcmp(begin + 4, "1A", 2) == 0
               || memcmp(begin + 4, "\x17\x72", 2) == 0);
}

const struct text_file_kind *text_file_kind(const char *begin, size_t n)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (n >= known[i].n && memcmp(begin, known[i].begin, known[i].n) == 0
            && (known[i].kind.unpack != by_bzip2 || is_bzip2(begin, n)))
            return &known[i].kind;
    return NULL;
}

/* poll(), unlike read(), always ends when a signal is caught. */
int text_file_copy(int from, int to)
{
    struct pollfd input = {.fd = from, .events = POLLIN};
    char bytes[65536];
    ssize_t n;

    do {
        if (poll(&input, 1, -1) < 0)
            return -1;
        n = read(from, bytes, sizeof bytes);
        if (n < 0 && errno != EAGAIN)
            return -1;
        if (n > 0 && write_all(to, bytes, (size_t)n) < 0)
            return -1;
    } while (n != 0);
    return 0;
}

/* With the signals as they are by default.  0, or an errno. */
static int start(pid_t *pid, char *const words[], int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t all, none;
    int error;

    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawnattr_init(&how);
    if (error) {
        (void)posix_spawn_file_actions_destroy(&files);
        return error;
    }
    (void)posix_spawnattr_setsigdefault(&how, &all);
    (void)posix_spawnattr_setsigmask(&how, &none);
    (void)posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF
                                             | POSIX_SPAWN_SETSIGMASK);
    error = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (!error)
        error = posix_spawnp(pid, words[0], &files, &how, words, environ);
    (void)posix_spawnattr_destroy(&how);
    (void)posix_spawn_file_actions_destroy(&files);
    return error;
}

/* The status of a child that has ended, or soon does. */
static int status_of(pid_t pid)
{
    int status = -1;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static int unpack(char *const words[], int from, int to, int *status)
{
    int pipes[2], error, rc;
    pid_t pid;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return -1;
    error = start(&pid, words, from, pipes[1]);
    (void)close(pipes[1]);
    rc = error ? -1 : text_file_copy(pipes[0], to);
    if (!error && rc < 0) {
        error = errno;
        (void)kill(pid, SIGKILL);
        (void)status_of(pid);
    } else if (!error) {
        *status = status_of(pid);
    }
    (void)close(pipes[0]);
    errno = error;
    return rc;
}

int text_file_unpack(const struct text_file_kind *kind,
                     int from,
                     int to,
                     const char *what,
                     struct es_error *err)
{
    int status = 0, why;

    if (unpack(kind->unpack, from, to, &status) == 0 && status == 0)
        return 0;
    why = status ? 0 : errno;
    if (why == EINTR)
        return es_fail(err, ES_WORK, "nothing has begun",
                       "ended while it read %s", what);
    if (why == ENOENT)
        return es_fail(err, ES_USAGE, "install that, or give its text",
                       "%s: is packed by %s, which is not here", what,
                       kind->name);
    if (why)
        return es_fail(err, ES_USAGE, spool_mend(why),
                       "%s: cannot be unpacked by %s: %s", what, kind->command,
                       strerror(why));
    return es_fail(err, ES_USAGE, "give one that is whole",
                   "%s: cannot be unpacked by %s", what, kind->command);
}
