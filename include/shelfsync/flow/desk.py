"""The desk where holds are decided: everything that pages, the command line and Airflow's tasks do with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.flow import held, holds
from shelfsync.flow.rehearse import rehearse
from shelfsync.ledger import holds as table
from shelfsync.warehouse import record

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts
    from shelfsync.flow.sync import Steps


STEP_WORDS = ("deliver", "confirm", "acknowledge")


class HoldDesk:
    """Over the parts of a house; `steps` take what was approved to the platform."""

    def __init__(self, parts: Parts, steps: Steps) -> None:
        self._parts = parts
        self._steps = steps

    def listed(self, *states: str) -> list[dict[str, Any]]:
        """The last holds, newest first, of these states or of all."""
        return held.listed(self._parts, states=states)

    def show(self, hold_id: int, *, first: int = 0, rows: int | None = None) -> dict[str, Any]:
        """One hold with its rows."""
        return held.shown(self._parts, hold_id, first=first, rows=rows)

    def ask(self, key: str) -> list[dict[str, Any]]:
        """Takes on what nobody was asked about yet, as `{"hold", "label"}`; the same key again takes on the same."""
        with self._parts.engine.begin() as connection:
            found = table.ask(connection, key)
        return [{"hold": hold.hold_id, "label": hold.label} for hold in found]

    def question(self, hold_id: int, *, pages: str | None) -> dict[str, Any] | None:
        """What a person is asked, as `{"subject", "body", "left_s", "thresholds"}` (Markdown); None when nothing is left to decide."""
        return held.question(self._parts, hold_id, pages=pages)

    def rehearse(self, vendors: tuple[str, ...] = (), *, days: float = 30) -> dict[str, Any]:
        """What the guards would have held in the runs of the last days with the thresholds of today."""
        return rehearse(self._parts, names=vendors, days=days)

    def unasked(self) -> int:
        """How many open holds nobody was asked about."""
        with self._parts.engine.connect() as connection:
            return table.unasked(connection)

    def decide(self, hold_id: int, *, approve: bool, who: str, why: str | None = None) -> dict[str, Any]:
        """Approves or rejects."""
        return holds.decide(self._parts, hold_id, approve=approve, who=who, why=why)

    def expire(self, hold_id: int, *, who: str) -> dict[str, Any]:
        """Nobody decided in time."""
        return holds.expire(self._parts, hold_id, who=who)

    def reconsider(
        self, hold_id: int, thresholds: dict[str, Any], *, who: str, why: str | None = None
    ) -> dict[str, Any]:
        """Approves what other thresholds let through, for this once."""
        return holds.reconsider(self._parts, hold_id, thresholds, who=who, why=why)

    def release(self, hold_id: int) -> dict[str, Any]:
        """Plans what was approved; `{"run", "vendors", "label", "line"}`."""
        return holds.release(self._parts, hold_id)

    def deliver(self, hold_id: int) -> dict[str, Any]:
        """Releases and sends one approved hold in this process, to the platform's word on every SKU of it."""
        told = self.release(hold_id)
        run_id, vendors, lines = told["run"], told["vendors"], [told["line"]]
        for word in STEP_WORDS if vendors else ():
            if word == "confirm":
                self._steps.wait(run_id, vendors)
            report = self._steps.step(word, run_id, vendors)
            lines += [
                f"{word}: vendor {name}: {why}" for name, why in {**report["skipped"], **report["failed"]}.items()
            ]
        with self._parts.engine.begin() as connection:
            record.record_run(connection, run_id)
        return {**told, "lines": lines}
