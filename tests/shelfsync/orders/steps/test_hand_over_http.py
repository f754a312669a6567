"""A signed call hands an order over, within its time and to whom the chain trusts."""

from __future__ import annotations

import contextlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pydantic import SecretStr

import tls_certificate
from partner_api.sender import trusted_authorities
from shelfsync.errors import TryAgainError
from shelfsync.orders.hand_over_channel import Document
from shelfsync.orders.steps.hand_over_http import SignedHttp


@contextlib.contextmanager
def listening(till, tls=None):
    """The port of a store's own HTTP server, whose requests go to this handler."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), till)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_a_call_whose_answer_was_lost_is_repeated_with_the_same_number(make_world):
    got = []

    class Till(BaseHTTPRequestHandler):
        def do_POST(self):
            got.append((self.headers["X-Shelfsync-Hand-Over"], self.rfile.read(int(self.headers["content-length"]))))
            if len(got) > 1:
                self.send_response(200)
                self.end_headers()
            self.close_connection = True

        def log_message(self, *_):
            """Quiet."""

    with listening(Till) as port:
        url = f"http://127.0.0.1:{port}/orders"
        world = make_world(
            orders={"hand_over": "http", "hand_over_url": url, "hand_over_secret": "shared by all of us"}
        )
        world.place("MILK")
        world.receive_events()
        reports = [world.app.orders.hand_over() for _ in range(3)]
    assert [one["written"] for one in reports] == [0, 1, 0]
    assert len(got) == 2
    assert got[0] == got[1]


def test_a_store_that_answers_byte_by_byte_is_given_up_at_the_timeout():
    """Each byte comes within the timeout, and the answer is a success in the end."""

    class Till(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            with contextlib.suppress(OSError):
                for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 60 + b"\r\nContent-Length: 0\r\n\r\n":
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.02)
            self.close_connection = True

        def log_message(self, *_):
            """Quiet."""

    with listening(Till) as port:
        address, secret = f"http://127.0.0.1:{port}/orders", SecretStr("shared by all of us")
        document = Document(1, "o", "new", "store-1", "{}")
        assert SignedHttp(address, secret, 60.0, ()).write(document) is True
        with pytest.raises(TryAgainError, match="did not answer"):
            SignedHttp(address, secret, 0.5, ()).write(document)


def test_a_stores_address_with_a_certificate_of_the_chains_own_authority_is_trusted_if_ssl_cert_file_names_it(
    tmp_path, monkeypatch
):
    class Till(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            """Quiet."""

    file = tls_certificate.write(tmp_path / "authority.pem", "127.0.0.1")
    with listening(Till, tls_certificate.server_context(file)) as port:
        address, secret = f"https://127.0.0.1:{port}/orders", SecretStr("shared by all of us")
        document = Document(1, "o", "new", "store-1", "{}")
        with pytest.raises(TryAgainError, match="did not answer"):
            SignedHttp(address, secret, 60.0, ()).write(document)
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        trusted_authorities.cache_clear()  # read once a process
        try:
            assert SignedHttp(address, secret, 60.0, ()).write(document) is True
        finally:
            trusted_authorities.cache_clear()
