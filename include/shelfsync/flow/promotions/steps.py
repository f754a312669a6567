"""The promotions' path as one thing to hold: what a task and the command line call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts


class Promotions:
    """The steps of the promotions' path over real parts (docs/promotions.md)."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def configured(self) -> bool:
        """Whether the ERP has promotions at all."""
        return self._parts.settings.promotions.configured

    def open_run(self, key: str, *, dry_run: bool = False) -> int:
        """The number of the run of this key."""
        from shelfsync.flow.promotions.extract import open_run

        return open_run(self._parts, key, dry_run=dry_run)

    def extract(self, run_id: int) -> dict[str, Any]:
        """Reads the ERP's promotions."""
        from shelfsync.flow.promotions.extract import extract

        return extract(self._parts, run_id)

    def plan(self, run_id: int) -> dict[str, Any]:
        """Commits what has to be said to the platform; StaleRunError when a newer run has."""
        from shelfsync.flow.promotions.plan import plan

        return plan(self._parts, run_id)

    def deliver(self) -> dict[str, Any]:
        """Sends what is planned."""
        from shelfsync.flow.promotions.deliver import deliver

        return deliver(self._parts).as_dict()

    def wait(self, run_id: int) -> dict[str, Any]:
        """Waits until the platform has ended the jobs of this run."""
        from shelfsync.flow.promotions.wait import until_settled

        return asyncio.run(until_settled(self._parts, run_id))

    def confirm(self) -> dict[str, Any]:
        """Settles what has ended."""
        from shelfsync.flow.promotions.confirm import confirm

        return confirm(self._parts).as_dict()

    def report(self, run_id: int) -> dict[str, Any]:
        """Closes the run and tells of it."""
        from shelfsync.flow.promotions.report import report

        return report(self._parts, run_id)

    def settle(self) -> dict[str, Any]:
        """Finishes what tasks and processes lost."""
        from shelfsync.flow.promotions.report import settle

        return settle(self._parts)

    def status(self) -> dict[str, Any]:
        """Where every promotion stands."""
        from shelfsync.flow.promotions.report import status

        return status(self._parts)

    def one(self, promotion_id: int, *, first: int = 0, rows: int = 500) -> dict[str, Any]:
        """One promotion with its SKUs, requests, refusals and findings."""
        from shelfsync.flow.promotions.shown import one

        return one(self._parts, promotion_id, first=first, rows=rows)

    def decide_hold(self, hold_id: int, *, release: bool, by: str) -> bool:
        """Releases or refuses one hold, also against an earlier decision; False: what it was about has changed."""
        from shelfsync.ledger import promotion_holds

        with self._parts.engine.begin() as connection:
            return promotion_holds.decide_one(connection, hold_id, state="released" if release else "refused", by=by)

    def decide(self, campaign: str, *, rule: str | None, release: bool, by: str) -> int:
        """Releases or refuses what is held of a campaign; how many holds that were."""
        from shelfsync.ledger import promotion_holds

        with self._parts.engine.begin() as connection:
            state = "released" if release else "refused"
            return promotion_holds.decide(connection, campaign, rule=rule, state=state, by=by)

    def sync(self, run_id: int) -> dict[str, Any]:
        """The whole path of an open run, in this process; a dry run ends with the plan."""
        self.extract(run_id)
        self.plan(run_id)
        with self._parts.engine.connect() as connection:
            from shelfsync.ledger import promotion_runs

            dry = promotion_runs.read(connection, run_id).dry_run
        if not dry:
            for _ in ("what is told", "ends of what was replaced"):  # these leave when the platform has made the others
                self.deliver()
                self.wait(run_id)
                self.confirm()
        return self.report(run_id)
