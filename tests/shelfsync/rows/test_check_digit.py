"""A barcode is one by its length and its last digit."""

from __future__ import annotations

import pytest

from shelfsync.rows.check_digit import is_gtin


@pytest.mark.parametrize("code", ["4006381333931", " 4006381333931 ", "96385074", "036000291452", "10036000291459"])
def test_a_barcode_with_its_check_digit(code):
    assert is_gtin(code)


@pytest.mark.parametrize(
    "code", ["4006381333932", "400638133393", "96385075", "00000000", "", "4006381333931a", "\u0664006381333931"]
)
def test_another_text_or_another_digit(code):
    assert not is_gtin(code)
