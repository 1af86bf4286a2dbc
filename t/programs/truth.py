# SPDX-License-Identifier: BSD-2-Clause
"""truth.py CASE [MILLISECONDS]: as truth.c, by mpi4py: uneven, sleep (asks and
sleeps), and futures (a pool of mpi4py.futures whose master waits for results)."""
# What a pool needs is read before the first call of MPI: nobody keeps books of that.
import concurrent.futures.thread
import sys
import time
from mpi4py import MPI

ROUNDS, MOST = 8, 4
unit = float(sys.argv[2]) / 1e3 if len(sys.argv) > 2 else 0.02
world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
began = left = time.monotonic()
useful = 0.0


def enter():
    global useful
    useful += time.monotonic() - left


def leave():
    global left
    left = time.monotonic()


def work(units):
    until = time.thread_time() + units * unit
    while time.thread_time() < until:
        sum(range(1000))


def share():
    return MOST if rank == ranks - 1 else 1


def uneven():
    work(share())
    enter()
    world.allreduce(1)
    leave()


def sleep():
    work(share())
    enter()
    request = world.Ibarrier()
    while not request.Test():
        time.sleep(0.001)
    leave()


def task(units):
    """Seconds that it took."""
    from_ = time.monotonic()
    work(units)
    return time.monotonic() - from_, rank


def futures():
    """Only tasks are useful: a worker waits for the next, the master for all."""
    from mpi4py.futures import MPICommExecutor

    global useful
    books = [0.0] * ranks
    with MPICommExecutor(world, root=0) as pool:
        if pool is not None:
            for took, by in pool.map(task, [4, 4, 12] * 9):
                books[by] += took
    books = world.bcast(books, root=0)
    useful = books[rank]
    return books.index(max(books))


busiest = ranks - 1
if sys.argv[1] == "futures":
    busiest = futures()
else:
    for _ in range(ROUNDS):
        {"uneven": uneven, "sleep": sleep}[sys.argv[1]]()
    enter()
MPI.Finalize()
leave()
print(f"rank {rank} useful {useful:.6f} elapsed {left - began:.6f}\n" +
      (f"verdict more work; rank {busiest}\n" if rank == 0 else ""), end="", flush=True)
