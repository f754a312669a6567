"""Everything that is known about a SKU at an instant, and its summary: what the platform shows, since when, why, and what comes next."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from shelfsync import display
from shelfsync.errors import ABSENT_PAGE

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from decimal import Decimal

    from shelfsync.promotions.warehouse.customer_price import CustomerPrice

_NOT_KEPT = "What the platform showed then is unknown: nothing from before {} is kept."


@dataclass(frozen=True)
class Values:
    """The values of a SKU; null: not given or unknown."""

    price: Decimal | None = None
    quantity: int | None = None
    active: bool | None = None
    max_sales_quantity: int | None = None

    def __str__(self) -> str:
        availability = {True: "on sale", False: "off sale", None: None}
        parts = (
            None if self.price is None else f"price {display.price(self.price)}",
            availability[self.active],
            None if self.quantity is None else f"quantity {self.quantity}",
            None if self.max_sales_quantity is None else f"at most {self.max_sales_quantity} an order",
        )
        return ", ".join(part for part in parts if part) or "nothing"


@dataclass(frozen=True)
class Event:
    """One line of a timeline. `step` is the step that wrote it; `message` is for people."""

    at: dt.datetime
    step: str
    message: str
    run_id: int | None = None
    job_id: int | None = None
    values: Values = field(default_factory=Values)


@dataclass(frozen=True)
class Shown:
    """What the platform shows: acknowledged by a job, or observed in an export or a listing."""

    values: Values
    since: dt.datetime
    because: str
    absent: bool = False
    """The export or listing does not have the SKU."""
    seen_by: dt.datetime | None = None
    """When the change has reached every customer at the latest; null: unknown, or no change."""
    unconfirmed: tuple[str, ...] = ()
    """Of price and active, those that are unknown from `since` on, for the reason `because`."""
    earlier: bool = False
    """It began before `since`; the history that is kept does not show when."""


@dataclass(frozen=True)
class Unproven:
    """The extract is not proven complete, so a SKU that it does not have may be in the ERP."""

    proof: str
    """Why it is not proven, and the setting that changes this."""
    since: dt.datetime | None
    """When the first extract without the SKU was read; null: unknown."""


@dataclass(frozen=True)
class Desired:
    """The wanted values, by the newest extract; `values` null: the extract has no usable row of the SKU (quarantined or missing)."""

    run_id: int
    read_at: dt.datetime
    values: Values | None
    quarantined: str | None = None
    """Why the ERP's row is in quarantine."""
    left_out: str | None = None
    """Which faulty values of the ERP's row are left out, and why."""
    restored: str | None = None
    """The restoration that these values come from, with its user, reason and end; null: they are the ERP's."""
    erp: Values | None = None
    """If the values come from a restoration: the ERP's values meanwhile; null: the ERP does not have the SKU."""
    again: bool = False
    """The newest extract has the same rows of the vendor as the run before."""
    unproven: Unproven | None = None
    """If the extract does not have the SKU: why its absence is not believed; null: it is."""


@dataclass(frozen=True)
class Explanation:
    """Everything about one SKU at one instant. `waits_for` is empty if no change is pending.

    `paid`: what customers pay and every promotion of the SKU; None without a promotion. `promotions_wait`: why a promotion of the ERP is
    not, or not yet, what customers see. `restorations`: those of the SKU that are in force, each as a sentence. `name`: what the ERP calls the product, if it has said so.
    """

    vendor: str
    sku: str
    at: dt.datetime
    sentence: str
    desired: Desired | None
    acknowledged: Shown | None
    observed: Shown | None
    waits_for: tuple[str, ...]
    events: tuple[Event, ...]
    paid: CustomerPrice | None = None
    promotions_wait: tuple[str, ...] = ()
    restorations: tuple[str, ...] = ()
    name: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """For a script: JSON with `default=str`."""
        return asdict(self)


def sentence(
    *,
    acknowledged: Shown | None,
    observed: Shown | None,
    desired: Desired | None,
    waits_for: Sequence[str],
    now: dt.datetime,
    kept_from: dt.datetime | None = None,
) -> str:
    """Text for people. An observation after the last acknowledgement counts before it. Nothing is known of the time before `kept_from`."""
    shown = _newest(acknowledged, observed)
    before = kept_from is not None and now < kept_from and shown is None
    shows = (
        _NOT_KEPT.format(display.minute(kept_from))
        if before and kept_from
        else _shows(shown, acknowledged, observed, now)
    )
    return f"{shows} {_next(shown, acknowledged, desired, waits_for, now)}"


def _newest(acknowledged: Shown | None, observed: Shown | None) -> Shown | None:
    """The newer of both. An observation as old as an acknowledgement caused it; if that one is unconfirmed, the observation counts."""
    if acknowledged is None or observed is None:
        return acknowledged or observed
    if observed.since < acknowledged.since:
        return acknowledged
    if observed.absent or acknowledged.unconfirmed:
        return observed
    agree = observed.since == acknowledged.since or _same(observed.values, acknowledged.values)
    return acknowledged if agree else observed


def _shows(shown: Shown | None, acknowledged: Shown | None, observed: Shown | None, now: dt.datetime) -> str:
    if shown is None:
        return "The platform never acknowledged this SKU, and no export has shown it."
    at = _since(shown, now)
    if shown.absent:
        line = f"The platform does not show it as of {at}: {shown.because}."
        if acknowledged is None:
            return f"{line} The platform never acknowledged this SKU."
    elif shown.unconfirmed:
        return f"{_unknown(shown)} unknown since {at}: {shown.because}.{_last_seen(observed, now)}"
    else:
        line = f"{_line(shown, at)}: {shown.because}.{_seen_by(shown, now)}"
    if acknowledged is None or shown is acknowledged:
        return line
    then = _since(acknowledged, now)
    if acknowledged.unconfirmed:
        return f"{line} The acknowledged value is unknown since {then}: {acknowledged.because}."
    another = "" if shown.absent else "another value, "
    return f"{line} It acknowledged {another}{_glance(acknowledged.values)}, since {then}: {acknowledged.because}."


def _line(shown: Shown, at: str) -> str:
    """What a job brought is acknowledged before customers see it; what was observed is what customers see."""
    if shown.seen_by is None:
        return f"The platform shows {_glance(shown.values)} since {at}"
    return f"The platform acknowledged {_glance(shown.values)} at {at}"


def _seen_by(shown: Shown, now: dt.datetime) -> str:
    """When customers see an acknowledged change at the latest; empty for what was observed."""
    if shown.seen_by is None:
        return ""
    return f" Customers see it {'by' if shown.seen_by > now else 'since'} {display.time(shown.seen_by, now)} at the latest."


def _since(shown: Shown, now: dt.datetime) -> str:
    return ("before " if shown.earlier else "") + display.time(shown.since, now)


def _unknown(shown: Shown) -> str:
    if shown.unconfirmed == ("price",):
        return "Its price is"
    return "Its availability is" if shown.unconfirmed == ("active",) else "What the platform shows is"


def _last_seen(observed: Shown | None, now: dt.datetime) -> str:
    """What the last observation before that showed."""
    if observed is None:
        return ""
    result = "did not have it" if observed.absent else f"showed {_glance(observed.values)}"
    return f" The last observation before that, requested at {display.time(observed.since, now)}, {result}."


def _next(
    shown: Shown | None, acknowledged: Shown | None, desired: Desired | None, waits_for: Sequence[str], now: dt.datetime
) -> str:
    if desired is None:
        return "No extract had this store by then."
    same = ", the same as in the run before" if desired.again else ""
    read = f"(read {'again ' if desired.again else ''}at {display.time(desired.read_at, now)} by run {desired.run_id}{same})"
    if desired.restored is not None:
        return _restored(shown, acknowledged, desired, waits_for, read)
    if desired.quarantined is not None:
        return (
            f"The ERP's row is quarantined {read}: {desired.quarantined}."
            " The platform keeps what it shows until the row is corrected."
        )
    if desired.values is None and (shown is None or (desired.unproven is not None and not waits_for)):
        return _absent(shown, desired.unproven, read, now)
    left_out = f" Left out of the ERP's row: {desired.left_out}." if desired.left_out else ""
    if _in_step(shown, desired):
        same = "has the same values" if desired.values else "does not have it"
        return f"The ERP {same} {read}.{left_out}{_unread(waits_for)}"
    wanted = "no longer has it" if desired.values is None else f"has {desired.values}"
    return f"The ERP {wanted} {read}.{left_out} {_goal(shown, acknowledged, desired, waits_for)}"


def _absent(shown: Shown | None, unproven: Unproven | None, read: str, now: dt.datetime) -> str:
    """The extract does not have the SKU, and no run takes it off sale: its absence is not believed, or it was never on sale."""
    since = (
        ""
        if unproven is None or unproven.since is None
        else f", and none has had it since {display.time(unproven.since, now)}"
    )
    first = f"The extract does not have it {read}{since}."
    if unproven is None or shown is None or shown.absent or shown.values.active is False:
        return f"{first} shelfsync sends nothing about it."
    return (
        f"{first} It stays on sale: the extract is not proven complete, so an absent SKU may be in the ERP ({unproven.proof})."
        " No run takes it off sale before an extract with a proof does not have it, or the ERP gives its row with active = false:"
        f" {ABSENT_PAGE}."
    )


def _restored(
    shown: Shown | None, acknowledged: Shown | None, desired: Desired, waits_for: Sequence[str], read: str
) -> str:
    """While a restoration is in force: its values, who ordered it, and the ERP's values meanwhile."""
    if desired.quarantined is not None:
        erp = f"The ERP's row is quarantined {read}: {desired.quarantined}."
    else:
        erp = f"The ERP {'does not have it' if desired.erp is None else f'has {desired.erp}'} {read}."
    erp = f"{erp} Its values apply again when the restoration ends."
    if _in_step(shown, desired):
        return f"A restoration keeps these values: {desired.restored}. {erp}{_unread(waits_for)}"
    goal = _goal(shown, acknowledged, desired, waits_for)
    return f"A restoration wants {desired.values}: {desired.restored}. {goal} {erp}"


def _unread(waits_for: Sequence[str]) -> str:
    return f" The next change waits until {waits_for[0]}." if waits_for else ""


def _goal(shown: Shown | None, acknowledged: Shown | None, desired: Desired, waits_for: Sequence[str]) -> str:
    """What the platform will show, and when."""
    if desired.values is None and acknowledged is None and not waits_for:
        return (
            "shelfsync knows of nothing that it sent about it, so no run takes it off sale."
            " Do that in the platform's portal, or let the ERP give its row with active = false."
        )
    goal = "take it off sale" if desired.values is None else f"show {_glance(desired.values, shown)}"
    condition = waits_for[0] if waits_for else _without_obstacle(shown, acknowledged, desired)
    return f"The platform will {goal} when {condition}."


def _without_obstacle(shown: Shown | None, acknowledged: Shown | None, desired: Desired) -> str:
    """What brings a wanted value if there is no obstacle. A delta does not send what counts as acknowledged."""
    if shown is not acknowledged and _in_step(acknowledged, desired):
        return "it applies what it acknowledged, or a full sync or a resend repeats it"
    missing = shown is not None and shown.absent
    return "the next run has sent it and the platform accepts it" if missing else "the next run has sent it"


def _in_step(shown: Shown | None, desired: Desired) -> bool:
    if shown is None or shown.unconfirmed:
        return False
    if shown.absent:
        return desired.values is None
    return shown.values.active is False if desired.values is None else _covers(shown.values, desired.values)


def _glance(values: Values, beside: Shown | None = None) -> str:
    """The price, and the availability if it changes."""
    price = None if values.price is None else display.price(values.price)
    before = None if beside is None else beside.values.active
    if values.active is False:
        return f"{price}, off sale" if price else "off sale"
    if beside is not None and before is not True and values.active:
        return f"{price}, on sale" if price else "on sale"
    return price or str(values)


def _same(first: Values, second: Values) -> bool:
    """Whether the values that both have are equal. The platform shows no quantity."""
    pairs = (
        (first.price, second.price),
        (first.active, second.active),
        (first.max_sales_quantity, second.max_sales_quantity),
    )
    return all(a == b for a, b in pairs if a is not None and b is not None)


def _covers(shown: Values, wanted: Values) -> bool:
    """Whether the shown values have everything that is wanted."""
    pairs = ((shown.price, wanted.price), (shown.active, wanted.active))
    return all(a == b for a, b in pairs if b is not None) and wanted.max_sales_quantity in {
        None,
        shown.max_sales_quantity,
    }


def asked_instant(text: str, time_zone: str) -> dt.datetime:
    """The end of an ISO instant that an operator asks about, in UTC; of the chain's zone where it has no offset. A ValueError names no instant.

    Times are shown in whole seconds. So what was shown to happen at 10:42:24 has happened by 10:42:24.
    """
    read = display.read_instant(text, time_zone)
    return read if read.microsecond else read.replace(microsecond=999_999)
