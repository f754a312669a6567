"""restore: for a time, a past acknowledged state replaces the ERP's values, by the ordinary steps; and its end.

While it lasts, shelfsync follows what the guards would do without it, so that its end trips no guard.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import display
from shelfsync.catalog.assortment.acknowledged_rows import acknowledged_rows
from shelfsync.catalog.assortment.product_categories import categories, skus_of_category
from shelfsync.catalog.assortment.product_names import with_names
from shelfsync.catalog.ledger import restorations, runs, vendors
from shelfsync.catalog.warehouse import baseline_history
from shelfsync.errors import DataError
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.guards.case import Case
    from shelfsync.catalog.guards.held_changes import HeldChanges
    from shelfsync.catalog.ledger.restorations import Restoration
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold

    Decided = tuple[list[tuple[Hold, pa.Table]], list[HeldChanges]]


log = logging.getLogger(__name__)

MOVES_SHOWN = 10


def restored(context: Context, vendor: str, snapshot: pa.Table, ordered: Iterable[Restoration]) -> pa.Table:
    """The snapshot with these restorations, oldest first."""
    import pyarrow as pa

    from shelfsync.catalog.restore import overlay

    for one in ordered:
        log.warning("normalise: vendor %s: %s", vendor, one)
        skus = None if one.skus is None else pa.array(one.skus, pa.string())
        snapshot = overlay(snapshot, context.lake.read_table(one.path), skus)
    return snapshot


def restore(
    context: Context,
    vendor: str,
    *,
    at: dt.datetime,
    span: dt.timedelta,
    skus: Sequence[str] | None,
    why: str,
    who: str,
    dry_run: bool,
    category: str | None = None,
    most: int = MOVES_SHOWN,
) -> dict[str, Any]:
    """Orders a restoration of all SKUs, of some, or of a category, unless `dry_run`.

    Returns `{"restoration", "changes", "of_field", "on_sale", "moves", "left_out", "until", "lines"}`. `changes`: number of SKUs whose
    acknowledged state differs; `of_field`: the same by field; `on_sale`: how many of them are on sale, now and then. `moves`: the
    largest changes of price, as many as `most`. `left_out`: number of SKUs of the category that were never acknowledged. A DataError names
    an unknown vendor, SKU or category, or a time without an acknowledged state.
    """
    with context.engine.connect() as connection:
        now = connection.execute(sa.select(instant())).scalar_one()
        if at.replace(microsecond=0) >= now or span.total_seconds() <= 0:
            raise DataError(
                "restore: the instant to go back to has to lie in the past, and the restoration has to last longer than nothing"
            )
        base = vendors.current_baseline(connection, vendor)
        path, then = (None, None) if base is None else _state_at(context, connection, vendor, at, base)
    named = None if category is None else _skus_of(context, vendor, category)
    if then is None or base is None:
        raise DataError(f"restore: nothing was acknowledged of store {vendor!r} by {display.instant(at)}")
    left_out = 0
    if named is not None:
        skus = _acknowledged(named, then, acknowledged_rows(context, vendor, base))
        left_out = len(named) - len(skus)
        if not skus:
            raise DataError(
                f"restore: none of the {left_out} SKUs of category {category!r} of store {vendor!r} was ever acknowledged"
            )
    moves = _moves(then, acknowledged_rows(context, vendor, base), skus)
    largest = with_names(context, vendor, moves[:most])
    until = now + span
    number = None
    if not dry_run:
        path = path or context.lake.write_table("baseline", vendor, then)
        with context.engine.begin() as connection:
            number = restorations.begin(
                connection,
                vendor,
                skus=skus,
                path=path,
                state_at=at,
                until_at=until,
                why=" ".join(why.split())[:500],
                who=who,
            )
    return {
        "restoration": number,
        "vendor": vendor,
        "until": until,
        "changes": len(moves),
        "of_field": {
            name: sum(move[name]["now"] != move[name]["then"] for move in moves)
            for name in ("price", "active", "max_sales_quantity")
        },
        "on_sale": {when: sum(bool(move["active"][when]) for move in moves) for when in ("now", "then")},
        "moves": largest,
        "left_out": left_out,
        "lines": _lines(vendor, at, until, largest, len(moves), left_out, dry_run=dry_run),
    }


def _skus_of(context: Context, vendor: str, category: str) -> list[str]:
    if skus := skus_of_category(context, vendor, category):
        return skus
    names = categories(context, vendor)
    if not names:
        raise DataError(f"restore: the ERP never named a category of store {vendor!r}; name the SKUs")
    raise DataError(f"restore: store {vendor!r} has no category {category!r}; it has {', '.join(names[:20])}")


def _acknowledged(skus: list[str], then: pa.Table, now: pa.Table) -> list[str]:
    """The SKUs of a category that were acknowledged then or are now. A SKU that the person named must be acknowledged."""
    from shelfsync.catalog.restore import overlay

    known = set(overlay(now, then)["sku"].to_pylist())
    return [sku for sku in skus if sku in known]


def _state_at(
    context: Context, connection: Connection, vendor: str, at: dt.datetime, base: vendors.BaselineVersion
) -> tuple[str | None, pa.Table | None]:
    """The baseline of that time with its own file (lake), or rebuilt from the warehouse's history and in no file; None if there is none."""
    path = restorations.version_at(connection, vendor, at)
    then = context.lake.read_or_none(path)
    if then is not None:
        return path, then
    past = baseline_history.state_at(connection, vendor, at, acknowledged_rows(context, vendor, base))
    return None, past if past.num_rows else None


def end(context: Context, vendor: str, *, who: str) -> dict[str, Any]:
    """Ends the vendor's restorations: the ERP's values apply again. Returns `{"ended", "lines"}`."""
    with context.engine.begin() as connection:
        ended = restorations.end(connection, vendor, who=who)
    lines = [f"ended: {one}" for one in ended] or [f"nothing of vendor {vendor} is restored"]
    if ended:
        lines.append(
            "the next run sends the ERP's values; the guards hold only what the ERP itself has changed meanwhile"
        )
    return {"ended": len(ended), "lines": lines}


def _moves(then: pa.Table, now: pa.Table, skus: Sequence[str] | None) -> list[dict[str, Any]]:
    """SKUs whose acknowledged state differs between two versions, the largest change of price first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.catalog.restore import RESTORED, overlay
    from shelfsync.rows.alignment import any_of, column, same

    chosen = None if skus is None else pa.array(skus, pa.string())
    wanted = overlay(now, then, chosen)
    if skus is not None and (unknown := sorted(set(skus) - set(wanted["sku"].to_pylist()))):
        raise DataError(f"restore: {len(unknown)} of the SKUs were never acknowledged, the first is {unknown[0]!r}")
    before = now.take(pc.index_in(wanted["sku"], value_set=now["sku"].combine_chunks()))
    differs = any_of(pc.invert(same(column(wanted, name), column(before, name))) for name in RESTORED)
    rows = [
        {"sku": new["sku"], **{name: {"now": old[name], "then": new[name]} for name in RESTORED}}
        for new, old in zip(wanted.filter(differs).to_pylist(), before.filter(differs).to_pylist(), strict=True)
    ]
    return sorted(rows, key=_size, reverse=True)


def _size(move: dict[str, Any]) -> float:
    now, then = move["price"]["now"], move["price"]["then"]
    return abs(float(then / now) - 1) if now and then is not None else 0.0


def _lines(
    vendor: str,
    at: dt.datetime,
    until: dt.datetime,
    largest: list[dict[str, Any]],
    changes: int,
    left_out: int,
    *,
    dry_run: bool,
) -> list[str]:
    from shelfsync.catalog.restore import RESTORED

    verb = "would be" if dry_run else "is"
    span = f"the state of {display.instant(at)} {verb} wanted until {display.instant(until)}"
    lines = [f"store {vendor}: {span}; {changes} SKUs differ from it now"]
    if left_out:
        lines.append(
            f"  left out: {left_out} SKUs of the category that were never acknowledged, so there is nothing to go back to"
        )
    for move in largest:
        values = [
            f"{name} {display.value(name, move[name]['now'])} -> {display.value(name, move[name]['then'])}"
            for name in RESTORED
            if move[name]["now"] != move[name]["then"]
        ]
        lines.append(f"  {display.product(move['sku'], move['name'])}: {', '.join(values)}")
    if changes > len(largest):
        lines.append(f"  … and {changes - len(largest)} more")
    judged = "The guards judge it like any other change; what they hold waits for a decision (`shelfsync holds list`)"
    lines.append(judged if dry_run else f"`shelfsync sync --vendor {vendor}`, or the next run, sends it. {judged}")
    return lines


@dataclass(frozen=True)
class Hidden:
    """What the snapshot hides of the ERP's own changes, and what the guards make of them: nothing without a restoration."""

    concerned: bool = False
    """Whether a restoration changes the snapshot, or did so lately and the platform does not have the ERP's values yet."""
    path: str | None = None
    """Lake: UNRESTORED schema; None: no restoration changes anything any more."""
    rules: frozenset[str] = frozenset()
    """The guards that would hold some of the hidden changes."""
    carried: frozenset[int] = frozenset()
    """Declined or expired holds whose values the ERP still has."""


def hidden(
    context: Context, row: VendorRun, acknowledged: Case, before: str | None, decided: Callable[[Context], Decided]
) -> Hidden:
    """Applies the guards to the hidden changes. Released changes move what would be acknowledged; held ones do not.

    `acknowledged`: the vendor's case, compared with what is acknowledged. `before`: what the extract before hid (UNRESTORED schema).
    """
    unrestored = context.lake.read_table(before) if before is not None and context.lake.exists(before) else None
    if not row.restorations and unrestored is None:
        return Hidden()
    from shelfsync.catalog.guards.apply_guards import apply_guards
    from shelfsync.catalog.guards.under_restoration import next_unrestored, without_restorations

    erp = context.lake.read_table(row.erp_path or row.snapshot_path or "")
    quarantined = None if row.quarantine_path is None else context.lake.read_table(row.quarantine_path)
    with context.engine.connect() as connection:
        complete = runs.is_complete(connection, row.extract_id)
    key = context.settings.platform.item_key
    plain = without_restorations(acknowledged, unrestored, erp, quarantined=quarantined, complete=complete, key=key)
    approved, declined = decided(context)
    verdict = apply_guards(plain, approved=[rows for _, rows in approved], declined=declined)
    left = next_unrestored(acknowledged, unrestored, erp, verdict.released, row.restorations or [])
    return Hidden(
        True,
        context.lake.write_table("unrestored", row.vendor, left) if left.num_rows else None,
        frozenset(one.rule for one in verdict.held_changes),
        frozenset(one.carried for one in verdict.held_changes if one.carried is not None),
    )


def as_unrestored_if_any(context: Context, case: Case, before: str | None) -> Case:
    """The case that the guards judge: the same, unless a restoration made a difference when the extract before was judged."""
    if before is None or not context.lake.exists(before):
        return case
    from shelfsync.catalog.guards.under_restoration import as_unrestored

    return as_unrestored(case, context.lake.read_table(before))
