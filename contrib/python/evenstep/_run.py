# SPDX-License-Identifier: BSD-2-Clause
"""An `evenstep run` that this program has started, and the errors of its work."""

from __future__ import annotations

import collections
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from typing import Callable, Deque, List, Optional, Pattern, Sequence, Tuple, Union

from . import _pickling

_LAST_WORDS = 5  # lines that an error repeats of what evenstep itself has said
_END_SECONDS = 10  # after each signal to end the run
_WORKER = "import sys; sys.path.append({!r}); from evenstep.{} import main; main()"


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


def failure(index: int, item: object, error: BaseException, trace: str, node: str) -> ItemError:
    """f has raised that error."""
    failed = ItemError(index, item, node, f"{type(error).__name__}: {error}")
    error.__cause__ = RemoteTraceback(trace)
    failed.__cause__ = error
    return failed


def program(who: str) -> str:
    """Where evenstep is."""
    given = os.environ.get("EVENSTEP", "evenstep")
    found = shutil.which(given)
    if found is None:
        raise RunError(
            f"{who}: there is no program {given}: "
            "put its folder into PATH, or its path into the variable EVENSTEP"
        )
    return found


def check_place(who: str, local: Union[int, str, None], hint: str = "local=4") -> None:
    """There are nodes, and this is not one of them."""
    if _pickling.is_importing_main():
        raise RuntimeError(
            f"{who}: a node has imported this program to find f, and came to the call of "
            f"{who}() again: put what only the program itself does behind\n"
            '    if __name__ == "__main__":'
        )
    if local is None and "SLURM_JOB_ID" not in os.environ:
        raise RunError(
            f"{who}: this is no Slurm job: start the program by salloc or sbatch, "
            f"or say {hint} for four workers on this machine"
        )


def processes(who: str, slots: Union[int, str, None], local: Union[int, str, None]) -> int:
    """A node, 0: one a core."""
    if slots is None:
        return 1 if local is not None else 0
    if slots == "cores":
        return 0
    if isinstance(slots, int) and slots > 0:
        return slots
    raise ValueError(f'{who}: slots={slots!r}: say a number of processes a node, or "cores"')


class Run:
    """The front end, whose stderr goes to ours."""

    def __init__(
        self,
        command: List[str],
        hear: Optional[Callable[[str], None]] = None,
        hidden: Optional[Pattern[str]] = None,
    ) -> None:
        self.words: Deque[str] = collections.deque(maxlen=_LAST_WORDS)  # evenstep's own, the last
        self._hear = hear
        self._hidden = hidden
        self._process = subprocess.Popen(
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
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if line.startswith("evenstep: "):
                self.words.append(line)
                if self._hear:
                    self._hear(line)
            if not self._quiet and not (self._hidden and self._hidden.match(line)):
                sys.stderr.write(line)

    def has_ended(self) -> bool:
        """It needs no wait."""
        return self._process.poll() is not None

    def wait(self, seconds: Optional[float] = None) -> int:
        """Its exit status; subprocess.TimeoutExpired."""
        return self._process.wait(seconds)

    def why(self, who: str, what: str) -> RunError:
        """It has ended before its work was done."""
        self._relay.join(_END_SECONDS)
        return RunError(
            f"{who}: evenstep run has ended with exit status {self.wait()}, and {what}; "
            "its last words:\n" + "".join(self.words).rstrip()
        )

    def end(self) -> None:
        """End it, whatever it is at."""
        self._quiet = not self.has_ended()  # who ends it knows that
        first: Tuple[signal.Signals, float] = (signal.SIGINT, _END_SECONDS)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            first = (signal.SIGTERM, 0.2)  # the run ignores SIGINT, too
        for number, seconds in (
            first,
            (signal.SIGTERM, _END_SECONDS),
            (signal.SIGKILL, _END_SECONDS),
        ):
            if not self.has_ended():
                self._process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.wait(seconds)
        self._relay.join(1)  # a process that it has left may keep the pipe open


def command(
    who: str,
    worker: str,
    name: str,
    local: Union[int, str, None],
    python: Sequence[str],
    options: Sequence[str],
) -> List[str]:
    """Of an `evenstep run --persistent` with main() of that module on every node."""
    where = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [
        program(who),
        "run",
        "--persistent",
        "--no-sync",
        "--header=1",
        *([] if local is None else [f"--local={local}"]),
        *options,
        "--",
        *(python or [sys.executable]),
        "-c",
        _WORKER.format(where, worker),
        name,  # what is learned of the costs is kept by command
    ]
