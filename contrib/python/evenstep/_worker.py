# SPDX-License-Identifier: BSD-2-Clause
"""What evenstep.map() runs on every node, started by _start.py.

Each slice comes as lines: first the job, then an item a line; see _map.py.
What f prints goes to stderr, as stdout is for results.
"""

from __future__ import annotations

import faulthandler
import functools
import io
import os
import pickle
import sys
import traceback
from typing import IO, Any, Callable, Iterable, Iterator, List, NamedTuple, Optional

from . import _pickling
from ._slices import Session


class Job(NamedTuple):
    """What all items have in common: the first line of each slice."""

    path: List[str]  # where modules are looked for first
    argv: List[str]
    main: _pickling.Main
    function: bytes
    slots: int  # processes; 0: one a core


class Outcome(NamedTuple):
    """What has become of an item."""

    value: Any  # the result, or the exception
    trace: Optional[str]  # None: a result
    node: str


def _node() -> str:
    return os.environ.get("EVENSTEP_NODE", "?")


def _failure(error: BaseException) -> Outcome:
    return Outcome(error, traceback.format_exc(), _node())


def _packed(outcome: Outcome, find_main: Callable[[], Any]) -> bytes:
    """As bytes; what cannot go home is told by an exception that can."""
    try:
        data = _pickling.dumps(tuple(outcome))
        if outcome.trace is not None:  # some can be pickled, and not be read again
            _pickling.loads(data, find_main)
        return data
    except Exception as error:
        what = type(outcome.value).__name__
        if outcome.trace is None:
            why = f"its result, a {what}, cannot be pickled: {error}"
            return _pickling.dumps((TypeError(why), why, outcome.node))
        return _pickling.dumps((RuntimeError(f"{what}: {outcome.value}"), outcome.trace, outcome.node))


def call(packed: bytes, find_main: Callable[[], Any]) -> bytes:
    """Do a task of an Executor: a function, its arguments and its keywords."""
    try:
        function, arguments, keywords = _pickling.loads(packed, find_main)
        outcome = Outcome(function(*arguments, **keywords), None, _node())
    except (Exception, SystemExit) as error:
        outcome = _failure(error)
    return _packed(outcome, find_main)


class Task:
    """f, ready for items."""

    def __init__(self, job: Job) -> None:
        sys.path[:] = job.path + [p for p in sys.path if p not in job.path]
        sys.argv[:] = job.argv
        self._find_main = functools.partial(_pickling.import_main, job.main)
        self._failure: Optional[Outcome] = None  # of loading f
        try:
            self._function = _pickling.loads(job.function, self._find_main)
        except (Exception, SystemExit) as error:
            self._failure = _failure(error)

    def __call__(self, line: bytes) -> bytes:
        """Do the item of this line."""
        if self._failure:
            return _packed(self._failure, self._find_main)
        try:
            item = _pickling.loads(_pickling.from_line(line), self._find_main)
            outcome = Outcome(self._function(item), None, _node())
        except (Exception, SystemExit) as error:
            outcome = _failure(error)
        return _packed(outcome, self._find_main)


class Crew:
    """The processes that do the items of a node: this one, or others."""

    def __init__(self, job: Job) -> None:
        slots = job.slots or len(os.sched_getaffinity(0))
        self._task = Task(job)
        self._pool = None
        if slots > 1:
            import concurrent.futures  # costs a slow node its time
            import multiprocessing

            self._pool = concurrent.futures.ProcessPoolExecutor(
                slots, multiprocessing.get_context("fork"), _use, (self._task,)
            )

    def do(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Do the items, in their order."""
        return self._do_by_pool(lines) if self._pool else map(self._task, lines)

    def _do_by_pool(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Where an item ends its process, nobody knows which it was: this one ends,
        too, as if it had done the item, and evenstep looks for it."""
        from concurrent.futures.process import BrokenProcessPool

        assert self._pool
        try:
            yield from self._pool.map(_do, lines)
        except BrokenProcessPool as error:
            sys.stderr.write(f"evenstep.map: one of this node's processes has ended: {error}\n")
            sys.stderr.flush()
            os._exit(1)

    def end(self) -> None:
        """No more items."""
        if self._pool:
            self._pool.shutdown()


_task: Optional[Task] = None  # of a process of the pool


def _use(task: Task) -> None:
    global _task
    _task = task


def _do(line: bytes) -> bytes:
    assert _task is not None
    return _task(line)


def _read_job(line: bytes) -> Job:
    return Job(*pickle.loads(_pickling.from_line(line)))


def work(session: Session, results: IO[bytes]) -> None:
    """Do all slices that come."""
    faulthandler.enable()
    known, crew = b"", None
    for _ in session:
        with session.lines("rb") as lines:
            first = lines.readline()
            if crew is None or first != known:
                crew = Crew(_read_job(first))
                known = first
            for result in crew.do(io.BytesIO(lines.read())):
                results.write(result)
        results.flush()
    if crew:
        crew.end()
