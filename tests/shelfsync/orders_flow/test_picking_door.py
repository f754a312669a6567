"""POST /picking/{order_id}: who may, how much, how often, and never a 202 for what is not stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest
from pydantic import SecretStr

from orders_world import PICKING_SECRET, picked
from shelfsync.inbox.picking import BODY_BYTES_MAX

if TYPE_CHECKING:
    from shelfsync.settings import Settings

ORDER = "5b8e6f3c-1111-4222-8333-444455556666"


def post(url, content, **headers):
    return httpx.post(
        f"{url}/picking/{ORDER}", content=content, headers={"Authorization": PICKING_SECRET, **headers}, trust_env=False
    )


def stored(world):
    return world.rows("SELECT count(*) FROM ledger.picking_result")[0][0]


@pytest.fixture
def live_door(world, open_receiver):
    """A receiver of its own, with other settings than the world's."""

    def opened(dsn: str | None = None, **orders: str | None) -> str:
        settings: Settings = world.house.parts.settings
        secrets = {name: None if value is None else SecretStr(value) for name, value in orders.items()}
        changed: dict[str, object] = {"orders": settings.orders.model_copy(update=secrets)}
        changed |= {} if dsn is None else {"database_url": SecretStr(dsn)}
        return open_receiver(settings.model_copy(update=changed))

    return opened


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"x" * (BODY_BYTES_MAX + 1), 413),
        (b"", 400),
        (b"[]", 400),
        (b'{"action": "cancel", "reason": "CLOSED"', 400),
        (b'{"action": "cancel", "action": "fulfil", "reason": "CLOSED"}', 400),
        (b'{"action": "fulfil", "items": [{"sku": "MILK", "status": "picked", "quantity": NaN}]}', 400),
        (b'{"action": "fulfil", "items": ' + b"[" * 500 + b"]" * 500 + b"}", 400),
        (json.dumps({"action": "fulfil", "items": [picked("MILK")] * 1001}).encode(), 400),
    ],
    ids=["large", "empty", "list", "cut", "twice", "nan", "deep", "lines"],
)
def test_what_has_no_form_or_no_bounds_is_refused_and_not_stored(world, content, status):
    assert post(world.receiver_url, content).status_code == status
    assert stored(world) == 0


def test_an_order_id_that_is_none_is_refused(world):
    body = {"action": "cancel", "reason": "CLOSED"}
    for name in ("nobody", "..%2F..", "0" * 300):
        answer = httpx.post(
            f"{world.receiver_url}/picking/{name}",
            json=body,
            headers={"Authorization": PICKING_SECRET},
            trust_env=False,
        )
        assert answer.status_code in {400, 404}
    assert stored(world) == 0


def test_numbers_are_exact_from_the_till_to_the_ledger(world):
    body = b'{"result_id": "r", "action": "fulfil", "items": [{"sku": "A", "status": "picked", "weight": 0.30000000000000004}]}'
    assert post(world.receiver_url, body).status_code == 202
    assert "0.30000000000000004" in world.rows("SELECT body FROM ledger.picking_result")[0][0]


def test_the_secret_before_it_is_valid_while_it_is_changed(world, live_door):
    url = live_door(picking_secret="new till", picking_secret_previous=PICKING_SECRET)
    body = json.dumps({"action": "cancel", "reason": "CLOSED"}).encode()
    assert [post(url, body, Authorization=word).status_code for word in (PICKING_SECRET, "new till", "other")] == [
        202,
        200,
        401,
    ]


def test_without_a_secret_nobody_gets_in(world, live_door):
    url = live_door(picking_secret=None)
    assert post(url, b"{}").status_code == 401
    assert post(url, b"{}", Authorization="").status_code == 401


def test_what_cannot_be_stored_is_not_answered_with_a_yes(world, live_door):
    url = live_door(dsn="postgresql://nobody@127.0.0.1:1/nowhere")
    answer = post(url, json.dumps({"action": "cancel", "reason": "CLOSED"}).encode())
    assert (answer.status_code, "send it again" in answer.text) == (503, True)
