"""interface.md 7 and 9: errors and versioning, as far as they are not an order's."""

from __future__ import annotations

import httpx
import pytest

CATALOG = "/v2/chains/demo-chain/vendors/store-001/catalog"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", CATALOG, 400),
        ("GET", f"{CATALOG}?page=x", 400),
        ("GET", "/v2/chains/demo-chain/catalog/jobs/none", 404),
        ("GET", "/v2/chains/demo-chain/catalog/downloads/none.csv", 404),
        ("GET", "/v2/elsewhere", 404),
        ("DELETE", CATALOG, 405),
        ("POST", "/v2/chains/demo-chain/catalog", 501),
    ],
)
def test_every_error_has_a_code_and_a_message(partner, method, path, status):
    answer = partner.request(method, path)
    assert answer.status_code == status
    assert answer.json().keys() == {"code", "message"}
    assert all(answer.json().values())


@pytest.mark.parametrize(
    "path", [CATALOG.removeprefix("/v2"), CATALOG.replace("v2", "v1"), CATALOG.replace("v2", "v3")]
)
def test_the_version_is_part_of_the_path(partner, path):
    assert partner.get(path).status_code == 404


def test_the_status_of_an_outlet_serves_as_a_connection_test(platform, partner):
    path = "/v2/chains/demo-chain/vendors/store-001/status"
    assert partner.get(path).json() == {"status": "OPEN", "closed_reason": None, "closed_until": None}
    closed = {"status": "CLOSED_UNTIL", "closed_reason": "stocktaking", "closed_until": "2026-01-01T00:00:00.000Z"}
    assert partner.put(path, json=closed).json() == closed
    assert partner.get(path).json() == closed
    assert partner.put(path, json={"status": "GONE"}).json()["message"].startswith("status: ")
    assert partner.get(path.replace("store-001", "store-999")).status_code == 404
    with httpx.Client(base_url=platform.base_url, verify=False, trust_env=False) as anonymous:
        assert anonymous.get(path).status_code == 401
