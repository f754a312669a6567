"""What holds of diff, apply, guard and acknowledge for any two snapshots; computed a second time with plain dictionaries."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import fields_by_sku, log, quarantined, shelf
from catalog_strategies import BARCODES, SKUS, shelves
from shelfsync.catalog.baseline import with_accepted, with_delta_applied
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.guards.apply_guards import apply_guards
from shelfsync.catalog.guards.case import Case
from shelfsync.catalog.outcome import match
from shelfsync.schemas import BASELINE, DELTA, FIELDS, HELD
from shelfsync.settings import GuardSettings

SHELVES = shelves()
BY_BARCODE = shelves(BARCODES)
FULL = st.booleans()


def overlaid(snapshot, baseline, kept=frozenset()):
    """The desired state of the platform: the baseline, over it all values of the snapshot, and inactive what left."""
    new, old = fields_by_sku(snapshot), fields_by_sku(baseline)
    result = {}
    for sku in new.keys() | old.keys():
        if sku in new:
            if new[sku] or sku in old:
                result[sku] = {**old.get(sku, {}), **new[sku]}
        else:
            result[sku] = old[sku] if sku in kept else {**old[sku], "active": False}
    return result


@given(SHELVES, SHELVES, FULL)
def test_applying_the_delta_to_the_baseline_gives_the_snapshot(snapshot, baseline, full):
    delta = compute_delta(snapshot, baseline, full=full)
    assert fields_by_sku(with_delta_applied(delta, baseline)) == overlaid(snapshot, baseline)


@given(SHELVES, SHELVES, FULL)
def test_a_delta_has_its_shape_and_order(snapshot, baseline, full):
    delta = compute_delta(snapshot, baseline, full=full)
    skus = [sku.encode() for sku in delta["sku"].to_pylist()]
    assert delta.schema == DELTA
    assert skus == sorted(set(skus))
    assert with_delta_applied(delta, baseline).schema == BASELINE


@given(SHELVES)
def test_a_snapshot_does_not_differ_from_itself(shelf):
    assert compute_delta(shelf, shelf, full=False).num_rows == 0


@given(SHELVES, SHELVES)
def test_after_the_delta_is_applied_the_next_delta_is_empty(snapshot, baseline):
    after = with_delta_applied(compute_delta(snapshot, baseline, full=False), baseline)
    assert compute_delta(snapshot, after, full=False).num_rows == 0


@given(SHELVES, SHELVES)
def test_every_row_of_a_delta_changes_something(snapshot, baseline):
    old = fields_by_sku(baseline)
    for sku, sent in fields_by_sku(compute_delta(snapshot, baseline, full=False)).items():
        assert any(old.get(sku, {}).get(name) != value for name, value in sent.items())


@given(SHELVES, SHELVES)
def test_a_field_that_is_the_same_is_only_sent_as_a_co_sent_field(snapshot, baseline):
    old = fields_by_sku(baseline)
    delta = compute_delta(snapshot, baseline, full=False)
    for sku, sent in fields_by_sku(delta).items():
        for name, value in sent.items():
            same = old.get(sku, {}).get(name) == value
            goes_along = name == "quantity" and sent.get("active") is True
            keeps_off = name == "active" and "quantity" in sent and (value is False or delta.num_rows == 1)
            assert not same or goes_along or keeps_off


@given(SHELVES, SHELVES, FULL)
def test_true_never_goes_without_a_known_quantity_nor_a_quantity_to_what_is_off(snapshot, baseline, full):
    delta = compute_delta(snapshot, baseline, full=full)
    held_after = fields_by_sku(with_delta_applied(delta, baseline))
    for sku, sent in fields_by_sku(delta).items():
        if sent.get("active") is True:
            assert "quantity" in sent or "quantity" not in held_after[sku]
        if "quantity" in sent and held_after[sku].get("active") is False:
            assert sent["active"] is False
        if delta.num_rows == 1 and "quantity" in sent:
            assert "active" in sent or "active" not in held_after[sku]


@given(SHELVES, SHELVES)
def test_a_full_delta_contains_every_value_of_the_snapshot(snapshot, baseline):
    sent = fields_by_sku(compute_delta(snapshot, baseline, full=True))
    for sku, values in fields_by_sku(snapshot).items():
        assert not values or values.items() <= sent[sku].items()


@given(SHELVES, SHELVES)
def test_each_row_names_its_kind_of_change(snapshot, baseline):
    changed = set(compute_delta(snapshot, baseline, full=False)["sku"].to_pylist())
    here, before = set(snapshot["sku"].to_pylist()), set(baseline["sku"].to_pylist())
    off = {row["sku"] for row in baseline.to_pylist() if row["active"] is False}
    sent = compute_delta(snapshot, baseline, full=True).to_pylist()
    for row in sent:
        sku = row["sku"]
        left = "same" if sku in off else "removed"
        kind = left if sku not in here else "new" if sku not in before else "changed" if sku in changed else "same"
        assert row["change"] == kind
    assert before - here <= {row["sku"] for row in sent if row["active"] is False}, "what left is switched off again"


@given(SHELVES, SHELVES, st.sets(SKUS), FULL)
def test_a_sku_in_quarantine_keeps_what_was_acknowledged(snapshot, baseline, skus, full):
    skus -= set(snapshot["sku"].to_pylist())
    delta = compute_delta(snapshot, baseline, full=full, quarantined=quarantined(*sorted(skus)))
    assert fields_by_sku(with_delta_applied(delta, baseline)) == overlaid(snapshot, baseline, kept=skus)


@given(SHELVES, SHELVES)
def test_a_rejected_sku_is_not_sent_again_before_the_next_full_sync(snapshot, baseline):
    delta = compute_delta(snapshot, baseline, full=False)
    rejected_before = delta.select(["sku", *FIELDS])
    assert compute_delta(snapshot, baseline, full=False, rejected=rejected_before).num_rows == 0
    assert compute_delta(snapshot, baseline, full=True, rejected=rejected_before).equals(
        compute_delta(snapshot, baseline, full=True)
    )


@given(SHELVES, SHELVES, SHELVES)
def test_a_value_that_the_platform_never_rejected_is_sent(snapshot, baseline, rejected_before):
    without = fields_by_sku(compute_delta(snapshot, baseline, full=False))
    remaining = fields_by_sku(
        compute_delta(snapshot, baseline, full=False, rejected=rejected_before.drop_columns(["barcode"]))
    )
    then, before = fields_by_sku(rejected_before), fields_by_sku(baseline)
    for sku in without.keys() - remaining.keys():
        assert without[sku].items() <= then[sku].items() | before.get(sku, {}).items()
        assert without[sku].items() & then[sku].items()
        assert then[sku].items() <= overlaid(snapshot, baseline)[sku].items()


@given(BY_BARCODE, BY_BARCODE, FULL)
def test_by_barcode_no_product_that_is_still_there_is_switched_off(snapshot, baseline, full):
    delta = compute_delta(snapshot, baseline, full=full, key="barcode")
    here = {code.zfill(14) for code in snapshot["barcode"].to_pylist()}
    assert not [row for row in delta.to_pylist() if row["change"] == "removed" and row["barcode"].zfill(14) in here]


@given(BY_BARCODE, BY_BARCODE, FULL)
def test_by_barcode_no_two_switchings_off_are_called_the_same_and_all_come_in_turn(snapshot, baseline, full):
    here = {code.zfill(14) for code in snapshot["barcode"].to_pylist()}
    for _ in range(baseline.num_rows + 1):
        delta = compute_delta(snapshot, baseline, full=full, key="barcode")
        called = [row["barcode"].zfill(14) for row in delta.to_pylist() if row["change"] == "removed"]
        assert len(called) == len(set(called))
        baseline = with_delta_applied(delta, baseline)
    gone = set(baseline["sku"].to_pylist()) - set(snapshot["sku"].to_pylist())
    for row in baseline.to_pylist():
        assert row["sku"] not in gone or row["barcode"].zfill(14) in here or row["active"] is False


@given(BY_BARCODE, BY_BARCODE)
def test_by_barcode_a_new_barcode_sends_the_whole_sku(snapshot, baseline):
    sent = fields_by_sku(compute_delta(snapshot, baseline, full=False, key="barcode"))
    before = {row["sku"]: row["barcode"].zfill(14) for row in baseline.to_pylist()}
    for row in snapshot.to_pylist():
        if row["sku"] in before and before[row["sku"]] != row["barcode"].zfill(14):
            assert fields_by_sku(snapshot)[row["sku"]].items() <= sent.get(row["sku"], {}).items()


@given(SHELVES, SHELVES, st.floats(0, 1))
def test_what_is_released_and_what_is_held_are_together_the_delta(snapshot, baseline, share):
    delta = compute_delta(snapshot, baseline, full=False)
    limits = GuardSettings(mass_removal={"max_rows": 1, "max_share": share})
    split = apply_guards(Case("v", delta, snapshot, baseline, snapshot.num_rows, limits), only="mass_removal")
    assert split.released.schema == DELTA
    assert split.held.schema == HELD
    together = pa.concat_tables([split.released, split.held.select(DELTA.names).cast(DELTA)]).sort_by("sku")
    if split.released.num_rows == 1:  # then it may have a co-sent field
        together, delta = together.drop_columns(["active"]), delta.drop_columns(["active"])
    assert together.equals(delta)
    assert set(split.held["change"].to_pylist()) <= {"removed"}


@given(SHELVES, SHELVES, FULL)
def test_acknowledging_everything_accepted_is_applying_the_delta(snapshot, baseline, full):
    delta = compute_delta(snapshot, baseline, full=full)
    outcomes = match(delta, log(*({"sku": sku} for sku in delta["sku"].to_pylist())))
    assert with_accepted(baseline, delta, outcomes).equals(with_delta_applied(delta, baseline))


@given(SHELVES, SHELVES, st.lists(st.sampled_from(["accepted", "rejected", "unaccounted"]), min_size=10, max_size=10))
def test_only_what_was_accepted_moves_the_baseline(snapshot, baseline, states):
    delta = compute_delta(snapshot, baseline, full=False)
    skus = delta["sku"].to_pylist()
    outcomes = match(delta, log(*({"sku": sku, "state": state} for sku, state in zip(skus, states * 2, strict=False))))
    moved, sent, before = (
        fields_by_sku(with_accepted(baseline, delta, outcomes)),
        fields_by_sku(delta),
        fields_by_sku(baseline),
    )
    for sku, state in zip(skus, outcomes["state"].to_pylist(), strict=True):
        if state == "accepted":
            assert moved.pop(sku) == {**before.pop(sku, {}), **sent[sku]}
    assert moved == before


@given(SHELVES)
def test_nothing_accepted_moves_nothing(baseline):
    delta = compute_delta(shelf(), baseline, full=False)
    assert with_accepted(baseline, delta, match(delta, log())).equals(baseline)
