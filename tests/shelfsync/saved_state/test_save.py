from __future__ import annotations

import hashlib
import tracemalloc
import zipfile

import pytest
import sqlalchemy as sa

from shelfsync.errors import DataError
from shelfsync.saved_state.load import checked
from shelfsync.saved_state.manifest import MANIFEST
from shelfsync.saved_state.save import save
from shelfsync.store.engine import create_engine


def test_an_open_job_is_named_and_nothing_saved(shop, tmp_path):
    world = shop.world
    world.erp.put("store-001", "a", "10.50")
    world.begin(upto="deliver")
    context = world.app.context
    with pytest.raises(DataError, match=r"1 open jobs: .*nothing was saved.*shelfsync recover.*--unfinished"):
        save(context.engine, context.lake, tmp_path / "x.state", chain=None)
    manifest = save(context.engine, context.lake, tmp_path / "x.state", chain=None, unfinished=True)
    assert (manifest.unfinished, manifest.going_on) == ({"open jobs": 1}, {"running runs": 1})
    *_, running, unfinished = checked(tmp_path / "x.state", chain=None, reads=bool).notes
    assert running.startswith("1 running runs when it was saved: the old installation has to be stopped")
    assert "run `shelfsync sync --full` next" in unfinished


def test_a_waiting_event_of_an_order_names_the_dag_that_processes_it(shop, tmp_path):
    """`shelfsync recover` does not, and no full sync brings an order."""
    context = shop.world.app.context
    with context.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO inbox.event (kind, identity, vendor, body) VALUES ('order', 'x', 'store-001', '{}')"
        )
    with pytest.raises(DataError, match=r"1 waiting events of orders: .*finish them \(the DAG orders_fulfilment\)"):
        save(context.engine, context.lake, tmp_path / "x.state", chain=None)
    save(context.engine, context.lake, tmp_path / "x.state", chain=None, unfinished=True)
    (note, *_) = [one for one in checked(tmp_path / "x.state", chain=None, reads=bool).notes if "waiting events" in one]
    assert (
        note
        == "1 waiting events of orders when it was saved: the DAG orders_history reads these orders from the platform"
    )


def test_the_digest_of_each_member_is_in_the_manifest(shop, tmp_path):
    assert shop.sync()["state"] == "succeeded"
    context = shop.world.app.context
    manifest = save(context.engine, context.lake, tmp_path / "x.state", chain=None)
    with zipfile.ZipFile(tmp_path / "x.state") as archive:
        digests = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    del digests[MANIFEST]
    assert digests == manifest.sha256
    assert any(name.startswith("lake/") for name in digests)


def test_a_database_without_tables_has_no_state(empty_database_url, tmp_path):
    engine = create_engine(empty_database_url)
    with pytest.raises(DataError, match=r"without tables of shelfsync.*Name the database"):
        save(engine, None, tmp_path / "x.state", chain=None)
    engine.dispose()


def test_the_file_tells_whether_the_chain_was_paused(shop, tmp_path):
    app = shop.world.app

    def saved():
        return save(app.context.engine, app.context.lake, tmp_path / "x.state", chain=None).paused

    assert not saved()
    app.pause("vendor", "store-001", why="stocktaking", who="ada")
    assert not saved(), "one store alone"
    app.pause("all", "", why="upgrade", who="ada")
    assert saved()
    app.resume("all", "", why="over", who="ada")
    assert not saved()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_chain(engine, tmp_path):
    with engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO warehouse.vendor SELECT 'store-001', now()"))
        connection.execute(
            sa.text(
                "INSERT INTO warehouse.baseline (vendor, sku, price, quantity, active, job_id, acknowledged_at)"
                " SELECT 'store-001', 's' || g, 1.99, 7, true, 1, now() FROM generate_series(1, 100000) AS g"
            )
        )
    tracemalloc.start()
    try:
        manifest = save(engine, None, tmp_path / "x.state", chain=None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert manifest.tables["warehouse.baseline"].rows == 100_000
    assert peak < 12e6, "all rows at once are some 60 MB"
