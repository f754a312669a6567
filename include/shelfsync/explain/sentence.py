"""The whole explanation in one sentence or two: what is shown, since when, why, and what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.explain.event import Desired, Shown, Values, plain

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence


def sentence(
    *,
    acknowledged: Shown | None,
    observed: Shown | None,
    desired: Desired | None,
    waits_for: Sequence[str],
    now: dt.datetime,
) -> str:
    """For a person. What was observed after the last acknowledgement is believed before it."""
    shown = _believed(acknowledged, observed)
    said = f"{_shows(shown, acknowledged, now)} {_next(shown, desired, waits_for, now)}"
    if desired is not None and desired.restored is not None:
        said += f" What is wanted is not the ERP's word now: {desired.restored}."
    return said


def _believed(acknowledged: Shown | None, observed: Shown | None) -> Shown | None:
    if acknowledged is None or observed is None:
        return acknowledged or observed
    if observed.since <= acknowledged.since or _same(observed.values, acknowledged.values):
        return acknowledged
    return observed


def _shows(shown: Shown | None, acknowledged: Shown | None, now: dt.datetime) -> str:
    if shown is None:
        return "The platform never acknowledged this SKU, and no export has shown it."
    said = f"It shows {_glance(shown.values)} since {when(shown.since, now)}, because {shown.because}."
    if acknowledged is not None and shown is not acknowledged:
        said += f" That is not what was acknowledged: {_glance(acknowledged.values)} at {when(acknowledged.since, now)}, as {acknowledged.because}."
    return said


def _next(shown: Shown | None, desired: Desired | None, waits_for: Sequence[str], now: dt.datetime) -> str:
    if desired is None:
        return "No extract had this vendor by then."
    read = f"as read at {when(desired.read_at, now)} by run {desired.run_id}"
    if desired.set_aside is not None:
        return (
            f"The ERP's row was set aside, {read}: {desired.set_aside}; what is shown stays until the row is corrected."
        )
    if _in_step(shown, desired):
        late = f" Nothing newer is known until {waits_for[0]}." if waits_for else ""
        return f"The ERP {'says the same' if desired.values else 'does not have it'}, {read}.{late}"
    if desired.values is None:
        goal, wanted = "be off sale", "has lost it"
    else:
        goal, wanted = f"show {_glance(desired.values, shown)}", f"says {desired.values}"
    obstacle = waits_for[0] if waits_for else "the next run has sent it"
    return f"The ERP {wanted}, {read}; it will {goal} when {obstacle}."


def _in_step(shown: Shown | None, desired: Desired) -> bool:
    if shown is None:
        return False
    return shown.values.active is False if desired.values is None else _covers(shown.values, desired.values)


def _glance(values: Values, beside: Shown | None = None) -> str:
    """The price, and whether it is on sale where that is the news."""
    price = None if values.price is None else plain(values.price)
    before = None if beside is None else beside.values.active
    if values.active is False:
        return f"{price}, off sale" if price else "off sale"
    if beside is not None and before is not True and values.active:
        return f"{price}, on sale" if price else "on sale"
    return price or str(values)


def _same(one: Values, other: Values) -> bool:
    """In what both speak of; nobody can see a quantity."""
    pairs = ((one.price, other.price), (one.active, other.active), (one.max_sales_quantity, other.max_sales_quantity))
    return all(a == b for a, b in pairs if a is not None and b is not None)


def _covers(shown: Values, wanted: Values) -> bool:
    """Whether nothing that is wanted is missing from what is shown."""
    pairs = ((shown.price, wanted.price), (shown.active, wanted.active))
    return all(a == b for a, b in pairs if b is not None) and wanted.max_sales_quantity in {
        None,
        shown.max_sales_quantity,
    }


def when(instant: dt.datetime, now: dt.datetime) -> str:
    """The time of day, with the date where it is not today's; UTC."""
    return f"{instant:%H:%M:%S}" if instant.date() == now.date() else f"{instant:%Y-%m-%d %H:%M:%S}"
