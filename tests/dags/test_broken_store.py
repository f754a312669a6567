"""A store whose own file is broken fails alone in Airflow too, and the run names it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from airflow_world import CUT, STORES, states

if TYPE_CHECKING:
    from pathlib import Path

    from airflow_world import World

pytestmark = pytest.mark.slow

BROKEN = STORES[1]


def test_a_store_whose_last_name_never_answers_stops_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for store in STORES:
        (tmp_path / "feed" / store).mkdir(parents=True)
        rows = "".join(f"{sku},1.00,10,1\n" for sku in CUT)
        (tmp_path / f"{store}.csv").write_text(f"sku,price,quantity,active\n{rows}")
        (tmp_path / "feed" / store / "1.csv").write_text(f"sku,price,quantity,active\n{rows.replace('1.00', '1.2349')}")
        (tmp_path / f"{store}.since").write_text("")
    (tmp_path / f"{BROKEN}.since").unlink()
    os.mkfifo(tmp_path / f"{BROKEN}.since")
    for name, value in {
        "URL": None,
        "SQL": None,
        "FILES": f"{tmp_path}/{{vendor}}.csv",
        "CHANGES_FILES": f"{tmp_path}/feed/{{vendor}}/*.csv",
        "CHANGES_SINCE_FILE": f"{tmp_path}/{{vendor}}.since",
        "TIMEOUT_S": "1",
    }.items():
        if value is None:
            monkeypatch.delenv(f"SHELFSYNC_ERP__{name}")
        else:
            monkeypatch.setenv(f"SHELFSYNC_ERP__{name}", value)
    ended = states(world.run("catalog_full_sync"))
    assert (ended["extract"], ended["deliver"], ended["report"]) == ({"success"}, {"success"}, {"failed"})
    assert world.prices(STORES[0], STORES[2]) == [CUT, CUT]
    assert world.prices(BROKEN) == [dict.fromkeys(CUT, 9.0)]
    assert f"vendor {BROKEN} failed at extract" in caplog.text
    assert "did not answer within 1 s" in caplog.text
