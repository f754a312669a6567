"""`shelfsync sandbox`: the products of one's own ERP in the sandbox, and an order of a customer."""

from __future__ import annotations

import http.server
import threading

import pytest

from documents import data, error


@pytest.mark.slow
def test_the_erp_fills_the_sandbox_and_a_customer_orders(here, sandbox, tmp_path, monkeypatch):
    (tmp_path / "stock.csv").write_text(
        "vendor,sku,barcode,price,quantity,active\n"
        '0101,a,,2,4,1\n0101,b ,96385074,1.5,4,1\n0101,b,96385074,1.5,4,1\n0102,ä/ü ?,x,1,9,1\n0103,c,,1,1,1\n0102,"a\tb",,1,1,1\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("SHELFSYNC_ERP__VENDOR_IDS", '{"0101": "store-001", "0102": "new store 2"}')
    code, output, errors = here("sandbox", "fill", "--json")
    assert code == 0, errors
    made, kept = {"store-001": 1, "new store 2": 1}, {"store-001": 1, "new store 2": 0}
    assert data(output) == {"made": made, "kept": kept, "failed": {}, "left_out": []}
    assert sandbox.products("store-001")["a"]["title"] == "A", "what is there stays"
    assert sandbox.products("store-001")["b"]["active"] is False
    assert data(here("sandbox", "fill", "--json")[1])["made"] == {"store-001": 0, "new store 2": 0}
    code, output, _ = here("sandbox", "order", "store-001", "--sku", "a", "--quantity", "2")
    assert (code, "2 x a (A)" in output, "sends no event" in output) == (0, True, True)
    code, _, errors = here("sandbox", "order", "new store 2")
    assert code != 0
    assert "has nothing on sale. Run `shelfsync sync --full --vendor new store 2`" in errors


@pytest.mark.slow
def test_a_total_in_place_of_a_store_is_made_only_if_it_is_named(here, sandbox, tmp_path):
    (tmp_path / "stock.csv").write_text(
        "vendor,sku,price,quantity,active\nstore-001,a,1,4,1\nstore-001,b,2,5,1\nSumme,2,3,9,\n", encoding="utf-8"
    )
    code, output, errors = here("sandbox", "fill")
    assert code == 0, errors
    assert "vendor Summe:" not in output
    assert "left out Summe: it may be a total of the list. If it is a store, name it by --vendor" in output
    code, output, errors = here("sandbox", "fill", "--vendor", "Summe", "--json")
    assert code == 0, errors
    assert data(output)["made"] == {"Summe": 1}
    assert "left out" not in here("sandbox", "fill")[1], "the sandbox has it"


class NoSandbox(http.server.BaseHTTPRequestHandler):
    """A real platform: its answer to an unknown path, and what it was asked."""

    def do_GET(self):
        self.server.asked.append(f"{self.command} {self.path}")
        self.send_response(200 if self.server.polite else 404)
        self.end_headers()
        self.wfile.write(b"<html>hello</html>")

    def do_PUT(self):
        self.do_GET()

    def do_POST(self):
        self.do_GET()

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("polite", [True, False])
def test_a_platform_that_is_no_sandbox_is_left_alone(here, monkeypatch, polite):
    with http.server.HTTPServer(("127.0.0.1", 0), NoSandbox) as server:
        server.polite, server.asked = polite, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("SHELFSYNC_PLATFORM__BASE_URL", f"http://127.0.0.1:{server.server_port}")
        for command in ("fill", "order"):
            code, output, _ = here("sandbox", command, "--json")
            assert code == 3
            assert "is no sandbox" in error(output)["message"]
        server.shutdown()
    assert set(server.asked) == {"GET /_sandbox/state"}
