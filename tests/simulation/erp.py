"""The ERP of the simulation: a CSV file with a control file, and the naive truth about what it wants.

Each version of a row has a price of its own, so that a price seen anywhere identifies its version.
"""

from __future__ import annotations

import csv
import io
import random
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from simulation.shape import BARCODES

if TYPE_CHECKING:
    from pathlib import Path

Key = tuple[str, str]
VENDORS = ("store-001", "store-002")
HEADER = ("vendor", "sku", "barcode", "price", "quantity", "active", "max_sales_quantity", "sales_buffer")
FIRST_PRICE = Decimal("0.5")
"""What a product has at the platform before anything is sent."""
BUFFER = 1
"""The platform's sales buffer, for every product."""
BAD = (("price", "on request"), ("price", "NaN"), ("price", "-3"), ("quantity", "many"), ("active", "perhaps"))
"""No price with another decimal mark: beside few rows it is a second style, and the whole file waits."""
BAD_BARCODE = ("barcode", "12x4")
DAMAGES = ("truncated", "half", "vendor_missing", "empty", "no_control", "torn")
HALF_ROWS = 7
"""More than the five removals that always flow."""


@dataclass(frozen=True)
class Row:
    """What the ERP wants of one SKU; `bad` replaces one field by a value that cannot be sent."""

    price: Decimal
    quantity: int
    active: bool
    limit: int
    bad: tuple[str, str] | None = None
    tail: str = ""
    """A digit after the third decimal, which the platform would cut."""
    least: int = BUFFER
    """The smallest quantity that keeps a product on sale: the buffer, or the buffer plus 1 if the buffer itself deactivates."""

    @property
    def on_sale(self) -> bool:
        """Whether a customer should be able to buy it: a quantity below the buffer switches it off."""
        return self.active and self.quantity >= self.least

    def believed(self, *, by_barcode: bool) -> dict[str, Any]:
        """What of the row is to be sent. Of a faulty one only what cannot put the product on sale; a barcode matters if it identifies."""
        every = {
            "price": self.price,
            "quantity": self.quantity,
            "active": self.active,
            "max_sales_quantity": self.limit,
        }
        faulty = None if self.bad is None else self.bad[0]
        if faulty is None:
            return every
        if faulty == "barcode":
            return {} if by_barcode else every
        safe = (
            {"price": self.price}
            | ({} if self.quantity else {"quantity": 0})
            | ({} if self.active else {"active": False})
        )
        safe.pop(faulty, None)
        return safe | ({"max_sales_quantity": self.limit} if safe else {})

    def cells(self, key: Key, *, buffer_known: bool) -> list[str]:
        values = {
            "vendor": key[0],
            "sku": key[1],
            "barcode": BARCODES[key[1]],
            "price": f"{self.price:.3f}{self.tail}",
            "quantity": str(self.quantity),
            "active": "1" if self.active else "0",
            "max_sales_quantity": str(self.limit),
            "sales_buffer": str(BUFFER) if buffer_known else "",
        }
        if self.bad is not None:
            values[self.bad[0]] = self.bad[1]
        return [values[name] for name in HEADER]


@dataclass
class Erp:
    """Rows by vendor and SKU, and every price that was ever wanted, in order."""

    folder: Path
    coherent: bool = False
    """An older platform: never active without stock, because a single item's quantity switches nothing off; the buffer itself is too little."""
    rows: dict[Key, Row] = field(default_factory=dict)
    wanted: dict[Key, list[Decimal]] = field(default_factory=dict)
    history: dict[Key, dict[str, list[Any]]] = field(default_factory=dict)
    """The same of quantity, active and max_sales_quantity, each by itself."""
    ever_off: set[Key] = field(default_factory=set)
    """SKUs that the ERP once switched off: inactive, without stock, or gone."""
    version: int = 0
    buffer_known: bool = False
    by_barcode: bool = False
    """Whether barcodes identify the items."""
    first_price: int = 1
    """Prices begin here: those of another chain are others."""

    @property
    def least(self) -> int:
        """The smallest quantity that keeps a product on sale."""
        return BUFFER + self.coherent

    @property
    def settings(self) -> dict[str, Any]:
        """Section `erp` of the settings."""
        return {"files": str(self.file), "control_file": str(self.control)}

    @property
    def file(self) -> Path:
        return self.folder / "stock.csv"

    @property
    def control(self) -> Path:
        return self.folder / "rows.txt"

    def put(self, key: Key, chance: random.Random, *, bad: tuple[str, str] | None = None) -> None:
        """A new version of a row."""
        self.version += 1
        quantity = chance.choice((0, 5, 7, 40))
        active = chance.random() < 0.8
        row = Row(
            price=Decimal(self.version) / 1000 + self.first_price,
            quantity=quantity,
            active=active and (quantity >= self.least or not self.coherent),
            limit=1 + self.version % 900,
            bad=bad,
            tail=chance.choice(("", "0", "9")),
            least=self.least,
        )
        self._set(key, row)

    def sell(self, key: Key, chance: random.Random) -> None:
        """Only the quantity moves, mostly on the same side of the buffer."""
        if key in self.rows:
            row = self.rows[key]
            quantity = chance.choice((0, 1, 2, 3, 4, 6, 39))
            active = row.active and (quantity >= self.least or not self.coherent)
            self._set(key, Row(row.price, quantity, active, row.limit, least=self.least))

    def again(self, key: Key, chance: random.Random) -> None:
        """Back to a price it had before: flapping."""
        if key in self.rows and len(self.wanted.get(key, ())) > 1:
            row = self.rows[key]
            price = chance.choice(self.wanted[key][:-1])
            self._set(key, Row(price, row.quantity, row.active, row.limit, least=self.least))

    def slip(self, key: Key, chance: random.Random) -> None:
        """A price loses its decimal point."""
        self.put(key, chance)
        row = self.rows[key]
        self._set(key, replace(row, price=row.price * chance.choice((10, 100))))

    def remove(self, key: Key) -> None:
        if self.rows.pop(key, None) is not None:
            self.ever_off.add(key)
            self.want(key, {"active": False})

    def want(self, key: Key, values: dict[str, Any]) -> None:
        """Notes what is wanted from now on."""
        for name, value in values.items():
            if name == "price":
                turns = self.wanted.setdefault(key, [])
            else:
                turns = self.history.setdefault(key, {}).setdefault(name, [])
            if not turns or turns[-1] != value:
                turns.append(value)

    def write(self, damage: str | None = None, seed: int = 0) -> None:
        """The two files; `damage` is what goes wrong on the way, and never stays longer than to the next write."""
        chance = random.Random(seed)
        rows = [row.cells(key, buffer_known=self.buffer_known) for key, row in sorted(self.rows.items())]
        chance.shuffle(rows)
        count = len(rows)
        if damage == "truncated":
            rows = rows[: len(rows) * 2 // 3]
        elif damage == "empty":
            rows, count = [], 0
        elif damage == "vendor_missing":
            rows = [row for row in rows if row[0] != VENDORS[seed % 2]]
            count = len(rows)
        elif damage == "half":
            mine = [row for row in rows if row[0] == VENDORS[seed % 2]]
            lost = mine[:HALF_ROWS] if len(mine) > HALF_ROWS else []
            for row in lost:
                self.ever_off.add((row[0], row[1]))
                self.want((row[0], row[1]), {"active": False})
                self.want((row[0], row[1]), {"active": row[5] == "1"})
            rows = [row for row in rows if row not in lost]
            count = len(rows)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows)
        whole = text.getvalue()
        self.file.write_text(whole[: -len(whole) // 4] if damage == "torn" else whole, "utf-8")
        self.control.write_text("" if damage == "no_control" else f"{count}\n", "utf-8")

    def _set(self, key: Key, row: Row) -> None:
        self.rows[key] = row
        values = row.believed(by_barcode=self.by_barcode)
        if "price" in values:
            self.wanted.setdefault(key, []).append(values.pop("price"))
        self.want(key, values)
        if not row.on_sale and ({"quantity", "active"} & values.keys()):
            self.ever_off.add(key)
