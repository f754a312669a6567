"""interface.md 4.4: the export of an assortment; 2.2 for what it holds."""

from __future__ import annotations

import csv
import io

import pytest

STORE = "store-001"
EXPORT = f"/v2/chains/demo-chain/vendors/{STORE}/catalog/export"
JOBS = "/v2/chains/demo-chain/catalog/jobs"


def exported(platform, partner) -> str:
    job_id = partner.post(EXPORT).json()["job_id"]
    platform.advance(0)
    return partner.get(partner.get(f"{JOBS}/{job_id}").json()["download_url"]).text


def test_the_export_holds_sku_price_active_and_sales_limit(platform, partner):
    platform.put_products(
        STORE,
        [
            {"sku": "B", "price": 12.3456, "active": False},
            {"sku": 'A"1', "price": 1.5, "barcodes": ["96385074", "4006381333931"], "max_sales_quantity": 4},
            {"sku": "C"},
        ],
    )
    text = exported(platform, partner)
    assert text.startswith('"sku","barcode","price","active","maximum_sales_quantity"\r\n')
    assert list(csv.reader(io.StringIO(text)))[1:] == [
        ['A"1', "00000096385074", "1.500", "1", "4"],
        ["B", "", "12.345", "0", ""],
        ["C", "", "", "1", ""],
    ]


def test_no_body_is_needed_and_the_work_is_asynchronous(platform, partner):
    platform.control("PUT", "settings", {"job_seconds": 10})
    answer = partner.post(EXPORT)
    assert answer.status_code == 202
    assert answer.json() == {"job_id": answer.json()["job_id"], "job_status": "QUEUED"}
    platform.advance(9)
    assert "download_url" not in partner.get(f"{JOBS}/{answer.json()['job_id']}").json()


def test_the_status_code_is_200_in_a_dialect_that_has_it(platform, partner):
    platform.control("PUT", "settings", {"export_status": 200})
    assert partner.post(EXPORT).status_code == 200


def test_the_export_is_a_snapshot_of_when_it_ran(platform, partner, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    job_id = partner.post(EXPORT).json()["job_id"]
    platform.advance(0)
    push({"sku": "A", "price": 2})
    text = partner.get(partner.get(f"{JOBS}/{job_id}").json()["download_url"]).text
    assert '"A","","1.000","1",""' in text


def test_the_link_is_sent_to_the_webhook(platform, partner, receiver):
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    job_id = partner.post(EXPORT).json()["job_id"]
    (event,) = receiver.wait_for(1)
    assert event.body["job_id"] == job_id
    assert '"A",""' in partner.get(event.body["downloadURL"]).text


def test_an_empty_store_exports_the_header_alone(platform, partner):
    assert exported(platform, partner) == '"sku","barcode","price","active","maximum_sales_quantity"\r\n'


@pytest.mark.slow
@pytest.mark.parametrize("count", [20_000, 20_001])
def test_a_large_assortment_is_exported_to_the_last_product(platform, partner, count):
    platform.put_products(STORE, [{"sku": f"S{n:06d}", "price": 1} for n in range(count)])
    assert len(exported(platform, partner).splitlines()) == count + 1


def test_an_export_is_deleted_when_its_link_has_expired(platform, partner):
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    job_id = partner.post(EXPORT).json()["job_id"]
    platform.advance(0)
    link = partner.get(f"{JOBS}/{job_id}").json()["download_url"]
    platform.advance(900)
    exported(platform, partner)
    assert partner.get(link).status_code == 410
