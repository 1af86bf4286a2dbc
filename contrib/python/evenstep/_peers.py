# SPDX-License-Identifier: BSD-2-Clause
"""Where the tasks of a step listen: evenstep_listen() and evenstep_peer() of the library."""

from __future__ import annotations

import errno
import os
import socket
import struct
from typing import List, NamedTuple, NoReturn, Tuple

from . import _protocol

# The connection table of pmix_bcast/conntable.h, which is little-endian: its head
# up to whose the ports are, and of an entry the port, the address and the node.
_HEAD = struct.Struct("<8sIIII")
_ENTRY = struct.Struct("<36xH2x16sI4x")
_HEAD_BYTES = 64
_MAGIC, _VERSION, _OF_TASKS = b"EVSCONN\n", 1, 1
_IPV4_MAPPED = bytes(10) + b"\xff\xff"

_MEANS = {
    errno.ENOENT: "the program does not run under evenstep",
    errno.EADDRNOTAVAIL: "nobody on this node listens at that port, at an address that others reach",
    errno.EBUSY: "another process calls with the same rank",
    errno.ETIMEDOUT: "not all tasks have called evenstep.listen()",
    errno.ECONNABORTED: "a node was lost, or has not got the table of the ports; or this "
    "process was started after the first frame had begun",
    errno.EBADMSG: "the connection table is damaged, or of another version",
}


class Peer(NamedTuple):
    """How a task is reached, and the number of its node in the step; port 0: not at all."""

    host: str
    port: int
    node: int

    @property
    def address(self) -> Tuple[str, int]:
        """For socket.create_connection()."""
        return self.host, self.port


def _fail(number: int) -> NoReturn:
    raise OSError(number, _MEANS.get(number) or os.strerror(number))


def _host(ip: bytes) -> str:
    if ip.startswith(_IPV4_MAPPED):
        return socket.inet_ntop(socket.AF_INET, ip[len(_IPV4_MAPPED) :])
    return socket.inet_ntop(socket.AF_INET6, ip)


def _read_table(table: bytes) -> List[Peer]:
    if len(table) < _HEAD_BYTES:
        _fail(errno.EBADMSG)
    magic, version, size, tasks, ports = _HEAD.unpack_from(table)
    if (magic, version, size, ports) != (_MAGIC, _VERSION, _ENTRY.size, _OF_TASKS):
        _fail(errno.EBADMSG)
    if len(table) != _HEAD_BYTES + tasks * _ENTRY.size:
        _fail(errno.EBADMSG)
    entries = _ENTRY.iter_unpack(memoryview(table)[_HEAD_BYTES:])
    return [Peer(_host(ip), port, node) for port, ip, node in entries]


def listen(port: int) -> List[Peer]:
    """Say that this task listens at that TCP port, and wait for all others' words.

    Returns how all are reached, by rank.  A port of 0 says that this one listens
    nowhere.  All tasks call it before they ask for their first slice; if all call it
    again, all get the new ports.  Under `evenstep run --persistent` there is one on
    a node, and os.environ["EVENSTEP_RANK"] is its rank.  OSError as evenstep_listen() of libevenstep(3) has
    it: ETIMEDOUT if some task has not called, ECONNABORTED if a node was lost.
    """
    if not 0 <= port <= 65535:
        raise ValueError("evenstep: a TCP port is 1 to 65535, or 0 for none")
    path, folder = os.environ.get("EVENSTEP_SOCKET"), os.environ.get("EVENSTEP_DIR")
    if not path or not folder:
        _fail(errno.ENOENT)
    connection = _protocol.Connection(path)
    try:
        connection.send(_protocol.listen(port))
        answer = connection.receive(_protocol.LISTENED)
    finally:
        connection.close()
    if answer.error:
        _fail(answer.error)
    with open(os.path.join(folder, "conntable"), "rb") as table:
        return _read_table(table.read())
