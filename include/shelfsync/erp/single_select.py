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
_QUOTED = re.compile(
    r"--[^\n]*|/\*.*?\*/|#(?=\s)[^\n]*|"
    r"(?P<quoted>'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^]'\"`]*\]|(?P<tag>\$\w*\$).*?(?P=tag))",
    re.DOTALL,
)
"""A text literal or a quoted name; comments besides, since an apostrophe in one begins no literal."""


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
    sql = sql.strip()
    quoted = [found.span() for found in _QUOTED.finditer(sql) if found["quoted"]]
    while (end := _end_of(sql, quoted)) is not None:
        sql = sql[:end].rstrip()
    return sql


def _end_of(sql: str, quoted: list[tuple[int, int]]) -> int | None:
    """Where the last semicolon or comment begins, if the statement ends with one that is not quoted."""
    found = _END.search(sql)
    while found is not None and any(begin < found.start() < end for begin, end in quoted):
        found = _END.search(sql, found.start() + 1)
    return None if found is None else found.start()
