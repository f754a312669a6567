"""interface.md 4.1: update products; and 8 for the size of a request."""

from __future__ import annotations

import contextlib
import io
import json
import socket
from decimal import Decimal
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from partner_sandbox.catalog.body import BodyError, products

CATALOG = "/v2/chains/demo-chain/vendors/store-001/catalog"
STORE = "store-001"


def test_the_answer_is_202_with_a_job_that_is_queued(platform, partner):
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    answer = partner.put(CATALOG, json={"products": [{"sku": "A", "price": 2}]})
    assert answer.status_code == 202
    assert answer.json().keys() == {"job_id", "job_status"}
    assert answer.json()["job_status"] == "QUEUED"


def test_the_work_is_asynchronous(platform, partner):
    platform.control("PUT", "settings", {"job_seconds": 10})
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    partner.put(CATALOG, json={"products": [{"sku": "A", "price": 2}]})
    platform.advance(9)
    assert platform.products(STORE)["A"]["price"] == 1
    platform.advance(1)
    assert platform.products(STORE)["A"]["price"] == 2


def test_one_element_is_a_single_update_and_several_are_a_bulk_update(platform, push):
    platform.put_products(STORE, [{"sku": sku, "price": 1} for sku in "ABC"])
    push({"sku": "A", "price": 2})
    push({"sku": "B", "price": 3}, {"sku": "C", "price": 4})
    assert [product["price"] for product in platform.products(STORE).values()] == [2, 3, 4]


@pytest.mark.slow
def test_a_whole_assortment_may_be_sent(platform, push):
    platform.put_products(STORE, [{"sku": f"S{n}", "price": 1} for n in range(21_000)])
    job = push(*({"sku": f"S{n}", "price": n} for n in range(21_000)))
    assert len(job["log"]) == 21_001
    assert {sku: product["price"] for sku, product in platform.products(STORE).items()} == {
        f"S{n}": n for n in range(21_000)
    }


def test_an_update_touches_its_own_vendor_only(platform, push):
    for vendor in ("store-001", "store-002"):
        platform.put_products(vendor, [{"sku": "A", "price": 1, "barcodes": ["96385074"]}])
    push({"sku": "A", "price": 2}, {"barcode": "96385074", "maximum_sales_quantity": 3}, vendor="store-002")
    assert platform.products("store-001")["A"]["price"] == 1
    assert platform.products("store-001")["A"]["max_sales_quantity"] is None
    assert platform.products("store-002")["A"]["price"] == 2


def test_an_unknown_sku_is_an_error_in_the_log_and_the_others_go_through(platform, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    job = push({"sku": "unknown", "price": 5}, {"sku": "A", "price": 2})
    assert job["job_status"] == "COMPLETED"
    assert job["log"] == [
        '"sku","state","errors"',
        '"unknown","failed","product not found in the catalog of the vendor"',
        '"A","success",""',
    ]
    assert job["result"]["item_level_feedback"][0]["sku"] == "unknown"


def test_an_update_never_creates_a_product(platform, push):
    push({"sku": "new", "price": 5, "active": True}, {"barcode": "96385074", "price": 1})
    assert platform.products(STORE) == {}


def test_items_are_applied_in_their_order_and_the_last_one_stays(platform, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "barcodes": ["96385074"]}, {"sku": "B", "price": 1}])
    push(
        {"sku": "A", "price": 2, "maximum_sales_quantity": 9},
        {"sku": "B", "price": 5},
        {"barcode": "96385074", "price": 3},
        {"sku": "A", "active": False},
        {"sku": "A", "price": 4},
    )
    held = platform.products(STORE)
    assert (held["A"]["price"], held["A"]["max_sales_quantity"], held["A"]["active"]) == (4, 9, False)
    assert held["B"]["price"] == 5


def test_a_single_item_is_answered_at_once_in_the_older_form(platform, partner):
    platform.control("PUT", "settings", {"single_item_answer": "sku", "single_item_quantity": "ignored"})
    platform.put_products(STORE, [{"sku": "A", "price": 1, "active": True}])
    answer = partner.put(CATALOG, json={"products": [{"sku": "A", "price": 2, "quantity": 0}]})
    assert (answer.status_code, answer.json()) == (200, {"sku": "A"})
    assert platform.products(STORE)["A"]["price"] == 2
    assert platform.products(STORE)["A"]["active"] is True


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is not valid JSON"),
        (b"[]", "the body must be a JSON object"),
        (b'"products"', "the body must be a JSON object"),
        (b"{}", "products: is required"),
        (b'{"items": []}', "products: is required"),
        (b'{"products": []}', "products: must have at least one item"),
        (b'{"products": {}}', "products: must be an array"),
        (b'{"products": [{"sku": "A"}]', "the body is not valid JSON"),
        (b'{"products": [{"sku": "A"}]} x', "the body is not valid JSON"),
        (b'{"products": [{"sku": "A"} {"sku": "B"}]}', "the body is not valid JSON"),
        (b'{"products": [{"sku": "A", "price": NaN}]}', "the body is not valid JSON: NaN is no number"),
        (b'{"products": [{"sku": "\xff"}]}', "the body is not UTF-8"),
        (b'{"products": [{"sku": "\\ud800"}]}', "products[0].sku: has half a surrogate pair"),
        (b'{"products": ' + b"[" * 100_000, "the body is nested too deeply"),
        (b'{"products": [{"sku": "A", "price": 1' + b"0" * 5000 + b"}]}", "the body has a number that is too long"),
    ],
)
def test_an_invalid_body_is_rejected_with_a_400_that_names_the_place(rejection, body, message):
    assert rejection(body) == message


def test_a_rejected_request_leaves_no_job(platform, partner, rejection):
    many = [{"sku": f"S{n}", "price": 1} for n in range(21_000)]
    assert rejection({"products": [*many, {"sku": "A", "quantity": 0.5}]}).startswith("products[21000].quantity")
    assert platform.control("GET", "state")["jobs"] == {}


def test_a_body_over_the_limit_is_rejected_and_not_read(platform):
    platform.control("PUT", "settings", {"body_max_bytes": 2_000_000})
    host, port = platform.base_url.removeprefix("http://").split(":")
    head = f"PUT {CATALOG} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2000001\r\n\r\n{{"
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(head.encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))  # until the server closes: it wants no more
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert platform.journal()["entries"][-1]["bytes_in"] < 2_000_000


def test_a_body_without_a_length_is_stopped_at_the_limit(platform, partner):
    platform.control("PUT", "settings", {"body_max_bytes": 2_000_000})

    def endless() -> Any:
        while True:
            yield b" " * 100_000

    with contextlib.suppress(httpx.WriteError, httpx.ReadError):  # the connection is closed with the rest unread
        assert partner.put(CATALOG, content=endless()).status_code == 413
    entry = next(entry for entry in platform.journal()["entries"] if entry["operation"] == "put_catalog")
    assert entry["status"] == 413
    assert entry["bytes_in"] < 3_000_000


def test_a_body_of_exactly_the_limit_is_accepted(platform, partner):
    platform.control("PUT", "settings", {"body_max_bytes": 200_000})
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    text = b'{"products": [{"sku": "A", "price": 2}]}'
    assert partner.put(CATALOG, content=text.ljust(200_000)).status_code == 202


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.slow
@given(
    st.lists(VALUES, max_size=6),
    st.dictionaries(st.text(), VALUES),
    st.booleans(),
    st.integers(min_value=1, max_value=40),
)
@example([{"sku": "Ä😀"}, 12], {"a": 1}, False, 1)
def test_law_a_body_is_read_as_the_standard_parser_reads_it(items, others, ascii_only, piece_bytes):
    others.pop("products", None)
    text = json.dumps({**others, "products": items, "z": 1}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert list(products(_Slow(text, piece_bytes))) == json.loads(text, parse_float=Decimal)["products"]


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \n"products'), st.integers(min_value=1, max_value=7))
def test_law_what_the_standard_parser_rejects_is_rejected(text, piece_bytes):
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None
    if isinstance(expected, dict) and isinstance(expected.get("products"), list):
        return
    with pytest.raises(BodyError):
        list(products(_Slow(text.encode(), piece_bytes)))


class _Slow(io.BytesIO):
    """Gives only so many bytes at a time, so that every place is once the end of a piece."""

    def __init__(self, text: bytes, piece_bytes: int) -> None:
        super().__init__(text)
        self._piece_bytes = piece_bytes

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._piece_bytes)
