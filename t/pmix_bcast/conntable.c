/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/conntable.h"
#include "cost.h"
#include "pmix_bcast/little_endian.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>

/* --- a small step --------------------------------------------------------- */

/*
 * An InfiniBand node, one without, and one over Ethernet; six tasks.
 */

static const struct adapter adapters[] = {
    {.address = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x14, 0x91},
     .network = 0xfe80000000000000,
     .lid = 0x1f,
     .port = 1,
     .rate_mbps = 100000,
     .tcp_port = 40000,
     .lmc = 2,
     .link = ADAPTER_INFINIBAND,
     .ip = {[10] = 0xff, 0xff, 10, 0, 0, 1}},
    {.address = {[10] = 0xff, 0xff, 10, 0, 0, 2},
     .network = 0x0000ffff0a000000,
     .rate_mbps = 1000,
     .tcp_port = 40001,
     .link = ADAPTER_IP,
     .ip = {[10] = 0xff, 0xff, 10, 0, 0, 2}},
    {.address = {0xfe, 0x80, [8] = 0x0a, 0, 0x27, 0xff, 0xfe, 0, 0, 0x01},
     .network = 0xfe80000000000000,
     .port = 2,
     .tcp_port = 40002,
     .link = ADAPTER_ROCE,
     .ip = {0xfd, [15] = 3}},
};
static const uint32_t node_of[] = {0, 1, 0, 2, 1, 0};
static const struct conntable_layout layout = {3, 6, node_of};

#define TASKS 6
#define BYTES (CONNTABLE_HEAD + TASKS * CONNTABLE_ENTRY)

static uint8_t table[BYTES];

static void compose_table(void)
{
    uint32_t local[3];
    struct es_error err;

    if (conntable_compose(table, &layout, adapters, local, &err) < 0)
        bail("%s", err.what);
}

/* --- compose -------------------------------------------------------------- */

static void test_entries(void)
{
    static const uint16_t locals[TASKS] = {0, 0, 1, 0, 1, 2};
    uint32_t local[3] = {9, 9, 9};
    struct conntable less = {table, TASKS - 1, CONNTABLE_OF_NODES};
    struct conntable_entry e;
    struct conntable t;
    struct es_error err;
    int right = 0;

    is_int(conntable_compose(table, &layout, adapters, local, &err), 0,
           "a table is composed");
    ok(local[0] == 3 && local[1] == 2 && local[2] == 1,
       "and the tasks of each node are counted");
    is_int((intmax_t)conntable_size(TASKS), 64 + 6 * 64, "its size");
    is_int(conntable_read(&t, "x", table, BYTES, CONNTABLE_DIGEST, &err), 0,
           "it is a table");
    is_int(t.tasks, TASKS, "of so many tasks");
    for (uint32_t rank = 0; rank < TASKS; rank++) {
        const struct adapter *a = &adapters[node_of[rank]];

        right += conntable_lookup(&t, rank, &e) == 0 && e.node == node_of[rank]
                 && e.local_rank == locals[rank] && e.window == locals[rank]
                 && memcmp(e.adapter.address, a->address, 16) == 0
                 && memcmp(e.adapter.ip, a->ip, 16) == 0
                 && e.adapter.network == a->network && e.adapter.lid == a->lid
                 && e.adapter.port == a->port && e.adapter.lmc == a->lmc
                 && e.adapter.link == a->link
                 && e.adapter.rate_mbps == a->rate_mbps
                 && e.adapter.tcp_port == a->tcp_port;
    }
    is_int(right, TASKS, "every entry comes back");
    ok(conntable_lookup(&t, TASKS, &e) == -1 && e.adapter.link == 0
           && conntable_lookup(&t, UINT32_MAX, &e) == -1
           && conntable_lookup(&less, TASKS - 1, &e) == -1,
       "a rank behind the last is refused");
}

/* The second table of a step. */
static void test_of_tasks(void)
{
    static const uint16_t n0[] = {1000, 1001, 0}, n1[] = {2000, 2001},
                          n2[] = {UINT16_MAX};
    static const uint16_t want[TASKS] = {1000, 2000, 1001, UINT16_MAX, 2001, 0};
    struct conntable_listening at[] = {{n0, 3}, {n1, 2}, {n2, 1}};
    uint8_t out[BYTES], other[BYTES];
    struct conntable_entry e, was;
    struct conntable t, second;
    int right = 0;

    if (conntable_read(&t, "x", table, BYTES, CONNTABLE_DIGEST, NULL) < 0)
        bail("no table");
    is_int(t.ports, CONNTABLE_OF_NODES, "the first one has the nodes' ports");
    is_int(conntable_of_tasks(out, &t, at, 3, NULL), 0, "a second one is made");
    ok(conntable_read(&second, "x", out, BYTES, CONNTABLE_DIGEST, NULL) == 0
           && second.ports == CONNTABLE_OF_TASKS && second.tasks == TASKS,
       "it has the tasks' own");
    for (uint32_t rank = 0; rank < TASKS; rank++) {
        right += conntable_lookup(&second, rank, &e) == 0
                 && conntable_lookup(&t, rank, &was) == 0
                 && e.adapter.tcp_port == want[rank];
        e.adapter.tcp_port = was.adapter.tcp_port;
        right += memcmp(&e, &was, sizeof e) == 0;
    }
    is_int(right, 2 * TASKS, "each its port, and all else as it was");
    memcpy(other, out, BYTES);
    other[20] = CONNTABLE_OF_NODES;
    ok(conntable_read(&second, "x", other, BYTES, CONNTABLE_DIGEST, NULL) == -1,
       "whose they are cannot change unseen");
    at[0].tasks = 2;
    is_int(conntable_of_tasks(out, &t, at, 3, NULL), -1,
           "a node that has not told of all");
    at[0].tasks = 3;
    is_int(conntable_of_tasks(out, &t, at, 2, NULL), -1, "a foreign node");
}

/* The file that other versions wrote; also what t/1100 and the fuzzer read. */
static void test_format(void)
{
    uint8_t kept[BYTES + 1];
    const char *src = getenv("EVENSTEP_SRC");
    char sound[4096];
    FILE *file;

    snprintf(sound, sizeof sound, "%s/t/fuzz/corpus/conntable/sound",
             src ? src : ".");
    file = fopen(sound, "re");
    if (!file)
        bail("%s: %s", sound, strerror(errno));
    ok(fread(kept, 1, sizeof kept, file) == BYTES
           && memcmp(kept, table, BYTES) == 0,
       "the format is what it was when the kept table was made");
    fclose(file);
}

/* Every layout of 4 tasks on 3 nodes. */
static void test_layouts(void)
{
    uint8_t out[CONNTABLE_HEAD + 4 * CONNTABLE_ENTRY];
    uint32_t of[4], local[3];
    const struct conntable_layout all = {3, 4, of};
    struct conntable_entry e;
    struct conntable t;
    int wrong = 0;

    for (unsigned code = 0; code < 81; code++) {
        uint32_t seen[3] = {0};

        for (unsigned i = 0, x = code; i < 4; i++, x /= 3)
            of[i] = x % 3;
        wrong += conntable_compose(out, &all, adapters, local, NULL) != 0;
        wrong +=
            conntable_read(&t, "x", out, sizeof out, CONNTABLE_DIGEST, NULL)
            != 0;
        for (uint32_t i = 0; i < 4; i++)
            wrong += conntable_lookup(&t, i, &e) != 0 || e.node != of[i]
                     || e.local_rank != seen[of[i]]++;
        wrong += memcmp(local, seen, sizeof seen) != 0;
    }
    is_int(wrong, 0, "every layout of 4 tasks on 3 nodes is kept");
}

static void test_compose_bad(void)
{
    static const uint32_t outside[] = {0, 3};
    static const uint32_t inside[] = {0, 2};
    static const uint32_t crowd[CONNTABLE_LOCAL_MAX + 1] = {0};
    struct conntable_layout l = {3, 0, node_of};
    uint8_t *out = malloc(conntable_size(CONNTABLE_LOCAL_MAX + 1));
    struct adapter a[3];
    struct es_error err;
    uint32_t local[3];

    if (!out)
        bail("no memory");
    memcpy(a, adapters, sizeof a);
    is_int(conntable_compose(out, &l, a, local, &err), -1, "no task at all");
    is_str(err.what, "0 tasks have no connection table", "says so");
    l.tasks = CONNTABLE_TASKS_MAX + 1;
    is_int(conntable_compose(out, &l, a, local, &err), -1, "too many tasks");
    is_int(err.kind, ES_USAGE, "are the user's to mend");
    l = (struct conntable_layout){3, 2, outside};
    is_int(conntable_compose(out, &l, a, local, &err), -1, "a foreign node");
    is_str(err.what, "task 1 is on node 3 of 3", "says so");
    a[1].link = ADAPTER_NONE;
    l.node_of = inside;
    is_int(conntable_compose(out, &l, a, local, &err), 0,
           "a node without tasks needs no adapter");
    a[2].link = ADAPTER_NONE;
    is_int(conntable_compose(out, &l, a, local, &err), -1,
           "one with tasks does");
    is_str(err.what, "node 2 has not told its network adapter", "and is named");
    l = (struct conntable_layout){1, CONNTABLE_LOCAL_MAX, crowd};
    is_int(conntable_compose(out, &l, a, local, &err), 0,
           "65536 tasks fit on a node");
    l.tasks++;
    is_int(conntable_compose(out, &l, a, local, &err), -1, "one more does not");
    is_str(err.what, "node 0 has more than 65536 tasks", "says so");
    free(out);
}

/* --- read ----------------------------------------------------------------- */

static int read_copy(const uint8_t *bytes,
                     size_t len,
                     enum conntable_check check,
                     struct es_error *err)
{
    uint8_t *exact = malloc(len + !len); /* so that ASan sees its end */
    struct conntable t;
    int rc;

    if (!exact)
        bail("no memory");
    memcpy(exact, bytes, len);
    rc = conntable_read(&t, "x", exact, len, check, err);
    if (rc < 0 && (t.bytes || t.tasks))
        bail("a table that is refused is open");
    free(exact);
    return rc;
}

static void test_prefixes(void)
{
    uint8_t more[BYTES + CONNTABLE_ENTRY] = {0};
    int taken = 0;

    memcpy(more, table, BYTES);
    for (size_t len = 0; len < BYTES; len++)
        taken += read_copy(table, len, CONNTABLE_HEAD_ONLY, NULL) == 0;
    is_int(taken, 0, "no proper prefix is a table");
    for (size_t len = BYTES + 1; len <= sizeof more; len++)
        taken += read_copy(more, len, CONNTABLE_HEAD_ONLY, NULL) == 0;
    is_int(taken, 0, "nor is one with bytes behind it");
}

/* Every value of every byte of the head. */
static void test_head_bytes(void)
{
    uint8_t bytes[BYTES];
    int taken = 0, digest = 0;

    for (size_t at = 0; at < CONNTABLE_HEAD; at++)
        for (int v = 0; v < 256; v++) {
            memcpy(bytes, table, BYTES);
            bytes[at] = (uint8_t)v;
            taken += read_copy(bytes, BYTES, CONNTABLE_HEAD_ONLY, NULL) == 0;
            digest += read_copy(bytes, BYTES, CONNTABLE_DIGEST, NULL) == 0;
        }
    is_int(taken, 55 + 2 + 8 * 256,
           "each byte of the head but the digest's has one value; whose the "
           "ports are, two");
    is_int(digest, 64, "with the digest checked all of them do");
}

static void test_entry_bytes(void)
{
    uint8_t bytes[BYTES];
    int taken = 0;

    for (size_t at = CONNTABLE_HEAD; at < BYTES; at++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(bytes, table, BYTES);
            bytes[at] ^= (uint8_t)(1 << bit);
            taken += read_copy(bytes, BYTES, CONNTABLE_DIGEST, NULL) == 0;
        }
    is_int(taken, 0, "a flipped bit in any entry is seen");
}

static void test_unchecked(void)
{
    uint8_t bytes[BYTES];
    struct conntable_entry e;
    struct conntable t;

    memcpy(bytes, table, BYTES);
    bytes[conntable_size(2) + 39] = 99; /* link of rank 2 */
    is_int(conntable_read(&t, "x", bytes, BYTES, CONNTABLE_HEAD_ONLY, NULL), 0,
           "without the digest a damaged entry is not seen");
    is_int(conntable_lookup(&t, 2, &e), -1, "until it is looked up");
    ok(conntable_lookup(&t, 1, &e) == 0 && conntable_lookup(&t, 3, &e) == 0,
       "its neighbours are well");
}

/* A table with one field of its head set, and the message. */
static const struct {
    const char *name;
    size_t at;
    uint32_t value;
    const char *what;
} heads[] = {
    {"a foreign magic", 0, 0x464c457f, "x: no connection table"},
    {"version 2", 8, 2, "x: version 2 of the format, not 1"},
    {"version 0", 8, 0, "x: version 0 of the format, not 1"},
    {"entries of 48 bytes", 12, 48, "x: its head is damaged"},
    {"no entries", 16, 0, "x: its head is damaged"},
    {"2^24 + 1 entries", 16, (1 << 24) + 1, "x: its head is damaged"},
    {"2^32 - 1 entries", 16, UINT32_MAX, "x: its head is damaged"},
    {"2^24 entries", 16, 1 << 24,
     "x: 448 bytes, not the 1073741888 of 16777216 tasks"},
    {"one entry less", 16, TASKS - 1, "x: 448 bytes, not the 384 of 5 tasks"},
    {"ports of nobody", 20, 2, "x: its head is damaged"},
    {"ports of others", 20, 1, "x: its digest is wrong"},
    {"something in its reserve", 32, 1, "x: its head is damaged"},
    {"something at its end", 60, 1, "x: its head is damaged"},
    {"a wrong digest", 24, 0, "x: its digest is wrong"},
};

static void test_messages(void)
{
    uint8_t bytes[BYTES];
    struct es_error err;

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        memcpy(bytes, table, BYTES);
        put_le32(bytes + heads[i].at, heads[i].value);
        memset(&err, 0, sizeof err);
        ok(read_copy(bytes, BYTES, CONNTABLE_DIGEST, &err) == -1
               && err.kind == ES_WORK && err.mend[0],
           "%s is refused", heads[i].name);
        is_str(err.what, heads[i].what, "and said to be so");
    }
    is_int(read_copy(table, 63, CONNTABLE_DIGEST, &err), -1,
           "less than a head is refused");
    is_str(err.what, "x: 63 bytes are no table", "and said to be so");
}

/* --- files ---------------------------------------------------------------- */

static char folder[] = "/tmp/evenstep-t-XXXXXX", path[64];

static const char *named(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, size_t len)
{
    FILE *file = fopen(named(name), "we");

    if (!file || fwrite(table, 1, len, file) != len || fclose(file) != 0)
        bail("%s: %s", path, strerror(errno));
}

/* Opening name fails with that reason behind its path. */
static void refused(const char *name, const char *why)
{
    struct conntable t = {table, 1, CONNTABLE_OF_NODES};
    struct es_error err = {0};
    char want[200];

    snprintf(want, sizeof want, "%s: %s", named(name), why);
    ok(conntable_open(&t, path, CONNTABLE_DIGEST, &err) == -1 && !t.bytes,
       "%s is refused", name);
    is_str(err.what, want, "with the reason");
}

/* A process may have been started without a standard input. */
static void test_descriptor_0(void)
{
    int kept = dup(0);
    struct conntable t;

    write_file("whole", BYTES);
    close(0);
    ok(conntable_open(&t, named("whole"), CONNTABLE_DIGEST, NULL) == 0
           && t.tasks == 6,
       "a file with the number of a standard input is one, too");
    conntable_close(&t);
    if (kept >= 0) {
        (void)dup2(kept, 0);
        close(kept);
    }
    (void)unlink(path);
}

static void test_files(void)
{
    struct conntable_entry e;
    struct conntable t;
    struct es_error err;

    write_file("whole", BYTES);
    write_file("empty", 0);
    write_file("part", BYTES - 1);
    if (symlink("whole", named("symlink")) < 0
        || mkfifo(named("fifo"), 0600) < 0 || mkdir(named("folder"), 0700) < 0)
        bail("%s: %s", path, strerror(errno));
    refused("nothing", strerror(ENOENT));
    refused("folder", "no regular file");
    refused("symlink", strerror(ELOOP));
    refused("fifo", "no regular file");
    refused("empty", "no connection table");
    refused("part", "447 bytes, not the 448 of 6 tasks");
    is_int(conntable_open(&t, named("whole"), CONNTABLE_DIGEST, &err), 0,
           "a whole file is mapped");
    (void)unlink(path);
    ok(conntable_lookup(&t, 5, &e) == 0 && e.node == 0 && e.local_rank == 2,
       "and read, also when its name is gone");
    errno = 77;
    conntable_close(&t);
    ok(!t.bytes && t.tasks == 0 && errno == 77, "then closed");
    conntable_close(&t);
    ok(conntable_lookup(&t, 0, &e) == -1, "a closed table has no rank");
    test_descriptor_0();
    (void)unlink(named("empty")), (void)unlink(named("part"));
    (void)unlink(named("symlink")), (void)unlink(named("fifo"));
    (void)rmdir(named("folder"));
}

/* --- a large step --------------------------------------------------------- */

#define MANY       1000000u
#define MANY_NODES 16384u

static void test_many(const char *name, int cyclic)
{
    uint32_t *of = malloc(MANY * sizeof *of);
    uint32_t *local = malloc(MANY_NODES * sizeof *local);
    struct adapter *a = calloc(MANY_NODES, sizeof *a);
    uint8_t *out = malloc(conntable_size(MANY));
    struct conntable_layout l = {MANY_NODES, MANY, of};
    struct conntable_entry e;
    struct conntable t;
    double start, made, read;
    uint64_t sum = 0;
    int rc;

    if (!of || !local || !a || !out)
        bail("no memory");
    for (uint32_t i = 0; i < MANY_NODES; i++)
        a[i] = adapters[i % 3];
    for (uint32_t i = 0; i < MANY; i++)
        of[i] = cyclic ? i % MANY_NODES
                       : (uint32_t)((uint64_t)i * MANY_NODES / MANY);
    start = cpu_seconds();
    rc = conntable_compose(out, &l, a, local, NULL);
    made = cpu_seconds();
    rc |= conntable_read(&t, "x", out, conntable_size(MANY), CONNTABLE_DIGEST,
                         NULL);
    read = cpu_seconds();
    for (uint32_t i = 0; rc == 0 && i < MANY; i++) {
        rc = conntable_lookup(&t, i, &e);
        sum += e.node == of[i];
    }
    ok(rc == 0 && sum == MANY, "a million tasks, %s", name);
    costs(cpu_seconds() - read, 0.06, "all looked up");
    costs(made - start, 0.1, "composed");
    costs(read - made, 0.02, "its digest checked");
    free(of);
    free(local);
    free(a);
    free(out);
}

int main(void)
{
    if (!mkdtemp(folder))
        bail("%s: %s", folder, strerror(errno));
    compose_table();
    test_entries();
    test_of_tasks();
    test_format();
    test_layouts();
    test_compose_bad();
    test_prefixes();
    test_head_bytes();
    test_entry_bytes();
    test_unchecked();
    test_messages();
    test_files();
    test_many("block by block", 0);
    test_many("cyclic", 1);
    (void)rmdir(folder);
    return done();
}
