/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heat.c - heat that spreads over a plate, by MPI and libevenstep: an example of
 * a program that moves its rows between iterations.
 *
 *     mpicc -O2 -o heat heat.c -levenstep
 *     srun -N4 --mpi=pmix --evenstep ./heat ROWS COLUMNS FRAMES SWEEPS
 *
 * A frame is SWEEPS sweeps of Jacobi's method over the whole plate.  At its
 * beginning every rank gets its rows, fetches them and SWEEPS more on each side
 * from the ranks that had them, and then needs no other rank until the frame is
 * done: each sweep computes one row less on each side of those that are not its
 * own.  So a rank waits for others only in evenstep_next(), which does not count
 * as its time.
 *
 * Every rank computes a cell by the same expression, so the result has the same
 * bits on one rank or many, and however the rows move.  Without evenstep the
 * rows are split equally.
 */
#include <evenstep.h>

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOT  100.0 /* of the first row, always; the other edges are 0 */
#define RATE 0.2   /* diffusion in a sweep; stable below 0.25 */

struct band { /* some rows with their cells */
    struct evenstep_range rows;
    double *cell;
};

struct plate {
    long rows, columns, frames, sweeps;
    int rank, ranks, alone; /* alone: without evenstep */
    struct evenstep_range
        *owner;                  /* the rows of each rank in the frame before */
    struct evenstep_range *next; /* and in this frame */
    struct evenstep_range *wants; /* those, and the ones on each side */
    struct band band;             /* our rows of the frame before */
    MPI_Datatype row;
};

static void give_up(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    if (!p)
        give_up("heat: no memory");
    return p;
}

/* --- rows ----------------------------------------------------------------- */

static double *row_of(const struct plate *p, const struct band *b, uint64_t row)
{
    return b->cell + (row - b->rows.begin) * (uint64_t)p->columns;
}

static struct band new_band(const struct plate *p, struct evenstep_range rows)
{
    size_t n = (rows.end - rows.begin) * (size_t)p->columns;
    struct band b = {rows, allocate(n, sizeof *b.cell)};

    if (rows.begin == 0 && rows.end > 0)
        for (long i = 0; i < p->columns; i++)
            b.cell[i] = HOT;
    return b;
}

/* --- the slice of a frame ------------------------------------------------- */

/* MPI makes progress with our messages only when it is called, so we must not
 * block in evenstep_next(). */
static int wait_for_slice(uint64_t *begin, uint64_t *end)
{
    int ready, flag;

    while ((ready = evenstep_wait(1)) == 0)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag,
                   MPI_STATUS_IGNORE);
    return ready < 0 ? -1 : evenstep_next(begin, end);
}

/* Get all ranks' rows of the next frame into p->next; 0 if there is none. */
static int next_rows(struct plate *p, long frame)
{
    struct evenstep_range mine = {
        (uint64_t)(p->rows * p->rank / p->ranks),
        (uint64_t)(p->rows * (p->rank + 1) / p->ranks)};
    int more =
        p->alone ? frame < p->frames : wait_for_slice(&mine.begin, &mine.end);

    if (more < 0)
        give_up("heat: evenstep_next");
    if (more == 0)
        return 0;
    MPI_Allgather(&mine, 2, MPI_UINT64_T, p->next, 2, MPI_UINT64_T,
                  MPI_COMM_WORLD);
    return 1;
}

/* Fetch our rows of this frame and their neighbours from the ranks that had
 * them. */
static struct band fetch(struct plate *p)
{
    size_t n = (size_t)p->ranks;
    int *v = allocate(4 * n, sizeof *v);
    struct evenstep_moves m = {v, v + n, v + 2 * n, v + 3 * n};
    struct band b;

    for (int i = 0; i < p->ranks; i++)
        p->wants[i] = evenstep_widened(p->next[i], (uint64_t)p->sweeps,
                                       (uint64_t)p->rows);
    b = new_band(p, p->wants[p->rank]);
    if (evenstep_redistribute(p->owner, p->wants, p->ranks, p->rank, &m) < 0)
        give_up("heat: evenstep_redistribute");
    MPI_Alltoallv(row_of(p, &p->band, p->owner[p->rank].begin), m.send_count,
                  m.send_at, p->row, b.cell, m.receive_count, m.receive_at,
                  p->row, MPI_COMM_WORLD);
    free(v);
    return b;
}

/* --- the work ------------------------------------------------------------- */

/* One sweep over some rows, without the edges of the plate. */
static void sweep(const struct plate *p,
                  const struct band *from,
                  struct band *to,
                  struct evenstep_range rows)
{
    uint64_t last = (uint64_t)p->rows - 1;
    uint64_t begin = rows.begin > 1 ? rows.begin : 1;
    uint64_t end = rows.end < last ? rows.end : last;

    for (uint64_t i = begin; i < end; i++) {
        const double *up = row_of(p, from, i - 1), *at = up + p->columns,
                     *down = at + p->columns;
        double *result = row_of(p, to, i);

        for (long k = 1; k < p->columns - 1; k++)
            result[k] =
                at[k]
                + RATE * (up[k] + down[k] + at[k - 1] + at[k + 1] - 4 * at[k]);
    }
}

static void do_frame(struct plate *p)
{
    struct band from = fetch(p), to = new_band(p, from.rows), other;

    for (long left = p->sweeps - 1; left >= 0; left--) {
        sweep(p, &from, &to,
              evenstep_widened(p->next[p->rank], (uint64_t)left,
                               (uint64_t)p->rows));
        other = from;
        from = to;
        to = other;
    }
    free(to.cell);
    free(p->band.cell);
    p->band = from;
    memcpy(p->owner, p->next, (size_t)p->ranks * sizeof *p->owner);
}

/* --- the result ----------------------------------------------------------- */

/* Gather the whole plate on rank 0. */
static double *gather(struct plate *p)
{
    double *all = NULL;
    struct evenstep_range mine = p->owner[p->rank];
    int *count = allocate(2 * (size_t)p->ranks, sizeof *count),
        *at = count + p->ranks;

    for (int i = 0; i < p->ranks; i++) {
        count[i] = (int)(p->owner[i].end - p->owner[i].begin);
        at[i] = (int)p->owner[i].begin;
    }
    if (p->rank == 0)
        all = allocate((size_t)p->rows * (size_t)p->columns, sizeof *all);
    MPI_Gatherv(row_of(p, &p->band, mine.begin), count[p->rank], p->row, all,
                count, at, p->row, 0, MPI_COMM_WORLD);
    free(count);
    return all;
}

/* FNV-1a, 64 bit: equal for equal bits. */
static uint64_t digest(const double *cell, size_t n)
{
    const unsigned char *byte = (const unsigned char *)cell;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < n * sizeof *cell; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void tell(struct plate *p, double seconds)
{
    size_t n = (size_t)p->rows * (size_t)p->columns;
    double *all = gather(p), sum = 0;

    if (p->rank == 0) {
        for (size_t i = 0; i < n; i++)
            sum += all[i];
        printf("mean %.9f digest %016llx\n", sum / (double)n,
               (unsigned long long)digest(all, n));
        fprintf(stderr, "%.2f s, in the end rows", seconds);
        for (int i = 0; i < p->ranks; i++)
            fprintf(stderr, " %d", (int)(p->owner[i].end - p->owner[i].begin));
        fprintf(stderr, "\n");
    }
    free(all);
}

/* --- all together --------------------------------------------------------- */

static int parse(struct plate *p, int argc, char **argv)
{
    long *number[] = {&p->rows, &p->columns, &p->frames, &p->sweeps};

    if (argc != 5)
        return -1;
    for (int i = 0; i < 4; i++) {
        char *end;

        *number[i] = strtol(argv[i + 1], &end, 10);
        if (*number[i] < 1 || *number[i] > INT32_MAX || *end)
            return -1;
    }
    return 0;
}

static void run(struct plate *p)
{
    double start;

    p->owner = allocate((size_t)p->ranks, sizeof *p->owner);
    p->next = allocate((size_t)p->ranks, sizeof *p->next);
    p->wants = allocate((size_t)p->ranks, sizeof *p->wants);
    MPI_Type_contiguous((int)p->columns, MPI_DOUBLE, &p->row);
    MPI_Type_commit(&p->row);
    p->owner[0].end = (uint64_t)p->rows; /* all of it; only its edge is hot */
    p->band = new_band(p, p->owner[p->rank]);
    start = MPI_Wtime();
    for (long frame = 0; next_rows(p, frame); frame++) {
        do_frame(p);
        if (!p->alone && evenstep_done() < 0)
            give_up("heat: evenstep_done");
    }
    tell(p, MPI_Wtime() - start);
    MPI_Type_free(&p->row);
    free(p->band.cell);
    free(p->owner);
    free(p->next);
    free(p->wants);
}

int main(int argc, char **argv)
{
    struct plate p = {0};
    int fed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
    if (parse(&p, argc, argv) < 0) {
        if (p.rank == 0)
            fprintf(stderr, "usage: heat ROWS COLUMNS FRAMES SWEEPS\n");
        MPI_Finalize();
        return 2;
    }
    fed = evenstep_open((uint64_t)p.rows, (uint64_t)p.frames);
    if (fed < 0)
        give_up("heat: evenstep_open");
    p.alone = !fed;
    run(&p);
    evenstep_close();
    /* MPI_Finalize need not wait for the others, and under Slurm's PMIx it may
     * not: a rank that leaves takes along what it has sent and not delivered. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
