"""The table of the README that shows which choices a client needs: each row played in each dialect, and with its choices alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from order_picker import STORE, by_sku, picked
from promotion_bodies import final, promotion_body

if TYPE_CHECKING:
    from collections.abc import Callable

    from order_picker import OrderPicker

README = Path(__file__).parents[1] / "README.md"
CHAIN = "/v2/chains/demo-chain"
CATALOG = f"{CHAIN}/vendors/{STORE}/catalog"
COLLECTED = {"order_type": "PICKUP", "transport_type": "VENDOR_DELIVERY"}
SEVERAL = {"products": [{"sku": "MILK", "price": 2}, {"sku": "BREAD", "price": 3}]}


def polls_each_job(picker: OrderPicker) -> bool:
    job_id = picker.partner.put(CATALOG, json=SEVERAL).json()["job_id"]
    picker.platform.advance(0)
    answer = picker.partner.get(f"{CHAIN}/catalog/jobs/{job_id}")
    return answer.status_code == 200 and answer.json()["job_status"] == "COMPLETED"


def reads_the_link_of_the_event(picker: OrderPicker) -> bool:
    picker.partner.put(CATALOG, json=SEVERAL)
    return "download_url" in picker.events()[-1]


def sends_one_product(picker: OrderPicker) -> bool:
    answer = picker.partner.put(CATALOG, json={"products": SEVERAL["products"][:1]})
    return (answer.status_code, answer.json()) == (200, {"sku": "MILK"})


def reads_an_integer_job_id(picker: OrderPicker) -> bool:
    picker.partner.put(CATALOG, json=SEVERAL)
    event = picker.events()[-1]
    return isinstance(event["job_id"], int) and event["platform_vendor_id"] == STORE


def writes_short_promotions(picker: OrderPicker) -> bool:
    body = promotion_body(picker.platform, final(1, "MILK"), final(1, "BREAD"))
    body["conditions"] = {name: re.sub(r"\.\d+", ".0000000", text) for name, text in body["conditions"].items()}
    del body["reason"]
    removal = {**body, "discount": [{"sku": ["MILK"], "active": False}]}
    answers = [picker.partner.put(f"{CHAIN}/promotion", json=one).status_code for one in (body, removal)]
    return answers == [202, 202]


def sends_items_back_unprocessed(picker: OrderPicker) -> bool:
    order = picker.place("MILK", "BREAD")
    sent = [picked(by_sku(order, "MILK")), picked(by_sku(order, "BREAD"), "NOT_PROCESSED")]
    return picker.put(order, "READY_FOR_PICKUP", *sent).status_code == 200


def dispatches_what_is_collected(picker: OrderPicker) -> bool:
    order = picker.place("MILK", **COLLECTED)
    return picker.put(order, "DISPATCHED", picked(order["items"][0])).status_code == 200


def archives_orders(picker: OrderPicker) -> bool:
    picker.place("MILK")
    now = picker.platform.control("GET", "state")["now"]
    times = {"start_time": f"{now[:10]}T00:00:00Z", "end_time": now}
    answer = picker.partner.get(f"{CHAIN}/vendors/{STORE}/orders", params=times)
    if answer.status_code != 200:
        return False
    (order,) = answer.json()["orders"]
    return {"client", "payment"} <= order.keys() and "order_total" in order["payment"]


PLAYED: dict[str, Callable[[OrderPicker], bool]] = {
    "in batches": polls_each_job,
    "download_url": reads_the_link_of_the_event,
    "one product": sends_one_product,
    "integer": reads_an_integer_job_id,
    "in promotions": writes_short_promotions,
    "NOT_PROCESSED": sends_items_back_unprocessed,
    "DISPATCHED": dispatches_what_is_collected,
    "archives": archives_orders,
}


def rows() -> list[tuple[str, dict[str, str], set[str]]]:
    """Kind, choices and dialects of each row."""
    (section,) = re.findall(r"^## Which choices.*?(?=^## )", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    found = []
    for kind, needs, dialects in re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", section, re.MULTILINE)[1:]:
        choices = dict(re.findall(r"`(\w+)=(\w+)`", needs))
        found.append((kind, choices, set(re.findall(r"`(\w+)`", dialects))))
    return found


def player(kind: str) -> Callable[[OrderPicker], bool]:
    (found,) = [play for words, play in PLAYED.items() if words in kind]
    return found


def works(picker: OrderPicker, kind: str, choices: dict[str, Any]) -> bool:
    """Whether a client of this kind reaches its aim under these choices."""
    picker.platform.control("PUT", "settings", choices)
    return player(kind)(picker)


def test_there_are_eight_kinds_and_each_is_played():
    assert len({player(kind) for kind, _, _ in rows()}) == len(PLAYED) == 8


@pytest.mark.parametrize("dialect", ["spec", "live", "legacy"])
@pytest.mark.parametrize(("kind", "dialects"), [(kind, dialects) for kind, _, dialects in rows()])
def test_a_kind_of_client_works_in_the_dialects_of_its_row_and_in_no_other(picker, kind, dialects, dialect):
    assert works(picker, kind, {"dialect": dialect}) == (dialect in dialects)


@pytest.mark.parametrize("dialect", ["spec", "legacy"])
@pytest.mark.parametrize(("kind", "choices"), [(kind, choices) for kind, choices, _ in rows()])
def test_a_kind_of_client_works_with_the_choices_of_its_row_on_another_dialect(picker, kind, choices, dialect):
    assert works(picker, kind, {"dialect": dialect, **choices})
