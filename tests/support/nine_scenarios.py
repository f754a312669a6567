"""Nine scenarios of people in front of the pages: operations, a buyer, the manager of a store.

They use what is visible alone. A stranger's questions (which stores are wrong, why, since when, who decided) take two clicks at most from the first page.
What a test knows of the chain from elsewhere is a `Chain`; the pages have to show the same.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from playwright.sync_api import expect
from python_calamine import CalamineWorkbook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Frame, Locator

MOST_CLICKS = 2
INSTANT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \w+"


@dataclass(frozen=True)
class Hold:
    """A hold that waits for a person, made by run `run`, and one of its products: its prices as a person reads them."""

    number: int
    vendor: str
    run: int
    sku: str
    before: str
    after: str


@dataclass(frozen=True)
class Product:
    """A product that customers see. `texts`: what a person knows of it, such as its barcode and its name; `price`: as a person reads it."""

    vendor: str
    sku: str
    texts: tuple[str, ...]
    price: str


@dataclass(frozen=True)
class Order:
    """`number`: as the list has it; `lines`: SKU and price of each; prices as a person reads them."""

    number: str
    lines: tuple[tuple[str, str], ...]
    total: str


@dataclass(frozen=True)
class Chain:
    """What a test knows. The three holds may be one; `columns`: the first ones of the ERP, by its own names."""

    user: str
    held: Hold
    declined: Hold
    approved: Hold
    paused: str
    paused_by: str
    paused_why: str
    alert: str
    rejecting: str
    reason: str
    rejected_sku: str
    columns: tuple[str, ...]
    product: Product
    managed: str
    order: Order


@dataclass
class Person:
    """Someone in front of a browser. `open_first` opens the first page and returns the frame that has the pages."""

    open_first: Callable[[], Frame]
    folder: Path
    clicks: int = 0
    frame: Frame = field(init=False)

    def begin(self) -> None:
        """Looks at the first page, and has clicked nothing."""
        self.frame = self.open_first()
        self.clicks = 0

    def click(self, what: Locator) -> None:
        self.reads_no_code()
        what.click()
        self.clicks += 1

    def reads_no_code(self) -> None:
        """No word of the page before the person is a program's, such as the name of a setting or a state of the platform's interface."""
        words = re.findall(r".*\b[A-Z]+_[A-Z_]+\b.*", self.main.inner_text())
        assert words == [], words

    def go(self, name: str) -> None:
        """Through the menu."""
        self.click(self.frame.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True))

    def press(self, name: str, **fields: str) -> None:
        """Fills in the form that has this button, and presses it."""
        form = self.frame.locator("form").filter(has=self.frame.get_by_role("button", name=name, exact=True))
        for label, text in fields.items():
            form.get_by_label(label).fill(text)
        self.click(form.get_by_role("button", name=name, exact=True))

    def save(self, link: Locator) -> Path:
        """Follows a link to a file."""
        with self.frame.page.expect_download() as found:
            self.click(link)
        file = self.folder / found.value.suggested_filename
        found.value.save_as(file)
        return file

    @property
    def main(self) -> Locator:
        return self.frame.get_by_role("main")

    def link(self, name: str) -> Locator:
        return self.main.get_by_role("link", name=name, exact=True)

    def number(self, number: int) -> Locator:
        """The link of a row to what has this number."""
        return self.main.get_by_role("cell").get_by_role("link", name=str(number), exact=True)

    def row(self, *texts: str) -> Locator:
        """The first row of a table with all of these texts."""
        found = self.main.get_by_role("row")
        for text in texts:
            found = found.filter(has_text=text)
        return found.first

    def item(self, text: str) -> Locator:
        """The first item of a list with this text."""
        return self.main.get_by_role("listitem").filter(has_text=text).first

    def tile(self, vendor: str) -> Locator:
        """Of a store, on the first page."""
        name = self.frame.get_by_role("heading", name=vendor)
        return self.main.get_by_role("listitem").filter(has=name)

    def value(self, term: str) -> Locator:
        """What stands beside a term."""
        found = self.main.get_by_role("term").filter(has_text=re.compile(f"^{term}$"))
        return found.locator("xpath=following-sibling::*[1]").first


def operations_see_which_stores_are_wrong_and_why(person: Person, chain: Chain) -> None:
    person.begin()
    expect(person.tile(chain.held.vendor)).to_contain_text("held")
    expect(person.tile(chain.paused)).to_contain_text("paused")
    expect(person.item("for you")).to_contain_text(re.compile(r"\d+ changes of \d+ stores? \(rule .+\)"))
    banner = person.main.get_by_role("alert").filter(has_text="PAUSED").first
    expect(banner).to_contain_text(f"{chain.paused} is paused by {chain.paused_by}")
    expect(banner).to_contain_text(chain.paused_why)
    rejected = person.tile(chain.rejecting).get_by_text("rejected", exact=True)
    person.click(rejected.locator("xpath=following-sibling::*[1]").get_by_role("link"))
    expect(person.row(chain.reason)).to_contain_text(re.compile(f"{INSTANT}.+"))
    assert person.clicks <= MOST_CLICKS


def operations_see_since_when_and_what_happens_by_itself(person: Person, chain: Chain) -> None:
    person.begin()
    banner = person.main.get_by_role("alert").filter(has_text="PAUSED").first
    expect(banner).to_contain_text(re.compile(f"since {INSTANT}"))
    expect(person.tile(chain.paused)).to_contain_text("Nothing is sent to this store until a person resumes it")
    expect(person.tile(chain.held.vendor)).to_contain_text("keep their values until a person decides")
    person.click(person.item("for you").get_by_role("link", name="Decide"))
    row = person.row(chain.held.vendor, "open")
    expect(row).to_contain_text(re.compile(INSTANT))
    person.click(row.get_by_role("link", name=str(chain.held.number), exact=True))
    expect(person.main).to_contain_text(re.compile(f"held since {INSTANT}"))
    expect(person.main).to_contain_text(re.compile(f"it expires at {INSTANT}"))
    row = person.row(chain.held.sku)
    expect(row).to_contain_text(chain.held.before)
    expect(row).to_contain_text(chain.held.after)
    assert person.clicks <= MOST_CLICKS


def operations_see_who_decided_and_why(person: Person, chain: Chain) -> None:
    person.begin()
    person.go("Holds")
    person.click(person.number(chain.declined.number))
    person.press("Decline: keep them held", reason="the price list was wrong")
    person.begin()
    person.go("Holds")
    expect(person.row(chain.declined.vendor, "declined")).to_contain_text(re.compile(f"{chain.user} {INSTANT}"))
    person.click(person.number(chain.declined.number))
    decision = person.row("the price list was wrong")
    expect(decision).to_contain_text(re.compile(INSTANT))
    expect(decision).to_contain_text(chain.user)
    assert person.clicks <= MOST_CLICKS


def a_buyer_finds_a_product_and_reads_its_price_everywhere(person: Person, chain: Chain) -> None:
    product = chain.product
    for text in product.texts:
        person.begin()
        person.press("Find a product", **{"code, barcode or name": text})
        person.click(person.row(product.sku).get_by_role("link", name=product.vendor))
        assert person.clicks <= MOST_CLICKS
        for term in ("ERP", "acknowledged", "observed"):
            expect(person.value(term)).to_contain_text(f"price {product.price}")
        person.click(person.main.get_by_text("Numbers", exact=True))
        for curve in ("ERP", "sent", "acknowledged", "observed"):
            row = person.main.get_by_role("row").filter(has=person.frame.get_by_role("cell", name=curve, exact=True))
            expect(row.first).to_contain_text(product.price)


def a_buyer_approves_a_hold_having_seen_the_largest_moves(person: Person, chain: Chain) -> None:
    hold = chain.approved
    person.begin()
    person.click(person.item("for you").get_by_role("link", name="Decide"))
    person.click(person.number(hold.number))
    expect(person.main.get_by_role("navigation", name="Sorted by").locator("[aria-current]")).to_have_text(
        "largest move"
    )
    first = person.main.get_by_role("row").filter(has_text="%").first
    expect(first).to_contain_text(hold.after)
    assert person.clicks <= MOST_CLICKS
    person.press("Approve: show what it will do", reason="the new price list")
    expect(person.item("up")).to_contain_text(re.compile(r"\d+ rows?: \d+ prices? up"))
    expect(person.main).to_contain_text("the new price list")
    person.press("Yes, send these values")
    expect(person.row("the new price list")).to_contain_text("approved")


def a_buyer_works_through_rejections_in_a_file(person: Person, chain: Chain) -> None:
    person.begin()
    person.go("Rejections")
    person.click(person.row(chain.reason).get_by_role("link", name=chain.reason, exact=True))
    assert person.clicks <= MOST_CLICKS
    expect(person.row(chain.rejecting, chain.rejected_sku)).to_be_visible()
    workbook = CalamineWorkbook.from_path(person.save(person.link("as XLSX"))).get_sheet_by_index(0).to_python()
    table = list(csv.reader(io.StringIO(person.save(person.link("All of them as CSV")).read_text("utf-8-sig"))))
    for head, *rows in (workbook, table):
        assert tuple(head[: len(chain.columns)]) == chain.columns
        assert {"field", "value", "code", "reason", "action"} <= {*head}
        assert [chain.rejecting, chain.rejected_sku] in [row[:2] for row in rows]
        assert {row[head.index("reason")] for row in rows} == {chain.reason}
        assert all(row[head.index("action")] for row in rows)


def the_manager_of_a_store_pauses_and_resumes_it(person: Person, chain: Chain) -> None:
    person.begin()
    person.click(person.tile(chain.managed).get_by_role("link", name=chain.managed))
    person.press("Pause this store", reason="the scales are broken")
    assert person.clicks <= MOST_CLICKS
    expect(person.main.get_by_role("heading", name="Now")).to_contain_text("paused")
    expect(person.main.get_by_role("alert").first).to_contain_text(
        re.compile(f"paused by {chain.user} since {INSTANT}: the scales are broken")
    )
    person.begin()
    expect(person.tile(chain.managed)).to_contain_text("paused")
    person.click(person.tile(chain.managed).get_by_role("link", name=chain.managed))
    person.press("Resume this store", reason="they are repaired")
    expect(person.main.get_by_role("heading", name="Now")).not_to_contain_text("paused")
    expect(person.item("they are repaired")).to_contain_text(chain.user)


def the_manager_of_a_store_reads_an_order_with_its_amounts(person: Person, chain: Chain) -> None:
    person.begin()
    person.go("Orders")
    person.click(person.link(chain.order.number))
    assert person.clicks <= MOST_CLICKS
    expect(person.main).to_contain_text(f"total {chain.order.total}")
    for sku, price in chain.order.lines:
        expect(person.row(sku)).to_contain_text(price)


def operations_follow_a_run_and_take_on_an_alert(person: Person, chain: Chain) -> None:
    person.begin()
    person.click(person.number(chain.held.run))
    row = person.main.get_by_role("row").filter(has=person.frame.get_by_role("cell", name="held", exact=True)).first
    number = int(row.get_by_role("cell").last.inner_text())
    head, *rows = csv.reader(io.StringIO(person.save(row.get_by_role("link")).read_text("utf-8-sig")))
    assert person.clicks <= MOST_CLICKS
    assert len(rows) == number
    assert chain.held.sku in {row[head.index("sku")] for row in rows}
    person.begin()
    alert = person.item(chain.alert)
    expect(alert).to_contain_text(re.compile(f"since {INSTANT}"))
    person.click(alert.get_by_role("button", name="Take it on"))
    expect(person.row("taken on by")).to_contain_text(chain.user)
    person.begin()
    expect(person.item(chain.alert)).to_contain_text(f"Taken on by {chain.user}")


SCENARIOS = (
    operations_see_which_stores_are_wrong_and_why,
    operations_see_since_when_and_what_happens_by_itself,
    operations_see_who_decided_and_why,
    a_buyer_finds_a_product_and_reads_its_price_everywhere,
    a_buyer_approves_a_hold_having_seen_the_largest_moves,
    a_buyer_works_through_rejections_in_a_file,
    the_manager_of_a_store_pauses_and_resumes_it,
    the_manager_of_a_store_reads_an_order_with_its_amounts,
    operations_follow_a_run_and_take_on_an_alert,
)
