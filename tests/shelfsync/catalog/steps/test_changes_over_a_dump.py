"""An ERP that gives files alone: a dump now and then, and files of changes. No reading brings back what a dump is too old to have."""

from __future__ import annotations

import itertools

import pytest

from shelfsync.catalog.ledger import readings
from shelfsync.catalog.steps import watch
from shelfsync.errors import ConfigurationError, IncompleteExtractError, TryAgainError

HEADER = "vendor,sku,price,quantity,active\n"
STORES = ("store-001", "store-002")
_keys = itertools.count(1)


@pytest.fixture
def folder(tmp_path):
    for name in ("dump", "feed"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.fixture
def files(folder):
    return {
        "source": "files",
        "files": str(folder / "dump" / "stock.csv"),
        "control_file": str(folder / "dump" / "rows.txt"),
        "changes_files": str(folder / "feed"),
        "changes_since_file": str(folder / "dump" / "since.txt"),
    }


@pytest.fixture
def world(make_world, platform, files, folder):
    known = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in "abc"]
    for vendor in STORES:
        platform.put_products(vendor, known)
    dump(folder, "")
    return make_world(erp=files)


def dump(folder, since, **quantities):
    """The whole, as an ERP writes it: the rows, their number, then the last file of changes that they have."""
    rows = [f"{vendor},{sku},1.00,{quantities.get(sku, 10)},1\n" for vendor in STORES for sku in "abc"]
    (folder / "dump" / "stock.csv").write_text(HEADER + "".join(rows))
    (folder / "dump" / "rows.txt").write_text(str(len(rows)))
    (folder / "dump" / "since.txt").write_text(since)


def drop(folder, name, **quantities):
    """A file of changes of the first store."""
    rows = [f"{STORES[0]},{sku},1.00,{quantity},1\n" for sku, quantity in quantities.items()]
    (folder / "feed" / name).write_text(HEADER + "".join(rows))


def extracted(world, kind="delta", **more):
    """The id of a run that only reads."""
    run_id = world.app.open_run(kind, f"dump/{next(_keys)}", **more)
    world.app.extract(run_id)
    return run_id


def held(world):
    """SKU -> quantity in the last rows of the first store."""
    with world.app.context.engine.connect() as connection:
        return _quantities(world, readings.every(connection)[STORES[0]].raw_path)


def read_by(world, run_id, store=STORES[0]):
    """SKU -> quantity that a run read of a store."""
    (row,) = world.rows(f"SELECT raw_path FROM ledger.vendor_run WHERE run_id = {run_id} AND vendor = '{store}'")
    return _quantities(world, row.raw_path)


def _quantities(world, path):
    return {row["sku"]: int(row["quantity"]) for row in world.app.context.lake.read_table(path).to_pylist()}


def states(world):
    rows = world.rows("SELECT regexp_replace(file, '.*/', '') AS name, state, closed FROM ledger.change_file")
    return {row.name: (row.state, row.closed) for row in rows}


def test_a_whole_reading_of_an_old_dump_keeps_the_changes_since(world, folder):
    drop(folder, "0001.csv", a=1)
    world.app.check()
    extracted(world, "full")
    assert held(world) == {"a": 1, "b": 10, "c": 10}, "the first reading has what is behind the dump"
    drop(folder, "0002.csv", a=2, b=2)
    extracted(world)
    drop(folder, "0003.csv", c=3)
    extracted(world, "full")
    assert held(world) == {"a": 2, "b": 2, "c": 3}
    assert set(states(world).values()) == {("taken", False)}


def test_a_newer_dump_corrects_what_the_files_missed_and_closes_those_that_it_has(world, folder):
    extracted(world, "full")
    drop(folder, "0001.csv", a=1)
    drop(folder, "0002.csv", b=2)
    extracted(world)
    dump(folder, "0001.csv", a=5)
    extracted(world, "full")
    assert held(world) == {"a": 5, "b": 2, "c": 10}
    assert states(world) == {"0001.csv": ("taken", True), "0002.csv": ("taken", False)}
    (folder / "feed" / "0001.csv").unlink()
    drop(folder, "0003.csv", c=3)
    extracted(world)
    assert held(world) == {"a": 5, "b": 2, "c": 3}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("full", {"dry_run": True}),
        ("full", {"vendors": STORES[:1]}),
        ("delta", {"vendors": STORES[:1], "skus": ("a",)}),
    ],
)
def test_plans_and_runs_of_some_vendors_read_the_dump_with_the_changes_since(world, folder, kind, more):
    extracted(world, "full")
    drop(folder, "0001.csv", a=1)
    extracted(world)
    drop(folder, "0002.csv", b=2)
    run_id = extracted(world, kind, **more)
    assert read_by(world, run_id) == {"a": 1, "b": 2, "c": 10}
    assert held(world)["b"] == (10 if "dry_run" in more else 2)
    assert "0002.csv" not in states(world), "they leave the files to the next delta"
    extracted(world)
    assert held(world)["b"] == 2


def test_a_file_that_is_gone_although_the_dump_has_it_not_stops_the_whole_reading(world, folder):
    extracted(world, "full")
    drop(folder, "0001.csv", a=1)
    extracted(world)
    (folder / "feed" / "0001.csv").unlink()
    with pytest.raises(IncompleteExtractError, match=r"0001.csv' is not in the folder any more"):
        extracted(world, "full")
    assert held(world)["a"] == 1
    dump(folder, "0001.csv", a=4)
    extracted(world, "full")
    assert held(world)["a"] == 4


def test_a_file_that_was_changed_after_it_was_taken_stops_the_whole_reading_too(world, folder):
    extracted(world, "full")
    drop(folder, "0001.csv", a=1)
    drop(folder, "0002.csv", b=2)
    extracted(world)
    drop(folder, "0001.csv", a=111)
    extracted(world)
    with pytest.raises(IncompleteExtractError, match=r"0001.csv' changed after"):
        extracted(world, "full")
    assert held(world) == {"a": 1, "b": 2, "c": 10}


def test_a_file_whose_rights_were_changed_is_still_the_same(world, folder):
    extracted(world, "full")
    drop(folder, "0001.csv", a=1)
    drop(folder, "0002.csv", b=2)
    extracted(world)
    (folder / "feed" / "0001.csv").chmod(0o600)
    extracted(world)
    assert states(world)["0001.csv"] == ("taken", False)
    extracted(world, "full")
    assert held(world) == {"a": 1, "b": 2, "c": 10}


def test_the_last_file_that_is_written_anew_while_the_whole_is_read_is_waited_for(world, folder):
    extracted(world, "full")
    drop(folder, "0001.csv", a=1)
    extracted(world)
    (folder / "feed" / "0001.csv").write_text(HEADER + "store-001,a,1.00,7")
    with pytest.raises(TryAgainError, match=r"0001.csv' is not whole"):
        extracted(world, "full")
    assert held(world)["a"] == 1
    drop(folder, "0001.csv", a=7)
    extracted(world, "full")
    assert held(world)["a"] == 7


def test_stores_with_folders_of_their_own_may_have_a_last_file_each(make_world, world, files, folder):
    for store in STORES:
        (folder / "feed" / store).mkdir()
        (folder / "dump" / f"since-{store}.txt").write_text("0001.csv" if store == STORES[0] else "")
        (folder / "feed" / store / "0001.csv").write_text("sku,price,quantity,active\na,1.00,1,1\n")
    by_store = {
        "changes_files": str(folder / "feed" / "{vendor}" / "*.csv"),
        "changes_since_file": str(folder / "dump" / "since-{vendor}.txt"),
    }
    stores = make_world(erp=files | by_store)
    run_id = extracted(stores, "full")
    assert read_by(stores, run_id)["a"] == 10, "the dump has its row"
    assert read_by(stores, run_id, STORES[1])["a"] == 1
    (folder / "dump" / f"since-{STORES[1]}.txt").unlink()
    run_id = extracted(stores, "full")
    (row,) = stores.rows(f"SELECT error FROM ledger.vendor_run WHERE run_id = {run_id} AND vendor = '{STORES[1]}'")
    assert "CHANGES_SINCE_FILE" in row.error
    assert read_by(stores, run_id)["a"] == 10, "the other store is read"


@pytest.mark.parametrize("feed", ["feed", "feed/{vendor}/*.csv"])
def test_a_file_whose_name_is_not_utf_8_stops_no_dump(make_world, world, files, folder, feed):
    since = "since-{vendor}.txt" if "{" in feed else "since.txt"
    for store in STORES:
        (folder / "dump" / f"since-{store}.txt").write_text("")
    more = {"changes_files": str(folder / feed), "changes_since_file": str(folder / "dump" / since)}
    stores = make_world(erp=files | more)
    place = folder / "feed" / "\udcc4" if "{" in feed else folder / "feed"
    place.mkdir(exist_ok=True)
    (place / "\udcc4.csv").write_text(HEADER + "store-001,a,1.00,9,1\n")
    for kind in ("full", "delta", "full"):
        extracted(stores, kind)
    assert held(stores)["a"] == 10
    assert len(stores.app.status()["alarms"]) == 1
    (place / "\udcc4.csv").unlink()
    extracted(stores, "full")
    assert (stores.app.status()["alarms"], states(stores)) == ([], {})


@pytest.mark.slow
def test_a_quarantined_file_is_reported_until_a_dump_has_it(world, folder):
    extracted(world, "full")
    drop(folder, "0002.csv", a=2)
    extracted(world)
    drop(folder, "0001.csv", a=1)
    extracted(world)
    extracted(world, "full")
    assert (held(world)["a"], states(world)["0001.csv"]) == (2, ("quarantined", False))
    assert len(world.app.status()["alarms"]) == 1
    dump(folder, "0002.csv", a=2)
    extracted(world, "full")
    assert states(world)["0001.csv"] == ("quarantined", True)
    assert world.app.status()["alarms"] == []


@pytest.mark.slow
def test_a_name_that_sorts_too_high_is_forgotten_with_a_dump_that_has_it(world, folder):
    extracted(world, "full")
    drop(folder, "20261125.csv", a=1)
    drop(folder, "20361126.csv", a=2)
    extracted(world)
    (folder / "feed" / "20361126.csv").unlink()
    with pytest.raises(IncompleteExtractError, match=r"all rows anew, with this name or a later one .*SINCE_FILE"):
        extracted(world, "full")
    dump(folder, "20361126.csv", a=3)
    extracted(world, "full")
    dump(folder, "20261125.csv", a=3)
    drop(folder, "20261127.csv", a=4)
    extracted(world)
    assert (held(world)["a"], states(world)["20261127.csv"]) == (4, ("taken", False))
    extracted(world, "full")
    assert held(world)["a"] == 4


def test_the_watch_looks_at_the_folder(world, folder):
    assert watch.news(world.app.context) == "the whole ERP was never read"
    extracted(world, "full")
    assert watch.news(world.app.context, rested_s=1e9) is None
    drop(folder, "0001.csv", a=1)
    assert "changes since" in watch.news(world.app.context, rested_s=1e9)
    extracted(world)
    assert watch.news(world.app.context, rested_s=1e9) is None


@pytest.mark.slow
def test_a_change_reaches_the_platform_and_an_old_dump_does_not_take_it_back(world, platform, folder):
    world.sync("full")
    drop(folder, "0001.csv", a=0)
    assert world.sync("delta")["sent"] == 1
    report = world.sync("full")
    assert report["alarms"] == []
    assert platform.products(STORES[0])["a"]["active"] is False


def test_without_the_name_of_the_last_file_the_dump_is_rejected(make_world, world, files, folder):
    without = make_world(erp=files | {"changes_since_file": None})
    with pytest.raises(ConfigurationError, match="SHELFSYNC_ERP__CHANGES_SINCE_FILE"):
        without.app.check()
    (folder / "dump" / "since.txt").unlink()
    with pytest.raises(ConfigurationError, match="SHELFSYNC_ERP__CHANGES_SINCE_FILE: no file is at"):
        world.app.check()
