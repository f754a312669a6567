"""A terminal shows both outputs. Each held store and each failed one is there once, with its reason; `--quiet` has one line."""

from __future__ import annotations

import json
import logging

import pytest

pytestmark = pytest.mark.slow

SKUS = [f"s{number:02}" for number in range(60)]
STORES = ["store-001", "store-002", "store-003"]


@pytest.fixture(autouse=True)
def ordinary_level():
    """The level of a process; the session of the tests may log more."""
    logger = logging.getLogger("shelfsync")
    before = logger.level
    logger.setLevel(logging.NOTSET)
    yield
    logger.setLevel(before)


@pytest.fixture
def chain(tmp_path, sandbox, here, monkeypatch):
    """Three stores with a file each. `write(store, price)`; without a price the file is empty."""
    for store in STORES:
        sandbox.put_products(
            store, [{"sku": sku, "barcodes": [], "title": sku, "price": 2, "active": True} for sku in SKUS]
        )
    monkeypatch.setenv("SHELFSYNC_ERP__FILES", str(tmp_path / "{vendor}.csv"))
    (tmp_path / "stock.csv").unlink()

    def write(store, price=None):
        rows = "".join(f"{sku},{price},5,1\n" for sku in SKUS)
        (tmp_path / f"{store}.csv").write_text("" if price is None else f"sku,price,quantity,active\n{rows}")

    for store in STORES:
        write(store, 1)
    assert here("sync", "--full")[0] == 0
    return write


def lines_about(words, *outputs):
    return [line for output in outputs for line in output.splitlines() if words in line]


def test_a_held_store_and_failed_ones_are_named_once(chain, here, monkeypatch):
    chain("store-001", 10)
    chain("store-002")

    code, out, err = here("sync")
    assert code == 9
    assert len(lines_about("store-002", out, err)) == 1
    assert len(lines_about("store-001", out, err)) == 1
    assert len(lines_about("is empty", out, err)) == 1
    (line,) = err.splitlines()
    assert line.startswith("shelfsync: 1 of 3 vendors failed. 1 holds wait for a person, the first until ")
    assert "`shelfsync holds list`" in line

    code, out, err = here("sync", "--quiet")
    assert (code, out) == (9, "")
    (line,) = err.splitlines()
    assert line.startswith("shelfsync: 1 of 3 vendors failed: store-002: ")
    assert "is empty. An empty file is taken for a broken one: nothing was sent. Besides, 60 changes are held" in line

    code, out, err = here("sync", "--json")
    assert "1 of 3 vendors failed: store-002: " in json.loads(out)["data"]["error"]
    assert len(err.splitlines()) == 1

    for command in ("plan", "check"):
        code, out, err = here(command)
        assert code == 9
        assert len(lines_about("is empty", out, err)) == 1, command
        assert len(err.splitlines()) == 1, command
    assert len(lines_about("is empty", here("sync", "--verbose")[2])) > 1, "a log line is there for who asks"

    monkeypatch.setenv("SHELFSYNC_LOG_FORMAT", "json")
    assert lines_about("is empty", here("sync")[2]), "a log that programs read has it"


def test_if_every_store_fails_each_reason_is_printed_once(chain, here):
    for store in STORES:
        chain(store)
    code, out, err = here("sync")
    assert code == 4
    for store in STORES:
        assert len(lines_about(f"{store}.csv", out, err)) == 1


def test_what_is_held_alone_is_two_lines_that_say_different_things(chain, here):
    chain("store-001", 10)
    code, out, err = here("sync")
    assert code == 10
    assert len(lines_about("store-001", out, err)) == len(err.splitlines()) == 1
