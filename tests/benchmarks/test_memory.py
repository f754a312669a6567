"""Memory does not grow with the chain: fifty vendors take what one takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import chain

pytestmark = [
    pytest.mark.scale,
    pytest.mark.skipif(
        not Path("/proc/self/status").exists(), reason="the peak memory of a process is read from Linux' /proc"
    ),
]

PROJECT = Path(__file__).parents[2]
MIB = 2**20
VENDORS = 50
GROWTH_MAX = 1.25
PEAK_MAX = 384 * MIB


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return chain.make(tmp_path_factory.mktemp("chain"), VENDORS * chain.VENDOR_ROWS, raw_vendors=VENDORS)


def figures(stage, way, made, vendors):
    """What one way of the benchmark takes over the first vendors, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "way", stage, way, str(made.folder), str(vendors)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": f"{PROJECT}:{PROJECT / 'include'}"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])["figures"]


@pytest.mark.parametrize(
    ("stage", "way"),
    [
        pytest.param("stream", "ours", marks=pytest.mark.proof),
        pytest.param("full", "ours", marks=pytest.mark.proof),
        ("path", "ours"),
    ],
)
def test_fifty_vendors_take_the_memory_of_ten(made, stage, way):
    """Of ten, not of one: by then the allocators hold what they keep for the next vendor."""
    few, many = (figures(stage, way, made, vendors)["peak_bytes"] for vendors in (10, VENDORS))
    print(f"{stage}: {few / MIB:.0f} MiB for ten vendors, {many / MIB:.0f} MiB for {VENDORS}")
    assert many < few * GROWTH_MAX
    assert many < PEAK_MAX


@pytest.mark.proof
@pytest.mark.parametrize("way", ["ours", "whole"])
def test_a_body_of_100_mb_is_sent_in_a_few_mebibytes(made, way):
    found = figures("upload", way, made, 1)
    assert found["peak_bytes"] - found["idle_bytes"] < 64 * MIB
