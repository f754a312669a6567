from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from shelfsync.catalog.ledger import rejections
from shelfsync.catalog.ledger.rejections import rejection

WANTED = {
    "barcode": "4006381333931",
    "price": Decimal("1.500"),
    "quantity": 3,
    "active": True,
    "max_sales_quantity": None,
}


def _remember(ledger, job_id, skus):
    with ledger.engine.begin() as connection:
        rejections.remember(
            connection, ledger.vendor, job_id, [{**WANTED, "sku": sku, "reason": "unknown SKU"} for sku in skus]
        )


def test_a_rejection_has_the_rejected_values_and_ends_when_the_sku_is_accepted(ledger):
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    _remember(ledger, job_id, ["a", "b"])
    with ledger.engine.begin() as connection:
        assert rejections.of_vendor(connection, ledger.vendor) == [{**WANTED, "sku": "a"}, {**WANTED, "sku": "b"}]
        rejections.release(connection, ledger.vendor, ["a", "never seen"])
        assert [row["sku"] for row in rejections.of_vendor(connection, ledger.vendor)] == ["b"]


def test_the_same_job_counts_once_however_often_it_is_recorded(ledger):
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    _remember(ledger, job_id, ["a"])
    _remember(ledger, job_id, ["a"])
    with ledger.engine.connect() as connection:
        assert connection.execute(rejection.select()).one().times == 1


def test_a_rejection_that_is_recorded_leaves_the_waits_of_the_others_of_its_job(ledger):
    """An export that finds drift records it with the vendor's newest job."""
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    _remember(ledger, job_id, ["a", "b"])
    with ledger.engine.begin() as connection:
        rejections.let_go(connection, ledger.vendor, ["a"], "a person")
        before = dict(connection.execute(sa.select(rejection.c.sku, rejection.c.next_try_at)).all())
    with ledger.engine.begin() as connection:
        drifted = {**WANTED, "sku": "c", "reason": "drift returned", "kind": "drifted"}
        rejections.remember(connection, ledger.vendor, job_id, [drifted])
        after = dict(connection.execute(sa.select(rejection.c.sku, rejection.c.next_try_at)).all())
        assert after == {**before, "c": None}
        assert [row["sku"] for row in rejections.of_vendor(connection, ledger.vendor)] == ["b", "c"]


@pytest.mark.slow
def test_tens_of_thousands_of_rejections_fit(ledger):
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    _remember(ledger, job_id, [f"sku-{number:06}" for number in range(20_000)])
    with ledger.engine.begin() as connection:
        assert len(rejections.of_vendor(connection, ledger.vendor)) == 20_000
        rejections.release(connection, ledger.vendor, [f"sku-{number:06}" for number in range(20_000)])
        assert rejections.of_vendor(connection, ledger.vendor) == []


@pytest.mark.slow
def test_a_listing_releases_tens_of_thousands_of_skus_and_none_that_another_job_has_rejected_since(ledger):
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    skus = [f"sku-{number:06}" for number in range(40_000)]
    rows = [{**WANTED, "sku": sku, "reason": "unknown SKU", "kind": "unknown_sku"} for sku in skus]
    with ledger.engine.begin() as connection:
        rejections.remember(connection, ledger.vendor, job_id, rows)
    with ledger.engine.begin() as connection:
        jobs = {**dict.fromkeys(skus, job_id), skus[0]: job_id - 1}
        assert rejections.let_go_unchanged(connection, ledger.vendor, jobs, "listing") == 39_999
        assert rejections.let_go_unchanged(connection, ledger.vendor, jobs, "listing") == 0


_COUNTED = "SELECT reason, kind, skus, first_at, what_to_do FROM warehouse.rejection_count WHERE vendor = :vendor ORDER BY 1, 2, 5"
_WHOLE = """
SELECT reason, kind, count(*) AS skus, min(first_at) AS first_at, what_to_do FROM warehouse.rejection WHERE vendor = :vendor
GROUP BY reason, kind, what_to_do ORDER BY 1, 2, 5
"""
_SKUS = "abcdefgh"
_some_skus = st.lists(st.sampled_from(_SKUS), max_size=4, unique=True)
_acts = st.one_of(
    st.tuples(st.just("remember"), _some_skus, st.sampled_from(["busy", "invalid", "no such"])),
    st.tuples(st.just("release"), _some_skus, st.none()),
    st.tuples(st.just("let_go"), _some_skus, st.none()),
    st.tuples(st.just("let_go_unchanged"), _some_skus, st.none()),
)
_KINDS = {"busy": "for_now", "invalid": "invalid_value", "no such": "unknown_sku"}


@pytest.fixture
def job_id(ledger):
    return ledger.job(ledger.batch(*ledger.run())[0])


def _act(connection, vendor, job_id, what, skus, reason):
    if what == "remember":
        rows = [{**WANTED, "sku": sku, "reason": reason, "kind": _KINDS[reason]} for sku in skus]
        rejections.remember(connection, vendor, job_id, rows)
    elif what == "release":
        rejections.release(connection, vendor, skus)
    elif what == "let_go":
        rejections.let_go(connection, vendor, skus, "a person")
    else:
        rejections.let_go_unchanged(connection, vendor, dict.fromkeys(skus, job_id), "listing")


def _both_counts(connection, vendor):
    return [
        [tuple(row) for row in connection.execute(sa.text(statement), {"vendor": vendor})]
        for statement in (_COUNTED, _WHOLE)
    ]


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(_acts, max_size=8))
@example(acts=[("remember", ["a", "b"], "no such"), ("let_go", ["a"], None)])
def test_the_counts_by_reason_are_those_of_a_full_count_after_any_changes(ledger, job_id, acts):
    with ledger.engine.begin() as connection:
        rejections.release(connection, ledger.vendor, _SKUS)
    for act in acts:
        with ledger.engine.begin() as connection:
            _act(connection, ledger.vendor, job_id, *act)
            counted, whole = _both_counts(connection, ledger.vendor)
            assert counted == whole, act


def test_of_two_transactions_the_second_counts_what_the_first_has_changed(ledger, job_id):
    _remember(ledger, job_id, ["a", "b"])
    begun = threading.Event()

    def second():
        with ledger.engine.begin() as connection:
            begun.set()
            rejections.let_go(connection, ledger.vendor, ["a"], "a person")

    with ThreadPoolExecutor(1) as beside:
        with ledger.engine.begin() as connection:
            rejections.release(connection, ledger.vendor, ["b"])
            later = beside.submit(second)
            assert begun.wait(60)
            with pytest.raises(TimeoutError):
                later.result(0.2)
        later.result(60)
    with ledger.engine.connect() as connection:
        counted, whole = _both_counts(connection, ledger.vendor)
    assert counted == whole
    assert [row[2] for row in counted] == [1]
