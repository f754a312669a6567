"""Memory does not grow with the table: ten times the rows, the same peak."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = [
    pytest.mark.scale,
    pytest.mark.skipif(
        not Path("/proc/self/status").exists(), reason="the peak memory of a process is read from Linux' /proc"
    ),
]

MANY = 1_000_000
FEW = MANY // 10
GROWTH_MAX = 1.4
"""Ten times the rows in memory would be more than double; allocators and a busy machine account for the rest."""
CHILD = r"""
import json, re, sys, time
from pathlib import Path
from shelfsync.erp.open import open_source
from shelfsync.settings import ErpSettings
began = time.perf_counter()
with open_source(ErpSettings(**json.loads(sys.argv[1]))).read() as extract:
    for chunk in extract:
        pass
    proof = extract.proof()
peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]  # ru_maxrss would count the parent's memory too
print(json.dumps([proof.rows, int(peak), time.perf_counter() - began]))
"""


def peak_kib(rows, **settings):
    """The peak memory of a separate process that reads all rows."""
    include = str(Path(__file__).parents[3] / "include")
    answer = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(settings)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": include},
    )
    read, peak, seconds = json.loads(answer.stdout)
    assert read == rows
    print(f"{rows} rows: {peak / 1024:.0f} MiB at most, {seconds:.1f} s")
    return peak


def columns(rows):
    return {
        "vendor": [f"store-{i % 7:03}" for i in range(rows)],
        "sku": [f"{i:07}" for i in range(rows)],
        "price": [f"{i % 9999}.99" for i in range(rows)],
    }


@pytest.mark.proof
def test_a_table_of_a_million_rows_in_sqlite_takes_no_more_memory_than_a_tenth_of_it(tmp_path):
    file = tmp_path / "erp.db"
    with contextlib.closing(sqlite3.connect(file)) as erp, erp:
        erp.execute("CREATE TABLE item (vendor, sku, price, quantity)")
        erp.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            " INSERT INTO item SELECT 'store-' || (i % 7), printf('%07d', i), i % 999 + 0.99, i % 50 FROM n",
            [MANY],
        )
    few, many = (
        peak_kib(rows, url=f"sqlite:///{file}", sql=f"SELECT * FROM item WHERE rowid <= {rows}") for rows in (FEW, MANY)
    )
    assert many < few * GROWTH_MAX


def test_a_table_of_a_million_rows_in_postgresql_takes_no_more_memory_than_a_tenth_of_it(erp_url):
    sql = "SELECT 'store-' || mod(i, 7) AS vendor, lpad(i::text, 7, '0') AS sku, i::numeric / 100 AS price FROM generate_series(1, {}) AS i"
    few, many = (peak_kib(rows, url=erp_url, sql=sql.format(rows)) for rows in (FEW, MANY))
    assert many < few * GROWTH_MAX


@pytest.mark.slow
@pytest.mark.proof
def test_a_table_of_a_million_rows_in_mariadb_takes_no_more_memory_than_a_tenth_of_it(mariadb_port):
    url = f"mysql+pymysql://shop:canary-password-3@127.0.0.1:{mariadb_port}/erp"
    sql = (
        "SELECT concat('store-', mod(seq, 7)) AS vendor, lpad(seq, 7, '0') AS sku, seq / 100 AS price FROM seq_1_to_{}"
    )
    few, many = (peak_kib(rows, url=url, sql=sql.format(rows)) for rows in (FEW, MANY))
    assert many < few * GROWTH_MAX


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_a_file_of_a_million_rows_takes_no_more_memory_than_a_tenth_of_it(tmp_path, file_format):
    peaks = []
    for rows in (FEW, MANY):
        path = tmp_path / f"{rows}.{file_format}"
        table = columns(rows)
        if file_format == "csv":
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([list(table), *zip(*table.values(), strict=True)])
        else:
            pq.write_table(pa.table(table), path)
        peaks.append(peak_kib(rows, files=str(path)))
    assert peaks[1] < peaks[0] * GROWTH_MAX
