"""Lake and ERP files on S3: a real client, a store in another process, and other processes that write beside this one."""

from __future__ import annotations

import datetime as dt
import gzip
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from s3_server import requests_recorded
from shelfsync.erp.open import open_source
from shelfsync.erp.sniff import sniff
from shelfsync.errors import ConfigurationError
from shelfsync.settings import ErpSettings
from shelfsync.store import lake as lake_module
from shelfsync.store.lake import Lake

pytestmark = pytest.mark.slow
TABLE = pa.table({"sku": ["a", "b"], "price": [1, None]})
WRITE = "import sys; from shelfsync.store.lake import Lake; print(Lake(sys.argv[1]).write_bytes('log', 'store-001', '.csv', b'x'))"


def written_by_another_process(root: str) -> str:
    done = subprocess.run([sys.executable, "-c", WRITE, root], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_what_is_written_is_read_back_and_listed(s3):
    lake = Lake(f"{s3}/one")
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


def test_a_file_is_written_by_one_request_and_read_by_one(s3):
    lake = Lake(f"{s3}/counted")
    lake.write_bytes("log", "store-001", ".csv", b"x")  # the first use of a client looks for its keys
    with requests_recorded() as written:
        path = lake.write_table("snapshot", "store-001", TABLE)
    with requests_recorded() as read:
        assert lake.read_table(path, ["sku"]).num_rows == 2
    with requests_recorded() as found:
        assert lake.find(path, "b") == {"sku": "b", "price": None}
    assert [[one.split()[0] for one in some] for some in (written, read, found)] == [["PUT"], ["GET"], ["GET"]]


def test_an_empty_file_and_one_too_large_for_one_request_are_read(s3, monkeypatch):
    monkeypatch.setattr(lake_module, "_WHOLE_BYTES", 1000)
    lake = Lake(f"{s3}/sizes")
    for content in (b"", b"x" * 999, b"x" * 1000, b"x" * 1001):
        with lake.open(lake.write_bytes("log", "store-001", ".csv", content)) as file:
            assert file.read() == content


def test_writers_of_one_content_and_of_others_do_not_disturb_each_other(s3):
    """Names are made of contents: whoever comes last writes the same, so that no condition on the put is needed."""
    lake = Lake(f"{s3}/writers")
    contents = [b"%d" % (number % 4) for number in range(32)]
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda content: lake.write_bytes("log", "store-001", ".csv", content), contents))
    assert len(set(paths)) == 4
    assert sorted(file.path for file in lake.files("log/store-001")) == sorted(set(paths))
    for path, content in zip(paths, contents, strict=True):
        with lake.open(path) as file:
            assert file.read() == content


def test_what_another_process_writes_is_seen_at_once(s3):
    lake = Lake(f"{s3}/two")
    lake.write_bytes("log", "store-001", ".csv", b"mine")
    assert len(lake.files("log/store-001")) == 1
    path = written_by_another_process(lake.root)
    assert lake.exists(path)
    assert len(lake.files("log/store-001")) == 2


def test_a_file_that_another_process_has_published_again_is_not_removed(s3):
    """Housekeeping lists first, and removes later; a listing of then may not decide."""
    lake = Lake(f"{s3}/three")
    path = written_by_another_process(lake.root)
    assert [file.path for file in lake.files("log/store-001")] == [path]
    time.sleep(1.1)  # S3 has whole seconds
    listed_at = dt.datetime.now(dt.UTC).replace(microsecond=0)
    assert written_by_another_process(lake.root) == path
    assert not lake.remove(path, not_after=listed_at)
    assert lake.exists(path)
    assert lake.remove(path, not_after=dt.datetime(2100, 1, 1, tzinfo=dt.UTC))
    assert not lake.exists(path)


def test_the_erps_files_are_read_and_a_new_one_is_found(s3, tmp_path):
    import fsspec

    store = fsspec.filesystem("s3")
    settings = ErpSettings(files=f"{s3}/erp/{{vendor}}/stock.csv")

    def rows() -> dict[str, int]:
        with open_source(settings).read() as extract:
            return Counter(vendor for chunk in extract for vendor in chunk["vendor"].to_pylist())

    store.pipe("chain/erp/store-001/stock.csv", b"sku,price\na,1.00\nb,2.00\n")
    assert rows() == {"store-001": 2}
    store.pipe("chain/erp/store-002/stock.csv", b"sku,price\na,1.00\n")
    assert rows() == {"store-001": 2, "store-002": 1}


def test_sniff_proposes_settings_for_a_file_of_the_store(s3):
    """Text, packed text and an address with `{vendor}`, as on a disk; an address without a file is refused in one line."""
    import fsspec

    text = b"sku;price\na;1.234,50\nb;2,00\n"
    store = fsspec.filesystem("s3")
    store.pipe("chain/sniff/store-001/stock.csv", text)
    store.pipe("chain/sniff/store-002/stock.csv.gz", gzip.compress(text))
    written = {"CSV_DELIMITER": ";", "DECIMAL_MARK": ",", "THOUSANDS_MARK": "."}
    for name in ("store-001/stock.csv", "store-002/stock.csv.gz", "{vendor}/stock.csv"):
        proposal = sniff(f"{s3}/sniff/{name}")
        assert proposal.settings == {"FILES": f"{s3}/sniff/{name}", **written}
        assert proposal.rows_seen == 2
    assert "shelfsync reads its columns" in proposal.verdict
    with pytest.raises(ConfigurationError, match="no file is at s3://chain/sniff/none"):
        sniff(f"{s3}/sniff/none.csv")
