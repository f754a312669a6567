"""What several tests of the catalog use: a world that is in step, and a sink of metrics."""

from __future__ import annotations

import pytest

from shelfsync import metrics

PRODUCTS = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in ("a", "b")]


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
