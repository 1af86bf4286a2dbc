/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which CPUs and which GPU a slot has, on machines that hwloc is told of, and
 * in a folder that stands for /dev, /proc and /sys.
 */
#include "launcher/agent/places.h"
#include "fault.h"
#include "launcher/agent/gpus.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES CPU_ALLOC_SIZE(PLACE_CPUS)
/* Two sockets, each with three cores of two threads: CPUs 0 and 1 are a core. */
#define MACHINE "package:2 core:3 pu:2"

static char *no_words[] = {NULL};
static char root[] = "/tmp/evenstep-places.XXXXXX";
static char why[TEXT_MAX];

static struct places make(const char *machine,
                          uint32_t kind,
                          uint32_t n,
                          char **words)
{
    const struct msg_slots order = {.kind = kind, .n = n};
    struct places p;

    setenv("HWLOC_SYNTHETIC", machine, 1);
    if (places_init(&p, &order, words, root, why) < 0)
        bail("no memory");
    unsetenv("HWLOC_SYNTHETIC");
    return p;
}

/* A place's CPUs, as "0,1"; "all" if it is not bound. */
static const char *cpus(const struct places *p, size_t i)
{
    static char text[200];
    size_t len = 0;

    if (!p->place[i].cpus)
        return "all";
    text[0] = '\0';
    for (size_t cpu = 0; cpu < PLACE_CPUS && len < sizeof text; cpu++)
        if (CPU_ISSET_S(cpu, BYTES, p->place[i].cpus))
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%zu",
                                    len > 0 ? "," : "", cpu);
    return text;
}

static const struct {
    uint32_t kind, n;
    const char *first, *last;
    size_t want;
    const char *what;
} cuts[] = {
    {SLOTS_CORES, 0, "0,1", "10,11", 6, "cores, each with its threads"},
    {SLOTS_SOCKETS, 0, "0,1,2,3,4,5", "6,7,8,9,10,11", 2, "sockets"},
    {SLOTS_NUMBER, 1, "0,1,2,3,4,5,6,7,8,9,10,11", "0,1,2,3,4,5,6,7,8,9,10,11",
     1, "one slot"},
    {SLOTS_NUMBER, 2, "0,1,2,3,4,5", "6,7,8,9,10,11", 2, "two halves"},
    {SLOTS_NUMBER, 4, "0,1", "8,9,10,11", 4, "parts that differ by a core"},
    {SLOTS_NUMBER, 6, "0,1", "10,11", 6, "as many as cores"},
    {SLOTS_NUMBER, 7, "0", "10,11", 7, "more than cores: threads"},
    {SLOTS_NUMBER, 12, "0", "11", 12, "as many as threads"},
    {SLOTS_NUMBER, 13, "all", "all", 13, "more than threads share all"},
    {SLOTS_NUMBER, NODE_SLOTS_MAX, "all", "all", NODE_SLOTS_MAX, "the most"},
    {SLOTS_CORES, 3, "0,1,2,3", "8,9,10,11", 3, "cores, as many as before"},
    {SLOTS_PART, 50, "0,1,2,3", "8,9,10,11", 3, "half of the cores"},
    {SLOTS_PART, 1, "0,1,2,3,4,5,6,7,8,9,10,11", "0,1,2,3,4,5,6,7,8,9,10,11", 1,
     "a part of a core is one"},
    {SLOTS_PART, 100, "0,1", "10,11", 6, "all of them"},
    {SLOTS_SOCKETS, 3, "0,1,2,3,4,5", "0,1,2,3,4,5", 3,
     "sockets, as many as before"},
};

static void test_cpus(void)
{
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct places p = make(MACHINE, cuts[i].kind, cuts[i].n, no_words);

        is_int((long)p.n, (long)cuts[i].want, cuts[i].what);
        is_str(cpus(&p, 0), cuts[i].first, "the first slot's CPUs");
        is_str(cpus(&p, p.n - 1), cuts[i].last, "the last one's");
        places_clear(&p);
    }
}

/* Each CPU is in one slot, whatever their number. */
static void test_apart(void)
{
    int apart = 1;

    for (uint32_t n = 1; n <= 12; n++) {
        struct places p = make(MACHINE, SLOTS_NUMBER, n, no_words);

        for (size_t cpu = 0; cpu < 12; cpu++) {
            size_t in = 0;

            for (size_t i = 0; i < p.n; i++)
                in += CPU_ISSET_S(cpu, BYTES, p.place[i].cpus) ? 1 : 0;
            apart = apart && in == 1;
        }
        places_clear(&p);
    }
    ok(apart, "1 to 12 slots: each CPU is in just one of them");
}

/* The CPUs of several together. */
static const char *cpus_of(const struct place *place)
{
    struct places one = {.place = (struct place *)place, .n = 1};

    return cpus(&one, 0);
}

/* Six cores of two threads for tasks that need several. */
static void test_taken(void)
{
    struct places p = make(MACHINE, SLOTS_CORES, 0, no_words);
    char *set[] = {(char *)"OMP_NUM_THREADS=9", NULL};
    const struct place *got = places_take(&p, 1, 3, 0, no_words);

    ok(p.memory > 0, "the memory of the job is known");
    is_str(cpus_of(got), "2,3,4,5,6,7", "three cores, from its own on");
    is_str(got->environ[PLACE_WORDS - 1], "OMP_NUM_THREADS=3",
           "and it is told");
    is_str(cpus_of(places_take(&p, 2, 2, 0, set)), "8,9,10,11",
           "where its own are taken, others");
    ok(!places_take(&p, 0, 1, 0, set)->environ[PLACE_WORDS - 1],
       "what is set already is not told");
    is_str(cpus_of(places_take(&p, 5, 1, 0, no_words)), "10,11",
           "where none is free it shares its own");
    places_leave(&p, 1);
    is_str(cpus_of(places_take(&p, 4, 0, 0, no_words)), "8,9",
           "who has nothing said gets its own, whoever has it");
    is_str(cpus_of(places_take(&p, 3, 3, 0, no_words)), "2,3,4,5,6,7",
           "what was given back can be had again");
    places_leave(&p, 3);
    places_leave(&p, 2);
    is_str(cpus_of(places_take(&p, 5, 4, 0, no_words)), "2,3,4,5,6,7,10,11",
           "four, and not the one that another has");
    places_clear(&p);
    p = make(MACHINE, SLOTS_NUMBER, 13, no_words);
    is_str(cpus_of(places_take(&p, 5, 4, 0, no_words)), "all",
           "where all share all, all");
    places_clear(&p);
}

/* --- GPUs ----------------------------------------------------------------- */

static char *words_of(const char *variable)
{
    static char word[200];

    snprintf(word, sizeof word, "%s", variable);
    return word;
}

static void test_named(void)
{
    static const struct {
        const char *variable, *first, *last;
        size_t n;
        const char *what;
    } named[] = {
        {"CUDA_VISIBLE_DEVICES=1,3", "CUDA_VISIBLE_DEVICES=1",
         "CUDA_VISIBLE_DEVICES=3", 2, "those that CUDA may see"},
        {"CUDA_VISIBLE_DEVICES=GPU-ab,MIG-cd", "CUDA_VISIBLE_DEVICES=GPU-ab",
         "CUDA_VISIBLE_DEVICES=MIG-cd", 2, "by their UUIDs"},
        {"CUDA_VISIBLE_DEVICES=2,-1,3", "CUDA_VISIBLE_DEVICES=2",
         "CUDA_VISIBLE_DEVICES=2", 1, "up to what is none"},
        {"ROCR_VISIBLE_DEVICES=0,1", "ROCR_VISIBLE_DEVICES=0",
         "ROCR_VISIBLE_DEVICES=1", 2, "those that ROCm may see"},
        {"SLURM_STEP_GPUS=5", "CUDA_VISIBLE_DEVICES=5",
         "CUDA_VISIBLE_DEVICES=5", 1, "those of the step"},
        {"CUDA_VISIBLE_DEVICES=", NULL, NULL, 0, "none"},
        {"CUDA_VISIBLE_DEVICES=NoDevFiles", NULL, NULL, 0, "as Slurm says it"},
    };

    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        char *words[] = {words_of(named[i].variable), NULL};
        struct places p = make(MACHINE, SLOTS_GPUS, 0, words);

        is_int((long)p.n, (long)named[i].n, named[i].what);
        ok((p.n > 0) == !why[0], "and if there are none, why");
        if (p.n > 0) {
            is_str(p.place[0].environ[0], named[i].first, "the first");
            is_str(p.place[p.n - 1].environ[0], named[i].last, "the last");
        }
        places_clear(&p);
    }
}

/* Four GPUs for tasks that need some, on cores. */
static void test_gpus_taken(void)
{
    char *words[] = {words_of("CUDA_VISIBLE_DEVICES=0,1,GPU-7,3"), NULL};
    struct places p = make(MACHINE, SLOTS_CORES, 0, words);

    is_int((long)p.n, 6, "slots are cores all the same");
    ok(!p.place[0].environ[0], "whose GPUs nobody has cut");
    is_str(places_take(&p, 0, 1, 3, words)->environ[0],
           "CUDA_VISIBLE_DEVICES=0,1", "two");
    is_str(places_take(&p, 1, 1, 2, words)->environ[0],
           "CUDA_VISIBLE_DEVICES=GPU-7", "one of those that are free");
    is_str(places_take(&p, 2, 1, 1, words)->environ[0],
           "CUDA_VISIBLE_DEVICES=", "none");
    places_leave(&p, 0);
    is_str(places_take(&p, 3, 1, 4, words)->environ[0],
           "CUDA_VISIBLE_DEVICES=0,1,3",
           "what was given back can be had again");
    is_str(places_take(&p, 4, 1, 2, words)->environ[0],
           "CUDA_VISIBLE_DEVICES=0", "where none is free it shares one");
    ok(!places_take(&p, 5, 1, 0, words)->environ[0],
       "all, where nothing was said");
    places_clear(&p);
    p = make(MACHINE, SLOTS_CORES, 0, no_words);
    ok(!places_take(&p, 0, 1, 1, no_words)->environ[0],
       "where there is none, none has to be hidden");
    places_clear(&p);
}

/* A file below root with that text, and the folders on the way to it. */
__attribute__((format(printf, 2, 3))) static void put(const char *text,
                                                      const char *fmt,
                                                      ...)
{
    char path[400];
    int n = snprintf(path, sizeof path, "%s/", root), fd;
    va_list args;

    va_start(args, fmt);
    vsnprintf(path + n, sizeof path - (size_t)n, fmt, args);
    va_end(args);
    for (char *slash = path + n; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700); /* maybe it is there */
        *slash = '/';
    }
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd) < 0)
        bail("%s: %s", path, strerror(errno));
}

static void test_none(void)
{
    struct places p = make(MACHINE, SLOTS_GPUS, 0, no_words);

    is_int((long)p.n, 0, "a node without devices has no GPU");
    places_clear(&p);
}

/* Three GPUs: two next to the first socket, one next to the second. */
static void test_found(void)
{
    static const char *const address[] = {"0000:01:00.0", "0000:02:00.0",
                                          "0000:81:00.0"};
    char *words[] = {words_of("CUDA_VISIBLE_DEVICES=GPU-2"), NULL};
    struct places p;

    for (size_t i = 0; i < 3; i++) {
        char text[100];

        put("", "dev/nvidia%zu", i);
        snprintf(text, sizeof text, "Model: A\nGPU UUID: \t GPU-%zu\n", i);
        put(text, "proc/driver/nvidia/gpus/%s/information", address[i]);
        put(i < 2 ? "0-5\n" : "6-11\n", "sys/bus/pci/devices/%s/local_cpulist",
            address[i]);
    }
    put("", "dev/nvidiactl");
    p = make(MACHINE, SLOTS_GPUS, 0, no_words);
    is_int((long)p.n, 3, "its device files are its GPUs");
    is_str(p.place[2].environ[0], "CUDA_VISIBLE_DEVICES=2", "by their numbers");
    is_str(p.place[2].environ[1], "CUDA_DEVICE_ORDER=PCI_BUS_ID",
           "in the order that is the kernel's, too");
    is_str(cpus(&p, 0), "0,1", "two at one socket share its cores out");
    is_str(cpus(&p, 1), "2,3,4,5", "neighbours together");
    is_str(cpus(&p, 2), "6,7,8,9,10,11", "one alone has all of its own");
    places_clear(&p);
    p = make(MACHINE, SLOTS_GPUS, 0, words);
    is_str(cpus(&p, 0), "6,7,8,9,10,11", "by its UUID it is found as well");
    places_clear(&p);
}

/* Of AMD's driver a node each, from 0: two CPUs and three GPUs; 10 comes after 9. */
static void test_found_amd(void)
{
    static const struct {
        const char *node, *id, *properties, *address, *cpus;
    } nodes[] = {
        {"0", "0", "cpu_cores_count 6\nlocation_id 0\ndomain 0\n", NULL, NULL},
        {"1", "0", "cpu_cores_count 6\nlocation_id 0\ndomain 0\n", NULL, NULL},
        {"8", "1001", "location_id 33024\nunique_id 255\ndomain 0\n",
         "0000:81:00.0", "6-11\n"},
        {"9", "1002", "location_id 257\nunique_id 43981\ndomain 1\n",
         "0001:01:00.1", "0-5\n"},
        {"10", "1003", "location_id 33032\nunique_id 4096\ndomain 0\n",
         "0000:81:01.0", "6-11\n"},
    };
    char *words[] = {
        words_of("ROCR_VISIBLE_DEVICES=2,GPU-000000000000ABCD,GPU-7"), NULL};
    char *both[] = {"CUDA_VISIBLE_DEVICES=0", "ROCR_VISIBLE_DEVICES=1", NULL};
    char *step[] = {"SLURM_STEP_GPUS=1", NULL};
    struct places p;

    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        const char *folder = "sys/class/kfd/kfd/topology/nodes";

        put(nodes[i].id, "%s/%s/gpu_id", folder, nodes[i].node);
        put(nodes[i].properties, "%s/%s/properties", folder, nodes[i].node);
        if (nodes[i].address)
            put(nodes[i].cpus, "sys/bus/pci/devices/%s/local_cpulist",
                nodes[i].address);
    }
    p = make(MACHINE, SLOTS_GPUS, 0, no_words);
    is_int((long)p.n, 3, "AMD's GPUs are its driver's");
    is_str(p.place[1].environ[0], "ROCR_VISIBLE_DEVICES=1", "by their numbers");
    is_str(cpus(&p, 0), "6,7", "two at one socket share its cores out");
    is_str(cpus(&p, 1), "0,1,2,3,4,5", "one alone has all of its own");
    is_str(cpus(&p, 2), "8,9,10,11", "the last of the driver's is the last");
    places_clear(&p);
    p = make(MACHINE, SLOTS_GPUS, 0, words);
    is_str(cpus(&p, 0), "6,7,8,9,10,11", "by its number");
    is_str(cpus(&p, 1), "0,1,2,3,4,5", "by its UUID, however that is written");
    is_int((long)p.n, 3,
           "one that the node does not know is there all the same");
    places_clear(&p);
    p = make(MACHINE, SLOTS_GPUS, 0, both);
    is_str(p.place[0].environ[0], "ROCR_VISIBLE_DEVICES=1",
           "of two makers' variables that of the GPUs that are there");
    places_clear(&p);
    p = make(MACHINE, SLOTS_GPUS, 0, step);
    is_str(p.place[0].environ[0], "ROCR_VISIBLE_DEVICES=1", "and a step's");
    places_clear(&p);
}

static void test_no_memory(void)
{
    char *words[] = {words_of("CUDA_VISIBLE_DEVICES=0,1"), NULL};
    const struct msg_slots order = {.kind = SLOTS_GPUS};
    struct places p = {.n = 0};
    long n = 0;

    /* hwloc's own allocations are not ours to fail: only that nothing leaks */
    for (fault_at = n; p.n == 0 && n < 200; fault_at = ++n) {
        places_clear(&p); /* of one without a place */
        if (places_init(&p, &order, words, root, why) < 0 && p.place)
            bail("half a result");
    }
    fault_at = -1;
    is_int((long)p.n, 2, "whichever allocation fails, there is all or nothing");
    places_clear(&p);
    places_clear(&p);
}

int main(void)
{
    char command[100];

    if (!mkdtemp(root))
        bail("no directory");
    unsetenv("CUDA_VISIBLE_DEVICES");
    test_cpus();
    test_apart();
    test_taken();
    test_named();
    test_none();
    test_gpus_taken();
    test_found_amd();
    test_found();
    test_no_memory();
    snprintf(command, sizeof command, "rm -r %s", root);
    is_int(system(command), 0, "nothing is left");
    return done();
}
