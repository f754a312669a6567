"""Metadata are complete wherever they are used: by what a process imports, not by what was imported before by accident."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

INCLUDE = Path(__file__).parents[3] / "include"
ALL_OF_THEM = re.compile(r"\bmetadata\.(tables|sorted_tables|create_all|drop_all|reflect)\b")

EVERYTHING = """
import pkgutil, importlib, shelfsync
from shelfsync.warehouse.every_table import metadata
known = set(metadata.tables) | set(metadata._sequences)
for module in pkgutil.walk_packages(shelfsync.__path__, "shelfsync."):
    if module.name.rpartition(".")[2] not in {"__main__", "env"}:
        importlib.import_module(module.name)
print(len(known), sorted((set(metadata.tables) | set(metadata._sequences)) - known))
"""

EACH_FIRST = """
import importlib, os, sys
import fsspec, httpx, pandas, psycopg, pyarrow.compute, pyarrow.csv, pyarrow.parquet, pydantic_settings, sqlalchemy, structlog, typer
from shelfsync.store.metadata import metadata
for name in sys.argv[1:]:
    if os.fork() == 0:
        importlib.import_module(name)
        for table in metadata.tables.values():
            if table.fullname == "ledger.job":  # it names the requests of every kind, whose rooms are above it
                continue
            for key in table.foreign_keys:
                try:
                    key.column
                except sqlalchemy.exc.NoReferenceError as error:
                    print(f"{name}: {error}", flush=True)
        os._exit(0)
    os.wait()
"""


def _python(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    environment = {"PYTHONPATH": str(INCLUDE)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _declaring() -> list[str]:
    """Modules that declare a table or import one that does; the others have no metadata to be incomplete."""
    found = []
    for file in sorted((INCLUDE / "shelfsync").rglob("*.py")):
        parts = file.relative_to(INCLUDE).with_suffix("").parts
        if "migrations" not in parts and "sa.Table(" in file.read_text("utf-8"):
            found.append(".".join(parts))
    return found


@pytest.mark.slow
def test_no_module_declares_a_table_that_the_one_place_does_not_import():
    known, more = _python(EVERYTHING).split(maxsplit=1)
    assert int(known) > 60
    assert more.strip() == "[]"


@pytest.mark.slow
def test_a_module_that_declares_a_table_brings_what_its_foreign_keys_name():
    modules = _declaring()
    assert len(modules) > 15
    assert _python(EACH_FIRST, *modules) == ""


def test_code_that_reads_all_tables_imports_them_from_one_module():
    wrong = []
    for file in sorted((INCLUDE / "shelfsync").rglob("*.py")):
        text = file.read_text("utf-8")
        of_the_erp = "sample" in file.parts  # its own metadata, in one file
        if ALL_OF_THEM.search(text) and "every_table import" not in text and not of_the_erp:
            wrong.append(str(file.relative_to(INCLUDE)))
    assert wrong == []
