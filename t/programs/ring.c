/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An MPI program as users have them, for t/3300-mpi.t: a token goes around the
 * ring, a broadcast, a gather.  Rank 0 prints what every rank has seen, in the
 * order of the ranks, so that the output is the same each time.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1 << 16 };

static int words[WORDS];

int main(int argc, char **argv)
{
    int rank, size, token = 0, seen[3];
    int *all = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    token += rank + 1;
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; rank == 0 && i < WORDS; i++)
        words[i] = i;
    MPI_Bcast(words, WORDS, MPI_INT, 0, MPI_COMM_WORLD);
    seen[0] = rank;
    seen[1] = token;
    seen[2] = 0;
    for (int i = 0; i < WORDS; i++)
        seen[2] += words[i] == i;
    if (rank == 0)
        all = calloc((size_t)size, sizeof seen);
    if (rank == 0 && !all)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Gather(seen, 3, MPI_INT, all, 3, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("rank %d of %d: token %d, %d words\n", all[3 * i], size,
               all[3 * i + 1], all[3 * i + 2]);
    free(all);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0; /* the status that is asked for */
}
