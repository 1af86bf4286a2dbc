/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A task finds its inputs and leaves its outputs; nothing else of it remains,
 * and nobody else's folder is taken for ours.
 */
#include "launcher/exec/work_folder.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char base[] = "/tmp/evenstep-work.XXXXXX";
static struct work_folder f;
static struct es_error err;

static void put(int at, const char *name, const char *text)
{
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC, 0640);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        bail("%s: %s", name, strerror(errno));
    close(fd);
}

static int has(int at, const char *name, const char *text)
{
    char got[64] = "";
    int fd = openat(at, name, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof got - 1);

    if (fd >= 0)
        close(fd);
    return n >= 0 && strcmp(got, text) == 0;
}

static char one[] = "deep/down/one", two[] = "two", made[] = "out/made",
            other[] = "other";
static struct graph_named in[] = {{10, one}, {11, two}};
static struct graph_named out[] = {{20, made}, {21, other}};
static const struct graph_task task = {
    .id = 5, .input = in, .inputs = 2, .output = out, .outputs = 2};
static char path[4096];

/* printf fact | b2sum -l 256 */
#define FACT "c1659d908900f6495fb031b1d4bd3fed48366db5240ceb6192746f058ac020dd"

static void test_task(void)
{
    struct exchange_file file[2], *listed;
    char hex[FILE_DIGEST_HEX];
    uint32_t n;
    int dir, same = 0;
    struct stat st[2];

    put(f.store, "10", "ten");
    ok(work_folder_begin(&f, &task, path, sizeof path, &err) < 0,
       "an input that is not there is an error (%s)", err.what);
    put(f.store, "11", "eleven");
    is_int(work_folder_begin(&f, &task, path, sizeof path, &err), 0,
           "a task begins, whatever an attempt before has left");
    dir = open(path, O_RDONLY | O_DIRECTORY);
    ok(has(dir, one, "ten") && has(dir, two, "eleven"),
       "its inputs are there, in their folders");
    ok(fstatat(dir, one, &st[0], 0) == 0
           && fstatat(f.store, "10", &st[1], 0) == 0
           && st[0].st_ino == st[1].st_ino,
       "and nothing was copied");
    put(dir, made, "fact");
    is_int(work_folder_take(&f, &task, 1, file, &err), 2,
           "the second output is not there");
    ok(faccessat(f.store, "20", F_OK, 0) < 0 && has(dir, made, "fact"),
       "so none of them goes into the store");
    ok(mkdirat(dir, other, 0700) == 0
           && work_folder_take(&f, &task, 1, file, &err) == 2
           && unlinkat(dir, other, AT_REMOVEDIR) == 0
           && symlinkat("/etc/passwd", dir, other) == 0
           && work_folder_take(&f, &task, 1, file, &err) == 2
           && unlinkat(dir, other, 0) == 0,
       "nor is a folder or a link one");
    put(dir, other, "");
    is_int(work_folder_take(&f, &task, 1, file, &err), 0, "both are there");
    ok(file[0].number == 20 && file[0].bytes == 4 && file[0].mode == 0640
           && file[1].number == 21 && file[1].bytes == 0,
       "what they are is told");
    file_digest_to_hex(&file[0].digest, hex);
    is_str(hex, FACT, "with their digests");
    ok(has(f.store, "20", "fact") && has(f.store, "21", ""),
       "they are in the store");
    close(dir);
    work_folder_end(&f, 5);
    ok(access(path, F_OK) < 0 && has(f.store, "10", "ten"),
       "the task's folder goes, its inputs stay");

    put(f.store, ".evenstep-1.part", "half");
    put(f.store, "x", "no number");
    ok(work_folder_list(&f, &listed, &n, &err) == 0 && n == 4,
       "the store lists what is whole");
    for (uint32_t i = 0; i < n; i++)
        same += listed[i].number == 20
                && file_digest_is_equal(&listed[i].digest, &file[0].digest);
    is_int(same, 1, "and what it is by now");
    free(listed);
    dir = work_folder_read(&f, 20);
    ok(dir >= 0 && work_folder_read(&f, 99) < 0 && errno == ENOENT,
       "a file of the store can be read, one that is not there cannot");
    close(dir);
    ok(work_folder_path(&f, 7, path, sizeof path) == 0
           && strcmp(path + strlen(path) - 8, "/store/7") == 0
           && work_folder_path(&f, 7, path, 20) < 0,
       "where one is to be written");
}

static void test_open(void)
{
    char link[100];
    char kept[4096];

    is_int(work_folder_open(&f, base, "run", "n0", &err), 0,
           "a folder is made");
    snprintf(kept, sizeof kept, "%s", f.path);
    test_task();
    is_int(work_folder_begin(&f, &task, path, sizeof path, &err), 0,
           "a task may be at work when its agent ends");
    work_folder_close(&f, 1);
    ok(access(kept, F_OK) == 0, "it can be kept");
    is_int(work_folder_open(&f, base, "run", "n0", &err), 0, "and taken over");
    ok(access(path, F_OK) < 0, "without the folder of that task");
    ok(has(f.store, "20", "fact"), "with what is in it");
    work_folder_close(&f, 0);
    ok(access(kept, F_OK) < 0, "or it goes, with all that is in it");

    snprintf(link, sizeof link, "%s/elsewhere", base);
    if (mkdir(link, 0700) < 0 || symlink(link, kept) < 0)
        bail("%s", strerror(errno));
    ok(work_folder_open(&f, base, "run", "n0", &err) < 0 && f.fd < 0,
       "a link is not taken for a folder (%s)", err.what);
    unlink(kept);
    if (mkdir(kept, 0700) < 0 || chmod(kept, 0755) < 0)
        bail("%s", strerror(errno));
    ok(work_folder_open(&f, base, "run", "n0", &err) < 0,
       "nor one that others may enter (%s)", err.what);
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    ok(work_folder_open(&f, path, "run", "n0", &err) < 0
           && err.kind == ES_USAGE,
       "a name that is too long");
}

/* A folder of that run, as an agent leaves it that is killed. */
static void abandon(const char *run, const char *node, int kept, int old)
{
    const struct timespec times[2] = {{.tv_sec = old ? 1000 : time(NULL)},
                                      {.tv_sec = old ? 1000 : time(NULL)}};
    struct work_folder left;

    if (work_folder_open(&left, base, run, node, &err) < 0
        || (kept && work_folder_keep(&left, &err) < 0))
        bail("%s", err.what);
    if (futimens(left.fd, times) < 0)
        bail("%s", strerror(errno));
    work_folder_close(&left, 1);
}

static int is_left(const char *run, const char *node)
{
    snprintf(path, sizeof path, "%s/evenstep-graph-%u-%s-%s", base,
             (unsigned)getuid(), run, node);
    return access(path, F_OK) == 0;
}

static void test_sweep(void)
{
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

    abandon("old", "n0", 0, 1);
    abandon("young", "n0", 0, 0);
    abandon("kept", "n0", 1, 1);
    abandon("old", "xn0", 0, 1);
    if (work_folder_open(&f, base, "used", "n0", &err) < 0
        || futimens(f.fd, times) < 0)
        bail("%s", err.what);
    work_folder_sweep(base, "n0");
    ok(!is_left("old", "n0"), "what a killed agent has left is taken away");
    ok(is_left("young", "n0") && is_left("used", "n0"),
       "not what is in use, or may be in a moment");
    ok(is_left("kept", "n0"), "nor what --resume may need");
    ok(is_left("old", "xn0"), "nor what is another node's");
    work_folder_close(&f, 0);
    work_folder_sweep("/nowhere", "n0");
}

int main(void)
{
    char command[100];

    if (!mkdtemp(base))
        bail("no folder");
    test_open();
    test_sweep();
    snprintf(command, sizeof command, "rm -r %s", base);
    if (system(command) != 0)
        diag("%s is left", base);
    return done();
}
