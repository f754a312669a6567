"""Which words mean true and false."""

from __future__ import annotations

import pyarrow as pa
import pytest

from catalog_rows import value_or_reason
from shelfsync.rows.truth_words import truth_values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *((text, True) for text in ("true", "TRUE", "1", "t", "Yes", "y", " True ")),
        *((text, False) for text in ("false", "False", "0", "F", "no", "N")),
        *((text, "active_not_a_truth_value") for text in ("2", "on", "ja", "1.00", "truth")),
    ],
)
def test_truth_values_are_few_words(text, found):
    assert value_or_reason("active", text) == found


def test_what_is_no_word_has_no_truth_value():
    assert truth_values(pa.array(["Y", "0.0", "", None, "on"])).to_pylist() == [True, False, None, None, None]
