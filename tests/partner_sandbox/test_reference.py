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

from partner_sandbox.contract import FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACES = {"interface": ("/openapi.json", "/reference")}


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


def test_the_interface_is_served_as_its_contract_says_at_this_address(platform):
    served = httpx.get(f"{platform.base_url}/openapi.json", trust_env=False).json()
    assert served.pop("servers") == [{"url": platform.base_url}]
    told = yaml.safe_load(FILE.read_text("utf-8"))
    del told["servers"]
    assert served == told


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
