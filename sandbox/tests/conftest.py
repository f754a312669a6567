"""One sandbox on a virtual clock for all these tests, reset for each; a partner with a token; a webhook receiver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from order_picker import OrderPicker
from promotion_bodies import promotion_body
from sandbox_fixture import LiveSandbox, WebhookReceiver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

CATALOG = "/v2/chains/demo-chain/vendors/store-001/catalog"


@pytest.fixture(scope="session")
def running_platform() -> Iterator[LiveSandbox]:
    with LiveSandbox(clock="virtual") as live:
        yield live


@pytest.fixture
def platform(running_platform: LiveSandbox) -> LiveSandbox:
    """In its initial state, on a clock that does not advance; jobs take no time."""
    running_platform.reset()
    return running_platform


@pytest.fixture
def partner(platform: LiveSandbox) -> Iterator[httpx.Client]:
    with platform.partner() as client:
        yield client


@pytest.fixture(scope="session")
def running_receiver() -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as receiver:
        yield receiver


@pytest.fixture
def receiver(running_receiver: WebhookReceiver, platform: LiveSandbox) -> Iterator[WebhookReceiver]:
    """The partner's webhook for events of every kind, configured with the secret "s3cret"."""
    running_receiver.clear()
    platform.put_webhook(catalog_url=running_receiver.url, order_url=running_receiver.url)
    yield running_receiver
    platform.advance(0)  # the running deliveries end before the next test begins


@pytest.fixture
def push(platform: LiveSandbox, partner: httpx.Client) -> Callable[..., dict[str, Any]]:
    """Sends items for a vendor, waits for the job; its status answer with the log's lines under `log`."""

    def send(*items: dict[str, Any], vendor: str = "store-001") -> dict[str, Any]:
        answer = partner.put(f"/v2/chains/demo-chain/vendors/{vendor}/catalog", json={"products": list(items)})
        assert answer.status_code == 202, answer.text
        return finished_job(platform, partner, answer.json()["job_id"])

    return send


@pytest.fixture
def rejection(partner: httpx.Client) -> Callable[..., str]:
    """Sends a body that the platform rejects as a whole; returns the message of the 400."""

    def send(body: Any) -> str:
        content = body if isinstance(body, bytes) else None
        answer = partner.put(CATALOG, content=content, json=None if content is not None else body)
        assert answer.status_code == 400, answer.text
        assert answer.json()["code"] == "INVALID_REQUEST"
        return answer.json()["message"]

    return send


def finished_job(platform: LiveSandbox, partner: httpx.Client, job_id: str | int) -> dict[str, Any]:
    """A job's status once all due work has ended, with the lines of its file under `log`."""
    platform.advance(0)
    status = partner.get(f"/v2/chains/demo-chain/catalog/jobs/{job_id}").json()
    if "download_url" in status:
        status["log"] = partner.get(status["download_url"]).text.splitlines()
    return status


@pytest.fixture
def picker(platform: LiveSandbox, partner: httpx.Client, receiver: WebhookReceiver) -> OrderPicker:
    """Orders of store-001, with a small assortment and the webhook configured."""
    return OrderPicker(platform, partner, receiver)


@pytest.fixture
def promote(platform: LiveSandbox, partner: httpx.Client) -> Callable[..., dict[str, Any]]:
    """Puts a promotion that runs and that customers see at once; its job's status."""
    platform.control("PUT", "settings", {"promotion_propagation_s": 0})

    def send(*discount: dict[str, Any], name: str = "Offer", **values: Any) -> dict[str, Any]:
        body = promotion_body(platform, *discount, name=name, **values)
        answer = partner.put("/v2/chains/demo-chain/promotion", json=body)
        assert answer.status_code == 202, answer.text
        platform.advance(0)
        return partner.get(f"/v2/chains/demo-chain/promotion/jobs/{answer.json()['job_id']}").json()

    return send
