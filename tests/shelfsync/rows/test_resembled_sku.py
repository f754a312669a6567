"""A key that is another one only to a machine: what is found, which known SKU it resembles, and which keys are left alone."""

from __future__ import annotations

import pyarrow as pa
import pytest

from catalog_rows import raw
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.rows.resembled_sku import Known
from shelfsync.schemas import BASELINE, RAW
from shelfsync.settings import NormaliseSettings

KNOWN = ("100001", "0100004", "4006381333931", "AB-100", "caf\u00e9", "A1", "12E5", "\u0421\u041e\u041a")


def read(*skus, known=KNOWN, observed=(), **settings):
    acknowledged = pa.array(sorted(known, key=str.encode), pa.string())
    shown = pa.array(sorted(observed, key=str.encode), pa.string())
    rows = raw(*({"sku": sku, "price": "1.99", "quantity": "3"} for sku in skus))
    return make_snapshot(rows, NormaliseSettings(**settings), known=Known(acknowledged, lambda: shown))


@pytest.mark.parametrize(
    ("sku", "reason", "character", "resembled"),
    [
        ("100001\u00a0", "sku_invisible_character", "NO-BREAK SPACE (U+00A0)", "100001"),
        ("\u200b100001", "sku_invisible_character", "ZERO WIDTH SPACE (U+200B)", "100001"),
        ("100\u200d001", "sku_invisible_character", "ZERO WIDTH JOINER (U+200D)", "100001"),
        ("100\ufeff001", "sku_invisible_character", "ZERO WIDTH NO-BREAK SPACE (U+FEFF)", "100001"),
        ("100\u00ad001", "sku_invisible_character", "SOFT HYPHEN (U+00AD)", "100001"),
        ("100001\u200f", "sku_invisible_character", "RIGHT-TO-LEFT MARK (U+200F)", "100001"),
        ("A\u20281", "sku_invisible_character", "LINE SEPARATOR (U+2028)", "A1"),
        ("100001\U000e0041", "sku_invisible_character", "TAG LATIN CAPITAL LETTER A (U+E0041)", "100001"),
        ("100001\t", "sku_control_character", "CHARACTER TABULATION (U+0009)", "100001"),
        ("100001\x00", "sku_control_character", "NULL (U+0000)", "100001"),
        ('="100001"', "sku_quoted", "EQUALS SIGN (U+003D)", "100001"),
        ("'100001", "sku_quoted", "APOSTROPHE (U+0027)", "100001"),
        ('"AB-100"', "sku_quoted", "QUOTATION MARK (U+0022)", "AB-100"),
        ("\u201c100001\u201d", "sku_quoted", "LEFT DOUBLE QUOTATION MARK (U+201C)", "100001"),
        ("\uff11\uff10\uff10\uff10\uff10\uff11", "sku_look_alike", "FULLWIDTH DIGIT ONE (U+FF11)", "100001"),
        ("\u0661\u0660\u0660\u0660\u0660\u0661", "sku_look_alike", "ARABIC-INDIC DIGIT ONE (U+0661)", "100001"),
        ("\u0410B-100", "sku_look_alike", "CYRILLIC CAPITAL LETTER A (U+0410)", "AB-100"),
        ("A\u0392-100", "sku_look_alike", "GREEK CAPITAL LETTER BETA (U+0392)", "AB-100"),
        ("C\u041e\u041a", "sku_look_alike", "CYRILLIC CAPITAL LETTER O (U+041E)", "\u0421\u041e\u041a"),
        ("cafe\u0301", "sku_look_alike", "COMBINING ACUTE ACCENT (U+0301)", "caf\u00e9"),
        ("100001.0", "sku_resembles_known", "", "100001"),
        ("100001,00", "sku_resembles_known", "", "100001"),
        ("1.00001E+05", "sku_resembles_known", "", "100001"),
        ("4.00638E+12", "sku_resembles_known", "", "4006381333931"),
        ("1.2E+06", "sku_resembles_known", "", "12E5"),
        ("100004", "sku_resembles_known", "", "0100004"),
        ("100,001", "sku_resembles_known", "", "100001"),
        ("100001&nbsp;", "sku_resembles_known", "", "100001"),
        ("ab-100", "sku_resembles_known", "", "AB-100"),
        ("1O0OO1", "sku_resembles_known", "", "100001"),
        ("l0000I", "sku_resembles_known", "", "100001"),
        ("#100001", "sku_resembles_known", "", "100001"),
        ("10-00.01", "sku_resembles_known", "", "100001"),
        ("AB 100", "sku_resembles_known", "", "AB-100"),
        ("cafe", "sku_resembles_known", "", "caf\u00e9"),
        ("caf?", "sku_resembles_known", "", "caf\u00e9"),
        ("caf\u00bf", "sku_resembles_known", "", "caf\u00e9"),
        ("caf\u00c3\u00a9", "sku_resembles_known", "", "caf\u00e9"),
        ("\u0421\u041e?", "sku_resembles_known", "", "\u0421\u041e\u041a"),
        ("AB%2D100", "sku_resembles_known", "", "AB-100"),
        ("AB&ndash;100", "sku_resembles_known", "", "AB-100"),
        ("100001\\0", "sku_resembles_known", "", "100001"),
        ("100001%00", "sku_resembles_known", "", "100001"),
        ("100001\\u00a0", "sku_resembles_known", "", "100001"),
        ("100001\\t", "sku_resembles_known", "", "100001"),
        ("100001%0D%0A", "sku_resembles_known", "", "100001"),
        ("100001<br/>", "sku_resembles_known", "", "100001"),
        ("AB\u2013100", "sku_resembles_known", "", "AB-100"),
        ("\u0410\u0412-100", "sku_resembles_known", "", "AB-100"),
        ("caf\ufffd\\xe9", "sku_undecodable", "", "caf\u00e9"),
    ],
)
def test_such_a_key_is_quarantined_with_its_character_and_the_sku_that_it_resembles(sku, reason, character, resembled):
    result = read(sku)
    assert result.snapshot.num_rows == 0
    [row] = result.quarantine.to_pylist()
    assert (row["reason"], row["sku"]) == (reason, resembled)
    assert character in row["message"]
    assert f'resembles SKU "{resembled}"' in row["message"]
    unseen = ("\u00a0", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u200f", "\u2028", "\U000e0041", "\t", "\x00")
    assert not any(character in row["message"] for character in unseen), "what cannot be seen is escaped"


@pytest.mark.parametrize(
    "sku",
    [
        *("0001", "7", "A B", "a/b_c.d-e", "1E5", "12.50", 'PIPE-3/4"', "x'y", "\u00b55", "\u00d810", "Stra\u00dfe"),
        *(
            "\u041f\u0420\u0418\u0412\u0415\u0422-1",
            "\u03a9-7",
            "\u65e5\u672c-1",
            "\u0e19\u0e211",
            "\u0642\u0647\u0648\u0629",
        ),
        *("what?", "\u00c3\u00a9lan-9", "50%20", "R&D;1"),
        *("\u0421\u041e\u0421-XL", "\u041c\u043e\u043b\u043e\u043a\u043e-UHT", "\U0001f600"),
    ],
)
def test_a_legitimate_key_is_left_alone(sku):
    assert read(sku).snapshot["sku"].to_pylist() == [sku]


LABELS = (
    "\u2116{}",
    "N\u00b0{}",
    "sku{}",
    "SKU-{}",
    "Art. {}",
    "No.{}",
    "Artikel-Nr. {}",
    "ean {}",
    "urn:sku:{}",
    "sku000{}",
    "\u0430\u0440\u0442.{}",
)


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("known", [True, False], ids=["a label more", "a label less"])
def test_a_number_with_a_label_is_the_number_that_left_the_extract(label, known):
    """The product stays on sale. The platform has no product of the other key, so nothing is lost by keeping it back."""
    left, came = ("100007", label.format("100007")) if known else (label.format("100007"), "100007")
    result = read("other", came, known=(left, "other"))
    assert result.snapshot["sku"].to_pylist() == ["other"]
    [row] = result.quarantine.to_pylist()
    assert (row["reason"], row["sku"]) == ("sku_resembles_known", left)
    assert f'resembles SKU "{left}"' in row["message"]
    before = pa.Table.from_pylist([{"sku": sku, "active": True} for sku in sorted((left, "other"))], schema=BASELINE)
    delta = compute_delta(result.snapshot, before, full=False, quarantined=result.quarantine)
    assert "removed" not in delta["change"].to_pylist()


@pytest.mark.parametrize("came", ["sku100007", "B100007", "100007-1", "100007A", "2100007", "X123", "100007B2"])
def test_a_new_product_whose_number_has_a_label_is_sent(came):
    """A known SKU with another label, another number or a variant is another product; so is one that is in the extract too."""
    others = ("A100007", "123", "100007") if came != "sku100007" else ("100007",)
    result = read(came, *(others if came == "sku100007" else ()), known=others)
    assert came in result.snapshot["sku"].to_pylist()


@pytest.mark.parametrize("came", ["B100007", "PACK100007", "x100007", "K-100007"])
def test_another_word_before_a_number_that_left_makes_another_product(came):
    assert read("other", came, known=("100007", "other")).snapshot["sku"].to_pylist() == sorted([came, "other"])


@pytest.mark.parametrize("place", ["known", "observed"])
@pytest.mark.parametrize("sku", ["100001\u00a0", '="100001"', "\u0410B-100", "cafe\u0301", "100001.0"])
def test_a_key_that_the_platform_has_with_that_very_character_is_right(place, sku):
    assert read(sku, **({"known": (*KNOWN, sku)} if place == "known" else {"observed": (sku,)})).snapshot.num_rows == 1


def test_two_skus_of_the_extract_may_differ_by_a_zero_or_by_case():
    assert read("0100004", "100004", "AB-100", "ab-100").quarantine.num_rows == 0


def test_what_a_key_resembles_has_not_left_the_extract():
    before = pa.Table.from_pylist(
        [{"sku": sku, "active": True} for sku in sorted(KNOWN, key=str.encode)], schema=BASELINE
    )
    now = read(*(sku for sku in KNOWN if sku != "100001"), "100001\u00a0")
    delta = compute_delta(now.snapshot, before, full=False, quarantined=now.quarantine)
    assert "removed" not in delta["change"].to_pylist()


def test_without_anything_known_an_odd_key_is_quarantined_all_the_same():
    result = read("100001\u00a0", "100.0", "5", known=())
    assert result.snapshot["sku"].to_pylist() == ["100.0", "5"]
    assert result.quarantine["reason"].to_pylist() == ["sku_invisible_character"]


def test_in_a_sample_of_the_rows_a_known_sku_without_a_row_is_not_absent():
    rows = raw({"sku": "ab-100"}, {"sku": "100001\u00a0"})
    known = Known(pa.array(["100001", "AB-100"]), whole=False)
    quarantine = make_snapshot(rows, NormaliseSettings(), known=known).quarantine
    assert quarantine["sku"].to_pylist() == ["100001"]


def test_the_setting_sends_such_keys_as_they_are():
    assert read("100001\u00a0", odd_keys="send").snapshot["sku"].to_pylist() == ["100001\u00a0"]


def test_rows_in_are_rows_out_and_quarantined():
    rows = raw(*({"sku": sku, "price": "1"} for sku in ("100001", "100001\u00a0", None, "new", "'new", "x\x00")))
    result = make_snapshot(rows.cast(RAW), NormaliseSettings(), known=Known(pa.array(["100001"])))
    assert result.snapshot["sku"].to_pylist() == ["100001", "new"]
    assert result.snapshot.num_rows + result.quarantine.num_rows == 6
