"""The client against the contract: its requests fit contract/openapi.yaml, and it reads every answer described there."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import jsonschema
import pytest
import yaml
from pydantic import SecretStr

from partner_api import ClientCredentials, Dialect, PartnerClient, errors
from partner_api.order_update import ItemUpdate, OrderUpdate
from partner_api.promotions import Discount, Promotion

CONTRACT: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[2] / "contract" / "openapi.yaml").read_text(encoding="utf-8")
)
ORDER = "5b8e6f3c-1111-4222-8333-444455556666"
NOW = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
UPDATE = (
    b'{"products":[{"sku":"4711","price":4.990,"active":true,"quantity":12,"maximum_sales_quantity":6},{"sku":"1"}]}'
)
NEW = {"sku": "A", "title": {"en_GB": "Tea"}, "price": Decimal("1.10"), "barcodes": ["4006381333931"]}
PROMOTION = Promotion(
    ("store-001",), {"en_GB": "March"}, NOW, NOW + dt.timedelta(days=3), (Discount(("4711",), Decimal("1.99")),)
)

CALLS = {
    "token": lambda client, example: client.check(),
    "put_catalog": lambda client, example: client.update_catalog("store-001", UPDATE),
    "list_catalog": lambda client, example: client.list_catalog(
        "store-001", 2, 50, query_term="tea", category_global_ids=["a", "b"], locale="en_GB", is_active=True
    ),
    "categories": lambda client, example: client.categories("store-001", only_leaves=False),
    "export": lambda client, example: client.export("store-001"),
    "create_products": lambda client, example: client.create_products([NEW], ["store-001"]),
    "job_status": lambda client, example: client.job_status(str(example.get("job_id", "8d8f99b2"))),
    "log": lambda client, example: client.download(
        "https://platform.example/v2/chains/demo-chain/catalog/downloads/8d8f99b2.csv", io.BytesIO()
    ),
    "outlet_status": lambda client, example: client.outlet_status("store-001"),
    "put_promotion": lambda client, example: client.put_promotion(PROMOTION, PROMOTION.vendors),
    "promotion_status": lambda client, example: client.promotion_status(str(example.get("job_id", "p1"))),
    "put_order": lambda client, example: client.put_order(
        OrderUpdate(
            example.get("order_id", ORDER),
            "READY_FOR_PICKUP",
            (ItemUpdate("4711", "IN_CART", quantity=2, pricing_type="UNIT"),),
        )
    ),
    "get_order": lambda client, example: client.get_order(example.get("order_id", ORDER)),
    "list_orders": lambda client, example: client.list_orders("store-001", NOW, NOW + dt.timedelta(days=1)),
    "list_orders_at_orders": lambda client, example: client.list_orders("store-001", NOW, NOW + dt.timedelta(days=1)),
}
"""Each call of the client; `example` is the example answer, which holds the identifiers for the call."""
NOT_OURS = {"put_outlet_status"}
"""This client does not open or close a store."""


def resolved(node: Any) -> Any:
    """A node of the contract with its own reference, if it is one, followed."""
    while "$ref" in node:
        target = CONTRACT
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def operations() -> dict[str, tuple[str, str, dict[str, Any], list[dict[str, Any]]]]:
    """Operation to method, path pattern, its node, and its parameters with those of its path."""
    found = {}
    for path, item in CONTRACT["paths"].items():
        shared = [resolved(one) for one in item.get("parameters", [])]
        for method, node in item.items():
            if isinstance(node, dict) and "operationId" in node:
                pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))
                parameters = shared + [resolved(one) for one in node.get("parameters", [])]
                found[node["operationId"]] = (method.upper(), pattern, node, parameters)
    return found


OPERATIONS = operations()


def valid(value: Any, schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator({**schema, "components": CONTRACT["components"]}).validate(value)


def accepts(request: httpx.Request) -> str:
    """The operation that this request is, after checking all of it; an assertion names what the contract does not describe."""
    fits = [
        name
        for name, (method, pattern, _, _) in OPERATIONS.items()
        if method == request.method and re.fullmatch(pattern, request.url.path)
    ]
    assert fits, f"the contract knows no {request.method} {request.url.path}"
    _, _, node, parameters = OPERATIONS[fits[0]]
    queries = {one["name"]: one["schema"] for one in parameters if one["in"] == "query"}
    for name, text in request.url.params.multi_items():
        assert name in queries, f"{fits[0]} knows no parameter {name}"
        schema = resolved(queries[name])
        kind = schema.get("type")
        valid(
            {"integer": int, "boolean": lambda word: word == "true", "array": lambda word: [word]}.get(kind, str)(text),
            schema,
        )
    missing = [one["name"] for one in parameters if one["in"] == "query" and one.get("required")]
    assert set(missing) <= set(request.url.params)
    if node.get("security", CONTRACT["security"]):
        assert request.headers["authorization"].startswith("Bearer ")
    else:
        assert "authorization" not in request.headers
    body = request.read()
    if "requestBody" not in node:
        assert body == b""
    else:
        media = request.headers["content-type"]
        schema = resolved(node["requestBody"])["content"][media]["schema"]
        valid(dict(parse_qsl(body.decode())) if "form" in media else json.loads(body), schema)
    return fits[0]


def examples(name: str) -> list[tuple[int, str, Any]]:
    """Every answer that the contract shows for an operation: status, media type, body."""
    shown = []
    for status, answer in OPERATIONS[name][2]["responses"].items():
        for media, content in resolved(answer).get("content", {}).items():
            values = [one["value"] for one in content.get("examples", {}).values()]
            values += [content["example"]] if "example" in content else []
            if not values:
                values = (
                    ["<!DOCTYPE html><title>Blocked</title>"]
                    if media == "text/html"
                    else [{"code": "X", "message": "y"}]
                )
            shown += [(int(status), media, value) for value in values]
    return shown


def client_for(asked: str, status: int, media: str, value: Any, seen: list[str]) -> PartnerClient:
    """A client whose platform checks each request and gives the operation under test this answer."""

    def answer(request: httpx.Request) -> httpx.Response:
        name = accepts(request)
        seen.append(name)
        text = value if isinstance(value, str) else json.dumps(value)
        if name == asked:
            return httpx.Response(status, content=text.encode(), headers={"content-type": media})
        if name == "token":
            return httpx.Response(200, json={"access_token": "t", "expires_in": 7200})
        return httpx.Response(404, json={"code": "NOT_FOUND", "message": "no such job"})

    credentials = ClientCredentials("demo-client", SecretStr("demo-secret"))
    transport = httpx.MockTransport(answer)
    known = tuple(
        path for path in Dialect().history_paths if path in CONTRACT["paths"]
    )  # the others are of other dialects
    return PartnerClient(
        "https://platform.example",
        "demo-chain",
        credentials,
        transport=transport,
        attempts_max=1,
        dialect=Dialect(history_paths=known),
    )


CASES = [(name, *shown) for name in OPERATIONS if name in CALLS for shown in examples(name)]


def test_the_client_has_a_call_for_everything_in_the_contract():
    assert set(OPERATIONS) - NOT_OURS <= set(CALLS)


@pytest.mark.parametrize(
    ("name", "status", "media", "value"), CASES, ids=[f"{c[0]}-{c[1]}-{n}" for n, c in enumerate(CASES)]
)
def test_each_call_fits_the_contract_and_each_answer_is_read_or_raises_an_error(name, status, media, value):
    seen: list[str] = []
    example = value if isinstance(value, dict) else {}
    with client_for(name, status, media, value, seen) as client:
        if 200 <= status < 300:
            CALLS[name](client, example)
        else:
            expected = {
                400: errors.CredentialsError if name == "token" else errors.InvalidRequestError,
                401: (errors.CredentialsError, errors.LinkExpiredError),
                403: (errors.BlockedError, errors.CredentialsError, errors.LinkExpiredError),
                404: (errors.NotFoundError, errors.LinkExpiredError),
                409: errors.UnexpectedAnswerError,
                410: errors.LinkExpiredError,
                413: errors.InvalidRequestError,
                422: errors.InvalidRequestError,
                429: errors.ThrottledError,
                501: errors.NotEnabledError,
            }[status]
            with pytest.raises(expected):
                CALLS[name](client, example)
    assert name in seen
