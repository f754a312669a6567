"""Which campaigns a promotion belongs to, and which promotions meet at a vendor."""

from __future__ import annotations

from shelfsync.promotions.head import EVERY
from shelfsync.promotions.known_promotion import campaigns_of, meet


def test_promotions_meet_where_they_share_a_vendor_or_one_is_of_every_vendor():
    assert meet(["a", "b"], ["b", "c"])
    assert not meet(["a"], ["b"])
    assert meet([EVERY], ["b"])
    assert not meet([EVERY], [])


def test_the_campaigns_of_a_merged_promotion_are_all_that_its_header_names():
    assert campaigns_of({"campaign": "c1", "also": ["c2"]}) == {"c1", "c2"}
    assert campaigns_of({}) == set()
