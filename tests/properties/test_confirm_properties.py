"""What holds of confirm for any log about any items."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import delta, log
from catalog_strategies import SKUS
from shelfsync.catalog.log_reader import TruncatedLogError, parse_log
from shelfsync.catalog.outcome import match, unmatched
from shelfsync.errors import DataError
from shelfsync.schemas import LOG, OUTCOME

STATES = ("accepted", "unaccounted", "rejected")
SENT = st.sets(SKUS, max_size=8).map(
    lambda skus: delta(*({"sku": sku, "quantity": 1} for sku in sorted(skus, key=str.encode)))
)
LOGS = st.lists(
    st.fixed_dictionaries(
        {"sku": st.none() | SKUS, "state": st.sampled_from(STATES), "reason": st.none() | st.text(max_size=3)}
    )
)
TEXTS = st.text(st.sampled_from(list("ab ,;'\"\n\r\té😀<=")), max_size=6)
LINES = st.lists(
    st.tuples(
        SKUS,
        st.sampled_from(["success", "FAILED", "ok", "rejected", "new word"]),
        st.sampled_from(["", "null"]) | TEXTS,
    )
)


def written(lines, *, quoting=csv.QUOTE_ALL, newline="\r\n", header=("sku", "state", "errors")):
    text = io.StringIO()
    writer = csv.writer(text, quoting=quoting, lineterminator=newline)
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue().encode()


class Dribble(io.BytesIO):
    """A file that gives a few bytes at a time, as sockets do."""

    def read(self, size=-1):
        return super().read(7 if size < 0 else min(size, 7))


@given(SENT, LOGS)
def test_there_is_exactly_one_outcome_for_every_sku_sent(items, lines):
    outcomes = match(items, log(*lines))
    assert outcomes.schema == OUTCOME
    assert outcomes["sku"].to_pylist() == items["sku"].to_pylist()


@given(SENT, LOGS)
def test_the_worst_of_a_skus_lines_decides_and_a_missing_line_is_unaccounted(items, lines):
    for row in match(items, log(*lines)).to_pylist():
        about = [line["state"] for line in lines if line["sku"] == row["sku"]]
        assert row["state"] == (max(about, key=STATES.index) if about else "unaccounted")
        assert row["state"] == "accepted" or row["reason"] is not None or about


@given(SENT, LOGS)
def test_every_line_is_about_a_sku_sent_or_is_returned(items, lines):
    table, sent = log(*lines), set(items["sku"].to_pylist())
    unknown = unmatched(items, table)["sku"].to_pylist()
    assert unknown == [line["sku"] for line in lines if line["sku"] not in sent]


@given(SENT, LOGS, st.randoms(use_true_random=False))
def test_the_order_of_the_lines_moves_no_state(items, lines, chance):
    before = match(items, log(*lines))
    chance.shuffle(lines)
    assert match(items, log(*lines))["state"].equals(before["state"])


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_every_line_of_a_log_is_read_whatever_its_texts_hold(lines, newline, bom, packed):
    data = b"\xef\xbb\xbf" * bom + written(lines, newline=newline)
    table = parse_log(io.BytesIO(gzip.compress(data) if packed else data))
    assert table.schema == LOG
    assert table["sku"].to_pylist() == [sku for sku, _, _ in lines]
    for row, (_, word, errors) in zip(table.to_pylist(), lines, strict=True):
        good, well = word in {"success", "ok"}, errors.strip() in {"", "null"}
        bad = word in {"FAILED", "rejected"}
        assert row["state"] == ("accepted" if good and well else "rejected" if good or bad else "unaccounted")
        assert (row["reason"] is None) == (row["state"] == "accepted")
        assert well or re.sub(r"[\t\r\n]+", " ", errors).strip() in row["reason"]


@given(LINES, st.booleans())
def test_the_pieces_a_log_comes_in_change_nothing(lines, packed):
    data = written(lines)
    data = gzip.compress(data) if packed else data
    assert parse_log(Dribble(data)).equals(parse_log(io.BytesIO(data)))


@given(LINES, st.integers(0), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]), st.booleans())
def test_a_log_cut_anywhere_never_accepts_what_the_whole_log_does_not(lines, place, quoting, packed):
    data = written(lines, quoting=quoting)
    whole = Counter((row["sku"], row["state"]) for row in parse_log(io.BytesIO(data)).to_pylist())
    data = gzip.compress(data) if packed else data
    try:
        part = parse_log(io.BytesIO(data[: place % len(data)]))
    except TruncatedLogError as error:
        part = error.log
    except DataError:
        return
    found = Counter((row["sku"], row["state"]) for row in part.to_pylist() if row["sku"] is not None)
    assert not {line: number for line, number in (found - whole).items() if line[1] == "accepted"}


@given(LINES.filter(bool), st.integers(1))
def test_a_truncated_gzip_log_is_reported_as_truncated(lines, place):
    data = gzip.compress(written(lines))
    with pytest.raises(TruncatedLogError):
        parse_log(io.BytesIO(data[: 2 + place % (len(data) - 2)]))


@given(
    st.binary(max_size=60),
    st.sampled_from([b"", b"sku,state,errors\n", b"sku,code,state,errors,row_number,piece_barcode\n"]),
)
def test_any_bytes_end_in_lines_or_in_one_clear_error(data, header):
    try:
        table = parse_log(io.BytesIO(header + data))
    except DataError as error:
        table, message = LOG.empty_table(), str(error)
    else:
        message = "lines"
    assert table.schema == LOG
    assert message
    assert "\n" not in message
