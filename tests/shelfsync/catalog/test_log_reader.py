from __future__ import annotations

import gzip
import io
import json
import tracemalloc

import pytest

from shelfsync.catalog.log_reader import TruncatedLogError, parse_log
from shelfsync.errors import DataError

NEWER = b"sku,state,errors\n"


def lines(data, **options):
    return [(row["sku"], row["state"], row["reason"]) for row in parse_log(io.BytesIO(data), **options).to_pylist()]


def truncated(data):
    with pytest.raises(TruncatedLogError) as caught:
        parse_log(io.BytesIO(data))
    assert f"whole lines before that: {caught.value.log.num_rows}" in str(caught.value)
    return [row["sku"] for row in caught.value.log.to_pylist()]


def error_of(data, **options):
    with pytest.raises(DataError) as caught:
        parse_log(io.BytesIO(data), **options)
    return str(caught.value)


def test_the_newer_format_is_read():
    data = b'"sku","state","errors"\r\n"A","success",""\r\n"B","success","null"\r\n"C","failed","Unknown SKU"\r\n'
    assert lines(data) == [("A", "accepted", None), ("B", "accepted", None), ("C", "rejected", "Unknown SKU")]


def test_the_older_format_is_read_with_its_barcode():
    data = b"sku,code,state,errors,row_number,piece_barcode\nA,77,success,null,1,00000096385074\n"
    (row,) = parse_log(io.BytesIO(data)).to_pylist()
    assert (row["sku"], row["barcode"], row["state"]) == ("A", "00000096385074", "accepted")


def test_unknown_columns_are_in_the_raw_line():
    (row,) = parse_log(io.BytesIO(b'State,new "col",SKU,new\nok,"x,""y""",A,\n')).to_pylist()
    assert (row["sku"], row["state"]) == ("A", "accepted")
    members = [("State", "ok"), ('new "col"', 'x,"y"'), ("SKU", "A"), ("new", "")]
    assert json.loads(row["raw"], object_pairs_hook=list) == members


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_byte_order_mark_and_gzip_make_no_difference(pack, mark):
    assert lines(pack(mark + NEWER + "Ä,success,\n".encode())) == [("Ä", "accepted", None)]


def test_a_packed_log_may_come_in_several_members():
    assert len(lines(gzip.compress(NEWER + b"A,ok,\n") + gzip.compress(b"B,ok,\n"))) == 2


def test_quotes_and_commas_inside_a_text_are_text_and_a_reason_is_one_line():
    assert lines(NEWER + b'"A,1",failed,"a ""b"",\r\nc"\n') == [("A,1", "rejected", 'a "b", c')]


def test_an_unescaped_inch_mark_costs_no_other_line():
    assert lines(NEWER + b'A,failed,5" pipe\nB,success,\n') == [("A", "rejected", '5" pipe'), ("B", "accepted", None)]


def test_a_line_with_other_fields_names_no_sku_and_stops_no_other_line():
    assert lines(NEWER + b"A,success,\nB,success\nC,success,,x\n\nD,success,\n") == [
        ("A", "accepted", None),
        ("D", "accepted", None),
        (None, "unaccounted", "the line has 2 fields instead of 3"),
        (None, "unaccounted", "the line has 4 fields instead of 3"),
    ]


def test_bytes_in_another_encoding_spoil_their_own_line_only():
    data = NEWER + b"Caf\xe9,success,\nB,failed,na\xefve\nC\xff,ok\nD,ok,\n"
    assert lines(data) == [
        ("Caf\ufffd", "accepted", None),
        ("B", "rejected", "na\ufffdve"),
        ("D", "accepted", None),
        (None, "unaccounted", "the line has 2 fields instead of 3"),
    ]


def test_hostile_text_is_kept_inert_and_storable():
    nasty = "=cmd|' /C calc'!A0 <script>alert(1)</script> \x1b[31m '; DROP TABLE x; \x00"
    ((_, _, reason),) = lines(NEWER + f'A,failed,"{nasty}"\n'.encode())
    assert reason == nasty.replace("\x00", "\ufffd")


def test_a_message_of_a_megabyte_is_shortened_in_the_reason_and_in_the_raw_line():
    (row,) = parse_log(io.BytesIO(NEWER + b"A,failed," + b"x" * 1_000_000 + b"\n")).to_pylist()
    assert len(row["reason"]) == 1000
    assert len(json.loads(row["raw"])["errors"]) == 8192


def test_a_header_alone_is_an_empty_log():
    assert lines(NEWER) == lines(b"sku,state,errors") == []


def test_half_a_line_at_the_end_does_not_count():
    assert lines(NEWER + b"A,success,\nB,success,") == [("A", "accepted", None)]
    assert truncated(NEWER + b"A,success,\nB,succ") == ["A"]
    assert truncated(NEWER + b"B") == []
    assert truncated(NEWER + b"A,success,\nB,failed\nC") == ["A", None]
    assert truncated(NEWER + b'A,success,\n"B","success","') == ["A"]
    assert truncated(NEWER + b'A,success,\n"B","success","some\n') == ["A"]


def test_a_closing_quote_may_be_half_of_a_doubled_one():
    assert lines(NEWER + b'"A","success",""' + b'"no"" means no"\n') == [("A", "rejected", '"no" means no')]
    assert lines(NEWER + b'"A","success",""') == []
    assert lines(NEWER + b'"A","success",""', whole=True) == [("A", "accepted", None)]


def test_a_last_line_counts_where_the_length_of_the_file_is_proven():
    assert lines(NEWER + b"A,success,\nB,success,", whole=True) == [("A", "accepted", None), ("B", "accepted", None)]
    assert lines(NEWER + b"A,success,\nB", whole=True)[1][:2] == (None, "unaccounted")


def test_a_packed_log_without_its_end_is_cut_off_whatever_its_length_was():
    packed = gzip.compress(NEWER + b"A,success,\nB,success,\n")
    assert truncated(packed[:-4]) == ["A", "B"]
    with pytest.raises(TruncatedLogError):
        parse_log(io.BytesIO(packed[:-4]), whole=True)


def test_a_damaged_packed_log_is_reported_as_damaged():
    packed = bytearray(gzip.compress(NEWER + b"A,success,\n"))
    packed[-6] ^= 0xFF
    assert "does not unpack" in error_of(bytes(packed))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\r\n \n", "is empty"),
        (b"\n <!DOCTYPE html><title>Access denied</title>", "is a web page"),
        (b'[{"sku": "A", "state": "success"}]', "no header with sku and state"),
        (b'{"sku,state": 1}', "no header with sku and state"),
        (b"sku;state;errors\nA;success;\n", "no header with sku and state"),
        (b"A,success,\nB,success,\n", "no header with sku and state"),
        (b"sku,errors\nA,\n", "no header with sku and state"),
        (b"sku,state\rA,ok\r", "no header with sku and state"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "no header with sku and state"),
    ],
)
def test_a_file_that_is_no_log_is_reported_as_what_it_is(data, words):
    message = error_of(data)
    assert words in message
    assert "\n" not in message


def test_a_packed_log_that_never_ends_is_given_up():
    assert "more than 1000000 bytes" in error_of(
        gzip.compress(NEWER + b"A,success,\n" * 200_000), expanded_max_bytes=1_000_000
    )


def test_a_line_that_never_ends_is_given_up():
    assert "a line of more than" in error_of(NEWER + b'A,failed,"' + b"x" * 20_000_000)


@pytest.mark.slow
def test_the_text_of_a_log_takes_no_more_memory_for_being_longer():
    data = NEWER + b"".join(b'SKU-%07d,failed,"%s"\n' % (n, b"x" * 800) for n in range(100_000))
    file = io.BytesIO(gzip.compress(data, 1))
    tracemalloc.start()
    table = parse_log(file)
    _, peak_bytes = tracemalloc.get_traced_memory()  # Python's own share; the table itself is Arrow's
    tracemalloc.stop()
    assert table.num_rows == 100_000
    assert peak_bytes < 64_000_000 < len(data)
