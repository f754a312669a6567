"""When a guard holds: more rows than always flow, and a greater share than its threshold allows, each category by its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.guards.case import Case, Finding, Findings, count
from shelfsync.schemas import FIELDS

_HANDFUL = 5
_OF_ANY_SIZE = frozenset({"new_skus", "shrunken_extract"})
"""Rules without a lower limit for small stores: such a store may well double, and in it the number of missing rows proves little."""


def judged(
    case: Case, rule: str, rows: pa.Array, of: pa.Array, what: str, fields: tuple[str, ...] = FIELDS
) -> Findings:
    """Holds `rows` (mask over the delta) if they are more than the limit of `of` (mask over the baseline) allows.

    Categories with thresholds of their own are compared first, each by itself. `what` is the message after the numbers.
    """
    rows = case.undecided(rows, fields)
    left, left_of = rows, of
    for category in case.limits.categories(rule, case.vendor):
        here = pc.equal(case.category, category).fill_null(False)
        there = pc.equal(case.category_before, category).fill_null(False)
        yield from _tripped(case, rule, pc.and_(rows, here), pc.and_(of, there), what, fields, category)
        left, left_of = pc.and_(left, pc.invert(here)), pc.and_(left_of, pc.invert(there))
    yield from _tripped(case, rule, left, left_of, what, fields, None)


def always(rule: str, limit: Any, of: int) -> int:
    """How many rows always flow: of a small store no more than half of what there is, or a handful."""
    return int(limit.max_rows if rule in _OF_ANY_SIZE or of == 0 else min(limit.max_rows, max(_HANDFUL, of // 2)))


def over(rule: str, limit: Any, number: int, of: int) -> bool:
    """More rows than always flow, and a greater share than may."""
    return bool(limit.enabled and number > always(rule, limit, of) and number > Fraction(str(limit.max_share)) * of)


def _tripped(
    case: Case, rule: str, rows: pa.Array, of: pa.Array, what: str, fields: tuple[str, ...], category: str | None
) -> Findings:
    limit = case.limits.limit(rule, case.vendor, category)
    number, everything = count(rows), count(of)
    if not over(rule, limit, number, everything):
        return
    where = "" if category is None else f" of category {category}"
    flowing = always(rule, limit, everything)
    free = f"up to {flowing} and up to a share of {limit.max_share:g}" if limit.max_rows or limit.max_share else "none"
    half = "" if flowing == limit.max_rows else "; MAX_ROWS is at most half of them, or a handful"
    number_of = f"{number} of {everything}" if everything else f"{number}"  # nothing to compare with on a first sync
    message = (
        f"{number_of} SKUs{where} {what}; the rule {rule} lets {free} through by itself"
        f" (SHELFSYNC_GUARDS__{rule.upper()}__MAX_ROWS and __MAX_SHARE{half})"
    )
    yield Finding(rows, rule, message, limit.model_dump(), category, fields)
