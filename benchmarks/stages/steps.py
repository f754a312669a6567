"""Each step of the hot path on one vendor of 50,000, beside what it is compared with: warm, ten laps in a process of its own."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from benchmarks import slow
from benchmarks.chain import bodies_of, distinct, full_delta, log_of
from benchmarks.stage import Stage, Target, Way

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter

LAPS = 10
VENDORS_MAX = 20


def read(chain: Chain, meter: Meter) -> Answer:
    """Reading snapshot and baseline."""
    return _laps(chain, meter, lambda: next(chain.tables())[1].num_rows)


def diff(chain: Chain, meter: Meter) -> Answer:
    """Reading both, and the diff."""
    from shelfsync.catalog import delta as step

    def work() -> int:
        _, snapshot, baseline = next(chain.tables())
        return step.diff(snapshot, baseline, full=False).num_rows

    return _laps(chain, meter, work)


def bodies(chain: Chain, meter: Meter) -> Answer:
    """Reading both, diff, guard, JSON and cut."""
    from shelfsync.catalog import delta as step
    from shelfsync.catalog.guards.apply_guards import apply_guards
    from shelfsync.catalog.guards.case import Case
    from shelfsync.settings import GuardSettings

    def work() -> int:
        shelf, snapshot, baseline = next(chain.tables())
        delta = step.diff(snapshot, baseline, full=False)
        return _json(
            apply_guards(Case(shelf.vendor, delta, snapshot, baseline, snapshot.num_rows, GuardSettings())).released
        )

    return _laps(chain, meter, work)


def json_of_columns(chain: Chain, meter: Meter) -> Answer:
    """The JSON of a first full sync."""
    delta = _full(chain)
    return _laps(chain, meter, lambda: _json(delta))


def json_of_distinct(chain: Chain, meter: Meter) -> Answer:
    """The same where no price and no quantity repeats."""
    delta = distinct(_full(chain))
    return _laps(chain, meter, lambda: _json(delta))


def json_of_dictionaries(chain: Chain, meter: Meter) -> Answer:
    """The same by the json module, a dictionary a row."""
    delta = _full(chain)

    def work() -> int:
        rows = delta.select(["sku", *slow.FIELDS]).to_pylist()
        items = [{name: value for name, value in row.items() if value is not None} for row in rows]
        return len(json.dumps({"products": items}, default=float, separators=(",", ":")))

    return _laps(chain, meter, work)


def read_raw(chain: Chain, meter: Meter) -> Answer:
    """Reading the ERP's rows."""
    return _laps(chain, meter, lambda: _raw(chain).num_rows)


def normalise(chain: Chain, meter: Meter) -> Answer:
    """Normalising them."""
    from shelfsync.catalog import snapshot as step
    from shelfsync.settings import NormaliseSettings

    raw = _raw(chain)
    return _laps(chain, meter, lambda: step.normalise(raw, NormaliseSettings()).snapshot.num_rows)


def match(chain: Chain, meter: Meter) -> Answer:
    """A log to outcomes."""
    from shelfsync.catalog import log_reader, outcome

    delta = _full(chain)
    log = log_of(delta)

    def work() -> int:
        states = outcome.match(delta, log_reader.parse_log(io.BytesIO(log), whole=True))["state"]
        return sum(count["counts"].as_py() for count in states.value_counts() if count["values"].as_py() == "accepted")

    return _laps(chain, meter, work)


def match_dictionaries(chain: Chain, meter: Meter) -> Answer:
    """The same by the csv module and a dictionary."""
    delta = _full(chain)
    log = log_of(delta)

    def work() -> int:
        lines = {line["sku"]: line for line in csv.DictReader(io.StringIO(log.decode()))}
        return sum(lines[row["sku"]]["state"] == "success" for row in delta.to_pylist())

    return _laps(chain, meter, work)


def acknowledge(chain: Chain, meter: Meter) -> Answer:
    """Moving the baseline by the outcomes of a delta."""
    from shelfsync.catalog import baseline as step
    from shelfsync.catalog import log_reader, outcome
    from shelfsync.catalog.delta import compute_delta

    _, snapshot, baseline = next(chain.tables())
    delta = compute_delta(snapshot, baseline, full=False)
    outcomes = outcome.match(delta, log_reader.parse_log(io.BytesIO(log_of(delta)), whole=True))

    def work() -> int:
        return step.with_unconfirmed(step.acknowledge(baseline, delta, outcomes), delta, outcomes).num_rows

    return _laps(chain, meter, work)


def _laps(chain: Chain, meter: Meter, work: Callable[[], int]) -> Answer:
    return {"rows": LAPS * chain.rows, "found": meter.laps(LAPS, work)}


def _full(chain: Chain) -> pa.Table:
    return full_delta(next(chain.tables())[1])


def _raw(chain: Chain) -> pa.Table:
    name = chain.shelves[0].raw
    assert name is not None
    return chain.lake.read_table(name)


def _json(delta: pa.Table) -> int:
    return sum(len(chunk) for body in bodies_of(delta) for chunk in body)


def _agree(answers: Mapping[str, Answer]) -> None:
    assert answers["match"]["found"] == answers["match_dictionaries"]["found"]
    assert all(answer["found"] for answer in answers.values())


STAGE = Stage(
    name="steps",
    title=f"the steps one by one, a vendor of 50,000, warm; {LAPS} laps",
    ways=(
        Way("read", "bound", "reading both files", read, vendors_max=1),
        Way("diff", "ours", "reading both files, diff", diff, vendors_max=1),
        Way("bodies", "ours", "reading both files, diff, guard, JSON, cut", bodies, vendors_max=1),
        Way("json", "ours", "JSON of all 50,000", json_of_columns, vendors_max=1),
        Way("json_distinct", "ours", "the same, no value repeats", json_of_distinct, vendors_max=1),
        Way("json_dictionaries", "usual", "the same by the json module", json_of_dictionaries, vendors_max=1),
        Way("read_raw", "bound", "reading the ERP's rows", read_raw, vendors_max=1),
        Way("normalise", "ours", "normalise", normalise, vendors_max=1),
        Way("match", "ours", "a log to outcomes", match, vendors_max=1),
        Way("match_dictionaries", "usual", "the same by the csv module", match_dictionaries, vendors_max=1),
        Way("acknowledge", "ours", "acknowledge", acknowledge, vendors_max=1),
    ),
    targets=(
        Target.ratio("diff with reading against merely reading", "diff", "read", at_most=2.4),
        Target.ratio("diff, guard and bodies with reading against merely reading", "bodies", "read", at_most=3.0),
        Target.ratio("JSON of columns against the json module", "json", "json_dictionaries", at_most=0.15),
        Target.ratio("JSON where no value repeats against where they do", "json_distinct", "json", at_most=3.5),
        Target.ratio("normalise against reading the raw rows", "normalise", "read_raw", at_most=3.0),
        Target.ratio("a log to outcomes against the csv module", "match", "match_dictionaries", at_most=0.4),
        Target.ratio("acknowledge against reading what it moves", "acknowledge", "read", at_most=1.5),
    ),
    agree=_agree,
)


def whole_path(chain: Chain, meter: Meter) -> Answer:
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
    from shelfsync.catalog.baseline import with_accepted, with_unconfirmed
    from shelfsync.catalog.delta import compute_delta
    from shelfsync.catalog.guards.apply_guards import apply_guards
    from shelfsync.catalog.guards.case import Case
    from shelfsync.catalog.log_reader import parse_log
    from shelfsync.catalog.outcome import match
    from shelfsync.catalog.snapshot import make_snapshot
    from shelfsync.settings import GuardSettings, NormaliseSettings
    from shelfsync.store.lake import Lake

    shelf, lake = chain.shelves[0], chain.lake
    with meter.part("read"):
        raw, baseline = lake.read_table(shelf.raw or ""), lake.read_table(shelf.baseline)
    with meter.part("normalise"):
        normalised = make_snapshot(raw, NormaliseSettings())
    with meter.part("diff"):
        delta = compute_delta(normalised.snapshot, baseline, full=False, quarantined=normalised.quarantine)
    with meter.part("guard"):
        case = Case(shelf.vendor, delta, normalised.snapshot, baseline, raw.num_rows, GuardSettings())
        released = apply_guards(case).released
    with meter.part("batch"):
        totals["bytes"] += sum(len(chunk) for body in bodies_of(released) for chunk in body)
    log = io.BytesIO(log_of(released))
    with meter.part("confirm"):
        outcomes = match(released, parse_log(log, whole=True))
    with meter.part("acknowledge"):
        moved = with_unconfirmed(with_accepted(baseline, released, outcomes), released, outcomes)
    with meter.part("write"):
        Lake(str(folder)).write_table("baseline", shelf.vendor, moved)
    if totals["rows"] == 0:
        _check(lake.read_table(shelf.snapshot), baseline, outcomes, moved)
    totals["rows"] += raw.num_rows
    totals["quarantined"] += normalised.rows_quarantined
    totals["items"] += released.num_rows
    for found in outcomes["state"].value_counts().to_pylist():
        totals[found["values"]] += found["counts"]


def _check(snapshot: pa.Table, baseline: pa.Table, outcomes: pa.Table, moved: pa.Table) -> None:
    """The new baseline of one vendor once more in dictionaries: what was accepted moved, and nothing else did."""
    accepted = {row["sku"] for row in outcomes.to_pylist() if row["state"] == "accepted"}
    expected = {row["sku"]: row for row in baseline.to_pylist()}
    barcodes = dict(zip(snapshot["sku"].to_pylist(), snapshot["barcode"].to_pylist(), strict=True))
    for sku, (change, sent) in slow.changes(snapshot, baseline).items():
        if sku in accepted:
            known = expected.get(sku, dict.fromkeys(moved.column_names) | {"sku": sku})
            left = True if change == "removed" else None if "active" in sent else known.get("left")
            expected[sku] = {**known, **sent, "barcode": barcodes.get(sku, known["barcode"]), "left": left}
    assert moved.to_pylist() == [expected[sku] for sku in sorted(expected, key=str.encode)], "the new baseline is wrong"


PATH = Stage(
    name="path",
    title=f"the whole path of {VENDORS_MAX} vendors without database and network",
    ways=(Way("ours", "ours", "raw rows to a new baseline in the lake", whole_path),),
    agree=lambda _: None,  # the new baseline is compared with the slow path's in each round
)
