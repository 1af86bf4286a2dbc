# SPDX-License-Identifier: BSD-2-Clause
"""map(): the items are the lines of an `evenstep run --persistent`.

The first line, a header of every slice, is the job: f and what it takes to
load it.  A node's worker (_worker.py) writes what becomes of each item to
stdout, which `--stdout` gives a file of its own for each piece, there as soon
as the piece is whole.  So results come in order while others are computed, and
a reader that is slow keeps nobody waiting.
"""

from __future__ import annotations

import collections
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from types import TracebackType
from typing import (
    IO,
    Any,
    Callable,
    Deque,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
)

from . import _pickling

T = TypeVar("T")
R = TypeVar("R")

_LAST_WORDS = 5  # lines that an error repeats of what evenstep itself has said
_END_SECONDS = 10  # after each signal to end the run
# How `evenstep run` names the item that has ended its worker, for --bisect finds it:
# with --keep-going in a list at the end, else by its last message.
_LEFT_OUT = re.compile(r"evenstep: left out: frame 1, line (\d+), (\S+): (.*)")
_ENDED_BY = re.compile(r"evenstep: (\S+): frame 1, line (\d+): (.*)")
_FIRST_LINE = 2  # that of item 0, behind the header
_WORKER = "import sys; sys.path.append({!r}); from evenstep._start import main; main()"


class RunError(RuntimeError):
    """The run could not be started, or has not come to its end."""

    __module__ = "evenstep"


class ItemError(RuntimeError):
    """f has raised an exception, which is __cause__, or its worker has ended.

    index is the item's place among the items, item the item itself, node where
    it was tried.
    """

    __module__ = "evenstep"

    def __init__(self, index: int, item: object, node: str, why: str) -> None:
        text = repr(item)
        if len(text) > 80:
            text = text[:77] + "..."
        super().__init__(f"item {index} ({text}) failed{' on ' + node if node else ''}: {why}")
        self.index = index
        self.item = item
        self.node = node


class RemoteTraceback(Exception):
    """Shows where on the node it was raised."""

    def __init__(self, trace: str) -> None:
        super().__init__(trace)

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def _name(f: Callable[..., Any]) -> str:
    module = getattr(f, "__module__", None) or "?"
    return f"{module}.{getattr(f, '__qualname__', type(f).__qualname__)}"


def _why_not(f: Callable[..., Any], error: BaseException) -> str:
    """What is wrong with an f that cannot be pickled, and how to mend it."""
    name = _name(f)
    if name.endswith("<lambda>"):
        what = "is a lambda"
    elif "<locals>" in name:
        what = f"({name}) is defined within a function"
    else:
        what = f"({name}) does not go by its name ({error})"
    if _pickling.HAS_CLOUDPICKLE:
        return f"evenstep.map: f cannot be sent to the nodes: {error}"
    return (
        f"evenstep.map: f {what}, and pickle cannot send that to the nodes: "
        "define it with def at the top of a module, or install cloudpickle"
    )


def _packed_function(f: Callable[..., Any]) -> bytes:
    if not callable(f):
        raise TypeError(f"evenstep.map: f is a {type(f).__name__}, not a function")
    try:
        packed = _pickling.dumps(f)
    except Exception as error:
        raise TypeError(_why_not(f, error)) from error
    kind, why = _pickling.describe_main()
    if kind == "none" and getattr(f, "__module__", "") == "__main__" and not _pickling.HAS_CLOUDPICKLE:
        raise TypeError(
            f"evenstep.map: the nodes cannot import {_name(f)}, as {why}: "
            "put it in a file, or install cloudpickle"
        )
    return packed


def _packed_item(index: int, item: object) -> bytes:
    try:
        return _pickling.to_line(_pickling.dumps(item))
    except Exception as error:
        raise TypeError(
            f"evenstep.map: item {index}, a {type(item).__name__}, cannot be sent to the nodes: {error}"
        ) from error


def _program() -> str:
    given = os.environ.get("EVENSTEP", "evenstep")
    found = shutil.which(given)
    if found is None:
        raise RunError(
            f"evenstep.map: there is no program {given}: "
            "put its folder into PATH, or its path into the variable EVENSTEP"
        )
    return found


def _check_place(local: Union[int, str, None]) -> None:
    if _pickling.is_importing_main():
        raise RuntimeError(
            "evenstep.map: a node has imported this program to find f, and came to the call of "
            "map() again: put what only the program itself does behind\n"
            '    if __name__ == "__main__":'
        )
    if local is None and "SLURM_JOB_ID" not in os.environ:
        raise RunError(
            "evenstep.map: this is no Slurm job: start the program by salloc or sbatch, "
            "or say local=4 for four workers on this machine"
        )


def _slots(slots: Union[int, str, None], local: Union[int, str, None]) -> int:
    if slots is None:
        return 1 if local is not None else 0
    if slots == "cores":
        return 0
    if isinstance(slots, int) and slots > 0:
        return slots
    raise ValueError(f'evenstep.map: slots={slots!r}: say a number of processes a node, or "cores"')


class Results(Generic[R], Iterator[R]):
    """The results of map(), in the order of the items, each as soon as it and
    all before it are there.  close(), or the end of a with, ends the run."""

    def __init__(
        self, items: Sequence[Any], folder: str, command: List[str], return_exceptions: bool
    ) -> None:
        self._items = items
        self._folder = folder
        self._return_exceptions = return_exceptions
        self._index = 0
        self._piece: Optional[IO[bytes]] = None
        self._words: Deque[str] = collections.deque(maxlen=_LAST_WORDS)
        self._left_out: Dict[int, Tuple[str, str]] = {}  # by index: node, and how
        self._run = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            errors="backslashreplace",
        )
        self._quiet = False
        self._relay = threading.Thread(target=self._relay_words, daemon=True)
        self._relay.start()

    def _relay_words(self) -> None:
        assert self._run.stderr is not None
        for line in self._run.stderr:
            if line.startswith("evenstep: "):
                self._words.append(line)
                self._note_left_out(line)
            if not self._quiet:
                sys.stderr.write(line)

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
            ended = self._run.poll() is not None  # asked before it is looked for
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
        self._relay.join()
        status = self._run.wait()
        if self._return_exceptions and status == 1:
            return self._killed(self._index, *self._left_out.get(self._index, ("", "has ended")))
        error = RunError(
            f"evenstep.map: evenstep run has ended with exit status {status}, and item {self._index} "
            "is not done; its last words:\n" + "".join(self._words).rstrip()
        )
        ended_by = _ENDED_BY.match(self._words[-1]) if self._words else None
        if ended_by is None:
            raise error
        item = int(ended_by[2]) - _FIRST_LINE
        raise self._killed(item, ended_by[1], ended_by[3]) from error

    def _fail(self, outcome: Any) -> ItemError:
        error, trace, node = outcome
        why = f"{type(error).__name__}: {error}"
        failure = ItemError(self._index, self._items[self._index], node, why)
        error.__cause__ = RemoteTraceback(trace)
        failure.__cause__ = error
        return failure

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
        self._quiet = self._run.poll() is None  # who ends it knows that
        first: Tuple[signal.Signals, float] = (signal.SIGINT, _END_SECONDS)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            first = (signal.SIGTERM, 0.2)  # the run ignores SIGINT, too
        for number, seconds in (
            first,
            (signal.SIGTERM, _END_SECONDS),
            (signal.SIGKILL, _END_SECONDS),
        ):
            if self._run.poll() is None:
                self._run.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._run.wait(seconds)
        self._relay.join(1)  # a process that it has left may keep the pipe open
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
        if hasattr(self, "_relay") and self._run.poll() is None:
            self.close()


def _command(
    folder: str,
    name: str,
    local: Union[int, str, None],
    python: Sequence[str],
    options: Sequence[str],
) -> List[str]:
    where = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [
        _program(),
        "run",
        "--persistent",
        "--retries=1",
        "--bisect",
        "--no-sync",
        "--header=1",
        "--lines=" + os.path.join(folder, "items"),
        "--stdout=" + os.path.join(folder, "out", "{begin}"),
        *([] if local is None else [f"--local={local}"]),
        *options,
        "--",
        *(python or [sys.executable]),
        "-c",
        _WORKER.format(where),
        name,  # what is learned of the costs is kept by command
    ]


def map(
    f: Callable[[T], R],
    items: Iterable[T],
    *,
    local: Union[int, str, None] = None,
    slots: Union[int, str, None] = None,
    return_exceptions: bool = False,
    python: Sequence[str] = (),
    options: Sequence[str] = (),
) -> Results[R]:
    """f of each item, over the nodes of the job; the results in their order.

    Each node gets as many items as it can do in the time of the others.  What
    a node had when it died is done by others.

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
    _check_place(local)
    all_items = list(items)
    processes = _slots(slots, local)
    function = _packed_function(f)
    path = sys.path[:1] if python else sys.path  # another Python has its own
    job = (path, sys.argv, _pickling.describe_main(), function, processes)
    if return_exceptions:
        options = ["--keep-going", *options]
    folder = tempfile.mkdtemp(prefix="evenstep-map-")
    try:
        os.mkdir(os.path.join(folder, "out"))
        with open(os.path.join(folder, "items"), "wb") as lines:
            lines.write(_pickling.to_line(_pickling.dumps(job)))
            for index, item in enumerate(all_items):
                lines.write(_packed_item(index, item))
        command = _command(folder, _name(f), local, python, options) if all_items else ["true"]
        return Results(all_items, folder, command, return_exceptions)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
