"""The cause of an exception, and the line about it that may be stored and shown."""

from __future__ import annotations

import traceback
from pathlib import Path

import psycopg
from sqlalchemy.exc import DBAPIError, SQLAlchemyError, StatementError

from partner_api.errors import PartnerError
from shelfsync.errors import ShelfsyncError

_ABOUT_VALUES = ("22", "23", "54")
"""Classes of SQLSTATE that are about the values themselves: data, a rule of the table, a limit of the program."""
_LENGTH_MAX = 500


def is_about_values(error: BaseException) -> bool:
    """True when the database rejects the values that were written: the same statement with other values may succeed."""
    cause = _cause(error)
    state = getattr(cause, "sqlstate", None)
    return isinstance(cause, psycopg.DataError) if state is None else state[:2] in _ABOUT_VALUES


def is_database_trouble(error: BaseException) -> bool:
    """True when the database failed for a reason that is not in the values: it is unavailable, or not as this version expects it."""
    if isinstance(error, StatementError) and not isinstance(error, DBAPIError):
        return False  # a value that the driver cannot even write
    return isinstance(error, SQLAlchemyError | psycopg.Error) and not is_about_values(error)


def reason(error: BaseException) -> str:
    """One line that quotes no value: the text of an error of this project, of any other its kind and its place in the code."""
    if isinstance(error, ShelfsyncError | PartnerError):
        return str(error)[:_LENGTH_MAX]
    cause = _cause(error)
    state = getattr(cause, "sqlstate", None)
    what = type(cause).__name__ + (f" (SQLSTATE {state})" if state else "")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "shelfsync" in Path(frame.filename).parts]
    return f"{what} in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else what


def _cause(error: BaseException) -> BaseException:
    """The driver's exception, if SQLAlchemy wraps it."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
