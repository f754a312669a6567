"""Each row of the ERP counts in exactly one column; the columns add up to the rows (I1)."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.catalog.ledger.vendor_counts import NUMBERS
from shelfsync.catalog.sku_state import COLUMNS, NAMES, Carried, Counts, count, sentence, states, total

SKUS = [f"s{number}" for number in range(12)]
SOME = st.sets(st.sampled_from(SKUS))
DIFFERS = pa.schema([pa.field("sku", pa.string()), pa.field("change", pa.string())])


def _array(skus):
    return pa.array(sorted(skus), pa.string())


def _count(erp, baseline, quarantined, changed, unconfirmed, carried):
    gone = baseline - erp - quarantined
    differs = [(sku, "new") for sku in erp - baseline]
    differs += [(sku, "changed") for sku in changed & erp & baseline] + [(sku, "removed") for sku in gone & changed]
    table = pa.Table.from_pylist([dict(zip(DIFFERS.names, row, strict=True)) for row in sorted(differs)], DIFFERS)
    sides = _array(erp), _array(baseline), table, _array(unconfirmed)
    stated = states(*sides, carried, quarantined=_array(quarantined))
    return count(stated, erp_rows=len(erp) + len(quarantined), quarantined_rows=len(quarantined))


@given(SOME, SOME, SOME, SOME, SOME, st.lists(SOME, min_size=6, max_size=6))
def test_the_columns_add_up_to_the_rows_and_to_the_skus_without_one(
    erp, baseline, quarantined, changed, unconfirmed, sets
):
    erp -= quarantined
    carried = Carried(*(_array(one) for one in sets))
    found = _count(erp, baseline, quarantined, changed, unconfirmed, carried)
    numbers = found._asdict()
    assert sum(numbers[name] for name in COLUMNS) == found.erp_rows + found.not_in_erp
    assert min(numbers.values()) >= 0
    assert found.quarantined == len(quarantined)
    in_flight, planned, _, for_good, for_now, _ = sets
    outside = (changed & baseline | in_flight | planned | for_good | for_now) - erp - quarantined
    assert found.not_in_erp == len(outside)


@given(SOME, SOME, SOME, SOME, st.lists(SOME, min_size=6, max_size=6))
def test_acknowledged_is_what_the_baseline_has_as_wanted_and_nothing_carries(erp, baseline, changed, unconfirmed, sets):
    found = _count(erp, baseline, set(), changed, unconfirmed, Carried(*(_array(one) for one in sets)))
    in_flight, planned, held, for_good, for_now, _ = sets
    assert found.acknowledged == len((erp & baseline) - changed - in_flight - planned - held - for_good - for_now)
    assert found.in_flight == len(in_flight)
    differs = (erp - baseline) | (changed & baseline)
    silent = differs & unconfirmed - in_flight - held - ((for_good | for_now) - planned)
    assert found.unconfirmed == len(silent)


def test_the_ledger_keeps_every_number_and_the_sums_are_those_of_the_vendors():
    assert tuple(NUMBERS) == NAMES
    assert set(COLUMNS) < set(NAMES)
    one = Counts(erp_rows=3, acknowledged=1, rejected_for_good=1, rejected_for_now=1)
    other = Counts(erp_rows=1_000, not_in_erp=2, acknowledged=999, in_flight=3)
    assert sentence(total([one, other])) == (
        "of the ERP's 1,003 rows and 2 SKUs without a row in it 1,000 are acknowledged, 3 in flight, 2 rejected"
    )
