"""Reconcile: each difference once, with a cause and a sentence. The next delta sends it again; the baseline does not claim it."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from catalog_rows import snapshot
from catalog_strategies import PRICES, SKUS, shelves
from shelfsync.catalog.confirmed_by_export import with_confirmed
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.drift import differences
from shelfsync.catalog.drift_action import with_resends
from shelfsync.catalog.drift_cause import CAUSES, Evidence, find_causes
from shelfsync.catalog.sales_buffers import KNOWN_BUFFERS, Buffers
from shelfsync.schemas import DRIFT, FIELDS, OBSERVED, SENDING

_shown = st.fixed_dictionaries(
    {
        "price": st.none() | PRICES,
        "active": st.booleans(),
        "max_sales_quantity": st.none() | st.integers(0, 3),
    }
)
_exports = st.dictionaries(SKUS, _shown, max_size=10).map(
    lambda found: pa.Table.from_pylist(
        [{"sku": sku, **found[sku]} for sku in sorted(found, key=str.encode)], schema=OBSERVED
    )
)
_sending = st.fixed_dictionaries(
    {
        "job": st.integers(1, 5),
        "sku": SKUS,
        "price": st.none() | PRICES,
        "quantity": st.none() | st.integers(0, 3),
        "active": st.none() | st.booleans(),
        "max_sales_quantity": st.none() | st.integers(0, 3),
        "state": st.sampled_from(["accepted", "rejected", "unaccounted"]),
        "late": st.booleans(),
    }
)
_sendings = st.lists(_sending, max_size=8).map(
    lambda rows: pa.Table.from_pylist(sorted(rows, key=lambda row: row["job"]), schema=SENDING)
)
_reasons = st.dictionaries(SKUS, st.just("because"), max_size=3)


def _wanted(table):
    return snapshot(*table.to_pylist())


@st.composite
def _cases(draw):
    observed, baseline, previous = draw(_exports), draw(shelves()), draw(st.none() | _exports)
    desired = draw(st.none() | shelves().map(_wanted))
    found = differences(observed, baseline, desired, previous=previous, complete=draw(st.booleans()))
    evidence = Evidence(draw(_sendings), draw(_reasons), draw(_reasons), draw(st.booleans()))
    return observed, baseline, desired, evidence, find_causes(found, evidence)


@given(_cases())
def test_every_difference_has_one_cause_and_a_sentence(case):
    *_, result = case
    assert result.drift.schema == DRIFT
    rows = result.drift.to_pylist()
    keys = [(row["sku"], row["field"]) for row in rows]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & set(result.confirmed)
    for row in rows:
        assert row["cause"] in CAUSES
        assert row["message"]
        expected = {row["desired"], row["acknowledged"]} - {None}
        assert expected - {row["observed"]}, "nothing is wanted or was acknowledged that is not shown"


@given(_cases())
def test_a_sku_that_the_platform_rejects_and_does_not_list_is_rejected_however_late_it_was_sent(case):
    *_, evidence, result = case
    for row in result.drift.to_pylist():
        if row["field"] == "sku" and row["sku"] in evidence.rejected:
            assert row["cause"] == "rejected"


@given(_cases())
def test_a_resent_value_is_unknown_and_all_others_stay(case):
    _, baseline, _, _, result = case
    after = with_resends(baseline, result.drift)
    assert after["sku"].equals(baseline["sku"])
    touched = {(row["sku"], row["field"]) for row in result.drift.to_pylist()}
    for then, now in zip(baseline.to_pylist(), after.to_pylist(), strict=True):
        sku = then["sku"]
        for name in FIELDS:
            by = {"quantity": "active"}.get(name, name)
            lost = (sku, by) in touched or (sku, "sku") in touched
            assert now[name] == (None if lost else then[name])


@given(_cases())
def test_the_next_delta_sends_every_value_that_is_to_be_resent(case):
    _, baseline, desired, _, result = case
    assume(desired is not None)
    known = set(baseline["sku"].to_pylist())
    wanted = {row["sku"]: row for row in desired.to_pylist()}
    delta = compute_delta(desired, with_resends(baseline, result.drift), full=False)
    sent = {row["sku"]: row for row in delta.to_pylist()}
    for row in result.drift.to_pylist():
        sku, name = row["sku"], row["field"]
        if sku in known and name in FIELDS and wanted.get(sku, {}).get(name) is not None:
            assert sent[sku][name] == wanted[sku][name]


@given(_cases())
def test_only_the_last_unconfirmed_value_is_confirmed_and_only_by_the_export(case):
    observed, baseline, _, evidence, result = case
    shown = {row["sku"]: row for row in observed.to_pylist()}
    for sku, name in result.confirmed:
        sent = [row for row in evidence.sendings.to_pylist() if row["sku"] == sku]
        about = [row for row in sent if row[name] is not None or (name == "active" and row["quantity"] is not None)]
        assert not any(row["late"] for row in about)
        assert (about[-1]["state"], about[-1][name]) == ("unaccounted", shown[sku][name])
    after = with_confirmed(baseline, observed, result.confirmed)
    for then, now in zip(baseline.to_pylist(), after.to_pylist(), strict=True):
        for name in FIELDS:
            there = (then["sku"], name) in result.confirmed
            assert now[name] == (shown[then["sku"]][name] if there else then[name])
            assert not there or then[name] is None  # an acknowledged value is never overwritten by what is seen


@given(shelves(), st.booleans())
def test_where_all_three_agree_nothing_differs(baseline, complete):
    rows = [row for row in baseline.to_pylist() if None not in (row["price"], row["active"], row["max_sales_quantity"])]
    baseline = baseline.slice(0, 0) if not rows else pa.Table.from_pylist(rows, schema=baseline.schema)
    shown = [{**row, "active": row["active"] and row["quantity"] != 0} for row in rows]
    observed = pa.Table.from_pylist([{name: row[name] for name in OBSERVED.names} for row in shown], schema=OBSERVED)
    found = differences(observed, baseline, _wanted(baseline), previous=observed, complete=complete)
    result = find_causes(found, Evidence(SENDING.empty_table()))
    assert result.drift.to_pylist() == []
    assert result.confirmed == ()


@given(shelves(), st.booleans(), st.integers(0, 3))
def test_a_quantity_that_the_buffer_keeps_off_sale_must_show_so(baseline, complete, buffer):
    rows = [row for row in baseline.to_pylist() if None not in (row["price"], row["active"], row["max_sales_quantity"])]
    baseline = baseline.slice(0, 0) if not rows else pa.Table.from_pylist(rows, schema=baseline.schema)
    shown = [{name: row[name] for name in OBSERVED.names} | {"active": True} for row in rows]
    observed = pa.Table.from_pylist(shown, schema=OBSERVED)
    known = pa.Table.from_pylist([{"sku": row["sku"], "sales_buffer": buffer} for row in rows], schema=KNOWN_BUFFERS)
    for buffers, least in ((None, 1), (Buffers(known), buffer)):
        found = differences(
            observed, baseline, _wanted(baseline), previous=observed, complete=complete, buffers=buffers
        )
        wrong = {row["sku"] for row in find_causes(found, Evidence(SENDING.empty_table())).drift.to_pylist()}
        off = {
            row["sku"] for row in rows if not row["active"] or (row["quantity"] is not None and row["quantity"] < least)
        }
        assert wrong == off
