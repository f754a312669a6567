"""deploy/nginx/shelfsync.conf, run by nginx with TLS in front of a real receiver."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from receiver_fixture import LiveReceiver, request
from shelfsync.settings_file import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
EVENT = b'{"job_id": "7", "status": "COMPLETED"}'
STOCK = "keepalive_timeout 65; ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3; server_tokens on;"
"""What a distribution's nginx.conf has before it includes ours."""
EVENTS = "events.example.com"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed: apt-get install nginx-light"),
]


def _free_port() -> int:
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def proxy(database_url, tmp_path):
    """The port of nginx with the configuration of the repository, whose addresses and certificates alone are others."""
    certificate, key, port = tmp_path / "tls.pem", tmp_path / "tls.key", _free_port()
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={EVENTS} -keyout {key} -out {certificate}"
    subprocess.run(command.split(), check=True, capture_output=True)
    with LiveReceiver(database_url) as receiver:
        text = (PROJECT / "deploy/nginx/shelfsync.conf").read_text("utf-8")
        for old, new in {
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
            "127.0.0.1:8480": f"127.0.0.1:{receiver.port}",
            "/etc/ssl/events.pem": str(certificate),
            "/etc/ssl/events.key": str(key),
            "/etc/ssl/airflow.pem": str(certificate),
            "/etc/ssl/airflow.key": str(key),
        }.items():
            assert old in text
            text = text.replace(old, new)
        paths = "".join(
            f"{name}_temp_path {tmp_path}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        main = tmp_path / "nginx.conf"
        main.write_text(
            f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; worker_processes 1; user root;\n"
            f"events {{}}\nhttp {{ access_log off; {STOCK} {paths}\n{text}\n}}\n"
        )
        nginx = subprocess.Popen([str(NGINX), "-p", str(tmp_path), "-c", str(main), "-e", str(tmp_path / "error.log")])
        try:
            _wait_for(port, nginx, tmp_path / "error.log")
            yield port
        finally:
            nginx.terminate()
            nginx.wait(20)


def _wait_for(port: int, nginx: subprocess.Popen, log: Path) -> None:
    for _ in range(200):
        assert nginx.poll() is None, log.read_text("utf-8")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError(log.read_text("utf-8"))


def _connect(port: int, name: str = EVENTS) -> ssl.SSLSocket:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    return trusting.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=40), server_hostname=name)


def _answer(port: int, raw: bytes, name: str = EVENTS) -> bytes:
    with _connect(port, name) as connection:
        connection.sendall(raw)
        return connection.recv(4096)


def _get(path: str, name: str = EVENTS) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode()


def test_an_event_passes_by_tls_and_no_other_path_does(proxy) -> None:
    event = request(EVENT).replace(b"Host: x", f"Host: {EVENTS}".encode())
    assert _answer(proxy, event).startswith(b"HTTP/1.1 200")
    assert _answer(proxy, _get("/health")).startswith(b"HTTP/1.1 200")
    for path in ("/metrics", "/", "/webhook/../metrics", "/execution/"):
        assert _answer(proxy, _get(path)).startswith(b"HTTP/1.1 404"), path


def test_the_workers_interface_of_airflow_is_not_reached_from_outside(proxy) -> None:
    name = "airflow.example.com"
    for path in ("/execution/health", "//execution/health", "/x/../execution/health", "/%65xecution/health"):
        assert _answer(proxy, _get(path, name), name).startswith(b"HTTP/1.1 404"), path


def test_a_body_beyond_the_limit_is_refused_before_it_is_sent(proxy) -> None:
    head = f"POST /webhook HTTP/1.1\r\nHost: {EVENTS}\r\nContent-Length: 1048577\r\n\r\n"
    assert _answer(proxy, head.encode()).startswith(b"HTTP/1.1 413")


def test_a_client_that_sends_its_head_or_its_body_too_slowly_is_closed_while_others_are_answered(proxy) -> None:
    with _connect(proxy) as head, _connect(proxy) as body:
        head.sendall(b"POST /webhook HTTP/1.1\r\nHost: ")
        body.sendall(f"POST /webhook HTTP/1.1\r\nHost: {EVENTS}\r\nContent-Length: 1000\r\n\r\n{{".encode())
        assert _answer(proxy, _get("/health")).startswith(b"HTTP/1.1 200")
        early = head.recv(4096)
        assert early == b"" or early.startswith(b"HTTP/1.1 408")
        late = body.recv(4096)
        assert late == b"" or late.startswith(b"HTTP/1.1 408")


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
def test_an_unencrypted_call_and_an_old_tls_get_no_answer_of_the_receiver(proxy) -> None:
    with socket.create_connection(("127.0.0.1", proxy), timeout=20) as connection:
        connection.sendall(_get("/health"))
        assert connection.recv(4096).startswith(b"HTTP/1.1 400")
    old = ssl.create_default_context()
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("DEFAULT:@SECLEVEL=0")
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", proxy), timeout=20) as connection, pytest.raises(ssl.SSLError):
        old.wrap_socket(connection, server_hostname=EVENTS)
