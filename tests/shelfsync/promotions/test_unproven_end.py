"""Without a proof of the extract, a campaign that it lacks ends nowhere."""

from __future__ import annotations

import pytest

from promotions_of import day, known, wanted
from shelfsync.promotions.unproven_end import unproven

NOW = day(3)


def stays(have, *, asked=(), held=frozenset(), unoffered=()):
    return set(unproven([have], {one.identity for one in asked}, held, unoffered, NOW))


def test_a_campaign_that_would_end_stays_as_it_is():
    assert stays(known("v1")) == {"c1"}
    assert stays(known("v1"), asked=[wanted("v1", days=(2, 10))]) == {"c1"}, (
        "another end may be a row that the file lacks"
    )


@pytest.mark.parametrize(
    "have",
    [known("v1", state="ended"), known("v1", state="new"), known("v1", days=(1, 3))],
    ids=["ended", "new", "over"],
)
def test_what_the_platform_does_not_have_any_more_needs_no_proof(have):
    assert stays(have) == set()


def test_what_the_erp_still_wants_and_what_is_left_alone_anyway_are_not_named():
    assert stays(known("v1"), asked=[wanted("v1")]) == set()
    assert stays(known("v1"), held=frozenset({"c1"})) == set()


def test_what_cannot_be_offered_ends_without_a_proof():
    assert stays(known("v1", "v2"), unoffered=[("c1", "v2")]) == set()
    assert stays(known("v1", "v2"), unoffered=[("c1", "v3"), ("c2", "v1")]) == {"c1"}
