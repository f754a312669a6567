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


def test_the_control_plane_pages_promotions_and_gives_their_skus(picker, platform, promote):
    for number in range(3):
        promote(final(1.0, "MILK", "JAM"), name=f"Offer {number}")
    chain = "chains/demo-chain/promotions"
    pages = [platform.control("GET", f"{chain}?limit=2&offset={first}") for first in (0, 2)]
    assert [[row["name"] for row in page["promotions"]] for page in pages] == [["Offer 2", "Offer 1"], ["Offer 0"]]
    assert {page["total"] for page in pages} == {3}
    number = pages[1]["promotions"][0]["id"]
    found = platform.control("GET", f"{chain}/{number}/skus?limit=1&offset=1")
    assert [(row["vendor"], row["sku"], row["value"]) for row in found["skus"]] == [("store-001", "MILK", "1.000")]
    assert found["total"] == 2
