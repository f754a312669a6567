"""reconcile: every difference between the platform's own picture and what we know gets a cause, or settles a lost confirmation.

The cause is concluded from what was sent and said since the picture before, never from silence: what cannot be told apart is
`unknown`. A value is settled when the last thing sent of it was never answered, and a picture that was asked for after it left
shows exactly that value (I2).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.difference import ABSENT, LISTED, text_of
from shelfsync.columns import BASELINE, DRIFT, FIELDS, SHOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

CAUSES = (
    "never_sent",
    "refused",
    "held",
    "acknowledged_not_applied",
    "changed_on_platform",
    "export_older_than_change",
    "unknown",
)


@dataclass(frozen=True)
class Evidence:
    """What is known beside the three states. `sendings`: SENDING shape, oldest first, of the SKUs in question since the picture before.

    `refused`, `held`: SKU to reason. `desired_is_newer`: the ERP was read after the picture was asked for. `earlier`: the cause of
    each (SKU, field) that already differed in the picture before.
    """

    sendings: pa.Table
    refused: Mapping[str, str] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
    desired_is_newer: bool = False
    earlier: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reconciled:
    """`drift` in DRIFT shape; `settled`: (SKU, field) of values that the picture shows as they were sent and never confirmed."""

    drift: pa.Table
    settled: tuple[tuple[str, str], ...]


def reconcile(found: pa.Table, evidence: Evidence) -> Reconciled:
    """Names the cause of each difference (DIFFERENCE shape)."""
    sent = _by_sku(evidence.sendings)
    rows: list[dict[str, Any]] = []
    settled: list[tuple[str, str]] = []
    for row in found.to_pylist():
        one = _One(row, sent.get(row["sku"], []), evidence)
        if one.confirmed_by_sight:
            settled.append((row["sku"], row["field"]))
        elif one.differs and not one.decided_by_the_platform:
            cause, message = one.cause()
            rows.append({name: row[name] for name in DRIFT.names if name in row} | {"cause": cause, "message": message})
    return Reconciled(pa.Table.from_pylist(rows, schema=DRIFT), tuple(settled))


def healed(baseline: pa.Table, drift: pa.Table) -> pa.Table:
    """The baseline (BASELINE shape) in which what drifted (DRIFT shape) is unknown, so that the next delta says it again.

    A null claims nothing: it is no acknowledgement, and whatever the ERP wants by then is what is sent. `active` takes the quantity
    along, because the platform decides one by the other; a SKU that is not shown is said whole.
    """
    skus = column(baseline, "sku")
    columns = {name: column(baseline, name) for name in BASELINE.names}
    for name in FIELDS:
        because = {"quantity": ["active", "sku"]}.get(name, [name, "sku"])
        mine = drift.filter(pc.is_in(drift["field"], value_set=pa.array(because)))
        lost = pc.is_in(skus, value_set=column(mine, "sku"))
        columns[name] = pc.if_else(lost, pa.scalar(None, columns[name].type), columns[name])
    return pa.Table.from_arrays([columns[name] for name in BASELINE.names], schema=BASELINE)


def settled(baseline: pa.Table, observed: pa.Table, values: tuple[tuple[str, str], ...]) -> pa.Table:
    """The baseline (BASELINE shape) with these (SKU, field) as the picture (OBSERVED shape) shows them."""
    skus = column(baseline, "sku")
    shown = aligned(observed, skus, SHOWN)
    columns = {name: column(baseline, name) for name in BASELINE.names}
    for name in SHOWN:
        mine = pa.array([sku for sku, which in values if which == name], pa.string())
        columns[name] = pc.if_else(pc.is_in(skus, value_set=mine), shown[name], columns[name])
    return pa.Table.from_arrays([columns[name] for name in BASELINE.names], schema=BASELINE)


@dataclass(frozen=True)
class _Sent:
    job: int
    state: str
    late: bool
    says: dict[str, str | None]


class _One:
    """One difference, and what was sent of it."""

    def __init__(self, row: dict[str, Any], sent: list[_Sent], evidence: Evidence) -> None:
        self.sku, self.field = row["sku"], row["field"]
        self.desired, self.acknowledged, self.observed = row["desired"], row["acknowledged"], row["observed"]
        self.previous = row["previous"] if row["pictured"] else None
        self.pictured = row["pictured"]
        self.evidence = evidence
        self.sent = [
            one for one in sent if self.field == "sku" or one.says[self.field] is not None or self._by_quantity(one)
        ]
        self.late = any(one.late for one in self.sent)

    def _by_quantity(self, one: _Sent) -> bool:
        return self.field == "active" and one.says["quantity"] is not None

    def _value(self, one: _Sent) -> str | None:
        return LISTED if self.field == "sku" else one.says[self.field]

    @property
    def differs(self) -> bool:
        """Something is wanted or was acknowledged, and something else is shown."""
        return self._unlike(self.desired) or self._unlike(self.acknowledged)

    def _unlike(self, value: str | None) -> bool:
        return value is not None and value != self.observed

    @property
    def confirmed_by_sight(self) -> bool:
        """Never confirmed, last sent without an answer, and shown as it was sent."""
        if self.acknowledged is not None or self.late or not self.sent or self.field == "sku":
            return False
        last = self.sent[-1]
        return last.state == "unaccounted" and self._value(last) is not None and self._value(last) == self.observed

    @property
    def decided_by_the_platform(self) -> bool:
        """`active` that is what a quantity sent since the picture before made of it."""
        return self.field == "active" and self.desired is None and any(self._by_quantity(one) for one in self.sent)

    def cause(self) -> tuple[str, str]:
        """(cause, the sentence that says why)."""
        if self.late:
            return "export_older_than_change", "a request about it left so late that this picture cannot show it yet"
        refused, held = self.evidence.refused.get(self.sku), self.evidence.held.get(self.sku)
        if self.field == "sku" and refused is not None:
            return "refused", f"the platform refuses it: {refused}"
        if self._unlike(self.acknowledged):
            return self._after_acknowledgement()
        return self._not_acknowledged(refused, held)

    def _not_acknowledged(self, refused: str | None, held: str | None) -> tuple[str, str]:
        """The ERP wants what was never accepted."""
        if self.evidence.desired_is_newer and self.acknowledged is not None:
            return "export_older_than_change", "the ERP changed after this picture was asked for"
        if refused is not None:
            return "refused", f"the platform refuses it: {refused}"
        if held is not None:
            return "held", f"a guard holds it: {held}"
        if self.sent and self.sent[-1].state == "unaccounted":
            return (
                "unknown",
                f"{self._value(self.sent[-1])} was sent, nobody knows what became of it, and it is not shown",
            )
        if self.acknowledged is None and self.sent:
            return "unknown", "it was sent, and what was acknowledged of it is unknown"
        return "never_sent", "the ERP wants it and nothing has been sent of it"

    def _after_acknowledgement(self) -> tuple[str, str]:
        """The platform accepted a value and shows another."""
        known = self.evidence.earlier.get((self.sku, self.field))
        if known is not None and self.pictured and self.observed == self.previous:
            return known, "it differed in the same way in the picture before already"
        if not self.sent:
            if self.pictured and self.previous == self.acknowledged:
                return "changed_on_platform", f"the picture before showed {self.previous}, and nothing was sent since"
            return "unknown", "it was accepted before anything that is still known of it"
        former = {self._value(one) for one in self.sent if self._value(one) != self.acknowledged} - {None}
        if self.observed in former or (self.pictured and self.observed == self.previous):
            return (
                "acknowledged_not_applied",
                f"{self.acknowledged} was accepted, and the value before it is still shown",
            )
        if self.pictured or former:
            return "changed_on_platform", f"{self.acknowledged} was accepted, and what is shown nobody here ever sent"
        return (
            "unknown",
            f"{self.acknowledged} was accepted, another value is shown, and nobody knows what was shown before",
        )


def _by_sku(sendings: pa.Table) -> dict[str, list[_Sent]]:
    texts = {name: text_of(column(sendings, name)).to_pylist() for name in FIELDS}
    found: dict[str, list[_Sent]] = defaultdict(list)
    rows = sendings.select(["sku", "job", "state", "late"]).to_pylist()
    for place, row in enumerate(rows):
        says = {name: texts[name][place] for name in FIELDS}
        found[row["sku"]].append(_Sent(row["job"], row["state"], row["late"], says))
    return found


__all__ = ["ABSENT", "CAUSES", "LISTED", "Evidence", "Reconciled", "healed", "reconcile", "settled"]
