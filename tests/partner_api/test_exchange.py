"""For any answer of the platform, a call returns what is readable or raises one PartnerError of one line."""

from __future__ import annotations

import datetime as dt

import httpx
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from pydantic import SecretStr

from fuzz_minute import BRIEFLY, for_a_minute
from order_strategies import encoded, mutated, strange
from orders_bodies import body, item
from partner_api import PartnerClient, StaticToken
from partner_api.errors import PartnerError

NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
CATEGORY = {"global_id": "c", "parent_global_id": None, "active": True, "details": {"name": {"en": "Milk"}}}
PRODUCT = {
    "sku": "MILK",
    "barcodes": ["0123456789012"],
    "title": "Milk",
    "price": 1.5,
    "active": True,
    "remote_product_id": "r",
    "is_sold_by_weight": False,
    "categories": [CATEGORY],
    "images": ["https://x.example/1.png"],
    "translations": {"en": "Milk"},
}
LISTING = {"page_number": 1, "page_size": 2, "total_pages": 3, "products": [PRODUCT, PRODUCT]}
HISTORY = {"page_number": 1, "total_pages": 1, "orders": [body(item("MILK", 1), order_id="o-1")]}
JOB = {"job_id": "j", "job_status": "COMPLETED", "download_url": "https://platform.example/x", "result": {"errors": []}}
CALLS = {
    "list_catalog": (LISTING, lambda client: client.list_catalog("v")),
    "whole_catalog": (LISTING, lambda client: client.whole_catalog("v")),
    "list_orders": (HISTORY, lambda client: client.list_orders("v", NOON - dt.timedelta(days=1), NOON)),
    "order": (body(item("MILK", 1), order_id="o-1"), lambda client: client.get_order("o-1")),
    "job_status": (JOB, lambda client: client.job_status("j")),
    "update_catalog": (JOB, lambda client: client.update_catalog("v", b'{"products":[]}')),
    "export": (JOB, lambda client: client.export("v")),
    "promotion_status": (JOB, lambda client: client.promotion_status("j")),
    "categories": ({"categories": [CATEGORY]}, lambda client: client.categories("v")),
    "outlet_status": ({"status": "OPEN", "vendor_id": "v"}, lambda client: client.outlet_status("v")),
}
names = pytest.mark.parametrize("name", CALLS)
statuses = st.sampled_from([200] * 8 + [202, 204, 400, 404, 409, 422, 500])


def _claim(name: str, draw: st.DataObject) -> None:
    good, call = CALLS[name]
    contents = encoded(mutated(good)) | strange.map(lambda one: str(one).encode("utf-8", "replace")) | st.binary()
    content, status = draw.draw(contents), draw.draw(statuses)
    transport = httpx.MockTransport(lambda _: httpx.Response(status, content=content))
    with PartnerClient(
        "https://platform.example", "c", StaticToken(SecretStr("canary-token")), transport=transport, attempts_max=1
    ) as client:
        try:
            call(client)
        except PartnerError as error:
            message = str(error)
            assert "\n" not in message
            assert len(message) < 2000
            assert "canary-token" not in message
            event(type(error).__name__)
        else:
            event("read")


@names
@BRIEFLY
@given(draw=st.data())
def test_any_answer_is_read_or_raises_a_one_line_error(name, draw):
    _claim(name, draw)


@pytest.mark.proof
@pytest.mark.slow
def test_any_answer_is_read_or_raises_a_one_line_error_for_a_minute():
    @BRIEFLY
    @given(name=st.sampled_from(sorted(CALLS)), draw=st.data())
    def read_or_raise(name, draw):
        _claim(name, draw)

    assert for_a_minute(read_or_raise)
