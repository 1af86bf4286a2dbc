#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Connects all tasks of a step to each other, without MPI: an example of evenstep.listen().

    srun -N4 -n16 --evenstep ./connect.py
    evenstep run --local 4 --persistent --range 0:16 -- ./connect.py

Each task calls those before it, and is called by those after it;
contrib/connect has the same in C.
"""

import os
import socket
import struct
import sys

import evenstep

RANK = struct.Struct(">I")


def number_of(worker: str, task: str) -> int:
    """Of a worker of `evenstep run --persistent`, or of a task of a step."""
    number = os.environ.get(worker) or os.environ.get(task)
    if number is None:
        sys.exit("connect.py: runs under evenstep only: see its first lines")
    return int(number)


def main() -> None:
    """Connect, let each tell its rank, which tells its own, and do slices."""
    rank = number_of("EVENSTEP_RANK", "SLURM_PROCID")
    ranks = number_of("EVENSTEP_RANKS", "SLURM_NTASKS")
    with socket.create_server(
        ("", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=socket.SOMAXCONN
    ) as server:
        peers = evenstep.listen(server.getsockname()[1])
        connections = {}
        for other in range(rank):
            connections[other] = socket.create_connection(peers[other].address)
            connections[other].sendall(RANK.pack(rank))
        for _ in range(rank + 1, ranks):
            caller, _ = server.accept()
            (other,) = RANK.unpack(caller.recv(RANK.size, socket.MSG_WAITALL))
            if not rank < other < ranks or other in connections:
                raise RuntimeError("somebody calls who should not")
            connections[other] = caller
            caller.sendall(RANK.pack(rank))
    for other in range(rank):
        if RANK.unpack(connections[other].recv(RANK.size, socket.MSG_WAITALL)) != (other,):
            raise RuntimeError(f"rank {other} is another one")
    for s in evenstep.slices(units=ranks, frames=1):
        for unit in s.units():
            print(f"unit {unit}: connections to {len(connections)} others")


if __name__ == "__main__":
    main()
