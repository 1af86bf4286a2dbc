/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_bcast - Open MPI's MPI_Bcast from rank 0 to all others, timed, for
 * contrib/bench-bcast; one rank a node, or with --here all on this machine.
 *
 * usage: OMPI_MCA_coll_tuned_use_dynamic_rules=1 mpi_bcast [--here] BYTES TRIAL
 * RUNS SECONDS [FILE]
 *
 * Measures three settings of the component coll/tuned: its default, its best
 * algorithm, and its best algorithm with its best segment size.  The best are
 * found by trying all: each on TRIAL bytes, the first few on all BYTES.
 *
 * With FILE also the last of them with each receiver writing what it has got to
 * that file, which is new, within the time.
 *
 * A setting makes RUNS runs, or fewer once they have taken SECONDS, and each
 * prints "default|algorithm|segment|file NAME seconds CPU-seconds".  Seconds
 * are the longest of all ranks, from a barrier until its MPI_Bcast has
 * returned; CPU seconds are those of the whole machine until all have.
 * Connections are made before, and all is in memory.  After each run every rank
 * compares every byte, and every receiver whether as many came in over eth0, if
 * not --here.
 */
#include "contrib/bench-peers/machine.h"

#include <err.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    REST_US = 50000,      /* before a run: the token buckets fill in 11 ms */
    WARM_BYTES = 1 << 16, /* of the broadcast that makes the connections */
    TRY_US = 200000,      /* what is quicker is tried again meanwhile */
    TRIES_MAX = 5,
    FINALISTS = 3, /* are tried on all bytes */
    SETTINGS_MAX = 256,
    NAME_SIZE = 64
};

/* Of bytes, besides an algorithm's own, which is one for all of them. */
static const int segments[] = {16 << 10, 32 << 10, 64 << 10, 256 << 10};

struct setting {
    char name[NAME_SIZE];
    int algorithm;  /* as Open MPI counts them; 0 lets it choose */
    int segment;    /* 0 for none */
    double seconds; /* of the tries */
};

static int rank;
static uint64_t *data; /* whole words; of the last a part may be sent */
static uint64_t contents;
static const char *copy; /* to be written within the time, or NULL */
static int is_here;      /* no link is crossed */

__attribute__((noreturn, format(printf, 1, 2))) static void fail(
    const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "mpi_bcast: rank %d: ", rank);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* --- one broadcast -------------------------------------------------------- */

/* Another content each run, the same on every rank: splitmix64. */
static uint64_t word(uint64_t i)
{
    uint64_t z = ((contents << 40) + i + 1) * 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static void prepare(size_t bytes)
{
    contents++;
    for (size_t i = 0; i <= bytes / 8; i++)
        data[i] = rank == 0 ? word(i) : 0;
}

static void compare(size_t bytes)
{
    uint64_t last = word(bytes / 8);

    for (size_t i = 0; i < bytes / 8; i++)
        if (data[i] != word(i))
            fail("byte %zu of %zu is wrong", 8 * i, bytes);
    if (memcmp(&data[bytes / 8], &last, bytes % 8) != 0)
        fail("the last of %zu bytes are wrong", bytes);
}

/* What has come in over the link: all has to, none through shared memory. */
static uint64_t link_bytes(void)
{
    const char *path = "/sys/class/net/eth0/statistics/rx_bytes";
    FILE *file;
    uint64_t bytes;

    if (is_here)
        return 0;
    file = fopen(path, "re");
    if (!file || fscanf(file, "%" SCNu64, &bytes) != 1)
        fail("%s: not to be read: run it on nodes of contrib/testbed", path);
    fclose(file);
    return bytes;
}

static void write_file(size_t bytes)
{
    FILE *file = fopen(copy, "wxe");

    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        fail("%s: cannot be written", copy);
}

/* The seconds of the slowest rank, the same on every rank. */
static double broadcast(MPI_Comm comm, size_t bytes, double *cpu)
{
    uint64_t link;
    double mine, longest;

    prepare(bytes);
    if (copy && rank > 0)
        (void)unlink(copy); /* of the run before */
    MPI_Barrier(comm);
    usleep(REST_US);
    link = link_bytes();
    MPI_Barrier(comm);
    *cpu = machine_cpu_s();
    mine = machine_time_s();
    MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, comm);
    if (copy && rank > 0)
        write_file(bytes);
    mine = machine_time_s() - mine;
    MPI_Barrier(comm);
    *cpu = machine_cpu_s() - *cpu;
    if (rank > 0 && !is_here && link_bytes() - link < bytes)
        fail("%zu bytes did not come over the link", bytes);
    compare(bytes);
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, comm);
    return longest;
}

/* --- settings ------------------------------------------------------------- */

static int parameter(const char *name)
{
    int index;

    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS)
        fail("no parameter %s: this needs Open MPI", name);
    return index;
}

static void set_parameter(const char *name, int value)
{
    MPI_T_cvar_handle handle;
    int count;

    if (MPI_T_cvar_handle_alloc(parameter(name), NULL, &handle, &count)
            != MPI_SUCCESS
        || MPI_T_cvar_write(handle, &value) != MPI_SUCCESS)
        fail("cannot set %s", name);
    MPI_T_cvar_handle_free(&handle);
}

/* A communicator that obeys the setting, its connections made. */
static MPI_Comm communicator(const struct setting *s, size_t bytes)
{
    MPI_Comm comm;

    set_parameter("coll_tuned_bcast_algorithm", s->algorithm);
    set_parameter("coll_tuned_bcast_algorithm_segmentsize", s->segment);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Bcast(data, (int)(bytes < WARM_BYTES ? bytes : WARM_BYTES), MPI_BYTE, 0,
              comm);
    return comm;
}

/*
 * Appends every algorithm that Open MPI names, the first being "ignore".
 * Returns how many there are then.
 */
static size_t append(struct setting *all, size_t n, int segment)
{
    const char *name = "coll_tuned_bcast_algorithm";
    int verbosity, bind, scope, items, length;
    MPI_T_enum algorithms;
    MPI_Datatype type;

    if (MPI_T_cvar_get_info(parameter(name), NULL, NULL, &verbosity, &type,
                            &algorithms, NULL, NULL, &bind, &scope)
            != MPI_SUCCESS
        || MPI_T_enum_get_info(algorithms, &items, NULL, NULL) != MPI_SUCCESS)
        fail("Open MPI does not say what values %s has", name);
    for (int i = 1; i < items && n < SETTINGS_MAX; i++, n++) {
        all[n] = (struct setting){.segment = segment};
        length = NAME_SIZE;
        MPI_T_enum_get_item(algorithms, i, &all[n].algorithm, all[n].name,
                            &length);
        length = (int)strlen(all[n].name);
        if (segment > 0)
            snprintf(all[n].name + length, NAME_SIZE - (size_t)length, ",%dK",
                     segment >> 10);
    }
    return n;
}

/* --- the best ------------------------------------------------------------- */

static void try(struct setting *s, size_t bytes)
{
    MPI_Comm comm = communicator(s, bytes);
    double cpu, seconds, spent = 0;

    s->seconds = 0;
    for (int i = 0; i < TRIES_MAX && spent < 1e-6 * TRY_US; i++) {
        seconds = broadcast(comm, bytes, &cpu);
        spent += seconds;
        if (i == 0 || seconds < s->seconds)
            s->seconds = seconds;
    }
    MPI_Comm_free(&comm);
    if (rank == 0)
        fprintf(stderr, "mpi_bcast: %zu bytes, %s: %.4f s\n", bytes, s->name,
                s->seconds);
}

static int by_seconds(const void *a, const void *b)
{
    double x = ((const struct setting *)a)->seconds;
    double y = ((const struct setting *)b)->seconds;

    return (x > y) - (x < y);
}

/* Of all that were tried on few bytes; the same on every rank. */
static struct setting best(const struct setting *all, size_t n, size_t bytes)
{
    struct setting tried[SETTINGS_MAX];

    memcpy(tried, all, n * sizeof *all);
    qsort(tried, n, sizeof *tried, by_seconds);
    if (n > FINALISTS)
        n = FINALISTS;
    for (size_t i = 0; i < n; i++)
        try(&tried[i], bytes);
    qsort(tried, n, sizeof *tried, by_seconds);
    return tried[0];
}

static void measure(const char *what,
                    const struct setting *s,
                    size_t bytes,
                    int runs,
                    double limit)
{
    MPI_Comm comm = communicator(s, bytes);
    double spent = 0, seconds, cpu;

    for (int i = 0; i < runs && spent < limit; i++) {
        seconds = broadcast(comm, bytes, &cpu);
        spent += seconds;
        if (rank == 0)
            printf("%s %s %.6f %.2f\n", what, s->name, seconds, cpu);
    }
    MPI_Comm_free(&comm);
}

static void measure_all(
    size_t bytes, size_t trial, int runs, double limit, const char *file)
{
    static struct setting all[SETTINGS_MAX];
    struct setting chosen = {.name = "default"};
    size_t n, algorithms;

    measure("default", &chosen, bytes, runs, limit);
    n = algorithms = append(all, 0, 0);
    for (size_t k = 0; k < sizeof segments / sizeof *segments; k++)
        n = append(all, n, segments[k]);
    if (n == 0)
        fail("Open MPI names no algorithm");
    for (size_t i = 0; i < n; i++)
        try(&all[i], trial);
    chosen = best(all, algorithms, bytes);
    measure("algorithm", &chosen, bytes, runs, limit);
    chosen = best(all, n, bytes);
    measure("segment", &chosen, bytes, runs, limit);
    if (!file)
        return;
    copy = file;
    measure("file", &chosen, bytes, runs, limit);
    if (rank > 0)
        (void)unlink(copy);
}

int main(int argc, char **argv)
{
    size_t bytes, trial;
    int provided;

    is_here = argc > 1 && strcmp(argv[1], "--here") == 0;
    argc -= is_here;
    argv += is_here;
    if (argc != 5 && argc != 6)
        errx(2, "usage: mpi_bcast [--here] BYTES TRIAL RUNS SECONDS [FILE]");
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bytes = strtoull(argv[1], NULL, 10);
    trial = strtoull(argv[2], NULL, 10);
    if (bytes == 0 || bytes > INT32_MAX || trial == 0 || trial > bytes)
        fail("give 1 to %d BYTES, and a TRIAL of no more", INT32_MAX);
    data = calloc(bytes / 8 + 1, 8);
    if (!data)
        fail("no memory for %zu bytes", bytes);
    measure_all(bytes, trial, atoi(argv[3]), atof(argv[4]), argv[5]);
    free(data);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
