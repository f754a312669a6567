"""The operator's statement: one single SELECT, from a setting or from a file that only its owner may change.

It stands in the brackets of a larger SELECT, where a database accepts one SELECT and no statement that writes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shelfsync.erp import text_encoding
from shelfsync.errors import ConfigurationError
from shelfsync.file_access import reject_shared

if TYPE_CHECKING:
    from pathlib import Path

_END = re.compile(
    r"(?:;|(?:(?<=\n)|^)[ \t]*--[^\n]*|(?<=;)[ \t]*--[^\n]*|(?<=;)\s*#[^\n]*|(?<=;)\s*/\*(?:(?!\*/).)*\*/)\Z", re.DOTALL
)
"""A semicolon or a comment at the end of a statement; `#` and `/* */` only after the semicolon, since before it they may be operators."""


def selected(what: str, sql: str, where: str | None = None) -> str:
    """A SELECT of `what` from the rows of the operator's SELECT."""
    rows = f"SELECT {what} FROM (\n{sql}\n) shelfsync_extract"  # noqa: S608  the user's own SELECT
    return rows if where is None else f"{rows} WHERE {where}"


def read_statement(given: tuple[str, str | None], in_file: tuple[str, Path | None]) -> str:
    """The statement of one of two settings, each its name and its value. Raises ConfigurationError with the name of the one that is wrong."""
    setting, text = given
    if text is None:
        setting, path = in_file
        assert path is not None
        if path.is_file():
            reject_shared(path, setting)
        try:
            text = text_encoding.decode(path.read_bytes())
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ConfigurationError(
                setting, f"{str(path)!r} cannot be read: {reason}", "Name a readable file, in UTF-8."
            ) from None
    if not bare(text):
        raise ConfigurationError(
            setting, "it is empty", "Give the SELECT that returns vendor, sku and what else there is."
        )
    return bare(text)


def bare(sql: str) -> str:
    """The statement without semicolon and comment at the end, which brackets around it do not allow."""
    while (shorter := _END.sub("", sql.strip())) != sql:
        sql = shorter
    return sql
