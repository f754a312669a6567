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
    assert partner.get(path).json() == {
        "vendor_id": "store-001",
        "status": "OPEN",
        "closed_reason": None,
        "closed_until": None,
    }
    closed = {"status": "CLOSED_UNTIL", "closed_reason": "stocktaking", "closed_until": "2099-01-01T00:00:00.000Z"}
    shown = {"vendor_id": "store-001", **closed}
    assert partner.put(path, json=closed).json() == shown
    assert partner.get(path).json() == shown
    assert partner.put(path, json={"status": "GONE"}).json()["message"].startswith("status: ")
    assert partner.get(path.replace("store-001", "store-999")).status_code == 404
    with httpx.Client(base_url=platform.base_url, verify=False, trust_env=False) as anonymous:
        assert anonymous.get(path).status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "body", "hint"),
    [
        ("PUT", "vendors/store-001/catalog", {"products": [{}]}, "interface 2.1"),
        ("GET", "vendors/store-001/catalog?page_size=501", None, "interface 4.2"),
        ("GET", "vendors/nowhere/catalog", None, "interface 4.2"),
        ("GET", "orders/nope", None, "interface 4.9"),
        ("DELETE", "promotion", None, "interface 4"),
    ],
)
def test_an_error_has_the_rule_of_the_interface_in_a_header_and_in_the_journal(
    platform, partner, method, path, body, hint
):
    answer = partner.request(method, f"/v2/chains/demo-chain/{path}", json=body)
    line = platform.journal()["entries"][-1]
    assert answer.headers["X-Sandbox-Hint"] == line["hint"] == hint
    assert line["reason"] == answer.json()["message"]


@pytest.mark.parametrize(
    ("dialect", "choice", "value"),
    [("legacy", "job_status_for", "creation"), ("live", "wrong_credentials_status", "400")],
)
def test_an_error_by_choice_of_the_dialect_names_the_choice(platform, partner, dialect, choice, value):
    platform.control("PUT", "settings", {"dialect": dialect, "requests_per_minute": 1000, "job_status_for": "creation"})
    job_id = partner.put(CATALOG, json={"products": [{"sku": "A"}, {"sku": "B"}]}).json()["job_id"]
    form = {"grant_type": "client_credentials", "client_id": "demo-client", "client_secret": "wrong"}
    answers = [partner.get(f"/v2/chains/demo-chain/catalog/jobs/{job_id}"), partner.post("/v2/oauth/token", data=form)]
    hints = " | ".join(answer.headers["X-Sandbox-Hint"] for answer in answers)
    assert f"choice {choice}={value} (dialect {dialect})" in hints


def test_an_answer_that_is_no_error_has_no_hint(platform, partner):
    assert "X-Sandbox-Hint" not in partner.get(CATALOG).headers
    assert platform.journal()["entries"][-1]["reason"] is None


def test_a_fault_that_was_asked_for_is_named_in_the_hint(platform, partner):
    platform.faults({"at": "list_catalog", "kind": "status_503"})
    assert partner.get(CATALOG).headers["X-Sandbox-Hint"] == "fault status_503"


def test_the_journal_has_the_reason_why_an_event_did_not_arrive(platform, partner, receiver):
    receiver.statuses = [500]
    partner.put(CATALOG, json={"products": [{"sku": "A"}]})
    receiver.wait_for(1)
    platform.advance(0)
    reasons = [line["reason"] for line in platform.journal()["entries"] if line["kind"] == "webhook"]
    assert reasons[0] == "answered 500; any 2xx is success"
