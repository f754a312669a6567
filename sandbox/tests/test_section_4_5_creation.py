"""interface.md 4.5, 4.6 and 9: the creation of products, early access."""

from __future__ import annotations

from typing import Any

import pytest

CATALOG = "/v2/chains/demo-chain/catalog"
JOBS = "/v2/chains/demo-chain/catalog/jobs"
REVIEW_S = 2.0


@pytest.fixture
def pilot(platform):
    platform.control("PUT", "chains/demo-chain", {"creation_enabled": True})


def new(**values: Any) -> dict[str, Any]:
    return {"sku": "NEW", "title": {"en_GB": "New thing"}, "barcodes": ["96385074"], "price": 1.9999, **values}


def create(partner, *products: dict[str, Any], vendors: tuple[str, ...] = ("store-001",)):
    return partner.post(CATALOG, json={"vendors": list(vendors), "products": list(products)})


def reviewed(platform, partner, answer) -> dict[str, Any]:
    assert answer.status_code == 202, answer.text
    platform.advance(REVIEW_S)
    return partner.get(f"{JOBS}/{answer.json()['job_id']}").json()


def test_creation_is_unavailable_outside_the_pilot(partner):
    answer = create(partner, new())
    assert (answer.status_code, answer.json()["code"]) == (501, "NOT_IMPLEMENTED")


def test_the_answer_is_202_with_a_job(partner, pilot):
    answer = create(partner, new())
    assert answer.status_code == 202
    assert answer.json() == {"job_id": answer.json()["job_id"], "job_status": "QUEUED", "duplicated_products": []}


def test_the_request_is_reviewed_before_the_products_are_there(platform, partner, pilot):
    job_id = create(partner, new()).json()["job_id"]
    seen = []
    for _ in range(3):
        status = partner.get(f"{JOBS}/{job_id}").json()["job_status"]
        seen.append((status, "NEW" in platform.products("store-001")))
        platform.advance(REVIEW_S / 2)
    assert seen == [("QUEUED", False), ("IN_PROGRESS", False), ("COMPLETED", True)]


def test_a_list_of_vendors_gets_the_products_and_no_other(platform, partner, pilot):
    reviewed(platform, partner, create(partner, new(), vendors=("store-002", "store-004")))
    assert [name for name in platform.vendors if platform.products(name)] == ["store-002", "store-004"]


def test_the_wildcard_means_every_vendor_of_the_chain(platform, partner, pilot):
    reviewed(platform, partner, create(partner, new(), vendors=("*",)))
    assert all("NEW" in platform.products(name) for name in platform.vendors)


def test_a_created_product_is_inactive_and_priced_as_asked(platform, partner, pilot):
    status = reviewed(platform, partner, create(partner, new()))
    assert status["result"]["item_level_feedback"] == [{"sku": "NEW", "status": "success", "rejection_reasons": []}]
    product = platform.products("store-001")["NEW"]
    assert (product["active"], product["price"], product["barcodes"]) == (False, 1.999, ["00000096385074"])


def test_an_existing_product_is_reported_as_duplicated_and_unchanged(platform, partner, pilot):
    platform.put_products("store-002", [{"sku": "NEW", "price": 7}])
    answer = create(partner, new(), vendors=("store-001", "store-002"))
    assert answer.json()["duplicated_products"] == ["store-002:NEW"]
    status = reviewed(platform, partner, answer)
    assert status["result"]["duplicated_products"] == ["store-002:NEW"]
    assert platform.products("store-002")["NEW"]["price"] == 7
    assert "NEW" in platform.products("store-001")


@pytest.mark.parametrize(
    ("product", "reason"),
    [
        (new(categories=["c-none"]), "there is no such category"),
        (new(barcodes=["4006381333931"]), "the barcode belongs to another product"),
        (new(is_sold_by_weight=True), "weight_specifications are required for what is sold by weight"),
    ],
)
def test_the_review_rejects_with_a_reason_and_takes_the_others(platform, partner, pilot, product, reason):
    platform.put_products("store-001", [{"sku": "OLD", "barcodes": ["4006381333931"]}])
    status = reviewed(platform, partner, create(partner, product, new(sku="GOOD", barcodes=[])))
    assert status["job_status"] == "COMPLETED"
    first, second = status["result"]["item_level_feedback"]
    assert (first["status"], first["rejection_reasons"][0]["rejected_reason"]) == ("failed", reason)
    assert second["status"] == "success"
    assert set(platform.products("store-001")) == {"OLD", "GOOD"}


def test_a_vendor_that_the_chain_does_not_have_is_not_found_and_nothing_is_created(platform, partner, pilot):
    answer = create(partner, new(), vendors=("store-001", "store-009"))
    assert (answer.status_code, answer.json()["message"]) == (404, "Vendor 'store-009' not found")
    platform.advance(REVIEW_S)
    assert platform.products("store-001") == {}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "vendors"),
        ({"vendors": [], "products": [new()]}, "vendors"),
        ({"vendors": ["*"], "products": [new(price="1.99")]}, "products[0].price"),
        ({"vendors": ["*"], "products": [new(is_sold_by_weight="yes")]}, "products[0].is_sold_by_weight"),
        ({"vendors": ["*"], "products": []}, "products"),
        ({"vendors": ["*"], "products": [new(title={})]}, "products[0].title"),
        ({"vendors": ["*"], "products": [new(title={"english": "x"})]}, "products[0].title"),
        ({"vendors": ["*"], "products": [new(barcodes=["12a"])]}, "products[0].barcodes[0]"),
        ({"vendors": ["*"], "products": [new(price=-1)]}, "products[0].price"),
        (
            {"vendors": ["*"], "products": [new(weight_specifications={"base_weight": 1, "base_weight_unit": "LB"})]},
            "products[0].weight_specifications.base_weight_unit",
        ),
    ],
)
def test_an_invalid_body_is_rejected_and_the_field_is_named(partner, pilot, body, field):
    answer = partner.post(CATALOG, json=body)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith(field)
