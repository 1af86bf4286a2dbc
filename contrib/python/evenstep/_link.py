# SPDX-License-Identifier: BSD-2-Clause
"""Messages between an Executor's program and its nodes, by TCP.

Both have a key, which came with the first slice.  Each proves it over numbers
that both have chosen, and every message has a tag by which no other one passes
in its place.

    program -> node: 32 random bytes
    node -> program: 32 random bytes, and its proof
    program -> node: its proof; then messages both ways

A message is its length, its tag and its bytes: a kind, a number and data.
"""

from __future__ import annotations

import hmac
import os
import socket
import struct
from typing import Awaitable, Callable, NamedTuple, Optional, Tuple

NONCE = 32
HEAD = struct.Struct(">Q32s")
_KIND = struct.Struct(">cQ")
HELLO, TASK, RESULT, DIED, END = b"H", b"T", b"R", b"D", b"E"
SECONDS = 10  # for all of the proofs


class Message(NamedTuple):
    """HELLO of a node: how many tasks at once, and its name; TASK, and its RESULT,
    or how its process DIED; END: nothing more comes."""

    kind: bytes
    number: int = 0
    data: bytes = b""


class Forged(OSError):
    """The other end does not have the key, or somebody has changed a message."""


def _mac(key: bytes, *parts: bytes) -> bytes:
    return hmac.new(key, b"".join(parts), "sha256").digest()


class Seal:
    """The tags of one direction."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._count = 0

    def _tag(self, content: bytes) -> bytes:
        tag = hmac.new(self._key, self._count.to_bytes(8, "big"), "sha256")
        tag.update(content)
        self._count += 1
        return tag.digest()

    def close(self, message: Message) -> bytes:
        """As it travels."""
        content = _KIND.pack(message.kind, message.number) + message.data
        return HEAD.pack(len(content), self._tag(content)) + content

    def open(self, tag: bytes, content: bytes) -> Message:
        """What has come with that tag."""
        if not hmac.compare_digest(tag, self._tag(content)) or len(content) < _KIND.size:
            raise Forged("a message was changed on its way")
        kind, number = _KIND.unpack_from(content)
        return Message(kind, number, content[_KIND.size :])


def _seals(key: bytes, nonces: bytes) -> Tuple[Seal, Seal]:
    return Seal(_mac(key, b"to node", nonces)), Seal(_mac(key, b"to program", nonces))


Read = Callable[[int], Awaitable[bytes]]


async def meet_node(key: bytes, read: Read, write: Callable[[bytes], None]) -> Tuple[Seal, Seal]:
    """The program's side; returns the seals of what it sends and receives."""
    nonces = os.urandom(NONCE)
    write(nonces)
    nonces += await read(NONCE)
    if not hmac.compare_digest(await read(NONCE), _mac(key, b"node", nonces)):
        raise Forged("a stranger has called")
    write(_mac(key, b"program", nonces))
    return _seals(key, nonces)


class Link:
    """A node's side of it; SECONDS to connect, none afterwards."""

    def __init__(self, key: bytes, address: Tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, SECONDS)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            nonces, own = read(self._socket, NONCE), os.urandom(NONCE)
            nonces += own
            self._socket.sendall(own + _mac(key, b"node", nonces))
            if not hmac.compare_digest(read(self._socket, NONCE), _mac(key, b"program", nonces)):
                raise Forged("another program listens there")
            self._in, self._out = _seals(key, nonces)
            keep_alive(self._socket)
            self._socket.settimeout(None)
        except BaseException:
            self._socket.close()
            raise

    def fileno(self) -> int:
        """For select."""
        return self._socket.fileno()

    def send(self, message: Message) -> None:
        """Send one."""
        self._socket.sendall(self._out.close(message))

    def receive(self) -> Message:
        """Wait for one; ConnectionResetError if the program has gone."""
        length, tag = HEAD.unpack(read(self._socket, HEAD.size))
        return self._in.open(tag, read(self._socket, length))


def keep_alive(connection: socket.socket) -> None:
    """One whose other end is cut off breaks within 20 s."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        (socket.TCP_KEEPIDLE, 5),
        (socket.TCP_KEEPINTVL, 5),
        (socket.TCP_KEEPCNT, 3),
        (socket.TCP_USER_TIMEOUT, 20000),  # type: ignore[attr-defined] # of old typesheds
    ):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)


def read(connection: socket.socket, size: int) -> bytes:
    """So many bytes."""
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(size - len(data), 1 << 20))
        if not part:
            raise ConnectionResetError("the other end has gone")
        data += part
    return bytes(data)


def send_block(connection: socket.socket, data: bytes) -> None:
    """To a process of this node: no key is needed."""
    connection.sendall(len(data).to_bytes(8, "big"))
    connection.sendall(data)


def read_block(connection: socket.socket) -> Optional[bytes]:
    """What send_block() has sent; None: the process has ended."""
    try:
        return read(connection, int.from_bytes(read(connection, 8), "big"))
    except ConnectionError:
        return None
