"""An extract far smaller than the last ones."""

from __future__ import annotations

from guard_cases import BEFORE, reasons, split, store
from shelfsync.catalog.guards.case import History


def test_an_extract_far_smaller_than_the_last_ones_holds_what_it_lacks():
    usual = History(rows=(1000, 1001, 990, 1003))
    now = store(range(160, 1000)) | store(range(200, 205), price="2.10")
    verdict = split(now, BEFORE, history=usual)
    assert reasons(verdict) == {"shrunken_extract": 160}
    assert verdict.released.num_rows == 5
    assert reasons(split(store(range(100, 1000)), BEFORE, history=usual)) == {}
    assert reasons(split(now, BEFORE, history=History(rows=(1000,)))) == {}, "one extract is no habit"


def test_a_smaller_extract_that_was_believed_is_what_is_usual_from_then_on():
    smaller = History(rows=(800, 1000, 1001, 990))
    assert reasons(split(store(range(3, 800)), store(range(800)), history=smaller)) == {}
