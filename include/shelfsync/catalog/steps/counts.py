"""counts: the numbers of each vendor's rows by state, for every page and report. They are counted again if a fact has changed."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy.exc import DBAPIError

from shelfsync.catalog.ledger import vendor_counts
from shelfsync.catalog.sku_state import Carried, Counts, count, differing, sentence, states, total
from shelfsync.rows.alignment import column
from shelfsync.schemas import BASELINE, FIELDS, QUARANTINE, SNAPSHOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shelfsync.catalog.ledger.vendor_counts import Facts
    from shelfsync.context import Context

log = logging.getLogger(__name__)

RULES = "3"
"""Change it together with the definition in catalog.sku_state: every vendor is counted again."""


def counts(context: Context, vendors: Sequence[str] | None = None) -> dict[str, Counts | None]:
    """The counts of these vendors (None: all) by vendor; None: a file that the count needs cannot be read."""
    return {facts.vendor: found for facts, found in with_facts(context, vendors)}


def with_facts(context: Context, vendors: Sequence[str] | None = None) -> list[tuple[Facts, Counts | None]]:
    """The same by name, each with the facts that it was counted from."""
    with context.engine.connect() as connection:
        facts = vendor_counts.facts(connection, vendors)
        last = vendor_counts.counted(connection)
    found: list[tuple[Facts, Counts | None]] = []
    fresh: list[dict[str, Any]] = []
    for one in facts:
        digest = one.digest(context.settings.platform.item_key, RULES)
        kept = last.get(one.vendor)
        if kept is not None and kept.facts == digest:
            found.append((one, Counts(*kept.numbers)))
            continue
        now = _counted(context, one)
        found.append((one, now))
        if now is not None:
            fresh.append({"vendor": one.vendor, "facts": digest, **now._asdict()})
    if fresh:
        with context.engine.begin() as connection:
            vendor_counts.keep(connection, fresh)
    return found


def together(context: Context, vendors: Sequence[str]) -> dict[str, int] | None:
    """The sums over these vendors by the names of catalog.sku_state; None: there is no vendor, or the numbers of one are unknown."""
    found = list(counts(context, vendors).values())
    known = [one for one in found if one is not None]
    return total(known)._asdict() if known and len(known) == len(found) else None


def lines(sums: dict[str, int] | None) -> list[str]:
    """What `together` found, for a person; nothing where it is unknown."""
    return [] if sums is None else [f"now {sentence(Counts(**sums))}"]


def _counted(context: Context, facts: Facts) -> Counts | None:
    """The counts of a vendor; None if a file is missing or cannot be read. The other vendors keep their numbers."""
    try:
        return _count(context, facts)
    except DBAPIError:
        raise
    except Exception as error:  # noqa: BLE001  whatever its files hold, the other vendors have their numbers (I10)
        log.warning("counts: vendor %s: its numbers are unknown: %s: %s", facts.vendor, type(error).__name__, error)
        return None


@dataclass(frozen=True)
class Products:
    """The rows of one vendor: in SNAPSHOT, BASELINE and QUARANTINE schema, the last without rows that are sent; and the `states` of its SKUs."""

    snapshot: pa.Table
    baseline: pa.Table
    quarantined: pa.Table
    stated: pa.Table


def products(context: Context, facts: Facts, begin: str = "") -> Products:
    """The files of a vendor and the state of each SKU; of those that begin so, and perhaps of others.

    ConfigurationError: a file is gone.
    """
    lake, columns, key = context.lake, ["sku", "barcode", *FIELDS], context.settings.platform.item_key
    if key == "barcode":  # the state of a SKU depends on the barcodes of all
        begin = ""
    snapshot = lake.read_or_empty(facts.snapshot_path, SNAPSHOT, columns, begin).select(columns)
    baseline = lake.read_or_empty(facts.baseline_path, BASELINE, [*columns, "left"], begin)
    quarantined = lake.read_or_empty(facts.quarantine_path, QUARANTINE, begin=begin)
    differs = differing(snapshot, baseline, quarantined, complete=facts.complete, key=key)
    left_out = quarantined.filter(pc.invert(quarantined["row_sent"]))
    stated = states(
        column(snapshot, "sku"),
        column(baseline, "sku"),
        differs,
        pa.array(_unconfirmed(context, facts.vendor, differs), pa.string()),
        _carried(context, facts, begin),
        quarantined=column(left_out, "sku").drop_null(),
    )
    if facts.snapshot_path is None:  # every row is in quarantine, and of other products nothing is counted
        stated = stated.slice(0, 0)
    return Products(snapshot, baseline, left_out, stated)


def _count(context: Context, facts: Facts) -> Counts:
    quarantined_rows = facts.rows_quarantined or 0
    if not facts.was_read:
        return Counts()
    if facts.snapshot_path is None:  # every row is in quarantine
        return Counts(erp_rows=quarantined_rows, quarantined=quarantined_rows)
    stated = products(context, facts).stated
    return count(stated, erp_rows=(facts.rows_snapshot or 0) + quarantined_rows, quarantined_rows=quarantined_rows)


def _unconfirmed(context: Context, vendor: str, differs: pa.Table) -> list[str]:
    """SKUs whose last job ended without an outcome. A new SKU cannot be one: a sent SKU is in the baseline, as unknown.

    An absent SKU counts as absent, whatever its last job was.
    """
    sent = differs.filter(pc.is_in(differs["change"], value_set=pa.array(["changed", "removed"])))
    if not sent.num_rows:
        return []
    with context.engine.connect() as connection:
        return vendor_counts.unconfirmed(connection, vendor, sent["sku"].to_pylist())


def _carried(context: Context, facts: Facts, begin: str) -> Carried:
    rejected: dict[str, bool] = {}
    if facts.rejections is not None:
        with context.engine.connect() as connection:
            rejected = vendor_counts.rejected(connection, facts.vendor, begin)
    return Carried(
        in_flight=_named(context, facts.in_flight, begin),
        planned=_named(context, facts.planned, begin),
        held=_named(context, facts.held, begin),
        rejected_for_good=pa.array([sku for sku, for_now in rejected.items() if not for_now], pa.string()),
        rejected_for_now=pa.array([sku for sku, for_now in rejected.items() if for_now], pa.string()),
        suppressed=_named(context, [] if facts.suppressed_path is None else [facts.suppressed_path], begin),
    )


def _named(context: Context, paths: Iterable[str], begin: str) -> pa.Array:
    """The SKUs of some files that begin so."""
    found = [column(context.lake.read_table(path, ["sku"], begin), "sku") for path in paths]
    return pa.concat_arrays(found) if found else pa.array([], pa.string())
