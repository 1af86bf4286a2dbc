/* SPDX-License-Identifier: BSD-2-Clause */
/* The file that a node makes of a broadcast: chunks, tags, and reading back. */
#include "pmix_bcast/bcast_copy.h"
#include "fault.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CHUNK CHUNK_MIN
#define BYTES (100u * CHUNK)

static struct bcast_order order;
static struct secret secret;
static struct bcast_begun_list begun;
static struct seal *seal;
static uint64_t offset[200];
static uint8_t content[BYTES];
static char dir[] = "/tmp/bcast_copy.XXXXXX";

static void put_chunk(struct bcast_copy *c, uint32_t j)
{
    uint8_t tag[TAG_BYTES];

    if (seal_tag(seal, j, content + offset[j],
                 (size_t)(offset[j + 1] - offset[j]), tag)
            < 0
        || bcast_copy_put(c, j, content + offset[j], tag) != 0)
        bail("chunk %u", j);
}

static void put_all_chunks(struct bcast_copy *c)
{
    for (uint32_t j = order.plan.chunks; j-- > 0;)
        put_chunk(c, j);
}

static void open_copy(struct bcast_copy *c)
{
    if (bcast_copy_init(c, &order, &begun, &secret) != 0
        || bcast_copy_open(c) != 0)
        bail("no copy");
}

static int is_whole(void)
{
    static uint8_t got[BYTES + 1];
    int fd = open(order.destination, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof got);

    if (fd >= 0)
        close(fd);
    return n == BYTES && memcmp(got, content, BYTES) == 0;
}

static uint64_t right_sum(void)
{
    struct chunk_tag tag[200];

    for (uint32_t j = 0; j < order.plan.chunks; j++)
        (void)seal_tag(seal, j, content + offset[j],
                       (size_t)(offset[j + 1] - offset[j]), tag[j].bytes);
    return chunk_tag_sum(tag, order.plan.chunks);
}

static void test_chunks(void)
{
    struct bcast_copy c;
    struct stat st;

    open_copy(&c);
    ok(access(order.destination, F_OK) < 0, "at first the file has no name");
    is_int(c.file.keep, 0, "and need not be on the disk");
    put_all_chunks(&c);
    ok(bcast_copy_sum(&c) == right_sum(), "the tags are kept, in their order");
    is_int(bcast_copy_finish(&c), 0, "it gets its name");
    ok(is_whole(), "and is what was sent");
    ok(stat(order.destination, &st) == 0 && (st.st_mode & 0777) == 0640
           && st.st_mtim.tv_sec > 1000,
       "with its mode, and a time of now");
    bcast_copy_clear(&c);
    ok(is_whole(), "it stays when the copy is cleared");
    open_copy(&c);
    bcast_copy_clear(&c);
    ok(is_whole(), "and when another is begun in its place");
    order.flags = ORDER_TIMES | ORDER_FORCE;
    open_copy(&c);
    put_all_chunks(&c);
    ok(bcast_copy_finish(&c) == 0 && stat(order.destination, &st) == 0
           && st.st_mtim.tv_sec == 1000,
       "the source's time is kept if that is ordered");
    bcast_copy_clear(&c);
    order.flags = 0;
    ok(bcast_copy_init(&c, &order, &begun, &secret) == 0
           && bcast_copy_open(&c) == EEXIST,
       "what is there is replaced only if that is ordered");
    bcast_copy_clear(&c);
    order.flags = ORDER_FORCE;
    (void)unlink(order.destination);
}

static void test_wrong(void)
{
    struct bcast_copy c;
    uint8_t tag[TAG_BYTES], other[TAG_BYTES];

    open_copy(&c);
    (void)seal_tag(seal, 3, content + offset[3], bcast_copy_size(&c, 3), tag);
    memcpy(other, tag, sizeof tag);
    other[TAG_BYTES - 1] ^= 1;
    is_int(bcast_copy_put(&c, 3, content + offset[3], other), EBADMSG,
           "a chunk with a wrong tag is refused");
    is_int(bcast_copy_put(&c, 2, content + offset[2], tag), EBADMSG,
           "and with the tag of another");
    ok(c.tag[3].bytes[0] == 0 && c.tag[2].bytes[0] == 0, "no tag is kept");
    is_int(bcast_copy_put(&c, 3, content + offset[3], tag), 0,
           "the right one is taken");
    bcast_copy_abandon(&c);
    ok(bcast_copy_put(&c, 3, content + offset[3], tag) != 0,
       "nothing is written any more when it has failed");
    bcast_copy_clear(&c);
    ok(access(order.destination, F_OK) < 0, "and nothing is left");
}

static void test_verify(void)
{
    struct bcast_copy c;
    uint8_t byte = 1;
    int turns = 0;

    open_copy(&c);
    put_all_chunks(&c);
    while (c.verified < order.plan.chunks && bcast_copy_verify(&c) == 0)
        turns++;
    ok(c.verified == order.plan.chunks && turns > 1 && turns <= 4,
       "all is read back, some at a time");
    is_int(bcast_copy_verify(&c), 0, "then there is no more");
    is_int(c.verified, order.plan.chunks, "and none is counted twice");
    c.verified = 0;
    fault_at = 0;
    is_int(bcast_copy_verify(&c), ENOMEM, "without memory that is said");
    fault_at = -1;
    is_int(c.verified, 0, "and not taken for read");
    if (pwrite(c.file.fd, &byte, 1, (off_t)offset[2] + 5) != 1)
        bail("cannot write");
    is_int(bcast_copy_verify(&c), EBADMSG, "a byte that has changed is seen");
    is_int(c.verified, 2, "in its chunk");
    c.verified = order.plan.chunks - 1;
    if (ftruncate(c.file.fd, BYTES - 1) < 0)
        bail("cannot shorten");
    is_int(bcast_copy_verify(&c), EBADMSG, "and one that is lacking");
    bcast_copy_clear(&c);
}

static void test_all(void)
{
    struct bcast_copy c;

    open_copy(&c);
    ok(bcast_copy_put_all(&c, content) == 0 && bcast_copy_finish(&c) == 0
           && is_whole(),
       "what comes at once is written at once");
    bcast_copy_clear(&c);
    (void)unlink(order.destination);
}

/* In memory, where chunks are read right into the file if the kernel can. */
static void test_places(void)
{
    const struct plan_wish wish = {
        .bytes = 4 << 20, .nodes = 3, .chunk = CHUNK, .shape = PLAN_STRIPES};
    const struct bcast_order kept = order;
    struct bcast_copy c;
    uint8_t other[CHUNK], *first;

    snprintf(order.destination, sizeof order.destination,
             "/dev/shm/bcast_copy.%ld", (long)getpid());
    if (plan_make(&order.plan, &wish, NULL) < 0)
        bail("no plan");
    open_copy(&c);
    first = bcast_copy_place(&c, 0);
    ok(!bcast_copy_place(&c, 0), "a chunk's place is lent once");
    ok(bcast_copy_ready(&c, 0, other) == other
           && (!first || bcast_copy_ready(&c, 0, first) == first
               || !bcast_copy_ready(&c, 0, first)),
       "who reads it elsewhere stays there");
    bcast_copy_clear(&c);
    order = kept;
}

static int opened(struct bcast_copy *c)
{
    int why = bcast_copy_init(c, &order, &begun, &secret);

    return why ? why : bcast_copy_open(c);
}

/* Made by one order, filled by another. */
static void begin_file(uint32_t id)
{
    struct bcast_copy c;

    order.id = id;
    order.flags = ORDER_BEGIN | ORDER_SYNC;
    order.begun = 0;
    is_int(opened(&c), 0, "a file is begun");
    ok(!bcast_copy_takes_long(&c) && bcast_copy_finish(&c) == 0
           && access(order.destination, F_OK) < 0,
       "and has no name yet");
    bcast_copy_hand_on(&c, &begun);
    bcast_copy_clear(&c);
    order.flags = ORDER_SYNC;
    order.begun = id;
    order.id = 9; /* the seal's */
}

static void test_begun(void)
{
    struct bcast_order kept = order;
    struct bcast_copy c;

    begin_file(1);
    begin_file(2);
    order.begun = 1;
    is_int(opened(&c), 0, "its content may come");
    put_all_chunks(&c);
    ok(bcast_copy_finish(&c) == 0 && is_whole(), "and it gets its name");
    bcast_copy_clear(&c);
    ok(opened(&c) == EPROTO, "its content comes once");
    bcast_copy_clear(&c);
    order.begun = 2;
    order.plan.bytes--;
    ok(opened(&c) == EPROTO, "as much as was said");
    bcast_copy_clear(&c);
    (void)unlink(order.destination);
    order.plan = kept.plan;
    begin_file(3);
    bcast_begun_clear(&begun);
    ok(opened(&c) == EPROTO, "what was forgotten does not come");
    bcast_copy_clear(&c);
    order = kept;
}

/* In memory nothing is reserved: the room is promised. */
static void test_promise(void)
{
    struct bcast_order kept = order;
    struct bcast_copy c;
    struct statvfs fs;

    snprintf(order.destination, sizeof order.destination,
             "/dev/shm/bcast_copy.%ld", (long)getpid());
    if (statvfs("/dev/shm", &fs) < 0 || fs.f_blocks == 0 || fs.f_frsize == 0) {
        skip("a promise", "memory without a limit");
        return;
    }
    begin_file(1);
    ok(begun.n == 1 && begun.need[0].blocks * fs.f_frsize >= BYTES,
       "the room for it is promised");
    begun.need[0].blocks = fs.f_blocks;
    order.begun = 0;
    ok(opened(&c) == ENOSPC && strstr(bcast_copy_why(&c), order.destination)
           && strstr(bcast_copy_why(&c), " more are needed"),
       "to nobody else, who is told how much is lacking");
    bcast_copy_clear(&c);
    bcast_begun_clear(&begun);
    order = kept;
}

static void test_memory(void)
{
    struct bcast_copy c;
    int why = ENOMEM;
    long n = 0;

    for (; why == ENOMEM && n < 20; n++) {
        fault_at = n;
        why = bcast_copy_init(&c, &order, &begun, &secret);
        fault_at = -1;
        bcast_copy_clear(&c);
    }
    ok(why == 0 && n == 5, "each allocation that fails is told");
}

int main(void)
{
    const struct plan_wish wish = {
        .bytes = BYTES, .nodes = 3, .chunk = CHUNK, .shape = PLAN_STRIPES};

    if (!mkdtemp(dir) || secret_make(&secret) < 0
        || plan_make(&order.plan, &wish, NULL) < 0 || order.plan.chunks >= 200)
        bail("no ground to stand on");
    order.id = 9;
    order.flags = ORDER_FORCE;
    order.mode = 0640;
    order.mtime_ns = 1000 * INT64_C(1000000000);
    snprintf(order.destination, sizeof order.destination, "%s/file", dir);
    plan_offsets(&order.plan, offset);
    seal = chunk_tag_seal(&secret, order.id);
    if (!seal)
        bail("no seal");
    for (size_t i = 0; i < BYTES; i++)
        content[i] = (uint8_t)(i * 31 + (i >> 8));
    test_chunks();
    test_wrong();
    test_verify();
    test_all();
    test_places();
    test_begun();
    test_promise();
    test_memory();
    seal_destroy(seal);
    (void)rmdir(dir);
    return done();
}
