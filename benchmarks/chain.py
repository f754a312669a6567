"""A chain as it lies in the lake: snapshot and baseline of every vendor, made vendor by vendor from a seed.

Every vendor has 50,000 SKUs out of a pool of 60,000 that the chain shares. In 5 % of the rows something differs: mostly the quantity,
then the price, the flag, the limit; some SKUs are new and some have left, so that no vendor's two tables name the same SKUs.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.errors import ConfigurationError
from shelfsync.schemas import BASELINE, PRICE, RAW, SNAPSHOT
from shelfsync.store.lake import Lake

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    from shelfsync.catalog.bodies import Body

VENDOR_ROWS = 50_000
POOL = 60_000
CHANGED_SHARE = 0.05
COME_AND_GO = 50
"""So many SKUs of a vendor are new, and so many have left."""
BODY_BYTES_MAX = 95 * 1024 * 1024
_MANIFEST = "chain.json"


@dataclass(frozen=True)
class Shelf:
    """One vendor's files, as paths within the lake."""

    vendor: str
    snapshot: str
    baseline: str
    raw: str | None


@dataclass(frozen=True)
class Chain:
    """A generated chain."""

    folder: Path
    shelves: tuple[Shelf, ...]

    @property
    def lake(self) -> Lake:
        return Lake(str(self.folder))

    @property
    def rows(self) -> int:
        """Rows of all snapshots."""
        return len(self.shelves) * VENDOR_ROWS

    def first(self, vendors: int) -> Chain:
        """The same chain with its first vendors only."""
        return Chain(self.folder, self.shelves[:vendors])

    def one(self, number: int) -> Chain:
        """The same chain with this vendor only."""
        return Chain(self.folder, self.shelves[number : number + 1])

    def whole(self, kind: str, columns: list[str] | None = None) -> pa.Table:
        """One table of all vendors, with the column `vendor` last."""
        tables, lake = [], self.lake
        for shelf in self.shelves:
            table = lake.read_table(getattr(shelf, kind), columns)
            tables.append(table.append_column("vendor", pa.repeat(pa.scalar(shelf.vendor), table.num_rows)))
        return pa.concat_tables(tables)

    def files(self, kind: str) -> list[str]:
        """Addresses of all files of one kind, for engines that read them by themselves."""
        return [str(self.folder / getattr(shelf, kind)) for shelf in self.shelves]

    def tables(self) -> Iterator[tuple[Shelf, pa.Table, pa.Table]]:
        """Snapshot and baseline of one vendor after the other."""
        lake = self.lake
        for shelf in self.shelves:
            yield shelf, lake.read_table(shelf.snapshot), lake.read_table(shelf.baseline)


def load(folder: Path) -> Chain:
    """A chain that was made before."""
    shelves = json.loads((folder / _MANIFEST).read_text())
    return Chain(folder, tuple(Shelf(**shelf) for shelf in shelves))


def make(folder: Path, rows: int, *, raw_vendors: int = 20, seed: int = 5) -> Chain:
    """Makes a chain of so many rows, or takes the one that is there. `raw_vendors`: how many vendors get their ERP rows too."""
    count = max(1, rows // VENDOR_ROWS)
    if (folder / _MANIFEST).exists():
        found = load(folder)
        if len(found.shelves) >= count:
            return found.first(count)
    lake = Lake(str(folder))
    shelves = []
    for number in range(count):
        vendor = f"store-{number:04}"
        snapshot, baseline = _vendor(np.random.default_rng([seed, number]))
        shelves.append(
            Shelf(
                vendor,
                lake.write_table("snapshot", vendor, snapshot),
                lake.write_table("baseline", vendor, baseline),
                lake.write_table("raw", vendor, raw_of(vendor, snapshot)) if number < raw_vendors else None,
            )
        )
    (folder / _MANIFEST).write_text(json.dumps([vars(shelf) for shelf in shelves]))
    return Chain(folder, tuple(shelves))


def check(folder: Path) -> None:
    """Raises ConfigurationError if the folder has something else: a chain is removed with its folder."""
    if folder.exists() and not (folder / _MANIFEST).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigurationError(
            "--folder", f"{folder} exists and is no generated chain", "Name another folder, or move this one away."
        )


def remove(folder: Path) -> None:
    """Removes a chain; its list goes first, so that half a chain is never taken for one."""
    (folder / _MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def raw_of(vendor: str, snapshot: pa.Table) -> pa.Table:
    """The rows an ERP would have given for this snapshot: texts, prices with five decimals."""
    count = snapshot.num_rows
    texts = {
        name: snapshot[name].combine_chunks().cast(pa.string()) for name in RAW.names if name in snapshot.column_names
    }
    texts["price"] = pc.binary_join_element_wise(texts["price"], "00", "")
    texts |= {
        "row_number": pa.array(np.arange(1, count + 1)),
        "vendor": pa.repeat(pa.scalar(vendor), count),
        "name": pa.nulls(count, pa.string()),
    }
    return pa.Table.from_arrays([texts[name] for name in RAW.names], schema=RAW)


def full_delta(snapshot: pa.Table) -> pa.Table:
    """What a first full sync sends."""
    from shelfsync.catalog.delta import compute_delta

    return compute_delta(snapshot, BASELINE.empty_table(), full=True)


def distinct(delta: pa.Table) -> pa.Table:
    """The delta with a price and a quantity of its own in each row."""
    numbers = pa.array(range(1_000_000, 1_000_000 + delta.num_rows))
    for name, values in (("quantity", numbers), ("price", numbers.cast(pa.string()).cast(pa.decimal128(20, 3)))):
        delta = delta.set_column(delta.column_names.index(name), name, values)
    return delta


def bodies_of(delta: pa.Table, body_max_bytes: int = BODY_BYTES_MAX) -> Iterator[Body]:
    """The bodies that shelfsync makes of a delta."""
    from shelfsync.catalog.bodies import cut

    for batch in cut(delta, key="sku", sales_limit_name="maximum_sales_quantity", body_max_bytes=body_max_bytes):
        yield batch.body


def log_of(delta: pa.Table) -> bytes:
    """The log of a job that sent this delta: one line in fifty rejected."""
    lines = [
        f'"{sku}","failed","unknown SKU"' if row % 50 == 0 else f'"{sku}","success",""'
        for row, sku in enumerate(delta["sku"].to_pylist())
    ]
    return ("\n".join(['"sku","state","errors"', *lines]) + "\n").encode()


def _vendor(chance: np.random.Generator) -> tuple[pa.Table, pa.Table]:
    """Snapshot and baseline of one vendor, both sorted by sku."""
    picked = np.sort(chance.choice(POOL, VENDOR_ROWS + COME_AND_GO, replace=False))
    now = _values(picked, chance)
    before = {name: values.copy() for name, values in now.items()}
    _change(before, chance)
    places = chance.permutation(len(picked))
    left, new = places[:COME_AND_GO], places[COME_AND_GO : 2 * COME_AND_GO]
    return _table(SNAPSHOT, picked, now, without=left), _table(BASELINE, picked, before, without=new)


def _values(picked: npt.NDArray[np.int64], chance: np.random.Generator) -> dict[str, npt.NDArray[np.int64]]:
    """The four fields as whole numbers; -1 means no value. A price is in thousandths."""
    count = len(picked)
    base = (picked * 7919) % 4000 * 10 + 990  # the pool's own price, in cents with an ending
    quantity = np.where(chance.random(count) < 0.1, 0, chance.geometric(0.04, count))
    return {
        "price": base + chance.integers(0, 3, count) * 100,
        "quantity": np.where(chance.random(count) < 0.005, -1, quantity),
        "active": (chance.random(count) < 0.93).astype(np.int64),
        "max_sales_quantity": np.where(chance.random(count) < 0.9, -1, chance.integers(1, 25, count)),
    }


def _change(values: dict[str, npt.NDArray[np.int64]], chance: np.random.Generator) -> None:
    count = len(values["price"])
    rows = chance.choice(count, int(count * CHANGED_SHARE) - 2 * COME_AND_GO, replace=False)
    shares = np.cumsum([0.70, 0.22, 0.05]) * len(rows)
    counted, priced, switched, limited = np.split(rows, shares.astype(int))
    values["quantity"][counted] += chance.integers(1, 9, len(counted))
    values["price"][priced] += chance.integers(1, 200, len(priced)) * 10
    values["active"][switched] = 1 - values["active"][switched]
    values["max_sales_quantity"][limited] = 99


def _table(
    schema: pa.Schema,
    picked: npt.NDArray[np.int64],
    values: dict[str, npt.NDArray[np.int64]],
    *,
    without: npt.NDArray[np.int64],
) -> pa.Table:
    kept = np.ones(len(picked), dtype=np.bool_)
    kept[without] = False
    numbers = {name: pa.array(column[kept], mask=column[kept] < 0) for name, column in values.items()}
    thousandths = numbers["price"].cast(pa.decimal128(19, 0))
    price = pc.multiply(thousandths, pa.scalar(Decimal("0.001"), pa.decimal128(4, 3))).cast(PRICE)
    skus = pc.utf8_lpad(pa.array(picked[kept]).cast(pa.string()), 8, "0")
    columns = {
        **numbers,
        "sku": skus,
        "barcode": pc.binary_join_element_wise(
            "40", pc.utf8_lpad(pa.array(picked[kept] * 9973).cast(pa.string()), 11, "0"), ""
        ),
        "price": price,
        "active": numbers["active"].cast(pa.bool_()),
    }
    absent = {field.name: pa.nulls(len(skus), field.type) for field in schema}
    return pa.Table.from_arrays([(absent | columns)[name] for name in schema.names], schema=schema)
