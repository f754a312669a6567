"""What several tests of the catalog use: worlds that are in step, a source of one Parquet file, and a sink of metrics."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shelfsync import metrics
from two_products import PRODUCTS


@pytest.fixture
def in_step(make_world):
    """Two vendors, whose last run compared their rows and changed nothing."""

    def make(**sections):
        world = make_world(**sections)
        for vendor in ("store-001", "store-002"):
            world.platform.put_products(vendor, PRODUCTS)
            for sku in ("a", "b"):
                world.erp.put(vendor, sku, "1.00")
        world.sync("full")
        world.sync()
        return world

    return make


class RecordingSink:
    """A metrics sink that stores every value."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.gauges: dict[str, float] = {}
        self.timings: list[str] = []

    def count(self, name: str, by: int) -> None:
        self.counts[name] = self.counts.get(name, 0) + by

    def gauge(self, name: str, value: float) -> None:
        self.gauges[name] = value

    def timing(self, name: str, seconds: float) -> None:
        assert seconds >= 0
        self.timings.append(name)


@pytest.fixture
def metrics_sink():
    sink = RecordingSink()
    metrics.use(sink)
    yield sink
    metrics.use(None)


@pytest.fixture
def parquet_stock(make_world, tmp_path):
    """`parquet_stock(**settings)`: a world over one Parquet file; `parquet_stock.write(columns)` writes it."""
    file = tmp_path / "stock.parquet"

    def write(**columns):
        rows = {"vendor": ["store-001"], "sku": ["a"], **columns}
        pq.write_table(pa.table(rows), file)

    def open_stock(**settings):
        world = make_world(erp={"url": None, "sql": None, "files": str(file), **settings})
        world.platform.put_products("store-001", [{"sku": "a", "title": "A", "price": 9.99, "active": True}])
        return world

    open_stock.write = write
    return open_stock


@pytest.fixture
def buffered_shop(make_world):
    """Three products whose sales buffer of 3 is known; a full sync has acknowledged them."""
    product = {"barcodes": [], "title": "A", "price": 9.99, "active": True, "sales_buffer": 3}
    world = make_world(suppression={"sales_buffer": 3})
    world.platform.put_products("store-001", [{**product, "sku": sku} for sku in ("a", "b", "c")])
    for sku in ("a", "b", "c"):
        world.erp.put("store-001", sku, "1.00", 10, 1, 5)
    world.sync("full")
    return world
