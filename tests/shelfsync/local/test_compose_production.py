"""deploy/compose.production.yaml limits every service of docker-compose.yaml, and its health checks tell a dead part from a living one."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading

import pytest
import yaml

from shelfsync.local.services import API_SERVER, INIT, SANDBOX, STAYING
from shelfsync.settings_file import PROJECT

HEALTH = "http://api-server:8080"
WITH_WORKERS = ("worker", "redis")
PARTS = {"scheduler": "scheduler", "dag-processor": "dag_processor", "triggerer": "triggerer"}


@pytest.fixture(scope="module")
def production() -> dict:
    return yaml.safe_load((PROJECT / "deploy/compose.production.yaml").read_text("utf-8"))["services"]


@pytest.fixture(scope="module")
def base() -> dict:
    return yaml.safe_load((PROJECT / "docker-compose.yaml").read_text("utf-8"))["services"]


def test_every_service_that_stays_has_limits_log_rotation_and_a_health_check(production, base) -> None:
    assert {*production} <= {*base}
    assert {*production} >= {"postgres", INIT, *STAYING}
    assert SANDBOX not in production
    for name in ("postgres", *STAYING, *WITH_WORKERS):
        limits = production[name]["deploy"]["resources"]["limits"]
        assert {*limits} == {"cpus", "memory", "pids"}, name
        assert "healthcheck" in production[name] or "healthcheck" in base[name], name
    for service in production.values():
        assert {*service["logging"]["options"]} == {"max-size", "max-file"}


def test_airflow_believes_the_proxy_that_is_named_and_knows_the_address_that_people_type(production, base) -> None:
    """So its cookies are `Secure` and its links, also those of alerts, lead to people's address."""
    assert "--proxy-headers" in base[API_SERVER]["command"]
    assert production[API_SERVER]["environment"] == {"FORWARDED_ALLOW_IPS": "${AIRFLOW_PROXY:-127.0.0.1}"}
    for name in ("scheduler", "worker", API_SERVER):
        assert base[name]["environment"]["AIRFLOW__API__BASE_URL"] == "${AIRFLOW_URL:-http://localhost:8080}"


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_a_health_check_fails_if_its_part_is_dead_or_the_api_server_is_away(production, name) -> None:
    answer = {part: {"status": "healthy"} for part in (*PARTS.values(), "metadatabase")}

    class Airflow(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/api/v2/monitor/health" else 404)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *words: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Airflow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command, interpreter, *words = production[name]["healthcheck"]["test"]
        assert (command, interpreter) == ("CMD", "python")
        there = [word.replace(HEALTH, f"http://127.0.0.1:{server.server_port}") for word in words]
        assert there != words
        code = lambda: subprocess.run([sys.executable, *there], check=False).returncode  # noqa: E731
        assert code() == 0
        answer[PARTS[name]]["status"] = "unhealthy"
        assert code() == 1
        server.shutdown()
    assert code() == 1
