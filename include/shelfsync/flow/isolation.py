"""The net of each job: what an error says of the one thing that was worked on, and how it is put into one line.

Reading a link, an event, a log or an answer may raise anything. An error that says nothing of the one job goes up, because it stops every
job alike: the configuration, a pause of the whole platform, a database that is away. All others stay with the job (I10).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from partner_api.errors import (
    CredentialsError,
    DownloadRefusedError,
    DownloadTooLargeError,
    PartnerError,
    ThrottledError,
    UnexpectedAnswerError,
)
from shelfsync.errors import ConfigurationError, DataError, ShelfsyncError, TryAgainError

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

T = TypeVar("T")

REASON_CHARACTERS_MAX = 1000
_OF_THE_CONTENT = ("22", "23", "54")
"""Classes of SQLSTATE that speak of the values themselves: data, a rule of the table, a limit of the program."""


def database_is_away(error: Exception) -> bool:
    """Whether the database could not be reached; a value that it refuses (too long for an index) is not that."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return not (_sqlstate(error) or "").startswith(_OF_THE_CONTENT)


def stops_every_job(error: Exception) -> bool:
    """Whether the error says nothing of the one job that was worked on."""
    return isinstance(error, ConfigurationError | TryAgainError) or database_is_away(error)


def blames_the_file(error: Exception) -> bool:
    """Whether a link leads to no file that can be used, now or later; what may pass (a dead host, a full disk) does not count."""
    if isinstance(error, PartnerError):
        return isinstance(error, DownloadRefusedError | DownloadTooLargeError | UnexpectedAnswerError)
    if isinstance(error, ShelfsyncError):
        return isinstance(error, DataError)
    return not isinstance(error, OSError | SQLAlchemyError)


def stops_every_link(error: Exception) -> bool:
    """Whether another link of the same job would fare no better now."""
    if isinstance(error, PartnerError):
        return isinstance(error, ThrottledError | CredentialsError)
    return not blames_the_file(error)


def reason_of(error: Exception) -> str:
    """Why, in one line that any table and terminal can hold. Of a database's error only its kind: its text quotes values."""
    if isinstance(error, SQLAlchemyError):
        state = _sqlstate(error)
        return f"{type(error).__name__}{f' (SQLSTATE {state})' if state else ''}: the database does not take it"
    text = " ".join(str(error).split())
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:REASON_CHARACTERS_MAX])
    if isinstance(error, ShelfsyncError | PartnerError):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text}"[:REASON_CHARACTERS_MAX]


def ask_alone(one: T, ask: Callable[[T], object], later: Callable[[T], object], what: str) -> bool:
    """One question about one job; whatever it raises, the next question comes `later`. False when not even that could be written."""
    try:
        ask(one)
    except Exception as error:  # noqa: BLE001  whatever it is, the other jobs are asked about (I10)
        log.warning("wait: %s: %s", what, reason_of(error))
        try:
            later(one)
        except Exception as failure:  # noqa: BLE001  most likely the database is away
            log.warning("wait: %s: %s", what, reason_of(failure))
            return False
    return True


def _sqlstate(error: SQLAlchemyError) -> str | None:
    return getattr(error.orig, "sqlstate", None) if isinstance(error, DBAPIError) else None
