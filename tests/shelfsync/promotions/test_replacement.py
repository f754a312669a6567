"""A promotion ends after the one that replaces it is confirmed."""

from __future__ import annotations

import pytest

from promotions_of import known, wanted
from shelfsync.platform.jobs.table import State
from shelfsync.promotions.ledger.jobs import Making
from shelfsync.promotions.replacement import is_made, lacks, not_created, takes_place_of


def made(*states, there=True):
    return is_made([Making(State(state), ("v1",), there) for state in states])


@pytest.mark.parametrize(
    ("states", "found"),
    [
        ((), True),
        (("ACKNOWLEDGED",), True),
        (("ACKNOWLEDGED", "SUPERSEDED"), True),
        (("ACKNOWLEDGED", "PLANNED"), None),
        (("ACKNOWLEDGED", "SUBMITTING"), None),
        (("REJECTED", "PLANNED"), False),
        (("UNCONFIRMED", "ACKNOWLEDGED"), False),
    ],
)
def test_it_is_made_once_all_that_replaces_it_is_confirmed(states, found):
    assert made(*(state.lower() for state in states)) is found


def test_what_is_acknowledged_and_not_there_has_no_sku_that_the_platform_took():
    assert made("acknowledged", there=False) is False


@pytest.mark.parametrize(
    ("want", "takes"),
    [
        (wanted("v1", name="Easter"), True),
        (wanted("v2", "v1", days=(8, 20)), True),
        (wanted("v2"), False),
        (wanted("v1", days=(9, 20)), False),
        (wanted("v1", campaign="c2"), False),
        (wanted("v1", campaign="c2", also=("c1",)), True),
    ],
)
def test_one_takes_the_place_of_another_by_campaign_vendor_and_days(want, takes):
    assert takes_place_of(want, known("v1")) is takes


def test_a_promotion_stays_where_what_replaces_it_is_not_created():
    want = wanted("v1", "v2", name="Easter")
    for have, expected in (
        (known("v1", "v2", name="Easter", busy=True, state="failed"), {"c1": {"v1", "v2"}}),
        (known("v1", "v2", name="Easter", busy=True), {}),
        (known("v1", "v2", name="Easter"), {}),
    ):
        assert not_created([want], {have.identity: have}) == expected
    assert lacks(known("v2"), {"c1": {"v1", "v2"}})
    assert not lacks(known("v3"), {"c1": {"v1", "v2"}})
    assert not lacks(known("v1"), {"c2": {"v1"}})
