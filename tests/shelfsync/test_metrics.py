"""Numbers on a real UDP socket, as a StatsD server would get them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shelfsync import metrics
from shelfsync.errors import ConfigurationError

ROOT = Path(__file__).parents[2]


class Listener:
    """A UDP socket, and what came in on it."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(5)
        self.port = self._socket.getsockname()[1]

    def lines(self, upto: str) -> list[str]:
        """What has come, as far as a line that begins so."""
        received: list[str] = []
        while not received or not received[-1].startswith(upto):
            received += self._socket.recv(65536).decode().split("\n")
        return received

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener():
    one = Listener()
    yield one
    one.close()


@pytest.fixture
def received(listener):
    sink = metrics.Statsd(f"127.0.0.1:{listener.port}", "shelfsync")
    metrics.use(sink)
    yield listener
    metrics.use(None)
    sink.close()


def test_each_number_reaches_a_statsd_server_in_its_form(received):
    metrics.count("deliver.skus", 7)
    metrics.gauge("jobs.open", 2)
    metrics.timing("confirm.vendor", 0.25)
    metrics.count("end")
    assert received.lines("shelfsync.end") == [
        "shelfsync.deliver.skus:7|c",
        "shelfsync.jobs.open:2|g",
        "shelfsync.confirm.vendor:250.000000|ms",
        "shelfsync.end:1|c",
    ]


def test_without_a_sink_no_number_is_sent(listener):
    metrics.count("unheard")
    assert not metrics.listened_to()


def test_a_sink_that_fails_disturbs_no_caller():
    class Broken:
        def count(self, name, by):
            raise RuntimeError(name)

        gauge = timing = count

    metrics.use(Broken())
    try:
        metrics.count("deliver.skus")
    finally:
        metrics.use(None)


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:http"])
def test_an_address_that_is_none_is_a_wrong_setting(address):
    with pytest.raises(ConfigurationError, match="SHELFSYNC_METRICS__STATSD"):
        metrics.Statsd(address, "shelfsync")


def test_a_server_whose_name_is_unknown_for_now_stops_no_process_and_gets_numbers_once_it_is_known(
    listener, monkeypatch, caplog
):
    known = socket.getaddrinfo

    def resolve(host, *more):
        if host == "statsd" and not there:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return known("127.0.0.1" if host == "statsd" else host, *more)

    there: list[bool] = []
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(metrics, "RESOLVE_AGAIN_S", 0.05, raising=False)
    sink = metrics.Statsd(f"statsd:{listener.port}", "shelfsync")
    metrics.use(sink)
    try:
        metrics.count("lost")
        assert "SHELFSYNC_METRICS__STATSD" in caplog.text
        there.append(True)
        deadline = time.monotonic() + 20
        while not sink.is_connected and time.monotonic() < deadline:
            time.sleep(0.02)
        metrics.count("end")
        assert listener.lines("shelfsync.end") == ["shelfsync.end:1|c"]
    finally:
        metrics.use(None)
        sink.close()


@pytest.mark.slow
def test_inside_airflow_its_own_metrics_section_decides(listener, tmp_path):
    """A process with Airflow's configuration, as a task's is."""
    code = (
        "from shelfsync import metrics\n"
        "from shelfsync_airflow.app import AirflowMetrics\n"
        "metrics.use(AirflowMetrics())\n"
        "metrics.count('deliver.skus', 7); metrics.gauge('jobs.open', 2); metrics.timing('confirm.vendor', 0.25)\n"
        "metrics.count('end')\n"
    )
    variables = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT / 'include'}:{ROOT / 'plugins'}",
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__METRICS__STATSD_ON": "True",
        "AIRFLOW__METRICS__STATSD_HOST": "127.0.0.1",
        "AIRFLOW__METRICS__STATSD_PORT": str(listener.port),
        "AIRFLOW__METRICS__STATSD_PREFIX": "chain",
    }
    subprocess.run([sys.executable, "-c", code], env=variables, check=True, timeout=120)
    received = listener.lines("chain.shelfsync.end")  # among Airflow's own
    assert [line for line in received if line.startswith("chain.shelfsync.")] == [
        "chain.shelfsync.deliver.skus:7|c",
        "chain.shelfsync.jobs.open:2|g",
        "chain.shelfsync.confirm.vendor:250.000000|ms",
        "chain.shelfsync.end:1|c",
    ]


def test_one_chain_of_several_has_its_name_in_a_label_and_behind_the_prefix():
    sink = metrics.Prometheus("shelfsync", "north")
    sink.gauge("alerts.open", 2)
    sink.count("inbox.rejected.401", 3)
    sink.timing("normalise.vendor", 0.5)
    lines = sink.text().splitlines()
    assert 'shelfsync_alerts_open{chain="north"} 2.0' in lines
    assert 'shelfsync_inbox_rejected_401_total{chain="north"} 3.0' in lines
    assert 'shelfsync_normalise_vendor_seconds_sum{chain="north"} 0.5' in lines
    assert metrics.statsd_prefix("shelfsync", "north") == "shelfsync.north"
