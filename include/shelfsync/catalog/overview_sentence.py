"""The one sentence with which the first page and the status begin: how many stores are right, when the ERP was read, what waits for a person."""

from __future__ import annotations

from typing import Any

_OVERDUE_S = 300
"""A reading that waits so long for a free worker is nothing to report."""


def sentence(found: dict[str, Any], *, late_s: float) -> str:
    """How the chain is, in one sentence for a person. `late_s`: an older reading says nothing of now."""
    vendors = found["vendors"]
    if not vendors:
        return "No store is known yet: the first full sync reads them."
    right = sum(row["shows_the_erp"] for row in vendors)
    parts = [f"{right:,} of {len(vendors):,} stores show what the ERP says{_but(vendors)}"]
    ago_s, next_s = found["reading"]["ago_s"], found["reading"]["next_s"]
    if ago_s is not None and ago_s > late_s:
        parts[0] = (
            f"Nothing was read for {_minutes(ago_s)}; then {right:,} of {len(vendors):,} stores showed what the ERP said{_but(vendors)}"
        )
    elif ago_s is not None:
        parts[0] += ", read just now" if ago_s < 60 else f", read {_minutes(ago_s)} ago"
    if next_s is not None:
        parts.append(_due(next_s))
    if waiting := found["holds_waiting"]:
        parts.append(f"{waiting:,} {'hold waits' if waiting == 1 else 'holds wait'} for you")
    return "; ".join(parts) + "."


def _due(next_s: float) -> str:
    """When the next reading begins. Of one that did not begin in time, how long ago that was: its schedule may be switched off."""
    if next_s >= 60:
        return f"next reading in {_minutes(next_s)}"
    return "the next reading is due" if next_s > -_OVERDUE_S else f"the next reading was due {_minutes(-next_s)} ago"


def _but(vendors: list[dict[str, Any]]) -> str:
    rejected = sum(row["rejected"] or 0 for row in vendors)
    unsendable = sum(row["quarantined"] or 0 for row in vendors)
    parts = [f"{rejected:,} {'product' if rejected == 1 else 'products'} that the platform rejects"] if rejected else []
    parts += [f"{unsendable:,} {'row' if unsendable == 1 else 'rows'} that cannot be sent"] if unsendable else []
    left = sum(row["absent"] or 0 for row in vendors)
    parts += [f"{left:,} {'product' if left == 1 else 'products'} that the ERP no longer has"] if left else []
    restored = sum(bool(row["restorations"]) for row in vendors)
    parts += [f"{restored:,} {'store' if restored == 1 else 'stores'} with restored values"] if restored else []
    return f" except {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}" if parts else ""


def _minutes(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes >= 120:
        return f"{minutes // 60:,} hours"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
