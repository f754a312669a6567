"""What an error means for the job in work, and its text in one line.

Reading a link, an event, a log or an answer may raise anything. An error that does not concern the one job is raised, because it stops every
job alike: the configuration, a pause of the whole platform, an unavailable database. All others stay with the job (I10).
"""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from partner_api.errors import (
    CredentialsError,
    DownloadTooLargeError,
    LinkNotAllowedError,
    PartnerError,
    ThrottledError,
    UnexpectedAnswerError,
)
from shelfsync.errors import ConfigurationError, DataError, ShelfsyncError, TryAgainError

REASON_CHARACTERS_MAX = 1000
_OF_THE_CONTENT = ("22", "23", "54")
"""Classes of SQLSTATE that are about the values themselves: data, a rule of the table, a limit of the program."""


def database_is_away(error: Exception) -> bool:
    """Whether the database could not be reached. A value that it rejects (too long for an index) does not count."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return not (_sqlstate(error) or "").startswith(_OF_THE_CONTENT)


def stops_every_job(error: Exception) -> bool:
    """Whether the error concerns more than the job in work."""
    return isinstance(error, ConfigurationError | TryAgainError) or database_is_away(error)


def blames_the_file(error: Exception) -> bool:
    """Whether the file of a link can never be used. A temporary fault (a dead host, a full disk) does not count."""
    if isinstance(error, PartnerError):
        return isinstance(error, LinkNotAllowedError | DownloadTooLargeError | UnexpectedAnswerError)
    if isinstance(error, ShelfsyncError):
        return isinstance(error, DataError)
    return not isinstance(error, OSError | SQLAlchemyError)


def stops_every_link(error: Exception) -> bool:
    """Whether every other link of the same job would fail now too."""
    if isinstance(error, PartnerError):
        return isinstance(error, ThrottledError | CredentialsError)
    return not blames_the_file(error)


def reason_of(error: Exception) -> str:
    """The reason in one line that any table and terminal can hold. Of a database error only the kind, because its text quotes values."""
    if isinstance(error, SQLAlchemyError):
        state = _sqlstate(error)
        return f"{type(error).__name__}{f' (SQLSTATE {state})' if state else ''}: the database does not take it"
    text = " ".join(str(error).split())
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:REASON_CHARACTERS_MAX])
    if isinstance(error, ShelfsyncError | PartnerError):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text}"[:REASON_CHARACTERS_MAX]


def _sqlstate(error: SQLAlchemyError) -> str | None:
    return getattr(error.orig, "sqlstate", None) if isinstance(error, DBAPIError) else None
