"""Suppression of no-ops for any baseline, snapshots and buffers: a naive platform in plain dictionaries shows the same."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import fields_by_sku, shelf
from catalog_strategies import SKUS
from shelfsync.catalog.baseline import with_delta_applied
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.sales_buffers import KNOWN_BUFFERS, Buffers
from shelfsync.catalog.suppression import suppress_no_ops, with_buffers
from shelfsync.schemas import BASELINE, DELTA, FIELDS

FEW = st.integers(0, 4)
ROWS = st.fixed_dictionaries(
    {
        "price": st.sampled_from([None, "1.5", "2.5"]),
        "quantity": st.none() | FEW,
        "active": st.sampled_from([None, True, True, False]),
        "max_sales_quantity": st.sampled_from([None, 3]),
        "sales_buffer": st.none() | FEW,
    }
)
SHELVES = st.dictionaries(SKUS, ROWS, max_size=8).map(
    lambda rows: shelf(*({"sku": sku, **row} for sku, row in rows.items()))
)
BUFFERS = st.dictionaries(SKUS, st.integers(0, 3), max_size=10)
AT = st.sampled_from(["activates", "deactivates"])


def buffers(known, at="activates"):
    rows = [{"sku": sku, "sales_buffer": pieces} for sku, pieces in sorted(known.items())]
    return Buffers(pa.Table.from_pylist(rows, schema=KNOWN_BUFFERS), at)


class Platform:
    """Rules of interface.md 2.1: active false is off, else a quantity decides by the buffer, else active true is on."""

    def __init__(self, known, at):
        self.known, self.at, self.shown = known, at, {}

    def take(self, delta):
        for sku, item in fields_by_sku(delta).items():
            here = self.shown.setdefault(sku, {"on": True})
            here |= {name: item[name] for name in ("price", "max_sales_quantity") if name in item}
            if item.get("active") is False:
                here["on"] = False
            elif "quantity" in item:
                pieces = item["quantity"] + (self.at == "activates")
                here["on"] = pieces > self.known.get(sku, 1)
            elif item.get("active"):
                here["on"] = True


@given(st.lists(SHELVES, min_size=1, max_size=5), BUFFERS, AT, st.data())
def test_the_platform_shows_the_same_as_if_everything_had_been_sent(snapshots, known, at, data):
    known_buffers = buffers(
        {sku: pieces for sku, pieces in known.items() if data.draw(st.booleans(), label=f"known {sku}")}, at
    )
    frugal, lavish = Platform(known, at), Platform(known, at)
    few = all_of_it = BASELINE.empty_table()
    for number, snapshot in enumerate(snapshots):
        full = number == 0 or data.draw(st.booleans(), label="full")
        everything = compute_delta(snapshot, all_of_it, full=full)
        lavish.take(everything)
        all_of_it = with_delta_applied(everything, all_of_it)
        delta = compute_delta(snapshot, few, full=full)
        delta = (
            with_buffers(delta, known_buffers) if full else suppress_no_ops(delta, few, snapshot, known_buffers).delta
        )
        frugal.take(delta)
        few = with_delta_applied(delta, few)
        assert frugal.shown == lavish.shown


@given(SHELVES, SHELVES, BUFFERS, AT)
def test_sent_and_suppressed_values_together_are_the_delta(snapshot, baseline, known, at):
    whole = compute_delta(snapshot, baseline, full=False)
    split = suppress_no_ops(whole, baseline, snapshot, buffers(known, at))
    left, suppressed = fields_by_sku(split.delta), fields_by_sku(split.suppressed)
    assert split.delta.schema == split.suppressed.schema == DELTA
    for sku, item in fields_by_sku(whole).items():
        together = {**left.get(sku, {}), **suppressed.get(sku, {})}
        news = {name: value for name, value in item.items() if fields_by_sku(baseline).get(sku, {}).get(name) != value}
        assert news.items() <= together.items()
    assert left.keys() | suppressed.keys() == fields_by_sku(whole).keys() | left.keys()
    assert all(item.keys() == {"quantity"} for item in suppressed.values())


@given(SHELVES, SHELVES, AT)
def test_without_a_known_buffer_nothing_is_suppressed(snapshot, baseline, at):
    whole = compute_delta(snapshot, baseline, full=False)
    split = suppress_no_ops(whole, baseline, snapshot, buffers({}, at))
    assert split.delta.equals(whole)
    assert split.suppressed.num_rows == 0


@given(SHELVES, SHELVES, BUFFERS, AT, st.data())
def test_a_quantity_that_is_unknown_in_the_baseline_is_always_sent(snapshot, baseline, known, at, data):
    rows = [
        row | ({"quantity": None} if data.draw(st.booleans(), label=row["sku"]) else {}) for row in baseline.to_pylist()
    ]
    doubtful = {row["sku"] for row in rows if row["quantity"] is None}
    baseline = pa.Table.from_pylist(rows, schema=BASELINE)
    split = suppress_no_ops(compute_delta(snapshot, baseline, full=False), baseline, snapshot, buffers(known, at))
    assert not doubtful & set(fields_by_sku(split.suppressed))


@given(SHELVES, SHELVES, BUFFERS, AT)
def test_suppression_adds_only_values_for_a_changed_buffer(snapshot, baseline, known, at):
    whole = fields_by_sku(compute_delta(snapshot, baseline, full=False))
    wanted, before = fields_by_sku(snapshot), fields_by_sku(baseline, "sales_buffer")
    for sku, item in fields_by_sku(
        suppress_no_ops(compute_delta(snapshot, baseline, full=False), baseline, snapshot, buffers(known, at)).delta
    ).items():
        added = item.keys() - whole.get(sku, {}).keys()
        assert added <= {"quantity", "active"}
        if "quantity" in added:
            assert item["quantity"] == wanted[sku]["quantity"] == before[sku]["quantity"]
            assert before[sku]["sales_buffer"] != known[sku]


@given(SHELVES, SHELVES, BUFFERS)
def test_a_buffer_is_acknowledged_with_the_quantity_that_was_sent(snapshot, baseline, known):
    delta = with_buffers(compute_delta(snapshot, baseline, full=True), buffers(known))
    after = {row["sku"]: row for row in with_delta_applied(delta, baseline).to_pylist()}
    for sku, item in fields_by_sku(delta).items():
        if "quantity" in item:
            assert after[sku]["sales_buffer"] == known.get(sku)


@given(SHELVES, SHELVES)
def test_a_table_from_before_the_buffers_is_read_like_one_without(snapshot, baseline):
    older = baseline.select(["sku", "barcode", *FIELDS])
    delta = compute_delta(snapshot, older, full=False)
    assert delta.equals(compute_delta(snapshot, baseline, full=False))
    assert with_delta_applied(delta.drop_columns(["sales_buffer"]), older).schema == BASELINE
