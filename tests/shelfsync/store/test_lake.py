from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.errors import ConfigurationError, DataError, TryAgainError
from shelfsync.store.lake import Lake, LostFileError, segment

TABLE = pa.table({"sku": ["a", "b"], "price": [1, None]})
_roots = itertools.count()
LATER = dt.datetime(2100, 1, 1, tzinfo=dt.UTC)


@pytest.fixture(params=["folder", "object store"])
def lake(request, tmp_path):
    return Lake(str(tmp_path / "lake")) if request.param == "folder" else Lake(f"memory://lake-{next(_roots)}")


def test_what_is_written_is_read_back(lake):
    path = lake.write_table("snapshot", "store-001", TABLE)
    assert lake.read_table(path).equals(TABLE)
    assert lake.read_table(path, columns=["sku"]).column_names == ["sku"]
    assert lake.read_table(path, begin="b").equals(TABLE.slice(1))
    assert lake.read_table(path, ["price"], begin="c").equals(TABLE.select(["price"]).slice(2))


def test_the_same_content_has_the_same_path_and_other_content_another(lake):
    first = lake.write_table("snapshot", "store-001", TABLE)
    assert lake.write_table("snapshot", "store-001", TABLE) == first
    assert lake.write_table("snapshot", "store-001", TABLE.slice(1)) != first


@given(vendor=st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable()))
def test_no_vendors_name_leaves_its_folder(vendor):
    lake = Lake("memory://names")
    path = lake.write_bytes("log", vendor, ".csv", vendor.encode())
    assert path.count("/") == 2
    assert ".." not in path.split("/")
    with lake.open(path) as file:
        assert file.read() == vendor.encode()


def test_a_writer_that_fails_leaves_nothing(tmp_path):
    lake = Lake(str(tmp_path))

    def half():
        with lake.staged("log", "store-001", ".csv") as staged:
            staged.file.write(b"half a ")
            raise ValueError

    with pytest.raises(ValueError):
        half()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_is_seen_only_when_it_is_whole(tmp_path):
    lake = Lake(str(tmp_path))
    with lake.staged("log", "store-001", ".csv") as staged:
        staged.file.write(b"x" * 100_000)
        assert [path for path in tmp_path.rglob("*.csv") if ".staging" not in path.parts] == []
    assert (tmp_path / staged.path).stat().st_size == 100_000


def test_a_pointer_without_its_file_names_the_lake(tmp_path):
    with pytest.raises(ConfigurationError, match=r"SHELFSYNC_LAKE_URL.*no file 'baseline/x/y.parquet'"):
        Lake(str(tmp_path)).read_table("baseline/x/y.parquet")


def test_an_unreadable_address_is_a_configuration_error():
    with pytest.raises(ConfigurationError, match="SHELFSYNC_LAKE_URL"):
        Lake("nosuchscheme://lake").write_bytes("log", "v", ".csv", b"")


def test_a_full_disk_is_reported_in_one_line_and_leaves_nothing(tmp_path):
    lake = Lake(str(tmp_path))
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")

    def write():
        with lake.staged("log", "store-001", ".csv"), full.open("wb", buffering=0) as file:
            file.write(b"x")

    with pytest.raises(TryAgainError, match="No space left"):
        write()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@given(vendors=st.lists(st.text(min_size=1, max_size=400), min_size=2, max_size=2, unique=True))
def test_every_name_has_a_folder_of_its_own_that_any_filesystem_takes(vendors):
    one, other = (segment(vendor) for vendor in vendors)
    assert one != other
    for name in (one, other):
        assert 0 < len(name.encode()) <= 255
        assert name.isascii()
        assert not name.startswith(".")
        assert not set(name) & set("/\\\0")


@pytest.mark.parametrize("vendor", [".", "..", ".staging", "x" * 5000, "\0", "\ud800", "", "é" * 100])
def test_a_strange_name_is_written_inside_the_lake(tmp_path, vendor):
    lake = Lake(str(tmp_path / "lake"))
    path = lake.write_bytes("log", vendor, ".csv", b"x")
    assert len(path.split("/")) == 3
    assert (tmp_path / "lake" / path).resolve().is_relative_to(tmp_path / "lake" / "log")
    with lake.open(path) as file:
        assert file.read() == b"x"
    assert [one.path for one in lake.files(path.rpartition("/")[0])] == [path]


@pytest.mark.parametrize(
    "path",
    ["../secret", "/etc/passwd", "a/../../b", "raw//x", "./x", "", "a\0b", ".", "..", ".staging/x", "a\\..\\b", "a\nb"],
)
def test_a_path_that_leads_out_of_the_lake_is_not_opened(lake, tmp_path, path):
    (tmp_path / "secret").write_text("s", "utf-8")
    for use in (lake.open, lake.exists, lake.read_table, lake.files, lambda one: lake.remove(one, not_after=LATER)):
        with pytest.raises(DataError, match="no path inside the lake"):
            use(path)
    assert (tmp_path / "secret").exists()


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_no_damaged_bit_of_a_row_gives_another_row(place, bit):
    """Each page has a checksum. The footer has none, so its bits are left out: they are a few per cent of a large file."""
    whole = pa.table({"sku": [f"{number:013}" for number in range(500)], "price": list(range(500))})
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(folder)
        path = lake.write_table("baseline", "store-001", whole)
        file = Path(folder, path)
        content = bytearray(file.read_bytes())
        pages = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        content[4 + place % (pages - 4)] ^= 1 << bit
        file.write_bytes(content)
        with contextlib.suppress(LostFileError):
            assert lake.read_table(path).equals(whole)
