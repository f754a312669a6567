"""When a customer's data are removed by themselves, and whose data a person means who has them removed."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH_MIN = 4
"""Fewer characters would be found in too many customers."""
_BETWEEN = str.maketrans("", "", " -()/.\t")


def remove_at(first_received_at: dt.datetime, customer_days: int) -> dt.datetime:
    """So many days after the order was first received, whatever comes of it later."""
    return first_received_at + dt.timedelta(days=customer_days)


def is_long_enough(text: str) -> bool:
    """Whether what is compared has enough characters."""
    return len(_plain(text)) >= LENGTH_MIN


def is_about(text: str, customer: Any) -> bool:
    """Whether the customer's data (JSON) have a value with this text, without regard to spaces, hyphens, brackets and case."""
    wanted = _plain(text)
    return any(wanted in _plain(value) for value in _values(customer))


def _values(value: Any) -> Iterator[str]:
    """Every scalar in it, as text."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from _values(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner)
    elif value is not None:
        yield str(value)


def _plain(text: str) -> str:
    return text.translate(_BETWEEN).casefold()
