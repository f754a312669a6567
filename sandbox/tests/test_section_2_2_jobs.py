"""interface.md 2.2, 3.3 and 4.6: jobs, their states, their status, their logs."""

from __future__ import annotations

import csv
import io

import pytest

STORE = "store-001"
CATALOG = f"/v2/chains/demo-chain/vendors/{STORE}/catalog"
JOBS = "/v2/chains/demo-chain/catalog/jobs"


@pytest.fixture
def job_id(platform, partner) -> str:
    """A new job of ten seconds: one item known, one unknown, one with a quote in its key."""
    platform.control("PUT", "settings", {"job_seconds": 10})
    platform.put_products(STORE, [{"sku": "A", "price": 1, "barcodes": ["96385074"]}])
    items = [{"sku": "A", "price": 2}, {"sku": 'in"ch', "price": 2}, {"barcode": "96385074", "active": False}]
    return partner.put(CATALOG, json={"products": items}).json()["job_id"]


def test_a_job_is_queued_then_in_progress_then_completed(platform, partner, job_id):
    seen = []
    for _ in range(5):
        seen.append(partner.get(f"{JOBS}/{job_id}").json()["job_status"])
        platform.advance(2.5)
    assert seen == ["QUEUED", "QUEUED", "IN_PROGRESS", "IN_PROGRESS", "COMPLETED"]


def test_an_open_job_shows_neither_result_nor_link(partner, job_id):
    assert partner.get(f"{JOBS}/{job_id}").json() == {"job_id": job_id, "job_status": "QUEUED"}


def test_a_completed_job_may_contain_rejected_items(platform, partner, job_id):
    platform.advance(10)
    status = partner.get(f"{JOBS}/{job_id}").json()
    assert status["job_status"] == "COMPLETED"
    assert status["result"] == {
        "item_level_feedback": [
            {
                "sku": 'in"ch',
                "status": "failed",
                "rejection_reasons": [
                    {"rejected_data": 'in"ch', "rejected_reason": "product not found in the catalog of the vendor"}
                ],
            }
        ],
        "duplicated_products": [],
    }


def test_the_log_has_a_row_for_each_item_by_the_key_that_was_sent(platform, partner, job_id):
    platform.advance(10)
    text = partner.get(partner.get(f"{JOBS}/{job_id}").json()["download_url"]).text
    assert list(csv.reader(io.StringIO(text))) == [
        ["sku", "state", "errors"],
        ["A", "success", ""],
        ['in"ch', "failed", "product not found in the catalog of the vendor"],
        ["00000096385074", "success", ""],
    ]
    assert text.startswith('"sku","state","errors"\r\n')


def test_the_older_log_has_code_row_number_and_barcode(platform, partner, job_id):
    platform.control("PUT", "settings", {"log_format": "older", "log_no_errors": "null"})
    platform.advance(10)
    text = partner.get(partner.get(f"{JOBS}/{job_id}").json()["download_url"]).text
    assert list(csv.reader(io.StringIO(text))) == [
        ["sku", "code", "state", "errors", "row_number", "piece_barcode"],
        ["A", "200", "success", "null", "1", ""],
        ['in"ch', "404", "failed", "product not found in the catalog of the vendor", "2", ""],
        ["00000096385074", "200", "success", "null", "3", "00000096385074"],
    ]


def test_jobs_of_a_vendor_run_in_the_order_of_their_creation(platform, partner):
    platform.control("PUT", "settings", {"job_seconds": 4})
    platform.put_products(STORE, [{"sku": "A", "price": 0}])
    for price in range(1, 6):
        partner.put(CATALOG, json={"products": [{"sku": "A", "price": price}]})
        platform.advance(1)
    seen = []
    for _ in range(5):
        seen.append(platform.products(STORE)["A"]["price"])
        platform.advance(1)
    assert seen == [2, 3, 4, 5, 5]


def test_an_unknown_job_is_not_found(partner):
    assert partner.get(f"{JOBS}/0b1b3c6b-fef5-44a3-8dc5-bd7572a6d9a5").status_code == 404


def test_a_job_of_another_chain_is_not_found(platform, partner, job_id):
    clients = [{"client_id": "other", "client_secret": "secret"}]
    platform.control("PUT", "chains/other-chain", {"clients": clients})
    with platform.partner("other", "secret") as other:
        assert other.get(f"/v2/chains/other-chain/catalog/jobs/{job_id}").status_code == 404


def test_an_update_job_has_no_status_if_the_dialect_has_no_such_call(platform, partner, job_id):
    platform.control("PUT", "settings", {"job_status_for": "creation"})
    assert partner.get(f"{JOBS}/{job_id}").status_code == 404


def test_a_job_id_may_be_a_number(platform, partner):
    platform.control("PUT", "settings", {"job_id_type": "integer"})
    job_id = partner.put(CATALOG, json={"products": [{"sku": "A"}]}).json()["job_id"]
    assert isinstance(job_id, int)
    assert partner.get(f"{JOBS}/{job_id}").json()["job_id"] == job_id


@pytest.mark.slow
def test_a_rejected_item_is_counted_and_the_feedback_is_bounded(platform, partner):
    items = [{"sku": f"S{n}", "price": 1} for n in range(10_050)]
    job_id = partner.put(CATALOG, json={"products": items}).json()["job_id"]
    platform.advance(0)
    assert len(partner.get(f"{JOBS}/{job_id}").json()["result"]["item_level_feedback"]) == 10_000
