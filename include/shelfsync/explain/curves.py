"""The price and the availability of one SKU over time, as the ERP had them, shelfsync sent them, and the platform and its customers had them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.promotions.warehouse.customer_price import OUTCOMES_OF_PROMOTIONS, price_at

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator
    from decimal import Decimal

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.explain.explanation import Explanation

MOST = 100
"""Steps of a curve, the newest ones."""
CUSTOMER_MOST = 20
"""The same of what customers pay: each asks for all promotions of the SKU."""

_SENT = """
SELECT coalesce(job.read_at, job.sent_at) AS read_at, job.sent_at, outcome.price, outcome.active,
    EXISTS (
        SELECT FROM ledger.vendor_run AS vr
        WHERE vr.run_id = job.run_id AND vr.vendor = :vendor AND vr.restorations IS NOT NULL
    ) AS restored
FROM warehouse.sku_outcome AS outcome JOIN warehouse.catalog_job AS job USING (job_id)
WHERE outcome.vendor = :vendor AND outcome.sku = :sku AND outcome.known_at <= :at
ORDER BY outcome.known_at DESC, outcome.job_id DESC LIMIT :most
"""
_ACKNOWLEDGED = """
SELECT valid_from AS at, price, active FROM warehouse.baseline_history
WHERE vendor = :vendor AND sku = :sku AND valid_from <= :at ORDER BY version DESC LIMIT :most
"""
_OBSERVED = """
SELECT valid_from, valid_to, price, active FROM warehouse.assortment_history
WHERE vendor = :vendor AND sku = :sku AND valid_from <= :at ORDER BY valid_from DESC LIMIT :most
"""
_PROMOTED = f"SELECT p.start_time, p.end_time, p.ended_at, o.known_at {OUTCOMES_OF_PROMOTIONS} ORDER BY o.known_at DESC LIMIT :most"


@dataclass(frozen=True)
class Step:
    """From `at` on: the price, and whether it is on sale; None: unknown, or not there."""

    at: dt.datetime
    price: Decimal | None
    active: bool | None


@dataclass(frozen=True)
class Curve:
    """Steps in order of time; the last one holds until the end of the chart."""

    name: str
    steps: tuple[Step, ...]


def curves(context: Context, found: Explanation) -> list[Curve]:
    """ERP, sent, acknowledged, observed and customer, up to the instant of the explanation; a curve without a step is left out.

    The ERP's steps are the readings whose values were sent or held, but for restored ones, and the newest one. Customers have a curve of their own if a promotion
    has the SKU; without one they pay what is acknowledged.
    """
    given = {"vendor": found.vendor, "sku": found.sku, "at": found.at, "most": MOST}
    with context.engine.connect() as connection:
        sent = list(reversed(connection.execute(sa.text(_SENT), given).all()))
        acknowledged = [Step(*row) for row in reversed(connection.execute(sa.text(_ACKNOWLEDGED), given).all())]
        observed = list(reversed(connection.execute(sa.text(_OBSERVED), given).all()))
        paid = _paid(connection, given, [step.at for step in acknowledged])
    erp = [Step(row.read_at, row.price, row.active) for row in sent if not row.restored]
    erp += [Step(event.at, event.values.price, event.values.active) for event in found.events if event.step == "guard"]
    if found.desired is not None:
        now = found.desired.erp if found.desired.restored else found.desired.values
        erp = [step for step in erp if step.at < found.desired.read_at]
        erp = [
            *_carried(erp),
            Step(found.desired.read_at, None if now is None else now.price, None if now is None else now.active),
        ]
    every = {
        "ERP": erp if found.desired is not None else _carried(erp),
        "sent": _carried(Step(row.sent_at, row.price, row.active) for row in sent),
        "acknowledged": acknowledged,
        "observed": list(_shown(observed, found.at)),
        "customer": paid,
    }
    return [Curve(name, tuple(_without_repeats(steps))) for name, steps in every.items() if steps]


def _carried(steps: Iterable[Step]) -> list[Step]:
    """A value that was not sent stays as it was."""
    found: list[Step] = []
    for step in sorted(steps, key=lambda one: one.at):
        before = found[-1] if found else Step(step.at, None, None)
        price = before.price if step.price is None else step.price
        found.append(Step(step.at, price, before.active if step.active is None else step.active))
    return found


def _shown(rows: Iterable[Any], until: dt.datetime) -> Iterator[Step]:
    """The spans of the assortment history, and what is between them: then the platform did not show the SKU."""
    ended = None
    for row in rows:
        if ended is not None and ended < row.valid_from:
            yield Step(ended, None, None)
        yield Step(row.valid_from, row.price, row.active)
        ended = row.valid_to
    if ended is not None and ended <= until:
        yield Step(ended, None, None)


def _paid(connection: Connection, given: dict[str, Any], moved: list[dt.datetime]) -> list[Step]:
    """What customers paid at each instant at which the base price or a promotion changed; nothing if no promotion has the SKU."""
    rows = connection.execute(sa.text(_PROMOTED), given).all()
    if not rows:
        return []
    turns = {moment for row in rows for moment in row if moment is not None} | {*moved}
    at = sorted(moment for moment in turns if moment <= given["at"])[-CUSTOMER_MOST:]
    prices = [(moment, price_at(connection, given["vendor"], given["sku"], moment)) for moment in at]
    return [Step(moment, one.price, one.active) for moment, one in prices]


def _without_repeats(steps: Iterable[Step]) -> Iterator[Step]:
    before = None
    for step in steps:
        if before is None or (step.price, step.active) != (before.price, before.active):
            yield step
        before = step
