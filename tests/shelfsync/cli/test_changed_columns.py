"""A column of the ERP that is new, gone or of another type, under each policy, by the commands that a person types."""

from __future__ import annotations

import psycopg
import pytest

pytestmark = pytest.mark.slow

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
SENTENCES = {
    "new": "new: 'colour'",
    "gone": "gone: 'active'",
    "text": "'price' is of the type text and was numeric",
    "float": "'price' is of the type double precision and was numeric",
}


@pytest.fixture
def csv(tmp_path):
    """`write(kind, price)`: the ERP as a CSV, which has names and no types."""

    def write(kind: str, price: str) -> None:
        cells = {"vendor": "store-001", "sku": "a", "price": price, "quantity": "4", "active": "1"}
        if kind == "new":
            cells["colour"] = "red"
        if kind == "gone":
            del cells["active"]
        (tmp_path / "stock.csv").write_text(f"{','.join(cells)}\n{','.join(cells.values())}\n", encoding="utf-8")

    return write


@pytest.fixture
def postgresql(here, monkeypatch, empty_database_url):
    """The same as a view of a PostgreSQL."""
    monkeypatch.delenv("SHELFSYNC_ERP__FILES")
    monkeypatch.setenv("SHELFSYNC_ERP__URL", empty_database_url)
    monkeypatch.setenv("SHELFSYNC_ERP__SQL", "SELECT * FROM stock")

    def write(kind: str, price: str) -> None:
        type_ = {"text": "text", "float": "double precision"}.get(kind, "numeric(10, 2)")
        cells = f"'store-001' AS vendor, 'a' AS sku, {price}::{type_} AS price, 4 AS quantity"
        cells += {"gone": "", "new": ", true AS active, 'red' AS colour"}.get(kind, ", true AS active")
        with psycopg.connect(empty_database_url, autocommit=True) as connection:
            connection.execute("DROP VIEW IF EXISTS stock")
            connection.execute(f"CREATE VIEW stock AS SELECT {cells}")

    return write


CASES = [("csv", "new"), ("csv", "gone"), *(("postgresql", kind) for kind in SENTENCES)]
"""Under the policy that reports; what another policy does with a change does not depend on its kind."""
FEW = [("csv", "gone"), ("postgresql", "text")]
few = pytest.mark.parametrize("changed", FEW, ids="-".join, indirect=True)


@pytest.fixture
def changed(request, here, sandbox, monkeypatch):
    """`changed(policy)`: (what writes the ERP, the kind, its sentence) after the columns have changed once under this policy."""
    source, kind = request.param
    write = request.getfixturevalue(source)
    sandbox.put_products("store-001", [A])

    def change(policy):
        monkeypatch.setenv("SHELFSYNC_ERP__CHANGED_COLUMNS", policy)
        write("base", "1.50")
        assert here("sync", "--full")[0] == 0
        write(kind, "1.51")
        return write, kind, SENTENCES[kind]

    return change


@pytest.fixture
def price(sandbox):
    return lambda store="store-001": sandbox.products(store)["a"]["price"]


def _warned(text, sentence):
    return [line for line in text.splitlines() if "columns have changed" in line and sentence in line]


@few
def test_ignore_sends_and_reports_nothing(here, changed, price):
    changed("ignore")
    for command in ("check", "plan", "sync"):
        code, out, err = here(command)
        assert (code, "columns have changed" in out + err) == (0, False)
    assert price() == 1.51


@pytest.mark.parametrize("changed", CASES, ids="-".join, indirect=True)
def test_report_sends_and_reports_once(here, changed, price):
    write, kind, sentence = changed("report")
    code, out, _ = here("check")
    assert (code, len(_warned(out, sentence))) == (0, 1)
    code, out, _ = here("sync")
    assert (code, len(_warned(out, sentence)), price()) == (0, 1, 1.51)
    write(kind, "1.52")
    for command in ("check", "sync"):
        code, out, _ = here(command)
        assert (code, _warned(out, sentence)) == (0, [])
    assert price() == 1.52
    assert len(_warned(here("status")[1], sentence)) == 1


@few
def test_hold_waits_for_a_person_who_accepts_the_columns(here, changed, price):
    write, kind, sentence = changed("hold")
    assert "the next run holds the changes" in _warned(here("check")[1], sentence)[0]
    for command in (["plan"], ["sync", "--vendor", "store-001"], ["sync"]):
        assert (here(*command)[0], price()) == (10, 1.5), command
    assert sentence in here("explain", "store-001", "a")[1]
    write(kind, "1.52")
    assert (here("sync")[0], price()) == (10, 1.5)
    approved = here("holds", "approve", "--rule", "changed_columns", "--reason", "meant", "--yes")
    assert approved[0] == 0, approved
    assert here("sync")[0] == 0
    write(kind, "1.53")
    assert here("check")[1].count("columns have changed") == 0
    assert (here("sync")[0], price()) == (0, 1.53), "an approval accepts the columns"


@few
def test_stop_sends_nothing_until_a_run_with_another_choice(here, changed, price, monkeypatch):
    write, kind, sentence = changed("stop")
    assert "the next run sends nothing" in _warned(here("check")[1], sentence)[0]
    for command in (["plan"], ["sync", "--vendor", "store-001"], ["sync"], ["sync", "--full"]):
        code, _, err = here(*command)
        assert (code, len(_warned(err, sentence)), price()) == (4, 1, 1.5), command
    monkeypatch.setenv("SHELFSYNC_ERP__CHANGED_COLUMNS", "report")
    assert (here("sync")[0], price()) == (0, 1.51)
    monkeypatch.setenv("SHELFSYNC_ERP__CHANGED_COLUMNS", "stop")
    write(kind, "1.52")
    assert (here("sync")[0], price()) == (0, 1.52)


def test_each_chain_has_its_own_policy(here, csv, sandbox, price, monkeypatch, tmp_path):
    policies = {"north": "stop", "south": "hold", "west": "report"}
    stores = dict(zip(policies, ("store-001", "store-002", "store-003"), strict=True))
    for chain, policy in policies.items():
        sandbox.put_products(stores[chain], [A])
        for name, value in {
            "ERP__CHANGED_COLUMNS": policy,
            "ERP__FILES": str(tmp_path / f"{chain}.csv"),
            "SYNC__VENDORS": stores[chain],
            "PLATFORM__CHAIN": "demo-chain",
            "PLATFORM__CLIENT_ID": "demo-client",
            "PLATFORM__CLIENT_SECRET": "demo-secret",
        }.items():
            monkeypatch.setenv(f"SHELFSYNC_CHAINS__{chain.upper()}__{name}", value)

    def write(kind, price):
        csv(kind, price)
        text = (tmp_path / "stock.csv").read_text()
        for chain, store in stores.items():
            (tmp_path / f"{chain}.csv").write_text(text.replace("store-001", store))

    write("base", "1.50")
    for chain in policies:
        here("check", "--chain", chain)
        synced = here("sync", "--full", "--chain", chain)
        assert synced[0] == 0, synced[2][:300]
    write("new", "1.51")
    ended = {chain: here("sync", "--chain", chain) for chain in policies}
    assert {chain: code for chain, (code, _, _) in ended.items()} == {"north": 4, "south": 10, "west": 0}
    assert "SHELFSYNC_CHAINS__NORTH__ERP__CHANGED_COLUMNS=report" in ended["north"][2]
    assert [price(store) for store in stores.values()] == [1.5, 1.5, 1.51]
    for chain in ("north", "west"):
        assert "no hold waits" in here("holds", "list", "--chain", chain)[1]
