"""A short soak: some minutes of disturbance in a separate installation, as `make soak` runs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from installation.installed import PROJECT, clean_environment
from installation.process import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

MINUTES = 5
SEED = 1
TIMEOUT_S = 3600.0


@pytest.mark.timeout(TIMEOUT_S + 60)
def test_after_some_minutes_of_disturbance_every_claim_holds(reachable_folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "soak.json"
    words = f"ARGS=--home {reachable_folder / 'soak'} --result {file}"
    command = ["make", "soak", f"MINUTES={MINUTES}", f"SEED={SEED}", words]
    done = run(command, clean_environment(), PROJECT, timeout_s=TIMEOUT_S)
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-2000:]}"
    result = json.loads(file.read_text("utf-8"))
    assert result["failed_claims"] == []
    assert result["seconds_to_convergence"] >= 0
    assert sum(result["kills"].values()) >= 3
