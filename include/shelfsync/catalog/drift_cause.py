"""Every difference between an observed state of the platform and shelfsync's own gets a cause, or confirms a value.

The cause follows from what was sent and answered since the previous observation, never from missing answers. Causes that cannot be
distinguished are `unknown`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shelfsync.catalog.confirmed_by_export import is_confirmed
from shelfsync.catalog.drift import LISTED
from shelfsync.rows.alignment import column
from shelfsync.rows.item import shortest
from shelfsync.schemas import DRIFT, FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping


TOO_YOUNG = "export_older_than_change"
CAUSES = (
    "never_sent",
    "rejected",
    "held",
    "acknowledged_not_applied",
    "changed_on_platform",
    TOO_YOUNG,
    "unknown",
)


@dataclass(frozen=True)
class Evidence:
    """What is known beside the three states.

    `sendings`: SENDING schema, oldest first, of the SKUs in question since the previous observation. `rejected`, `held`: SKU to reason.
    `desired_is_newer`: the ERP was read after the observation was requested. `earlier`: the cause of each (SKU, field) that already
    differed in the previous observation.
    """

    sendings: pa.Table
    rejected: Mapping[str, str] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
    desired_is_newer: bool = False
    earlier: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reconciled:
    """`drift` in DRIFT schema; `confirmed`: (SKU, field) of unconfirmed values that the observation shows as they were sent."""

    drift: pa.Table
    confirmed: tuple[tuple[str, str], ...]


def find_causes(differences: pa.Table, evidence: Evidence) -> Reconciled:
    """Names the cause of each difference (DIFFERENCE schema)."""
    sent = _by_sku(evidence.sendings)
    rows: list[dict[str, Any]] = []
    confirmed: list[tuple[str, str]] = []
    for row in differences.to_pylist():
        one = _Difference(row, sent.get(row["sku"], []), evidence)
        if one.confirmed_by_observation:
            confirmed.append((row["sku"], row["field"]))
        elif one.differs and not one.decided_by_the_platform:
            cause, message = one.cause()
            rows.append({name: row[name] for name in DRIFT.names if name in row} | {"cause": cause, "message": message})
    return Reconciled(pa.Table.from_pylist(rows, schema=DRIFT), tuple(confirmed))


@dataclass(frozen=True)
class _Sent:
    job: int
    state: str
    late: bool
    values: dict[str, str | None]


class _Difference:
    """One difference, and what was sent of it."""

    def __init__(self, row: dict[str, Any], sent: list[_Sent], evidence: Evidence) -> None:
        self.sku, self.field = row["sku"], row["field"]
        self.desired, self.acknowledged, self.observed = row["desired"], row["acknowledged"], row["observed"]
        self.previous = row["previous"] if row["listed_before"] else None
        self.listed_before, self.unconfirmed = row["listed_before"], row["unconfirmed"]
        self.evidence = evidence
        self.sent = [
            one for one in sent if self.field == "sku" or one.values[self.field] is not None or self._by_quantity(one)
        ]
        self.late = any(one.late for one in self.sent)

    def _by_quantity(self, one: _Sent) -> bool:
        return self.field == "active" and one.values["quantity"] is not None

    def _value(self, one: _Sent) -> str | None:
        return LISTED if self.field == "sku" else one.values[self.field]

    @property
    def differs(self) -> bool:
        """Something is wanted or was acknowledged, and something else is shown."""
        return self._unlike(self.desired) or self._unlike(self.acknowledged)

    def _unlike(self, value: str | None) -> bool:
        return value is not None and value != self.observed

    @property
    def confirmed_by_observation(self) -> bool:
        """See `is_confirmed`."""
        if not self.sent:
            return False
        last, shown = self.sent[-1], self.observed
        return is_confirmed(self._value(last), shown, outcome=last.state, unconfirmed=self.unconfirmed, late=self.late)

    @property
    def decided_by_the_platform(self) -> bool:
        """Whether `active` follows from a quantity that was sent since the previous observation."""
        return self.field == "active" and self.desired is None and any(self._by_quantity(one) for one in self.sent)

    def cause(self) -> tuple[str, str]:
        """(cause, the sentence that explains it)."""
        rejection, hold = self.evidence.rejected.get(self.sku), self.evidence.held.get(self.sku)
        if self.field == "sku" and rejection is not None:
            return "rejected", f"the platform rejects it: {rejection}"
        if self.late:
            return TOO_YOUNG, "a request about it was sent too late for this observation to show it"
        if self._unlike(self.acknowledged):
            return self._after_acknowledgement()
        return self._not_acknowledged(rejection, hold)

    def _not_acknowledged(self, rejection: str | None, hold: str | None) -> tuple[str, str]:
        """The ERP wants a value that the platform never accepted."""
        if self.evidence.desired_is_newer and self.acknowledged is not None:
            return TOO_YOUNG, "the ERP changed after this observation was requested"
        if rejection is not None:
            return "rejected", f"the platform rejects it: {rejection}"
        if hold is not None:
            return "held", f"a guard holds it: {hold}"
        if self.sent and self.sent[-1].state == "unaccounted":
            return (
                "unknown",
                f"{self._value(self.sent[-1])} was sent, its outcome is unknown, and the platform does not show it",
            )
        if self.acknowledged is None and self.sent:
            return "unknown", "it was sent, and its acknowledged value is unknown"
        return "never_sent", "the ERP wants it, and it was never sent"

    def _after_acknowledgement(self) -> tuple[str, str]:
        """The platform accepted a value and shows another."""
        known = self.evidence.earlier.get((self.sku, self.field))
        if known is not None and known != TOO_YOUNG and self.listed_before and self.observed == self.previous:
            return known, "it differed in the same way in the previous observation"
        if not self.sent:
            if self.listed_before and self.previous == self.acknowledged:
                return (
                    "changed_on_platform",
                    f"the previous observation showed {self.previous}, and nothing was sent since",
                )
            return "unknown", "no request since the previous observation explains it"
        former = {self._value(one) for one in self.sent if self._value(one) != self.acknowledged} - {None}
        if self.observed in former or (self.listed_before and self.observed == self.previous):
            return (
                "acknowledged_not_applied",
                f"the platform accepted {self.acknowledged}, and still shows the value before it"
                if known is None
                else f"the platform accepted {self.acknowledged}, and shows another value in two observations",
            )
        if self.listed_before or former:
            return (
                "changed_on_platform",
                f"the platform accepted {self.acknowledged}, and shows a value that shelfsync never sent",
            )
        return (
            "unknown",
            f"the platform accepted {self.acknowledged} and shows another value; what it showed before is unknown",
        )


def _by_sku(sendings: pa.Table) -> dict[str, list[_Sent]]:
    texts = {name: shortest(column(sendings, name)).to_pylist() for name in FIELDS}
    found: dict[str, list[_Sent]] = defaultdict(list)
    rows = sendings.select(["sku", "job", "state", "late"]).to_pylist()
    for number, row in enumerate(rows):
        values = {name: texts[name][number] for name in FIELDS}
        found[row["sku"]].append(_Sent(row["job"], row["state"], row["late"], values))
    return found
