"""Cases for the guards from a few words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from catalog_rows import shelf, snapshot
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.guards.apply_guards import Guarded, apply_guards
from shelfsync.catalog.guards.case import Case, History
from shelfsync.catalog.guards.last_categories import last_categories
from shelfsync.catalog.sales_buffers import Buffers
from shelfsync.catalog.sales_buffers import known_buffers as buffers
from shelfsync.catalog.suppression import with_buffers
from shelfsync.settings import GuardSettings

CATEGORIES = ("dairy", "drinks", "bakery", "sweets", "frozen")
GOOD = {"active": True, "quantity": 10, "price": "2.00"}


def store(numbers, **values: Any) -> dict[str, dict[str, Any]]:
    """Rows by SKU: on sale, ten pieces, two euros, categories in turn; `values` may be functions of the number."""
    rows = {}
    for number in numbers:
        row = {**GOOD, "category": CATEGORIES[number % 5], **values}
        rows[f"S{number:04d}"] = {name: value(number) if callable(value) else value for name, value in row.items()}
    return rows


BEFORE = store(range(1000))
"""What was acknowledged of an ordinary store."""


def case(
    now, before, *, full=False, history=None, limits=None, vendor="store-001", rows=None, at_buffer="activates"
) -> Case:
    """The delta from what was acknowledged to the snapshot of the ERP, with the categories of both."""
    baseline = shelf(
        *(
            {k: v for k, v in {"sku": sku, **row}.items() if k not in {"category", "cost"}}
            for sku, row in before.items()
        )
    )
    here = snapshot(*({"sku": sku, **row} for sku, row in now.items()))
    last = snapshot(*({"sku": sku, **row} for sku, row in before.items()))
    known = last_categories(None, last, baseline)
    past = history or History()
    return Case(
        vendor=vendor,
        delta=with_buffers(compute_delta(here, baseline, full=full), Buffers(buffers(here, vendor, ()), at_buffer)),
        snapshot=here,
        baseline=baseline,
        extract_rows=here.num_rows if rows is None else rows,
        limits=limits or GuardSettings(),
        history=replace(past, categories=last_categories(known, here, baseline)),
        at_buffer=at_buffer,
    )


def split(now, before, *, approved=(), declined=(), **options: Any) -> Guarded:
    return apply_guards(case(now, before, **options), approved=approved, declined=declined)


def reasons(verdict: Guarded) -> dict[str, int]:
    """rule -> rows held."""
    return {
        f"{one.rule}{f' {one.category}' if one.category else ''}": one.rows.num_rows for one in verdict.held_changes
    }
