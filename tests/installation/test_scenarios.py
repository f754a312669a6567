"""The nine scenarios of people, inside Airflow in a real browser, with its login, over a whole installation."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from browser_fixture import browser, chromium
from installation.browsing import logged_in
from installation.state import Chain, sending_paused
from nine_scenarios import SCENARIOS, Hold, Order, Person, Product
from nine_scenarios import Chain as Known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Frame

    from installation.installed import Installation

__all__ = ["browser", "chromium"]
pytestmark = [pytest.mark.slow, pytest.mark.browser]

PAUSED, MANAGED = "store-006", "store-004"
CALLED = """
SELECT item_code AS sku, name, barcode.code AS barcode FROM erp.product
JOIN erp.barcode ON barcode.product_id = product.product_id AND barcode.is_main
"""


@pytest.fixture(scope="module")
def known(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    """Three slips of prices are held, a store is paused, an order is picked; what the platform rejects is the sample's own."""
    chain = Chain(installation, tmp_path_factory.mktemp("user"))
    with sending_paused(installation):
        (rejected, *_) = chain.document("rejections", "list", "--vendor", "store-001")["rejections"]
        product, order = _product(chain, "store-001"), _order(chain, "store-001")
        chain.document("pause", PAUSED, "--reason", "stocktaking", "--user", "ada")
        chain.document("alerts", "watch")
        held, declined, approved = (_hold(chain, vendor) for vendor in ("store-002", "store-003", "store-005"))
        yield Known(
            user=installation.user,
            held=held,
            declined=declined,
            approved=approved,
            paused=PAUSED,
            paused_by="ada",
            paused_why="stocktaking",
            alert=f"sending is paused (store {PAUSED})",
            rejecting="store-001",
            reason=rejected["reason"],
            rejected_sku=rejected["sku"],
            columns=("vendor", "sku", "name", "barcode", "price"),
            product=product,
            managed=MANAGED,
            order=order,
        )
        chain.run("resume", MANAGED)
        chain.tidy()


@pytest.fixture(scope="module")
def person(
    installation: Installation,
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Person]:
    """The administrator, who opens shelfsync in Airflow's navigation."""
    with logged_in(installation, browser) as page:

        def first() -> Frame:
            page.goto("/plugin/shelfsync")
            page.frame_locator("iframe").get_by_role("heading", name="Overview").wait_for()
            (frame,) = [one for one in page.frames if one != page.main_frame]
            return frame

        yield Person(first, tmp_path_factory.mktemp("downloads"))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_a_stranger_gets_it_done_by_what_is_visible(
    person: Person, known: Known, scenario: Callable[[Person, Known], None]
) -> None:
    scenario(person, known)
    person.reads_no_code()


def _hold(chain: Chain, vendor: str) -> Hold:
    number = chain.hold(vendor)
    found = chain.document("holds", "show", number)
    (row,) = found["rows_shown"]
    return Hold(
        number=int(number),
        vendor=vendor,
        run=found["first_run_id"],
        sku=row["sku"],
        before=_as_read(row["price_before"]),
        after=_as_read(row["price"]),
    )


def _product(chain: Chain, vendor: str) -> Product:
    """One that the platform has acknowledged and an export has shown."""
    chain.document("export", "--vendor", vendor)
    called = {row["sku"]: (row["barcode"], row["name"]) for row in chain.installation.erp(CALLED)}
    while (goods := chain.goods(vendor))["sku"] not in called:
        pass
    return Product(vendor, goods["sku"], called[goods["sku"]], _as_read(goods["price"]))


def _order(chain: Chain, vendor: str) -> Order:
    number = chain.order(vendor)
    chain.document("orders", "fulfil", number, "--as-ordered")
    found: dict[str, Any] = chain.document("orders", "show", number)
    lines = tuple((line["sku"], _as_read(line["total_price"])) for line in found["lines"])
    return Order(found["order_code"] or number, lines, _as_read(found["order_total"]))


def _as_read(price: Any) -> str:
    """Every digit that it has, and at least two."""
    exact = Decimal(price).normalize()
    exponent = exact.as_tuple().exponent
    return f"{exact:.{max(2, -exponent if isinstance(exponent, int) else 0)}f}"
