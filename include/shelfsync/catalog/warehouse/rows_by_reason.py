"""Rows that a person works through: what the platform rejects, and what cannot be sent of the ERP. By reason, filtered, page by page.

A page begins behind the last row of the one before, so the thousandth page costs as much as the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.warehouse.quarantine import LAST_READING
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Asked:
    """Which rows; None: any. `sku`: how it begins."""

    vendor: str | None = None
    reason: str | None = None
    sku: str | None = None


@dataclass(frozen=True)
class Kind:
    """One kind of rows. `relation` has the columns vendor, sku and reason; `key` names the columns of their order, with their types.

    `since` and `about` are aggregates over the rows of a reason: how long there are any, and a sentence about it.
    """

    relation: str
    key: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    since: str
    about: str


REJECTED = Kind(
    "warehouse.rejection",
    (("vendor", "text"), ("sku", "text")),
    (
        *("vendor", "sku", "reason", "kind", "price", "quantity", "active", "max_sales_quantity"),
        *("times", "first_at", "last_at", "next_try_at", "released_by", "what_to_do"),
    ),
    since="min(first_at)",
    about="min(what_to_do)",
)
"""SKUs that the platform rejects now."""

QUARANTINED = Kind(
    f"(SELECT q.* FROM warehouse.quarantine AS q JOIN ({LAST_READING}) AS last USING (vendor, run_id)) AS quarantined",  # noqa: S608  of constants
    (("vendor", "text"), ("row_number", "bigint"), ("field", "text")),
    ("vendor", "sku", "reason", "row_number", "field", "row_sent", "message", "raw"),
    since="CAST(NULL AS timestamptz)",
    about="min(message)",
)
"""Rows and values of the ERP that cannot be sent, of the last reading of each vendor."""

_ASKED = """
(CAST(:vendor AS text) IS NULL OR vendor = :vendor) AND (CAST(:reason AS text) IS NULL OR reason = :reason)
AND (CAST(:sku AS text) IS NULL OR starts_with(sku, :sku))
"""


def groups(connection: Connection, kind: Kind, asked: Asked, *, most: int) -> list[dict[str, Any]]:
    """`{"reason", "rows", "stores", "since", "about"}`, the most frequent first. The reason of `asked` is left out of account."""
    statement = f"""
SELECT reason, count(*) AS rows, count(DISTINCT vendor) AS stores, {kind.since} AS since, {kind.about} AS about
FROM {kind.relation} WHERE {_ASKED} GROUP BY reason ORDER BY rows DESC, reason LIMIT :most
"""  # noqa: S608  of constants
    given = {"vendor": asked.vendor, "reason": None, "sku": asked.sku, "most": most}
    return [dict(row) for row in connection.execute(sa.text(statement), given).mappings()]


def page(
    connection: Connection, kind: Kind, asked: Asked, *, after: Sequence[str] = (), most: int
) -> list[dict[str, Any]]:
    """The next rows behind the one whose key is `after`, in the order of the key; from the first one without it.

    DataError: `after` is no key of these rows.
    """
    if after and len(after) != len(kind.key):
        raise DataError("rows: this address names no row to go on behind. Begin with the first page")
    names = ", ".join(name for name, _ in kind.key)
    behind = ", ".join(f"CAST(:after_{place} AS {type_})" for place, (_, type_) in enumerate(kind.key))
    statement = f"""
SELECT {", ".join(kind.columns)} FROM {kind.relation}
WHERE {_ASKED} {f"AND ({names}) > ({behind})" if after else ""} ORDER BY {names} LIMIT :most
"""  # noqa: S608  of constants
    given: dict[str, Any] = {"vendor": asked.vendor, "reason": asked.reason, "sku": asked.sku, "most": most}
    given |= {f"after_{place}": value for place, value in enumerate(after)}
    return [dict(row) for row in connection.execute(sa.text(statement), given).mappings()]


def key(kind: Kind, row: dict[str, Any]) -> list[str]:
    """What `page` goes on behind."""
    return [str(row[name]) for name, _ in kind.key]


def every_page(connect: Any, kind: Kind, asked: Asked, *, most: int) -> Iterator[list[dict[str, Any]]]:
    """All rows, page by page, each in a transaction of its own: a slow reader holds none."""
    after: list[str] = []
    while True:
        with connect() as connection:
            rows = page(connection, kind, asked, after=after, most=most)
        if rows:
            yield rows
        if len(rows) < most:
            return
        after = key(kind, rows[-1])
