/* SPDX-License-Identifier: BSD-2-Clause */
/* What waits in a slot: in its order, and each with its file until it has gone. */
#include "launcher/agent/slice_queue.h"
#include "fault.h"
#include "tap.h"

#include <fcntl.h>
#include <unistd.h>

static struct slice_queue queue;

static int open_file(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        bail("no file");
    return fd;
}

static int is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* A slice with this id, and a file; its descriptor. */
static int put(uint64_t id)
{
    const struct msg_run run = {.id = id};
    int fd = open_file();

    if (slice_queue_put(&queue, &run, fd) < 0)
        bail("no memory");
    return fd;
}

/* The id of the first one, which is freed; 0: there is none. */
static uint64_t take(void)
{
    struct waiting_slice *w = slice_queue_take(&queue);
    uint64_t id = w ? w->run.id : 0;

    waiting_slice_free(w);
    return id;
}

static void test_order(void)
{
    const struct msg_run none = {.id = 4};
    int fd = put(1), other = put(2);

    is_int((intmax_t)slice_queue_size(&queue), 2, "two wait");
    ok(take() == 1 && !is_open(fd) && is_open(other),
       "the first is taken first, and its file goes with it");
    ok(slice_queue_put(&queue, &none, 0) == 0 && take() == 2 && take() == 4,
       "then the others; one need not have a file");
    ok(is_open(0), "which leaves our own stdin alone");
    ok(take() == 0 && slice_queue_size(&queue) == 0, "then none is left");
}

static void test_drop(void)
{
    int fd[4];

    for (uint64_t id = 0; id < 4; id++)
        fd[id] = put(id + 1);
    is_int(slice_queue_drop(&queue, 7), 0, "one that does not wait stays away");
    ok(slice_queue_drop(&queue, 2) && !is_open(fd[1])
           && slice_queue_size(&queue) == 3,
       "one of the middle is forgotten with its file");
    ok(slice_queue_drop(&queue, 4) && slice_queue_drop(&queue, 1),
       "so are the last and the first");
    ok(put(5) >= 0 && take() == 3 && take() == 5,
       "the others keep their order");
    fd[0] = put(6);
    fd[1] = put(7);
    slice_queue_clear(&queue);
    ok(slice_queue_size(&queue) == 0 && !is_open(fd[0]) && !is_open(fd[1]),
       "all are forgotten with their files");
}

static void test_memory(void)
{
    const struct msg_run run = {.id = 1};
    int fd = open_file(), rc;

    fault_at = 0;
    rc = slice_queue_put(&queue, &run, fd);
    fault_at = -1;
    ok(rc == -1 && !is_open(fd) && slice_queue_size(&queue) == 0,
       "without memory the file is closed, and nothing waits");
}

int main(void)
{
    STAILQ_INIT(&queue);
    test_order();
    test_drop();
    test_memory();
    return done();
}
