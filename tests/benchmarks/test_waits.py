"""Many waits in one triggerer, on a few of them: all wait until their jobs' deadline, and then end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.mark.slow
def test_waits_look_at_the_tables_and_end_with_their_jobs():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.waits", "--waits", "3", "--seconds", "12"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT / "include"), str(PROJECT / "plugins")])},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["waits"] == 3
    assert found["looks"] > 0
    assert found["memory_mib"] >= found["memory_mib_before"] > 0
