"""What a plan leaves alone, with the reason."""

from __future__ import annotations

import pyarrow as pa

from promotions_of import known
from shelfsync.promotions.head import EVERY
from shelfsync.promotions.left_alone import shared_with_others, undecided, unread


def test_a_held_price_keeps_the_promotion_that_its_new_name_would_end():
    held = pa.array(["a", "b", "c"])
    why = undecided("v1", held, [known("v2"), known("v1")], lambda _: pa.chunked_array([["b", "c", "d"]]))
    assert why is not None
    assert why.startswith("2 SKUs of it at vendor v1 are held or quarantined")
    assert undecided("v1", held, [known(EVERY)], lambda _: pa.array(["a"])) is not None


def test_nothing_is_kept_where_the_platform_has_none_of_the_held_skus():
    held = pa.array(["a"])
    assert undecided("v1", held, [], lambda _: held) is None
    assert undecided("v1", held, [known("v2")], lambda _: held) is None
    assert undecided("v1", held, [known("v1")], lambda _: None) is None
    assert undecided("v1", held, [known("v1")], lambda _: pa.array(["b"])) is None


def test_campaigns_of_a_vendor_that_could_not_be_read_stay_with_all_that_share_them():
    have = [known("v1", "v2", also=("c2",)), known("v3", campaign="c3"), known("v1", campaign="c4", state="ended")]
    assert unread(have, {"v1": "its file is empty"}) == dict.fromkeys(
        ("c1", "c2"), "vendor v1 could not be read: its file is empty"
    )
    assert set(unread([known(EVERY)], {"v9": "gone"})) == {"c1"}


def test_a_promotion_that_is_also_for_others_stays():
    assert set(shared_with_others([known("v1", "v2")], ("v1",))) == {"c1"}
    assert set(shared_with_others([known(EVERY)], ("v1",))) == {"c1"}
    for have in (known("v1"), known("v2"), known("v1", "v2", state="ended")):
        assert shared_with_others([have], ("v1",)) == {}
