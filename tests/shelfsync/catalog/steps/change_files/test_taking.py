"""Changes that come as files: each is taken once, none half, and a bad one stops no other."""

from __future__ import annotations

import gzip
import itertools

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from change_folder import HEADER, STORES, drop, extracted, held, read_until_set_aside, rest, states
from shelfsync.erp.csvfile import CsvFile
from shelfsync.erp.sql import SqlSource
from shelfsync.errors import ConfigurationError, TryAgainError, UnreachableError
from stamped_erp import TIMES

_keys = itertools.count(1)
PACKED = gzip.compress((HEADER + "store-001,a,1,5,1,,\n").encode(), mtime=0)


def test_each_file_is_taken_once_and_the_last_name_counts(world, folder):
    drop(folder, "0001.csv", ("store-001", "a", 1, 99, 1))
    extracted(world, "full")
    assert held(world) == {"a": 10, "b": 10, "c": 10}, "what was there before the whole is older than it"
    drop(folder, "0002.csv", ("store-001", "a", 1, 1, 1), ("store-001", "b", 1, 2, 1))
    drop(folder, "0003.csv", ("store-001", "a", 1, 3, 1), ("store-002", "c", 1, 4, 1))
    extracted(world)
    assert held(world) == {"a": 3, "b": 2, "c": 10}
    assert held(world, "store-002")["c"] == 4
    rows = world.rows("SELECT rows FROM ledger.extract ORDER BY extract_id DESC LIMIT 1")
    extracted(world)
    assert [*rows, *world.rows("SELECT rows FROM ledger.extract ORDER BY extract_id DESC LIMIT 1")] == [(4,), (0,)]
    assert set(states(world).values()) == {"taken"}


def test_rows_and_state_of_a_file_land_together_or_not_at_all(world, folder):
    extracted(world, "full")
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1))
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE FUNCTION ledger.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the disk is full'; END $$;"
            "CREATE TRIGGER fail BEFORE INSERT ON ledger.change_file FOR EACH ROW EXECUTE FUNCTION ledger.fail()"
        )
    with pytest.raises(sa.exc.DBAPIError, match="the disk is full"):
        extracted(world)
    assert held(world)["a"] == 10
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER fail ON ledger.change_file; DROP FUNCTION ledger.fail()")
    extracted(world)
    assert held(world)["a"] == 1


def test_a_file_that_is_being_written_waits_with_those_behind_it_and_is_taken_whole(world, folder):
    extracted(world, "full")
    (folder / "0001.csv").write_text(HEADER + "store-001,a,1,1")
    drop(folder, "0002.csv", ("store-001", "a", 1, 2, 1))
    extracted(world)
    assert (held(world)["a"], states(world)) == (10, {"0001.csv": "waiting", "0002.csv": "waiting"})
    rest(world)
    (folder / "0001.csv").write_text(HEADER + "store-001,a,1,1,1,,\nstore-001,b,1,7,1,,\n")
    extracted(world)
    assert held(world) == {"a": 2, "b": 7, "c": 10}
    assert set(states(world).values()) == {"taken"}


def test_a_file_that_grows_after_it_was_taken_is_taken_again(world, folder):
    extracted(world, "full")
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1))
    extracted(world)
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1), ("store-001", "b", 1, 5, 1))
    extracted(world)
    assert held(world) == {"a": 1, "b": 5, "c": 10}


@pytest.mark.parametrize(
    "text", ["vendor;sku\n", HEADER + "store-001,a,1,5,1,,", "\x00\x01", "vendor,sku,quantity\nstore-001,a,0\n"]
)
def test_a_poisoned_file_is_quarantined_with_its_reason_and_those_behind_it_go_on(world, folder, text):
    extracted(world, "full")
    (folder / "0001.csv").write_text(text)
    drop(folder, "0002.csv", ("store-001", "b", 1, 6, 1))
    read_until_set_aside(world)
    assert (held(world)["b"], states(world)) == (6, {"0001.csv": "quarantined", "0002.csv": "taken"})
    (alarm,) = world.app.status()["alarms"]
    assert "1 files of changes are quarantined" in alarm
    assert "0001.csv" in alarm


@pytest.mark.parametrize(
    "content",
    [PACKED[:10], PACKED[:10] + b"\xff" * 40, PACKED[:-9], b"vendor,sku\n", b""],
    ids=["no header", "no deflate", "no end", "not packed", "empty"],
)
def test_a_packed_file_that_is_not_whole_stops_no_reading_and_is_quarantined(world, folder, content):
    extracted(world, "full")
    (folder / "0001.csv.gz").write_bytes(content)
    drop(folder, "0002.csv", ("store-001", "b", 1, 6, 1))
    extracted(world)
    rest(world)
    extracted(world, "full")
    extracted(world)
    assert states(world) == {"0001.csv.gz": "quarantined", "0002.csv": "taken"}


def test_whatever_the_reading_of_a_file_raises_concerns_this_file_alone(world, folder, monkeypatch):
    def names(self):
        if "0001" in self._found.path:
            raise RuntimeError("an error that no library names")
        return whole(self)

    whole = CsvFile.names
    monkeypatch.setattr(CsvFile, "names", names)
    extracted(world, "full")
    drop(folder, "0001.csv", ("store-001", "a", 1, 5, 1))
    drop(folder, "0002.csv", ("store-001", "b", 1, 6, 1))
    read_until_set_aside(world)
    assert (held(world)["b"], states(world)) == (6, {"0001.csv": "quarantined", "0002.csv": "taken"})
    (alarm,) = world.app.status()["alarms"]
    assert "RuntimeError: an error that no library names" in alarm


def test_a_file_that_the_mapping_hook_does_not_accept_is_quarantined(make_world, world, erp, folder, hook):
    hook.write_text("def hook(frame):\n    assert 'bad' not in set(frame.sku)\n    return frame\n")
    feed = {"url": erp.url, "sql": TIMES["sql"], "changes_files": str(folder)}
    hooked = make_world(erp={**feed, "mapping": f"{hook}:hook"})
    extracted(hooked, "full")
    drop(folder, "0001.csv", ("store-001", "bad", 1, 5, 1))
    drop(folder, "0002.csv", ("store-001", "b", 1, 6, 1))
    read_until_set_aside(hooked)
    assert (held(hooked)["b"], states(hooked)) == (6, {"0001.csv": "quarantined", "0002.csv": "taken"})


@pytest.mark.parametrize(
    "error", [UnreachableError("SHELFSYNC_ERP__URL", "it does not answer", "Wait."), TryAgainError("later")]
)
def test_a_good_file_is_not_blamed_for_an_erp_that_is_away(world, folder, monkeypatch, error):
    def away(self):
        raise error

    extracted(world, "full")
    drop(folder, "0001.csv", ("store-001", "b", 1, 6, 1))
    with monkeypatch.context() as patch:
        patch.setattr(SqlSource, "absent_columns", away)
        for _ in range(2):
            with pytest.raises(type(error)):
                extracted(world)
            rest(world)
    assert states(world) == {}
    extracted(world)
    assert (held(world)["b"], states(world)) == (6, {"0001.csv": "taken"})


def test_a_file_is_not_blamed_for_a_storage_that_asks_to_try_again(world, folder, monkeypatch):
    def busy(self):
        raise TryAgainError("later")

    extracted(world, "full")
    drop(folder, "0001.csv", ("store-001", "b", 1, 6, 1))
    monkeypatch.setattr(CsvFile, "names", busy)
    with pytest.raises(TryAgainError):
        extracted(world)
    assert states(world) == {}


def test_a_file_is_not_blamed_for_a_mapping_hook_that_cannot_be_loaded(make_world, world, erp, folder, hook):
    hook.write_text("def hook(frame):\n    return frame\n")
    feed = {"url": erp.url, "sql": TIMES["sql"], "changes_files": str(folder)}
    extracted(make_world(erp={**feed, "mapping": f"{hook}:hook"}), "full")
    drop(folder, "0001.csv", ("store-001", "b", 1, 6, 1))
    with pytest.raises(ConfigurationError, match="no function 'other'"):
        extracted(make_world(erp={**feed, "mapping": f"{hook}:other"}))
    assert states(world) == {}


def test_poisoned_files_in_a_row_rest_together_and_those_behind_them_go_on(world, folder):
    extracted(world, "full")
    for name in ("0001.csv", "0002.csv", "0003.csv"):
        (folder / name).write_text("\x00\x01")
    drop(folder, "0004.csv", ("store-001", "b", 1, 6, 1))
    extracted(world)
    rest(world)
    (folder / "0003.csv").write_text(HEADER + "store-001,b,1,5")  # still being written, so its rest begins anew
    extracted(world)
    assert [*states(world).values()] == ["quarantined", "quarantined", "waiting", "waiting"]
    rest(world)
    extracted(world)
    assert [*states(world).values()] == ["quarantined", "quarantined", "quarantined", "taken"]
    assert held(world)["b"] == 6


def test_the_whole_reading_makes_up_for_files_and_forgets_those_that_are_gone(world, erp, folder):
    extracted(world, "full")
    for number in (1, 2, 3):
        drop(folder, f"000{number}.csv", ("store-001", "a", 1, number, 1))
    extracted(world)
    erp.put("store-001", "a", quantity=4)
    for number in (1, 2, 3):
        (folder / f"000{number}.csv").unlink()
    extracted(world, "full")
    assert (held(world)["a"], states(world)) == (4, {"0003.csv": "taken"})
    drop(folder, "0002.csv", ("store-001", "a", 1, 2, 1))
    extracted(world)
    assert (held(world)["a"], states(world)["0002.csv"]) == (4, "quarantined")


@pytest.mark.slow
def test_a_change_in_a_file_reaches_the_platform_and_what_files_missed_is_counted(world, erp, folder):
    world.sync("full")
    drop(folder, "0001.csv", ("store-001", "a", "1.00", 0, 1))
    erp.put("store-001", "a", quantity=0)
    assert world.sync("delta")["sent"] == 1
    erp.put("store-002", "b", price="7.00")  # in no file
    (alarm,) = world.sync("full")["alarms"]
    assert "missed 1 SKUs of 1 stores (price)" in alarm


event = st.tuples(
    st.sampled_from(["whole", "torn", "read", "rest", "full"]),
    st.lists(st.tuples(st.sampled_from(STORES), st.sampled_from("abcd"), st.integers(0, 5)), min_size=1, max_size=4),
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(event, max_size=14))
def test_after_the_last_file_and_reading_the_rows_are_the_erps_whatever_came_before(world, erp, folder, events):
    """Files in order, some of them torn until the next event; reads between them. An ERP changes its row and writes the file."""
    number = next(_keys) * 10_000
    extracted(world, "full")
    torn: str | None = None
    for kind, rows in events:
        if torn is not None:
            path = folder / torn
            path.write_text(path.read_text() + "\n")
            torn = None
        if kind in {"whole", "torn"}:
            number += 1
            unique = {(vendor, sku): quantity for vendor, sku, quantity in rows}
            for (vendor, sku), quantity in unique.items():
                erp.put(vendor, sku, quantity=quantity)
            drop(
                folder,
                f"{number:08}.csv",
                *((vendor, sku, "1.00", quantity, 1) for (vendor, sku), quantity in unique.items()),
                end="\n" if kind == "whole" else "",
            )
            torn = f"{number:08}.csv" if kind == "torn" else None
        elif kind == "rest":
            rest(world)
        else:
            extracted(world, "full" if kind == "full" else "delta")
    if torn is not None:
        (folder / torn).write_text((folder / torn).read_text() + "\n")
    extracted(world)
    for vendor in STORES:
        assert held(world, vendor) == {sku: int(quantity) for sku, _, quantity, _ in erp.rows(vendor)}
