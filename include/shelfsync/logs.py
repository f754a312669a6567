"""Log records with fields: every line has the run, vendor, job and step that it is about.

The fields live in structlog's context, which Airflow puts on its own task logs by itself. Outside Airflow `configure` shows them: behind
the text, or as one JSON object a line.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from typing import TYPE_CHECKING, Any, Literal

from structlog.contextvars import bound_contextvars, get_contextvars

from shelfsync.invisible_characters import plain, plain_json, plain_lines
from shelfsync.secret_mask import masked

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import TextIO

Format = Literal["text", "json"]
FIELDS = ("run", "vendor", "job", "step")
_IN_REPORT = "reported"


def in_report(name: str) -> logging.Logger:
    """The logger of a module for what the report of a run names too. A command that prints such a report does not log it besides."""
    return logging.getLogger(f"{name}.{_IN_REPORT}")


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
    form: Format,
    level: int,
    *,
    text: str = "%(levelname)s %(message)s",
    stream: TextIO | None = None,
    reports: bool = False,
) -> None:
    """Configures the logging of one of shelfsync's processes, replacing any earlier configuration. Never called inside Airflow.

    `reports`: the process prints a report, so records of `in_report` are for --verbose and for a log that programs read.
    """
    handler = logging.StreamHandler(masked(stream or sys.stderr))
    if reports and form == "text" and level > logging.INFO:
        handler.addFilter(lambda record: not record.name.endswith(f".{_IN_REPORT}"))
    handler.setFormatter(JsonLines() if form == "json" else Text(text))
    logging.basicConfig(level=level, handlers=[handler], force=True)


def _fields() -> dict[str, Any]:
    context = get_contextvars()
    return {name: context[name] for name in FIELDS if name in context}
