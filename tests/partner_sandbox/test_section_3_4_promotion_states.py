"""interface.md 3.4: the states that the partner portal shows, by the clock."""

from __future__ import annotations

from promotion_bodies import HOUR, final


def states(platform) -> list[str]:
    return [found["state"] for found in platform.control("GET", "chains/demo-chain/promotions")["promotions"]]


def test_a_promotion_is_upcoming_then_running_then_ended(picker, platform, promote):
    promote(final(1.0, "MILK"), start_s=HOUR, end_s=2 * HOUR)
    seen = []
    for _ in range(3):
        app = platform.products("store-001")["MILK"]["app"]
        seen.append((*states(platform), app["promotion"] is not None))
        platform.advance(HOUR)
    assert seen == [("Upcoming", False), ("Running", True), ("Ended", False)]


def test_a_deactivated_promotion_is_cancelled_for_good(picker, platform, promote):
    promote(final(1.0, "MILK"))
    promote(final(1.0, "MILK"), active=False)
    assert states(platform) == ["Cancelled"]
    platform.advance(48 * HOUR)
    assert states(platform) == ["Cancelled"]


def test_an_upcoming_promotion_can_be_cancelled(picker, platform, promote):
    promote(final(1.0, "MILK"), start_s=HOUR, end_s=2 * HOUR, name="Soon")
    platform.control("PUT", "settings", {"promotion_propagation_s": 0})
    body_like = {"start_s": HOUR, "end_s": 2 * HOUR, "name": "Soon"}
    promote(final(1.0, "MILK"), active=False, **body_like)
    assert states(platform) == ["Cancelled"]
    platform.advance(90 * 60)
    assert platform.products("store-001")["MILK"]["app"]["promotion"] is None


def test_the_portal_shows_dates_skus_name_and_reason(picker, platform, promote):
    promote(final(1.0, "MILK", "JAM"), name="Dairy", reason="EXPIRING_SOON")
    (found,) = platform.control("GET", "chains/demo-chain/promotions")["promotions"]
    assert (found["name"], found["reason"], found["skus"]) == ("Dairy", "EXPIRING_SOON", 2)
    assert found["start_time"] < platform.control("GET", "state")["now"] < found["end_time"]


def test_the_customer_sees_the_promotion_with_its_name_and_window(picker, platform, promote):
    promote(final(1.0, "MILK"), name="Dairy")
    shown = platform.products("store-001")["MILK"]["app"]["promotion"]
    assert (shown["name"], shown["type"], shown["price"]) == ("Dairy", "STRIKETHROUGH", 1.0)
    assert shown["start_time"] < shown["end_time"]
