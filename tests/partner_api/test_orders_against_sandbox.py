"""Orders, promotions, exports and creation against the sandbox."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import time
from decimal import Decimal

import pytest
from pydantic import SecretStr

from partner_api import ClientCredentials
from partner_api.errors import AmbiguousError, InvalidRequestError, NotEnabledError, NotFoundError
from partner_api.order_update import ItemUpdate, OrderUpdate
from partner_api.promotions import Discount, Promotion
from partner_api.session import SystemClock
from sandbox_fixture import LiveSandbox

DEMO = ClientCredentials(LiveSandbox.client_id, SecretStr(LiveSandbox.client_secret))
STORE = "store-001"


@pytest.fixture(scope="module")
def live():
    with LiveSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def platform(live):
    live.reset()
    names = ("JAM", "BREAD", "HONEY")
    live.put_products(STORE, [{"sku": name, "price": 3.0, "active": True, "sales_buffer": 1} for name in names])
    return live


@pytest.fixture
def client(tools, platform):
    return tools.client(platform.base_url, credentials=DEMO, clock=SystemClock())


def place(platform, *skus, **more):
    return platform.control(
        "POST", f"chains/demo-chain/vendors/{STORE}/orders", {"items": [{"sku": sku} for sku in skus], **more}
    )


def finished_job(ask, job_id):
    ends_at_s = time.monotonic() + 20
    while (status := ask(job_id)).status not in {"COMPLETED", "FAILED", "DUPLICATE"}:
        assert time.monotonic() < ends_at_s, status
        time.sleep(0.01)
    return status


def test_an_order_is_read_validated_fulfilled_with_a_replacement_and_read_again(client, platform):
    order_id = place(platform, "JAM", "HONEY", delivery_fee=0, service_fee=0)["order_id"]
    order = client.get_order(order_id)
    assert (order.status, order.store_id, order.sub_total) == ("RECEIVED", STORE, Decimal(6))
    jam, honey = order.items
    assert jam.pricing.quantity == 1
    items = (
        ItemUpdate("JAM", "REPLACED", item_id=jam.item_id, quantity=1, pricing_type="UNIT"),
        ItemUpdate(
            "BREAD", "IN_CART", quantity=1, unit_price=Decimal("2.50"), pricing_type="UNIT", replaced_id=jam.item_id
        ),
        ItemUpdate("HONEY", "IN_CART", item_id=honey.item_id, quantity=1, pricing_type="UNIT"),
    )
    assert client.put_order(OrderUpdate(order_id, "UPDATE_CART", items)).sub_total == Decimal(6)
    assert client.get_order(order_id).status == "RECEIVED"
    done = client.put_order(OrderUpdate(order_id, "READY_FOR_PICKUP", items))
    assert done.status == "READY_FOR_PICKUP"
    again = client.get_order(order_id)
    assert {item.sku: item.status for item in again.items} == {
        "JAM": "REPLACED",
        "BREAD": "IN_CART",
        "HONEY": "IN_CART",
    }
    assert again.sub_total == Decimal("5.50")


def test_an_order_whose_answer_is_lost_is_ambiguous_and_was_put_once(client, platform):
    order_id = place(platform, "JAM")["order_id"]
    platform.faults({"at": "put_order", "kind": "drop_answer", "times": 1})
    update = OrderUpdate(order_id, "READY_FOR_PICKUP", (ItemUpdate("JAM", "IN_CART"),))
    with pytest.raises(AmbiguousError):
        client.put_order(update)
    assert client.get_order(order_id).status == "READY_FOR_PICKUP"
    operations = [entry["operation"] for entry in platform.journal()["entries"]]
    assert operations.count("put_order") == 1


def test_a_partner_cancels_with_its_reason(client, platform):
    order_id = place(platform, "JAM")["order_id"]
    update = OrderUpdate(order_id, "CANCELLED", (ItemUpdate("JAM", "NOT_FOUND"),), cancel_reason="TOO_BUSY")
    assert client.put_order(update).status == "CANCELLED"


def test_the_error_of_a_rejected_price_shows_no_personal_data(client, platform):
    order_id = place(platform, "JAM", customer={"phone_number": "+447700900999"})["order_id"]
    raised = (ItemUpdate("JAM", "IN_CART", quantity=1, unit_price=Decimal("9.99"), pricing_type="UNIT"),)
    with pytest.raises(InvalidRequestError) as caught:
        client.put_order(OrderUpdate(order_id, "READY_FOR_PICKUP", raised))
    assert "900999" not in str(caught.value)


def test_the_history_is_found_on_whichever_path_the_platform_has(client, platform):
    placed = [place(platform, "JAM")["order_id"] for _ in range(5)]
    now = dt.datetime.now(dt.UTC)
    span = (now - dt.timedelta(days=1), now + dt.timedelta(days=1))
    page = client.list_orders(STORE, *span, 1, 2)
    assert (len(page.orders), page.total_pages) == (2, 3)
    history = client.whole_history(STORE, *span)
    assert history.complete
    assert {order.order_id for order in history.orders} == set(placed)
    with pytest.raises(NotFoundError):
        client.get_order("5b8e6f3c-1111-4222-8333-444455556666")


def test_a_promotion_is_created_distinguished_from_its_duplicate_and_ended(client, platform):
    now = dt.datetime.now(dt.UTC)
    start, end = now + dt.timedelta(hours=1), now + dt.timedelta(days=2)
    discounts = (Discount(("JAM", "UNKNOWN"), Decimal("1.990")),)
    promotion = Promotion((STORE,), {"en_GB": "March"}, start, end, discounts)
    status = finished_job(client.promotion_status, client.put_promotion(promotion, (STORE,)).job_id)
    assert status.status == "COMPLETED"
    assert status.missing_skus == {STORE: ("UNKNOWN",)}
    ended = Promotion((STORE,), {"en_GB": "March"}, start, end, discounts, active=False)
    assert finished_job(client.promotion_status, client.put_promotion(ended, (STORE,)).job_id).status == "COMPLETED"


def test_an_export_returns_the_assortment(client, platform):
    status = finished_job(client.job_status, client.export(STORE).job_id)
    file = io.BytesIO()
    client.download(status.download_url, file)
    content = file.getvalue()
    assert not content.startswith(gzip.compress(b"")[:2])
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert {row["sku"] for row in rows} == {"JAM", "BREAD", "HONEY"}
    assert {row["price"] for row in rows} <= {"3", "3.0", "3.00", "3.000"}


def test_products_are_created_inside_the_pilot_only(client, platform):
    new = {"sku": "NEW", "title": {"en_GB": "New"}, "price": Decimal("1.10"), "barcodes": ["4006381333931"]}
    with pytest.raises(NotEnabledError):
        client.create_products([new], [STORE])
    platform.control("PUT", "chains/demo-chain", {"creation_enabled": True})
    assert client.create_products([new], [STORE]).job_id
