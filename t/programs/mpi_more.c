/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_more FILE: two ranks that meet in calls that are no messages: files,
 * communicators, memory of others.  Rank 1 comes 0.1 s late to eleven
 * of them; rank 0 prints a digest of what they brought.
 */
#include "launcher/base/mpi_calls.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define LATE_US 100000

/* Has each call of the table so many arguments?  Zeros are all handles and
 * pointers that there are. */
#define Z0
#define Z1  0
#define Z2  Z1, 0
#define Z3  Z2, 0
#define Z4  Z3, 0
#define Z5  Z4, 0
#define Z6  Z5, 0
#define Z7  Z6, 0
#define Z8  Z7, 0
#define Z9  Z8, 0
#define Z10 Z9, 0
#define Z11 Z10, 0
#define Z12 Z11, 0
#define Z13 Z12, 0

#define FITS(name, fortran, n, ...)                                            \
    _Static_assert(sizeof MPI_##name(Z##n) == sizeof(int), #name);

MPI_CALLS_WITH_COUNTS(FITS)
MPI_CALLS_WITHOUT_COUNTS(FITS)
MPI_CALLS_WITH_TEXTS(FITS)
#if MPI_VERSION >= 4
MPI_CALLS_WITH_COUNTS_4(FITS)
MPI_CALLS_WITHOUT_COUNTS_4(FITS)
MPI_CALLS_WITH_TEXTS_4(FITS)
#endif

static int rank, ranks;

static void late(void)
{
    if (rank == 1)
        usleep(LATE_US);
}

static void mix(uint64_t *digest, long value)
{
    *digest = (*digest ^ (uint64_t)value) * UINT64_C(0x100000001b3);
}

/* Late to 5.  A rank reads what it has written itself. */
static void file(const char *path, uint64_t *digest)
{
    int mine = 5 + rank, got[1] = {0};
    MPI_Offset at = (MPI_Offset)sizeof mine * rank;
    MPI_File f;

    late();
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                  MPI_INFO_NULL, &f);
    MPI_File_set_size(f, 0);
    MPI_File_preallocate(f, 16);
    MPI_File_set_atomicity(f, 0);
    late();
    MPI_File_write_at_all(f, at, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(f);
    late();
    MPI_File_read_at_all(f, at, got, 1, MPI_INT, MPI_STATUS_IGNORE);
    mix(digest, got[0]);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_ordered(f, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    late();
    MPI_File_read_ordered(f, got, 1, MPI_INT, MPI_STATUS_IGNORE);
    mix(digest, got[0]);
    MPI_File_seek(f, 0, MPI_SEEK_SET); /* of its own, as are the next two */
    MPI_File_read(f, got, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at(f, rank, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_begin(f, rank, got, 1, MPI_INT);
    MPI_File_read_at_all_end(f, got, MPI_STATUS_IGNORE);
    mix(digest, got[0]);
    MPI_File_seek(f, rank, MPI_SEEK_SET);
    MPI_File_write_all(f, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(f, rank, MPI_SEEK_SET);
    MPI_File_read_all(f, got, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    MPI_File_write_shared(f, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_shared(f, got, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_info(f, MPI_INFO_NULL);
    late();
    MPI_File_close(&f);
}

/* Late to 4. */
static void communicators(uint64_t *digest)
{
    int dims[] = {2}, periods[] = {1}, keep[] = {1}, at[] = {1, 2},
        edge[] = {1, 0}, other = 1 - rank, one[] = {1}, low, size = 0;
    MPI_Comm grid, part, graph, half, bridge, both;
    MPI_Group all;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    late();
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Cart_sub(grid, keep, &part);
    MPI_Comm_size(part, &size);
    mix(digest, size);
    MPI_Comm_free(&part);
    MPI_Comm_free(&grid);
    late();
    MPI_Graph_create(MPI_COMM_WORLD, 2, at, edge, 0, &graph);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, one, 1, &other,
                                   one, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_free(&graph);
    low = rank;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &low, one, &other, one,
                          MPI_INFO_NULL, 0, &graph);
    MPI_Comm_free(&graph);
    late();
    MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &half);
    MPI_Comm_free(&half);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    late();
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, 4, &bridge);
    MPI_Intercomm_merge(bridge, rank, &both);
    MPI_Comm_size(both, &size);
    mix(digest, size);
    MPI_Comm_free(&both);
    MPI_Comm_free(&bridge);
    MPI_Comm_free(&half);
    MPI_Group_free(&all);
}

/* Late to 2. */
static void memory(void)
{
    int *base = NULL;
    MPI_Win win;

    late();
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &base, &win);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, win);
    late();
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325), all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    file(argv[1], &digest);
    communicators(&digest);
    memory();
    MPI_Reduce(&digest, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, digest %016llx\n", ranks, (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
