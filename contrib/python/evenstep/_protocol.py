# SPDX-License-Identifier: BSD-2-Clause
"""The messages between a program and its node's agent.

They are those of launcher/libevenstep/slice_message.h, version 2: numbers are
big-endian, a text is its length and its bytes.
"""

from __future__ import annotations

import array
import errno
import os
import socket
import struct
from typing import NamedTuple, Optional

HELLO, WELCOME, NEXT, SLICE, OVER, DONE, TAKEN, BYE, LISTEN, LISTENED = range(1, 11)
SURVIVES = 1
_PLAIN = 1  # the version without flags, which older agents know
_VERSION = 2
_MESSAGE_MAX = 512


class Answer(NamedTuple):
    """A message of the agent; only the fields of its kind have a meaning."""

    kind: int
    error: int = 0
    id: int = 0
    frame: int = 0
    begin: int = 0
    end: int = 0
    label: str = ""


def local_rank() -> int:
    """This process' number among those on its node."""
    local = os.environ.get("SLURM_LOCALID", "")
    return int(local) if local.isdigit() else 0


def hello(units: int, frames: int, flags: int) -> bytes:
    """The first message; an agent of before is not bothered with flags."""
    rank = local_rank()
    if flags == 0:
        return struct.pack(">IIIQQ", HELLO, _PLAIN, rank, units, frames)
    return struct.pack(">IIIQQI", HELLO, _VERSION, rank, units, frames, flags)


def listen(port: int) -> bytes:
    """The first and only message of its connection: we listen at that port."""
    return struct.pack(">IIII", LISTEN, _VERSION, local_rank(), port)


def done(slice_id: int) -> bytes:
    """The slice of that id is done."""
    return struct.pack(">IQ", DONE, slice_id)


def plain(kind: int) -> bytes:
    """A message without fields: NEXT or BYE."""
    return struct.pack(">I", kind)


def parse(message: bytes) -> Answer:
    """Decode what an agent has sent; ValueError if it is no such message."""
    try:
        (kind,) = struct.unpack_from(">I", message)
        if kind == SLICE:
            slice_id, frame, begin, end, length = struct.unpack_from(">QQQQI", message, 4)
            label = message[40:]
            if len(label) == length and begin <= end:
                text = label.decode(errors="surrogateescape")
                return Answer(kind, 0, slice_id, frame, begin, end, text)
        elif kind in (WELCOME, OVER, LISTENED) and len(message) == 8:
            return Answer(kind, struct.unpack_from(">I", message, 4)[0])
        elif kind == TAKEN and len(message) == 4:
            return Answer(kind)
    except struct.error:
        pass
    raise ValueError("no message of an agent")


class Connection:
    """To the agent of this node."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        self._lines = -1

    def fileno(self) -> int:
        """For select."""
        return self._socket.fileno()

    def send(self, message: bytes) -> None:
        """Send one message."""
        try:
            self._socket.send(message, socket.MSG_NOSIGNAL)
        except BrokenPipeError as gone:
            raise ConnectionResetError(errno.ECONNRESET, "the agent has gone") from gone

    def receive(self, *wanted: int) -> Answer:
        """Wait for a message of one of these kinds."""
        size = array.array("i").itemsize
        space = socket.CMSG_SPACE(size)
        data, extra, _, _ = self._socket.recvmsg(_MESSAGE_MAX, space, socket.MSG_CMSG_CLOEXEC)
        for level, kind, attached in extra:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                self.drop_lines()
                self._lines = array.array("i", attached[:size])[0]
        if not data:
            raise ConnectionResetError(errno.ECONNRESET, "the agent has gone")
        try:
            answer = parse(data)
        except ValueError as bad:
            raise OSError(errno.EBADMSG, str(bad)) from bad
        if answer.kind not in wanted:
            raise OSError(errno.EBADMSG, "the agent has sent another message than was asked for")
        return answer

    def lines(self) -> Optional[int]:
        """A descriptor of the slice's lines, this connection's own."""
        return self._lines if self._lines >= 0 else None

    def drop_lines(self) -> None:
        """Close it."""
        if self._lines >= 0:
            os.close(self._lines)
        self._lines = -1

    def close(self) -> None:
        """Hang up."""
        self.drop_lines()
        self._socket.close()
