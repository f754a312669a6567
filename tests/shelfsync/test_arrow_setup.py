"""What pyarrow does in a process that touches a table of shelfsync: each case in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

INCLUDE = Path(__file__).parents[2] / "include"
A_HOOK_IN_FRAMES = r"""
import sys
from shelfsync import arrow_setup, schemas
import pyarrow as pa
assert "pandas" not in sys.modules
import pandas as pd
arrow_setup.with_pandas()
assert pa.array(pd.Series(["a", None], dtype="str")).to_pylist() == ["a", None]
assert pa.Table.from_pandas(pd.DataFrame({"n": [1]})).to_pylist() == [{"n": 1}]
assert arrow_setup.without_pandas() is None and pa.array(pd.Series([1.5])).to_pylist() == [1.5]
"""
POOL = "import shelfsync.schemas, pyarrow as pa; print(pa.default_memory_pool().backend_name)"


def child(program: str, **environment: str) -> str:
    known = {name: value for name, value in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env={**known, "PYTHONPATH": str(INCLUDE), **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_where_frames_are_used_pyarrow_knows_pandas_again():
    child(A_HOOK_IN_FRAMES)


@pytest.mark.skipif("jemalloc" not in pa.supported_memory_backends(), reason="this pyarrow has no jemalloc")
def test_tables_are_held_by_the_allocator_that_gives_memory_back():
    assert child(POOL) == "jemalloc"


def test_an_allocator_that_the_environment_names_stays():
    assert child(POOL, ARROW_DEFAULT_MEMORY_POOL="system") == "system"
