"""The comparison finds every kind of difference; it shares no code with the steps whose work it judges."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import pytest

from sandbox_fixture import LiveSandbox
from shelfsync.local.comparison import compare
from shelfsync.local.sandbox_control import SandboxControl


def erp(**row) -> dict:
    lines = {"price": Decimal("4.5559"), "quantity": Decimal("3.9"), "active": True, "max_sales_quantity": None}
    return {"store-001": {"A": SimpleNamespace(**{**lines, **row})}}


def platform(**product) -> dict:
    holds = {"sku": "A", "price": Decimal("4.555"), "active": True, "max_sales_quantity": 7, "sales_buffer": 3}
    return {"store-001": [{**holds, **product}]}


def test_equal_is_equal_after_the_cut_and_by_the_sales_buffer() -> None:
    result = compare(erp(), platform())
    assert (result.equal, result.differences, result.unknown_to_platform) == (1, [], 0)


@pytest.mark.parametrize(
    ("row", "product", "named"),
    [
        ({}, {"price": Decimal("4.556")}, "price"),
        ({"price": Decimal("4.555")}, {"price": Decimal("4.55")}, "price"),
        ({"quantity": Decimal("2.9")}, {}, "active"),
        ({"quantity": Decimal(-4)}, {}, "active"),
        ({"active": False}, {}, "active"),
        ({}, {"active": False}, "active"),
        ({"max_sales_quantity": 6}, {}, "max_sales_quantity"),
    ],
)
def test_every_kind_of_difference_is_found_and_named(row: dict, product: dict, named: str) -> None:
    (difference,) = compare(erp(**row), platform(**product)).differences
    assert difference.startswith(f"store-001 A: {named} is ")


@pytest.mark.parametrize("buffer", [3, 4])
def test_a_product_without_a_sales_buffer_of_its_own_has_that_of_its_vendor(buffer: int) -> None:
    """As `shelfsync sandbox fill` makes them."""
    with LiveSandbox() as platform:
        platform.put_products("store-001", [{"sku": "A", "price": 4.555, "active": buffer == 3}])
        platform.control("PUT", "chains/demo-chain/vendors/store-001", {"sales_buffer": buffer})
        sandbox = SandboxControl(platform.base_url)
        assert compare(erp(), {"store-001": sandbox.held("store-001")}).differences == []
        sandbox.close()


def test_a_product_that_left_the_erp_must_be_off_sale() -> None:
    gone = {"store-001": {}}
    assert compare(gone, platform(active=False)).differences == []
    assert compare(gone, platform(active=True)).differences == ["store-001 A: active is True, not False"]


def test_what_the_platform_does_not_know_is_counted_and_no_difference() -> None:
    result = compare(erp(), {"store-001": []})
    assert (result.equal, result.differences, result.unknown_to_platform) == (0, [], 1)
