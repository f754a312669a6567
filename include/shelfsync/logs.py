"""Log records with fields: every line has the run, vendor, job and step that it is about.

The fields live in structlog's context, which Airflow puts on its own task logs by itself. Outside Airflow `configure` shows them: behind
the text, or as one JSON object a line.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import re
import sys
from typing import TYPE_CHECKING, Any, Literal

from structlog.contextvars import bound_contextvars, get_contextvars

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import TextIO

_ACTING = "\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
_IN_LINE = re.compile(f"[\n{_ACTING}]")
_IN_LINES = re.compile(f"[{_ACTING}]")
Format = Literal["text", "json"]
FIELDS = ("run", "vendor", "job", "step")


def plain(text: str) -> str:
    r"""One line; a control character, a mark of direction or half a character is shown as `\x1b`, `\u202e`."""
    return _IN_LINE.sub(_shown, text)


def plain_lines(text: str) -> str:
    """The same of a text of several lines, such as a traceback."""
    return _IN_LINES.sub(_shown, text)


def plain_json(text: str) -> str:
    """A JSON document with such characters escaped: its value stays the same."""
    return _IN_LINES.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _shown(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")


def about(**fields: str | int) -> AbstractContextManager[None]:
    """Adds these fields to every record that is logged inside the block."""
    return bound_contextvars(**fields)


class JsonLines(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger, message, the fields, and the traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        values: dict[str, Any] = {
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(),
        }
        if record.exc_info:
            values["traceback"] = self.formatException(record.exc_info)
        return plain_json(json.dumps(values, ensure_ascii=False, default=str))


class Text(logging.Formatter):
    """A line for people, followed by the fields."""

    def format(self, record: logging.LogRecord) -> str:
        line = plain_lines(super().format(record))
        fields = plain(" ".join(f"{name}={value}" for name, value in _fields().items()))
        return f"{line} [{fields}]" if fields else line

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  the name is logging's
        """The line without a traceback: a line break from outside begins no line of its own."""
        return plain(super().formatMessage(record))


def configure(
    form: Format, level: int, *, text: str = "%(levelname)s %(message)s", stream: TextIO | None = None
) -> None:
    """Configures the logging of one of shelfsync's processes, replacing any earlier configuration. Never called inside Airflow."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else Text(text))
    logging.basicConfig(level=level, handlers=[handler], force=True)


def _fields() -> dict[str, Any]:
    context = get_contextvars()
    return {name: context[name] for name in FIELDS if name in context}
