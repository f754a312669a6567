"""Lake and ERP files on S3: requests, what is kept in memory, and a store that is away."""

from __future__ import annotations

import gzip
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from s3_server import away, requests_recorded
from shelfsync.erp.open import open_source
from shelfsync.erp.sniff import sniff
from shelfsync.errors import ConfigurationError, TryAgainError
from shelfsync.settings import ErpSettings
from shelfsync.store import object_store
from shelfsync.store.lake import Lake

pytestmark = pytest.mark.slow
TABLE = pa.table({"sku": ["a", "b"], "price": [1, None]})


def test_a_file_is_written_by_one_request_and_read_by_one_and_no_second_time(s3):
    writer, reader, finder = (Lake(f"{s3}/counted") for _ in range(3))
    with requests_recorded() as written:
        path = writer.write_table("snapshot", "store-001", TABLE)
        assert writer.read_table(path).equals(TABLE)
    with requests_recorded() as read:
        assert reader.read_table(path, ["sku"]).num_rows == 2
        assert reader.find(path, "b") == {"sku": "b", "price": None}
    with requests_recorded() as large:  # in parts, a process that dies would leave some behind
        writer.write_bytes("log", "store-001", ".csv", bytes(12 << 20))
    with requests_recorded() as found:
        assert finder.find(path, "b") == {"sku": "b", "price": None}
    assert [[one.split()[0] for one in some] for some in (written, read, large, found)] == [
        ["PUT"],
        ["GET"],
        ["PUT"],
        ["GET"],
    ]


def test_what_is_kept_in_memory_has_a_bound(s3, monkeypatch):
    monkeypatch.setattr(object_store, "KEPT_BYTES", 1000)
    lake = Lake(f"{s3}/kept")
    paths = [lake.write_bytes("log", "store-001", ".csv", bytes([number]) * 400) for number in range(4)]
    with requests_recorded() as last:
        for path in paths[2:]:
            lake.open(path)
    with requests_recorded() as first:
        lake.open(paths[0])
    assert (len(last), len(first)) == (0, 1)
    lake.write_bytes("log", "store-001", ".csv", b"x" * 1001)


def test_a_store_that_is_away_for_a_while_is_waited_for_and_one_that_stays_away_is_named(s3, monkeypatch):
    monkeypatch.setattr(object_store, "SILENT_S", 1)
    path = Lake(f"{s3}/away").write_bytes("log", "store-001", ".csv", b"x")
    lake = Lake(f"{s3}/away")
    with ThreadPoolExecutor(1) as pool:
        with away():
            reading = pool.submit(lambda: lake.open(path).read())
            time.sleep(3)
            assert not reading.done()
        assert reading.result(60) == b"x"
    monkeypatch.setattr(object_store, "TRIES_END_S", 2)
    lake = Lake(f"{s3}/away")
    with away(), pytest.raises(TryAgainError, match=r"^lake s3://chain/away: .*GET .*retries") as caught:
        lake.open(path)
    assert "\n" not in str(caught.value)


def test_a_bucket_that_does_not_exist_is_a_wrong_setting(s3):
    lake = Lake("s3://none/x")
    for call in (lambda: lake.write_bytes("log", "store-001", ".csv", b"x"), lambda: list(lake.folders())):
        with pytest.raises(
            ConfigurationError, match=r"SHELFSYNC_LAKE_URL: s3://none/x: .*no such bucket.* Create "
        ) as caught:
            call()
        assert "\n" not in str(caught.value)


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
