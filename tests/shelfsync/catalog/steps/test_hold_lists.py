from __future__ import annotations

from types import SimpleNamespace

from shelfsync.catalog.steps.hold_lists import by_vendor
from shelfsync.decisions.state import HoldState


def test_a_sentence_a_store_names_what_waits_and_what_is_decided_with_its_command():
    found = [
        SimpleNamespace(vendor="store-002", state=HoldState.OPEN, rows=1_200),
        SimpleNamespace(vendor="store-002", state=HoldState.EXPIRED, rows=3),
        SimpleNamespace(vendor="store-001", state=HoldState.DECLINED, rows=2),
    ]
    assert by_vendor(found) == {
        "store-001": "2 changes are held by a guard (1 declined or expired: `shelfsync holds list --state held`)",
        "store-002": "1,203 changes are held by a guard (1 holds to decide: `shelfsync holds list`;"
        " 1 declined or expired: `shelfsync holds list --state held`)",
    }
