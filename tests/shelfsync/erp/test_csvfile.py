from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shelfsync.erp.open import open_source
from shelfsync.erp.text import MARK
from shelfsync.errors import ConfigurationError, DataError, IncompleteExtractError, ShelfsyncError
from shelfsync.settings import ErpSettings

HEADER = ["vendor", "sku", "barcode", "price", "quantity", "active", "max_sales_quantity"]
ROWS = [["v", f"{i:04}", "", f"{i}.5", str(i), "1", ""] for i in range(1, 11)]

fields = st.text(st.characters(exclude_categories=("Cs",)))


def written(rows, *, delimiter=",", terminator="\r\n", header=HEADER):
    text = io.StringIO(newline="")
    # Python's writer leaves a lone carriage return bare where lines end with a line feed, which is no CSV any more.
    quoting = csv.QUOTE_MINIMAL if terminator == "\r\n" else csv.QUOTE_ALL
    writer = csv.writer(text, delimiter=delimiter, lineterminator=terminator, quoting=quoting)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


@pytest.fixture
def file(tmp_path):
    """Writes a file, returns its path as text."""

    def _write(content, name="erp.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return _write


@pytest.mark.slow
@settings(deadline=None)
@given(
    rows=st.lists(st.lists(fields, min_size=7, max_size=7).filter(lambda row: row[1].strip()), min_size=1, max_size=20),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    terminator=st.sampled_from(["\r\n", "\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030"]),
    chunk_rows=st.integers(1, 7),
)
def test_whatever_is_written_as_csv_comes_back_exactly(read, rows, delimiter, terminator, encoding, chunk_rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "erp.csv"
        path.write_bytes(written(rows, delimiter=delimiter, terminator=terminator).encode(encoding))
        reading = read(files=str(path), csv_delimiter=delimiter, csv_encoding=encoding, chunk_rows=chunk_rows)
    assert [list(row.values())[1:8] for row in reading.rows] == [[value or None for value in row] for row in rows]
    assert reading.proof.rows == len(rows)
    assert max(chunk.num_rows for chunk in reading.chunks) <= chunk_rows


@settings(deadline=None)
@given(cut=st.integers(0, len(written(ROWS)) - 1), quoted=st.booleans())
@example(cut=195, quoted=True)
def test_a_file_that_was_cut_anywhere_but_between_two_rows_is_found_out(read, cut, quoted):
    whole = written([[f'"{i}', *row[1:]] for i, row in enumerate(ROWS)] if quoted else ROWS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "erp.csv"
        path.write_text(whole[:cut], newline="")
        try:
            reading = read(files=str(path))
        except (IncompleteExtractError, ConfigurationError):
            return
    assert whole[:cut].endswith(("\n", "\r"))
    assert reading.proof.rows == whole[:cut].count("\r") - 1
    assert not reading.proof.complete


def test_only_a_control_file_makes_a_csv_complete(file, read):
    path = file(written(ROWS))
    alone = read(files=path).proof
    assert (alone.complete, alone.rows, alone.expected) == (False, 10, None)
    assert "CONTROL_FILE" in alone.how
    proof = read(files=path, control_file=file("\ufeff 10\r\n", "erp.count")).proof
    assert (proof.complete, proof.rows, proof.expected) == (True, 10, 10)


def test_a_file_cut_between_two_rows_is_found_by_its_control_file(file, read):
    whole = written(ROWS)
    path = file(whole[: whole.index("0008") - 2])
    with pytest.raises(IncompleteExtractError, match=r"7 rows were read, and the control file .* gives 10"):
        read(files=path, control_file=file("10", "erp.count"))


def test_a_last_row_without_a_line_break_is_believed_when_it_cannot_be_half(file, read):
    whole = written(ROWS).rstrip()
    with pytest.raises(IncompleteExtractError, match=r"does not end with a line break.*CONTROL_FILE"):
        read(files=file(whole))
    assert read(files=file(whole), control_file=file("10", "erp.count")).proof.complete
    closed = written([["v", "s", "", "", "", "", "5 or so, perhaps"]]).rstrip()
    assert closed.endswith('"')
    assert read(files=file(closed)).rows[0]["max_sales_quantity"] == "5 or so, perhaps"


@pytest.mark.parametrize("content", ["", "vendor,sku,price\n", "\ufeff"])
def test_an_empty_file_is_an_error(file, read, content):
    with pytest.raises(IncompleteExtractError, match=r"no row|is empty|no row at all"):
        read(files=file(content))


def test_a_file_of_empty_bytes_is_named_so_and_not_shown(file, read):
    with pytest.raises(IncompleteExtractError, match="begins with empty bytes") as found:
        read(files=file("\0" * 4096))
    assert "\0" not in str(found.value)
    assert "cp1252" not in str(found.value)


def test_a_last_cell_that_is_too_long_may_be_a_cut_or_whole(file, read):
    whole = written(ROWS) + "v,0099," + "x" * 140_000 + ",1.5,1,1,"
    with pytest.raises(IncompleteExtractError, match="or a cell of it is longer than 131,072 characters"):
        read(files=file(whole))


def test_an_empty_file_beside_full_ones_is_an_error_too(file, read, tmp_path):
    file(written(ROWS), "a.csv")
    file(written([]), "b.csv")
    with pytest.raises(IncompleteExtractError, match=r"b\.csv' has a header and no row"):
        read(files=str(tmp_path))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("v,0099,1,2", "4 fields instead of 7"),
        ("v,0099,Tea, green,1,2,3,4", "8 fields instead of 7"),
        ('v,0099,"Tea"s,1,2,3,4', "expected after"),
        ("v,0099," + "x" * 200_000 + ",,,,", "field larger"),
    ],
)
def test_a_row_whose_fields_cannot_be_separated_costs_that_row_and_the_proof_of_absence(file, read, line, problem):
    lines = written(ROWS).splitlines()
    path = file("\r\n".join([*lines[:5], line, *lines[5:]]) + "\r\n")
    reading = read(files=path, control_file=file("11", "erp.count"))
    assert [row["sku"] for row in reading.rows[:10]] == [row[1] for row in ROWS]
    damaged = reading.rows[10]
    assert damaged["vendor"] is None
    assert damaged["price"] is None
    assert damaged["sku"].startswith(f"{MARK} line 6: ")
    assert problem in damaged["sku"]
    assert len(damaged["sku"]) < 255
    assert (reading.proof.complete, reading.proof.rows, reading.proof.expected) == (False, 11, 11)
    assert "1 rows could not be read" in reading.proof.how


@pytest.mark.parametrize("hooked", [False, True])
def test_a_damaged_row_of_a_known_vendor_stays_with_its_vendor_and_out_of_the_hook(file, read, tmp_path, hooked):
    hook = tmp_path / "hook.py"
    hook.write_text("def map(frame):\n    frame['price'] = frame['price'].astype(float) * 2\n    return frame\n")
    settings = {"constants": {"vendor": "store-001"}, "mapping": f"{hook}:map" if hooked else None}
    rows = read(files=file("sku,price\na,1\nb\nc,2\nd\n"), **settings, chunk_rows=3).rows
    assert [row["vendor"] for row in rows] == ["store-001"] * 4
    assert [row["price"] for row in rows] == (["2.0", "4.0", None, None] if hooked else ["1", "2", None, None])
    assert rows[3]["sku"] == f"{MARK} line 5: 1 fields instead of 2: d"


def test_a_file_whose_rows_all_differ_from_its_header_is_a_mistake_and_not_a_heap_of_bad_rows(file, read):
    with pytest.raises(DataError, match=r"Not one of the 2 rows .* 4 fields instead of 3.*CSV_DELIMITER"):
        read(files=file("vendor,sku,price\nv,1,2,\nv,2,3,\n"))


def test_a_first_block_of_damaged_rows_costs_these_rows_alone(file, read):
    bad, good = [f"v,{n}" for n in range(20_000)], [f"v,{n},2" for n in range(20_000, 20_500)]
    rows = read(files=file("\n".join(["vendor,sku,price", *bad, *good, ""])), chunk_rows=1000).rows
    assert [row["sku"] for row in rows if row["price"]] == [str(n) for n in range(20_000, 20_500)]
    assert len(rows) == 20_500


@pytest.mark.parametrize("bad", ["v,1", "v,1,2,3"])
def test_a_long_file_without_one_whole_row_is_a_mistake(file, read, bad):
    with pytest.raises(DataError, match="Not one of the 20000 rows"):
        read(files=file("\n".join(["vendor,sku,price", *[bad] * 20_000, ""])), chunk_rows=1000)


@pytest.mark.parametrize("line", [",,,", " , ,,", '"","",,'])
@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_line_of_delimiters_is_no_row(file, read, line, at):
    lines = ["vendor,sku,price,quantity", *(f"v,{n},2,3" for n in range(4))]
    lines[at:at] = [line, line]
    reading = read(files=file("\n".join([*lines, ""])))
    assert [row["sku"] for row in reading.rows] == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("line", "beside"),
    [
        (",,,1234.50", True),
        (",,8,", True),
        (",,8.00 €,12", True),
        (',,"49 764,71 Kč",', True),
        ("Total,,8.00 EUR,", True),
        ("v,,8,12", False),  # it may be a product
        (",,Milk,", False),
        (",7,8,", False),
        ("101,,8,", False),  # a store with a number as its key
    ],
)
def test_a_total_without_a_word_is_no_row_at_the_end_alone(file, read, line, beside):
    lines = ["vendor,sku,price,quantity", *(f"v,{n},2,3" for n in range(4)), line]
    marks = [row["sku"] for row in read(files=file("\n".join([*lines, ""]))).rows if "a total" in (row["sku"] or "")]
    assert len(marks) == beside
    moved = "\n".join([lines[0], line, *lines[1:-1], ""])
    at_top = [row for row in read(files=file(moved)).rows if "a total" in (row["sku"] or "")]
    assert not at_top


@pytest.mark.parametrize("again", ["vendor,sku,price", "VENDOR,SKU,PRICE", "Vendor, Sku, Price "])
def test_the_names_again_are_no_store_called_vendor_however_they_are_written(file, read, again):
    rows = read(files=file(f"vendor,sku,price\nv,1,2\n{again}\nv,2,3\n")).rows
    assert [row["vendor"] for row in rows] == ["v", "v", None]
    assert "line 3: the names of the columns again" in rows[2]["sku"]


def test_bytes_of_another_encoding_cost_one_row_and_only_where_they_are_used(file, read):
    path = file("vendor,sku,price,name\nv,1,1,Caf\xe9\nv,Caf\xe9,2,Tea\n".encode("latin-1"))
    assert [row["sku"] for row in read(files=path).rows] == ["1", "Caf\ufffd\\xe9"]
    assert [row["sku"] for row in read(files=path, csv_encoding="latin-1").rows] == ["1", "Café"]


ENCODING = "SHELFSYNC_ERP__CSV_ENCODING"
MARKED = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE, "utf-32-le": codecs.BOM_UTF32_LE}
MARKED["utf-32-be"] = codecs.BOM_UTF32_BE
OF_FILES = [
    "utf-8",
    "utf-8-sig",
    "cp1252",
    "cp1255",
    "iso8859-1",
    "gb18030",
    *MARKED,
    *(f"{name} marked" for name in MARKED),
]
OF_SETTINGS = [
    "utf-8",
    "utf-8-sig",
    "ascii",
    "cp1252",
    "cp1255",
    "utf-16",
    "UTF16LE",
    "utf-16-be",
    "utf-32",
    "utf-32-le",
    "utf-32-be",
    "utf-7",
]
ODD = [
    "idna",
    "punycode",
    "undefined",
    "hex",
    "rot13",
    "base64",
    "unicode_escape",
    "raw_unicode_escape",
    "",
    " ",
    "mbcs",
    "cp037",
    "a\0b",
]


HEBREW = "vendor,sku,price,name\r\n" + "v,1,1,\u05de\u05d7\u05d9\u05e8\r\n" * 10


def encoded(kind: str, text: str) -> bytes:
    """The text in an encoding; `… marked`: with its mark before it."""
    name, _, mark = kind.partition(" ")
    return (MARKED[name] if mark else b"") + text.encode(name, "replace")


def outcome(read, **settings) -> str | int:
    """How many rows were read, or the error; never a traceback."""
    try:
        return len(read(**settings).rows)
    except (ConfigurationError, DataError) as error:
        return str(error)


@pytest.mark.parametrize("kind", OF_FILES)
def test_whatever_encoding_is_set_the_advice_of_each_error_leads_to_rows(file, read, kind):
    path = file(encoded(kind, HEBREW))
    for wanted in OF_SETTINGS + ODD:
        said, taken = outcome(read, files=path, csv_encoding=wanted), [wanted]
        while isinstance(said, str):
            assert said.startswith(ENCODING) or "utf-7" in taken[-1] or taken[-1] in ODD, said
            if not (advice := re.search(r"Set it to ([\w-]+)\.$", said)):
                assert "cp1252" in said or "cp1255" in said or taken[-1] in ODD or "utf-7" in taken[-1], said
                break
            assert advice[1] not in taken, f"{kind}, {taken}: {said}"
            taken.append(advice[1])
            said = outcome(read, files=path, csv_encoding=advice[1])
        if kind in {"utf-8", "utf-8-sig"} or kind.partition(" ")[0] in MARKED:
            assert said == 10 or len(taken) == 1, f"{kind}, {taken}: {said}"
        if kind.partition(" ")[0] in MARKED and wanted not in {*ODD, "utf-7"}:
            assert said == 10, f"{kind}, {taken}: {said}"


def test_text_in_utf_16_without_a_mark_is_named_exactly(file, read):
    path = file(written(ROWS).encode("utf-16-le"))
    for wanted in ("utf-8-sig", "utf-16", "cp1252", "utf-16-be"):
        assert outcome(read, files=path, csv_encoding=wanted).endswith("Set it to utf-16-le.")


def test_an_unknown_encoding_or_delimiter_names_the_setting(file):
    path = file(written(ROWS))
    for wrong, setting in (({"csv_encoding": "utf-9"}, "CSV_ENCODING"), ({"csv_delimiter": ";;"}, "CSV_DELIMITER")):
        with pytest.raises(ConfigurationError) as caught:
            open_source(ErpSettings(files=path, **wrong)).check()
        assert caught.value.setting == f"SHELFSYNC_ERP__{setting}"


def test_a_wrong_delimiter_is_named(file):
    path = file(written(ROWS, delimiter=";"))
    with pytest.raises(
        ConfigurationError, match=r"CSV_DELIMITER: is ',', and .* seems to have ';', in line 1: 'vendor;sku;barcode"
    ):
        open_source(ErpSettings(files=path)).check()
    open_source(ErpSettings(files=path, csv_delimiter="semicolon")).check()


def test_a_tab_may_be_written_as_a_word(file, read):
    path = file(written(ROWS, delimiter="\t"))
    assert len(read(files=path, csv_delimiter="tab").rows) == len(read(files=path, csv_delimiter="\\t").rows) == 10


def test_a_byte_order_mark_is_no_part_of_the_first_name(file, read):
    path = file(codecs.BOM_UTF8 + written(ROWS).encode())
    assert len(read(files=path, csv_encoding="utf-8").rows) == 10


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("marks", [1, 2])
@pytest.mark.parametrize("above", [0, 1])
def test_a_byte_order_mark_before_a_quote_is_no_part_of_the_name(file, read, encoding, marks, above):
    path = file("\ufeff" * marks + "title\n" * above + '"vendor","sku","price"\n"v","1","2"\n')
    assert len(read(files=path, csv_encoding=encoding, header_row=above + 1).rows) == 1


def test_empty_lines_are_no_rows_and_nul_is_kept(file, read):
    reading = read(files=file("vendor,sku,price\r\n\r\nv,a\0b,1\r\n\r\n"))
    assert [row["sku"] for row in reading.rows] == ["a\0b"]


def test_the_end_sign_of_old_programs_is_no_row(file, read):
    assert len(read(files=file(written(ROWS) + "\x1a")).rows) == 10


def test_a_line_without_an_end_is_no_csv_and_not_read_into_memory(file, read):
    with pytest.raises(DataError, match="longer than 1048576 characters"):
        read(files=file("vendor,sku,price\n" + "x" * 3_000_000))


def test_a_packed_file_is_read_and_one_that_was_cut_is_found_out(file, read):
    packed = gzip.compress(written(ROWS * 500).encode())
    assert len(read(files=file(packed, "erp.csv.gz")).rows) == 5000
    with pytest.raises(IncompleteExtractError, match="broke off"):
        read(files=file(packed[: len(packed) // 2], "erp.csv.gz"), chunk_rows=100)


@pytest.mark.parametrize("damage", [lambda packed: packed[:10], lambda packed: packed[:10] + b"\xff" * 40])
def test_a_packed_file_whose_header_cannot_be_read_is_found_out_when_its_names_are_asked(file, damage):
    path = file(damage(gzip.compress(written(ROWS).encode())), "erp.csv.gz")
    with pytest.raises(IncompleteExtractError, match="broke off before its header"):
        open_source(ErpSettings(files=path)).check()


def test_a_file_with_a_blank_line_for_its_header_is_an_error_of_that_file(tmp_path, read):
    path = tmp_path / "b.csv"
    path.write_text("\nvendor,sku,price\nv,a,1.00\n")
    with pytest.raises(ShelfsyncError):
        read(files=str(path))
