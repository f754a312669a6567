"""A wrong configuration ends in one line that names the setting and the remedy, before anything is sent."""

from __future__ import annotations

import contextlib
import socket

import pytest

from app_calls import open_calls
from shelfsync.errors import ConfigurationError
from shelfsync.settings import read_settings
from shelfsync.settings_file import PROJECT


def _closed_port() -> int:
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _wrong(**sections):
    return sections


CASES = {
    "no ERP at all": (_wrong(erp={"url": None}), "SHELFSYNC_ERP__URL"),
    "an ERP of an unknown kind": (_wrong(erp={"url": "nosuchdb://u:canary-password-1@h/d"}), "SHELFSYNC_ERP__URL"),
    "a SELECT without the key columns": (_wrong(erp={"sql": "SELECT vendor, price FROM stock"}), "sku"),
    "a SELECT that is no SQL": (_wrong(erp={"sql": "SELEKT"}), "SHELFSYNC_ERP__SQL"),
    "a table that is not there": (_wrong(erp={"sql": "SELECT vendor, sku FROM nowhere"}), "SHELFSYNC_ERP__SQL"),
    "a mapping hook that is not there": (_wrong(erp={"mapping": "no.such:hook"}), "SHELFSYNC_ERP__MAPPING"),
    "an invalid dialect": (_wrong(platform={"dialect": {"tokn_path": "/x"}}), "SHELFSYNC_PLATFORM__DIALECT"),
    "no chain": (_wrong(platform={"chain": None}), "SHELFSYNC_PLATFORM__CHAIN"),
    "no address": (_wrong(platform={"base_url": None}), "SHELFSYNC_PLATFORM__BASE_URL"),
    "a wrong secret": (_wrong(platform={"client_secret": "hidden"}), "SHELFSYNC_PLATFORM__CLIENT_SECRET"),
    "no secret": (_wrong(platform={"client_secret": None}), "SHELFSYNC_PLATFORM__CLIENT_SECRET"),
    "a wrong chain": (
        _wrong(platform={"chain": "other-chain"}, sync={"vendors": "store-001"}),
        "SHELFSYNC_PLATFORM__CHAIN",
    ),
    "a wrong vendor": (_wrong(sync={"vendors": "store-777"}), "vendor 'store-777'"),
    "a host that is not there": (
        _wrong(platform={"base_url": f"http://127.0.0.1:{_closed_port()}"}, sync={"vendors": "store-001"}),
        "SHELFSYNC_PLATFORM__BASE_URL",
    ),
    "an address in the clear": (
        _wrong(platform={"base_url": "http://platform.example"}),
        "SHELFSYNC_PLATFORM__BASE_URL",
    ),
}


@pytest.mark.parametrize(("sections", "named"), CASES.values(), ids=CASES.keys())
def test_a_wrong_setting_is_named_in_one_line_and_nothing_is_sent(make_world, erp, sections, named):
    erp.put("store-001", "a")
    world = make_world(**sections)
    with pytest.raises(ConfigurationError) as caught:
        world.app.check()
    line = str(caught.value)
    assert named in line
    assert "\n" not in line
    assert "hidden" not in line
    assert world.sent() == []


def test_a_database_that_does_not_let_us_in_is_named_without_its_password(make_settings):
    settings = make_settings()
    settings = settings.model_copy(
        update={"database_url": type(settings.platform.client_secret)("postgresql://u:canary-password-1@127.0.0.1:1/d")}
    )
    with pytest.raises(ConfigurationError, match="SHELFSYNC_DATABASE_URL") as caught, open_calls(settings):
        pass
    assert "canary-password" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SHELFSYNC_SYNC__BODY_MAX_BYTES", "many"),
        ("SHELFSYNC_PLATFORM__ITEM_KEY", "ean"),
        ("SHELFSYNC_RATE_LIMIT__REQUESTS_PER_MINUTE", "0"),
        ("SHELFSYNC_HOUSEKEEPING__RUN_DAYS", "1000000"),
        ("SHELFSYNC_GUARDS__APPROVAL_HOURS", "1e9"),
        ("SHELFSYNC_SYNC__JOB_DEADLINE_S", "inf"),
        ("SHELFSYNC_SYNC__WATCH_S", "nan"),
        ("SHELFSYNC_WAREHOUSE__OUTCOME_MONTHS", "100000"),
        ("SHELFSYNC_SUPPRESSION__SALES_BUFFER", "4006381333931000000001"),
    ],
)
def test_a_setting_that_cannot_be_read_is_named_as_it_is_written(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=name):
        read_settings()


@pytest.mark.parametrize("value", ["{sku: item}", "sku=item", '{"sku": '])
def test_a_mapping_that_is_no_json_is_named_itself_and_no_file_is_blamed(monkeypatch, value):
    monkeypatch.setenv("SHELFSYNC_ERP__COLUMNS", value)
    with pytest.raises(ConfigurationError) as caught:
        read_settings()
    assert str(caught.value).startswith("SHELFSYNC_ERP__COLUMNS: its value is no JSON")
    assert ".toml" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("SHELFSYNC_ALERTS__ROUTES", "'[{\"name\": …}]'"),
        ("SHELFSYNC_ALERTS", "'{\"routes\": …}'"),
        ("SHELFSYNC_GUARDS__ZERO_PRICE", "'{\"max_rows\": …}'"),
    ],
)
def test_a_section_that_is_no_json_is_named_with_an_example(monkeypatch, name, example):
    monkeypatch.setenv(name, "[{name: ops}]")
    with pytest.raises(ConfigurationError) as caught:
        read_settings()
    assert str(caught.value).startswith(f"{name}: its value is no JSON")
    assert example in str(caught.value)


def test_a_relative_state_folder_is_an_error_that_names_the_whole_path(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHELFSYNC_HOME", "state")
    with pytest.raises(
        ConfigurationError, match=f"SHELFSYNC_HOME: 'state' is a relative path.* write {tmp_path}/state"
    ):
        read_settings()
    assert list(tmp_path.iterdir()) == []


def test_the_state_folder_is_the_same_in_every_current_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("SHELFSYNC_HOME", raising=False)
    here = read_settings().home
    monkeypatch.chdir(tmp_path)
    assert read_settings().home == here == PROJECT / ".shelfsync"


def test_an_error_has_one_full_stop_before_its_remedy():
    error = ConfigurationError("SHELFSYNC_ERP__URL", "the server reports: no such user.", "Correct it.")
    assert str(error) == "SHELFSYNC_ERP__URL: the server reports: no such user. Correct it."
    error = ConfigurationError("SHELFSYNC_ERP__URL", "the server asks: is\nit there?", "Correct it.")
    assert str(error) == "SHELFSYNC_ERP__URL: the server asks: is it there? Correct it."


def test_an_error_of_the_platform_has_one_remedy_the_setting(make_world, erp):
    erp.put("store-001", "a")
    for sections in (
        {"platform": {"client_secret": "hidden"}},
        {"platform": {"chain": "other-chain"}, "sync": {"vendors": "store-001"}},
        {"platform": {"base_url": f"http://127.0.0.1:{_closed_port()}"}, "sync": {"vendors": "store-001"}},
    ):
        with pytest.raises(ConfigurationError) as caught:
            make_world(**sections).app.check()
        assert "Check client id" not in caught.value.problem
        assert "Check chain" not in caught.value.problem
        assert "Try again" not in caught.value.problem
        assert ".." not in str(caught.value)


def test_a_configuration_file_that_is_not_there_or_does_not_parse_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(ConfigurationError, match="SHELFSYNC_CONFIG"):
        read_settings()
    broken = tmp_path / "broken.toml"
    broken.write_text("[platform\n", encoding="utf-8")
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(broken))
    with pytest.raises(ConfigurationError, match="SHELFSYNC_CONFIG"):
        read_settings()


def test_no_secret_shows_in_the_settings(make_settings):
    assert "demo-secret" not in repr(make_settings())
    assert "demo-secret" not in make_settings().model_dump_json()


def test_a_wrong_chain_is_found_before_anything_is_sent_even_when_no_vendor_was_ever_named(make_world, erp):
    for vendor in ("store-001", "store-002"):
        erp.put(vendor, "a")
    world = make_world(platform={"chain": "other-chain"})
    with pytest.raises(ConfigurationError, match=r"other-chain|rejects the credentials"):
        world.sync("full")
    assert world.sent() == []
    assert world.rows("SELECT count(*) FROM ledger.vendor_run") == [(0,)]


@pytest.mark.slow
def test_a_chain_that_is_known_costs_its_question_once(world):
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 1, "active": True}])
    world.erp.put("store-000", "a")
    world.erp.put("store-001", "a")

    def questions():
        entries = world.platform.journal()["entries"]
        return len(
            [
                entry
                for entry in entries
                if entry["operation"] not in {"put_catalog", "log", "job_status", "token", None}
            ]
        )

    world.sync("full")
    asked = questions()
    world.erp.put("store-001", "a", "3.00")
    world.sync("delta")
    assert asked >= 1
    assert questions() == asked


@pytest.mark.parametrize(
    "text",
    [
        "store-001,store-002",
        " store-001 , store-002,",
        '["store-001", "store-002"]',
        ' ["store-001","store-002"] ',
        '[" store-001 ", "", "store-002"]',
    ],
)
def test_a_list_of_vendors_may_be_a_json_list_as_in_other_settings(monkeypatch, text):
    monkeypatch.setenv("SHELFSYNC_SYNC__VENDORS", text)
    assert read_settings().sync.vendors == ("store-001", "store-002")


@pytest.mark.parametrize("text", ["[store-001, store-002]", '["store-001"', "[1, 2]", '["a", ["b"]]'])
def test_a_list_that_is_no_list_of_texts_names_both_ways_to_write_it(monkeypatch, text):
    monkeypatch.setenv("SHELFSYNC_SYNC__VENDORS", text)
    with pytest.raises(ConfigurationError, match=r"SHELFSYNC_SYNC__VENDORS: .*with commas between them"):
        read_settings()
