"""counts: where the rows of each vendor stand, read by everything that shows such a number; counted again where a fact has changed."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DBAPIError

from shelfsync.ledger import vendor_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from shelfsync.catalog.count import Carried, Counts
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.vendor_counts import Facts

log = logging.getLogger(__name__)

RULES = "1"
"""Another one when the definition in catalog.count changes: every vendor is counted again."""


def counts(parts: Parts, vendors: Sequence[str] | None = None) -> dict[str, Counts | None]:
    """Where the rows of these vendors (all: None) stand now, by vendor; None: a file that is needed to know cannot be read."""
    from shelfsync.catalog.count import NAMES, Counts

    with parts.engine.connect() as connection:
        facts = vendor_counts.facts(connection, vendors)
        last = vendor_counts.counted(connection)
    found: dict[str, Counts | None] = {}
    fresh: list[dict[str, Any]] = []
    for one in facts:
        digest = one.digest(parts.settings.platform.key, RULES)
        kept = last.get(one.vendor)
        if kept is not None and kept["facts"] == digest:
            found[one.vendor] = Counts(**{name: kept[name] for name in NAMES})
            continue
        found[one.vendor] = now = _counted(parts, one)
        if now is not None:
            fresh.append({"vendor": one.vendor, "facts": digest, **{name: getattr(now, name) for name in NAMES}})
    if fresh:
        with parts.engine.begin() as connection:
            vendor_counts.keep(connection, fresh)
    return found


def together(parts: Parts, vendors: Sequence[str]) -> dict[str, int] | None:
    """The sums over these vendors by the names of catalog.count; None: there is no vendor, or the numbers of one are unknown."""
    from shelfsync.catalog.count import total

    found = list(counts(parts, vendors).values())
    known = [one for one in found if one is not None]
    return asdict(total(known)) if known and len(known) == len(found) else None


def lines(sums: dict[str, int] | None) -> list[str]:
    """What `together` found, for a person; nothing where it is unknown."""
    from shelfsync.catalog.count import Counts, sentence

    return [] if sums is None else [f"now {sentence(Counts(**sums))}"]


def _counted(parts: Parts, facts: Facts) -> Counts | None:
    """None where a file is gone or cannot be read: its numbers are unknown, and the others are told all the same."""
    try:
        return _count(parts, facts)
    except DBAPIError:
        raise
    except Exception as error:  # noqa: BLE001  whatever its files hold, the other vendors have their numbers (I10)
        log.warning("counts: vendor %s: its numbers are unknown: %s: %s", facts.vendor, type(error).__name__, error)
        return None


def _count(parts: Parts, facts: Facts) -> Counts:
    import pyarrow as pa

    from shelfsync.catalog.count import Counts, count, differing
    from shelfsync.columns import BASELINE, FIELDS, QUARANTINE

    lake, rows_quarantined = parts.lake, facts.rows_quarantined or 0
    if facts.generation is None:
        return Counts()
    if facts.snapshot_path is None:  # every row is in quarantine
        return Counts(erp_rows=rows_quarantined, quarantined=rows_quarantined)
    columns = ["sku", "barcode", *FIELDS]
    snapshot = lake.read_table(facts.snapshot_path, columns)
    baseline = BASELINE.empty_table() if facts.baseline_path is None else lake.read_table(facts.baseline_path, columns)
    quarantined = QUARANTINE.empty_table() if facts.quarantine_path is None else lake.read_table(facts.quarantine_path)
    key = parts.settings.platform.key
    differs = differing(snapshot, baseline, quarantined, complete=facts.complete, key=key)
    return count(
        _skus(snapshot),
        _skus(baseline),
        differs,
        pa.array(_unconfirmed(parts, facts.vendor, differs), pa.string()),
        _carried(parts, facts),
        erp_rows=(facts.rows_snapshot or 0) + rows_quarantined,
        quarantined=_skus(quarantined).drop_null(),
        quarantined_rows=rows_quarantined,
    )


def _unconfirmed(parts: Parts, vendor: str, differs: pa.Table) -> list[str]:
    """A SKU that is new to the baseline was never sent without a result: one that was stands in it, as unknown."""
    import pyarrow.compute as pc

    sent = differs.filter(pc.not_equal(differs["change"], "new"))
    if not sent.num_rows:
        return []
    with parts.engine.connect() as connection:
        return vendor_counts.unconfirmed(connection, vendor, sent["sku"].to_pylist())


def _carried(parts: Parts, facts: Facts) -> Carried:
    import pyarrow as pa

    from shelfsync.catalog.count import Carried

    rejected: dict[str, bool] = {}
    if facts.rejections is not None:
        with parts.engine.connect() as connection:
            rejected = vendor_counts.rejected(connection, facts.vendor)
    return Carried(
        in_flight=_named(parts, facts.in_flight),
        planned=_named(parts, facts.planned),
        held=_named(parts, facts.held),
        rejected_for_good=pa.array([sku for sku, for_now in rejected.items() if not for_now], pa.string()),
        rejected_for_now=pa.array([sku for sku, for_now in rejected.items() if for_now], pa.string()),
        spared=_named(parts, [] if facts.spared_path is None else [facts.spared_path]),
    )


def _named(parts: Parts, paths: Iterable[str]) -> pa.Array:
    """The SKUs of some files."""
    import pyarrow as pa

    found = [_skus(parts.lake.read_table(path, ["sku"])) for path in paths]
    return pa.concat_arrays(found) if found else pa.array([], pa.string())


def _skus(table: pa.Table) -> pa.Array:
    from shelfsync.catalog.alignment import column

    return column(table, "sku")
