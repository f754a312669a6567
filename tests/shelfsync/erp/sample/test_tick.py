"""A week of the sample ERP, sent twice: everything, and without the quantities that change nothing. The customer sees no difference.

The steps are the real ones from the ERP's rows to the bytes of the bodies. The platform gets those bytes and is section 2.1 of the
interface in plain dictionaries.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from shelfsync.catalog import priority_split
from shelfsync.catalog.baseline import with_accepted
from shelfsync.catalog.bodies import cut
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.sales_buffers import Buffers, Rule, known_buffers
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.catalog.suppression import suppress_no_ops, with_buffers
from shelfsync.erp import sample
from shelfsync.schemas import BASELINE, OUTCOME
from shelfsync.settings import NormaliseSettings

pytestmark = pytest.mark.slow

QUARTERS_A_DAY = 96
FULL_AT = 12  # the full sync of 03:07 is the first run after it


class Shop:
    """A vendor's way to the platform, and the platform with what a customer sees."""

    def __init__(self, buffers: dict[str, int], *, frugal: bool) -> None:
        self.of, self.frugal = buffers, frugal
        self.rules = [Rule(1), *(Rule(pieces, sku=sku) for sku, pieces in buffers.items())]
        self.baseline = BASELINE.empty_table()
        self.seen: dict[str, dict[str, Any]] = {}
        self.quantities = self.bytes = self.jobs = 0

    def run(self, snapshot: pa.Table, *, full: bool) -> None:
        buffers = Buffers(known_buffers(snapshot, "store-001", self.rules))
        delta = compute_delta(snapshot, self.baseline, full=full)
        if self.frugal and not full:
            delta = suppress_no_ops(delta, self.baseline, snapshot, buffers).delta
        else:
            delta = with_buffers(delta, buffers)
        if not full:
            self.quantities += len(delta) - delta["quantity"].null_count
        for part in priority_split.parts(delta, self.baseline, together_max=1000):
            for piece in cut(
                part.rows, key="sku", sales_limit_name="maximum_sales_quantity", body_max_bytes=100_000_000
            ):
                self._put(bytes(piece.body))
                words = {"state": "accepted", "reason": None, "raw": None}
                rows = [{"sku": sku, **words} for sku in piece.items["sku"].to_pylist()]
                self.baseline = with_accepted(self.baseline, piece.items, pa.Table.from_pylist(rows, schema=OUTCOME))
                self.bytes += 0 if full else piece.body_bytes
                self.jobs += not full

    def _put(self, body: bytes) -> None:
        items = json.loads(body, parse_float=str)["products"]
        for item in items:
            here = self.seen.setdefault(item["sku"], {"on": True})
            here |= {name: item[name] for name in ("price", "maximum_sales_quantity") if name in item}
            if item.get("active") is False:
                here["on"] = False
            elif "quantity" in item and len(items) > 1:  # an older FAQ: alone, a quantity switches nothing
                here["on"] = item["quantity"] >= self.of.get(item["sku"], 1)
            elif item.get("active"):
                here["on"] = True


def week(erp_engine, read, erp_url, *, quarters, skus):
    sample.create(erp_engine, seed=7, vendors=1, skus_per_vendor=skus)
    shelf = sample.assortment(erp_engine, unknown_share=0)["store-001"]
    buffers = {product["sku"]: product["sales_buffer"] for product in shelf}
    lavish, frugal = Shop(buffers, frugal=False), Shop(buffers, frugal=True)
    crossed = 0
    for quarter in range(quarters):
        if quarter:
            sample.tick(erp_engine, quarter)
        rows = pa.concat_tables(read(url=erp_url, sql_file=sample.SELECT_FILE).chunks)
        snapshot = make_snapshot(rows, NormaliseSettings()).snapshot
        full = quarter % QUARTERS_A_DAY == FULL_AT or not quarter
        before = {sku: seen["on"] for sku, seen in lavish.seen.items()}
        lavish.run(snapshot, full=full)
        frugal.run(snapshot, full=full)
        assert frugal.seen == lavish.seen, f"quarter {quarter}"
        crossed += sum(before.get(sku) != seen["on"] for sku, seen in lavish.seen.items())
    return lavish, frugal, crossed


@pytest.mark.proof
def test_a_week_shows_every_customer_the_same_and_saves_most_stock_changes(erp_engine, read, erp_url, capsys):
    lavish, frugal, crossed = week(erp_engine, read, erp_url, quarters=7 * QUARTERS_A_DAY, skus=2_000)
    with capsys.disabled():
        print(
            f"\nall: {lavish.quantities:,} quantities, {lavish.bytes:,} bytes, {lavish.jobs} jobs;"
            f" with effect: {frugal.quantities:,} quantities, {frugal.bytes:,} bytes, {frugal.jobs} jobs; {crossed:,} switched"
        )
    assert crossed > 1_000
    assert frugal.quantities < 0.5 * lavish.quantities


def test_half_a_day_shows_every_customer_the_same(erp_engine, read, erp_url):
    lavish, frugal, crossed = week(erp_engine, read, erp_url, quarters=48, skus=400)
    assert crossed > 20
    assert frugal.quantities < 0.5 * lavish.quantities
