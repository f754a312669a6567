"""Where the files of changes are: settings, names that no text can have, and the watch that looks for new ones."""

from __future__ import annotations

import pytest

from change_folder import HEADER, PART, drop, extracted, held, rest, states
from shelfsync.catalog.steps import watch
from shelfsync.errors import ConfigurationError
from stamped_erp import TIMES

UNREADABLE = "zz\udcc4\udcd6.csv"
"""A name in Latin-1, as Python has it; it sorts behind all others."""


@pytest.mark.slow
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


@pytest.mark.slow
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
