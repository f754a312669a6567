"""POST /picking/{order_id}: secret, limits, repeats, and no 202 for a result that is not stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest
from pydantic import SecretStr

from order_picker import STORE
from orders_world import PICKING_KEY, PICKING_SECRET, picked
from shelfsync.receiver.request_body import PICKING_BYTES_MAX
from shelfsync.receiver.secret import StoreSecrets

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
def start_receiver(world, open_receiver):
    """A separate receiver, with other settings than the world's."""

    def opened(dsn: str | None = None, **orders: str | None) -> str:
        settings: Settings = world.app.context.settings
        secrets = {name: None if value is None else SecretStr(value) for name, value in orders.items()}
        changed: dict[str, object] = {"orders": settings.orders.model_copy(update=secrets)}
        changed |= {} if dsn is None else {"database_url": SecretStr(dsn)}
        return open_receiver(settings.model_copy(update=changed))

    return opened


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"x" * (PICKING_BYTES_MAX + 1), 413),
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
def test_an_invalid_or_oversized_result_is_rejected_and_not_stored(world, content, status):
    assert post(world.receiver_url, content).status_code == status
    assert stored(world) == 0


def test_an_invalid_order_id_is_rejected(world):
    body = {"action": "cancel", "reason": "CLOSED"}
    for name in ("unknown", "..%2F..", "0" * 300):
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


def test_the_secret_before_it_is_valid_while_it_is_changed(world, start_receiver):
    url = start_receiver(picking_secret="another picking secret", picking_secret_previous=PICKING_KEY)
    new, other = (
        StoreSecrets(SecretStr(key)).of(STORE) for key in ("another picking secret", "a third picking secret")
    )
    body = json.dumps({"action": "cancel", "reason": "CLOSED"}).encode()
    answers = [post(url, body, Authorization=word).status_code for word in (PICKING_SECRET, new, other)]
    assert answers == [202, 200, 401]


@pytest.mark.parametrize(
    "presented",
    [
        PICKING_KEY,
        f"store-002.{PICKING_SECRET.rpartition('.')[2]}",
        f"{PICKING_SECRET}0",
        PICKING_SECRET[:-1],
        f".{PICKING_SECRET.rpartition('.')[2]}",
        f"{STORE}.",
        ".",
        "\u00e9.\u00e9".encode().decode("latin-1"),
    ],
)
def test_neither_the_key_itself_nor_a_secret_changed_to_another_store_is_accepted(world, presented):
    answer = httpx.post(
        f"{world.receiver_url}/picking/{ORDER}",
        json={"action": "cancel", "reason": "CLOSED"},
        headers=[(b"Authorization", presented.encode("latin-1"))],
        trust_env=False,
    )
    assert (answer.status_code, stored(world)) == (401, 0)


OTHER = StoreSecrets(SecretStr(PICKING_KEY)).of("store-002")


@pytest.mark.slow
def test_a_stores_secret_changes_and_shows_nothing_of_another_stores_order(world):
    order = world.place("MILK")
    url = f"{world.receiver_url}/picking/{order['order_id']}"
    theirs = httpx.Client(headers={"Authorization": OTHER}, trust_env=False)
    early = theirs.post(url, json={"result_id": "early", "action": "cancel", "reason": "CLOSED"})
    assert early.status_code == 202  # the order's own event may be on its way: whose it is is not known yet
    world.receive_events()
    late = theirs.post(url, json={"result_id": "late", "action": "fulfil", "items": [picked("MILK")]})
    assert late.status_code == 202
    world.tick()
    results = theirs.get(url).json()["results"]
    assert [(one["state"], one["rules"]) for one in results] == [("rejected", ["store"])] * 2
    assert world.puts(order) == 0
    world.report(order, "fulfil", picked("MILK"), result_id="ours")
    world.until(order, "done")
    assert [one["result_id"] for one in world.results(order)] == ["ours"]
    assert [one["result_id"] for one in theirs.get(url).json()["results"]] == ["early", "late"]
    theirs.close()


def test_a_result_of_the_table_or_of_a_person_needs_no_stores_secret(world):
    order = world.place("MILK")
    world.receive_events()
    world.app.orders.report(order["order_id"], {"action": "fulfil", "items": [picked("MILK")]})
    world.tick()
    assert world.puts(order) == 1


def test_without_a_secret_no_call_is_accepted(world, start_receiver):
    url = start_receiver(picking_secret=None)
    assert post(url, b"{}").status_code == 401
    assert post(url, b"{}", Authorization="").status_code == 401


def test_a_result_that_cannot_be_stored_is_answered_503(world, start_receiver):
    url = start_receiver(dsn="postgresql://user@127.0.0.1:1/nowhere")
    answer = post(url, json.dumps({"action": "cancel", "reason": "CLOSED"}).encode())
    assert (answer.status_code, "send it again" in answer.text) == (503, True)
