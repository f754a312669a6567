"""For whom a row of a campaign is, and on which condition."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shelfsync.promotions.head import Heads
from shelfsync.promotions.normalise import Normalised, normalise
from shelfsync.promotions.schemas import RAW
from shelfsync.settings import PromotionSettings

ROW = {
    "vendor": "v",
    "campaign": "c1",
    "sku": "a",
    "price": "8",
    "name": "Spring",
    "start_time": "2026-03-02T10:00:00Z",
    "end_time": "2026-03-09T10:00:00Z",
}


def raw(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist([{"row_number": place + 1, **ROW, **row} for place, row in enumerate(rows)], schema=RAW)


def normal(*rows: dict[str, Any], **settings: Any) -> Normalised:
    own = PromotionSettings(**settings)
    return normalise(raw(*rows), Heads(own), own, sku_length_max=255)


def reasons(found: Normalised) -> dict[str, str]:
    return {row["sku"]: row["reason"] for row in found.quarantine.to_pylist()}


def test_what_is_not_for_everybody_or_has_a_condition_is_never_offered_and_has_its_reason():
    found = normal(
        {"sku": "a", "audience": "Everybody ", "condition": "none"},
        {"sku": "b", "audience": "CLUB"},
        {"sku": "c", "audience": "employees"},
        *({"sku": word, "condition": word} for word in ("coupon", "minimum_purchase", "basket_gift", "mix")),
        {"sku": "k", "condition": "BON"},
        {"sku": "x", "audience": "3"},
        {"sku": "y", "condition": "?"},
        {"sku": "z", "audience": "0"},
        audiences={"0": "everybody"},
        conditions={"bon": "coupon"},
    )
    assert found.rows["sku"].to_pylist() == ["a", "z"]
    words = {word: word for word in ("coupon", "minimum_purchase", "basket_gift", "mix")}
    assert reasons(found) == {
        "b": "club_only",
        "c": "staff_only",
        **words,
        "k": "coupon",
        "x": "audience_unknown",
        "y": "condition_unknown",
    }
    assert found.kept["sku"].to_pylist() == ["x", "y"], "what cannot be expressed does not stay either"
    assert sorted(found.unoffered["sku"].to_pylist()) == sorted({"b", "c", "k", *words})
