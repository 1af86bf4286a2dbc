# SPDX-License-Identifier: BSD-2-Clause
"""What an Executor runs on every node, started by `evenstep run --persistent`.

The node's only slice lasts as long as the Executor.  Its lines say where the
program listens; this process connects to it, and hands its tasks to processes
of its own, one each for a core, which it replaces when they die.
"""

from __future__ import annotations

import functools
import os
import selectors
import signal
import socket
import sys
from typing import List, NamedTuple, Optional

from . import _link, _pickling
from ._link import Link, Message
from ._slices import Session


class Home(NamedTuple):
    """Where the program is, and what all tasks have in common: the first line."""

    path: List[str]  # where modules are looked for first
    argv: List[str]
    main: _pickling.Main
    slots: int  # processes; 0: one a core
    key: bytes
    addresses: List[str]
    port: int


class Hopeless(Exception):
    """The node can do nothing."""


class Hand:
    """A process that does tasks, one at a time."""

    def __init__(self, home: Home) -> None:
        self._socket, theirs = socket.socketpair()
        self.number: Optional[int] = None  # of its task
        self.is_new = True  # has got none yet
        sys.stdout.flush()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                _close_all_but(theirs.fileno())
                _do_tasks(home, theirs)
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(1)
        theirs.close()

    def fileno(self) -> int:
        """For select."""
        return self._socket.fileno()

    def give(self, task: Message) -> None:
        """Have it done."""
        self.number = task.number
        self.is_new = False
        try:
            _link.send_block(self._socket, task.data)
        except OSError:
            pass  # it has died: taken() says how

    def taken(self) -> Optional[Message]:
        """What has become of the task; None: it has died without one."""
        number, self.number = self.number, None
        data = _link.read_block(self._socket)
        if data is None:
            how = self._ended()
            return None if number is None else Message(_link.DIED, number, how.encode())
        assert number is not None
        return Message(_link.RESULT, number, data)

    @property
    def is_dead(self) -> bool:
        """It has ended."""
        return self._pid == 0

    def end(self) -> None:
        """Whatever it is at."""
        os.kill(self._pid, signal.SIGKILL)

    def _ended(self) -> str:
        self._socket.close()
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return f"was killed by signal {number} ({signal.strsignal(number)})"
        return f"exited with status {os.WEXITSTATUS(status)}"


def _close_all_but(kept: int) -> None:
    """Who waits for the end of this node's connections must not wait for its tasks."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != kept:
            try:
                os.close(int(name))
            except OSError:
                pass  # that of listdir


def _do_tasks(home: Home, tasks: socket.socket) -> None:
    from . import _worker  # after the fork: a node is there at once

    sys.path[:] = home.path + [p for p in sys.path if p not in home.path]
    sys.argv[:] = home.argv
    find_main = functools.partial(_pickling.import_main, home.main)
    while True:
        task = _link.read_block(tasks)
        if task is None:
            return
        result = _worker.call(task, find_main)
        sys.stdout.flush()
        _link.send_block(tasks, result)


class Node:
    """This one: its hands, and the link to the program."""

    def __init__(self, home: Home, link: Link) -> None:
        self._home = home
        self._link = link
        self._selector = selectors.DefaultSelector()
        self._idle: List[Hand] = []
        slots = home.slots or len(os.sched_getaffinity(0))
        self._selector.register(link, selectors.EVENT_READ)
        for _ in range(slots):
            self._add_hand()
        link.send(Message(_link.HELLO, slots, os.environ.get("EVENSTEP_NODE", "?").encode()))

    def _add_hand(self) -> None:
        hand = Hand(self._home)
        self._selector.register(hand, selectors.EVENT_READ)
        self._idle.append(hand)

    def _take(self, hand: Hand) -> None:
        self._selector.unregister(hand)
        was_idle = hand.number is None
        message = hand.taken()
        if was_idle:
            self._idle.remove(hand)
        if hand.is_dead and hand.is_new:
            raise Hopeless("a process of this node has ended before it had a task")
        if hand.is_dead:
            self._add_hand()
        else:
            self._selector.register(hand, selectors.EVENT_READ)
            self._idle.append(hand)
        if message:
            self._link.send(message)

    def serve(self) -> None:
        """Do tasks until there are no more, or nobody who wants them."""
        try:
            self._serve()
        except ConnectionError:
            raise Hopeless("the program has gone") from None
        finally:
            for key in list(self._selector.get_map().values()):
                if isinstance(key.fileobj, Hand):
                    key.fileobj.end()

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is not self._link:
                    assert isinstance(key.fileobj, Hand)
                    self._take(key.fileobj)
                    continue
                message = self._link.receive()
                if message.kind == _link.END:
                    return
                self._idle.pop().give(message)


def _connect(home: Home) -> Link:
    """By the first of its addresses at which it is."""
    why = []
    for address in home.addresses:
        try:
            return Link(home.key, (address, home.port))
        except OSError as error:
            why.append(f"{address}: {error.strerror or error}")
    raise Hopeless(
        f"this node cannot reach the program at port {home.port} ({'; '.join(why)}): "
        "give evenstep.Executor(port=N) one that no firewall closes"
    )


def main() -> None:
    """The process that evenstep starts."""
    os.dup2(2, 1)  # for what tasks print
    with Session() as session:
        try:
            _do_slices(session)
        except Hopeless as why:  # said before evenstep sees the end of the session
            sys.stderr.write(f"evenstep.Executor: {why}\n")
            sys.stderr.flush()
            os._exit(1)


def _do_slices(session: Session) -> None:
    is_over = False
    for _ in session:
        with session.lines("rb") as lines:
            home = Home(*_pickling.loads(_pickling.from_line(lines.readline()), _pickling.own_main))
            lines.read()
        if not is_over:  # else it is the slice of a node that was lost
            Node(home, _connect(home)).serve()
        is_over = True
