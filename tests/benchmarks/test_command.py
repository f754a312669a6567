"""`make bench` itself, on next to nothing: every stage runs, agrees with the slow path, and reports what it found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import page
from benchmarks.__main__ import PEERS
from benchmarks.stages import STAGES

PROJECT = Path(__file__).parents[2]
DOCUMENT = PROJECT / "docs/internals/measured.md"


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize(
    "stages",
    [("diff", "stream"), ("full", "vendor", "path"), ("outcomes", "export"), ("upload",), ("formats",)],
    ids="-".join,
)
def test_a_stage_agrees_with_the_slow_path_and_reports_how_its_targets_fared(reachable_folder, stages):
    command = [sys.executable, "-m", "benchmarks", "--size", "100k", "--rounds", "1", "--folder", str(reachable_folder)]
    chosen = [word for stage in stages for word in ("--stage", stage)]
    results = reachable_folder / f"{stages[0]}.json"
    done = subprocess.run(
        [*command, *chosen, "--result", str(results)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT / "include")},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(results.read_text())
    assert [stage["name"] for stage in result["stages"]] == list(stages)
    for stage in result["stages"]:
        ours = [way for way in stage["ways"] if way["role"] == "ours"]
        assert all(way["cpu_s"]["median"] > 0 for way in ours)
        assert ours
        assert len(stage["targets"]) <= len(STAGES[stage["name"]].targets)
        assert all(target["text"] in done.stdout for target in stage["targets"])


def test_the_page_has_what_was_measured_and_nothing_else():
    assert page.rendered(page.measured()) == DOCUMENT.read_text()


def test_every_target_of_a_stage_stands_on_the_page():
    text = DOCUMENT.read_text()
    for stage in STAGES.values():
        assert all(target.text in text for target in stage.targets)


def test_a_peer_never_takes_the_place_of_a_package_of_ours():
    assert PEERS == PROJECT / ".tools" / "peers"
    assert str(PEERS) not in sys.path
