"""What goes off sale, switched off or missing, is counted together."""

from __future__ import annotations

from guard_cases import BEFORE, reasons, split, store
from shelfsync.settings import GuardSettings


def test_switching_many_off_is_held_and_few_is_not():
    assert reasons(split(BEFORE | store(range(300), active=False), BEFORE)) == {}
    assert reasons(split(BEFORE | store(range(301), active=False), BEFORE)) == {"mass_deactivation": 301}


def test_switching_off_and_leaving_are_added_up():
    now = store(range(200, 1000)) | store(range(300, 450), active=False)
    assert reasons(split(now, BEFORE)) == {"mass_deactivation": 350}


def test_few_that_are_switched_off_go_while_many_removals_wait():
    now = store(range(400, 1000)) | store(range(500, 503), active=False)
    verdict = split(now, BEFORE)
    assert reasons(verdict) == {"mass_removal": 400}
    assert verdict.released.num_rows == 3


def test_what_was_off_already_counts_for_nothing():
    before = store(range(1000), active=False)
    assert reasons(split(store(range(100), active=False), before, full=True)) == {}


def test_what_goes_off_sale_is_held_without_its_new_price():
    nothing_left = store(range(1000), quantity=0) | store(range(3), quantity=0, price="2.10")
    released = split(nothing_left, BEFORE).released.to_pylist()
    assert [(row["sku"], row["quantity"], row["active"]) for row in released] == [
        (f"S000{number}", None, None) for number in range(3)
    ]
    closed = store(range(600), active=False, price="2.10") | store(range(600, 1000))
    verdict = split(closed, BEFORE, limits=GuardSettings(mass_repricing={"enabled": False}))
    assert reasons(verdict) == {"mass_deactivation": 600}
    assert {(row["active"], row["quantity"]) for row in verdict.released.to_pylist()} == {(None, None)}
