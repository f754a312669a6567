"""A picking result of a table's rows."""

from __future__ import annotations

import pytest

from shelfsync.orders.picking_result import gathered


@pytest.mark.parametrize(
    ("word", "found"),
    [
        *((word, True) for word in ("true", " Yes ", "T", 1, "1.0", True)),
        *((word, False) for word in ("No", "f", "0", 0, False)),
        *((word, word) for word in ("ja", "on", "2")),
    ],
)
def test_a_truth_value_has_the_words_of_the_erp_and_any_other_stays_as_it_is(word, found):
    [(_, result)] = gathered([{"order_id": "o", "result_id": "r", "action": "fulfil", "check_first": word}]).whole
    assert (type(result["check_first"]), result["check_first"]) == (type(found), found)
