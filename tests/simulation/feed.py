"""Feeds of changes with faults: late commits, cursors that jump back, clocks that are set, a feed that lies, a feed that stops.

The seed chooses what the ERP does, how its feed reports it, when runs happen and where they die. After the last fault and the next whole
reading, platform and ERP are equal, and so are the rows that the next changes are laid over.
"""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from shelfsync.store.lake import Lake
from simulation import day
from simulation.broken import Broken
from simulation.crash_points import SHAPE
from simulation.erp import HEADER, VENDORS, Erp, Row
from simulation.fault_point import Death, FaultPoint, Killed
from simulation.model import Model, converged
from simulation.shape import KNOWN_SKUS

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.world import World

OVERLAP_S = 120
ACTIONS = 14
FAULTS = ("late", "too_late", "lies", "stops", "clock_back", "clock_forth", "restored")
_COLUMNS = ", ".join(HEADER)
_TABLE = "CREATE TABLE {name} ({columns}, changed INTEGER, PRIMARY KEY (vendor, sku))"


class FeedErp(Erp):
    """The ERP as a database: `stock` is the truth, and `feed` is what its feed reports, with the times of the ERP's own clock."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.database = folder / "feed.sqlite"
        self.database.unlink(missing_ok=True)
        self.now = 1_700_000_000
        self._written: dict[Any, list[str]] = {}
        self.is_followed = True
        """False: the settings of the changes are taken away."""
        for name in ("stock", "feed"):
            self._execute(_TABLE.format(name=name, columns=_COLUMNS))

    @property
    def settings(self) -> dict[str, Any]:
        """Section `erp`."""
        whole = {"url": f"sqlite:///{self.database}", "sql": f"SELECT {_COLUMNS} FROM stock"}
        if not self.is_followed:
            return whole
        return whole | {
            "changes_sql": f"SELECT {_COLUMNS}, changed FROM feed WHERE changed >= :since",
            "changes_column": "changed",
            "changes_kind": "number",
            "changes_overlap": OVERLAP_S,
        }

    def write(self, damage: str | None = None, seed: int = 0) -> None:
        """Commits what changed; `damage` is a fault of the feed."""
        chance = random.Random(seed)
        began = self.now
        if damage == "late":
            began -= chance.randint(1, OVERLAP_S - 1)
        elif damage == "too_late":
            began -= OVERLAP_S + chance.randint(1, 5_000)
        rows = {key: row.cells(key, buffer_known=self.buffer_known) for key, row in self.rows.items()}
        for key in sorted(rows.keys() | self._written.keys()):
            cells = rows.get(key)
            if cells == self._written.get(key):
                continue
            self._put("stock", key, cells, began)
            if damage == "lies" and cells is not None:
                self._put("feed", key, [*cells[:3], "0.017", *cells[4:]], began)
            elif damage != "stops":
                self._put("feed", key, cells, began)
        self._written = rows

    def set_clock(self, seconds: int) -> None:
        """The ERP's clock jumps."""
        self.now += seconds

    def restore(self, seconds: int) -> None:
        """The ERP comes back from a backup: its times are older than what the feed reported already."""
        self.now -= seconds
        self._execute("UPDATE feed SET changed = changed - ?", seconds)

    def reported_since(self, since: int) -> None:
        """Notes what the feed reports from here on otherwise than it is, and then the truth: so the feed wants it in turn."""
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM feed WHERE changed >= ?", (since,)).fetchall()
        for row in rows:
            cells = ["" if cell is None else str(cell) for cell in row]
            self._reported((cells[0], cells[1]), cells)

    def _reported(self, key: Any, cells: list[str]) -> None:
        """The values of a row as they would be sent, and those of the truth, if they differ."""
        truth = self._written.get(key)
        if cells == truth:
            return
        self._want(key, cells)
        if truth is None:
            self.want(key, {"active": False})
        else:
            self._want(key, truth)

    def _want(self, key: Any, cells: list[str]) -> None:
        one = dict(zip(HEADER, cells, strict=True))
        bad = ("price", "NaN") if one["price"] == "NaN" else None
        price = Decimal(0) if bad else Decimal(one["price"]).quantize(Decimal("0.001"), rounding="ROUND_DOWN")
        row = Row(price, int(one["quantity"]), one["active"] == "1", int(one["max_sales_quantity"]), bad)
        self.want(key, row.believed(by_barcode=False))

    def repair_feed(self) -> None:
        """The feed reports the truth again. What it reported before is not taken back."""
        self._execute("DELETE FROM feed")
        self._execute("INSERT INTO feed SELECT * FROM stock")

    def _put(self, table: str, key: Any, cells: list[str] | None, changed: int) -> None:
        self._execute(f"DELETE FROM {table} WHERE vendor = ? AND sku = ?", *key)
        if cells is not None:
            places = ", ".join("?" * (len(HEADER) + 1))
            self._execute(f"INSERT INTO {table} VALUES ({places})", *(cell or None for cell in cells), changed)

    def _execute(self, statement: str, *values: Any) -> None:
        with contextlib.closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute(statement, values)


@dataclass
class FeedRun:
    """One seed."""

    world: World
    seed: int
    struck: Counter[str] = field(default_factory=Counter)
    deaths: int = 0
    effects: int = 0
    missed: int = 0
    """SKUs that a whole reading reported as missed by the changes."""

    faults: ClassVar[tuple[str, ...]] = FAULTS

    def run(self, actions: int = ACTIONS) -> FeedRun:
        """The whole story; raises Broken."""
        world, chance = self.world, random.Random(f"feed {self.seed}")
        world.reset(self.seed, SHAPE)
        world.erp = erp = self._new_erp(world, chance)
        model = Model(world)
        for vendor in VENDORS:
            for sku in KNOWN_SKUS[: SHAPE.skus]:
                erp.put((vendor, sku), chance)
        erp.write()
        self._live("full", None)
        for _ in range(actions):
            self._erp_acts(erp, chance)
            kind = chance.choice(("delta", "delta", "delta", "none", "full", "named", "silent"))
            if kind != "none":
                death = Death(chance.randint(1, 30), chance.random() < 0.5) if chance.random() < 0.3 else None
                self._live(kind, death, chance.choice(VENDORS))
                model.check()
            self._pass(erp, chance.choice((1, 60, 600)))
        for vendor in VENDORS:  # of a store without a row nothing is concluded
            if not self._true_prices(vendor):
                erp.put((vendor, KNOWN_SKUS[0]), chance)
        erp.write()
        self._before_repair(chance)
        erp.repair_feed()
        with world.app(FaultPoint()) as app:
            left = day.quiescent_rounds(world, app, 2, kind="full")  # the first may be what an open job passes over
            left += day.quiescent_rounds(world, app, 2)
        model.check()
        self._equal(erp, left)
        self.missed = world.rows("SELECT count(*) AS skus FROM warehouse.missed_change")[0].skus
        return self

    def _new_erp(self, world: World, chance: random.Random) -> FeedErp:
        return FeedErp(world.folder)

    def _before_repair(self, chance: random.Random) -> None:
        """What has to hold while the feed is still what its faults made of it."""

    def _erp_acts(self, erp: FeedErp, chance: random.Random) -> None:
        fault = chance.choice(("none", "none", "none", *self.faults))
        for _ in range(chance.randint(1, 3)):
            key = chance.choice(VENDORS), chance.choice(KNOWN_SKUS[: SHAPE.skus])
            what = chance.choice((erp.put, erp.put, erp.sell, None))
            erp.remove(key) if what is None else what(key, chance)
        if fault != "none":
            self.struck[fault] += 1
        self._strike(erp, fault, chance)

    def _strike(self, erp: FeedErp, fault: str, chance: random.Random) -> None:
        if fault == "clock_back":
            erp.set_clock(-3_600)
        elif fault == "clock_forth":
            erp.set_clock(3_600)
        elif fault == "restored":
            erp.restore(chance.randint(1, 50_000))
        erp.write(fault, chance.getrandbits(32))

    def _live(self, kind: str, death: Death | None, vendor: str = VENDORS[0]) -> FaultPoint:
        """A run in a process of its own, to its end or to its death: named (of one vendor), or while the feed is switched off (silent)."""
        self._note_reported(kind)
        fault_point = FaultPoint(death)
        self._feed_erp.is_followed = kind != "silent"
        try:
            with self.world.app(fault_point) as app:
                key = f"feed/{kind}/{self.world.clock.monotonic_s()}"
                of = (vendor,) if kind == "named" else ()
                what = kind if kind == "full" else "delta"
                failed = day.tolerated(partial(day.whole_run, self.world, app, what, key, of=of))
            self._check_landed(kind, vendor, failed)
        except Killed:
            self.deaths += 1
        self._feed_erp.is_followed = True
        self.effects += fault_point.effects
        return fault_point

    def _check_landed(self, kind: str, vendor: str, failed: str | None) -> None:
        """What the next changes are laid over after a run that ended."""
        if failed is not None:
            return
        if kind == "silent" and self.world.rows("SELECT FROM ledger.reading UNION ALL SELECT FROM ledger.position"):
            raise Broken("I14", "the changes go on after a reading of the whole that knew nothing of them")
        if kind == "named":
            held = self._held_prices().get(vendor)
            if held is not None and held != self._true_prices(vendor):
                raise Broken(
                    "I4", f"vendor {vendor}: the next changes are laid over rows from before a run that named it"
                )

    def _note_reported(self, kind: str) -> None:
        """A delta may send what a faulty feed reports."""
        position = self.world.rows("SELECT cursor FROM ledger.position")
        if kind == "delta" and position:
            self._feed_erp.reported_since(int(position[0].cursor) - OVERLAP_S)

    @property
    def _feed_erp(self) -> FeedErp:
        assert isinstance(self.world.erp, FeedErp)
        return self.world.erp

    def _pass(self, erp: FeedErp, seconds: int) -> None:
        self.world.clock.sleep(seconds)
        erp.now += seconds

    def _equal(self, erp: FeedErp, left: list[str]) -> None:
        if left:
            raise Broken("I3", f"the schedule still fails: {left[0]}")
        if lines := converged(self.world, may_be_rejected=False):
            raise Broken("I3", f"{len(lines)} differences, the first {lines[0]}")
        for vendor, found in self._held_prices().items():
            wanted = self._true_prices(vendor)
            if wanted and found != wanted:  # a vendor without a row in the whole keeps those that it had
                raise Broken("I14", f"vendor {vendor}: the last rows are {found}, and the ERP has {wanted}")

    def _held_prices(self) -> dict[str, dict[str, str]]:
        """The rows that the next changes are laid over: vendor -> SKU -> price."""
        lake = Lake(self.world.lake)
        return {
            row.vendor: {one["sku"]: one["price"] for one in lake.read_table(row.raw_path).to_pylist()}
            for row in self.world.rows("SELECT vendor, raw_path FROM ledger.reading ORDER BY vendor")
        }

    def _true_prices(self, wanted: str) -> dict[str, str]:
        """The ERP's own, SKU -> price."""
        rows = self._feed_erp.rows.items()
        return {sku: one.cells((vendor, sku), buffer_known=False)[3] for (vendor, sku), one in rows if vendor == wanted}
