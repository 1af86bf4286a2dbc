# SPDX-License-Identifier: BSD-2-Clause
"""How a worker of evenstep.map() starts: what all nodes wait for comes first.

The frame begins when the workers of all nodes have asked for their first slice,
and a slow node takes long to read modules: those that the work needs are read
when it has asked.
"""

from __future__ import annotations

import os

from ._slices import Session


def main() -> None:
    """The process that evenstep starts."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with Session() as session:
        session.wait(0)
        from ._worker import work

        work(session, results)
