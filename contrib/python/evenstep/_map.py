# SPDX-License-Identifier: BSD-2-Clause
"""map(): the items are the lines of an `evenstep run --persistent`.

The first line, a header of every slice, is the job: f and what it takes to
load it.  A node's worker (_worker.py) writes what becomes of each item to
stdout, which `--stdout` gives a file of its own for each piece, there as soon
as the piece is whole.  So results come in order while others are computed, and
a reader that is slow keeps nobody waiting.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
import tempfile
import time
from types import TracebackType
from typing import (
    IO,
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
)

from . import _pickling, _run
from ._run import ItemError

R = TypeVar("R")

# How `evenstep run` names the item that has ended its worker, for --bisect finds it:
# with --keep-going in a list at the end, else by its last message.
_LEFT_OUT = re.compile(r"evenstep: left out: frame 1, line (\d+), (\S+): (.*)")
_ENDED_BY = re.compile(r"evenstep: (\S+): frame 1, line (\d+): (.*)")
_FIRST_LINE = 2  # that of item 0, behind the header


class Results(Generic[R], Iterator[R]):
    """The results of map(), in the order of the items, each as soon as it and
    all before it are there.  close(), or the end of a with, ends the run."""

    def __init__(
        self,
        who: str,
        items: Sequence[Any],
        folder: str,
        command: List[str],
        return_exceptions: bool,
    ) -> None:
        self._who = who
        self._items = items
        self._folder = folder
        self._return_exceptions = return_exceptions
        self._index = 0
        self._piece: Optional[IO[bytes]] = None
        self._left_out: Dict[int, Tuple[str, str]] = {}  # by index: node, and how
        self._run = _run.Run(command, self._note_left_out)

    def _note_left_out(self, line: str) -> None:
        found = _LEFT_OUT.match(line)
        if found:
            self._left_out[int(found[1]) - _FIRST_LINE] = (found[2], found[3])

    def __len__(self) -> int:
        """How many results are still to come."""
        return len(self._items) - self._index

    def _piece_name(self) -> str:
        return os.path.join(self._folder, "out", str(self._index))

    def _open_piece(self) -> Optional[IO[bytes]]:
        """Wait for the piece that begins with the next item; None: it never comes."""
        pause = 0.005
        while True:
            ended = self._run.has_ended()  # asked before it is looked for
            try:
                return open(self._piece_name(), "rb")
            except FileNotFoundError:
                if ended:
                    return None
            time.sleep(pause)
            pause = min(2 * pause, 0.1)

    def _close_piece(self) -> None:
        if self._piece:
            self._piece.close()
            os.unlink(self._piece.name)
        self._piece = None

    def _read(self) -> Any:
        """What has become of the next item; None if nobody knows."""
        while True:
            if self._piece is None:
                self._piece = self._open_piece()
            if self._piece is None:
                return None
            try:
                return _pickling.Reader(self._piece, _pickling.own_main).load()
            except EOFError:  # the next item is in another piece
                at_end = self._piece.tell() == 0
                self._close_piece()
                if at_end:
                    return None

    def _killed(self, index: int, node: str, how: str) -> ItemError:
        return ItemError(index, self._items[index], node, f"the worker that did it {how}")

    def _lost(self) -> ItemError:
        """The run has ended without this item.  Unless all is done that can be,
        that may be due to another one."""
        error = self._run.why(self._who, f"item {self._index} is not done")
        if self._return_exceptions and self._run.wait() == 1:
            return self._killed(self._index, *self._left_out.get(self._index, ("", "has ended")))
        ended_by = _ENDED_BY.match(self._run.words[-1]) if self._run.words else None
        if ended_by is None:
            raise error
        item = int(ended_by[2]) - _FIRST_LINE
        raise self._killed(item, ended_by[1], ended_by[3]) from error

    def _fail(self, outcome: Any) -> ItemError:
        return _run.failure(self._index, self._items[self._index], *outcome)

    def __next__(self) -> R:
        if self._index >= len(self._items):
            self._finish()
            raise StopIteration
        try:
            outcome = self._read()
            if outcome is not None and outcome[1] is None:
                result: R = outcome[0]
            else:
                failure = self._lost() if outcome is None else self._fail(outcome)
                if not self._return_exceptions:
                    raise failure
                result = failure  # type: ignore[assignment]
        except BaseException:
            self.close()
            raise
        self._index += 1
        return result

    def _finish(self) -> None:
        """All is there: let the run end by itself."""
        self._run.wait()
        self.close()

    def close(self) -> None:
        """End the run, whatever it is at, and remove what it has left."""
        self._run.end()
        if self._piece:
            self._piece.close()
        self._piece = None
        self._index = len(self._items)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Results[R]:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_run") and not self._run.has_ended():
            self.close()


def map(
    f: Callable[..., R],
    items: Iterable[Any],
    *,
    kwargs: Optional[Mapping[str, Any]] = None,
    local: Union[int, str, None] = None,
    slots: Union[int, str, None] = None,
    return_exceptions: bool = False,
    python: Sequence[str] = (),
    options: Sequence[str] = (),
) -> Results[R]:
    """f of each item, over the nodes of the job; the results in their order.

    Each node gets as many items as it can do in the time of the others.  What
    a node had when it died is done by others.

    kwargs      keyword arguments of every call
    local       without Slurm: workers on this machine, 4, or "4=80,40,20,10"
                with so many percent of a core each
    slots       processes a node: a number, or "cores"; by default "cores" in a
                job, one each with local
    return_exceptions
                an item that fails, or ends its worker, gives an ItemError among
                the results; without it that is raised, and ends the run
    python      what starts Python on a node, if it is another than this one, as
                ["apptainer", "exec", "work.sif", "python3"]
    options     more of those of `evenstep run`, as ["--report", "r.json"]

    f and the items go to the nodes by cloudpickle if that is installed, else
    by pickle: then f must be defined with def at the top of a file.  What f
    prints comes to stderr when the run ends, the last 8 KiB of each node.
    """
    return _start("evenstep.map", f, items, False, kwargs, local, slots, return_exceptions, python, options)


def starmap(
    f: Callable[..., R],
    items: Iterable[Iterable[Any]],
    *,
    kwargs: Optional[Mapping[str, Any]] = None,
    local: Union[int, str, None] = None,
    slots: Union[int, str, None] = None,
    return_exceptions: bool = False,
    python: Sequence[str] = (),
    options: Sequence[str] = (),
) -> Results[R]:
    """As map(), with f(*item) for each item: [(1, 2), (3, 4)] gives f(1, 2), f(3, 4)."""
    return _start("evenstep.starmap", f, items, True, kwargs, local, slots, return_exceptions, python, options)


def _start(
    who: str,
    f: Callable[..., R],
    items: Iterable[Any],
    is_star: bool,
    kwargs: Optional[Mapping[str, Any]],
    local: Union[int, str, None],
    slots: Union[int, str, None],
    return_exceptions: bool,
    python: Sequence[str],
    options: Sequence[str],
) -> Results[R]:
    _run.check_place(who, local)
    all_items = list(items)
    processes = _run.processes(who, slots, local)
    function = _pickling.pack_function(who, f)
    if kwargs:
        _pickling.pack(who, "kwargs", dict(kwargs))
    if kwargs or is_star:
        call = functools.partial(f, **kwargs or {})
        function = _pickling.dumps(_pickling.Star(call) if is_star else call)
    path = sys.path[:1] if python else sys.path  # another Python has its own
    job = (path, sys.argv, _pickling.describe_main(), function, processes)
    folder = tempfile.mkdtemp(prefix="evenstep-map-")
    try:
        os.mkdir(os.path.join(folder, "out"))
        with open(os.path.join(folder, "items"), "wb") as lines:
            lines.write(_pickling.to_line(_pickling.dumps(job)))
            for index, item in enumerate(all_items):
                lines.write(_pickling.to_line(_pickling.pack(who, f"item {index}", item)))
        how = [
            "--retries=1",
            "--bisect",
            "--lines=" + os.path.join(folder, "items"),
            "--stdout=" + os.path.join(folder, "out", "{begin}"),
            *(["--keep-going"] if return_exceptions else []),
            *options,
        ]
        name = _pickling.name_of(f)
        command = _run.command(who, "_start", name, local, python, how) if all_items else ["true"]
        return Results(who, all_items, folder, command, return_exceptions)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
