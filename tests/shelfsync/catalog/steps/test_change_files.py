"""Changes that come as files: each is taken once and in order, none half, and a bad one stops no other."""

from __future__ import annotations

import gzip
import itertools

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shelfsync.catalog.ledger import readings
from shelfsync.catalog.steps import changes, watch
from shelfsync.erp.csvfile import CsvFile
from shelfsync.erp.sql import SqlSource
from shelfsync.errors import ConfigurationError, DataError, TryAgainError, UnreachableError
from stamped_erp import TIMES, StampedErp

PART = "sku,barcode,price,quantity,active,max_sales_quantity\n"
HEADER = "vendor,sku,price,quantity,active,barcode,max_sales_quantity\n"
PACKED = gzip.compress((HEADER + "store-001,a,1,5,1,,\n").encode(), mtime=0)
STORES = ("store-001", "store-002")
_keys = itertools.count(1)


@pytest.fixture
def erp(tmp_path):
    return StampedErp(tmp_path / "erp.sqlite")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "feed").mkdir()
    return tmp_path / "feed"


@pytest.fixture
def world(make_world, platform, erp, folder):
    known = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in "abc"]
    for vendor in STORES:
        platform.put_products(vendor, known)
        for sku in "abc":
            erp.put(vendor, sku)
    return make_world(erp={"url": erp.url, "sql": TIMES["sql"], "changes_files": str(folder)})


@pytest.fixture
def hook(tmp_path):
    """The file of a mapping hook, writable for its owner alone."""
    (tmp_path / "hook.py").touch(mode=0o600)
    return tmp_path / "hook.py"


def drop(folder, name, *rows, end="\n"):
    """A file as an ERP puts it there: written under another name, then renamed."""
    text = HEADER + "\n".join(",".join(map(str, row)) + ",," for row in rows) + end
    (folder / f".{name}").write_text(text)
    (folder / f".{name}").rename(folder / name)


def extracted(world, kind="delta"):
    """The vendors of a run that only reads."""
    run_id = world.app.open_run(kind, f"files/{next(_keys)}")
    return [vendor for shard in world.app.extract(run_id) for vendor in shard["vendors"]]


def held(world, vendor="store-001"):
    """SKU -> quantity in the last rows of a vendor."""
    with world.app.context.engine.connect() as connection:
        found = readings.every(connection)[vendor]
    rows = world.app.context.lake.read_table(found.raw_path).to_pylist()
    assert len(rows) == len({row["sku"] for row in rows})
    return {row["sku"]: int(row["quantity"]) for row in rows}


def states(world):
    """Name -> state of every file."""
    rows = world.rows("SELECT regexp_replace(file, '.*/', '') AS name, state FROM ledger.change_file ORDER BY file")
    return {row.name: row.state for row in rows}


def rest(world):
    """A minute and more goes by for files that wait."""
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.change_file SET seen_at = seen_at - interval '2 minutes'"))


def read_until_set_aside(world):
    """Two readings, so far apart that a file that is not whole is quarantined by the second."""
    extracted(world)
    rest(world)
    extracted(world)


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


def test_the_later_file_counts_although_the_mapping_hook_makes_several_rows_of_one(
    make_world, world, erp, folder, hook
):
    hook.write_text(
        "import pandas as pd\n"
        "def hook(frame):\n"
        "    return pd.concat([frame.assign(vendor=store) for store in ('store-001', 'store-002')])\n"
    )
    feed = {"url": erp.url, "sql": TIMES["sql"], "changes_files": str(folder)}
    extracted(world, "full")
    hooked = make_world(erp={**feed, "mapping": f"{hook}:hook"})
    drop(folder, "0001.csv", *(("", sku, 1, 1, 1) for sku in ("x", "y", "z", "a")))
    drop(folder, "0002.csv", ("", "a", 1, 2, 1))
    extracted(hooked)
    assert (held(hooked)["a"], held(hooked, "store-002")["a"]) == (2, 2)
    assert hooked.rows("SELECT sum(rows) FROM ledger.change_file") == [(10,)]


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


def test_a_file_that_is_removed_while_it_waits_is_waited_for_no_more(world, folder):
    extracted(world, "full")
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1))
    extracted(world)
    for name in ("0001.csv", "0002.csv"):
        (folder / name).write_text(HEADER + "store-001,a,1,1")
    extracted(world)
    assert states(world) == {"0001.csv": "waiting", "0002.csv": "waiting"}
    for name in ("0001.csv", "0002.csv"):
        (folder / name).unlink()
    extracted(world)
    assert states(world) == {"0001.csv": "taken"}, "its rows of before have landed"
    assert watch.news(world.app.context, rested_s=1e9) is None
    assert world.app.status()["alarms"] == []


def test_a_file_that_comes_back_after_it_waited_is_not_counted_as_taken(world, folder):
    extracted(world, "full")
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1))
    extracted(world)
    (folder / "0001.csv").write_text(HEADER + "store-001,a,1,2")
    extracted(world)
    (folder / "0001.csv").rename(folder.parent / "elsewhere.csv")  # the folder is away for a moment
    extracted(world)
    (folder.parent / "elsewhere.csv").rename(folder / "0001.csv")
    extracted(world)
    assert states(world) == {"0001.csv": "waiting"}
    rest(world)
    extracted(world)
    assert (held(world)["a"], states(world)) == (1, {"0001.csv": "quarantined"})


def test_a_file_that_is_replayed_brings_back_no_older_value(world, folder):
    extracted(world, "full")
    bad = folder / "0001.csv"
    bad.write_text(HEADER + "store-001,a,1,1,1,,\nstore-001,b,1,1,1,,\nstore-001,c,1,1")
    extracted(world)
    rest(world)
    drop(folder, "0002.csv", ("store-001", "a", 1, 2, 1))
    extracted(world)
    drop(folder, "0003.csv", ("store-001", "b", 1, 3, 1))
    extracted(world)
    assert held(world) == {"a": 2, "b": 3, "c": 10}
    bad.write_text(bad.read_text() + ",1,,\n")
    paths = changes.replay(world.app.context, str(bad))
    assert [path.rsplit("/", 1)[-1] for path in paths] == ["0001.csv", "0002.csv", "0003.csv"]
    assert watch.news(world.app.context, rested_s=1e9) is not None
    extracted(world)
    assert held(world) == {"a": 2, "b": 3, "c": 1}
    assert world.app.status()["alarms"] == []


def test_a_replay_that_would_bring_back_older_values_is_rejected(world, folder):
    extracted(world, "full")
    for number in (1, 2):
        drop(folder, f"000{number}.csv", ("store-001", "a", 1, number, 1))
    extracted(world)
    with pytest.raises(DataError, match="no file that was taken"):
        changes.replay(world.app.context, str(folder / "0009.csv"))
    (folder / "0002.csv").unlink()
    with pytest.raises(DataError, match=r"0002.csv' is not in the folder any more"):
        changes.replay(world.app.context, str(folder / "0001.csv"))
    extracted(world, "full")
    with pytest.raises(DataError, match="last reading of the whole, which has its rows"):
        changes.replay(world.app.context, str(folder / "0001.csv"))


def test_a_file_that_comes_late_is_quarantined_because_its_rows_may_be_older(world, folder):
    extracted(world, "full")
    drop(folder, "0002.csv", ("store-001", "a", 1, 2, 1))
    extracted(world)
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1))
    extracted(world)
    assert (held(world)["a"], states(world)["0001.csv"]) == (2, "quarantined")
    (row,) = world.rows("SELECT reason FROM ledger.change_file WHERE state = 'quarantined'")
    assert row.reason.startswith("it came after")


def test_a_name_that_sorts_too_high_is_forgotten_once_its_file_is_removed_and_the_whole_is_read(world, folder):
    extracted(world, "full")
    drop(folder, "20261125.csv", ("store-001", "a", 1, 1, 1))
    drop(folder, "20361126.csv", ("store-001", "a", 1, 2, 1))  # the ERP's clock was wrong
    extracted(world)
    drop(folder, "20261127.csv", ("store-001", "a", 1, 3, 1))
    extracted(world)
    (row,) = world.rows("SELECT reason FROM ledger.change_file WHERE state = 'quarantined'")
    assert row.reason.endswith("if the name of that file is wrong, remove it and run `shelfsync sync --full`")
    (folder / "20361126.csv").unlink()
    extracted(world, "full")
    assert states(world) == {"20261125.csv": "taken", "20261127.csv": "quarantined"}
    assert world.app.status()["alarms"] == []
    drop(folder, "20261128.csv", ("store-001", "a", 1, 4, 1))
    drop(folder, "20261126.csv", ("store-001", "a", 1, 9, 1))
    extracted(world)
    assert (held(world)["a"], states(world)["20261128.csv"]) == (4, "taken")
    drop(folder, "20261126x.csv", ("store-001", "a", 1, 9, 1))
    extracted(world)
    assert (held(world)["a"], states(world)["20261126x.csv"]) == (4, "quarantined"), "later names count again"


def test_the_last_name_stays_if_the_erp_removes_its_oldest_files_first(world, folder):
    extracted(world, "full")
    for number in (1, 2, 3):
        drop(folder, f"000{number}.csv", ("store-001", "a", 1, number, 1))
    extracted(world)
    (folder / "0001.csv").unlink()
    (folder / "0003.csv").write_text(HEADER + "store-001,a,1,7")
    extracted(world, "full")
    (folder / "0002.csv").unlink()
    (folder / "0003.csv").unlink()
    extracted(world, "full")
    extracted(world, "full")
    drop(folder, "0002x.csv", ("store-001", "a", 1, 9, 1))
    extracted(world)
    assert (held(world)["a"], states(world)) == (10, {"0002x.csv": "quarantined", "0003.csv": "taken"})


def test_a_quarantined_file_of_which_nothing_was_taken_keeps_no_later_one_out(world, folder):
    extracted(world, "full")
    (folder / "readme.txt").write_text("Files of changes.\n")
    read_until_set_aside(world)
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1))
    extracted(world)
    drop(folder, "0002.csv", ("store-001", "a", 1, 2, 1))
    extracted(world)
    assert (held(world)["a"], states(world)) == (
        2,
        {"0001.csv": "taken", "0002.csv": "taken", "readme.txt": "quarantined"},
    )
    changes.replay(world.app.context, str(folder / "0001.csv"))
    extracted(world)
    assert states(world)["0001.csv"] == "taken"


def test_the_last_name_of_a_taken_file_stays_although_a_quarantined_one_is_removed_with_it(world, folder):
    extracted(world, "full")
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1))
    drop(folder, "0003.csv", ("store-001", "a", 1, 3, 1))
    (folder / "readme.txt").write_text("Files of changes.\n")
    read_until_set_aside(world)
    for path in folder.iterdir():
        path.unlink()
    extracted(world, "full")
    assert states(world) == {"0003.csv": "taken"}
    drop(folder, "0002.csv", ("store-001", "a", 1, 2, 1))
    extracted(world)
    assert (held(world)["a"], states(world)["0002.csv"]) == (10, "quarantined")


def test_a_late_file_is_quarantined_also_while_the_last_one_is_written_anew(world, folder):
    extracted(world, "full")
    drop(folder, "0002.csv", ("store-001", "a", 1, 2, 1))
    extracted(world)
    (folder / "0002.csv").write_text(HEADER + "store-001,a,1,2")
    extracted(world)
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1))
    extracted(world)
    assert (held(world)["a"], states(world)) == (2, {"0001.csv": "quarantined", "0002.csv": "waiting"})


UNREADABLE = "zz\udcc4\udcd6.csv"
"""A name in Latin-1, as Python has it; it sorts behind all others."""


def test_a_file_whose_name_is_not_utf_8_is_set_aside_alone(world, folder):
    extracted(world, "full")
    drop(folder, UNREADABLE, ("store-001", "a", 1, 9, 1))
    assert watch.news(world.app.context, rested_s=1e9) is not None
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1))
    extracted(world)
    drop(folder, "0002.csv", ("store-001", "a", 1, 2, 1))
    extracted(world)
    shown = r"zz\xc4\xd6.csv"
    assert states(world) == {"0001.csv": "taken", "0002.csv": "taken", shown: "quarantined"}
    assert held(world)["a"] == 2
    (alarm,) = world.app.status()["alarms"]
    assert "its name is not UTF-8" in alarm
    assert watch.news(world.app.context, rested_s=1e9) is None
    extracted(world, "full")
    extracted(world)
    assert world.app.status()["alarms"] == [], "the whole has its rows"
    (folder / UNREADABLE).rename(folder / "0003.csv")
    extracted(world)
    assert states(world) == {"0001.csv": "taken", "0002.csv": "taken", "0003.csv": "taken"}
    world.app.check()


def test_a_file_in_a_folder_whose_name_is_not_utf_8_is_set_aside_too(make_world, world, erp, folder):
    feed = {"url": erp.url, "sql": TIMES["sql"], "changes_files": str(folder / "{vendor}" / "*.csv")}
    stores = make_world(erp=feed)
    for store in ("store-001", "\udcc4"):
        (folder / store).mkdir()
    extracted(stores, "full")
    (folder / "\udcc4" / "1.csv").write_text(PART + "a,,1,9,1,\n")
    (folder / "store-001" / "1.csv").write_text(PART + "a,,1,1,1,\n")
    stores.app.check()
    extracted(stores)
    assert held(stores)["a"] == 1
    rows = stores.rows("SELECT file, state, sequence FROM ledger.change_file ORDER BY file")
    assert [tuple(row) for row in rows] == [
        (str(folder / r"\xc4" / "1.csv"), "quarantined", ""),
        (str(folder / "store-001" / "1.csv"), "taken", "store-001"),
    ]


def test_files_of_a_store_are_in_an_order_of_their_own(make_world, world, erp, folder):
    stores = make_world(
        erp={"url": erp.url, "sql": TIMES["sql"], "changes_files": str(folder / "{vendor}" / "*.csv")},
    )
    for store in STORES:
        (folder / store).mkdir()
    extracted(stores, "full")
    (folder / "store-002" / "9.csv").write_text(PART + "a,,1,9,1,\n")
    extracted(stores)
    (folder / "store-001" / "1.csv").write_text(PART + "a,,1,1,1,\n")
    extracted(stores)
    assert (held(stores)["a"], held(stores, "store-002")["a"]) == (1, 9)


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


def test_the_watch_sees_a_new_file_and_rests_without_one(world, folder):
    extracted(world, "full")
    assert watch.news(world.app.context, rested_s=1e9) is None
    drop(folder, "0001.csv", ("store-001", "a", 1, 1, 1))
    assert "changes since" in watch.news(world.app.context, rested_s=1e9)
    extracted(world)
    assert watch.news(world.app.context, rested_s=1e9) is None
    (folder / "0002.csv").write_text(HEADER)
    extracted(world)
    assert watch.news(world.app.context, rested_s=1e9) is not None, "a file waits"
    rest(world)
    extracted(world)
    assert watch.news(world.app.context, rested_s=1e9) is None
    assert states(world)["0002.csv"] == "taken", "a file without a row changes nothing"


@pytest.mark.slow
def test_a_change_in_a_file_reaches_the_platform_and_what_files_missed_is_counted(world, erp, folder):
    world.sync("full")
    drop(folder, "0001.csv", ("store-001", "a", "1.00", 0, 1))
    erp.put("store-001", "a", quantity=0)
    assert world.sync("delta")["sent"] == 1
    erp.put("store-002", "b", price="7.00")  # in no file
    (alarm,) = world.sync("full")["alarms"]
    assert "missed 1 SKUs of 1 vendors (price)" in alarm


@pytest.mark.parametrize(
    ("more", "setting"),
    [
        ({"changes_sql": TIMES["changes_sql"]}, "CHANGES_FILES"),
        ({"source": "files", "files": "x.csv"}, "CHANGES_FILES"),
    ],
)
def test_settings_that_contradict_each_other_are_named(make_world, erp, folder, more, setting):
    erp.put("store-001", "a")
    world = make_world(erp={"url": erp.url, "sql": TIMES["sql"], "changes_files": str(folder), **more})
    with pytest.raises(ConfigurationError, match=setting):
        world.app.check()


@pytest.mark.parametrize("missing", ["nowhere", "nowhere/{vendor}/*.csv"])
def test_a_folder_that_is_not_there_is_named_and_not_taken_for_one_without_files(make_world, erp, folder, missing):
    erp.put("store-001", "a")
    world = make_world(erp={"url": erp.url, "sql": TIMES["sql"], "changes_files": str(folder / missing)})
    with pytest.raises(ConfigurationError, match="SHELFSYNC_ERP__CHANGES_FILES: no file is at"):
        world.app.check()


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
