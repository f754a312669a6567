"""How often a year of the sample ERP asks a person: ticks of the ERP, ordinary events of a chain, and accidents, through the pure path.

    .venv/bin/python benchmarks/guard_year.py --days 365 --ticks 4 --vendors 2 --skus 1500

No platform and no HTTP: what is released counts as accepted. The person approves what is ordinary and declines what is an accident.
An extract's accident lies between the ERP and us and is gone at the next tick.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shelfsync.catalog.baseline import with_delta_applied
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.guards.apply_guards import apply_guards
from shelfsync.catalog.guards.case import Case, History
from shelfsync.catalog.guards.held_changes import HeldChanges
from shelfsync.catalog.guards.last_categories import last_categories
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.erp import sample
from shelfsync.local.postgres import running_postgres
from shelfsync.schemas import BASELINE, RAW
from shelfsync.settings import GuardSettings, NormaliseSettings
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    import sqlalchemy as sa

FEED_RULES = {"duplicate_feed", "empty_feed", "shrunken_extract", "mass_removal", "vanished_category"}
Row = dict[str, Any]


@dataclass
class Shelf:
    """One vendor: what is acknowledged, what earlier extracts were like, what a person decided."""

    baseline: pa.Table = field(default_factory=BASELINE.empty_table)
    rows: list[int] = field(default_factory=list)
    seen: list[pa.Table] = field(default_factory=list)
    categories: pa.Table | None = None
    declined: list[HeldChanges] = field(default_factory=list)


class Year:
    """Counts questions: `ordinary` of days on which nothing was wrong, `accidents` of those on which something was."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.shelves: dict[str, Shelf] = {}
        self.ordinary: Counter[str] = Counter()
        self.held: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        self.runs = self.released = 0

    def run(self, vendor: str, rows: list[Row], event: str | None, accident: str | None) -> None:
        """One delta run of one vendor."""
        shelf = self.shelves.setdefault(vendor, Shelf())
        raw = pa.Table.from_pylist([{"row_number": n, **row} for n, row in enumerate(rows, 1)], schema=RAW)
        snapshot = make_snapshot(raw, NormaliseSettings()).snapshot
        delta = compute_delta(snapshot, shelf.baseline, full=False)
        self.runs += 1
        if delta.num_rows == 0:
            return
        known = last_categories(shelf.categories, snapshot, shelf.baseline)
        repeats = any(old.equals(snapshot) for old in shelf.seen[:-1]) and not shelf.seen[-1].equals(snapshot)
        history = History(tuple(shelf.rows[::-1][:20]), "before" if repeats else None, known)
        case = Case(vendor, delta, snapshot, shelf.baseline, len(rows), GuardSettings(), history)
        verdict = apply_guards(case, declined=shelf.declined)
        self.released += verdict.released.num_rows
        shelf.baseline = with_delta_applied(verdict.released, shelf.baseline)
        asked = [one for one in verdict.held_changes if one.carried is None]
        shelf.declined = [one for one in verdict.held_changes if one.carried is not None]
        for one in asked:
            if accident is None:
                self.ordinary[f"{one.rule} ({event or 'the tick alone'})"] += 1
                shelf.baseline = with_delta_applied(one.rows, shelf.baseline)
            else:
                self.held[f"{accident}: {one.rule}"] += 1
                shelf.declined.append(HeldChanges(one.rule, one.category, one.message, one.thresholds, one.rows, 1))
        if accident is not None and not asked:
            self.missed[accident] += 1
        if not any(one.rule in FEED_RULES and accident for one in asked):
            shelf.rows.append(len(rows))
            shelf.seen = [*shelf.seen, snapshot][-60:]
        shelf.categories = known


ACCIDENTS = (
    "one price ten times",
    "commas read as thousands",
    "file cut in the middle",
    "stock-taking",
    "another currency",
    "last week's file",
)


def broken(accident: str, rows: list[Row], last_week: list[Row], chance: Random) -> list[Row]:
    """The extract as the accident makes it."""
    rows = [dict(row) for row in rows]
    if accident == "one price ten times":
        row = chance.choice(rows)
        row["price"] = str(Decimal(row["price"]) * 10)
    elif accident == "commas read as thousands":
        for row in chance.sample(rows, len(rows) // 3):
            row["price"] = str(Decimal(row["price"]) * 100)
    elif accident == "file cut in the middle":
        rows = rows[: len(rows) * 6 // 10]
    elif accident == "stock-taking":
        for row in rows:
            row["quantity"] = "0"
    elif accident == "another currency":
        for row in rows:
            row["price"] = str(Decimal(row["price"]) * Decimal("1.08"))
    else:
        rows = last_week
    return rows


def ordinary(day: int, rows: list[Row], prices: dict[str, Decimal], chance: Random) -> str | None:
    """What a chain does on purpose; `prices` stays beside the ERP for as long as it holds."""
    if day % 14 == 3:  # a promotion: 12 % of prices, ten to thirty per cent down, for a week
        for row in chance.sample(rows, len(rows) * 12 // 100):
            prices[row["sku"]] = (Decimal(row["price"]) * chance.randint(70, 90) / 100).quantize(Decimal("0.01"))
        return "a promotion begins"
    if day % 14 == 10 and prices:
        prices.clear()
        return "a promotion ends"
    return None


def read(engine: sa.Engine) -> dict[str, list[Row]]:
    """The sample ERP's rows by vendor, as text."""
    found: dict[str, list[Row]] = {}
    with engine.connect() as connection:
        for row in connection.exec_driver_sql(sample.SELECT_FILE.read_text("utf-8")).mappings():
            values = {
                key: None if value is None else str(value).lower() if isinstance(value, bool) else str(value)
                for key, value in row.items()
            }
            found.setdefault(values["vendor"], []).append(values)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("days", 365), ("ticks", 4), ("vendors", 2), ("skus", 1500), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    began = time.monotonic()
    year, chance = Year(options.seed), Random(options.seed)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as closing:
        Path(folder).chmod(0o711)
        engine = create_engine(closing.enter_context(running_postgres(Path(folder) / "postgres", fsync=False)))
        closing.callback(engine.dispose)
        sample.create(engine, seed=options.seed, vendors=options.vendors, skus_per_vendor=options.skus)
        prices: dict[str, dict[str, Decimal]] = {}
        weeks: dict[str, list[list[Row]]] = {}
        gone: set[tuple[str, str]] = set()
        for day in range(options.days):
            for tick in range(options.ticks):
                sample.tick(engine, seed=options.seed * 1_000_000 + day * 100 + tick)
                one_tick(year, read(engine), day, tick, prices, weeks, gone, chance)
    print_year(year, options, time.monotonic() - began)


def one_tick(
    year: Year,
    found: dict[str, list[Row]],
    day: int,
    tick: int,
    prices: dict[str, dict[str, Decimal]],
    weeks: dict[str, list[list[Row]]],
    gone: set[tuple[str, str]],
    chance: Random,
) -> None:
    """One extract of every vendor: ordinary events on some mornings, an accident on every tenth day's noon."""
    for number, (vendor, rows) in enumerate(sorted(found.items())):
        event = None
        mine = prices.setdefault(vendor, {})
        if tick == 0:
            event = ordinary(day, rows, mine, chance)
            if day in {100, 250}:  # a category is delisted for good
                gone.add((vendor, "household" if day == 100 else "sweets"))
                event = "a category is delisted"
        left = [row for row in rows if (vendor, row["category"]) not in gone]
        for row in left:
            if row["sku"] in mine:
                row["price"] = str(mine[row["sku"]])
        accident = None
        if tick == 1 and day % 10 == 5 and number == day // 10 % len(found) and len(weeks.get(vendor, [])) > 7:
            accident = ACCIDENTS[day // 10 % len(ACCIDENTS)]
            year.run(vendor, broken(accident, left, weeks[vendor][-7], chance), event, accident)
        else:
            year.run(vendor, left, event, None)
            if tick == 0:
                weeks[vendor] = [*weeks.get(vendor, []), left][-10:]


def print_year(year: Year, options: argparse.Namespace, seconds: float) -> None:
    print(
        f"{options.days} days, {options.ticks} ticks a day, {options.vendors} vendors of {options.skus} SKUs, seed {options.seed}: {year.runs} runs,"
        f" {year.released:,} changes released, in {seconds:.0f} s"
    )
    print(f"holds on ordinary days: {sum(year.ordinary.values())}")
    for why, count in year.ordinary.most_common():
        print(f"  {count:4}  {why}")
    print(f"accidents held: {sum(year.held.values())} holds; not held at all: {dict(year.missed) or 'none'}")
    for why, count in sorted(year.held.items()):
        print(f"  {count:4}  {why}")


if __name__ == "__main__":
    main()
