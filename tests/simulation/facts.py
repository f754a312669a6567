"""Data of one world, read from outside: ledger, lake, the sandbox's store, and the faults that struck."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from shelfsync.store.lake import Lake

if TYPE_CHECKING:
    from simulation.world import World

Item = tuple[str, int | None, int | None, bool | None, int | None]
"""A SKU with price in thousandths, quantity, active and sales limit: the values of one item."""
Taken = list[tuple[Any, tuple[tuple[Item, str | None], ...]]]
"""Jobs of the platform in its order, each with its items and what was wrong with them."""

FIELDS = ("price", "quantity", "active", "max_sales_quantity")


class Facts:
    """The facts of one world since its reset."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._lake = Lake(world.lake)
        self._files: dict[str, list[dict[str, Any]]] = {}
        self.struck: Counter[str] = Counter()
        """Faults that have struck, by place and kind."""

    def jobs(self) -> list[Any]:
        return self.world.rows(
            "SELECT j.*, b.items_path, b.generation, b.run_id, b.item_count, b.snapshot_path FROM ledger.job j"
            " JOIN ledger.batch b USING (batch_id) ORDER BY job_id"
        )

    def taken(self) -> Taken:
        """What the platform has taken on."""
        jobs = self.world.platform_rows(
            "SELECT seq, job_id, vendor, state FROM job WHERE kind = 'update' AND state <> 'RECEIVING' ORDER BY seq"
        )
        items: dict[int, list[Any]] = defaultdict(list)
        for row in self.world.platform_rows(
            "SELECT job_seq, sku, barcode, price_milli, quantity, active, sales_limit, error FROM job_item ORDER BY job_seq, number"
        ):
            active = None if row.active is None else bool(row.active)
            sku = self.world.shape.sku_of(row.sku, row.barcode)
            items[row.job_seq].append(((sku, row.price_milli, row.quantity, active, row.sales_limit), row.error))
        return [(job, tuple(items[job.seq])) for job in jobs]

    def file(self, path: str) -> list[dict[str, Any]]:
        """A file of the lake, row by row; none ever changes."""
        if path not in self._files:
            self._files[path] = self._lake.read_table(path).to_pylist()
        return self._files[path]

    def answered_at_once(self, items: tuple[Any, ...]) -> bool:
        """An older platform answers a single item with its SKU, whether it accepts or rejects it."""
        return len(items) == 1 and self.world.choices.single_item_answer == "sku"

    def note_faults(self) -> None:
        """Remembers what has struck before the rules are replaced."""
        for rule in self.world.fault_rules():
            self.struck[f"{rule['at']}/{rule['kind']}"] += rule["struck"]

    def has_struck(self, *kinds: str) -> bool:
        return any(count and place.split("/")[1] in kinds for place, count in self.struck.items())

    def has_struck_now(self, kind: str) -> bool:
        return self.has_struck(kind) or any(
            rule["kind"] == kind and rule["struck"] for rule in self.world.fault_rules()
        )
