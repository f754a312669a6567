"""`shelfsync check`: vendors and chain, as the platform knows them."""

from __future__ import annotations

import pytest

from documents import data, error


@pytest.fixture
def stock(tmp_path):
    """Writes the ERP's file: one product for each of these stores."""

    def write(*stores):
        rows = "".join(f"{store},a,1,4,1\n" for store in stores)
        (tmp_path / "stock.csv").write_text(f"vendor,sku,price,quantity,active\n{rows}", encoding="utf-8")

    return write


def asked(sandbox):
    return [entry for entry in sandbox.journal()["entries"] if entry["operation"] != "token"]


@pytest.mark.slow
def test_each_vendor_of_the_erp_is_asked_for_once(run, sandbox, stock):
    stock("store-001", "nowhere")
    for _ in range(2):
        done = run("check")
        assert done.returncode == 0, done.stderr
        [line] = [line for line in done.stdout.splitlines() if "does not know" in line]
        assert line.startswith("warning: the platform does not know 1 of the ERP's 2 vendors: nowhere.")
        assert "SHELFSYNC_ERP__VENDOR_IDS" in line
    assert sum("/store-001/" in entry["route"] for entry in asked(sandbox)) == 1, "what it confirmed is remembered"


def test_a_wrong_chain_is_found_although_nothing_was_ever_sent(run, stock):
    stock("store-001", "store-002")
    done = run("check", "--json", SHELFSYNC_PLATFORM__CHAIN="no-such-chain")
    assert done.returncode == 3
    assert error(done.stdout)["message"].startswith("SHELFSYNC_PLATFORM__CHAIN")


@pytest.mark.slow
def test_a_wrong_vendor_of_a_known_chain_is_named_and_not_the_chain(run, stock):
    stock("store-001")
    assert run("check").returncode == 0
    done = run("check", "--vendor", "nowhere")
    assert done.returncode == 3
    assert "SHELFSYNC_PLATFORM__CHAIN" not in done.stderr
    assert "the platform does not know vendor 'nowhere'" in done.stderr


@pytest.mark.slow
def test_of_many_vendors_no_more_are_asked_for_than_the_allowance_bears(run, sandbox, stock):
    stock("store-001", *(f"v{number:02}" for number in range(25)))
    first, second, _ = data(run("check", "--json").stdout)["warnings"]
    assert first.startswith("the platform does not know 14 of the ERP's 26 vendors: v00, v01, ")
    assert second.startswith("11 of the ERP's 26 vendors were not asked for yet")
    assert len(asked(sandbox)) <= 30
