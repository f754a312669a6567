"""interface.md 6 and 5.6: the events of jobs, their secret, their attempts. Orders have a file of their own."""

from __future__ import annotations

import pytest

from sandbox_fixture import LiveSandbox, WebhookReceiver

STORE = "store-001"
CATALOG = f"/v2/chains/demo-chain/vendors/{STORE}/catalog"


def put(partner, *items) -> str:
    return partner.put(CATALOG, json={"products": list(items) or [{"sku": "A"}]}).json()["job_id"]


def test_the_end_of_an_update_is_sent_with_a_link_to_its_log(platform, partner, receiver):
    platform.put_products(STORE, [{"sku": "A"}])
    job_id = put(partner)
    (event,) = receiver.wait_for(1)
    link = event.body.pop("downloadURL")
    assert event.body == {"job_id": job_id, "platform_vendor_id": STORE, "job_status": "COMPLETED"}
    assert partner.get(link).text.splitlines()[1] == '"A","success",""'


def test_the_payload_is_spelt_as_the_dialect_has_it(platform, partner, receiver):
    choices = {
        "job_webhook_status_name": "status",
        "job_webhook_link_name": "download_url",
        "job_webhook_vendor_name": "vendor_id",
        "job_id_type": "integer",
    }
    platform.control("PUT", "settings", choices)
    job_id = put(partner)
    (event,) = receiver.wait_for(1)
    assert event.body.keys() == {"job_id", "vendor_id", "status", "download_url"}
    assert (event.body["job_id"], type(job_id)) == (job_id, int)


@pytest.mark.parametrize("secret", ["any string: ünï", "Basic dXNlcjpwYXNz", "x"])
def test_the_secret_is_verbatim_in_the_authorization_header(platform, partner, receiver, secret):
    platform.put_webhook(catalog_url=receiver.url, secret=secret)
    put(partner)
    (event,) = receiver.wait_for(1)
    assert event.authorization.encode("latin-1").decode() == secret


def test_without_a_secret_nothing_is_sent(platform, partner, receiver):
    platform.put_webhook(catalog_url=receiver.url, secret="")
    put(partner)
    platform.advance(3600)
    assert receiver.received == []


def test_without_an_address_nothing_is_sent(platform, partner, receiver):
    platform.put_webhook(order_url=receiver.url)
    put(partner)
    platform.advance(3600)
    assert receiver.received == []


@pytest.mark.parametrize("status", [200, 202, 204, 299])
def test_any_2xx_is_success(platform, partner, receiver, status):
    receiver.statuses = [status]
    put(partner)
    platform.advance(3600)
    assert len(receiver.received) == 1
    assert platform.control("GET", "state")["deliveries"] == {"delivered": 1}


@pytest.mark.parametrize("status", [199 + 1 + 100, 400, 401, 404, 500, 503])
def test_any_other_status_is_retried_with_growing_waits_up_to_five_times(platform, partner, receiver, status):
    platform.control("PUT", "settings", {"webhook_backoff_s": [1, 5, 30, 120, 600]})
    receiver.statuses = [status] * 9
    put(partner)
    receiver.wait_for(1)
    platform.advance(0)
    times = []
    for seconds in (0, 1, 5, 30, 120, 600, 86_400):
        platform.advance(seconds)
        times.append(len(receiver.received))
    assert times == [1, 2, 3, 4, 5, 6, 6]
    assert platform.control("GET", "state")["deliveries"] == {"given_up": 1}
    assert len({str(event.body) for event in receiver.received}) == 1


def test_a_successful_attempt_is_the_last(platform, partner, receiver):
    receiver.statuses = [500, 500, 204]
    put(partner)
    platform.advance(3600)
    assert len(receiver.received) == 3
    assert platform.control("GET", "state")["deliveries"] == {"delivered": 1}


def test_a_redirect_is_not_followed(platform, partner, receiver):
    receiver.statuses = [307]
    put(partner)
    receiver.wait_for(1)
    platform.advance(0)
    assert [entry["status"] for entry in webhooks(platform)] == [307]


def test_an_answer_that_takes_too_long_counts_as_none(platform, partner, receiver):
    platform.control("PUT", "settings", {"webhook_timeout_s": 0.1, "webhook_backoff_s": []})
    receiver.hold_s = 0.4
    put(partner)
    platform.advance(0)
    assert platform.control("GET", "state")["deliveries"] == {"given_up": 1}
    assert [entry["status"] for entry in webhooks(platform)] == [None]


def test_an_address_without_a_listener_is_given_up_after_all_attempts(platform, partner):
    platform.put_webhook(catalog_url="http://127.0.0.1:9/events")
    put(partner)
    platform.advance(3600)
    assert platform.control("GET", "state")["deliveries"] == {"given_up": 1}
    assert len(webhooks(platform)) == 6


def test_the_event_of_a_failed_job_has_no_link(platform, partner, receiver):
    platform.faults({"at": "job", "kind": "failed"})
    job_id = put(partner)
    (event,) = receiver.wait_for(1)
    assert event.body == {"job_id": job_id, "platform_vendor_id": STORE, "job_status": "FAILED"}


def test_on_a_real_clock_the_event_comes_by_itself():
    with LiveSandbox(job_seconds=0.2) as platform, WebhookReceiver() as receiver, platform.partner() as partner:
        receiver.statuses = [500]
        platform.put_webhook(catalog_url=receiver.url)
        put(partner)
        assert [event.body["job_status"] for event in receiver.wait_for(2)] == ["COMPLETED"] * 2


def test_a_receiver_that_does_not_answer_holds_up_no_job(receiver, platform, partner):
    receiver.hold_s = 1.0
    put(partner)
    receiver.wait_for(1)
    job_id = put(partner)
    for _ in range(200):  # requests; the first event is answered only after a second
        status = partner.get(f"/v2/chains/demo-chain/catalog/jobs/{job_id}").json()["job_status"]
        if status == "COMPLETED":
            break
    assert status == "COMPLETED"
    assert webhooks(platform) == []


def test_a_receiver_that_does_not_answer_one_event_holds_up_no_other(receiver, platform, partner):
    receiver.hold_s = 1.0
    first = put(partner)
    receiver.wait_for(1)
    receiver.hold_s = 0.0
    second = put(partner)
    receiver.wait_for(2, deadline_s=0.9)
    assert [event.body["job_id"] for event in receiver.received] == [first, second]


def webhooks(platform):
    return [entry for entry in platform.journal()["entries"] if entry["kind"] == "webhook"]
