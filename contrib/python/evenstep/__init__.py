# SPDX-License-Identifier: BSD-2-Clause
"""evenstep for Python: a map over unequal nodes, and slices for programs that stay.

A map, in a job (salloc, sbatch) or with local= on one machine:

    import evenstep

    def f(item):
        ...

    if __name__ == "__main__":
        for result in evenstep.map(f, items):
            ...

starmap(f, [(1, 2), (3, 4)]) calls f(1, 2) and f(3, 4).  For calls that come one by
one there is submit(f, 1, k=2), which returns a Future, and with its own place and
end an Executor, which is one of concurrent.futures:

    with evenstep.Executor() as executor:
        future = executor.submit(f, 1, k=2)
        print(future.result())

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

import typing as _typing

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

if _typing.TYPE_CHECKING:
    from ._executor import Executor, submit
    from ._map import Results, map, starmap
    from ._run import ItemError, RunError

__version__ = "0.2.0"
__all__ = [
    "Executor",
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
    "starmap",
    "submit",
    "wait",
]

# What programs on the nodes do not need is read when it is asked for: a slow node
# takes long to read modules.
_LATER = {
    "Executor": "_executor",
    "ItemError": "_run",
    "Results": "_map",
    "RunError": "_run",
    "map": "_map",
    "starmap": "_map",
    "submit": "_executor",
}


def __getattr__(name: str) -> _typing.Any:
    if name in _LATER:
        import importlib

        return getattr(importlib.import_module("." + _LATER[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> _typing.List[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
