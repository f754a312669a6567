"""One file a store: a store whose file is broken fails alone, whatever is wrong with it, and the others are read whole."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from shelfsync.erp.open import open_source
from shelfsync.errors import BrokenOffError, ConfigurationError, IncompleteExtractError
from shelfsync.settings import ErpSettings

GOOD = "sku,price\n1,1.50\n2,2.50\n"
SECONDS = 2.0

BROKEN = {
    "empty": b"",
    "a header alone": b"sku,price\n",
    "cut in a row": b"sku,price\n1,1.50\n2",
    "cut in its last field": b"sku,price\n1,1.50\n2,2.5",
    "a wrong header": b"article,price\n1,1.50\n",
    "a column twice": b"sku,sku,price\n1,1,1.50\n",
    "another delimiter": b"sku;price\n1;1.50\n",
    "UTF-16": GOOD.encode("utf-16"),
    "NUL bytes": bytes(5000),
    "a Parquet file": b"PAR1" + bytes(range(256)) * 20 + b"PAR1",
    "an archive": b"PK\x03\x04" + bytes(range(256)) * 20,
    "a page of a server": b"<!DOCTYPE html>\n<html><body>503</body></html>\n",
    "an endless line": b"sku,price\n" + b"x" * 2_000_000,
    "lines without an end": b"sku,price\n" + b"\n" * 2_000_000,
}


def reading(folder, ending="csv", **settings):
    """What comes of reading the stores: (rows by vendor, why a store failed, the proof)."""
    files = f"{folder}/{{vendor}}.{ending}"
    with open_source(ErpSettings(files=files, timeout_s=SECONDS, chunk_rows=1, **settings)).read() as extract:
        table = pa.concat_tables(extract)
        failed = extract.failed
    kept = table.filter(pc.invert(pc.is_in(table["vendor"], value_set=pa.array(failed, pa.string()))))
    rows = {row["values"]: row["counts"] for row in pc.value_counts(kept["vendor"]).to_pylist()}
    assert extract.rows == sum(rows.values()), "rows of a failed store do not count"
    return rows, failed, extract.proof()


@pytest.fixture
def folder(tmp_path):
    """Three stores in CSV, of which the tests break the second."""
    for number in (1, 2, 3):
        (tmp_path / f"s{number}.csv").write_text(GOOD)
    return tmp_path


def only_second_fails(folder, words="", **settings):
    rows, failed, proof = reading(folder, **settings)
    assert rows == {"s1": 2, "s3": 2}
    assert list(failed) == ["s2"]
    assert words in failed["s2"]
    assert "\n" not in failed["s2"]
    source = open_source(ErpSettings(files=f"{folder}/{{vendor}}.csv", timeout_s=SECONDS, **settings))
    assert source.check().keys() <= {"s2"}
    assert source.absent_columns() == source.absent_columns() != ()
    assert set(source.stores()) >= {"s1", "s3"}
    return proof


OTHERS = "vendor,sku,price\ns1,1,1.50\ns1,2,2.50\n"


def test_a_file_of_another_store_under_this_name_fails_this_store_alone(folder):
    (folder / "s2.csv").write_text(OTHERS)
    only_second_fails(folder, "has rows of vendor 's1' in its column 'vendor', and its name is that of 's2'")


def test_one_row_of_another_store_in_the_middle_is_found_too(folder):
    (folder / "s2.csv").write_text("sku,Vendor,price\n1,s2,1.50\n2,s3,2.50\n3,s2,2.50\n")
    only_second_fails(folder, "has rows of vendor 's3'")


def test_a_workbook_a_parquet_file_and_json_lines_of_another_store_too(tmp_path):
    pq.write_table(pa.table({"vendor": ["s1"], "sku": ["1"], "price": ["1.50"]}), tmp_path / "s2.parquet")
    pq.write_table(pa.table({"sku": ["1"], "price": ["1.50"]}), tmp_path / "s1.parquet")
    assert list(reading(tmp_path, "parquet")[1]) == ["s2"]
    (tmp_path / "s2.jsonl").write_text('{"sku": "1", "price": "1.50"}\n{"sku": "2", "price": "1.50", "vendor": "s1"}\n')
    (tmp_path / "s1.jsonl").write_text('{"sku": "1", "price": "1.50"}\n')
    assert list(reading(tmp_path, "jsonl")[1]) == ["s2"]


def test_the_ids_of_the_erp_and_those_of_the_platform_name_the_same_store(folder):
    ids = {"vendor_ids": {"s1": "store-1", "s2": "store-2", "s3": "store-3"}}
    (folder / "s2.csv").write_text(OTHERS.replace("s1,", "s2,"))
    assert reading(folder, **ids)[1] == {}
    (folder / "s2.csv").write_text(OTHERS)
    assert list(reading(folder, **ids)[1]) == ["store-2"]


def test_a_column_vendor_of_another_meaning_is_left_alone(folder):
    (folder / "s2.csv").write_text("vendor,sku,price\nDairy Ltd,1,1.50\n,2,2.50\n")
    rows, failed, _ = reading(folder)
    assert (rows, failed) == ({"s1": 2, "s2": 2, "s3": 2}, {})
    mapped = {"columns": {"name": "vendor"}}
    (folder / "s2.csv").write_text(OTHERS)
    for store in ("s1", "s3"):
        (folder / f"{store}.csv").write_text(OTHERS)
    assert reading(folder, **mapped)[1] == {}, "a setting states what the column is"


@pytest.mark.slow
@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_fails_its_store_alone(folder, content):
    (folder / "s2.csv").write_bytes(content)
    only_second_fails(folder)


def test_a_file_that_grows_as_fast_as_it_is_read_fails_its_store_alone(folder, monkeypatch):
    monkeypatch.setattr("shelfsync.erp.files.LOOK_S", 0.0)
    (folder / "s2.csv").write_text(GOOD + "3,1.50\n" * 100_000)
    rows = 0
    with open_source(
        ErpSettings(files=f"{folder}/{{vendor}}.csv", timeout_s=SECONDS, chunk_rows=10_000)
    ).read() as all_:
        for chunk in all_:
            rows += chunk.num_rows
            assert rows < 1_000_000, "the reading has no end"
            if "s2" in chunk["vendor"].to_pylist():
                with (folder / "s2.csv").open("a") as file:
                    file.write("3,1.50\n" * 20_000)
        assert list(all_.failed) == ["s2"]
        assert "changed while it was read" in all_.failed["s2"]


def test_a_file_that_cannot_be_opened_fails_its_store_alone(folder):
    (folder / "s2.csv").unlink()
    (folder / "s2.csv").mkdir()
    only_second_fails(folder, "Is a directory")
    (folder / "s2.csv").rmdir()
    (folder / "s2.csv").symlink_to(folder / "gone")
    only_second_fails(folder, "No such file")
    (folder / "s2.csv").unlink()
    (folder / "s2.csv").symlink_to("s2.csv")
    only_second_fails(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        gzip.compress(GOOD.encode(), mtime=0)[:-12],
        gzip.compress(GOOD.encode(), mtime=0)[:-8] + bytes(8),
    ],
    ids=["empty", "not packed", "cut", "a wrong checksum"],
)
def test_a_packed_file_that_is_broken_fails_its_store_alone(tmp_path, content):
    for number in (1, 2, 3):
        (tmp_path / f"s{number}.csv.gz").write_bytes(gzip.compress(GOOD.encode()) if number != 2 else content)
    rows, failed, _ = reading(tmp_path, "csv.gz")
    assert (rows, list(failed)) == ({"s1": 2, "s3": 2}, ["s2"])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:-4] + b"PARX",
        lambda data: data[:4] + bytes(60) + data[64:],
        lambda data: data[:-408] + bytes(400) + data[-8:],
    ],
    ids=["empty", "cut", "no magic", "a zeroed page", "a zeroed footer"],
)
def test_a_broken_parquet_file_fails_its_store_alone_and_the_others_are_proven(tmp_path, spoil):
    for number in (1, 2, 3):
        pq.write_table(pa.table({"sku": ["1", "2"], "price": [1.5, 2.5]}), tmp_path / f"s{number}.parquet")
    second = tmp_path / "s2.parquet"
    second.write_bytes(spoil(second.read_bytes()))
    rows, failed, proof = reading(tmp_path, "parquet")
    assert (rows, list(failed)) == ({"s1": 2, "s3": 2}, ["s2"])
    assert (proof.complete, proof.expected) == (True, 4)


@pytest.mark.parametrize("text", [None, "", "two", "1", "-2", "2\n2", "\ufffd"])
def test_a_broken_control_file_fails_its_store_alone_and_the_others_are_proven(folder, text):
    for number in (1, 3):
        (folder / f"s{number}.count").write_text("2")
    if text is not None:
        (folder / "s2.count").write_text(text)
    proof = only_second_fails(folder, control_file=f"{folder}/{{vendor}}.count")
    assert (proof.complete, proof.expected) == (True, 4)


def test_one_number_for_all_stores_proves_nothing_once_a_store_failed(folder):
    (folder / "all.count").write_text("6")
    assert reading(folder, control_file=f"{folder}/all.count")[2].complete
    (folder / "s2.csv").write_bytes(b"")
    assert not only_second_fails(folder, control_file=f"{folder}/all.count").complete


@pytest.mark.slow
def test_a_hook_that_fails_on_one_store_fails_it_alone_and_absence_is_not_believed(folder):
    (folder / "hook.py").write_text(
        "def map(frame):\n"
        "    if (frame['vendor'] == 's2').any() and (frame['sku'] == '2').any():\n"
        "        raise SystemExit(1)\n"
        "    return frame\n"
    )
    for number in (1, 2, 3):
        (folder / f"s{number}.count").write_text("2")
    rows, failed, proof = reading(folder, mapping=f"{folder}/hook.py:map", control_file=f"{folder}/{{vendor}}.count")
    assert rows == {"s1": 2, "s3": 2}
    assert "SystemExit" in failed["s2"]
    assert not proof.complete, "the hook may give rows of one store to another"


def test_of_a_store_in_parts_no_part_counts_if_one_is_broken(tmp_path):
    for number in (1, 2, 3):
        for part in "ab":
            (tmp_path / f"s{number}-{part}.csv").write_text(GOOD)
    (tmp_path / "s2-b.csv").write_bytes(b"")
    files = f"{tmp_path}/{{vendor}}-*.csv"
    with open_source(ErpSettings(files=files)).read() as extract:
        list(extract)
        assert (list(extract.failed), extract.rows) == (["s2"], 8)


def test_failures_have_the_platforms_ids_and_a_store_that_is_left_out_is_none(folder):
    (folder / "s2.csv").write_bytes(b"")
    (folder / "s3.csv").write_bytes(b"")
    rows, failed, _ = reading(folder, vendor_ids={"s1": "store-001", "s2": "store-002"})
    assert (rows, list(failed)) == ({"store-001": 2}, ["store-002"])


def test_a_store_whose_name_is_no_text_stops_no_other(folder):
    Path(os.fsdecode(bytes(folder) + b"/s\xe9.csv")).write_text(GOOD)
    rows, failed, _ = reading(folder)
    assert (rows, failed) == ({"s1": 2, "s2": 2, "s3": 2, "s\ufffd\\udce9": 2}, {})


def test_the_first_error_is_raised_if_every_store_fails(folder):
    for number in (1, 2, 3):
        (folder / f"s{number}.csv").write_text("article,price\n1,2\n")
    with pytest.raises(ConfigurationError, match=r"s1.csv' has no column 'sku'"):
        reading(folder)
    with pytest.raises(ConfigurationError, match=r"s1.csv' has no column 'sku'"):
        open_source(ErpSettings(files=f"{folder}/{{vendor}}.csv")).check()


def test_without_a_store_in_the_address_a_broken_file_stops_the_reading(folder):
    (folder / "s2.csv").write_bytes(b"")
    with (
        pytest.raises(IncompleteExtractError, match=r"s2.csv' is empty"),
        open_source(ErpSettings(files=str(folder), constants={"vendor": "v"})).read() as extract,
    ):
        list(extract)


def let_go(pipe):
    """Ends the threads that wait for this pipe or another name of it. A thread that waits elsewhere, as of another test, is left."""
    for thread in threading.enumerate():
        while str(pipe.parent) in thread.name and thread.is_alive():
            os.close(os.open(pipe, os.O_RDWR))
            thread.join(0.05)


@pytest.fixture
def pipe(folder):
    """The second store's file is a named pipe that no program writes to."""
    (folder / "s2.csv").unlink()
    os.mkfifo(folder / "s2.csv")
    os.link(folder / "s2.csv", folder / "pipe")
    yield folder / "s2.csv"
    let_go(folder / "pipe")


def test_a_file_that_never_answers_meets_the_time_limit_and_the_others_go_on(folder, pipe):
    only_second_fails(folder, "did not answer within 2 s (SHELFSYNC_ERP__TIMEOUT_S)")


def test_a_file_that_falls_silent_in_its_middle_meets_the_time_limit(folder, pipe):
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, b"sku,price\n1,1.50\n2,2")
    rows, failed, _ = reading(folder)
    os.close(writer)
    assert (rows, list(failed)) == ({"s1": 2, "s3": 2}, ["s2"])


def test_what_is_silent_is_not_asked_twice_and_is_read_once_it_answers(folder, pipe):
    assert "within" in reading(folder)[1]["s2"]
    before = threading.active_count()
    assert "still" in reading(folder)[1]["s2"]
    assert threading.active_count() == before
    let_go(pipe)
    pipe.unlink()
    pipe.write_text(GOOD)
    assert reading(folder)[0] == {"s1": 2, "s2": 2, "s3": 2}


def test_silent_control_files_meet_the_time_limit(folder):
    os.mkfifo(folder / "s2.count")
    for number in (1, 3):
        (folder / f"s{number}.count").write_text("2")
    assert only_second_fails(folder, "s2.count", control_file=f"{folder}/{{vendor}}.count").complete
    let_go(folder / "s2.count")


@pytest.mark.slow
def test_a_process_ends_although_a_file_never_answered(folder, pipe):
    program = (
        "from shelfsync.erp.open import open_source\nfrom shelfsync.settings import ErpSettings\n"
        f"with open_source(ErpSettings(files='{folder}/{{vendor}}.csv', timeout_s=10)).read() as extract:\n"
        "    print(sum(chunk.num_rows for chunk in extract), list(extract.failed))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "4 ['s2']\n"), done.stderr


def as_a_user(*command):
    """The command without the right of root to read whatever it likes: what it prints and what went wrong."""
    rights = "-dac_override,-dac_read_search"
    bound = [] if os.geteuid() else ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]
    done = subprocess.run([*bound, sys.executable, *command], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout, done.stderr


PROGRAM = (
    "import sys\nfrom shelfsync.erp.open import open_source\nfrom shelfsync.settings import ErpSettings\n"
    "with open_source(ErpSettings(files=sys.argv[1], timeout_s=10)).read() as extract:\n"
    "    print(sum(chunk.num_rows for chunk in extract), extract.failed)\n"
)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0o000, 0o444, 0o600])
@pytest.mark.parametrize("name", ["{vendor}/stock.csv", "{vendor}/*.csv", "shop-{vendor}-x/in/stock-{vendor}.csv"])
def test_a_stores_folder_that_cannot_be_read_is_no_store_that_has_closed(tmp_path, name, mode):
    for store in ("s1", "s2", "s3"):
        path = tmp_path / name.replace("{vendor}", store).replace("*", "stock")
        path.parent.mkdir(parents=True)
        path.write_text(GOOD)
    closed = tmp_path / name.split("/")[0].replace("{vendor}", "s2")
    closed.chmod(mode)
    out, err = as_a_user("-c", PROGRAM, f"{tmp_path}/{name}")
    closed.chmod(0o755)
    assert (out.startswith("4 {'s2': "), "Permission denied" in out) == (True, True), out + err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["{vendor}.csv", "{vendor}/stock.csv", "", "stock.csv", "*.csv"])
def test_a_folder_of_all_stores_that_cannot_be_read_is_named(folder, name):
    folder.chmod(0)
    out, err = as_a_user("-c", PROGRAM, f"{folder}/{name}")
    folder.chmod(0o755)
    assert str(folder) in err.splitlines()[-1], out + err
    assert "cannot be read: Permission denied" in err, out + err


def test_one_silent_file_for_all_stores_is_an_error_to_try_again(folder, pipe):
    with (
        pytest.raises(BrokenOffError, match="did not answer within"),
        open_source(ErpSettings(files=str(pipe), constants={"vendor": "v"}, timeout_s=SECONDS)).read() as extract,
    ):
        list(extract)
