# SPDX-License-Identifier: BSD-2-Clause
"""Slices, for a program that stays alive from one to the next."""

from __future__ import annotations

import errno
import os
import select
import sys
from types import TracebackType
from typing import IO, Any, Iterator, NamedTuple, NoReturn, Optional, Type

from . import _protocol

_MEANS = {
    errno.EINVAL: "units is 0, or SLURM_LOCALID is not below the node's number of tasks",
    errno.EBUSY: "another process has opened in this one's place",
    errno.EPROTO: "the tasks of the step do not agree about units and frames",
    errno.EPROTONOSUPPORT: "this module and evenstep-agent are of different versions: "
    "install both from the same evenstep",
    errno.ECONNABORTED: "another task has ended in the middle, or a node was lost",
    errno.ETIMEDOUT: "another task of the step has not asked for its first slice",
}


def _fail(number: int, why: str = "") -> NoReturn:
    raise OSError(number, why or _MEANS.get(number) or os.strerror(number))


class Slice(NamedTuple):
    """The units from begin up to, not with, end, of the frame of that number."""

    begin: int
    end: int
    frame: int
    label: str

    def units(self) -> range:
        """The numbers of the units."""
        return range(self.begin, self.end)


class Session:
    """A connection to evenstep; a process has one at a time.

    with evenstep.Session(units=1000, frames=20) as session:
        for s in session:
            for unit in s.units():
                ...

    survives: the others go on without a node that is lost, and do its part.
    Without evenstep (is_alone) the process gets every frame whole; with
    frames=0 there is no last one.
    """

    def __init__(self, units: int = 1, frames: int = 0, survives: bool = False) -> None:
        if units < 1:
            raise ValueError("evenstep: units is the number of units of a frame: 1 or more")
        if frames < 0:
            raise ValueError("evenstep: frames is their number, or 0 for no end")
        self._units, self._frames = units, frames
        self._connection: Optional[_protocol.Connection] = None
        self._asked = False
        self._has_slice = False
        self._id = 0
        self._frame = 0
        self._closed = False
        path = os.environ.get("EVENSTEP_SOCKET")
        if path:
            self._connect(path, _protocol.SURVIVES if survives else 0)

    def _connect(self, path: str, flags: int) -> None:
        connection = _protocol.Connection(path)
        try:
            connection.send(_protocol.hello(self._units, self._frames, flags))
            answer = connection.receive(_protocol.WELCOME)
            if answer.error:
                _fail(answer.error)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    @property
    def is_alone(self) -> bool:
        """There is no evenstep: the process does everything."""
        return self._connection is None

    def _ask(self) -> None:
        if self._closed:
            _fail(errno.ENOTCONN, "the session is closed")
        if self._has_slice:
            _fail(errno.EALREADY, "the slice at hand is not done: call done() before next()")
        sys.stdout.flush()  # this output belongs to no slice
        if self._connection and not self._asked:
            self._connection.send(_protocol.plain(_protocol.NEXT))
            self._asked = True

    def wait(self, milliseconds: int = -1) -> bool:
        """True if next() would return at once, False if not yet.

        Below 0 it waits without limit.
        """
        self._ask()
        if not self._connection:
            return True
        limit = None if milliseconds < 0 else milliseconds / 1000
        return bool(select.select([self._connection], [], [], limit)[0])

    def next(self) -> Optional[Slice]:
        """The next slice; None if there are no more."""
        self._ask()
        if not self._connection:
            return self._next_alone()
        self._asked = False
        answer = self._connection.receive(_protocol.SLICE, _protocol.OVER)
        if answer.kind == _protocol.OVER:
            if answer.error:
                _fail(answer.error)
            return None
        self._id = answer.id
        self._has_slice = True
        return Slice(answer.begin, answer.end, answer.frame, answer.label)

    def _next_alone(self) -> Optional[Slice]:
        if self._frames and self._frame >= self._frames:
            return None
        self._has_slice = True
        self._frame += 1
        return Slice(0, self._units, self._frame - 1, "")

    def lines(self, mode: str = "r") -> IO[Any]:
        """A file object of the slice's lines, under `evenstep run --lines`.

        Read it before the slice is done.
        """
        if not self._has_slice:
            _fail(errno.EINVAL, "there is no slice at hand")
        lines = self._connection.lines() if self._connection else None
        if lines is None:
            _fail(errno.ENOENT, "the slice has no lines: `evenstep run --lines FILE` gives them")
        return os.fdopen(os.dup(lines), mode)

    def done(self) -> None:
        """End the slice; what was printed since next() is its output."""
        if not self._has_slice:
            _fail(errno.EINVAL, "there is no slice at hand")
        sys.stdout.flush()
        if self._connection:
            self._connection.send(_protocol.done(self._id))
            self._connection.receive(_protocol.TAKEN)
            self._connection.drop_lines()
        self._has_slice = False

    def close(self) -> None:
        """End; a slice that is not done is given to others."""
        connection, self._connection = self._connection, None
        self._closed = True
        if connection:
            try:
                connection.send(_protocol.plain(_protocol.BYE))
            except OSError:
                pass  # the agent has gone before
            connection.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Slice]:
        """Each slice is done when the next one is asked for."""
        while True:
            one = self.next()
            if one is None:
                return
            yield one
            if self._has_slice:  # it was not said to be done
                self.done()


_session: Optional[Session] = None


def _current() -> Session:
    if _session is None:
        _fail(errno.ENOTCONN, "call evenstep.open() first")
    return _session


def open(units: int = 1, frames: int = 0, survives: bool = False) -> bool:
    """Begin; True under evenstep, False if this process is alone.

    This and the next five are one Session without a name.
    """
    global _session
    if _session is not None:
        _fail(errno.EISCONN, "evenstep.open() was called before")
    _session = Session(units, frames, survives)
    return not _session.is_alone


def wait(milliseconds: int = -1) -> bool:
    """True if next() would return at once, False if not yet."""
    return _current().wait(milliseconds)


def next() -> Optional[Slice]:
    """The next slice, None if there are no more."""
    return _current().next()


def lines(mode: str = "r") -> IO[Any]:
    """A file object of the slice's lines, where the work is those of a file."""
    return _current().lines(mode)


def done() -> None:
    """End the slice; what was printed since next() is its output."""
    _current().done()


def close() -> None:
    """End; a slice that is not done is given to others."""
    global _session
    if _session is not None:
        _session.close()
    _session = None


def slices(units: int = 1, frames: int = 0, survives: bool = False) -> Iterator[Slice]:
    """All slices, one after the other.  One whose work raises goes back."""
    open(units, frames, survives)
    try:
        yield from _current()
    finally:
        close()
