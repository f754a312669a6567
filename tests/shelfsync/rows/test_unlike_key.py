"""A key that a program made of a number, or that lost a digit, is told from the key of a store that has such keys."""

from __future__ import annotations

import pyarrow as pa
import pytest

from catalog_rows import raw
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.erp.sample.products import with_check_digit
from shelfsync.rows.resembled_sku import Known
from shelfsync.settings import NormaliseSettings

NUMBERS = [str(number) for number in range(100000, 100040)]
BARCODES = [with_check_digit(f"40063{number:07}") for number in range(40)]
DAMAGED = (
    *("0x186A1", "true", "FALSE", "WAHR", "Jan-26", "26-Jan", "1. Feb", "Mrz 26", "12-Dec-2026", "M\u00e4rz 26"),
    *("01.02.2026", "2026-01-05", "2026-01-05 00:00:00", "1/2/26"),
)


def quarantined(skus, known=()):
    rows = raw(*({"sku": sku, "price": "1.99"} for sku in skus))
    found = make_snapshot(rows, NormaliseSettings(), known=Known(pa.array(sorted(known), pa.string()))).quarantine
    return [(row["sku"], row["reason"]) for row in found.to_pylist()]


@pytest.mark.parametrize("sku", DAMAGED)
def test_what_a_program_made_of_a_number_is_no_key_among_numbers(sku):
    assert quarantined([*NUMBERS, sku]) == [(sku, "sku_unlike_others")]
    assert quarantined([*NUMBERS, "BAG-1", sku]) == [(sku, "sku_unlike_others")]


@pytest.mark.parametrize("sku", [*DAMAGED, "BAG-1", "Jan-Tea", "MAY-10203", "0xTEA", "truly"])
def test_it_is_one_where_others_have_letters_or_where_the_platform_has_it(sku):
    letters = [f"A{number}" for number in NUMBERS]
    assert quarantined([*letters, sku]) == []
    assert quarantined([*NUMBERS, *letters, sku]) == []
    assert quarantined([*NUMBERS, sku], known=[sku]) == []
    assert quarantined([*NUMBERS[:15], sku]) == []


@pytest.mark.parametrize("sku", ["BAG-1", "Jan-Tea", "MAY-10203", "0xTEA", "truly", "7", "1-2"])
def test_a_key_of_another_form_is_no_damage(sku):
    assert quarantined([*NUMBERS, sku]) == []


WRONG = [BARCODES[7][:-1] + str((int(BARCODES[7][-1]) + 1) % 10), BARCODES[9][:12]]


@pytest.mark.parametrize("sku", WRONG)
def test_a_barcode_whose_check_digit_alone_is_wrong_is_no_key(sku):
    others = [code for code in BARCODES if not code.startswith(sku)]
    assert quarantined([*others, sku]) == [(sku, "sku_unlike_others")]
    assert quarantined([*others, sku], known=[sku]) == []


def test_barcodes_without_a_check_digit_are_keys_where_some_others_have_none():
    wrong = [code[:-1] + str((int(code[-1]) + 1) % 10) for code in BARCODES[:3]]
    assert quarantined([*BARCODES, *wrong]) == []


@pytest.mark.parametrize("sku", ["036000291452", "1234", "2100001000009", "96385074", "100001"])
def test_a_shorter_barcode_and_a_number_of_the_stores_own_are_keys_beside_barcodes(sku):
    assert quarantined([*BARCODES, sku]) == []


@pytest.mark.parametrize(
    ("sku", "known", "left"),
    [
        ("0x186A1", NUMBERS, "100001"),
        (BARCODES[9][:12], BARCODES, BARCODES[9]),
        (BARCODES[9][1:], BARCODES, BARCODES[9]),
    ],
)
def test_the_sku_that_left_for_it_is_named_and_stays(sku, known, left):
    assert quarantined([*(one for one in known if one != left), sku], known) == [(left, "sku_resembles_known")]


@pytest.mark.parametrize("sku", ["N.A.", "n.a.", "N.A"])
def test_a_word_for_no_value_is_no_key(sku):
    assert quarantined([sku]) == [(sku, "sku_missing")]
