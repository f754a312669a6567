from __future__ import annotations

import time
from decimal import Decimal

import pytest

from listing_pages import Pages, query
from partner_api.dialect import Dialect
from partner_api.errors import (
    AmbiguousError,
    CredentialsError,
    NotEnabledError,
    NotFoundError,
    UnavailableError,
    UnexpectedAnswerError,
)


def test_a_page_is_requested_by_page_and_page_size_and_every_filter(tools):
    server = tools.platform(Pages(tools.http, 3))
    page = tools.client(server).list_catalog(
        "v", 2, 2, query_term="Öl & more", category_global_ids=["c1", "c2"], locale="en_GB", is_active=False
    )
    assert query(server.of("GET")[0]) == {
        "page": "2",
        "page_size": "2",
        "query_term": "Öl & more",
        "category_global_ids": ["c1", "c2"],
        "locale": "en_GB",
        "is_active": "false",
    }
    assert [entry.sku for entry in page.products] == ["S2"]
    assert (page.page_number, page.page_size, page.total_pages) == (2, 2, 2)


def test_an_entry_is_read_exactly_and_tolerantly(tools):
    raw = b"""{"page_number": "1", "products": [
        {"remote_product_id": "u", "sku": 123, "barcodes": ["0000040063813", null, 7], "title": "Tea", "translations": {"en_GB": "Tea"},
         "images": "one.jpg", "price": "1.005", "active": 1, "is_sold_by_weight": "false", "unknown": {"kept": true},
         "categories": [{"global_id": "g", "details": {"name": {"en_GB": "Drinks"}}, "active": true}]},
        {"sku": "B", "price": 0.1, "status": "inactive"},
        {"price": "free", "active": null}, "rubbish", null]}"""
    server = tools.platform(tools.http(200, raw))
    tea, other, bare = tools.client(server).list_catalog("v").products
    assert (tea.sku, tea.barcodes, tea.price, tea.active, tea.is_sold_by_weight, tea.images) == (
        "123",
        ("0000040063813", "7"),
        Decimal("1.005"),
        True,
        False,
        ("one.jpg",),
    )
    assert tea.categories[0].names == {"en_GB": "Drinks"}
    assert tea.raw["unknown"] == {"kept": True}
    assert (other.price, other.active, str(other.price)) == (Decimal("0.1"), False, "0.1")
    assert (bare.sku, bare.price, bare.active) == (None, None, None)


def test_the_whole_catalog_is_every_page_once(tools):
    server = tools.platform(Pages(tools.http, 1201))
    listing = tools.client(server).whole_catalog("v")
    assert listing.complete
    assert listing.why is None
    assert [entry.sku for entry in listing.products] == [f"S{number}" for number in range(1201)]
    assert listing.pages == len(server.of("GET")) == 3


def test_categories_are_read_and_inner_ones_requested(tools):
    answer = {
        "categories": [
            {"global_id": "a", "parent_global_id": None, "active": False},
            {"global_id": "b", "parent_global_id": "a"},
        ]
    }
    server = tools.platform(tools.http(200, answer))
    found = tools.client(server).categories("v", only_leaves=False)
    assert [(one.global_id, one.parent_global_id, one.active) for one in found] == [
        ("a", None, False),
        ("b", "a", None),
    ]
    assert server.of("GET")[0].target.endswith("/vendors/v/categories?only_leaves=false")
    server = tools.platform(tools.http(200, {"rows": []}))
    with pytest.raises(UnexpectedAnswerError, match="no categories"):
        tools.client(server).categories("v")


@pytest.mark.parametrize("status", [200, 202])
def test_an_export_starts_without_a_body_and_accepts_either_status(tools, status):
    server = tools.platform(tools.http(status, {"job_id": 5, "job_status": "QUEUED"}))
    assert tools.client(server).export("v").job_id == "5"
    (sent,) = server.of("POST", "/catalog/export")
    assert (sent.body, sent.headers["content-length"]) == (b"", "0")


def test_an_export_whose_answer_is_lost_is_not_started_twice(tools):
    server = tools.platform(lambda seen, send: None)
    with pytest.raises(AmbiguousError):
        tools.client(server).export("v")
    assert len(server.of("POST", "/catalog/export")) == 1


def test_products_are_created_for_all_vendors_with_exact_prices(tools):
    server = tools.platform(tools.http(202, {"job_id": "j", "duplicated_products": ["v:1"]}))
    job = tools.client(server).create_products([{"sku": "A", "price": Decimal("1.10"), "title": {"de_DE": "Öl"}}])
    (sent,) = server.of("POST", "/chains/demo-chain/catalog")
    assert sent.body.decode() == '{"vendors":["*"],"products":[{"sku":"A","price":1.10,"title":{"de_DE":"Öl"}}]}'
    assert job.duplicated_products == ("v:1",)


def test_a_partner_outside_the_pilot_gets_its_error(tools):
    server = tools.platform(tools.http(501, {"message": "not in pilot"}))
    with pytest.raises(NotEnabledError):
        tools.client(server).create_products([])


def test_a_jobs_status_is_read_under_every_name(tools):
    feedback = {
        "item_level_feedback": [
            {"sku": "A", "status": "REJECTED", "rejection_reasons": [{"rejected_data": "x", "rejected_reason": "y"}]}
        ]
    }
    server = tools.platform(
        tools.http(
            200, {"job_id": 9, "job_status": "COMPLETED", "result": feedback, "download_url": "https://x/y?sig=canary"}
        ),
        tools.http(200, {"status": "in_progress", "downloadURL": "https://x"}),
        tools.http(200, {"job_status": "SOMETHING_NEW"}),
    )
    client = tools.client(server)
    done, running, strange = (client.job_status("9") for _ in range(3))
    assert (done.is_finished, done.download_url, "canary" in repr(done)) == (True, "https://x/y?sig=canary", False)
    assert (done.feedback[0].sku, done.feedback[0].rejections[0].reason) == ("A", "y")
    assert (running.status, running.is_finished, running.download_url) == ("IN_PROGRESS", False, "https://x")
    assert (strange.status, strange.is_finished) == ("SOMETHING_NEW", False)
    assert server.of("GET")[0].path == "/v2/chains/demo-chain/catalog/jobs/9"


def test_the_answer_about_another_job_is_an_error(tools):
    server = tools.platform(tools.http(200, {"job_id": "8", "job_status": "COMPLETED"}))
    with pytest.raises(UnexpectedAnswerError, match="the client requested job 9"):
        tools.client(server).job_status("9")


def test_a_platform_without_job_status_costs_no_request(tools):
    server = tools.platform(tools.http(200, {}))
    with pytest.raises(NotEnabledError, match="webhook"):
        tools.client(server, dialect=Dialect(job_status_path="")).job_status("9")
    assert server.connections == 0


def test_the_connection_test_finds_the_vendor_by_its_status(tools):
    server = tools.platform(tools.http(200, {"status": "OPEN"}))
    checked = tools.client(server).check("v")
    assert (checked.vendor_seen, checked.outlet_status) == (True, "OPEN")
    assert len(server.seen) == 2


def test_the_connection_test_falls_back_to_the_listing(tools):
    server = tools.platform(tools.http(404, b""), tools.http(200, {"products": []}))
    checked = tools.client(server).check("v")
    assert (checked.vendor_seen, checked.outlet_status) == (True, None)
    assert query(server.of("GET")[-1]) == {"page": "1", "page_size": "1"}


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ((401, {}), CredentialsError, "Client id and secret are right"),
        ((403, {"code": "X"}), CredentialsError, "Check client id and secret"),
        ((404, {}), NotFoundError, r"no vendor 'v' of chain 'demo-chain'.*Check chain and vendor"),
        ((404, {"message": "Platform Not Found"}), NotEnabledError, "account manager"),
    ],
)
def test_the_connection_test_names_what_is_wrong(tools, answer, error, message):
    server = tools.platform(tools.http(*answer))
    with pytest.raises(error, match=message):
        tools.client(server).check("v")
    assert len(server.seen) <= 5


def test_without_a_vendor_the_connection_test_proves_the_token_at_the_chain(tools):
    server = tools.platform(tools.http(404, {"message": "no such job"}))
    assert not tools.client(server).check().vendor_seen
    server = tools.platform(tools.http(401, {}))
    with pytest.raises(CredentialsError):
        tools.client(server).check()


def test_a_ping_is_one_request_and_every_answer_is_one(tools):
    server = tools.platform(tools.http(503, b""))
    assert tools.client(server).ping("store-001") == 503
    assert [seen.target.split("?")[1] for seen in server.of("GET")] == ["page=1&page_size=1"]


def test_a_ping_without_an_answer_ends_within_its_time(tools):
    server = tools.platform(lambda seen, send: time.sleep(20))
    began_s = time.monotonic()
    with pytest.raises(UnavailableError):
        tools.client(server).ping("store-001", within_s=0.3)
    assert time.monotonic() - began_s < 15
    assert len(server.of("GET")) == 1
