# SPDX-License-Identifier: BSD-2-Clause
"""Slices from evenstep, for Python programs that stay alive between frames.

    import evenstep

    for s in evenstep.slices(units=1000, frames=20):
        for unit in range(s.begin, s.end):
            ...

A slice is done when the next one is asked for.  Under `evenstep run
--persistent` the work comes from its command line; under `srun --evenstep`
units and frames say it; without evenstep the process is alone and gets every
frame whole.  See libevenstep(3).
"""

import ctypes
import os
import sys
from collections import namedtuple

Slice = namedtuple("Slice", "begin end frame label")

_lib = ctypes.CDLL(
    os.environ.get("EVENSTEP_LIBRARY", "libevenstep.so.0"), use_errno=True
)
SURVIVES = 1
_u64 = ctypes.c_uint64
_lib.evenstep_open_flags.argtypes = [_u64, _u64, ctypes.c_uint]
_lib.evenstep_next.argtypes = [ctypes.POINTER(_u64), ctypes.POINTER(_u64)]
_lib.evenstep_wait.argtypes = [ctypes.c_int]
_lib.evenstep_frame.restype = _u64
_lib.evenstep_label.restype = ctypes.c_char_p
_lib.evenstep_close.restype = None
_lib.evenstep_lines.argtypes = []


def _check(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def open(units=1, frames=0, survives=False):
    """Begin; True under evenstep, False if this process is alone.

    survives: the others go on without a node that is lost, and do its part.
    """
    flags = SURVIVES if survives else 0
    return _check(_lib.evenstep_open_flags(units, frames, flags)) == 1


def wait(milliseconds=-1):
    """True if next() would return at once, False if not yet."""
    sys.stdout.flush()
    return _check(_lib.evenstep_wait(milliseconds)) == 1


def next():
    """The next slice, None if there are no more."""
    begin, end = _u64(), _u64()
    sys.stdout.flush()
    if not _check(_lib.evenstep_next(ctypes.byref(begin), ctypes.byref(end))):
        return None
    label = _lib.evenstep_label().decode(errors="surrogateescape")
    return Slice(begin.value, end.value, _lib.evenstep_frame(), label)


def lines(mode="r"):
    """A file object of the slice's lines, where the work is those of a file.

    Read it before the slice is done.
    """
    return os.fdopen(os.dup(_check(_lib.evenstep_lines())), mode)


def done():
    """End the slice; what was printed since next() is its output."""
    sys.stdout.flush()
    _check(_lib.evenstep_done())


def close():
    """End; a slice that is not done is given to others."""
    _lib.evenstep_close()


def slices(units=1, frames=0, survives=False):
    """All slices, one after the other.  One whose work raises goes back."""
    open(units, frames, survives)
    try:
        while (one := next()) is not None:
            yield one
            done()
    finally:
        close()
