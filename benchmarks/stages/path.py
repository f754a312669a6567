"""The whole path of a vendor without its network: raw rows, normalise, diff, guard, bodies, log, outcomes, new baseline in the lake."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from benchmarks import slow
from benchmarks.chain import bodies_of, log_of
from benchmarks.stage import Stage, Way

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.chain import Chain
    from benchmarks.meter import Meter
    from benchmarks.stage import Answer

VENDORS_MAX = 20


def ours(chain: Chain, meter: Meter) -> Answer:
    """The path over some vendors, a vendor after the other."""
    totals = {"rows": 0, "quarantined": 0, "items": 0, "bytes": 0, "accepted": 0, "rejected": 0, "unaccounted": 0}
    folder = Path(mkdtemp(dir=chain.folder))
    try:
        for number in range(min(VENDORS_MAX, len(chain.shelves))):
            _vendor(chain.one(number), folder, meter, totals)
    finally:
        shutil.rmtree(folder)
    assert totals["items"] == totals["accepted"] + totals["rejected"] + totals["unaccounted"]
    return totals


def _vendor(chain: Chain, folder: Path, meter: Meter, totals: dict[str, int]) -> None:
    from shelfsync.catalog.acknowledge import acknowledge, with_unconfirmed
    from shelfsync.catalog.confirm import match, parse_log
    from shelfsync.catalog.diff import diff
    from shelfsync.catalog.guard import guard
    from shelfsync.catalog.guards.case import Case
    from shelfsync.catalog.normalise import normalise
    from shelfsync.settings import GuardSettings, NormaliseSettings
    from shelfsync.store.lake import Lake

    shelf, lake = chain.shelves[0], chain.lake
    with meter.part("read"):
        raw, baseline = lake.read_table(shelf.raw or ""), lake.read_table(shelf.baseline)
    with meter.part("normalise"):
        normalised = normalise(raw, NormaliseSettings())
    with meter.part("diff"):
        delta = diff(normalised.snapshot, baseline, full=False, quarantined=normalised.quarantine)
    with meter.part("guard"):
        case = Case(shelf.vendor, delta, normalised.snapshot, baseline, raw.num_rows, GuardSettings())
        released = guard(case).released
    with meter.part("batch"):
        totals["bytes"] += sum(len(chunk) for body in bodies_of(released) for chunk in body)
    log = io.BytesIO(log_of(released))
    with meter.part("confirm"):
        outcomes = match(released, parse_log(log, whole=True))
    with meter.part("acknowledge"):
        moved = with_unconfirmed(acknowledge(baseline, released, outcomes), released, outcomes)
    with meter.part("write"):
        Lake(str(folder)).write_table("baseline", shelf.vendor, moved)
    if totals["rows"] == 0:
        _check(lake.read_table(shelf.snapshot), baseline, outcomes, moved)
    totals["rows"] += raw.num_rows
    totals["quarantined"] += normalised.quarantine.num_rows
    totals["items"] += released.num_rows
    for found in outcomes["state"].value_counts().to_pylist():
        totals[found["values"]] += found["counts"]


def _check(snapshot: pa.Table, baseline: pa.Table, outcomes: pa.Table, moved: pa.Table) -> None:
    """The new baseline of one vendor once more in dictionaries: what was accepted moved, and nothing else did."""
    accepted = {row["sku"] for row in outcomes.to_pylist() if row["state"] == "accepted"}
    expected = {row["sku"]: row for row in baseline.to_pylist()}
    barcodes = dict(zip(snapshot["sku"].to_pylist(), snapshot["barcode"].to_pylist(), strict=True))
    for sku, (_, sent) in slow.changes(snapshot, baseline).items():
        if sku in accepted:
            known = expected.get(sku, dict.fromkeys(baseline.column_names) | {"sku": sku})
            expected[sku] = {**known, **sent, "barcode": barcodes.get(sku, known["barcode"])}
    assert moved.to_pylist() == [expected[sku] for sku in sorted(expected, key=str.encode)], "the new baseline is wrong"


STAGE = Stage(
    name="path",
    title=f"the whole path of {VENDORS_MAX} vendors without database and network",
    ways=(Way("ours", "ours", "raw rows to a new baseline in the lake", ours),),
    targets=(),
    agree=lambda _: None,  # the new baseline is compared with the slow path's in each round
)
