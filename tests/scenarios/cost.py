"""`python -m scenarios.cost`: how large ledger, warehouse and lake become.

One steady day of some vendors runs on the virtual clock: a delta every quarter of an hour, a full sync, an export. What grew in it is
multiplied by the vendors of the chain and by the days that each thing is kept.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.day import Day, ScenarioWorld, Size
from shelfsync.housekeeping.rules import rules
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.migrations.upgrade import upgrade
from shelfsync.settings import HousekeepingSettings, OrdersSettings, WarehouseSettings
from shelfsync.store.engine import create_engine
from simulation.fault_point import FaultPoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app_calls import Calls

CHAIN_VENDORS = 200
GIB = 1 << 30
SHARE_AN_HOUR = 0.005
PRICE_SHARE, SOLD_OUT_SHARE = 0.3, 0.1
DAYS_A_MONTH = 30.4
IN_PLACE = {
    "warehouse.baseline",
    "warehouse.product",
    "warehouse.vendor",
    "ledger.vendor",
    "ledger.lease",
    "ledger.rejection",
    "ledger.token",
    "rate_limit.permit",
    "rate_limit.priority",
    "rate_limit.allowance",
    "rate_limit.ticket",
}
"""One row a SKU, a vendor, a priority: written again and again, or removed after use."""
FOR_EVER_DAYS = 365.0
"""What nothing removes is shown as it is after a year."""

_TABLES = """
SELECT n.nspname || '.' || coalesce(parent.relname, c.relname) AS name, sum(pg_total_relation_size(c.oid)) AS bytes
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid LEFT JOIN pg_class AS parent ON parent.oid = i.inhparent
WHERE c.relkind = 'r' AND n.nspname IN ('ledger', 'warehouse', 'partition', 'inbox', 'rate_limit')
GROUP BY 1
"""
_SAME = "SELECT count(*) FILTER (WHERE state = 'accepted' AND change = 'same'), count(*) FROM warehouse.sku_outcome"


class SteadyDay(Day):
    """The assortment is known from the day before; from then on it changes evenly."""

    def live(self) -> None:
        """From 0:00 to 24:00."""
        with self.world.app(FaultPoint()) as app:
            for number in range(self.size.deltas):
                began_s = self.world.clock.monotonic_s()
                for vendor in self.vendors:
                    self._change(vendor)
                self._write()
                self._run(app, "delta", f"delta {number}", ())
                self.world.clock.sleep(max(0.0, 900 - (self.world.clock.monotonic_s() - began_s)))
            self._run(app, "full", "full", ())
            self._export(app)

    def _change(self, vendor: str) -> None:
        """Mostly stock, prices by a few per cent."""
        for sku in self.chance.sample(self.skus(), self.size.changes):
            row = self.rows[vendor, sku]
            if self.chance.random() < PRICE_SHARE:
                row.price = (row.price * Decimal(self.chance.randrange(93, 108)) / 100).quantize(Decimal("0.01"))
            elif self.chance.random() < SOLD_OUT_SHARE:
                row.quantity = 0 if row.quantity else 9
            else:
                row.quantity = self.chance.randrange(1, 60)

    def before(self) -> None:
        """The day before: everything is sent and seen once."""
        self._furnish()
        with self.world.app(FaultPoint()) as app:
            self._run(app, "full", "first", ())
            self._export(app, "scenario/before")


@dataclass(frozen=True)
class Growth:
    """One table, or one kind of file: bytes stored, bytes a day, days they are kept."""

    name: str
    stored: float
    daily: float
    kept_days: float

    def after_a_year(self, scale: float) -> float:
        """Bytes of a chain that is `scale` times this one."""
        return scale * (self.stored + self.daily * min(self.kept_days, FOR_EVER_DAYS))


def main() -> None:
    """Prints one line a table and kind of file, the largest first, and the sums."""
    parser = argparse.ArgumentParser(prog="scenarios.cost", description=__doc__)
    parser.add_argument("--vendors", type=int, default=2)
    parser.add_argument("--skus", type=int, default=50_000)
    parser.add_argument("--deltas", type=int, default=96)
    options = parser.parse_args()
    changes = max(1, round(options.skus * SHARE_AN_HOUR * 24 / options.deltas))
    size = Size(options.vendors, options.skus, options.deltas, options.vendors, changes)
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="shelfsync-cost-") as folder:
        home = Path(folder)
        home.chmod(0o711)  # PostgreSQL runs as a user of its own where we are root
        server = EmbeddedPostgres(home / "postgres", fsync=False)
        server.ensure_started()
        try:
            found = _measured(server.create_database("cost"), home, size)
        finally:
            server.stop()
    scale = CHAIN_VENDORS / options.vendors
    print(
        f"{options.vendors} vendors x {options.skus:,} SKUs, {options.deltas} deltas of {changes} changes a vendor, one full sync,"
        f" one export: {time.monotonic() - began_s:.0f} s"
    )
    print(f"a chain of {CHAIN_VENDORS} vendors, {CHAIN_VENDORS * options.skus:,} SKUs, after a year:\n")
    print("| where | stored, GiB | a day, MiB | kept, days | after a year, GiB |\n|---|---|---|---|---|")
    sums: dict[str, float] = defaultdict(float)
    for one in sorted(found, key=lambda one: -one.after_a_year(scale)):
        year = one.after_a_year(scale) / GIB
        sums[one.name.split(".", maxsplit=1)[0].split("/", maxsplit=1)[0]] += year
        if year >= 0.005:
            kept = "for ever" if one.kept_days > FOR_EVER_DAYS * 2 else f"{one.kept_days:.0f}"
            stored, daily = one.stored * scale / GIB, one.daily * scale / (1 << 20)
            print(f"| {one.name} | {stored:.2f} | {daily:,.1f} | {kept} | {year:.2f} |")
    print()
    for name, year in sums.items():
        print(f"{name}: {year:.1f} GiB")


def _measured(url: str, home: Path, size: Size) -> list[Growth]:
    engine = create_engine(url)
    upgrade(engine)
    engine.dispose()
    with ScenarioWorld(url, home) as world:
        world.open()
        day = SteadyDay(world, size, random.Random(7))
        day.before()
        before = dict(_sizes(world))
        day.live()
        return list(_growth(world, before, dict(_sizes(world))))


def _sizes(world: ScenarioWorld) -> Iterator[tuple[str, int]]:
    with world.app(FaultPoint()) as app:
        for row in world.rows(_TABLES):
            yield row.name.replace("partition.", "warehouse."), int(row.bytes)
        yield from _files(app).items()


def _files(app: Calls) -> dict[str, int]:
    kinds: dict[str, int] = defaultdict(int)
    lake = app.context.lake
    for folder in lake.folders():
        for file in lake.files(folder):
            kinds[f"lake/{file.path.split('/')[0]}"] += file.bytes
    return kinds


def _growth(world: ScenarioWorld, before: dict[str, int], after: dict[str, int]) -> Iterator[Growth]:
    keep = HousekeepingSettings()
    days = {rule.table: rule.days for rule in rules(keep, customer_days=OrdersSettings().customer_days)}
    whole = dict.fromkeys(("lake/raw", "lake/snapshot"), keep.snapshot_days) | {"lake/baseline": keep.baseline_days}
    seen = dict.fromkeys(("lake/export", "lake/observed"), keep.observation_days)
    months = WarehouseSettings().outcome_months * DAYS_A_MONTH
    same, every = world.rows(_SAME)[0]
    for name, size in after.items():
        stored, daily = before.get(name, 0), size - before.get(name, 0)
        if name == "warehouse.sku_outcome":
            repeats = same / every
            yield Growth(f"{name} (repeats)", 0, size * repeats, keep.repeated_outcome_days)
            yield Growth(f"{name} (changes)", stored, size * (1 - repeats) - stored, months)
        elif name == "warehouse.baseline_history":
            yield Growth(name, stored, daily, months)
        elif name in IN_PLACE:
            yield Growth(name, stored, daily, 1)  # dead rows until the next vacuum
        elif name.startswith("lake/"):
            yield Growth(name, stored, daily, (whole | seen).get(name, keep.run_days))
        else:
            yield Growth(name, stored, daily, days.get(name, 1e9))


if __name__ == "__main__":
    main()
