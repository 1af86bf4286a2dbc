# SPDX-License-Identifier: BSD-2-Clause
"""Executor: calls that come one by one, each done by whichever node is free.

The nodes' workers (_node.py) are started by one `evenstep run --persistent`,
and stay for as long as the Executor does.  They connect to a thread of this
program, which gives each as many tasks as it has processes.  A process that a
task ends fails that task alone; what a node had when it was lost is done by
others, once.
"""

from __future__ import annotations

import asyncio
import atexit
import collections
import concurrent.futures
import contextlib
import functools
import io
import os
import re
import shutil
import socket
import struct
import sys
import tempfile
import threading
import weakref
from typing import Any, Callable, Deque, Dict, Iterable, List, Optional, Sequence, Set, TypeVar, Union

from . import _link, _pickling, _run
from ._link import Message

R = TypeVar("R")

# How its only frame was, which was as long as the Executor.
_SUMMARY = re.compile(r"evenstep: (frame 1 of 1: |1 frame in |ideal )")
_TRIES = 2  # of a task whose node is lost
_END_SECONDS = 60  # for the run to end when all nodes have been told


class _Call:
    """A call, as messages show it."""

    def __init__(self, f: Callable[..., Any], args: Sequence[Any], kwargs: Dict[str, Any]) -> None:
        words = [repr(arg)[:80] for arg in args[:8]]
        words += [f"{name}={repr(value)[:80]}" for name, value in kwargs.items()]
        name: str = getattr(f, "__qualname__", "")
        self._text = f"{name or repr(f)}({', '.join(words)})" if name or words else repr(f)

    def __repr__(self) -> str:
        return self._text


class _Task:
    """One call on its way."""

    def __init__(self, index: int, call: _Call, data: bytes) -> None:
        self.future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self.index = index
        self.call = call
        self.data = data
        self.tries = 0

    def begins(self) -> bool:
        """False if it was cancelled before."""
        self.tries += 1
        return self.tries > 1 or self.future.set_running_or_notify_cancel()

    def fail(self, node: str, why: str) -> None:
        """Nobody knows its result."""
        self.future.set_exception(_run.ItemError(self.index, self.call, node, why))

    def finish(self, outcome: bytes) -> None:
        """It has returned, or raised: the Future's error is that one, caused by an
        ItemError with the node and the place."""
        try:
            value, trace, node = _pickling.Reader(io.BytesIO(outcome), _pickling.own_main).load()
        except Exception as error:  # of reading a class of the user's
            self.fail("", f"its result cannot be read here: {type(error).__name__}: {error}")
            return
        if trace is None:
            self.future.set_result(value)
            return
        failed = _run.failure(self.index, self.call, value, trace, node)
        failed.__cause__, value.__cause__ = value.__cause__, failed
        self.future.set_exception(value)


class _Place:
    """A node that has connected."""

    def __init__(self, name: str, slots: int, send: Callable[[Message], None]) -> None:
        self.name = name
        self.slots = slots
        self.send = send
        self.tasks: Dict[int, _Task] = {}

    def begin(self, task: _Task) -> None:
        """Have it do the task."""
        self.tasks[task.index] = task
        self.send(Message(_link.TASK, task.index, task.data))


class _Home:
    """The thread that gives the nodes their tasks.  All runs in its loop but what
    says so."""

    def __init__(self, key: bytes, listener: socket.socket, run: _run.Run, folder: str) -> None:
        self._key = key
        self._listener = listener
        self._run = run
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._waiting: Deque[_Task] = collections.deque()
        self._places: List[_Place] = []
        self._callers: Set[asyncio.StreamWriter] = set()
        self._is_closing = False
        self._is_ending = False  # all is done
        self._gate = threading.RLock()  # of what is for the loop, and its end
        self._has_ended = False
        self.error: Optional[_run.RunError] = None  # why nothing can be done any more
        self._thread = threading.Thread(target=self._work, name="evenstep.Executor", daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, daemon=True).start()

    # From other threads.

    def add(self, task: _Task) -> None:
        """One more."""
        self._call(functools.partial(self._add, task))

    def cancel(self) -> None:
        """All that has not begun."""
        self._call(self._cancel)

    def close(self) -> None:
        """End when all is done."""
        self._call(self._close)

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def _call(self, what: Callable[[], None]) -> None:
        with self._gate:
            if not self._has_ended:
                self._loop.call_soon_threadsafe(what)
                return
        what()

    def _watch(self) -> None:
        self._run.wait()
        self._call(self._run_ended)

    # In its own.

    def _work(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            with self._gate:
                self._has_ended = True
            self._loop.run_until_complete(asyncio.sleep(0))  # what came meanwhile
            self._run.end()
            shutil.rmtree(self._folder, ignore_errors=True)
            self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._meet, sock=self._listener)
        await self._over
        server.close()
        for writer in self._callers:
            writer.transport.abort()
        while self._callers:
            await asyncio.sleep(0)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Somebody calls: a node, or else it is hung up on."""
        self._callers.add(writer)
        try:
            proofs = _link.meet_node(self._key, reader.readexactly, writer.write)
            to_node, from_node = await asyncio.wait_for(proofs, _link.SECONDS)
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _link.keep_alive(connection)

            async def receive() -> Message:
                length, tag = _link.HEAD.unpack(await reader.readexactly(_link.HEAD.size))
                return from_node.open(tag, await reader.readexactly(length))

            hello = await receive()
            place = _Place(hello.data.decode(), hello.number, lambda m: writer.write(to_node.close(m)))
            self._places.append(place)
            try:
                if self._is_ending:
                    place.send(Message(_link.END))
                self._hand_out()
                while True:
                    self._hear(place, await receive())
            finally:
                self._lose(place)
        except (OSError, EOFError, asyncio.TimeoutError):
            pass
        finally:
            self._callers.remove(writer)
            writer.close()

    def _add(self, task: _Task) -> None:
        if self.error:
            if task.begins():
                task.future.set_exception(self.error)
            return
        self._waiting.append(task)
        self._hand_out()

    def _hear(self, place: _Place, message: Message) -> None:
        task = place.tasks.pop(message.number)
        self._hand_out()  # before the program is told, which may take its time
        if message.kind == _link.RESULT:
            task.finish(message.data)
        else:
            task.fail(place.name, f"the process that did it {message.data.decode()}")
        self._end_if_done()

    def _lose(self, place: _Place) -> None:
        self._places.remove(place)
        for task in reversed(list(place.tasks.values())):
            if task.tries < _TRIES:
                self._waiting.appendleft(task)
            else:
                task.fail(place.name, f"its node was lost, {_TRIES} times")
        place.tasks.clear()
        self._hand_out()
        self._end_if_done()

    def _hand_out(self) -> None:
        while self._waiting:
            free = [place for place in self._places if len(place.tasks) < place.slots]
            if not free:
                return
            task = self._waiting.popleft()
            if task.begins():
                place = min(free, key=lambda place: len(place.tasks) / place.slots)
                place.begin(task)
                self._places.remove(place)  # of those that are as free it is the last now
                self._places.append(place)

    def _cancel(self) -> None:
        for task in self._waiting:
            task.future.cancel()
        self._hand_out()
        self._end_if_done()

    def _close(self) -> None:
        self._is_closing = True
        self._end_if_done()

    def _end_if_done(self) -> None:
        if not self._is_closing or self._is_ending or self._over.done():
            return
        if any(not task.future.done() for task in self._waiting) or any(p.tasks for p in self._places):
            return
        self._is_ending = True
        for place in self._places:
            place.send(Message(_link.END))
        if self._places:
            self._loop.call_later(_END_SECONDS, self._leave)
        else:  # nobody is there yet
            self._leave()

    def _leave(self) -> None:
        if not self._over.done():
            self._over.set_result(None)

    def _run_ended(self) -> None:
        """Nobody is left to do anything."""
        if self._over.done():
            return
        if not self._is_ending:
            self.error = self._run.why("evenstep.Executor", "its tasks are not done")
        left = [*self._waiting, *(task for place in self._places for task in place.tasks.values())]
        self._waiting.clear()
        for place in self._places:
            place.tasks.clear()
        for task in left:
            if task.begins():
                task.future.set_exception(self.error)
        self._leave()


def _addresses() -> List[str]:
    """Of this machine, for its nodes."""
    import fcntl

    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # it has none
                siocgifaddr = 0x8915
                answer = fcntl.ioctl(any_socket, siocgifaddr, struct.pack("256s", name.encode()))
                found.append(socket.inet_ntoa(answer[20:24]))
    with contextlib.suppress(OSError), open("/proc/net/if_inet6", encoding="ascii") as table:
        for line in table:
            address, _, _, scope = line.split()[:4]
            if scope == "00":  # global
                found.append(socket.inet_ntop(socket.AF_INET6, bytes.fromhex(address)))
    return [address for address in found if not address.startswith("127.")]


def _listen(is_local: bool, port: int) -> socket.socket:
    if is_local:
        return socket.create_server(("127.0.0.1", port))
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024)
    return socket.create_server(("", port), backlog=1024)


def _nodes(local: Union[int, str, None]) -> int:
    if local is not None:
        return int(re.match(r"\d*", str(local))[0] or 1)  # type: ignore[index]
    return int(os.environ.get("SLURM_JOB_NUM_NODES", "1"))


def _cores(is_local: bool) -> Iterable[int]:
    """Of each node: Slurm says 4(x3),2."""
    text = "" if is_local else os.environ.get("SLURM_JOB_CPUS_PER_NODE", "")
    for cores, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        yield from [int(cores)] * int(times or 1)


_homes: weakref.WeakSet[_Home] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """What is submitted is done before the program ends, as in all Executors."""
    homes = list(_homes)
    for home in homes:
        home.close()
    for home in homes:
        home.join()


class Executor(concurrent.futures.Executor):
    """An Executor of concurrent.futures over the nodes of the job.

    with evenstep.Executor() as executor:
        future = executor.submit(f, 1, k=2)
        print(future.result())

    local       without Slurm: nodes on this machine, 4, or "4=80,40,20,10" with
                so many percent of a core each
    slots       tasks at once on a node: a number, or "cores"; by default "cores"
                in a job, one each with local
    python      what starts Python on a node, if it is another than this one
    options     more of those of `evenstep run`
    port        where this program listens for its nodes, by default any free one

    The nodes are started by the first task, and stay until shutdown().  A task
    goes to whichever node is free; one that has not begun can be cancelled.
    What f raises the Future raises, and its __cause__ is an ItemError with the
    task, the node and the place.  A task that ends its process, by os._exit or
    for want of memory, fails alone: its error is an ItemError.  What a node had
    when it was lost is begun again by others, once.  If no node is left, or the
    run has ended, the error is a RunError.

    For many calls that are alike evenstep.map() is better: it gives each node as
    many as it can do in the time of the others.
    """

    def __init__(
        self,
        *,
        local: Union[int, str, None] = None,
        slots: Union[int, str, None] = None,
        python: Sequence[str] = (),
        options: Sequence[str] = (),
        port: int = 0,
    ) -> None:
        self._who = "evenstep.Executor"
        _run.check_place(self._who, local)
        self._processes = _run.processes(self._who, slots, local)
        self._local = local
        self._python = python
        self._options = options
        self._port = port
        self._lock = threading.Lock()
        self._home: Optional[_Home] = None
        self._count = 0
        self._is_shut = False

    @property
    def slots(self) -> int:
        """How many tasks are done at once, when all nodes are there."""
        nodes = _nodes(self._local)
        cores = list(_cores(self._local is not None)) or [len(os.sched_getaffinity(0))] * nodes
        return sum(self._processes or its for its in cores)

    def _start(self) -> _Home:
        key = os.urandom(32)
        is_local = self._local is not None
        path = sys.path[:1] if self._python else sys.path  # another Python has its own
        listener = _listen(is_local, self._port)
        folder = tempfile.mkdtemp(prefix="evenstep-map-")
        try:
            addresses = ["127.0.0.1"] if is_local else _addresses()
            main = _pickling.describe_main()
            port = listener.getsockname()[1]
            home = (path, sys.argv, main, self._processes, key, addresses, port)
            with open(os.path.join(folder, "home"), "wb") as lines:
                lines.write(_pickling.to_line(_pickling.dumps(home)))
                lines.write(b"\n" * _nodes(self._local))  # a unit each, which lasts to the end
            how = [
                "--retries=3",
                "--metrics=equal",
                "--policy=static",
                "--pieces=1",
                "--lines=" + os.path.join(folder, "home"),
                *self._options,
            ]
            command = _run.command(self._who, "_node", "tasks", self._local, self._python, how)
            started = _Home(key, listener, _run.Run(command, hidden=_SUMMARY), folder)
        except BaseException:
            listener.close()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        _homes.add(started)
        weakref.finalize(self, started.close).atexit = False
        return started

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[R]:
        """Have fn(*args, **kwargs) done; its Future."""
        data = _packed(self._who, fn, args, kwargs)
        with self._lock:
            if self._is_shut:
                raise RuntimeError(f"{self._who}: no more tasks after shutdown()")
            if self._home is None:
                self._home = self._start()  # if that goes wrong the Future says so
            elif self._home.error:
                raise self._home.error
            task = _Task(self._count, _Call(fn, args, kwargs), data)
            self._count += 1
            self._home.add(task)
        return task.future

    def cancel_pending(self) -> None:
        """Cancel all tasks that have not begun; others may follow."""
        if self._home:
            self._home.cancel()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more tasks; the nodes end when all are done."""
        with self._lock:
            self._is_shut = True
            home = self._home
        if home is None:
            return
        if cancel_futures:
            home.cancel()
        home.close()
        if wait:
            home.join()


def _packed(who: str, f: Callable[..., Any], args: Sequence[Any], kwargs: Dict[str, Any]) -> bytes:
    """A task, or what is wrong with it."""
    try:
        data = _pickling.dumps((f, args, kwargs))
        is_main = getattr(f, "__module__", "") == "__main__"
        if not callable(f) or (is_main and not _pickling.HAS_CLOUDPICKLE):
            _pickling.pack_function(who, f)
        return data
    except Exception:
        _pickling.pack_function(who, f)
        for name, value in [*enumerate(args), *kwargs.items()]:
            _pickling.pack(who, f"argument {name}", value)
        raise


_default: Optional[Executor] = None
_default_lock = threading.Lock()


def submit(f: Callable[..., R], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[R]:
    """Have f(*args, **kwargs) done by a node of the job; its Future.

    By an Executor of this program's, which lasts until the program ends.
    """
    global _default
    with _default_lock:
        if _default is None or _default._home is not None and _default._home.error:
            _run.check_place("evenstep.submit", None, "evenstep.Executor(local=4)")
            _default = Executor()
    return _default.submit(f, *args, **kwargs)
