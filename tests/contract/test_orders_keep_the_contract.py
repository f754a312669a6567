"""Existing orders against the contract: no request gets a 5xx or an undescribed answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from order_picker import ASSORTMENT
from sandbox_fixture import LiveSandbox, WebhookReceiver

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTRACT = Path(__file__).parents[2] / "contract" / "openapi.yaml"
TEXT: dict[str, Any] = yaml.safe_load(CONTRACT.read_text(encoding="utf-8"))
PUT = schemathesis.openapi.from_path(CONTRACT)["/v2/chains/{chain_id}/orders/{order_id}"]["PUT"]
HEADERS = {"Authorization": "Bearer contract-token"}
DESCRIBED = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SKUS = [product["sku"] for product in ASSORTMENT]
ORDERED = ["MILK", "BREAD", "CHEESE"]


@pytest.fixture(scope="module", params=["spec", "live", "legacy"])
def platform(request: pytest.FixtureRequest) -> Iterator[LiveSandbox]:
    with LiveSandbox(dialect=request.param) as live:
        live.control("PUT", "chains/demo-chain", {"tokens": ["contract-token"]})
        live.put_products("store-001", ASSORTMENT)
        yield live


def place(platform: LiveSandbox, transport: str = "LOGISTICS_DELIVERY") -> dict[str, Any]:
    items = [{"sku": sku, "quantity": 2} for sku in ORDERED]
    body = {"items": items, "transport_type": transport}
    return platform.control("POST", "chains/demo-chain/vendors/store-001/orders", body)


def number(least: int, most: int) -> st.SearchStrategy[float]:
    return st.integers(least, most).map(lambda thousandths: thousandths / 1000)


PRICING = st.fixed_dictionaries(
    {},
    optional={
        "quantity": st.integers(0, 6) | number(0, 6000),
        "weight": number(0, 4000),
        "unit_price": number(0, 15_000),
        "total_price": number(0, 30_000),
        "pricing_type": st.sampled_from(["UNIT", "KG"]),
    },
)


@st.composite
def pickings(draw: st.DrawFn) -> list[tuple[int | None, dict[str, Any]]]:
    """Items as a picker may send them: position of the order's item for `_id` and `replaced_id` to be filled in."""
    items = []
    for _ in range(draw(st.integers(0, 5))):
        status = draw(st.sampled_from(["NOT_PROCESSED", "IN_CART", "NOT_FOUND", "REPLACED", "ADDITION"]))
        item: dict[str, Any] = {"status": status, "pricing": draw(PRICING)}
        item["sku"] = draw(st.sampled_from([*SKUS, "NOWHERE"]))
        position = draw(st.none() | st.integers(0, len(ORDERED) - 1))
        if position is not None and draw(st.booleans()):
            item["replaces"] = position
        items.append((position, item))
    return items


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(case=PUT.as_strategy())
def test_every_order_put_is_answered_as_described(case: schemathesis.Case, platform: LiveSandbox) -> None:
    order = place(platform)
    case.path_parameters = {"chain_id": "demo-chain", "order_id": order["order_id"]}
    if isinstance(case.body, dict) and "order_id" in case.body:
        case.body = {**case.body, "order_id": order["order_id"]}
    case.call_and_validate(base_url=platform.base_url, headers=HEADERS, checks=DESCRIBED)


@pytest.mark.slow
@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    sent=pickings(),
    status=st.sampled_from(["ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED", "UPDATE_CART", "CANCELLED"]),
    transport=st.sampled_from(["LOGISTICS_DELIVERY", "VENDOR_DELIVERY"]),
)
def test_law_every_picked_order_is_answered_as_described_with_the_totals_of_its_items(
    platform: LiveSandbox, sent: list[tuple[int | None, dict[str, Any]]], status: str, transport: str
) -> None:
    order = place(platform, transport)
    items = [filled(order, position, item) for position, item in sent]
    more = {"accepted_for": "2026-06-01T18:30:00Z", "cancellation": {"reason": "CLOSED"}}
    case = PUT.Case(
        path_parameters={"chain_id": "demo-chain", "order_id": order["order_id"]},
        body={"order_id": order["order_id"], "status": status, "items": items, **more},
        media_type="application/json",
    )
    answer = case.call(base_url=platform.base_url, headers=HEADERS)
    case.validate_response(answer, checks=DESCRIBED)
    after = json.loads(answer.content)
    if answer.status_code == 200 and status not in {"UPDATE_CART", "CANCELLED"} and after["status"] != "CANCELLED":
        in_cart = [item for item in after["items"] if item["status"] not in {"NOT_FOUND", "REPLACED"}]
        totals = after if "sub_total" in after else after["payment"]  # the dialect's shape
        assert totals["sub_total"] == pytest.approx(sum(item["pricing"]["total_price"] for item in in_cart))
        assert totals["order_total"] == pytest.approx(totals["sub_total"] + 1.99 + 0.49)
        assert [item["original_pricing"] for item in after["items"]][:3] == [item["pricing"] for item in order["items"]]


def filled(order: dict[str, Any], position: int | None, item: dict[str, Any]) -> dict[str, Any]:
    """The identifiers of the order's item in the place of its position."""
    replaces = item.pop("replaces", None)
    if replaces is not None:
        item["replaced_id"] = order["items"][replaces]["_id"]
    if position is not None:
        return {**item, "_id": order["items"][position]["_id"], "sku": order["items"][position]["sku"]}
    return item


@pytest.mark.parametrize("dialect", ["spec", "live", "legacy"])
def test_every_event_is_an_order_of_the_contract(dialect: str) -> None:
    schema = {"$ref": "#/components/schemas/Order", "components": TEXT["components"]}
    with LiveSandbox(dialect=dialect) as live, WebhookReceiver() as receiver:
        live.put_products("store-001", ASSORTMENT)
        live.put_webhook(order_url=receiver.url)
        items = [{"sku": sku, "quantity": 1} for sku in ORDERED]
        order = live.control("POST", "chains/demo-chain/vendors/store-001/orders", {"items": items})
        live.control("POST", f"orders/{order['order_id']}/cancel")
        for call in receiver.wait_for(2):
            jsonschema.Draft202012Validator(schema).validate(call.body)
