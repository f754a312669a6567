"""What restorations make of the wanted state: for a time the values that were acknowledged at an instant count, not the ERP's.

Seen from outside: an operator's restoration is a row that was committed; what was acknowledged then is what the model itself folds together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.erp import Key
    from simulation.world import World

RESTORED = ("price", "active", "max_sales_quantity")
Values = dict[str, Any]


class Restorations:
    """The restorations of one world since its reset."""

    def __init__(self, world: World, acknowledged: Callable[[str, Any], dict[str, Values]]) -> None:
        self._world = world
        self._acknowledged = acknowledged
        """The state of a vendor at an instant, by SKU."""
        self._state: dict[int, dict[str, Values]] = {}
        self._known: dict[str, tuple[Any, ...]] = {}

    def in_force(self, vendor: str) -> list[dict[str, Values]]:
        """What counts instead of the ERP now, newest first."""
        return [self._values(row) for row in self._rows(vendor)]

    def wanted(self, key: Key) -> Values:
        """The desired state of one SKU instead of the ERP's: the newest known value of each field."""
        found: Values = {}
        for state in self.in_force(key[0]):
            for name, value in state.get(key[1], {}).items():
                found.setdefault(name, value)
        return found

    def note(self, vendor: str) -> None:
        """Writes the restored values into the ERP's history of wanted values, so that they do not count as older values."""
        rows, erp = self._rows(vendor), self._world.erp
        now = (tuple(row.restoration_id for row in rows), erp.version, len(erp.rows))
        before = self._known.get(vendor)
        if (not rows and before is None) or before == now:
            return
        self._known[vendor] = now
        for state in map(self._values, rows):
            for sku, values in state.items():
                erp.want((vendor, sku), values)
        for (of, sku), row in erp.rows.items():
            if of == vendor:
                off = {} if row.bad is None else {"active": False}
                believed = row.believed(by_barcode=erp.by_barcode)
                erp.want((of, sku), off | {name: believed[name] for name in RESTORED if name in believed})
        for state in map(self._values, rows):
            for sku in state.keys() - {sku for of, sku in erp.rows if of == vendor}:
                erp.want((vendor, sku), {"active": False})

    def _values(self, row: Any) -> dict[str, Values]:
        if row.restoration_id not in self._state:
            then = self._acknowledged(row.vendor, row.state_at)
            self._state[row.restoration_id] = {
                sku: {name: values[name] for name in RESTORED if values[name] is not None}
                for sku, values in then.items()
                if row.skus is None or sku in row.skus
            }
        return self._state[row.restoration_id]

    def _rows(self, vendor: str) -> list[Any]:
        return self._world.rows(
            "SELECT * FROM ledger.restoration WHERE vendor = :v AND ended_at IS NULL AND until_at > :now"
            " ORDER BY restoration_id DESC",
            v=vendor,
            now=self._world.clock.now(),
        )
