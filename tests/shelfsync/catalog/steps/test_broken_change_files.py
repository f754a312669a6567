"""A sequence of change files for each store: what is wrong with one store's files or its last name fails that store alone."""

from __future__ import annotations

import itertools
import os
import shutil

import pytest

from shelfsync.catalog.ledger import readings
from shelfsync.erp.changes_query import Changes
from shelfsync.erp.open import open_source
from shelfsync.errors import IncompleteExtractError, ShelfsyncError
from shelfsync.settings import ErpSettings

pytestmark = pytest.mark.slow

STORES = ("store-001", "store-002", "store-003")
BROKEN = STORES[1]
_keys = itertools.count(1)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "dump").mkdir()
    for store in STORES:
        add(tmp_path, store)
    return tmp_path


def add(folder, store):
    """A store with a dump and one file of changes since."""
    (folder / "feed" / store).mkdir(parents=True)
    dump(folder, store, 10)
    change(folder, store, "0001.csv", a=1)


@pytest.fixture
def settings(folder):
    return {
        "source": "files",
        "files": f"{folder}/dump/{{vendor}}.csv",
        "control_file": f"{folder}/dump/{{vendor}}.rows",
        "changes_files": f"{folder}/feed/{{vendor}}/*.csv",
        "changes_since_file": f"{folder}/dump/{{vendor}}.since",
        "timeout_s": 1.0,
    }


@pytest.fixture
def world(make_world, settings):
    return make_world(erp=settings)


def dump(folder, store, quantity, since=""):
    rows = "".join(f"{sku},1.00,{quantity},1\n" for sku in "abc")
    (folder / "dump" / f"{store}.csv").write_text(f"sku,price,quantity,active\n{rows}")
    (folder / "dump" / f"{store}.rows").write_text("3")
    (folder / "dump" / f"{store}.since").write_text(since)


def change(folder, store, name, **quantities):
    rows = "".join(f"{sku},1.00,{quantity},1\n" for sku, quantity in quantities.items())
    (folder / "feed" / store / name).write_text(f"sku,price,quantity,active\n{rows}")


def read(world, kind, **more):
    """(vendor -> its quantities, vendor -> why it failed) of a run that only reads."""
    run_id = world.app.open_run(kind, f"broken/{next(_keys)}", **more)
    world.app.extract(run_id)
    rows = world.rows(f"SELECT vendor, raw_path, error FROM ledger.vendor_run WHERE run_id = {run_id}")
    quantities = {row.vendor: _quantities(world, row.raw_path) for row in rows if row.raw_path}
    return quantities, {row.vendor: row.error for row in rows if row.error}


def held(world):
    """Vendor -> the quantities that changes are laid over."""
    with world.app.context.engine.connect() as connection:
        return {name: _quantities(world, one.raw_path) for name, one in readings.every(connection).items()}


def _quantities(world, path):
    return "".join(
        f"{row['sku']}{row['quantity']} "
        for row in sorted(world.app.context.lake.read_table(path).to_pylist(), key=lambda row: row["sku"])
    ).strip()


def _is_a_pipe(path):
    path.unlink()
    os.mkfifo(path)


def _is_a_folder(path):
    path.unlink()
    path.mkdir()


# a name behind those of the good stores: the first ones are looked up at the platform
LAST_NAME = {
    "store-9-missing": lambda path: path.unlink(),
    "store-9-a-pipe-without-a-writer": _is_a_pipe,
    "store-9-a-folder": _is_a_folder,
    "store-9-no-text": lambda path: path.write_bytes(bytes(range(128, 200))),
    "store-9-NUL-bytes": lambda path: path.write_bytes(bytes(100)),
    "store-9-a-page-of-a-server": lambda path: path.write_text("<html>\n<body>503</body>\n</html>"),
    "store-9-endless": lambda path: path.write_text("0" * 100_000),
    "store-9-a-link-to-nothing": lambda path: (path.unlink(), path.symlink_to("nowhere")),
}


def test_stores_without_a_last_name_fail_alone_and_lose_nothing(world, folder):
    for store in LAST_NAME:
        add(folder, store)
    read(world, "full")
    for store in (STORES[0], *LAST_NAME):
        change(folder, store, "0002.csv", b=2)
    for store, spoil in LAST_NAME.items():
        spoil(folder / "dump" / f"{store}.since")
    good = {STORES[0]: "a1 b2 c10", STORES[1]: "a1 b10 c10", STORES[2]: "a1 b10 c10"}
    quantities, failed = read(world, "full")
    assert quantities == good
    assert failed.keys() == LAST_NAME.keys()
    assert all("SINCE_FILE" in why or "cannot be read" in why for why in failed.values()), failed
    assert world.app.context.open_erp().check().keys() == LAST_NAME.keys()
    planned, failed = read(world, "full", dry_run=True)
    assert (planned.keys(), failed.keys()) == (good.keys(), LAST_NAME.keys())
    assert {held(world)[store] for store in LAST_NAME} == {"a1 b10 c10"}, (
        "their values stay those of the reading before"
    )
    read(world, "delta")
    assert {held(world)[store] for store in LAST_NAME} == {"a1 b2 c10"}, "a delta needs no last name"
    for store in LAST_NAME:
        path = folder / "dump" / f"{store}.since"
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.write_text("0001.csv")
    quantities, failed = read(world, "full")
    assert ({quantities[store] for store in LAST_NAME}, failed) == ({"a10 b2 c10"}, {})


def test_an_empty_or_cut_last_name_is_an_older_one_and_does_no_harm(world, folder):
    read(world, "full")
    for text in ("", "00", "0001.cs"):
        (folder / "dump" / f"{BROKEN}.since").write_text(text)
        assert read(world, "full") == (dict.fromkeys(STORES, "a1 b10 c10"), {})


CHANGED = {
    "store-9-gone": lambda path: path.unlink(),
    "store-9-changed": lambda path: path.write_text("sku,price,quantity,active\na,1.00,77,1\nb,1.00,77,1\n"),
    "store-9-cut": lambda path: path.write_text("sku,price,quantity,active\na,1"),
    "store-9-empty": lambda path: path.write_text(""),
    "store-9-of-another-header": lambda path: path.write_text("article\n1\n"),
    "store-9-a-pipe-nobody-writes-to": _is_a_pipe,
}


def test_stores_whose_taken_file_is_not_what_it_was_fail_alone(world, folder):
    for store in CHANGED:
        add(folder, store)
    read(world, "full")
    for store in CHANGED:
        change(folder, store, "0002.csv", c=2)
    read(world, "delta")
    for store, spoil in CHANGED.items():
        spoil(folder / "feed" / store / "0001.csv")
    change(folder, STORES[0], "0002.csv", b=2)
    quantities, failed = read(world, "full")
    assert quantities == {STORES[0]: "a1 b2 c10", STORES[1]: "a1 b10 c10", STORES[2]: "a1 b10 c10"}
    assert failed.keys() == CHANGED.keys()
    assert all("0001.csv" in why for why in failed.values()), failed
    assert {held(world)[store] for store in CHANGED} == {"a1 b10 c2"}
    for store in CHANGED:
        dump(folder, store, 20, since="0002.csv")
    quantities, _ = read(world, "full")
    assert {quantities[store] for store in CHANGED} == {"a20 b20 c20"}, "a dump that has the files brings a store back"


def test_a_delta_takes_the_other_stores_files_while_one_is_silent(world, folder):
    read(world, "full")
    for name in ("0002.csv", "0001.csv"):
        path = folder / "feed" / BROKEN / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        change(folder, STORES[0], "0002.csv", b=2)
        read(world, "delta")
        assert held(world)[STORES[0]] == "a1 b2 c10"
        assert held(world)[BROKEN] == "a1 b10 c10"
        path.unlink()
        change(folder, BROKEN, "0001.csv", a=1)
    change(folder, BROKEN, "0002.csv", c=3)
    read(world, "delta")
    assert held(world)[BROKEN] == "a1 b10 c3"


def test_a_file_that_is_written_all_the_time_keeps_its_store_waiting_alone(world, folder, monkeypatch):
    """The stamp differs between the beginning and the end of each reading, as with a file that grows."""
    from shelfsync.erp.address import FoundFile

    read(world, "full")
    stamp, count = FoundFile.stamp, itertools.count()
    for store in STORES:
        change(folder, store, "0002.csv", b=2)

    def restless(file):
        return f"{next(count)}" if BROKEN in file.path else stamp(file)

    monkeypatch.setattr(FoundFile, "stamp", restless)
    quantities, failed = read(world, "delta")
    assert quantities == {STORES[0]: "a1 b2 c10", STORES[2]: "a1 b2 c10"}
    assert "changed while it was read" in failed[BROKEN]
    assert held(world)[BROKEN] == "a1 b10 c10"
    monkeypatch.undo()
    quantities, failed = read(world, "delta")
    assert (quantities[BROKEN], failed) == ("a1 b2 c10", {})


def test_a_database_that_is_away_is_no_stores_fault(folder):
    away = ErpSettings(
        url="postgresql+psycopg://x@127.0.0.1:1/none", sql="SELECT 1", changes_files=f"{folder}/feed/{{vendor}}/*.csv"
    )
    changes = Changes("since", lambda _: None)
    with pytest.raises(ShelfsyncError, match="cannot be reached"):
        open_source(away).followed().read_changes(changes)
    assert changes.failed == {}


def test_with_a_mapping_hook_a_broken_last_name_is_about_all_stores(make_world, settings, folder, tmp_path):
    """The hook may give a file's rows to any store, so it is unknown whose older values would come back."""
    (tmp_path / "hook.py").write_text("def same(frame):\n    return frame\n")
    stores = make_world(erp=settings | {"mapping": f"{tmp_path / 'hook.py'}:same"})
    (folder / "dump" / f"{BROKEN}.since").unlink()
    with pytest.raises(IncompleteExtractError, match="SINCE_FILE"):
        read(stores, "full")
