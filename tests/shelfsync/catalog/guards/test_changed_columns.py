"""Changes that come with other columns of the ERP."""

from __future__ import annotations

from guard_cases import BEFORE, reasons, split, store
from shelfsync.catalog.guards.case import History


def test_every_change_is_held_if_the_columns_are_other_ones():
    other = History(columns=("the column vat is new",))
    verdict = split(BEFORE | store(range(3), price="2.10"), BEFORE, history=other)
    assert reasons(verdict) == {"changed_columns": 3}
    assert "the column vat is new" in verdict.held_changes[0].message
    assert reasons(split(BEFORE | store(range(3), price="2.10"), BEFORE)) == {}
