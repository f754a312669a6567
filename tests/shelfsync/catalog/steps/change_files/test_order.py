"""Changes that come as files count in the order of their names: no file, late or replayed, brings back an older value."""

from __future__ import annotations

import pytest

from change_folder import HEADER, PART, STORES, drop, extracted, held, read_until_set_aside, rest, states
from shelfsync.catalog.steps import changes, watch
from shelfsync.errors import DataError
from stamped_erp import TIMES


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
