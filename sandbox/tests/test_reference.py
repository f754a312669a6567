"""The contracts that the sandbox serves, and their pages: every operation and every field, and nothing from the network."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import schemathesis
import yaml
from jsonschema import Draft202012Validator

from partner_sandbox import answers
from partner_sandbox.catalog import assortment
from partner_sandbox.contract import FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACES = {
    "interface": ("/openapi.json", "/reference"),
    "control plane": ("/_sandbox/openapi.json", "/_sandbox/reference"),
}


@pytest.fixture(params=PLACES)
def served(request, platform) -> tuple[dict[str, Any], str]:
    """A contract as served, and its page."""
    document, page = PLACES[request.param]
    with httpx.Client(base_url=platform.base_url, trust_env=False) as client:
        return client.get(document).json(), client.get(page).text


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for part in ("paths", "webhooks"):
        for path, item in document.get(part, {}).items():
            for method in ("get", "put", "post", "delete"):
                if method in item:
                    yield path, method, item[method]


def names(schema: Any) -> set[str]:
    """The names of all fields within a schema."""
    found = set()
    if isinstance(schema, dict):
        found |= set(schema.get("properties", {}))
        for value in schema.values():
            found |= names(value)
    elif isinstance(schema, list):
        for value in schema:
            found |= names(value)
    return found


def test_the_interface_is_served_as_its_contract_has_it_at_this_address(platform):
    served = httpx.get(f"{platform.base_url}/openapi.json", trust_env=False).json()
    assert served.pop("servers") == [{"url": platform.base_url}]
    declared = yaml.safe_load(FILE.read_text("utf-8"))
    del declared["servers"]
    assert served == declared


def test_a_contract_can_be_read_by_a_tool(served):
    document, _ = served
    schemathesis.openapi.from_dict(document)
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_a_page_has_every_operation_and_every_field_of_every_body(served):
    document, page = served
    shown = html.unescape(re.sub("<[^>]+>", "\n", page))
    lines = {line.strip() for line in shown.splitlines()}
    for path, method, operation in operations(document):
        assert f'id="{operation["operationId"]}"' in page
        assert path in lines
        assert method.upper() in lines
    fields = names(document["components"]["schemas"]) | names(document["paths"])
    ends = {line.rpartition(".")[2] for line in lines}
    assert fields - ends == set()


def test_a_page_leads_nowhere_that_is_not_there(served, platform):
    _, page = served
    anchors = set(re.findall(r'id="([^"]+)"', page))
    for link in set(re.findall(r'(?:href|src)="([^"]+)"', page)) - {"data:,"}:
        assert link.startswith(("/", "#")), "loads something from elsewhere"
        if link.startswith("#"):
            assert link[1:] in anchors
        else:
            assert httpx.get(f"{platform.base_url}{link}", trust_env=False).status_code == 200
    assert "<script" not in page


@pytest.mark.slow
def test_every_answer_of_the_control_plane_has_the_described_shape(picker, promote):
    """A walk over every operation; each answer is held to its schema, which allows no other field."""
    platform = picker.platform
    document = platform.control("GET", "openapi.json")
    left = {operation["operationId"] for _, _, operation in operations(document)}

    def call(name: str, method: str, path: str, body: Any = None) -> Any:
        (schema,) = [
            one["responses"]["200"]["content"]["application/json"]["schema"]
            for _, _, one in operations(document)
            if one["operationId"] == name
        ]
        answer = platform.control(method, path, body)
        Draft202012Validator({**schema, "components": document["components"]}).validate(answer)
        left.discard(name)
        return answer

    chain, vendor = "chains/demo-chain", "chains/demo-chain/vendors/store-001"
    call("put_chain", "PUT", chain, {"creation_enabled": True})
    call("put_vendor", "PUT", vendor, {"name": "One"})
    call("put_products", "PUT", f"{vendor}/products", {"products": [{"sku": "A", "price": "1.5"}, {"sku": "B"}]})
    call("post_demo", "POST", "demo")
    promote({"discount_subtype": "FINAL_PRICE", "discount_value": 1, "sku": ["A"]})
    assert call("get_products", "GET", f"{vendor}/products")["products"][0]["app"]["promotion"]
    (promotion,) = call("read_promotions", "GET", f"{chain}/promotions")["promotions"]
    assert call("read_promotion_skus", "GET", f"{chain}/promotions/{promotion['id']}/skus")["total"] == 1
    first, second = [call("post_order", "POST", f"{vendor}/orders", {"items": [{"sku": "A"}]}) for _ in range(2)]
    picker.done(first, "READY_FOR_PICKUP", {"_id": first["items"][0]["_id"], "sku": "A", "status": "IN_CART"})
    call("post_dispatch", "POST", f"orders/{first['order_id']}/dispatch")
    call("post_pick_up", "POST", f"orders/{first['order_id']}/pick-up")
    assert picker.rejected(second, "READY_FOR_PICKUP")
    call("post_cancel", "POST", f"orders/{second['order_id']}/cancel")
    assert call("read_orders", "GET", f"{chain}/orders")["total"] == 2
    rules = [{"at": "log", "kind": "slow_body", "seconds": 1, "times": 2, "vendor": "store-001"}]
    call("put_faults", "PUT", "faults", {"rules": rules})
    call("read_faults", "GET", "faults")
    call("put_settings", "PUT", "settings", {"job_seconds": 1})
    call("read_settings", "GET", "settings")
    assert {line["kind"] for line in call("read_journal", "GET", "journal")["entries"]} == {"request", "webhook"}
    n = call("read_records", "GET", "records?status=rejected")["records"][0]["n"]
    call("read_record", "GET", f"records/{n}")
    assert call("read_record_har", "GET", f"records/{n}.har")["log"]["entries"]
    call("read_har", "GET", "records.har")
    assert call("read_check", "GET", "check")["rejections"]
    call("post_probe", "POST", "check/probe")
    steps = [{"cancel": "none"}, {"order": {"vendor": "store-001", "items": [{"sku": "A"}]}, "at": "1m"}]
    assert call("post_scenario", "POST", "scenarios", {"steps": steps})["failed"] == 1
    call("read_scenario", "GET", "scenarios/1")
    call("put_webhook", "PUT", f"{chain}/webhook", {"secret": "text"})
    call("advance", "POST", "clock/advance", {"seconds": 1})
    call("read_state", "GET", "state")
    call("reset", "POST", "reset")
    assert left == set(), "call these here too; described(...) names the shape of their answer, answers.py has it"


def test_a_product_of_an_assortment_is_described_with_every_field_that_is_taken():
    assert set(answers.AssortmentProduct.model_fields) == assortment.FIELDS
    assert set(answers.ProductCategory.model_fields) == set(assortment.CATEGORY_FIELDS)


def test_the_names_of_the_two_contracts_do_not_collide(platform):
    """A shape of the interface that the control plane borrows is the same shape."""
    of_control = platform.control("GET", "openapi.json")["components"]["schemas"]
    of_interface = yaml.safe_load(FILE.read_text("utf-8"))["components"]["schemas"]
    borrowed = {"Order", "OrderItem", "Pricing"}
    assert borrowed <= set(of_control)
    assert {name for name in set(of_control) & set(of_interface) if of_control[name] != of_interface[name]} == set()
