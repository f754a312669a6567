"""Every module can be the first that a process imports: a circle breaks one command and no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

INCLUDE = Path(__file__).parents[2] / "include"
EACH_IN_A_PROCESS_OF_ITS_OWN = """
import importlib, os, sys
import fsspec, httpx, pandas, psycopg, pyarrow.compute, pyarrow.csv, pyarrow.parquet, pydantic_settings, sqlalchemy, structlog, typer
for name in sys.argv[1:]:
    if os.fork() == 0:
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"{name}: {error}", flush=True)
        os._exit(0)
    os.wait()
"""


ROOMS = ("cli", "catalog/steps", "orders/steps", "promotions/steps")
"""What the processes begin with: commands, and the steps that tasks call."""


def _modules() -> list[str]:
    found = []
    for room in ROOMS:
        files = sorted((INCLUDE / "shelfsync" / room).rglob("*.py"))
        assert files, f"there is no room {room}"
        for file in files:
            parts = file.relative_to(INCLUDE).with_suffix("").parts
            found.append(".".join(part for part in parts if part != "__init__"))
    return found


@pytest.mark.slow
def test_every_module_can_be_the_first_one_imported():
    command = [sys.executable, "-c", EACH_IN_A_PROCESS_OF_ITS_OWN, *_modules()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=280)
    assert done.stdout == ""
