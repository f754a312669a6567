"""An extract is proven complete by its true number of rows, and by nothing less."""

from __future__ import annotations

import pytest

from shelfsync.erp.completeness_proof import Claim, Read, proof_of
from shelfsync.errors import IncompleteExtractError


def proof(expected, rows=2, *, rows_out=None, left_out=(), unreadable=0, caveat=None, may_be_empty=False):
    read = Read(rows, rows if rows_out is None else rows_out, dict.fromkeys(left_out, 1), unreadable, frozenset())
    return proof_of(Claim(expected, "the count", caveat), read, may_be_empty=may_be_empty, named=str)


def test_the_true_number_of_rows_proves_it_and_without_one_nothing_does():
    assert proof(2).complete
    assert not proof(None).complete


@pytest.mark.parametrize("doubt", [{"unreadable": 1}, {"caveat": "a folder"}])
def test_a_row_that_cannot_be_read_or_a_caveat_proves_nothing_about_what_is_absent(doubt):
    found = proof(2, **doubt)
    assert not found.complete
    assert found.how.startswith("the count; ")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"expected": 3}, "2 rows were read, and the count gives 3"),
        ({"expected": None, "rows": 0}, "gave no row at all"),
        ({"expected": 0, "rows": 0}, "gave no row at all"),
        ({"expected": 2, "rows_out": 0, "left_out": ["ST01"]}, "names none of the ERP's 1 stores"),
        ({"expected": 2, "rows_out": 0}, "The mapping hook left none of 2 rows"),
    ],
)
def test_what_is_not_the_whole_ends_the_reading(wrong, why):
    with pytest.raises(IncompleteExtractError, match=why):
        proof(**wrong)


def test_a_source_that_may_be_empty_is_believed_if_its_number_is_zero():
    assert proof(0, rows=0, may_be_empty=True).complete
    with pytest.raises(IncompleteExtractError, match="gave no row at all"):
        proof(None, rows=0, may_be_empty=True)
