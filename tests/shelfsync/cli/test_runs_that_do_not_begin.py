"""A run whose check fails is a failed run, and an ERP that does not answer its check is away: an alert reports it."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

STOCK = "vendor,sku,price,quantity,active\nstore-001,a,1.2345,4,1\n"
AWAY = "postgresql+psycopg://nobody@127.0.0.1:1/none"


@pytest.fixture
def kinds(here, engine):
    """The open alerts after a look, two minutes later."""

    def look() -> list[tuple[str, str]]:
        with engine.begin() as connection:
            connection.execute(sa.text("UPDATE ledger.outage SET began_at = began_at - interval '2 minutes'"))
        assert here("alerts", "watch")[0] == 0
        shown = json.loads(here("alerts", "list", "--json")[1])["data"]
        return sorted((row["kind"], row["subject"]) for row in shown["alerts"])

    return look


@pytest.fixture
def stock(tmp_path):
    path = tmp_path / "stock.csv"
    path.write_text(STOCK, encoding="utf-8")
    return path


@pytest.mark.slow
def test_an_erp_that_is_away_when_a_run_begins_is_an_alert_until_it_is_read(here, kinds, stock, monkeypatch):
    assert here("sync", "--full")[0] == 0
    with monkeypatch.context() as away:
        away.delenv("SHELFSYNC_ERP__FILES")
        away.setenv("SHELFSYNC_ERP__URL", AWAY)
        away.setenv("SHELFSYNC_ERP__SQL", "SELECT vendor, sku, price, quantity FROM stock")
        assert here("sync", "--full")[0] == 5
        assert kinds() == [("erp_away", "")]
    assert here("check")[0] == 0
    assert kinds() == [("erp_away", "")], "a check reads a few rows, and a whole reading may still break off"
    assert here("sync", "--full")[0] == 0
    assert kinds() == []


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--full",), (), ("--vendor", "store-001", "--sku", "a")])
def test_a_run_whose_check_fails_is_an_alert_until_one_succeeds(here, kinds, stock, words):
    assert here("sync", "--full")[0] == 0
    stock.write_text(STOCK.replace("sku", "x9"), encoding="utf-8")
    assert here("sync", *words)[0] == 3
    assert kinds() == [("run_failed", "full" if words == ("--full",) else "delta")]
    stock.write_text(STOCK, encoding="utf-8")
    assert here("sync", *words)[0] == 0
    assert kinds() == []


def test_a_plan_or_a_check_that_fails_is_no_failed_run(here, kinds, stock):
    stock.write_text(STOCK.replace("sku", "x9"), encoding="utf-8")
    assert {here("plan")[0], here("check")[0]} == {3}
    assert kinds() == []
