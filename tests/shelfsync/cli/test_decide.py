"""What a guard holds is reported in one way by `sync`, `plan`, `holds list`, `holds approve` and `runs show`."""

from __future__ import annotations

import datetime as dt
import json

import pytest
import sqlalchemy as sa

from shelfsync.exit_codes import ExitCode

pytestmark = pytest.mark.slow

HELD = ExitCode.HELD
SKUS = [f"s{number:02}" for number in range(60)]


@pytest.fixture
def stock(tmp_path, sandbox, here):
    """Writes the ERP's file: sixty products with (price, quantity), which the platform has acknowledged at (1, 5)."""
    sandbox.put_products(
        "store-001", [{"sku": sku, "barcodes": [], "title": sku, "price": 2, "active": True} for sku in SKUS]
    )

    def write(**changed):
        rows = "".join(f"store-001,{sku},{','.join(map(str, changed.get(sku, (1, 5))))},1\n" for sku in SKUS)
        (tmp_path / "stock.csv").write_text(f"vendor,sku,price,quantity,active\n{rows}", encoding="utf-8")

    write()
    assert here("sync", "--full")[0] == 0
    return write


def held_line(text):
    return [line for line in text.splitlines() if "held by a guard" in line]


def test_sync_plan_and_lists_show_the_same_held_changes(stock, here):
    stock(
        **dict.fromkeys(SKUS[:40], (10, 5)), **dict.fromkeys(SKUS[40:50], (1, 0)), **dict.fromkeys(SKUS[50:54], (1, 7))
    )
    _, planned, _ = here("plan")
    assert "40 rows would be held by shifted_decimal" in planned
    assert "holds list" not in planned, "a plan holds nothing, so no list has it"

    _, synced, _ = here("sync")
    assert held_line(synced) == [
        "vendor store-001: 40 changes are held by a guard (1 holds to decide: `shelfsync holds list`)"
    ]
    assert "run 3 (delta): succeeded, 1 vendors, 54 SKUs changed; 1 request bodies" in synced
    assert "14 SKUs sent: 14 accepted" in synced
    assert "stop-sells: 10 SKUs in 1 jobs acknowledged" in synced
    assert "at most; 4 less urgent SKUs went with them" in synced, "10 and 4 are the 14 sent"
    assert "20 are acknowledged, 40 held" in synced

    assert here("holds", "decline", "1")[0] == 0
    _, again, _ = here("sync")
    assert held_line(again) == [
        "vendor store-001: 40 changes are held by a guard (1 declined or expired: `shelfsync holds list --state held`)"
    ]
    _, waiting, _ = here("holds", "list")
    assert waiting == (
        "no hold waits for a decision; 1 declined or expired ones keep their changes back"
        " (`shelfsync holds list --state held`)\n"
    )
    _, held, _ = here("holds", "list", "--state", "held")
    assert held.startswith("     1  declined    catalog     store-001 shifted_decimal: 40 rows")

    code, _, late = here("holds", "approve", "--yes", "1")
    assert (code, "is declined by " in late, "nothing was done" in late) == (4, True, True)
    assert here("holds", "reopen", "1")[0] == 4, "without a reason"
    assert here("holds", "reopen", "1", "--reason", "right after all")[0] == 0
    code, _, asked = here("holds", "approve", "1")
    assert (code, "40 rows: 40 prices up" in asked, "a script adds --yes" in asked) == (4, True, True)
    assert "value at stake: " in asked
    code, approved, _ = here("holds", "approve", "--yes", "1")
    assert code == 0
    first, sent = approved.splitlines()
    assert first.startswith("hold 1 (store-001 shifted_decimal: 40 rows) is approved by ")
    assert sent == (
        "hold 1 (store-001 shifted_decimal: 40 rows): 40 SKUs sent: 40 accepted, 0 rejected, 0 unaccounted,"
        " 0 without an answer yet"
    )
    assert here("holds", "list")[1] == "no hold waits for a decision\n"
    assert here("holds", "list", "--state", "held")[1] == "no hold is held\n"
    _, shown, _ = here("runs", "show", "4")
    assert "40 held (40 of them approved since)" in shown

    _, twice, _ = here("holds", "approve", "--yes", "1")
    assert "nothing of it is sent" not in twice
    assert "approved by" in twice.splitlines()[0]
    assert "`shelfsync runs show 4` shows what was sent" in twice.splitlines()[0]
    code, late, _ = here("holds", "decline", "1")
    assert (code, "nothing of it is sent" in late) == (4, False)


def test_an_approval_that_could_not_be_sent_does_not_claim_it(stock, here):
    stock(**dict.fromkeys(SKUS[:40], (10, 5)))
    assert here("sync")[0] == HELD
    assert here("pause", "--whole-chain", "--reason", "stocktaking")[0] == 0
    _, approved, _ = here("holds", "approve", "--yes", "1")
    assert "SKUs sent" not in approved
    assert "planned as 1 requests of run 2" in approved
    assert "paused" in approved


def test_one_mistake_at_many_vendors_is_decided_and_sent_by_one_command(tmp_path, sandbox, here):
    """A wrong price in the list of the chain is a hold at each vendor."""
    vendors = ["store-001", "store-002", "store-003"]
    for vendor in vendors:
        sandbox.put_products(
            vendor, [{"sku": sku, "barcodes": [], "title": sku, "price": 2, "active": True} for sku in SKUS]
        )

    def write(price):
        rows = "".join(f"{vendor},{sku},{price},5,1\n" for vendor in vendors for sku in SKUS)
        (tmp_path / "stock.csv").write_text(f"vendor,sku,price,quantity,active\n{rows}", encoding="utf-8")

    write(1)
    assert here("sync", "--full")[0] == 0
    write(10)
    code, _, error = here("sync", "--quiet")
    assert code == HELD
    assert "180 changes are held and wait for a person: 3 holds of 3 stores (store-001, store-002, store-003)" in error
    assert here("holds", "approve")[0] == here("holds", "decline", "1", "--rule", "shifted_decimal")[0] == 2
    code, _, error = here("holds", "approve", "1", "99", "--reason", "x")
    assert (code, "there is no hold 99" in error) == (4, True)
    assert here("holds", "list")[1].count("open") == 3, "and hold 1 was not approved before the error"

    code, declined, _ = here("holds", "decline", "--rule", "shifted_decimal", "--vendor", "store-003")
    assert (code, len(declined.splitlines())) == (0, 1)
    assert here("holds", "approve", "--yes", "--rule", "shifted_decimal")[0] == 2, "many need a reason"
    code, approved, _ = here("holds", "approve", "--yes", "--rule", "shifted_decimal", "--reason", "the new season")
    assert code == 0
    *decided, sent = approved.splitlines()
    assert [" is approved by " in line for line in decided] == [True, True]
    assert sent == "2 holds of run 2: 120 SKUs sent: 120 accepted, 0 rejected, 0 unaccounted, 0 without an answer yet"
    assert {sandbox.products(vendor)["s01"]["price"] for vendor in vendors[:2]} == {10.0}
    assert sandbox.products("store-003")["s01"]["price"] == 1.0
    code, _, error = here("holds", "approve", "--yes", "--rule", "shifted_decimal", "--reason", "x")
    assert (code, "no hold of rule 'shifted_decimal' waits" in error) == (4, True)


def test_thresholds_that_one_of_the_holds_does_not_have_decide_none_of_them(stock, here):
    stock(**dict.fromkeys(SKUS[:11], (10, 5)), **dict.fromkeys(SKUS[11:23], (1.6, 5)))
    assert here("sync")[0] == HELD
    _, listed, _ = here("holds", "list", "--json")
    number = {hold["rule"]: str(hold["hold_id"]) for hold in json.loads(listed)["data"]["holds"]}
    assert sorted(number) == ["price_change", "shifted_decimal"]
    both = (number["price_change"], number["shifted_decimal"])
    code, _, error = here("holds", "approve", *both, "--reason", "x", "--thresholds", '{"move": 0.9}')
    assert (code, f"hold {number['shifted_decimal']}: these thresholds are invalid" in error) == (4, True)
    assert here("holds", "list")[1].count(" open ") == 2
    code, approved, _ = here("holds", "approve", "--yes", number["price_change"], "--thresholds", '{"move": 0.9}')
    assert (code, "12 SKUs sent: 12 accepted" in approved) == (0, True)


def test_a_quiet_sync_with_held_changes_prints_one_line_until_a_person_decides(stock, here, run, database_url):
    """New, still waiting, of a store that the run leaves out, expired unseen, declined; a plan too, and a sync with nothing held."""

    def quiet(*words):
        done = run(*words, "--quiet")
        return done.returncode, done.stdout, done.stderr

    assert quiet("sync") == (0, "", "")
    stock(s01=(100, 5), s02=(1, 6))
    code, _, planned = quiet("plan")
    assert (code, len(planned.splitlines())) == (HELD, 1)
    assert "1 changes of 1 stores (store-001) would be held, rules shifted_decimal" in planned
    code, output, error = quiet("sync")
    assert (code, output, len(error.splitlines())) == (HELD, "", 1)
    for part in (
        "1 changes are held and wait for a person: 1 holds of 1 stores (store-001), rules shifted_decimal",
        "1 new in this run, 0 from earlier runs",
        "Hold 1 expires first, at ",
        "(in 24.0 h)",
        "Next: `shelfsync holds list`",
    ):
        assert part in error
    code, document, error = here("sync", "--json")
    assert (code, json.loads(document)["data"]["waits"]["holds"]) == (HELD, 1)
    assert "0 new in this run, 1 from earlier runs" in error

    with sa.create_engine(database_url).begin() as connection:
        connection.execute(sa.text("UPDATE ledger.hold SET expires_at = now() - interval '1 minute'"))
    code, _, error = quiet("sync")
    assert code == HELD
    assert "1 expired without a decision" in error
    assert "`shelfsync holds list --state held`" in error
    assert here("holds", "decline", "1", "--reason", "a slip")[0] == 0
    assert quiet("sync") == (0, "", "")
    assert quiet("plan")[0] == 0, "what was declined waits for no person"


def test_an_erp_that_cannot_be_read_hides_no_hold(stock, here, tmp_path, database_url):
    """Otherwise it would expire unseen while the ERP is away; the error of the run keeps its exit code."""
    stock(s01=(100, 5))
    assert here("sync", "--quiet")[0] == HELD
    file = tmp_path / "stock.csv"
    for broken in (lambda: file.write_text(""), file.unlink):
        broken()
        for words in ((), ("--vendor", "store-001")):
            code, output, error = here("sync", "--quiet", *words)
            held, failed = error.splitlines()
            assert (code in {ExitCode.DATA, ExitCode.CONFIGURATION}, output) == (True, "")
            assert "1 changes are held and wait for a person: 1 holds of 1 stores (store-001)" in held
            assert "stock.csv" in failed
    assert len(here("sync", "--quiet", "--vendor", "store-002")[2].splitlines()) == 1
    with sa.create_engine(database_url).begin() as connection:
        connection.execute(sa.text("UPDATE ledger.hold SET expires_at = now() - interval '1 minute'"))
    file.write_text("")
    assert "The time of hold 1 ended at " in here("sync", "--quiet")[2]
    assert here("holds", "decline", "1", "--reason", "a slip")[0] == 0
    assert len(here("sync", "--quiet")[2].splitlines()) == 1


def test_campaigns_that_cannot_be_read_hide_no_hold_of_one(stock, here, tmp_path, monkeypatch):
    file, now = tmp_path / "campaigns.csv", dt.datetime.now(dt.UTC)
    times = ",".join((now + dt.timedelta(hours=hours)).isoformat() for hours in (-1, 24))
    file.write_text(f"campaign,vendor,sku,price,name,start_time,end_time\ndeep,store-001,s01,0.01,Deep,{times}\n")
    monkeypatch.setenv("SHELFSYNC_PROMOTIONS__FILES", str(file))
    assert here("promotions", "sync", "--quiet")[0] == HELD
    assert here("sync", "--quiet") == (0, "", "")
    file.write_text("")
    code, _, error = here("promotions", "sync", "--quiet")
    held, failed = error.splitlines()
    assert (code, "campaigns.csv" in failed) == (ExitCode.DATA, True)
    assert "1 rows of 1 campaigns (deep) are held and wait for a person" in held


def test_a_hold_reopened_while_the_question_about_another_waits_is_not_approved(stock, here, monkeypatch):
    stock(s01=(10, 5))
    here("sync")
    assert here("holds", "decline", "1", "--user", "bob")[0] == 0
    stock(s01=(10, 5), **dict.fromkeys(SKUS[20:60], ("1.60", 5)))
    here("sync")
    others = [one["hold_id"] for one in json.loads(here("holds", "list", "--json")[1])["data"]["holds"]]
    assert others == [2]

    def answer(question, **_):
        assert "hold 2" in question or "1 hold" in question
        assert here("holds", "reopen", "1", "--reason", "look again", "--user", "bob")[0] == 0
        return True

    monkeypatch.setattr("typer.confirm", answer)
    _, out, _ = here("holds", "approve", "1", "2", "--reason", "both", "--json")
    decided = {one["hold"]: (one["state"], one["decided"]) for one in json.loads(out)["data"]["holds"]}
    assert decided == {1: ("open", False), 2: ("approved", True)}


def test_an_approval_after_the_time_of_a_hold_asks_nothing_and_is_told_so(stock, here, monkeypatch, database_url):
    stock(s01=(100, 5))
    here("sync")
    with sa.create_engine(database_url).begin() as connection:
        connection.execute(sa.text("UPDATE ledger.hold SET expires_at = now()"))
    monkeypatch.setattr("typer.confirm", lambda *_, **__: pytest.fail("asked about a hold that has expired"))
    code, _, error = here("holds", "approve", "1", "--reason", "the price is right")
    assert (code, "expired by timeout" in error, "holds reopen 1" in error) == (4, True, True)
