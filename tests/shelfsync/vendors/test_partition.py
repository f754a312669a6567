from __future__ import annotations

import datetime as dt
import itertools
import os
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfsync.rows.digest import digest_of
from shelfsync.schemas import RAW
from shelfsync.store.lake import Lake
from shelfsync.vendors.partition import NAMELESS_KEPT, Partition

KILLED = """
import os, signal, sys
import pyarrow as pa
from shelfsync.rows.digest import digest_of
from shelfsync.schemas import RAW
from shelfsync.vendors.partition import Partition
from shelfsync.store.lake import Lake

rows = [{"row_number": number, "vendor": "store-001", "sku": f"s{number}"} for number in range(9)]
with Partition(Lake("memory://killed"), rows_in_memory=2) as partition:
    for start in range(0, 9, 3):
        partition.add(pa.Table.from_pylist(rows[start : start + 3], schema=RAW))
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
"""
_roots = itertools.count()
vendors = st.sampled_from(["store-001", "store-002", "store-003", " store-001 ", "", "  ", None])


def _chunks(names, size):
    rows = [
        {"row_number": number, "vendor": vendor, "sku": f"s{number}"} for number, vendor in enumerate(names, start=1)
    ]
    return [pa.Table.from_pylist(rows[start : start + size], schema=RAW) for start in range(0, len(rows), size)]


@pytest.mark.slow
@settings(deadline=None)
@given(names=st.lists(vendors, min_size=1, max_size=60), size=st.integers(1, 20), held=st.integers(1, 30))
def test_every_row_ends_in_its_vendors_file_once_and_in_order_however_little_memory_there_is(names, size, held):
    lake = Lake(f"memory://partition-{next(_roots)}")
    with Partition(lake, rows_in_memory=held) as partition:
        for chunk in _chunks(names, size):
            partition.add(chunk)
        files = partition.finish()
        nameless = partition.nameless
    assert partition.digests == {path: digest_of([lake.read_table(path)]) for path, _ in files.values()}
    seen = {vendor: lake.read_table(path)["row_number"].to_pylist() for vendor, (path, _) in files.items()}
    wanted: dict[str, list[int]] = {}
    for number, vendor in enumerate(names, start=1):
        wanted.setdefault((vendor or "").strip(), []).append(number)
    assert nameless["row_number"].to_pylist() == wanted.pop("", [])
    assert seen == wanted
    assert {vendor: rows for vendor, (_, rows) in files.items()} == {
        vendor: len(rows) for vendor, rows in wanted.items()
    }


def test_vendors_that_were_not_asked_for_are_left_out():
    lake = Lake(f"memory://partition-{next(_roots)}")
    with Partition(lake, ("store-002",)) as partition:
        partition.add(_chunks(["store-001", "store-002", "store-002"], 10)[0])
        assert {vendor: rows for vendor, (_, rows) in partition.finish().items()} == {"store-002": 2}


def test_however_many_rows_name_no_vendor_the_others_go_on_and_few_are_kept():
    with Partition(Lake(f"memory://partition-{next(_roots)}")) as partition:
        for number in range(3):
            partition.add(pa.concat_tables(_chunks([None] * 9_000 + [f"store-{number}"], 10_000)))
        assert set(partition.finish()) == {"store-0", "store-1", "store-2"}
        assert partition.nameless.num_rows == NAMELESS_KEPT
        assert partition.nameless_rows == 27_000


def test_files_are_readable_by_anything_that_reads_parquet(tmp_path):
    lake = Lake(str(tmp_path))
    with Partition(lake, rows_in_memory=2) as partition:
        for chunk in _chunks(["a", "b", "a", "b", "a"], 2):
            partition.add(chunk)
        files = partition.finish()
        digest = partition.digests[files["a"][0]]
    assert pq.read_table(tmp_path / files["a"][0]).schema.equals(RAW)
    assert digest == digest_of([pq.read_table(tmp_path / files["a"][0])])


@pytest.mark.parametrize(("word", "code"), [("killed", -signal.SIGKILL), ("ended", 0)])
def test_a_process_leaves_no_file_behind_however_it_ends(tmp_path, word, code):
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", KILLED, word], env=environment, capture_output=True, check=False)
    assert ended.returncode == code, ended.stderr.decode()
    assert list(tmp_path.rglob("*")) == []


def test_a_row_whose_vendor_only_looks_like_a_known_store_goes_unchanged_to_that_store():
    names = [
        "store-001",
        "store-001\u200b",
        "'store-001",
        "st\u043ere-001",
        "store-001\u00a0",
        " store-001\t",
        "\u200bnew",
        "store\u2011001",
        "store\u2013001",
    ]
    with Partition(Lake("memory://odd-vendors"), stores={"store-001": "store-001"}) as partition:
        for chunk in _chunks(names, 3):
            partition.add(chunk)
        files = partition.finish()
        assert partition.nameless["row_number"].to_pylist() == [7]
    assert {name: rows for name, (_, rows) in files.items()} == {"store-001": 8}
    vendors = Lake("memory://odd-vendors").read_table(files["store-001"][0])["vendor"].to_pylist()
    assert vendors == ["store-001", *names[1:5], "store-001", *names[7:]]


def _partitioned(lake, chunks, **options):
    with Partition(lake, **options) as partition:
        for chunk in chunks:
            partition.add(chunk)
        files = {name: path for name, (path, _) in partition.finish().items()}
        return files, partition.digests


@pytest.mark.parametrize("held", [1, 100])
def test_the_same_rows_are_not_written_again_and_other_ones_are(held, monkeypatch):
    lake, written = Lake(f"memory://partition-{next(_roots)}"), []
    staged = Lake.staged
    monkeypatch.setattr(Lake, "staged", lambda *asked: written.append(asked[2]) or staged(*asked))
    rows = [{"row_number": number, "vendor": f"store-00{number % 2}", "sku": f"s{number}"} for number in range(8)]
    chunks = [pa.Table.from_pylist(rows[start : start + 3], schema=RAW) for start in range(0, 8, 3)]
    files, digests = _partitioned(lake, chunks, rows_in_memory=held)
    assert written == ["store-000", "store-001"]
    assert _partitioned(lake, chunks, rows_in_memory=held, written=files) == (files, digests)
    assert len(written) == 2, "each has its file"
    moved = [pa.Table.from_pylist([{**row, "row_number": row["row_number"] + 1} for row in rows], schema=RAW)]
    again, digests_moved = _partitioned(lake, moved, rows_in_memory=held, written=files)
    assert not set(again.values()) & set(files.values()), "the file has the place of a row, which a person is told"
    assert set(digests_moved.values()) == set(digests.values()), "and nothing else of it differs"
    rows[0]["sku"] = "other"
    changed = [pa.Table.from_pylist(rows, schema=RAW)]
    again, _ = _partitioned(lake, changed, rows_in_memory=held, written=files)
    assert [name for name in files if again[name] != files[name]] == ["store-000"]
    lake.remove(files["store-001"], not_after=dt.datetime.max.replace(tzinfo=dt.UTC))
    again, _ = _partitioned(lake, chunks, rows_in_memory=held, written=files)
    assert again == files
    assert lake.exists(files["store-001"]), "a file that is gone is written again"
