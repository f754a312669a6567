"""A run of some stores reads only the rows of these: the conditions that select them, by the exact values that the ERP has for them."""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.erp.text import texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.erp.vendor_ids import VendorIds

DISTINCT_MAX = 20_000
"""A column with more values than that is not the vendor's."""


def conditions_of(
    vendors: tuple[str, ...], ids: VendorIds, values: Sequence[Any], conditions: Sequence[str | None]
) -> list[str] | None:
    """The conditions of these vendors' rows, among those of all values; none if no value is theirs.

    None: all rows are read, because a value cannot be written safely, or there are too many.
    """
    names = texts(values)
    wanted = {_folded(name) for name in ids.erp_ids(vendors)}
    theirs = [
        condition
        for value, meant, condition in zip(
            names.to_pylist(), ids.meant(names, vendors).to_pylist(), conditions, strict=True
        )
        if value is not None and (meant or _folded(value) in wanted)
    ]
    if None in theirs or len(values) >= DISTINCT_MAX:
        return None
    return [condition for condition in theirs if condition is not None]


def condition(dialect: sa.Dialect, column: str, value: Any) -> str | None:
    """The condition that selects the rows with this value in a quoted column; None if it cannot be written safely."""
    # The driver takes the statement without parameters, so that no sign in the operator's SQL has a special meaning.
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
        return None
    if isinstance(value, str) and ("%" in value or not value.isascii() or "\0" in value):
        return None
    literal = sa.literal(value).compile(dialect=dialect, compile_kwargs={"literal_binds": True})
    return f"{column} = {literal}"


def _folded(name: str) -> str:
    """What is one value for a database that ignores case, accents and spaces; it names one of them for all."""
    plain = unicodedata.normalize("NFKD", name.strip()).casefold()
    return "".join(sign for sign in plain if not unicodedata.combining(sign))
