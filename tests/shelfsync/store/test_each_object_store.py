"""A lake on two implementations of S3: a real client, a store in another process, and other processes that write beside this one."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from shelfsync.errors import ConfigurationError
from shelfsync.store import object_store
from shelfsync.store.lake import Lake

pytestmark = pytest.mark.slow
TABLE = pa.table({"sku": ["a", "b"], "price": [1, None]})
WRITE = "import sys; from shelfsync.store.lake import Lake; print(Lake(sys.argv[1]).write_bytes('log', 'store-001', '.csv', b'x'))"


def written_by_another_process(root: str) -> str:
    done = subprocess.run([sys.executable, "-c", WRITE, root], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_what_is_written_is_read_back_and_listed(each_s3):
    lake = Lake(f"{each_s3}/one")
    path = lake.write_table("snapshot", "store-001", TABLE)
    assert lake.write_table("snapshot", "store-001", TABLE) == path
    assert lake.read_table(path).equals(TABLE)
    assert lake.find(path, "b") == {"sku": "b", "price": None}
    assert lake.exists(path)
    assert list(lake.folders()) == ["snapshot/store-001"]
    (file,) = lake.files("snapshot/store-001")
    assert file.path == path
    with pytest.raises(ConfigurationError, match="no file"):
        lake.read_table("snapshot/store-001/none.parquet")


def test_an_empty_file_and_one_too_large_for_memory_are_read(each_s3, monkeypatch):
    monkeypatch.setattr(object_store, "WHOLE_BYTES", 1000)
    for content in (b"", b"x" * 999, b"x" * 1000, b"x" * 1001, b"y" * 300_000):
        path = Lake(f"{each_s3}/sizes").write_bytes("log", "store-001", ".csv", content)
        with Lake(f"{each_s3}/sizes").open(path) as file:
            assert file.read() == content
            file.seek(len(content) // 2)
            assert file.read() == content[len(content) // 2 :]


def test_a_file_that_is_removed_is_not_kept(each_s3):
    lake = Lake(f"{each_s3}/removed")
    path = lake.write_bytes("log", "store-001", ".csv", b"x")
    assert lake.remove(path, not_after=dt.datetime(2100, 1, 1, tzinfo=dt.UTC))
    with pytest.raises(ConfigurationError, match="no file"):
        lake.open(path)


def test_a_file_that_is_gone_already_needs_no_removal(each_s3):
    assert not Lake(f"{each_s3}/gone").remove("log/store-001/a.csv", not_after=dt.datetime(2100, 1, 1, tzinfo=dt.UTC))


def test_a_name_of_any_characters_is_one_and_the_same_for_another_client(each_s3):
    import fsspec

    names = ["a/b", "ä ö", "..", "a%b", "x~y", "q?#&+=;:@!'()*"]
    lake = Lake(f"{each_s3}/names")
    paths = [lake.write_bytes("log", name, ".csv", b"x") for name in names]
    assert fsspec.filesystem("s3").find("chain/names") == sorted(f"chain/names/{path}" for path in paths)
    assert list(lake.folders()) == sorted(path.rpartition("/")[0] for path in paths)


def test_writers_of_one_content_and_of_others_do_not_disturb_each_other(each_s3):
    """Names are made of contents: whoever comes last writes the same, so that no condition on the put is needed."""
    lake = Lake(f"{each_s3}/writers")
    contents = [b"%d" % (number % 4) for number in range(32)]
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda content: lake.write_bytes("log", "store-001", ".csv", content), contents))
    assert len(set(paths)) == 4
    assert sorted(file.path for file in lake.files("log/store-001")) == sorted(set(paths))
    for path, content in zip(paths, contents, strict=True):
        with lake.open(path) as file:
            assert file.read() == content


def test_what_another_process_writes_is_seen_at_once(each_s3):
    lake = Lake(f"{each_s3}/two")
    lake.write_bytes("log", "store-001", ".csv", b"mine")
    assert len(lake.files("log/store-001")) == 1
    path = written_by_another_process(lake.root)
    assert lake.exists(path)
    assert len(lake.files("log/store-001")) == 2


def test_a_file_that_another_process_has_published_again_is_not_removed(each_s3):
    """Housekeeping lists first, and removes later; a listing of then may not decide."""
    lake = Lake(f"{each_s3}/three")
    path = written_by_another_process(lake.root)
    assert [file.path for file in lake.files("log/store-001")] == [path]
    time.sleep(1.1)  # S3 has whole seconds
    listed_at = dt.datetime.now(dt.UTC).replace(microsecond=0)
    assert written_by_another_process(lake.root) == path
    assert not lake.remove(path, not_after=listed_at)
    assert lake.exists(path)
    assert lake.remove(path, not_after=dt.datetime(2100, 1, 1, tzinfo=dt.UTC))
    assert not lake.exists(path)
