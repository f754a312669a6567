"""Creates every engine: from an unambiguous address, and without values of a statement in its errors."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from shelfsync.errors import ConfigurationError


def parsed(text: str, setting: str, example: str = "dialect+driver://user:password@host:port/database") -> sa.URL:
    """The address. If it is none or ambiguous, raises ConfigurationError, which contains no part of it.

    An `@` in a password that is not written %40 makes the rest of the password a host, and hosts are shown.
    """
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):  # its message holds the URL, and that its password
        raise ConfigurationError(setting, "it is no database URL", f"Write {example}.") from None
    if url.username is not None and text.count("@") > 1:
        raise ConfigurationError(
            setting,
            "its user or password holds a character that ends it too early",
            "Write @ as %40, / as %2F, : as %3A and % as %25 in user and password.",
        )
    return url


def make_engine(url: sa.URL, **options: Any) -> sa.Engine:
    """An engine whose errors name the statement and the fault, and no value, because values may be personal."""
    engine = sa.create_engine(url, hide_parameters=True, **options)
    sa.event.listen(engine, "handle_error", _without_values)
    return engine


def _without_values(context: Any) -> None:
    """PostgreSQL puts the failing row in the DETAIL of its errors; the first line names the fault without it."""
    original, wrapped = context.original_exception, context.sqlalchemy_exception
    given = getattr(getattr(original, "diag", None), "message_primary", None)
    if given and wrapped is not None:
        original.args = (given,)
        wrapped.args = (f"({type(original).__module__}.{type(original).__name__}) {given}",)
