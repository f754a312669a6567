"""Every DAG on the real scheduler: what it does when there is work, and that it does nothing when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from installation.installed import Installation

pytestmark = pytest.mark.slow


def test_every_dag_is_parsed_and_switched_on(installation: Installation) -> None:
    files = {file.stem for file in (installation.project / "dags").glob("*.py")}
    dags = installation.dags()
    assert dags.keys() == files
    assert [dag_id for dag_id, dag in dags.items() if dag["is_paused"]] == []
    assert installation.get("/importErrors")["import_errors"] == []
