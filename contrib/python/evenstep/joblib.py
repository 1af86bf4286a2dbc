# SPDX-License-Identifier: BSD-2-Clause
"""joblib's Parallel, and so scikit-learn, on the nodes of the job:

    import joblib
    import evenstep.joblib

    evenstep.joblib.register()
    if __name__ == "__main__":
        with joblib.parallel_backend("evenstep"):
            print(joblib.Parallel()(joblib.delayed(f)(i) for i in range(100)))

parallel_backend() takes what Executor() takes, as local=4; n_jobs is by default
as many as the nodes do at once.  The nodes stay as long as the with.  Functions
go there by joblib's own cloudpickle, so lambdas do, too; joblib must be installed
on all of them.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Callable, Optional

from joblib import register_parallel_backend  # type: ignore[import]
from joblib.externals import cloudpickle  # type: ignore[import]
from joblib.parallel import AutoBatchingMixin, ParallelBackendBase  # type: ignore[import]

from ._executor import Executor


class _Batch:
    """Calls that go together, as cloudpickle has them; so do their results."""

    def __init__(self, batch: Callable[[], Any]) -> None:
        self._packed = cloudpickle.dumps(batch)
        calls = getattr(batch, "items", [])
        names = {getattr(call[0], "__qualname__", repr(call[0])) for call in calls}
        self._text = f"{len(calls)} of {', '.join(sorted(names))}, by joblib"

    def __call__(self) -> bytes:
        return bytes(cloudpickle.dumps(cloudpickle.loads(self._packed)()))

    def __repr__(self) -> str:
        return self._text


class _Job:
    """What joblib asks for the results of a batch."""

    def __init__(self, future: Future[bytes]) -> None:
        self._future = future

    def get(self, timeout: Optional[float] = None) -> Any:
        """The results, or the error of one."""
        return cloudpickle.loads(self._future.result(timeout))


class Backend(AutoBatchingMixin, ParallelBackendBase):  # type: ignore[misc]
    """joblib's face of an Executor."""

    supports_timeout = True

    def __init__(
        self,
        nesting_level: Optional[int] = None,
        inner_max_num_threads: Optional[int] = None,
        **place: Any,
    ) -> None:
        super().__init__(nesting_level=nesting_level, inner_max_num_threads=inner_max_num_threads)
        self._place = place
        self._executor = Executor(**place)

    def effective_n_jobs(self, n_jobs: Optional[int]) -> int:
        """So many as are asked for; below 0 all, or nearly."""
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if n_jobs is None:
            return 1
        return n_jobs if n_jobs > 0 else max(1, self._executor.slots + 1 + n_jobs)

    def submit(self, func: Callable[[], Any], callback: Optional[Callable[[Any], None]] = None) -> _Job:
        """Have a batch done."""
        future = self._executor.submit(_Batch(func))
        job = _Job(future)
        if callback:
            hear = callback
            future.add_done_callback(lambda done: None if done.cancelled() else hear(job))
        return job

    apply_async = submit  # as it was called before joblib 1.5

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """A call has failed: what has not begun is not."""
        self._executor.cancel_pending()
        if not ensure_ready:
            self._executor.shutdown(wait=False)
            self._executor = Executor(**self._place)


def register() -> None:
    """Make parallel_backend("evenstep") known to joblib."""
    register_parallel_backend("evenstep", Backend)
