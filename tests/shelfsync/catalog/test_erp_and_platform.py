"""Which SKUs are in the ERP and on the platform."""

from __future__ import annotations

import pyarrow as pa
import pytest

from catalog_rows import shelf
from shelfsync.catalog.erp_and_platform import products

ERP, BOTH = shelf({"sku": "a"}, {"sku": "b"}), shelf({"sku": "b"}, {"sku": "c"}, {"sku": "d"})


def _sides(desired, *, complete, quarantined=None):
    rows = products(BOTH, shelf({"sku": "c"}, {"sku": "e"}), desired, complete=complete, quarantined=quarantined)
    return {row["sku"]: (row["in_erp"], row["on_platform"]) for row in rows.to_pylist()}


def test_what_one_side_has_and_the_other_lacks():
    assert _sides(ERP, complete=True) == {"a": (True, False), "b": (True, True), "c": (False, True), "d": (False, True)}


def test_without_a_proof_an_acknowledged_sku_may_still_be_in_the_erp():
    assert _sides(ERP, complete=False) == {
        "a": (True, False),
        "b": (True, True),
        "c": (None, True),
        "d": (False, True),
        "e": (None, False),
    }


@pytest.mark.parametrize(("sku", "in_erp"), [("d", True), ("c", False)])
def test_a_sku_in_quarantine_is_in_the_erp(sku, in_erp):
    quarantined = pa.table({"sku": ["d", None]})
    assert _sides(ERP, complete=True, quarantined=quarantined)[sku][0] is in_erp
