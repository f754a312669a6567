"""Several chains of one installation: what each sets is its own, the rest they share."""

from __future__ import annotations

import os

import pytest

from shelfsync.chains import chain_names, names_in, slips
from shelfsync.check import _no_heartbeat
from shelfsync.chosen_chain import chosen
from shelfsync.errors import ConfigurationError
from shelfsync.secret_mask import mask
from shelfsync.settings import read_settings
from shelfsync.settings.reading import shown_settings

FILE = """
currency = "EUR"
database_url = "postgresql://ours:secret-of-all@db.example/shelfsync?sslmode=require"
lake_url = "s3://bucket/lake"
[platform]
base_url = "https://platform.example"
timeout_s = 20
[chains.north]
time_zone = "Europe/Oslo"
currency = "NOK"
[chains.north.platform]
chain = "n-1"
client_secret = "north-secret-0123456789"
[chains.south_2]
lake_url = "s3://other/lake"
database_url = "postgresql://ours:secret-of-all@db.example/southern"
[chains.south_2.platform]
chain = "s-1"
"""


@pytest.fixture
def file(monkeypatch, tmp_path):
    """Writes the settings file; without an argument the one above."""
    for name in [name for name in os.environ if name.startswith("SHELFSYNC_")]:
        monkeypatch.delenv(name)
    path = tmp_path / "shelfsync.toml"
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(path))

    def write(text: str = FILE) -> None:
        path.write_text(text)
        path.chmod(0o600)

    write()
    return write


def _of(chain):
    with chosen(chain):
        return read_settings()


def test_a_chain_has_its_own_and_what_all_share(file):
    north, south = _of("north"), _of("south_2")
    assert chain_names() == ("north", "south_2")
    assert (north.chain, north.time_zone, north.currency, north.platform.chain) == (
        "north",
        "Europe/Oslo",
        "NOK",
        "n-1",
    )
    assert (south.chain, south.time_zone, south.currency, south.platform.chain) == ("south_2", "UTC", "EUR", "s-1")
    assert north.platform.base_url == south.platform.base_url == "https://platform.example"
    assert north.platform.timeout_s == 20
    assert read_settings().platform.chain is None


def test_no_chain_has_the_erp_the_campaigns_or_the_credentials_of_another(file, monkeypatch):
    monkeypatch.setenv("SHELFSYNC_ERP__URL", "sqlite:////erp.db")
    monkeypatch.setenv("SHELFSYNC_PLATFORM__CLIENT_SECRET", "secret-of-the-first-0123")
    one = '[platform]\nchain = "d-1"\nbase_url = "https://platform.example"\n[promotions]\nsql = "SELECT 1"\n'
    file(
        f'{one}[orders]\nhand_over = "outbox"\n[chains.demo]\nwas_alone = true\n[chains.north.erp]\nsql = "SELECT 2"\n'
    )
    demo, north = _of("demo"), _of("north")
    assert demo.erp.url is not None
    assert (demo.platform.chain, demo.promotions.sql, demo.orders.hand_over) == ("d-1", "SELECT 1", "outbox")
    assert demo.platform.client_secret.get_secret_value() == "secret-of-the-first-0123"
    assert north.platform.base_url == "https://platform.example"
    assert (north.erp.url, north.erp.sql) == (None, "SELECT 2")
    assert (north.platform.chain, north.platform.client_secret, north.promotions.sql) == (None, None, None)
    assert north.orders.hand_over == type(north.orders)().hand_over


def test_the_monitor_of_one_chain_is_called_for_no_other(file):
    file(
        '[alerts]\nheartbeat = "https://ping.example/1"\n[chains.demo]\nwas_alone = true\n[chains.north]\ncurrency = "NOK"\n'
    )
    demo, north = _of("demo"), _of("north")
    assert (demo.alerts.heartbeat is None, north.alerts.heartbeat) == (False, None)
    with chosen("north"):
        assert _no_heartbeat(north) == [
            "SHELFSYNC_ALERTS__HEARTBEAT is not set for this chain: each needs a monitor's check of its own"
        ]
        assert _no_heartbeat(demo) == []
    file('[chains.north]\ncurrency = "NOK"\n')
    assert _no_heartbeat(_of("north")) == []


def test_two_chains_that_were_alone_are_an_error_and_the_word_is_not_shared(file, monkeypatch):
    file("[chains.demo]\nwas_alone = true\n[chains.north]\nwas_alone = true\n")
    with pytest.raises(ConfigurationError, match="demo, north say that they were alone"):
        _of("demo")
    file("was_alone = true\n[chains.demo]\n[chains.north]\n")
    monkeypatch.setenv("SHELFSYNC_WAS_ALONE", "true")
    assert not _of("north").was_alone


def test_no_chain_takes_the_events_or_the_stores_of_another(file, monkeypatch):
    monkeypatch.setenv("SHELFSYNC_WEBHOOK__SECRET", "secret-of-the-first-0123")
    file('[sync]\nvendors = ["store-001"]\n[chains.demo]\nwas_alone = true\n[chains.north]\n')
    demo, north = _of("demo"), _of("north")
    assert (demo.sync.vendors, north.sync.vendors) == (("store-001",), ())
    assert (demo.webhook.secret is None, north.webhook.secret) == (False, None)


def test_the_environment_names_a_chain_as_the_file_does(file, monkeypatch):
    monkeypatch.setenv(
        "SHELFSYNC_CURRENCY", "USD"
    )  # of all chains: before the file's, behind what is given for a chain
    monkeypatch.setenv("SHELFSYNC_CHAINS__SOUTH_2__PLATFORM__CLIENT_SECRET", "south-secret-0123456789")
    monkeypatch.setenv("SHELFSYNC_CHAINS__SOUTH_2__ERP__VENDOR_IDS", '{"M1": "store-001"}')
    south = _of("south_2")
    assert (south.currency, _of("north").currency) == ("USD", "NOK")
    assert south.platform.client_secret.get_secret_value() == "south-secret-0123456789"
    assert south.erp.vendor_ids == {"M1": "store-001"}
    assert "south-secret" not in mask("x south-secret-0123456789 x")


def test_chains_may_be_in_the_environment_alone(file, monkeypatch):
    file("")
    monkeypatch.setenv("SHELFSYNC_CHAINS__WEST__PLATFORM__CHAIN", "w-1")
    monkeypatch.setenv("SHELFSYNC_CHAIN", "west")
    assert chain_names() == ("west",)
    assert read_settings().platform.chain == "w-1"


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("SHELFSYNC_CHAIN", "nroth", "there is no chain 'nroth'"),
        ("SHELFSYNC_CHAINS__NROTH__CURRENCY", "USD", "has no chain 'nroth'"),
        ("SHELFSYNC_CHAINS__NORTH__CURENCY", "USD", "there is no such setting; the nearest is SHELFSYNC_CURRENCY"),
        ("SHELFSYNC_CHAINS__NORTH__PLATFORM__CHAIM", "x", "there is no such setting"),
        ("SHELFSYNC_CHAINS__NORTH__ERP__VENDOR_IDS", "M1=store", "is no JSON"),
        ("SHELFSYNC_CHAINS", "north", "there is no such setting"),
    ],
)
def test_a_slip_of_the_pen_is_an_error_and_makes_no_chain(file, monkeypatch, variable, value, says):
    monkeypatch.setenv("SHELFSYNC_CHAIN", "north")
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError) as caught:
        read_settings()
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SHELFSYNC_CHAINS__NROTH__CURRENCY", "USD"),
        ("SHELFSYNC_CHAINS__NORTH-SEA__CURRENCY", "USD"),
        ("SHELFSYNC_CHAINS__NORTH_GUARDS__PRICE_CHANGE__LEAP", "2"),
        ("SHELFSYNC_CHAINS__NORTH", '{"currency": "USD"}'),
        ("SHELFSYNC_CHAINS__NORTH__CURENCY", "USD"),
        ("SHELFSYNC_CHAINS__NORTH__PLATFROM__CHAIN", "x"),
        ("SHELFSYNC_CHAINS__NORTH__PLATFORM__CHAIM", "x"),
        ("SHELFSYNC_CHAINS__NORTH__CURRENCY", "no code"),
        ("SHELFSYNC_CHAINS__NORTH__ERP__VENDOR_IDS", "M1=store"),
    ],
)
def test_a_slip_of_the_pen_stops_the_chain_that_was_meant_and_no_other(file, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    assert (chain_names(), _of("south_2").currency) == (("north", "south_2"), "EUR")
    with pytest.raises(ConfigurationError):
        _of("north")


def test_a_section_that_cannot_name_a_chain_stops_no_other(file):
    file(FILE + '[chains."North Sea"]\ncurrency = "NOK"\n[chains.pages]\ncurrency = "NOK"\n')
    assert (chain_names(), _of("south_2").currency) == (("north", "south_2"), "EUR")
    with pytest.raises(ConfigurationError, match="'pages' cannot name a chain"):
        _of("pages")


@pytest.mark.parametrize(
    "name", ["North", "1north", "north__sea", "north-sea", "_x", "x_", "", "ü", "n" * 31, 'n"; DROP']
)
def test_a_name_that_cannot_be_one_is_an_error(file, name):
    assert names_in({name: {}}) == ()
    assert "cannot name a chain" in str(slips({name: {}})[name])


def test_the_list_of_settings_says_which_is_of_the_chain_alone(file, monkeypatch):
    monkeypatch.setenv("SHELFSYNC_CHAINS__NORTH__PLATFORM__CLIENT_ID", "n")
    with chosen("north"):
        rows = {row["name"]: row for row in shown_settings()}
    assert rows["currency"]["source"].endswith("[chains.north]")
    assert rows["platform.client_id"]["source"] == "environment of the chain"
    assert rows["platform.base_url"]["source"].startswith("file ")
    assert "secret" not in str(rows["database_url"]["value"])
