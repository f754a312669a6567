"""Whatever the head of one promotion holds: it is a head, or a fault of this campaign alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz_minute import BRIEFLY, for_a_minute
from shelfsync.promotions import head as heads
from shelfsync.promotions.head import Fault, Heads
from shelfsync.promotions.identity import identity
from shelfsync.promotions.schemas import HEAD
from shelfsync.settings import PromotionSettings

GOOD = {
    "campaign": "c1",
    "name": "Spring",
    "start_time": "2026-03-01T10:00:00Z",
    "end_time": "2026-03-02T10:00:00Z",
    "purchased_quantity": "2",
}
CORPUS = (
    "{" * 50_000,
    '{"a":' * 2_000,
    '{"en_US": "x"}',
    "{}",
    "1" + "0" * 5_000,
    "000000000001" + "9" * 5_000,
    "1e-999999999",
    "1e999999999",
    "sNaN",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "\0",
    "\ud800",
    "\u0661",
    "",
    None,
)
texts = st.one_of(st.none(), st.text(), st.sampled_from(CORPUS), st.integers().map(str), st.datetimes().map(str))
STANDARD = dict.fromkeys(HEAD) | GOOD


@BRIEFLY
@given(changes=st.dictionaries(st.sampled_from(HEAD), texts))
@example(changes={"purchased_quantity": "000000000001" + "9" * 5_000})
@example(changes={"name": '{"a":' * 2_000})
@example(changes={"name": r'{"en_GB": "\ud83c"}'})
@example(changes={"max_discount_per_order": "1e-999999999"})
def test_any_head_is_one_or_a_fault(changes):
    every = Heads(PromotionSettings())
    found = every.find(STANDARD | changes)
    assert isinstance(found, Fault) or identity(every.all[found], ["store-001"])


def test_a_name_with_half_of_a_character_is_a_fault_of_its_campaign():
    """A tool that cuts a name after so many UTF-16 units leaves half of an emoji."""
    found = Heads(PromotionSettings()).find(STANDARD | {"name": r'{"en_GB": "Spring \ud83c"}'})
    assert (found.campaign, found.reason) == ("c1", "name_text")


def test_a_head_that_raises_anything_is_a_fault_of_its_campaign(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    every = Heads(PromotionSettings())
    assert every.find(STANDARD) == 0
    monkeypatch.setattr(heads, "_head", broken)
    found = every.find(STANDARD | {"campaign": "c2"})
    assert (found.campaign, found.reason) == ("c2", "campaign_unreadable")


@pytest.mark.parametrize("campaign", ["a\0b", "a\x1fb", "x" * 256])
def test_a_campaign_that_is_no_identifier_freezes_nothing_and_is_named_nowhere(campaign):
    found = Heads(PromotionSettings()).find(STANDARD | {"campaign": campaign})
    assert (found.campaign, found.reason) == (None, "campaign_characters")
    assert found.message.isprintable()


@pytest.mark.parametrize(
    "campaign",
    ["c1\u200b", "c1\u00a0", "\ufeffc1", "'c1", '="c1"', "c\u00ad1", "c\uff11", '"c1"', "c1\u202c"],
)
def test_a_campaign_that_only_looks_like_another_one_freezes_both(campaign):
    found = Heads(PromotionSettings()).find(STANDARD | {"campaign": campaign})
    assert (found.field, found.reason, found.resembled) == ("campaign", "campaign_odd", "c1")
    assert "is another id only to a machine" in found.message
    assert found.message.isprintable()
    assert Heads(PromotionSettings(), odd_ids=True).find(STANDARD | {"campaign": campaign}) == 0


@pytest.mark.parametrize("campaign", ["c1", " c1 ", "C-1/2", "été", "Бонус", "春の市"])
def test_a_campaign_in_any_one_script_is_none_that_only_looks_like_another(campaign):
    assert Heads(PromotionSettings()).find(STANDARD | {"campaign": campaign}) == 0


@pytest.mark.proof
@pytest.mark.slow
def test_for_a_minute():
    assert for_a_minute(test_any_head_is_one_or_a_fault) > 0


def test_heads_that_differ_in_a_count_that_one_of_them_lacks_have_an_order():
    window = {"start_time": "2026-11-24T00:00:00", "end_time": "2026-11-25T00:00:00"}
    texts = dict.fromkeys(HEAD) | {"campaign": "c", "name": "Offer"} | window
    heads = Heads(PromotionSettings(values="spec"))
    for more in ({}, {"max_items_per_order": "2"}, {"type": "SAME_ITEM_BUNDLE", "purchased_quantity": "1", "discounted_quantity": "1"}, {"pieces": "2"}):  # fmt: skip
        heads.find({**texts, **more})
    assert [head.type for head in sorted(heads.all)] == ["SAME_ITEM_BUNDLE"] * 2 + ["STRIKETHROUGH"] * 2
