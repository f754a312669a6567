"""What holds of normalise for any rows of any ERP."""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import ROUND_DOWN, Context, Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import normalised, raw
from catalog_strategies import NUMBERS_OF_ERPS, ROWS_OF_ERPS
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.rows.item import RAW_CHARACTERS_MAX
from shelfsync.rows.quarantine_reason import REASONS
from shelfsync.schemas import FIELDS, QUARANTINE, RAW, SNAPSHOT
from shelfsync.settings import NormaliseSettings

TABLES = st.lists(ROWS_OF_ERPS, max_size=12)
SETTINGS = st.builds(
    NormaliseSettings,
    quantity_rounding=st.sampled_from(["floor", "quarantine"]),
    negative_quantity=st.sampled_from(["zero", "quarantine"]),
)
KEY = st.sampled_from(["sku", "barcode"])
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@given(TABLES, SETTINGS, KEY)
def test_rows_in_are_rows_out_plus_quarantined(rows, settings, key):
    table = raw(*rows)
    result = make_snapshot(table, settings, key=key)
    assert result.snapshot.num_rows + result.rows_quarantined + result.repeated == table.num_rows
    assert result.rows_quarantined + result.values_left_out == result.quarantine.num_rows
    assert result.snapshot.schema == SNAPSHOT
    assert result.quarantine.schema == QUARANTINE


@given(TABLES, KEY)
def test_every_row_is_either_in_the_snapshot_or_quarantined(rows, key):
    rows = [row for place, row in enumerate(rows) if row["sku"] not in {other["sku"] for other in rows[:place]}]
    result = normalised(*rows, key=key)
    quarantined = [row["row_number"] for row in result.quarantine.to_pylist() if not row["row_sent"]]
    assert quarantined == sorted(set(quarantined))
    kept = [row["sku"].strip(" ") for number, row in enumerate(rows, start=1) if number not in set(quarantined)]
    assert sorted(kept, key=str.encode) == result.snapshot["sku"].to_pylist()


@given(TABLES, SETTINGS, KEY, st.data())
def test_a_row_that_is_there_twice_changes_nothing_but_their_number(rows, settings, key, data):
    """Wherever the ERP repeats rows of its own, also those with a faulty value."""
    once = make_snapshot(raw(*rows), settings, key=key)
    named = [place for place, row in enumerate(rows) if (row["sku"] or "").strip(" ")]
    twice = data.draw(st.lists(st.sampled_from(named), max_size=5)) if named else []
    more = make_snapshot(raw(*rows, *(rows[place] for place in twice)), settings, key=key)
    assert more.snapshot.equals(once.snapshot)
    assert more.quarantine.equals(once.quarantine)
    assert more.repeated == once.repeated + len(twice)


@given(TABLES, SETTINGS, KEY)
def test_a_faulty_value_costs_no_other_value_that_can_be_believed(rows, settings, key):
    """A row with a good key is sent with every good value; where price, quantity or active is faulty, with what cannot put it on sale."""
    table = raw(*rows)
    result = make_snapshot(table, settings, key=key)
    sent = {row["sku"]: row for row in result.snapshot.to_pylist()}
    faults = {(row["sku"], row["field"]) for row in result.quarantine.to_pylist() if row["row_sent"]}
    alone = {
        name: raw(
            *(
                {**dict.fromkeys(RAW.names[2:]), "sku": f"S{n}", name: row[name]}
                for n, row in enumerate(table.to_pylist())
            )
        )
        for name in FIELDS
    }
    good = {
        name: {row["sku"]: row[name] for row in make_snapshot(alone[name], settings).snapshot.to_pylist()}
        for name in FIELDS
    }
    for number, row in enumerate(table.to_pylist()):
        sku = (row["sku"] or "").strip(" ")
        if sku not in sent:
            continue
        doubtful = any((sku, name) in faults for name in ("price", "quantity", "active"))
        for name in FIELDS:
            value = good[name].get(f"S{number}")
            if (sku, name) in faults:
                assert sent[sku][name] is None
            elif not doubtful or name in {"price", "max_sales_quantity"}:
                assert sent[sku][name] == value
            else:
                assert sent[sku][name] in {None, 0}
                assert value is not False or sent[sku][name] is False


@given(TABLES)
def test_the_snapshot_is_unique_and_sorted_by_sku_in_byte_order(rows):
    skus = [sku.encode() for sku in normalised(*rows).snapshot["sku"].to_pylist()]
    assert skus == sorted(set(skus))


@given(TABLES, SETTINGS, KEY)
def test_a_quarantined_row_can_be_reported_and_stored(rows, settings, key):
    table = raw(*rows)
    came = {row["row_number"]: row for row in table.to_pylist()}
    fields = {reason.word: reason.field for reason in REASONS}
    for row in make_snapshot(table, settings, key=key).quarantine.to_pylist():
        assert json.loads(row["raw"]) == {name: _kept(value) for name, value in came[row["row_number"]].items()}
        assert fields[row["reason"]] == row["field"]
        assert not any(ord(letter) < 32 for letter in row["message"] + (row["sku"] or ""))


def _kept(value):
    """What is kept of a value: a long text is cut."""
    is_long = isinstance(value, str) and len(value) > RAW_CHARACTERS_MAX
    return f"{value[:RAW_CHARACTERS_MAX]}…" if is_long else value


@given(TABLES, SETTINGS, KEY, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(rows, settings, key, chance):
    table = raw(*rows)
    order = list(range(len(rows)))
    chance.shuffle(order)
    one, other = (
        make_snapshot(table, settings, key=key),
        make_snapshot(table.take(pa.array(order, pa.int64())), settings, key=key),
    )
    assert one.snapshot.equals(other.snapshot)
    assert one.quarantine.equals(other.quarantine)


@given(TABLES, st.integers(0, 12))
def test_the_pieces_a_table_comes_in_change_nothing(rows, cut):
    table = raw(*rows)
    pieces = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    settings = NormaliseSettings()
    assert make_snapshot(pieces, settings).snapshot.equals(make_snapshot(table, settings).snapshot)


@given(NUMBERS_OF_ERPS)
def test_a_price_is_the_decimal_itself_cut_to_three_places_or_quarantined(text):
    result = normalised({"sku": "A1", "price": text})
    wanted = _price(text)
    if isinstance(wanted, str):
        assert result.quarantine["reason"].to_pylist() == [wanted]
    else:
        assert result.snapshot["price"].to_pylist() == [wanted]


@given(NUMBERS_OF_ERPS, st.sampled_from(["floor", "quarantine"]), st.sampled_from(["zero", "quarantine"]))
def test_a_quantity_is_never_more_than_what_is_there(text, rounding, negative):
    result = normalised({"sku": "A1", "quantity": text}, quantity_rounding=rounding, negative_quantity=negative)
    found = result.snapshot["quantity"].to_pylist()
    if not found:
        return
    (pieces,) = found
    blank = text is None or not text.strip()
    assert (pieces is None) == blank
    if not blank:
        there = Decimal(text.strip())
        assert 0 <= pieces < 2**31
        assert pieces <= there < pieces + 1 if there >= 0 else (pieces == 0 and negative == "zero")
        assert rounding == "floor" or there < 0 or pieces == there


@given(TABLES)
def test_a_key_is_in_the_snapshot_once_and_a_duplicate_only_if_its_rows_are_one(rows):
    counts = Counter((row["sku"] or "").strip(" ") for row in rows)
    result = normalised(*rows)
    kept = result.snapshot["sku"].to_pylist()
    assert len(set(kept)) == len(kept)
    assert sum(counts[sku] - 1 for sku in kept) <= result.repeated


def _price(text: str | None) -> Decimal | str | None:
    """The rule, implemented a second time: the exact value, or the reason."""
    text = (text or "").strip()
    if not text:
        return None
    if not NUMBER.fullmatch(text):
        return "price_decimal_comma" if re.fullmatch(r"[+-]?[\d.']*,\d+", text, re.ASCII) else "price_not_a_number"
    value = Decimal(text)
    if value < 0:
        return "price_negative"
    if value >= 10**17:
        return "price_too_large"
    return value.quantize(Decimal("0.001"), rounding=ROUND_DOWN, context=Context(prec=50))
