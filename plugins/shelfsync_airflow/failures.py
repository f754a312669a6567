"""What an error of shelfsync means to Airflow: stop with the reason, leave out, or try again and when."""

from __future__ import annotations

import datetime as dt
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow.sdk import RetryDecision, RetryPolicy
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from shelfsync.errors import (
    ConfigurationError,
    DataError,
    IncompleteExtractError,
    PartlyFailedError,
    StaleRunError,
    TryAgainError,
)
from shelfsync_airflow import options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from airflow.sdk import Context


log = logging.getLogger(__name__)


@contextmanager
def raised_to_airflow() -> Iterator[None]:
    """Turns errors that no retry can fix into the one that Airflow does not retry; the log shows them in one line.

    What may work the next time passes as it is, and is repeated by the task's retries: an extract that was not whole,
    a platform that is away, any unexpected error.
    """
    try:
        yield
    except StaleRunError as error:
        raise AirflowSkipException(str(error)) from None
    except IncompleteExtractError as error:
        raise error.with_traceback(None) from None
    except (ConfigurationError, DataError, PartlyFailedError) as error:
        log.error("%s", error)  # noqa: TRY400  Airflow adds a traceback of its own, where a person has to look for the line
        raise AirflowFailException(str(error)) from None
    except TryAgainError as error:
        raise error.with_traceback(None) from None


class AfterItsTime(RetryPolicy):
    """Repeats at the usual delay, or later where the error names a longer wait (a platform that throttles names the time)."""

    def evaluate(
        self,
        exception: BaseException,
        try_number: int,  # noqa: ARG002  the signature is Airflow's
        max_tries: int,  # noqa: ARG002
        context: Context | None = None,  # noqa: ARG002
    ) -> RetryDecision:
        usual = options.retry_delay()
        if isinstance(exception, TryAgainError) and exception.after_s > usual.total_seconds():
            after = dt.timedelta(seconds=exception.after_s)
            return RetryDecision.retry(after, f"The error asks for {after.total_seconds():.1f} s.")
        return RetryDecision.default()


def task_defaults() -> dict[str, Any]:
    """`default_args` of every DAG: each task may run twice, so each is repeated."""
    return {
        "owner": options.SECTION,
        "retries": options.retries(),
        "retry_delay": options.retry_delay(),
        "retry_policy": AfterItsTime(),
    }
