/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peers.c - an MPI program that compares what libevenstep says of every rank
 * with what that rank says of itself.
 */
#include <evenstep.h>

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, good = 0, all, local, *locals;
    struct evenstep_peer peer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    locals = calloc((size_t)size, sizeof *locals);
    local = atoi(getenv("SLURM_LOCALID")) * 1000 + atoi(getenv("SLURM_NODEID"));
    MPI_Allgather(&local, 1, MPI_INT, locals, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        good += evenstep_peer((uint32_t)i, &peer) == 0
                && peer.local_rank * 1000 + (int)peer.node == locals[i]
                && peer.tcp_port > 0;
    good = good == size && evenstep_peer((uint32_t)size, &peer) < 0;
    MPI_Reduce(&good, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && evenstep_peer(0, &peer) < 0)
        printf("no table: %s\n", strerror(errno));
    else if (rank == 0)
        printf("%d ranks know their peers\n", all);
    free(locals);
    MPI_Finalize();
    return 0;
}
