"""What an error of shelfsync means to Airflow."""

from __future__ import annotations

import datetime as dt
import traceback

import psycopg
import pytest
import sqlalchemy as sa
from airflow.sdk import RetryAction
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from shelfsync.errors import (
    ConfigurationError,
    DataError,
    IncompleteExtractError,
    PartlyFailedError,
    StaleRunError,
    TryAgainError,
    UnreachableError,
)
from shelfsync_airflow.app import raised_to_airflow
from shelfsync_airflow.retries import AfterItsTime

LINE = "SHELFSYNC_PLATFORM__CHAIN: the platform knows no chain 'x'. Correct it."


@pytest.mark.parametrize(
    "error",
    [
        ConfigurationError("SHELFSYNC_PLATFORM__CHAIN", "the platform knows no chain 'x'", "Correct it."),
        DataError(LINE),
        PartlyFailedError(LINE),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_no_repetition_mends_fails_at_once_with_its_one_line(error: Exception) -> None:
    with pytest.raises(AirflowFailException) as raised, raised_to_airflow():
        raise error
    assert str(raised.value) == f"{LINE} [{error.page}]"
    assert traceback.format_exception(raised.value)[-1].count("\n") == 1
    assert "During handling" not in "".join(traceback.format_exception(raised.value))


def test_a_right_that_the_own_database_does_not_give_is_final_and_a_lock_of_it_is_not() -> None:
    forbidden = psycopg.errors.InsufficientPrivilege("permission denied for table run")
    said = r"permission denied for table run\. Let its administrator grant"
    with pytest.raises(AirflowFailException, match=said), raised_to_airflow():
        raise sa.exc.ProgrammingError("SELECT 1", None, forbidden)
    locked = sa.exc.OperationalError("SELECT 1", None, psycopg.errors.LockNotAvailable("lock timeout"))
    with pytest.raises(sa.exc.OperationalError) as raised, raised_to_airflow():
        raise locked
    assert raised.value is locked


def test_a_run_that_was_overtaken_is_left_out_not_failed() -> None:
    with pytest.raises(AirflowSkipException, match="a newer run"), raised_to_airflow():
        raise StaleRunError("a newer run went past this one")


@pytest.mark.parametrize(
    "error",
    [
        TryAgainError("away"),
        IncompleteExtractError("4 of 5 rows"),
        UnreachableError("SHELFSYNC_ERP__URL", "postgresql at erp:5432 cannot be reached", "Start it."),
        OSError("no route"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_may_work_the_next_time_is_left_to_the_retries(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, raised_to_airflow():
        raise error
    assert raised.value is error


@pytest.mark.parametrize(
    ("error", "action", "delay"),
    [
        (TryAgainError("blocked", after_s=600.0), RetryAction.RETRY, dt.timedelta(seconds=600)),
        (TryAgainError("busy", after_s=5.0), RetryAction.DEFAULT, None),
        (RuntimeError("who knows"), RetryAction.DEFAULT, None),
    ],
)
def test_a_retry_waits_as_long_as_the_platform_asks_and_never_less_than_usual(
    error: Exception, action: RetryAction, delay: dt.timedelta | None
) -> None:
    decision = AfterItsTime().evaluate(error, try_number=1, max_tries=3)
    assert (decision.action, decision.retry_delay) == (action, delay)
