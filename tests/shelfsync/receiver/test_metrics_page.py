"""/metrics of the receiver: its counters for the named readers, and an unknown path for everyone else."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest

from monitoring_files import asked_metrics
from receiver_fixture import SECRET, LiveReceiver

LOOPBACK = "127.0.0.0/8"
ORDER = b'{"order_id": "5b8e6f3c-1111-4222-8333-444455556666", "status": "RECEIVED", "customer": {"phone_number": "phone-canary"}}'


def _call(port, path, body=None, secret=""):
    call = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {"Authorization": secret})
    try:
        with urllib.request.urlopen(call, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


@pytest.mark.slow
def test_the_counters_are_those_that_the_dashboard_asks_for_and_hold_nothing_of_a_call(database_url, engine):
    with LiveReceiver(database_url, SHELFSYNC_METRICS__READERS=LOOPBACK) as receiver:
        for body, secret in ((b'{"job_id": "17"}', SECRET), (ORDER, SECRET), (b"{}", "wrong-canary")):
            _call(receiver.port, "/webhook", body, secret)
        status, text = _call(receiver.port, "/metrics")
    assert status == 200
    assert "shelfsync_inbox_events_job_total 1.0" in text.splitlines()
    assert "canary" not in text
    sent = {line.split()[0] for line in text.splitlines() if not line.startswith("#")}
    assert asked_metrics("shelfsync_inbox_") - sent == set()


@pytest.mark.slow
@pytest.mark.parametrize("readers", ["", "192.0.2.7"])
def test_another_address_finds_no_such_page(database_url, engine, readers):
    settings = {"SHELFSYNC_METRICS__READERS": readers} if readers else {}
    with LiveReceiver(database_url, **settings) as receiver:
        assert _call(receiver.port, "/metrics", secret=SECRET)[0] == 404


@pytest.mark.slow
def test_the_receiver_of_one_chain_of_several_names_it(database_url, engine):
    settings = {"DATABASE_URL": database_url, "WEBHOOK__SECRET": SECRET, "WEBHOOK__PORT": "0"}
    of_chain = {f"SHELFSYNC_CHAINS__NORTH__{name}": value for name, value in settings.items()}
    with LiveReceiver(
        database_url, SHELFSYNC_CHAIN="north", SHELFSYNC_METRICS__READERS=LOOPBACK, **of_chain
    ) as receiver:
        _call(receiver.port, "/webhook", b"{}", "wrong")
        text = _call(receiver.port, "/metrics")[1]
    assert 'shelfsync_inbox_rejected_401_total{chain="north"} 1.0' in text.splitlines()
