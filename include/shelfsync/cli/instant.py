"""Instants and spans as a person types them."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated

import typer

_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days"}


def read_instant(text: str) -> dt.datetime:
    """An ISO instant; UTC where no offset is said."""
    try:
        read = dt.datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no instant; write 2026-03-01T10:42 (UTC) or 2026-03-01T11:42+01:00"
        ) from None
    return read if read.tzinfo else read.replace(tzinfo=dt.UTC)


def read_span(text: str) -> dt.timedelta:
    """`90m`, `4h`, `2d`."""
    found = re.fullmatch(r"\s*(\d+)\s*(m|min|h|d)\s*", text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is no span; write 90m, 4h or 2d")
    return dt.timedelta(**{_UNITS[found[2]]: int(found[1])})


At = Annotated[
    dt.datetime | None,
    typer.Option("--at", metavar="TIME", parser=read_instant, help="2026-03-01T10:42 (UTC), or with an offset."),
]
