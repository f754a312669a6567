"""Promotions of one name get numbers, and keep them."""

from __future__ import annotations

import pytest

from promotions_of import head
from shelfsync.promotions.group import Group
from shelfsync.promotions.promotion_name import Named, derived_from, derived_name, numbered, numbers

SPRING = (("de_DE", "Frühling"), ("en_GB", "Spring"))


def named(*campaigns, number=1, **of_head):
    header = head(campaigns[0], **of_head).as_json()
    shown = derived_name(tuple(sorted(header["display_name"].items())), number)
    return Named(("v1",), campaigns, {**header, "display_name": dict(shown)})


def test_the_first_has_the_name_itself_and_the_second_a_number_in_each_language():
    assert derived_name(SPRING, 1) == SPRING
    assert derived_name(SPRING, 2) == (("de_DE", "Frühling (2)"), ("en_GB", "Spring (2)"))


@pytest.mark.parametrize(
    ("shown", "numbers"),
    [
        ({"en_GB": "Spring"}, [1]),
        ({"en_GB": "Spring (2)"}, [1, 2]),
        ({"de_DE": "Frühling (3)", "en_GB": "Spring (3)"}, [1, 3]),
        ({"de_DE": "Frühling", "en_GB": "Spring (3)"}, [1]),
        ({"en_GB": "Spring (1)"}, [1]),
        ({"en_GB": "Spring (02)"}, [1]),
        ({}, []),
    ],
)
def test_a_name_may_be_its_own_or_a_numbered_one(shown, numbers):
    assert [number for _, number in derived_from({"display_name": shown})] == numbers


def test_a_promotion_that_the_platform_has_keeps_its_number():
    place = (head().display_name, ("v1",), head().as_json()["start_time"], head().as_json()["end_time"])
    there = numbered([named("c1"), named("c2", number=2)])[place]
    assert sorted(there) == [1, 2]
    groups = [Group(head(campaign), "entries", 1) for campaign in ("c2", "c3", "c1")]
    assert numbers(groups, there) == [2, 3, 1]


def test_the_same_offer_fits_before_the_same_campaign():
    there = {1: named("c1"), 2: named("c2", items=3)}
    assert numbers([Group(head("c1", items=3), "entries", 1)], there) == [2]
    assert numbers([Group(head("c1", items=4), "entries", 1)], there) == [1]
    assert numbers([Group(head("c9", items=4), "entries", 1, campaigns={"c2"})], there) == [2]


def test_a_new_one_takes_the_first_number_that_no_wanted_one_keeps():
    there = {1: named("c1"), 2: named("c2", items=3)}
    groups = [
        Group(head(campaign, items=items), "entries", 1) for campaign, items in (("c8", 8), ("c1", None), ("c9", 9))
    ]
    assert numbers(groups, there) == [2, 1, 3]
