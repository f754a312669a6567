"""For whom a row of a campaign is, and on which condition."""

from __future__ import annotations

from promotion_rows import normal, reasons


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
