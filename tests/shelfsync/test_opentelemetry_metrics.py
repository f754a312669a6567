"""Numbers by OTLP to a real HTTP server, read as a collector reads them."""

from __future__ import annotations

import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_DELTA

from shelfsync import metrics
from shelfsync.opentelemetry_metrics import OpenTelemetry
from shelfsync.settings import MetricsSettings

ROOT = Path(__file__).parents[2]


class Collector:
    """An OTLP receiver: the path of each request, and what it brought."""

    def __init__(self, status: int = 200) -> None:
        self.paths: list[str] = []
        self.found: dict[str, object] = {}
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.take(self.path, ExportMetricsServiceRequest.FromString(body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, path: str, request: ExportMetricsServiceRequest) -> None:
        self.paths.append(path)
        for resource in request.resource_metrics:
            [service] = [a.value.string_value for a in resource.resource.attributes if a.key == "service.name"]
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                kind = metric.WhichOneof("data")
                [point] = getattr(metric, kind).data_points
                labels = {a.key: a.value.string_value for a in point.attributes}
                value = point.sum if kind == "histogram" else (point.as_int or point.as_double)
                if kind != "gauge":
                    assert getattr(metric, kind).aggregation_temporality == AGGREGATION_TEMPORALITY_DELTA
                self.found[metric.name] = (service, kind, value, metric.unit, labels)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def collector():
    one = Collector()
    yield one
    one.close()


def test_each_number_reaches_a_collector_in_its_form(collector):
    sink = OpenTelemetry(collector.address, "shelfsync", "north")
    sink.count("deliver.skus", 7)
    sink.count("deliver.skus", 2)
    sink.gauge("jobs.open", 2)
    sink.timing("confirm.vendor", 0.25)
    sink.close()
    assert collector.paths == ["/v1/metrics"]
    labels = {"chain": "north"}
    assert collector.found == {
        "shelfsync.deliver.skus": ("shelfsync", "sum", 9, "", labels),
        "shelfsync.jobs.open": ("shelfsync", "gauge", 2, "", labels),
        "shelfsync.confirm.vendor": ("shelfsync", "histogram", 0.25, "s", labels),
    }


def test_the_settings_name_each_sink(collector):
    settings = MetricsSettings(otlp=f"{collector.address}/v1/metrics", statsd="127.0.0.1:8125", prefix="till")
    first, second = settings.sinks(None)
    assert isinstance(second, metrics.Statsd)
    second.close()
    first.count("end", 1)
    first.close()
    assert collector.paths == ["/v1/metrics"]
    assert collector.found == {"till.end": ("till", "sum", 1, "", {})}
    assert MetricsSettings().sinks(None) == []


def test_a_collector_that_takes_nothing_is_one_warning_without_its_address(caplog):
    refuses = Collector(400)
    address = refuses.address.replace("http://", "http://name:secret-of-the-collector@")
    sink = OpenTelemetry(address, "shelfsync")
    for _ in range(2):
        sink.count("lost", 1)
        sink._provider.force_flush()
    sink.close()
    refuses.close()
    [record] = [one for one in caplog.records if "METRICS__OTLP" in one.message]
    assert record.levelname == "WARNING"
    assert "secret-of-the-collector" not in caplog.text


@pytest.mark.slow
def test_a_command_sends_what_it_counted_before_it_ends(collector, database_url, tmp_path):
    environment = {
        "PATH": os.environ["PATH"],
        "SHELFSYNC_HOME": str(tmp_path),
        "SHELFSYNC_DATABASE_URL": database_url,
        "SHELFSYNC_METRICS__OTLP": collector.address,
    }
    code = (
        "from shelfsync import metrics\n"
        "from shelfsync.app import open_app\n"
        "from shelfsync.settings import read_settings\n"
        "with open_app(read_settings()):\n"
        "    metrics.count('deliver.skus', 3)\n"
    )
    subprocess.run(
        [sys.executable, "-c", code], env=environment | {"PYTHONPATH": str(ROOT / "include")}, check=True, timeout=120
    )
    assert collector.found["shelfsync.deliver.skus"] == ("shelfsync", "sum", 3, "", {})
