"""When a failed task is repeated: after the usual delay, or after the longer wait that its error names."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from airflow.sdk import RetryDecision, RetryPolicy

from shelfsync.errors import TryAgainError
from shelfsync_airflow import options

if TYPE_CHECKING:
    from airflow.sdk import Context as TaskContext


class AfterItsTime(RetryPolicy):
    """Repeats at the usual delay, or later where the error names a longer wait (a platform that throttles names the time)."""

    def evaluate(
        self,
        exception: BaseException,
        try_number: int,  # noqa: ARG002  the signature is Airflow's
        max_tries: int,  # noqa: ARG002
        context: TaskContext | None = None,  # noqa: ARG002
    ) -> RetryDecision:
        usual = options.retry_delay()
        if isinstance(exception, TryAgainError) and exception.after_s > usual.total_seconds():
            after = dt.timedelta(seconds=exception.after_s)
            return RetryDecision.retry(after, f"The error asks for {after.total_seconds():.1f} s.")
        return RetryDecision.default()
