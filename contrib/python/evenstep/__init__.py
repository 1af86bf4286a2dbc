# SPDX-License-Identifier: BSD-2-Clause
"""evenstep for Python: a map over unequal nodes, and slices for programs that stay.

A map, in a job (salloc, sbatch) or with local= on one machine:

    import evenstep

    def f(item):
        ...

    if __name__ == "__main__":
        for result in evenstep.map(f, items):
            ...

Slices, under `evenstep run --persistent` or `srun --evenstep`; without evenstep
the process is alone and gets every frame whole:

    with evenstep.Session(units=1000, frames=20) as session:
        for s in session:
            for unit in s.units():
                ...

A slice is done when the next one is asked for.  evenstep.slices() is the same
without a name.  See libevenstep(3).

Tasks that connect to each other say where they listen, and get to know all:

    peers = evenstep.listen(port)
    connection = socket.create_connection(peers[rank].address)
"""

from typing import TYPE_CHECKING, Any

from ._peers import Peer, listen
from ._slices import (
    Session,
    Slice,
    close,
    done,
    lines,
    next,
    open,
    slices,
    wait,
)

if TYPE_CHECKING:
    from ._map import ItemError, Results, RunError, map

__version__ = "0.2.0"
__all__ = [
    "ItemError",
    "Peer",
    "Results",
    "RunError",
    "Session",
    "Slice",
    "close",
    "done",
    "lines",
    "listen",
    "map",
    "next",
    "open",
    "slices",
    "wait",
]


def __getattr__(name: str) -> Any:
    """What map() needs is read when it is asked for: slow nodes never do."""
    if name in ("ItemError", "Results", "RunError", "map"):
        from . import _map

        return getattr(_map, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
