"""interface.md 5: authentication; 7 for 401; field notes, Access."""

from __future__ import annotations

import base64
import json
from urllib.parse import urlsplit

import httpx
import pytest

CATALOG = "/v2/chains/demo-chain/vendors/store-001/catalog"
FORM = {"grant_type": "client_credentials", "client_id": "demo-client", "client_secret": "demo-secret"}


@pytest.fixture
def anonymous(platform):
    """A client without a token."""
    with httpx.Client(base_url=platform.base_url, verify=False, trust_env=False) as client:
        yield client


def test_a_request_carries_a_bearer_token(anonymous):
    token = anonymous.post("/v2/oauth/token", data=FORM).json()["access_token"]
    assert anonymous.get(CATALOG, headers={"Authorization": f"Bearer {token}"}).status_code == 200


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer unknown", "Basic ZGVtbw==", "demo-secret"])
def test_a_missing_or_unknown_token_is_401(anonymous, header):
    headers = {} if header is None else {"Authorization": header}
    answer = anonymous.get(CATALOG, headers=headers)
    assert answer.status_code == 401
    assert answer.json() == {"code": "UNAUTHORIZED", "message": "The token is not valid"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", CATALOG),
        ("GET", CATALOG),
        ("GET", CATALOG.replace("catalog", "categories")),
        ("POST", f"{CATALOG}/export"),
        ("POST", "/v2/chains/demo-chain/catalog"),
        ("GET", "/v2/chains/demo-chain/catalog/jobs/1"),
        ("GET", "/v2/chains/demo-chain/catalog/downloads/1.csv"),
        ("GET", CATALOG.replace("catalog", "status")),
        ("PUT", CATALOG.replace("catalog", "status")),
    ],
)
def test_every_call_needs_a_token_before_anything_else(anonymous, method, path):
    assert anonymous.request(method, path, content=b"no json").status_code == 401


def test_the_answer_has_a_jwt_its_type_and_two_hours(anonymous):
    answer = anonymous.post("/v2/oauth/token", data=FORM)
    assert answer.status_code == 200
    token = answer.json().pop("access_token")
    assert {"token_type": "Bearer", "expires_in": 7200}.items() <= answer.json().items()
    head, claims, _ = (part + "=" * (-len(part) % 4) for part in token.split("."))
    assert json.loads(base64.urlsafe_b64decode(head)) == {"alg": "HS256", "typ": "JWT"}
    payload = json.loads(base64.urlsafe_b64decode(claims))
    assert payload["exp"] - payload["iat"] == 7200


@pytest.mark.slow
def test_the_number_of_tokens_is_unlimited_and_each_stays_valid(anonymous):
    tokens = {anonymous.post("/v2/oauth/token", data=FORM).json()["access_token"] for _ in range(60)}
    assert len(tokens) == 60
    answers = {anonymous.get(CATALOG, headers={"Authorization": f"Bearer {token}"}).status_code for token in tokens}
    assert answers == {200}


def test_a_token_is_valid_for_two_hours_and_no_longer(platform, partner):
    platform.advance(7199.999)
    assert partner.get(CATALOG).status_code == 200
    platform.advance(0.001)
    assert partner.get(CATALOG).status_code == 401


def test_a_static_token_of_the_portal_does_not_expire(platform, anonymous):
    platform.control("PUT", "chains/demo-chain", {"tokens": ["portal-token"]})
    platform.advance(10 * 86_400)
    assert anonymous.get(CATALOG, headers={"Authorization": "Bearer portal-token"}).status_code == 200


@pytest.mark.parametrize("missing", ["client_id", "client_secret", "grant_type"])
def test_a_missing_field_of_the_form_is_named(anonymous, missing):
    answer = anonymous.post("/v2/oauth/token", data={name: value for name, value in FORM.items() if name != missing})
    assert (answer.status_code, answer.json()["message"]) == (400, f"{missing} is required")


def test_a_json_body_is_not_read(anonymous):
    answer = anonymous.post("/v2/oauth/token", json=FORM)
    assert (answer.status_code, answer.json()["message"]) == (400, "client_id is required")


def test_another_grant_is_rejected(anonymous):
    answer = anonymous.post("/v2/oauth/token", data={**FORM, "grant_type": "password"})
    assert (answer.status_code, answer.json()["error"]) == (400, "unsupported_grant_type")


@pytest.mark.parametrize("wrong", [{"client_id": "unknown"}, {"client_secret": "demo-secreT"}])
@pytest.mark.parametrize("status", [400, 401])
def test_wrong_credentials_are_rejected_with_the_status_of_the_dialect(platform, anonymous, wrong, status):
    platform.control("PUT", "settings", {"wrong_credentials_status": status})
    answer = anonymous.post("/v2/oauth/token", data={**FORM, **wrong})
    assert answer.status_code == status
    assert answer.json()["error_description"] == "client_id or client_secret is wrong"


def test_a_client_requests_at_most_fifty_tokens_a_minute(platform, anonymous):
    platform.control("PUT", "settings", {"token_requests_per_minute": 50})
    answers = [anonymous.post("/v2/oauth/token", data=FORM).status_code for _ in range(51)]
    assert answers == [200] * 50 + [429]
    other = {**FORM, "client_id": "other"}
    assert anonymous.post("/v2/oauth/token", data=other).status_code == 401
    platform.advance(60)
    assert anonymous.post("/v2/oauth/token", data=FORM).status_code == 200


def test_a_token_covers_its_whole_chain_and_no_other(platform, partner):
    platform.control("PUT", "chains/other-chain", {"clients": [{"client_id": "o", "client_secret": "s"}]})
    platform.control("PUT", "chains/other-chain/vendors/store-001", {})
    for vendor in platform.vendors:
        assert partner.get(CATALOG.replace("store-001", vendor)).status_code == 200
    assert partner.get(CATALOG.replace("demo-chain", "other-chain")).status_code == 404
    with platform.partner("o", "s") as other:
        assert other.get(CATALOG.replace("demo-chain", "other-chain")).status_code == 200
        assert other.get(CATALOG).status_code == 404


def test_a_wrong_chain_or_vendor_is_not_found(partner):
    assert partner.get(CATALOG.replace("demo-chain", "no-chain")).json()["message"] == "Chain not found"
    assert partner.get(CATALOG.replace("store-001", "store-009")).json()["message"] == "Vendor not found"


def test_an_account_that_is_not_enabled_finds_no_platform(platform, partner):
    platform.control("PUT", "chains/demo-chain", {"enabled": False})
    answer = partner.put(CATALOG, json={"products": [{"sku": "A"}]})
    assert (answer.status_code, answer.json()["message"]) == (404, "Platform Not Found")


def test_a_link_on_the_service_needs_a_bearer_token(platform, partner, push, anonymous):
    platform.put_products("store-001", [{"sku": "A"}])
    job = push({"sku": "A"})
    assert anonymous.get(job["download_url"]).status_code == 401
    assert partner.get(job["download_url"]).status_code == 200


def test_a_link_on_the_service_is_for_its_own_chain(platform, push):
    platform.control("PUT", "chains/other-chain", {"clients": [{"client_id": "o", "client_secret": "s"}]})
    job = push({"sku": "A"})
    with platform.partner("o", "s") as other:
        assert other.get(job["download_url"]).status_code == 404
        assert other.get(job["download_url"].replace("demo-chain", "other-chain")).status_code == 404


def test_a_presigned_link_is_on_another_host_which_rejects_a_bearer_token(platform, partner, anonymous):
    platform.control("PUT", "settings", {"link": "presigned"})
    link = presigned(platform, partner)
    assert urlsplit(link).netloc != urlsplit(platform.base_url).netloc
    assert anonymous.get(link).status_code == 200
    answer = anonymous.get(link, headers=partner.headers)
    assert answer.status_code == 400
    assert "Only one auth mechanism allowed" in answer.text
    assert link.partition("signature=")[2] not in str(platform.journal())


@pytest.mark.parametrize("change", [("signature=", "signature=0"), ("expires=", "expires=9"), ("?", "?x=")])
def test_a_changed_presigned_link_is_rejected(platform, partner, anonymous, change):
    platform.control("PUT", "settings", {"link": "presigned"})
    assert anonymous.get(presigned(platform, partner).replace(*change)).status_code == 403


@pytest.mark.parametrize(("link", "status"), [("bearer", 410), ("presigned", 403)])
def test_a_link_expires(platform, partner, anonymous, link, status):
    platform.control("PUT", "settings", {"link": link, "link_life_s": 60})
    url = presigned(platform, partner)
    client = partner if link == "bearer" else anonymous
    platform.advance(59)
    assert client.get(url).status_code == 200
    platform.advance(1)
    assert client.get(url).status_code == status


def presigned(platform, partner) -> str:
    """The link of a finished job."""
    platform.put_products("store-001", [{"sku": "A"}])
    job_id = partner.put(CATALOG, json={"products": [{"sku": "A"}]}).json()["job_id"]
    platform.advance(0)
    return partner.get(f"/v2/chains/demo-chain/catalog/jobs/{job_id}").json()["download_url"]
