"""Which files of the lake go, and which stay."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from lake_files import age
from shelfsync.housekeeping.unused_files import needed_paths, sweep
from shelfsync.store.lake import Lake
from two_products import PRODUCTS


@pytest.mark.slow
def test_a_file_younger_than_the_grace_stays_though_nothing_points_to_it_yet(lived):
    age(lived)
    path = lived.app.context.lake.write_bytes("log", "store-001", ".csv", b"just written")
    lived.app.remove_expired()
    assert lived.app.context.lake.exists(path)


@pytest.mark.slow
def test_a_file_that_is_published_again_is_young_again(lived):
    lake = lived.app.context.lake
    path = lake.write_bytes("log", "store-001", ".csv", b"the same content")
    age(lived)
    lake.write_bytes("log", "store-001", ".csv", b"the same content")
    lived.app.remove_expired()
    assert lake.exists(path)


@pytest.mark.slow
def test_what_a_dead_process_left_half_written_goes(lived):
    torn = Path(lived.settings.lake, ".staging", "torn.parquet")
    torn.write_bytes(b"PAR1")
    age(lived)
    lived.app.remove_expired()
    assert not torn.exists()


@pytest.mark.slow
def test_a_file_with_a_name_that_is_none_of_ours_keeps_no_other_from_going(lived):
    lake = lived.app.context.lake
    path = lake.write_bytes("log", "store-001", ".csv", b"nobody points to it")
    strange = Path(lived.settings.lake, "log", "store-000\u200b")
    strange.mkdir()
    (strange / "a.csv").write_bytes(b"x")
    age(lived)
    lived.app.remove_expired()
    assert not lake.exists(path)


def test_a_remote_lake_reports_the_age_of_its_files_too():
    lake = Lake("memory://swept")
    path = lake.write_bytes("log", "store-001", ".csv", b"x")
    (file,) = lake.files("log/store-001")
    assert (list(lake.folders()), file.path, file.bytes) == (["log/store-001"], path, 1)
    assert lake.remove(path, not_after=file.modified_at) is False
    assert lake.remove(path, not_after=file.modified_at + timedelta(seconds=1)) is True
    assert not lake.exists(path)


@pytest.mark.slow
def test_what_is_in_use_is_never_swept(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    age(world)
    assert sweep(world.app.context, grace=timedelta(hours=1), recent=timedelta(days=1)).removed == 0


@pytest.mark.slow
def test_a_file_that_many_runs_name_counts_once(world):
    world.platform.put_products("store-001", PRODUCTS)
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    for price in ("1.10", "1.00", "1.10"):
        world.erp.put("store-001", "a", price)
        world.sync("delta")
    rows, files = world.rows("SELECT count(snapshot_path), count(DISTINCT snapshot_path) FROM ledger.feed")[0]
    assert rows > files
    with world.app.context.engine.connect() as connection:
        for select in needed_paths(connection, timedelta(days=1)):
            paths = connection.execute(select).scalars().all()
            assert len(paths) == len(set(paths)), str(select)
