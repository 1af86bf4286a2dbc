# SPDX-License-Identifier: BSD-2-Clause
"""How functions, items and results go to the nodes and back.

By cloudpickle where that is installed, which also takes lambdas, closures and
what the program itself defines; else by pickle, which goes by names.  A name
of the program's own file (__main__) is looked up on the node by importing that
file as __mp_main__, as multiprocessing does.
"""

from __future__ import annotations

import binascii
import io
import os
import pickle
import sys
import types
from typing import IO, Any, Callable, Dict, Iterable, Optional, Tuple

try:
    import cloudpickle  # type: ignore[import]

    HAS_CLOUDPICKLE = True
except ImportError:
    HAS_CLOUDPICKLE = False

MAIN = "__mp_main__"
Main = Tuple[str, str]  # "module" and its name, "path" and that of a file, "none" and why

_importing_main = False


def is_importing_main() -> bool:
    """A worker is reading the program's file."""
    return _importing_main


def dumps(value: object) -> bytes:
    """Pickle it."""
    if HAS_CLOUDPICKLE:
        return bytes(cloudpickle.dumps(value))
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def to_line(value: bytes) -> bytes:
    """A line that holds these bytes."""
    return binascii.b2a_base64(value)


def from_line(line: bytes) -> bytes:
    """The bytes of that line."""
    return binascii.a2b_base64(line)


class Reader(pickle.Unpickler):
    """Reads what dumps() has made; find_main gives the program's module."""

    def __init__(self, file: IO[bytes], find_main: Callable[[], types.ModuleType]) -> None:
        super().__init__(file)
        self._find_main = find_main

    def find_class(self, module: str, name: str) -> Any:
        """As pickle does, but for the program's own names."""
        if module not in ("__main__", MAIN):
            return super().find_class(module, name)
        found: Any = self._find_main()
        for part in name.split("."):
            found = getattr(found, part)
        return found


def own_main() -> types.ModuleType:
    """The program's module in the process that has called map()."""
    return sys.modules["__main__"]


def describe_main() -> Main:
    """Where a worker finds the program's module."""
    main = own_main()
    spec = getattr(main, "__spec__", None)
    path: Optional[str] = getattr(main, "__file__", None)
    if spec is not None and spec.name:
        return "module", spec.name
    if path and os.path.exists(path):
        return "path", os.path.abspath(path)
    return "none", "it was defined at a prompt, in a notebook, or by python -c"


def import_main(where: Main) -> types.ModuleType:
    """In a worker: import the program's module, once, under its other name."""
    global _importing_main
    if MAIN in sys.modules:
        return sys.modules[MAIN]
    import runpy  # only programs without cloudpickle need it

    kind, name = where
    if kind == "none":
        raise ImportError(f"the program's module cannot be imported: {name}")
    _importing_main = True
    try:
        content: Dict[str, Any]
        if kind == "module":
            content = runpy.run_module(name, run_name=MAIN, alter_sys=True)
        else:
            content = runpy.run_path(name, run_name=MAIN)
    finally:
        _importing_main = False
    module = types.ModuleType(MAIN)
    module.__dict__.update(content)
    sys.modules["__main__"] = sys.modules[MAIN] = module
    return module


def loads(data: bytes, find_main: Callable[[], types.ModuleType]) -> Any:
    """Read one value."""
    return Reader(io.BytesIO(data), find_main).load()

class Star:
    """f of an item's parts."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, parts: Iterable[Any]) -> Any:
        return self._function(*parts)


def name_of(f: Callable[..., Any]) -> str:
    """For messages."""
    module = getattr(f, "__module__", None) or "?"
    return f"{module}.{getattr(f, '__qualname__', type(f).__qualname__)}"


def _why_not(who: str, f: Callable[..., Any], error: BaseException) -> str:
    """What is wrong with an f that cannot be pickled, and how to mend it."""
    name = name_of(f)
    if name.endswith("<lambda>"):
        what = "is a lambda"
    elif "<locals>" in name:
        what = f"({name}) is defined within a function"
    else:
        what = f"({name}) does not go by its name ({error})"
    if HAS_CLOUDPICKLE:
        return f"{who}: f cannot be sent to the nodes: {error}"
    return (
        f"{who}: f {what}, and pickle cannot send that to the nodes: "
        "define it with def at the top of a module, or install cloudpickle"
    )


def pack_function(who: str, f: Callable[..., Any]) -> bytes:
    """Pickle it, or say how to mend that it cannot be."""
    if not callable(f):
        raise TypeError(f"{who}: f is a {type(f).__name__}, not a function")
    try:
        packed = dumps(f)
    except Exception as error:
        raise TypeError(_why_not(who, f, error)) from error
    kind, why = describe_main()
    if kind == "none" and getattr(f, "__module__", "") == "__main__" and not HAS_CLOUDPICKLE:
        raise TypeError(
            f"{who}: the nodes cannot import {name_of(f)}, as {why}: "
            "put it in a file, or install cloudpickle"
        )
    return packed


def pack(who: str, what: str, value: object) -> bytes:
    """Pickle what goes to the nodes beside f."""
    try:
        return dumps(value)
    except Exception as error:
        raise TypeError(
            f"{who}: {what}, a {type(value).__name__}, cannot be sent to the nodes: {error}"
        ) from error
