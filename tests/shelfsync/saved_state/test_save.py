from __future__ import annotations

import pytest

from shelfsync.errors import DataError
from shelfsync.saved_state.load import checked
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
    assert manifest["unfinished"] == {"open jobs": 1}
    assert "run `shelfsync sync --full` next" in checked(tmp_path / "x.state", chain=None).notes[-1]


def test_a_database_without_tables_has_no_state(empty_database_url, tmp_path):
    engine = create_engine(empty_database_url)
    with pytest.raises(DataError, match=r"without tables of shelfsync.*Name the database"):
        save(engine, None, tmp_path / "x.state", chain=None)
    engine.dispose()
