"""What a view of the warehouse is."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class View:
    """A view: what it tells, each of its columns with what it means, and how it is made."""

    name: str
    comment: str
    columns: dict[str, str] = field(hash=False)
    sql: str
