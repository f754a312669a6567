"""What makes a promotion the same one."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from promotions_of import head
from shelfsync.promotions.identity import identity


def test_its_vendors_have_no_order():
    assert identity(head(), ["b", "a", "a"]) == identity(head(), ["a", "b"]) != identity(head(), ["a"])


@pytest.mark.parametrize("name", ["start", "end"])
def test_another_day_makes_another_promotion(name):
    moved = replace(head(), **{name: getattr(head(), name) + dt.timedelta(days=1)})
    assert identity(moved, ["a"]) != identity(head(), ["a"])


def test_another_campaign_with_the_same_offer_is_the_same_promotion():
    assert identity(replace(head(), campaign="another"), ["a"]) == identity(head(), ["a"])
