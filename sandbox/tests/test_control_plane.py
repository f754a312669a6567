"""The control plane under /_sandbox: other programs control the platform with it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from partner_sandbox.server import create_app
from partner_sandbox.settings import SandboxSettings

STORE = "store-001"
CATALOG = f"/v2/chains/demo-chain/vendors/{STORE}/catalog"
PRODUCTS = f"chains/demo-chain/vendors/{STORE}/products"


def test_a_new_platform_has_the_demo_chain_its_stores_and_nothing_else(platform):
    state = platform.control("GET", "state")
    (chain,) = state["chains"]
    assert chain["chain"] == "demo-chain"
    assert [vendor["vendor"] for vendor in chain["vendors"]] == [f"store-{n:03d}" for n in range(1, 7)]
    assert {vendor["products"] for vendor in chain["vendors"]} == {0}
    assert chain["webhook"] == {"catalog_url": None, "order_url": None, "secret_set": False}


def test_a_reset_deletes_everything_except_the_seed(platform, partner, receiver, push):
    platform.put_products(STORE, [{"sku": "A"}])
    push({"sku": "A"})
    platform.control("PUT", "settings", {"requests_per_minute": 5})
    platform.control("PUT", "chains/other", {})
    platform.faults({"at": "log", "kind": "gzip"})
    platform.control("POST", "reset")
    state = platform.control("GET", "state")
    assert [chain["chain"] for chain in state["chains"]] == ["demo-chain"]
    assert (state["jobs"], state["deliveries"], state["max_requests_in_60s"]) == ({}, {}, 0)
    assert state["chains"][0]["webhook"]["catalog_url"] is None
    assert platform.products(STORE) == {}
    assert platform.journal()["entries"] == []
    assert platform.control("GET", "faults")["rules"] == []
    assert platform.control("GET", "settings")["requests_per_minute"] == 1_000_000
    assert partner.get(CATALOG).status_code == 401


def test_an_assortment_reads_back_in_the_fields_it_was_put_in(platform):
    product = {
        "sku": "A",
        "barcodes": ["96385074"],
        "title": "Apples",
        "price": 1.5,
        "active": False,
        "max_sales_quantity": 4,
        "sales_buffer": 2,
        "categories": ["fruit"],
        "is_sold_by_weight": True,
    }
    platform.put_products(STORE, [product])
    got = platform.products(STORE)["A"]
    seen_by_customers = got.pop("app")
    assert got == {**product, "barcodes": ["00000096385074"]}
    assert {"price": 1.5, "active": False, "max_sales_quantity": 4}.items() <= seen_by_customers.items()


def test_what_is_left_out_has_a_default(platform):
    platform.put_products(STORE, [{"sku": "A"}])
    product = platform.products(STORE)["A"]
    assert (product["title"], product["price"], product["active"], product["sales_buffer"]) == ("A", None, True, None)


def test_what_was_read_can_be_put_back(platform):
    platform.put_products(STORE, [{"sku": f"S{n}", "price": n / 4, "active": n % 2 == 0} for n in range(9)])
    before = platform.control("GET", PRODUCTS)
    platform.control("PUT", PRODUCTS, before)
    assert platform.control("GET", PRODUCTS) == before


def test_an_assortment_replaces_the_one_before(platform, push):
    platform.put_products(STORE, [{"sku": "A", "barcodes": ["1"]}, {"sku": "B"}])
    push({"sku": "A", "price": 3})
    platform.put_products(STORE, [{"sku": "B", "barcodes": ["1"], "price": 1}])
    assert set(platform.products(STORE)) == {"B"}
    push({"barcode": "1", "price": 2})
    assert platform.products(STORE)["B"]["price"] == 2


@pytest.mark.parametrize(
    ("product", "message"),
    [
        ({}, "products[0].sku: must be a text that is not empty"),
        ({"sku": 5}, "products[0].sku: must be a text that is not empty"),
        ({"sku": "A", "sales_buffer": -1}, "products[0].sales_buffer: must be from 0 to 2147483647, not -1"),
        (
            {"sku": "A", "max_sales_quantity": 2**70},
            f"products[0].max_sales_quantity: must be from 1 to 2147483647, not {2**70}",
        ),
        (
            {"sku": "A", "categories": [{"name": "x"}]},
            "products[0].categories[0].global_id: must be a text that is not empty",
        ),
        ({"sku": "A", "categories": [5]}, "products[0].categories[0]: must be a text or an object with global_id"),
        ({"sku": "A", "images": [5]}, "products[0].images: must be a list of texts"),
        ({"sku": "A", "translations": {"en_GB": 5}}, "products[0].translations: must be an object of texts by locale"),
        (
            {"sku": "A", "weight_specifications": {"base_weight": 1}},
            "products[0].weight_specifications.base_weight_unit: Field required",
        ),
        ({"sku": "A", "barcodes": ["x"]}, "products[0].barcodes: must have digits only, not 'x'"),
        ({"sku": "A", "price": "dear"}, "products[0].price: must be a number of money"),
        ({"sku": "A", "price": -1}, "products[0].price: must not be negative"),
        ({"sku": "A", "active": "yes"}, "products[0].active: must be bool, not 'yes'"),
        ({"sku": "A", "sales_buffer": 1.5}, "products[0].sales_buffer: must be int, not Decimal('1.5')"),
    ],
)
def test_an_invalid_assortment_is_rejected_and_the_old_one_stays(platform, product, message):
    platform.put_products(STORE, [{"sku": "old"}])
    answer = httpx.put(f"{platform.base_url}/_sandbox/{PRODUCTS}", json={"products": [product]})
    assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert set(platform.products(STORE)) == {"old"}


def rejection(platform, method: str, path: str, body: Any) -> str:
    """The message of the 400."""
    answer = httpx.request(method, f"{platform.base_url}/_sandbox/{path}", json=body)
    assert answer.status_code == 400, answer.text
    return answer.json()["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "field", "known"),
    [
        ("PUT", PRODUCTS, {"products": [{"sku": "A", "colour": "red"}]}, "products[0].colour", "barcodes"),
        ("PUT", PRODUCTS, {"products": [], "product": []}, "product", "products"),
        ("PUT", PRODUCTS, {"products": [{"sku": "A", "categories": [{"global_id": "c", "title": "x"}]}]}, "products[0].categories[0].title", "parent_global_id"),
        ("POST", f"chains/demo-chain/vendors/{STORE}/orders", {"items": [{"sku": "A", "qty": 4}]}, "items[0].qty", "quantity"),
        ("POST", f"chains/demo-chain/vendors/{STORE}/orders", {"items": [{"sku": "A"}], "type": "PICKUP"}, "type", "order_type"),
        ("PUT", "chains/demo-chain", {"creation": True}, "creation", "creation_enabled"),
        ("PUT", f"chains/demo-chain/vendors/{STORE}", {"title": "x"}, "title", "sales_buffer"),
        ("PUT", "chains/demo-chain/webhook", {"url": "http://a.example"}, "url", "order_url"),
        ("POST", "clock/advance", {"minutes": 1}, "minutes", "seconds"),
        ("PUT", "faults", {"rules": [{"at": "log", "kind": "gzip", "chance": 1}]}, "rules[0].chance", "probability"),
        ("PUT", "settings", {"job_second": 1}, "job_second", "job_seconds"),
    ],
)  # fmt: skip
def test_a_control_body_rejects_what_it_does_not_know_with_field_and_known_names(
    platform, method, path, body, field, known
):
    message = rejection(platform, method, path, body)
    assert message.startswith(f"{field}: is not a known field; known are ")
    assert known in message


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (f"vendors/{STORE}", {"status": "FOO"}, "status"),
        (f"vendors/{STORE}", {"status": "CLOSED_UNTIL"}, "closed_until"),
        (f"vendors/{STORE}", {"sales_buffer": -3}, "sales_buffer"),
        (f"vendors/{STORE}", {"buffer": -3}, "buffer"),
        ("webhook", {"order_url": "partner.example/events"}, "order_url"),
        ("webhook", {"catalog_url": "ftp://partner.example"}, "catalog_url"),
        ("webhook", {"catalog_url": "http://"}, "catalog_url"),
    ],
)
def test_a_wrong_value_of_a_vendor_or_a_webhook_is_rejected(platform, path, body, field):
    assert rejection(platform, "PUT", f"chains/demo-chain/{path}", body).startswith(f"{field}: ")


def test_a_repeated_sku_is_rejected(platform):
    body = {"products": [{"sku": "A"}, {"sku": "A"}]}
    answer = httpx.put(f"{platform.base_url}/_sandbox/{PRODUCTS}", json=body)
    assert answer.json()["message"] == "products[1].sku: 'A' stands there twice"


def test_a_vendor_is_created_and_changed(platform):
    path = "chains/demo-chain/vendors/store-900"
    assert platform.control("PUT", path, {"external_partner_config_id": "P-9", "buffer": 4}) == {
        "chain": "demo-chain",
        "vendor": "store-900",
        "name": "store-900",
        "external_partner_config_id": "P-9",
        "sales_buffer": 4,
    }
    changed = platform.control("PUT", path, {"sales_buffer": 6, "name": "Harbour"})
    assert (changed["external_partner_config_id"], changed["sales_buffer"], changed["name"]) == ("P-9", 6, "Harbour")


@pytest.mark.parametrize("path", ["chains/none/vendors/x", "chains/none/webhook"])
def test_what_belongs_to_no_chain_is_not_found(platform, path):
    assert httpx.put(f"{platform.base_url}/_sandbox/{path}", json={}).status_code == 404


def test_a_setting_is_changed_until_the_next_reset_and_a_wrong_one_is_named(platform):
    assert platform.control("PUT", "settings", {"propagation_s": 5})["propagation_s"] == 5
    answer = httpx.put(f"{platform.base_url}/_sandbox/settings", json={"link": "carrier pigeon"})
    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (400, "link")
    assert platform.control("GET", "settings")["link"] == "bearer"


def test_the_orders_of_a_chain_are_read_page_by_page_with_their_states(platform):
    platform.put_products(STORE, [{"sku": "A", "barcodes": [], "title": "A", "price": 2.5, "active": True}])
    order = {"items": [{"sku": "A", "quantity": 1}]}
    placed = [
        platform.control("POST", f"chains/demo-chain/vendors/{STORE}/orders", order)["order_id"] for _ in range(3)
    ]
    platform.control("POST", f"orders/{placed[1]}/cancel")
    first = platform.control("GET", "chains/demo-chain/orders?limit=2")
    rest = platform.control("GET", "chains/demo-chain/orders?offset=2")
    found = [*first["orders"], *rest["orders"]]
    assert (first["total"], [one["order_id"] for one in found]) == (3, placed)
    assert [one["status"] for one in found] == ["RECEIVED", "CANCELLED", "RECEIVED"]


def test_a_dialect_brings_its_whole_set_and_what_is_set_beside_it_wins(platform):
    settings = platform.control("PUT", "settings", {"dialect": "legacy", "export_status": 202})
    assert (settings["log_format"], settings["export_status"]) == ("older", 202)
    assert settings["job_seconds"] == 0
    answer = httpx.put(f"{platform.base_url}/_sandbox/settings", json={"dialect": "klingon"})
    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (400, "dialect")


def test_the_pages_of_other_sites_cannot_control_the_platform(platform):
    path = f"{platform.base_url}/_sandbox/reset"
    assert httpx.post(path, headers={"Origin": "https://elsewhere.example"}).status_code == 403
    assert httpx.post(path, headers={"Origin": "null"}).status_code == 403
    assert httpx.post(path, headers={"Origin": platform.base_url}).status_code == 200


@pytest.mark.parametrize(
    "name", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", "", "[::2]", "x]["]
)
def test_a_foreign_name_that_resolves_to_this_machine_cannot_control_the_platform(platform, name):
    path = f"{platform.base_url}/_sandbox/reset"
    assert httpx.post(path, headers={"Host": name}).status_code in {400, 403}
    assert httpx.post(path, headers={"Host": name, "Origin": f"http://{name}"}).status_code in {400, 403}


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8470", "127.1.2.3"])
def test_the_names_of_this_machine_can_control_the_platform(platform, name):
    assert httpx.get(f"{platform.base_url}/_sandbox/state", headers={"Host": name}).status_code == 200


def test_the_journal_has_every_request_and_webhook_in_order(platform, partner, receiver):
    last = platform.journal()["last"]
    partner.put(CATALOG, json={"products": [{"sku": "A"}]})
    receiver.wait_for(1)
    platform.advance(0)
    partner.get(CATALOG, params={"page": 1})
    journal = platform.journal(after=last)
    lines = [(e["kind"], e["method"], e["operation"], e["status"]) for e in journal["entries"]]
    assert sorted(lines) == [
        ("request", "GET", "list_catalog", 200),
        ("request", "PUT", "put_catalog", 202),
        ("webhook", "POST", "job_webhook", 204),
    ]
    put = next(e for e in journal["entries"] if e["method"] == "PUT")
    assert put["route"] == CATALOG
    assert put["size"] == put["bytes_in"] == len('{"products":[{"sku":"A"}]}')
    assert put["time"].endswith("Z")
    assert journal["last"] == journal["entries"][-1]["n"]
    assert platform.journal(after=journal["last"])["entries"] == []


def test_the_journal_stores_no_secret(platform, partner, receiver):
    partner.put(CATALOG, json={"products": [{"sku": "A"}]})
    receiver.wait_for(1)
    platform.advance(0)
    text = str(platform.journal()) + str(platform.control("GET", "state"))
    token = partner.headers["Authorization"].removeprefix("Bearer ")
    assert not [secret for secret in ("s3cret", "demo-secret", token) if secret in text]


@pytest.mark.slow
def test_the_control_plane_answers_this_machine_only_unless_exposed():
    async def status(client: str, **settings: Any) -> int:
        app = create_app(SandboxSettings(**settings))
        transport = httpx.ASGITransport(app, client=(client, 40_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://platform") as caller:
            answer = await caller.get("/_sandbox/state")
        app.state.sandbox.close()
        return answer.status_code

    assert asyncio.run(status("10.0.0.5")) == 403
    assert asyncio.run(status("10.0.0.5", expose_control=True)) == 200
    assert asyncio.run(status("127.0.0.1")) == 200
    assert asyncio.run(status("::1")) == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "settings", {"dialect": {}}),
        ("GET", f"journal?after={2**70}", None),
        ("POST", "scenarios", {"steps": [{"vendors": None}]}),
    ],
)
def test_what_fuzzing_found_to_be_a_500_is_rejected(platform, method, path, body):
    answer = httpx.request(method, f"{platform.base_url}/_sandbox/{path}", json=body, trust_env=False)
    assert answer.status_code == 400
