"""The names of products beside their SKUs, wherever a person reads a SKU. They are kept with the vendor and change nothing that is sent."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

from shelfsync.catalog.ledger import vendors
from shelfsync.errors import in_one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    import pyarrow as pa

    from shelfsync.context import Context

log = logging.getLogger(__name__)
_Found = TypeVar("_Found")


def kept(context: Context, vendor: str, found: pa.Table) -> str | None:
    """Writes the vendor's names (NAMES) with the found ones in place of theirs, and returns the lake path; None: nothing is new."""
    if not found.num_rows:
        return None
    from shelfsync.catalog.product_names import laid_over
    from shelfsync.schemas import NAMES

    known = _read(context, vendor, lambda path: context.lake.read_table(path).cast(NAMES), NAMES.empty_table())
    names = laid_over(known, found)
    return None if names is None else context.lake.write_table("names", vendor, names)


def of_skus(context: Context, vendor: str, skus: Collection[str]) -> dict[str, str]:
    """SKU -> what the ERP calls it, of those that it has a name for."""

    def named(path: str) -> dict[str, str]:
        return {row["sku"]: row["name"] for row in context.lake.find_all(path, skus)}

    return _read(context, vendor, named, {}) if skus else {}


def _read(context: Context, vendor: str, read: Callable[[str], _Found], none: _Found) -> _Found:
    """What is read of the vendor's file of names; `none` without one that can be read: names are for people, so they fail nothing."""
    with context.engine.connect() as connection:
        path = vendors.names_path(connection, vendor)
    try:
        return read(path) if path is not None and context.lake.exists(path) else none
    except Exception as error:  # noqa: BLE001  whatever it is, what is sent does not need it
        reason = in_one_line(error)[:300]
        log.warning("names: vendor %s: %s cannot be read (%s); the next run writes it anew", vendor, path, reason)
        return none


NAMED_BY = 5
"""How many vendors are looked at for the names of products that several have."""


def of_any(context: Context, names: Collection[str], skus: Collection[str]) -> dict[str, str]:
    """The same for products of several vendors, or of all (`*`): each has the name that the first of a few vendors gives it."""
    if "*" in names:
        with context.engine.connect() as connection:
            names = list(vendors.known_vendors(connection))
    found: dict[str, str] = {}
    for name in sorted(names)[:NAMED_BY]:
        found = of_skus(context, name, set(skus) - found.keys()) | found
    return found


def with_names(context: Context, vendor: str, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, which have a `sku` of this vendor, with its `name`; None: the ERP gave none."""
    rows = list(rows)
    names = of_skus(context, vendor, {row["sku"] for row in rows})
    return [{**row, "name": names.get(row["sku"])} for row in rows]
