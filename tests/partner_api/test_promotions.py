from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pytest

from partner_api.dialect import Dialect
from partner_api.errors import AmbiguousError, InvalidRequestError, NotEnabledError
from partner_api.promotions import Discount, Promotion

START = dt.datetime(2026, 3, 1, 8, 0, 0, 1999, tzinfo=dt.timezone(dt.timedelta(hours=1)))


def promotion(**more):
    values = {
        "vendors": ("store-001",),
        "display_name": {"de_DE": "Ö"},
        "start_time": START,
        "end_time": START + dt.timedelta(days=1),
        "discounts": (Discount(("A", "B"), Decimal("1.990")),),
    }
    return Promotion(**{**values, **more})


def test_a_promotion_is_sent_as_the_interface_writes_it(tools):
    server = tools.platform(tools.http(202, {"job_id": "p1", "job_status": "QUEUED"}))
    body = promotion(
        active=False,
        discounts=(
            Discount(("A", "B"), Decimal("1.990")),
            Discount(("C",), Decimal(20), "PERCENTAGE", active=False, max_quantity=2),
        ),
        conditions={"purchased_quantity": 2},
        limits={"max_items_per_order": 3},
    )
    assert tools.client(server).put_promotion(body, ["v1"]).job_id == "p1"
    (sent,) = server.of("PUT", "/v2/chains/demo-chain/promotion")
    assert b'"discount_value":1.990' in sent.body
    assert json.loads(sent.body) == {
        "vendors": ["store-001"],
        "type": "STRIKETHROUGH",
        "active": False,
        "reason": "COMPETITIVENESS",
        "display_name": {"de_DE": "Ö"},
        "conditions": {
            "purchased_quantity": 2,
            "start_time": "2026-03-01T07:00:00.001Z",
            "end_time": "2026-03-02T07:00:00.001Z",
        },
        "discount": [
            {"discount_subtype": "FINAL_PRICE", "discount_value": 1.99, "active": True, "sku": ["A", "B"]},
            {"discount_subtype": "PERCENTAGE", "discount_value": 20, "active": False, "sku": ["C"], "max_quantity": 2},
        ],
        "limits": {"max_items_per_order": 3},
    }


def test_ending_a_promotion_sends_the_same_bytes_but_for_the_flag(tools):
    server = tools.platform(tools.http(202, {"job_id": "p1"}))
    client = tools.client(server)
    client.put_promotion(promotion(), ["v1"])
    client.put_promotion(promotion(active=False), ["v1"])
    begun, ended = (one.body for one in server.of("PUT"))
    assert begun.replace(b'"active":true,"reason"', b'"active":false,"reason"') == ended


@pytest.mark.parametrize(
    "broken",
    [
        {"vendors": ()},
        {"display_name": {}},
        {"discounts": ()},
        {"end_time": START},
        {"start_time": START.replace(tzinfo=None), "end_time": START.replace(tzinfo=None, year=2027)},
        {"discounts": (Discount((), Decimal(1)),)},
        {"discounts": (Discount(("",), Decimal(1)),)},
        {"discounts": (Discount(("A",), Decimal(-1)),)},
        {"discounts": (Discount(("A",), Decimal("NaN")),)},
        {"discounts": (Discount(("A",), Decimal(0), "PERCENTAGE"),)},
        {"discounts": (Discount(("A",), Decimal(101), "PERCENTAGE"),)},
        {"limits": {"max_discount_per_order": 0.1}},
        {"display_name": {"de_DE": "\ud800"}},
    ],
)
def test_a_promotion_that_the_platform_rejects_as_a_whole_is_never_sent(tools, broken):
    server = tools.platform(tools.http(202, {"job_id": "p1"}))
    with pytest.raises(InvalidRequestError):
        tools.client(server).put_promotion(promotion(**broken), ["v1"])
    assert server.connections == 0


def test_a_promotion_whose_answer_is_lost_is_not_sent_twice(tools):
    server = tools.platform(lambda seen, send: None)
    with pytest.raises(AmbiguousError):
        tools.client(server).put_promotion(promotion(), ["v1"])
    assert len(server.of("PUT")) == 1


def test_a_promotions_status_reports_what_it_left_out(tools):
    result = {"invalid_vendors": ["v9"], "missing_skus": {"v1": ["A", 2]}, "invalid_discounted_skus": {"v2": ["B"]}}
    server = tools.platform(
        tools.http(
            200, {"job_id": "p1", "job_status": "completed", "created_at": "2026-03-01T00:00:00.000Z", "result": result}
        ),
        tools.http(200, {"job_id": "p1", "job_status": "DUPLICATE", "result": None}),
    )
    client = tools.client(server)
    done = client.promotion_status("p1")
    assert (done.status, done.invalid_vendors, done.missing_skus) == ("COMPLETED", ("v9",), {"v1": ("A", "2")})
    assert done.invalid_discounted_skus == {"v2": ("B",)}
    assert done.created_at == dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    assert client.promotion_status("p1").status == "DUPLICATE"
    assert server.of("GET")[0].path == "/v2/chains/demo-chain/promotion/jobs/p1"


def test_a_platform_without_promotion_status_costs_no_request(tools):
    server = tools.platform(tools.http(200, {}))
    with pytest.raises(NotEnabledError):
        tools.client(server, dialect=Dialect(promotion_status_path="")).promotion_status("p1")
    assert server.connections == 0
