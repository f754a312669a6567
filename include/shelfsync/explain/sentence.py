"""The whole explanation in one sentence or two: what is shown, since when, why, and what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.explain.event import Desired, Shown, Values, plain

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence


_NOT_KEPT = "What it showed then is not known: nothing from before {:%Y-%m-%d} is kept."


def sentence(
    *,
    acknowledged: Shown | None,
    observed: Shown | None,
    desired: Desired | None,
    waits_for: Sequence[str],
    now: dt.datetime,
    kept_from: dt.datetime | None = None,
) -> str:
    """For a person. What was observed after the last acknowledgement is believed before it; before `kept_from` nobody knows of any."""
    shown = _believed(acknowledged, observed)
    before = kept_from is not None and now < kept_from and shown is None
    shows = _NOT_KEPT.format(kept_from) if before else _shows(shown, acknowledged, observed, now)
    return f"{shows} {_next(shown, acknowledged, desired, waits_for, now)}"


def _believed(acknowledged: Shown | None, observed: Shown | None) -> Shown | None:
    """A picture as old as an acknowledgement is the very one that moved it, so where that is in doubt the picture is what is known."""
    if acknowledged is None or observed is None:
        return acknowledged or observed
    if observed.since < acknowledged.since:
        return acknowledged
    if observed.absent or acknowledged.in_doubt:
        return observed
    agree = observed.since == acknowledged.since or _same(observed.values, acknowledged.values)
    return acknowledged if agree else observed


def _shows(shown: Shown | None, acknowledged: Shown | None, observed: Shown | None, now: dt.datetime) -> str:
    if shown is None:
        return "The platform never acknowledged this SKU, and no export has shown it."
    at = _since(shown, now)
    if shown.absent:
        said = f"The platform does not show it as of {at}, because {shown.because}."
        if acknowledged is None:
            return f"{said} It never acknowledged this SKU."
    elif shown.in_doubt:
        return f"{_unknown(shown)} not known since {at}, because {shown.because}.{_last_seen(observed, now)}"
    else:
        said = f"It shows {_glance(shown.values)} since {at}, because {shown.because}{_seen_by(shown, now)}."
    if acknowledged is None or shown is acknowledged:
        return said
    then = _since(acknowledged, now)
    if acknowledged.in_doubt:
        return f"{said} What was acknowledged counts as unknown since {then}: {acknowledged.because}."
    return f"{said} That is not what was acknowledged: {_glance(acknowledged.values)} since {then}, because {acknowledged.because}."


def _seen_by(shown: Shown, now: dt.datetime) -> str:
    """While a change is on its way to the app: when it has arrived there."""
    if shown.seen_by is None or shown.seen_by <= now:
        return ""
    return f"; customers see it by {when(shown.seen_by, now)} at the latest"


def _since(shown: Shown, now: dt.datetime) -> str:
    return ("before " if shown.earlier else "") + when(shown.since, now)


def _unknown(shown: Shown) -> str:
    if shown.in_doubt == ("price",):
        return "Its price is"
    return "Whether it is on sale is" if shown.in_doubt == ("active",) else "What it shows is"


def _last_seen(observed: Shown | None, now: dt.datetime) -> str:
    """What a picture from before the doubt showed, as the best that is known."""
    if observed is None:
        return ""
    what = "did not have it" if observed.absent else f"showed {_glance(observed.values)}"
    return f" The picture asked for at {when(observed.since, now)}, before that, {what}."


def _next(
    shown: Shown | None, acknowledged: Shown | None, desired: Desired | None, waits_for: Sequence[str], now: dt.datetime
) -> str:
    if desired is None:
        return "No extract had this vendor by then."
    read = f"as read at {when(desired.read_at, now)} by run {desired.run_id}"
    if desired.restored is not None:
        return _kept(shown, acknowledged, desired, waits_for, read)
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
    obstacle = waits_for[0] if waits_for else _unless_held_up(shown, acknowledged, desired)
    return f"The ERP {wanted}, {read}; it will {goal} when {obstacle}."


def _kept(
    shown: Shown | None, acknowledged: Shown | None, desired: Desired, waits_for: Sequence[str], read: str
) -> str:
    """While a restoration is in force: what it wants, by whose order, and what the ERP says meanwhile."""
    if desired.set_aside is not None:
        erp = f"The ERP's row was set aside, {read}: {desired.set_aside}"
    else:
        erp = f"The ERP {'does not have it' if desired.erp is None else f'says {desired.erp}'}, {read}"
    erp = f"{erp}; it counts again when the restoration ends."
    if _in_step(shown, desired):
        late = f" Nothing newer is known until {waits_for[0]}." if waits_for else ""
        return f"A restoration keeps it so, whatever the ERP says: {desired.restored}. {erp}{late}"
    goal = "be off sale" if desired.values is None else f"show {_glance(desired.values, shown)}"
    obstacle = waits_for[0] if waits_for else _unless_held_up(shown, acknowledged, desired)
    return (
        f"A restoration wants {desired.values}, whatever the ERP says; it will {goal} when {obstacle}."
        f" The restoration: {desired.restored}. {erp}"
    )


def _unless_held_up(shown: Shown | None, acknowledged: Shown | None, desired: Desired) -> str:
    """What brings a wanted value when nothing is in the way. A delta says nothing that it takes for acknowledged."""
    if shown is not acknowledged and _in_step(acknowledged, desired):
        return "the platform does what it acknowledged, or a full sync or a healing says it again"
    missing = shown is not None and shown.absent
    return "the next run has sent it and the platform takes it" if missing else "the next run has sent it"


def _in_step(shown: Shown | None, desired: Desired) -> bool:
    if shown is None or shown.in_doubt:
        return False
    if shown.absent:
        return desired.values is None
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
