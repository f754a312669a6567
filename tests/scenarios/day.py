"""The day: a full sync, deltas every quarter of an hour, faults on the way, one export; the sandbox's store has all that happened."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shelfsync.settings import Settings
from simulation.fault_point import FaultPoint
from simulation.shape import Shape
from simulation.world import World

if TYPE_CHECKING:
    import random

    from app_calls import Calls

PREPARE = ("normalise", "diff", "guard", "batch", "deliver")
ONLY_IN_ERP, ONLY_ON_PLATFORM = "only-in-the-erp", "only-on-the-platform"
EDITED = Decimal("77.77")
"""A price that shelfsync never sends."""
UNACCOUNTED = "s00004"
"""Sent last of all to the third store, in the job whose log passes over a line."""
LEFT = 10
"""So many SKUs of each vendor are kept for the faults, and change at no other time."""


@dataclass(frozen=True)
class Size:
    """How large a day is."""

    vendors: int
    skus: int
    deltas: int
    changing_vendors: int
    """Vendors of which something changes in one delta; every twelfth delta looks at all of them."""
    changes: int


SMALL = Size(vendors=3, skus=40, deltas=8, changing_vendors=2, changes=6)
LARGE = Size(vendors=30, skus=2000, deltas=24, changing_vendors=4, changes=25)


@dataclass
class Row:
    price: Decimal
    quantity: int
    active: bool
    limit: int


@dataclass
class Day:
    """The ERP as a dictionary, and what the test recorded during the day."""

    world: ScenarioWorld
    size: Size
    chance: random.Random
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    read_at: dict[tuple[int, str], Any] = field(default_factory=dict)
    """Run and vendor -> when the ERP was first read since this vendor was last in step."""
    blocked: str | None = None
    """The vendor of which the present run can send nothing."""
    waiting: dict[str, Any] = field(default_factory=dict)
    """Vendor of which nothing could be sent -> when the ERP was read for it."""
    shown: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """What the platform showed of each vendor when the export was requested."""
    seen_at: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)

    @property
    def vendors(self) -> list[str]:
        return [f"store-{number:03d}" for number in range(1, self.size.vendors + 1)]

    def skus(self) -> list[str]:
        return [f"s{number:05d}" for number in range(self.size.skus)]

    def live(self, *, export: bool = True) -> None:
        """All of it, or all but the export."""
        self._furnish()
        with self.world.app(FaultPoint()) as app:
            self._run(app, "full", "full", ())
            for number in range(self.size.deltas):
                began_s = self.world.clock.monotonic_s()
                changing = self.chance.sample(self.vendors, self.size.changing_vendors)
                for vendor in changing:
                    self._change(vendor)
                self._fault(number)
                self._write()
                if self.blocked is not None:
                    changing = [self.blocked]
                whole = number % 12 == 11 or number >= self.size.deltas - 5
                self._run(app, "delta", f"delta {number}", () if whole else tuple(changing))
                self.world.platform.faults()
                self.world.clock.sleep(max(0.0, 900 - (self.world.clock.monotonic_s() - began_s)))
            self.world.clock.sleep(3600)
            if export:
                self._export(app)

    def _furnish(self) -> None:
        for vendor in self.vendors:
            self.world.platform.control("PUT", f"chains/demo-chain/vendors/{vendor}", {})
            names = [*self.skus(), ONLY_ON_PLATFORM]
            self.world.platform.put_products(
                vendor, [{"sku": sku, "title": sku, "barcodes": [], "price": 900.0, "active": False} for sku in names]
            )
            for sku in [*self.skus(), ONLY_IN_ERP]:
                self.rows[vendor, sku] = Row(Decimal(self.chance.randrange(100, 9000)) / 100, 5, True, 9)
        self._write()

    def _change(self, vendor: str) -> None:
        for sku in self.chance.sample(self.skus()[LEFT:], self.size.changes):
            row = self.rows[vendor, sku]
            what = self.chance.choice(("price", "price", "sold out", "back", "off", "on", "limit"))
            if what == "price":
                row.price = Decimal(self.chance.randrange(100, 9000)) / 100
            elif what in {"sold out", "back"}:
                row.quantity = 0 if what == "sold out" else 7
            elif what in {"off", "on"}:
                row.active = what == "on"
            else:
                row.limit = self.chance.randrange(1, 50)

    def _fault(self, number: int) -> None:
        """The faults of the day, each at a separate SKU that changes at no other time."""
        last = self.size.deltas
        first, second, third = self.vendors[:3]
        plan: dict[int, tuple[str, str, dict[str, Any]]] = {
            last - 6: (second, "s00000", {"at": "put_catalog", "kind": "status_404"}),
            last - 5: (first, "s00000", {"at": "put_catalog", "kind": "status_500"}),
            last - 4: (first, "s00001", {"at": "job_webhook", "kind": "lost"}),
            last - 3: (first, "s00002", {"at": "job", "kind": "portal_edit", "price": float(EDITED)}),
            last - 2: (second, "s00003", {"at": "job", "kind": "not_applied"}),
            last - 1: (third, UNACCOUNTED, {"at": "log", "kind": "missing_sku"}),
        }
        self.blocked = second if number == last - 6 else None
        if number not in plan:
            return
        vendor, sku, rule = plan[number]
        for name in (sku, f"s{int(sku[1:]) + 5:05d}"):
            self.rows[vendor, name].price += 1
        whose = {} if rule["at"] == "put_catalog" else {"vendor": vendor}  # the edge knows paths, not vendors
        self.world.platform.faults({**rule, **whose, "times": 1})

    def _write(self) -> None:
        with self.world.erp.file.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("vendor", "sku", "price", "quantity", "active", "max_sales_quantity"))
            for (vendor, sku), row in self.rows.items():
                writer.writerow((vendor, sku, row.price, row.quantity, int(row.active), row.limit))
        self.world.erp.control.write_text(str(len(self.rows)))

    def _run(self, app: Calls, kind: str, key: str, vendors: tuple[str, ...]) -> None:
        clock = self.world.clock
        run_id = app.open_run(kind, f"scenario/{key}", vendors)
        names = [name for shard in app.extract(run_id) for name in shard["vendors"]]
        self.read_at |= {(run_id, name): self.waiting.pop(name, clock.now()) for name in names}
        if self.blocked is not None:
            self.waiting[self.blocked] = self.read_at[run_id, self.blocked]
        for step in PREPARE:
            app.step(step, run_id, names)
        for _ in range(100):
            if not app.in_flight(run_id):
                break
            clock.sleep(10)
            for step in ("confirm", "acknowledge"):
                app.step(step, run_id, names)
        app.report(run_id)

    def _export(self, app: Calls, key: str = "scenario/export") -> None:
        clock = self.world.clock
        shards = app.plan_exports(key)
        names = [name for shard in shards for name in shard["vendors"]]
        app.export_step("export", key, names)
        self.shown = {vendor: self.world.platform.products(vendor) for vendor in self.vendors}
        clock.sleep(30)
        for step in ("observe", "reconcile"):
            app.export_step(step, key, names)
        self.summary = app.report_exports(key)


class ScenarioWorld(World):
    """The simulation's world with more stores and a separate ERP."""

    def open(self) -> None:
        """As new."""
        self.reset(1, Shape(job_seconds=5.0))
        self.platform.control("POST", "reset")
        self.platform.control("PUT", "settings", {"job_seconds": 5.0, "requests_per_minute": 60})
        self.receive(up=True)

    def keep(self) -> None:
        """Remembers what the database holds."""
        self.execute("DROP SCHEMA IF EXISTS kept CASCADE", "CREATE SCHEMA kept")
        self.execute(*(f"CREATE TABLE kept.t{place} AS TABLE {name}" for place, name in enumerate(self._tables())))

    def back(self) -> None:
        """The database of the last backup, at the present time."""
        names = self._tables()
        again = [
            f"INSERT INTO {name} ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM kept.t{place}"
            for place, (name, columns) in enumerate((name, self._columns(name)) for name in names)
        ]
        self.execute("SET LOCAL session_replication_role = replica", f"TRUNCATE {', '.join(names)} CASCADE", *again)

    def _columns(self, table: str) -> str:
        """Those that are stored as given; PostgreSQL computes the others."""
        given = (
            "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute"
            f" WHERE attrelid = '{table}'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''"
        )
        return str(self.rows(given)[0][0])

    def _tables(self) -> list[str]:
        named = (
            "SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " WHERE n.nspname IN ('ledger', 'inbox', 'rate_limit', 'warehouse') AND c.relkind IN ('r', 'p')"
            " AND NOT c.relispartition AND c.relname <> 'alembic_version' ORDER BY 1"
        )
        return [row[0] for row in self.rows(named)]

    def settings(self) -> Settings:
        base = super().settings()
        base_settings = {
            name: getattr(base, name) for name in ("home", "database_url", "lake_url", "platform", "erp", "rate_limit")
        }
        return Settings(
            **base_settings, sync={"body_max_bytes": 10_000_000, "vendors_per_shard": 100, "downloads_at_once": 1}
        )
