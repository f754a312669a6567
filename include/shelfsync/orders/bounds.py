"""How long the texts of an order may be, and how many items it may have: what receives orders and what applies them ask here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT_LENGTH_MAX = 255
"""Of identifiers, states, codes and times, in characters; two of them fit into one key of a PostgreSQL index (2,704 bytes)."""
ITEMS_MAX = 2000
_FREE = frozenset({"name"})
"""What people read and no index holds; the limit of the whole body bounds it."""


def excess(harmless: Mapping[str, Any]) -> str | None:
    """Why the harmless part of an order (`personal.py`) cannot be kept, by the names of fields alone; None when it can."""
    for name, value in harmless.items():
        if isinstance(value, str):
            if len(value) > TEXT_LENGTH_MAX and name not in _FREE:
                return f"{name} is longer than {TEXT_LENGTH_MAX} characters"
        elif isinstance(value, dict):
            if (why := excess(value)) is not None:
                return why
        elif isinstance(value, list):
            if len(value) > ITEMS_MAX:
                return f"{name} are more than {ITEMS_MAX}"
            for entry in value:
                if (why := excess(entry)) is not None:
                    return why
    return None
