"""Promotions in the simulation: what the schedule does, and a naive model of what must hold, seen from outside."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from shelfsync.errors import StaleRunError
from shelfsync.store.lake import Lake
from simulation import campaign_decisions, day
from simulation.broken import Broken
from simulation.campaigns import CAMPAIGNS, KEEPS
from simulation.erp import VENDORS

if TYPE_CHECKING:
    from app_calls import Calls
    from simulation.world import World

WRONG_BY_CHANCE = ("not_applied", "job_id_of_another", "portal_edit")
"""Faults after which the platform differs although it reported success."""
US = 1_000_000


def work(world: World, app: Calls, kind: str, key: str) -> None:
    """What a process does: a whole run, or a part of one."""
    path = app.promotions
    if kind == "recover":
        path.recover()
    elif kind == "deliver":
        path.deliver()
    elif kind == "confirm":
        path.confirm()
    else:
        run_id = path.open_run(key)
        steps = [partial(path.extract, run_id), partial(path.plan, run_id)]
        if kind == "run":
            steps += [path.deliver, partial(path.wait, run_id), path.confirm] * 2
            steps.append(partial(path.report, run_id))
        for step in steps:
            _twice(world, step)


def _twice(world: World, step: Any) -> None:
    """A task that fails is tried once more, as the scheduler would; a task of a superseded run is skipped."""
    try:
        step()
    except StaleRunError:
        return
    except day.EXPECTED:
        world.clock.sleep(60)
        try:
            step()
        except StaleRunError:
            return


class PromotionModel:
    """Checks the promotions of one world from outside."""

    def __init__(self, world: World, *, wrong: Any) -> None:
        self._world = world
        self._wrong = wrong
        self._shown: dict[tuple[Any, ...], int] = {}
        self._files: dict[str, list[dict[str, Any]]] = {}

    def check(self) -> None:
        """What has to hold at any time."""
        self.check_ledger()
        self._nothing_older_is_shown()
        self._only_what_is_approved_is_shown()

    def check_ledger(self) -> None:
        """The part of it that holds of any campaigns."""
        jobs = self._world.rows(
            "SELECT * FROM ledger.promotion_request JOIN ledger.job USING (request_id) ORDER BY job_id"
        )
        self._conservation(jobs)
        self._one_plan_at_a_time(jobs)
        self._the_old_promotion_ends_last(jobs)
        self._only_reported_values_are_known()

    def _conservation(self, jobs: list[Any]) -> None:
        """I1, I6: per job sent = accepted + rejected + unaccounted, and the warehouse has one outcome for every SKU."""
        known = {row.job_id: row for row in self._world.rows("SELECT * FROM warehouse.promotion_job")}
        outcomes: dict[int, Counter[str]] = defaultdict(Counter)
        for row in self._world.rows("SELECT job_id, sku, vendor, state FROM warehouse.promotion_outcome"):
            outcomes[row.job_id][row.sku] += 1
        for job in jobs:
            if job.state not in {"acknowledged", "unconfirmed", "rejected"}:
                if outcomes[job.job_id]:
                    raise Broken("I1", f"promotion job {job.job_id} is {job.state} and has outcomes")
                continue
            if job.accepted + job.rejected + job.unaccounted != job.sent:
                raise Broken(
                    "I1",
                    f"promotion job {job.job_id}: {job.sent} sent, {job.accepted}, {job.rejected}, {job.unaccounted} reported",
                )
            row = known[job.job_id]
            if (row.state, row.sent, row.accepted, row.rejected) != (job.state, job.sent, job.accepted, job.rejected):
                raise Broken("I6", f"promotion job {job.job_id}: warehouse and ledger differ")
            if job.state != "rejected" and len(outcomes[job.job_id]) != job.skus:
                raise Broken(
                    "I1", f"promotion job {job.job_id}: {job.skus} SKUs sent, outcomes of {len(outcomes[job.job_id])}"
                )

    def _one_plan_at_a_time(self, jobs: list[Any]) -> None:
        """I5: requests in flight of a promotion belong to one plan."""
        runs: dict[int, set[int]] = defaultdict(set)
        for job in jobs:
            if job.state in {"submitting", "open"}:
                runs[job.promotion_id].add(job.run_id)
        for promotion_id, of in runs.items():
            if len(of) > 1:
                raise Broken(
                    "I5", f"promotion {promotion_id}: requests of the runs {sorted(of)} are on their way at once"
                )

    def _the_old_promotion_ends_last(self, jobs: list[Any]) -> None:
        """I2: the end of what was replaced has not left unless what takes its place was made; a 202 makes nothing."""
        promotions = {row.promotion_id: row for row in self._world.rows("SELECT * FROM ledger.promotion")}
        created = {"acknowledged", "superseded"}
        for end in jobs:
            if end.action != "end" or not end.attempts:
                continue
            old = promotions[end.promotion_id]
            for job in jobs:
                new = promotions[job.promotion_id]
                same = (job.run_id, new.campaign) == (end.run_id, old.campaign)
                if same and job.action == "create" and {*new.vendors} & {*old.vendors} and job.state not in created:
                    raise Broken(
                        "I2",
                        f"promotion {old.promotion_id} was ended by job {end.job_id}; job {job.job_id} is {job.state}",
                    )

    def _held(self) -> list[Any]:
        """Every value the platform ever held: also those replaced since."""
        return self._world.platform_rows(
            "SELECT v.vendor, s.sku, s.value_milli, s.seen_from_us, s.seen_until_us, p.active, p.identity, p.display_name, p.start_us, p.end_us, p.vendors, p.id"
            " FROM promotion_sku AS s JOIN promotion AS p ON p.id = s.promotion_id JOIN vendor AS v ON v.id = s.vendor_key"
            " ORDER BY p.id, s.seen_from_us"
        )

    def _only_reported_values_are_known(self) -> None:
        """I2: a known value was shown by the platform at some time, at least at one vendor of the promotion."""
        if self._wrong():
            return
        held = {(row.sku, row.value_milli, row.start_us, row.end_us) for row in self._held()}
        for row in self._world.rows(
            "SELECT s.sku, s.value, p.start_time, p.end_time FROM warehouse.promotion_sku AS s JOIN warehouse.promotion AS p USING (promotion_id) WHERE s.known"
        ):
            key = (row.sku, int(row.value * 1000), _us(row.start_time), _us(row.end_time))
            if key not in held:
                raise Broken("I2", f"{row.sku} at {row.value} counts as reported, and the platform never held it")

    def _nothing_older_is_shown(self) -> None:
        """I4: the prices that the platform holds of a promotion go along what the ERP wanted, never back."""
        if self._wrong():
            return
        for row in self._held():
            if row.seen_until_us is not None:
                continue
            price = Decimal(row.value_milli) / 1000
            campaign = _campaign(row.display_name)
            wanted = self._world.campaigns.wanted.get((campaign, row.sku), [])
            key = (row.id, row.vendor, row.sku)
            try:
                self._shown[key] = wanted.index(price, self._shown.get(key, 0))
            except ValueError:
                raise Broken(
                    "I4",
                    f"{key}: the platform holds {price}; wanted in turn {wanted}, already at {self._shown.get(key, 0)}",
                ) from None

    def _only_what_is_approved_is_shown(self) -> None:
        """A price that was reduced by too much reaches the platform only after a person approved exactly it, there and for these times."""
        slips = self._world.campaigns.slips
        if not slips:
            return
        approved: dict[tuple[Any, ...], int] = {}
        for act in self._world.rows(
            "SELECT h.vendor, h.campaign, h.rows_path, d.decided_at FROM ledger.decision d JOIN ledger.hold h USING (hold_id)"
            " WHERE h.subject = 'promotions' AND d.state = 'approved' AND d.ignored IS NULL ORDER BY decision_id DESC"
        ):
            for row in self._rows_of(act.rows_path):
                approved[act.vendor, act.campaign, row["sku"], *_value_and_times(row)] = _us(act.decided_at)
        for row in self._held():
            price = Decimal(row.value_milli) / 1000
            key = (row.vendor, _campaign(row.display_name), row.sku, price, row.start_us, row.end_us)
            if price in slips and not approved.get(key, row.seen_from_us + 1) <= row.seen_from_us:
                raise Broken("decision", f"the platform holds {key}, and a person has not approved it")

    def _in_force(self) -> set[tuple[str, str, str]]:
        """Vendor, campaign and SKU of what is held now."""
        found = self._world.rows(
            "SELECT vendor, campaign, rows_path FROM ledger.hold WHERE subject = 'promotions' AND superseded_by IS NULL"
            " AND state IN ('open', 'declined', 'expired')"
        )
        return {(hold.vendor, hold.campaign, row["sku"]) for hold in found for row in self._rows_of(hold.rows_path)}

    def _rows_of(self, path: str) -> list[dict[str, Any]]:
        if path not in self._files:
            self._files[path] = Lake(self._world.lake).read_table(path).to_pylist()
        return self._files[path]

    def check_when_quiescent(self, app: Calls, log: Any) -> None:
        """I3: after the last fault, the platform reaches what the ERP wants, and then no more requests are sent."""
        world = self._world
        was_quiet = False
        for number in range(4):
            if was_quiet := self._round(app, log, number):
                break
        if self._wrong():
            return
        self.in_step()
        for number in range(4, 7):
            if not campaign_decisions.approve_all(world, app):
                break
            was_quiet = self._round(app, log, number)
            self.in_step()
        if was_quiet:
            return  # that was the run without changes
        before = len(world.platform_rows("SELECT seq FROM job"))
        work(world, app, "run", "promotions/quiescent/last")
        if len(world.platform_rows("SELECT seq FROM job")) != before:
            raise Broken("I6", "a run of promotions without changes has sent something")

    def _round(self, app: Calls, log: Any, number: int) -> bool:
        """The schedule, beyond every deadline and every wait before another try. True: it failed nowhere and had nothing to do."""
        self._world.clock.sleep(90_000)
        asked = (
            "SELECT count(*), max(answered_at), max(ended_at), count(*) FILTER (WHERE ended_at IS NULL) AS open"
            " FROM ledger.promotion_request JOIN ledger.job USING (request_id)"
        )
        before = self._world.rows(asked)
        jobs = len(self._world.platform_rows("SELECT seq FROM job"))
        failed = False
        for kind in ("recover", "run", "recover"):
            line = day.tolerated(partial(work, self._world, app, kind, f"promotions/quiescent/{number}"))
            if line:
                failed = True
                log(f"      {line}")
        self.check()
        after = self._world.rows(asked)
        is_quiet = not failed and before == after and after[0].open == 0
        if is_quiet and len(self._world.platform_rows("SELECT seq FROM job")) != jobs:
            raise Broken("I6", "a run of promotions without changes has sent something")
        return is_quiet

    def in_step(self) -> None:
        """The platform holds what the ERP wants, and nothing else. What is held for a person stays as it was."""
        held, known = self._in_force(), self._base_prices_known()
        all_have, all_want = self._held_now(), self._wanted_now()
        gone, new = all_have.keys() - all_want.keys(), all_want.keys() - all_have.keys()
        of_other_days = held & {*map(_place, gone)} & {*map(_place, new)}
        waiting = {campaign for _, campaign, _ in of_other_days}  # it would end the promotion that has the held price
        left = {
            pair for pair in all_have.keys() | all_want.keys() if _place(pair) in held or _place(pair)[1] in waiting
        }
        for pair in all_want:
            is_known = (pair[0], pair[-1]) in known
            if self._may_wait(pair) and not (is_known and pair in all_have):
                left.add(pair)  # a promotion that the platform has keeps its price as long
        have = {pair: price for pair, price in all_have.items() if pair not in left}
        want = {pair: price for pair, price in all_want.items() if pair not in left}
        if want != have:
            first = min({*want.items()} ^ {*have.items()}, key=repr)
            raise Broken("I3", f"promotions: {len(want)} pairs wanted, {len(have)} held; the first difference {first}")

    def _base_prices_known(self) -> set[tuple[str, str]]:
        """Vendor and SKU."""
        found = self._world.rows("SELECT vendor, sku FROM warehouse.baseline WHERE price IS NOT NULL")
        return {(row.vendor, row.sku) for row in found}

    def _may_wait(self, pair: tuple[Any, ...]) -> bool:
        """A row that is quarantined is not sent, so its base price may never have been known. A promotion waits for that."""
        row = self._world.erp.rows.get((pair[0], pair[-1]))
        return row is None or row.bad is not None

    def _wanted_now(self) -> dict[tuple[Any, ...], Decimal]:
        world = self._world
        listed = {vendor: set(world.shown(vendor)) for vendor in VENDORS}
        return {
            (vendor, campaign, _us(window.start), _us(window.end), sku): price
            for (campaign, sku), price in world.campaigns.prices.items()
            for window in (world.campaigns.windows[campaign],)
            if window.end > world.clock.now()
            for vendor in (VENDORS if window.vendor == "*" else (window.vendor,))
            if sku in listed[vendor]
        }

    def _held_now(self) -> dict[tuple[Any, ...], Decimal]:
        now_us = _us(self._world.clock.now())
        return {
            (row.vendor, _campaign(row.display_name), row.start_us, row.end_us, row.sku): Decimal(row.value_milli)
            / 1000
            for row in self._held()
            if row.seen_until_us is None and row.active and row.end_us > now_us
        }


def _place(pair: tuple[Any, ...]) -> tuple[str, str, str]:
    """Vendor, campaign and SKU, whatever the days."""
    return pair[0], pair[1], pair[-1]


def _campaign(display_name: str) -> str:
    return KEEPS if "Keep" in display_name else next(name for name in CAMPAIGNS if f"Offer {name}" in display_name)


def _value_and_times(row: dict[str, Any]) -> tuple[Decimal, int, int]:
    """Of a row of a hold: the price that it offers, and from when to when."""
    start, end = map(dt.datetime.fromisoformat, row["window"].split())
    return Decimal(row["discount"].split()[-1]), _us(start), _us(end)


def _us(when: dt.datetime) -> int:
    return round((when - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)).total_seconds() * US)
