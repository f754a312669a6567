"""The naive model: what must be true after every action, seen from outside shelfsync.

It reads the ledger's and the warehouse's tables, the lake's files and the platform's own memory, and knows nothing of how the
app comes to its decisions. A `Broken` names the invariant.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shelfsync.store.lake import Lake
from simulation.acknowledged import Acknowledged
from simulation.broken import Broken
from simulation.erp import VENDORS
from simulation.facts import FIELDS, Facts
from simulation.onward import Onward
from simulation.restored import Restorations
from simulation.trail import Trail

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable

    from simulation.erp import Key, Row
    from simulation.facts import Item, Taken
    from simulation.world import World

REMOVED_FREE, REMOVED_SHARE = 5, Fraction("0.3")
LEFT = "it left the ERP and is still on sale"
ENDED = ("acknowledged", "unconfirmed", "failed", "rejected")


class Model:
    """Checks one world since its reset."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.facts = Facts(world)
        self._acknowledged = Acknowledged(self.facts)
        self._onward = Onward(self.facts)
        self._trail = Trail(self.facts)
        self.restorations = Restorations(world, self._acknowledged.at)

    def check(self) -> None:
        """Everything that has to hold at any time."""
        self._world.unexpected.check()
        for vendor in VENDORS:
            self.restorations.note(vendor)
        jobs = self.facts.jobs()
        taken = self.facts.taken()
        self._conservation(jobs)
        self._warehouse_knows(jobs)
        self._acknowledged.check(taken)
        self._onward.check(taken)
        self._one_open_plan(jobs, taken)
        self._no_mass_deactivation()
        self._decisions_stand()
        self._every_difference_is_accounted_for()
        self._trail.check(jobs)
        self._request_limit()

    def _conservation(self, jobs: list[Any]) -> None:
        counts: dict[int, Counter[str]] = defaultdict(Counter)
        skus: dict[int, list[str]] = defaultdict(list)
        for row in self._world.rows("SELECT job_id, sku, state FROM warehouse.sku_outcome"):
            counts[row.job_id][row.state] += 1
            skus[row.job_id].append(row.sku)
        for job in jobs:
            counted = (job.accepted, job.rejected, job.unaccounted)
            if job.accepted is None:
                if skus[job.job_id]:
                    raise Broken("I1", f"job {job.job_id} ({job.state}) has outcomes and no counts")
                continue
            if sum(counted) != job.sent or job.sent != job.item_count:
                raise Broken("I1", f"job {job.job_id}: {job.sent} sent, {counted} reported")
            kept = counts[job.job_id]
            if (kept["accepted"], kept["rejected"], kept["unaccounted"]) != counted:
                raise Broken("I1", f"job {job.job_id}: counts {counted}, warehouse {dict(kept)}")
            if sorted(skus[job.job_id]) != sorted(row["sku"] for row in self.facts.file(job.items_path)):
                raise Broken("I1", f"job {job.job_id}: the warehouse has other SKUs than were sent")

    def _warehouse_knows(self, jobs: list[Any]) -> None:
        known = {row.job_id: row for row in self._world.rows("SELECT * FROM warehouse.catalog_job")}
        for job in jobs:
            if job.state not in ENDED:
                continue
            row = known.get(job.job_id)
            if row is None:
                raise Broken("I6", f"job {job.job_id} has ended {job.state}, and the warehouse does not know it")
            want = (
                job.state,
                job.sent,
                job.accepted or 0,
                job.rejected or 0,
                job.unaccounted or 0,
                job.platform_job_id,
            )
            have = (row.state, row.sent, row.accepted, row.rejected, row.unaccounted, row.platform_job_id)
            if want != have:
                raise Broken("I6", f"job {job.job_id}: ledger {want}, warehouse {have}")

    def believed_too_early(self) -> bool:
        """Whether a single item was answered at once and then not done, which only a full sync corrects."""
        return any(
            self.facts.answered_at_once(items) and (job.state != "COMPLETED" or items[0][1] is not None)
            for job, items in self.facts.taken()
        )

    def _baselines(self) -> dict[str, list[dict[str, Any]]]:
        current = self._world.rows(
            "SELECT v.vendor, b.path FROM ledger.vendor v JOIN ledger.baseline b ON b.vendor = v.vendor AND b.version = v.baseline_version"
        )
        return {row.vendor: self.facts.file(row.path) for row in current}

    def _one_open_plan(self, jobs: list[Any], taken: Taken) -> None:
        """I5, also at the platform: a second job there is a repeat, or unconfirmed in the ledger.

        A request whose answer was lost is sent again, and the platform may work on both. shelfsync knows of the one that was answered: when
        that one has ended, the vendor's next request follows, whatever becomes of the other.
        """
        open_of: dict[str, set[int]] = defaultdict(set)
        sent: dict[str, Counter[str]] = defaultdict(Counter)
        for job in jobs:
            if job.state in {"submitting", "open", "confirmed"}:
                open_of[job.vendor].add(job.plan)
                sent[job.vendor].update(row["sku"] for row in self.facts.file(job.items_path))
        if any(len(plans) > 1 for plans in open_of.values()):
            raise Broken("I5", f"open jobs of the plans {dict(open_of)}")
        if any(count > 1 for skus in sent.values() for count in skus.values()):
            raise Broken("I5", "two open jobs of one vendor share a SKU")
        states: dict[tuple[str, tuple[Item, ...]], set[str]] = defaultdict(set)
        for job in jobs:
            over = (
                None not in (job.ended_at, job.deadline_at) and job.ended_at >= job.deadline_at
            )  # a listing may have confirmed it
            state = "unconfirmed" if over and job.state == "acknowledged" else job.state
            states[job.vendor, tuple(_item(row) for row in self.facts.file(job.items_path))].add(state)
        working: dict[str, set[tuple[Item, ...]]] = defaultdict(set)
        requests = [(job, tuple(item for item, _ in results)) for job, results in taken]
        ended = {(job.vendor, items) for job, items in requests if job.state not in {"QUEUED", "IN_PROGRESS"}}
        for job, items in requests:
            known = states.get((job.vendor, items), set())
            if not known:
                raise Broken("I5", f"platform job {job.seq} of {job.vendor} is in no row of the ledger")
            if known <= {"superseded", "rejected"}:
                raise Broken("I7", f"platform job {job.seq} of {job.vendor} was taken, and the ledger has {known}")
            is_repeat = known == {"acknowledged"} and (job.vendor, items) in ended
            if job.state in {"QUEUED", "IN_PROGRESS"} and not known & {"unconfirmed"} and not is_repeat:
                working[job.vendor].add(items)
        for vendor, bodies in working.items():
            skus = Counter(item[0] for body in bodies for item in body)
            if any(count > 1 for count in skus.values()):
                raise Broken(
                    "I5", f"the platform works on {len(bodies)} different requests of {vendor} that share a SKU"
                )

    def _no_mass_deactivation(self) -> None:
        """I9: no generation removes more than the guard allows, and no SKU is off that the ERP never switched off."""
        plans = self._world.rows(
            "SELECT b.vendor, b.generation, b.items_path, b.state, base.path AS base FROM ledger.batch b"
            " LEFT JOIN ledger.baseline base ON base.vendor = b.vendor AND base.version = b.base_version"
        )
        removed: dict[tuple[str, int], set[str]] = defaultdict(set)
        on_sale: dict[tuple[str, int], int] = {}
        for row in plans:
            key = (row.vendor, row.generation)
            removed[key] |= {item["sku"] for item in self.facts.file(row.items_path) if item["change"] == "removed"}
            on_sale[key] = sum(one["active"] is not False for one in self.facts.file(row.base)) if row.base else 0
        approved: dict[str, set[str]] = defaultdict(set)
        for row in self._world.rows(
            "SELECT vendor, rows_path FROM ledger.hold WHERE state = 'approved' AND subject = 'catalog'"
        ):
            approved[row.vendor] |= {one["sku"] for one in self.facts.file(row.rows_path)}
        for key, all_skus in removed.items():
            skus = all_skus - approved[key[0]]  # a person has looked at these
            if len(skus) > REMOVED_FREE and len(skus) > REMOVED_SHARE * on_sale[key]:
                raise Broken("I9", f"{key}: {len(skus)} of {on_sale[key]} SKUs removed at once")
        for vendor in VENDORS:
            for sku, product in self._world.shown(vendor).items():
                if not product.active and (vendor, sku) not in self._world.erp.ever_off:
                    raise Broken("I9", f"{vendor}/{sku} is off, and the ERP never switched it off")

    def _decisions_stand(self) -> None:
        """The first decision stands: an approval for ever, the others until a person reopens the hold. Only what is approved is planned."""
        self._world.answers.check()
        acts: dict[int, list[str]] = defaultdict(list)
        for row in self._world.rows(
            "SELECT hold_id, state FROM ledger.decision WHERE ignored IS NULL ORDER BY decision_id"
        ):
            before = acts[row.hold_id][-1] if acts[row.hold_id] else "open"
            late = (before, row.state) == ("expired", "declined")  # a person confirms what time decided
            if ((before == "open") == (row.state == "open") and not late) or before == "approved":
                raise Broken("decision", f"hold {row.hold_id} was {before} and became {row.state}")
            acts[row.hold_id].append(row.state)
        for hold in self._world.rows("SELECT hold_id, state, acts, released_at FROM ledger.hold"):
            last = acts[hold.hold_id][-1] if acts[hold.hold_id] else "open"
            if hold.state not in {last, "superseded"} or hold.acts != len(acts[hold.hold_id]):
                raise Broken("decision", f"hold {hold.hold_id} is {hold.state}, its last decision is {last}")
            if hold.released_at is not None and last != "approved":
                raise Broken("decision", f"hold {hold.hold_id} is {last} and was planned to be sent")

    def _every_difference_is_accounted_for(self) -> None:
        """I1: if the newest run reports a vendor as done, each remaining difference is held, rejected or unaccounted."""
        newest = self._world.rows(
            "SELECT DISTINCT ON (vendor) vr.*, run.skus FROM ledger.vendor_run vr JOIN ledger.run USING (run_id)"
            " WHERE NOT dry_run ORDER BY vendor, generation DESC"
        )
        baselines = self._baselines()
        for run in newest:
            if run.state not in {"acknowledged", "unchanged"} or run.snapshot_path is None:
                continue
            base = {row["sku"]: row for row in baselines.get(run.vendor, [])}
            held = {row["sku"] for row in self.facts.file(run.held_path)} if run.held_path else set()
            suppressed = {row["sku"] for row in self.facts.file(run.suppressed_path)} if run.suppressed_path else set()
            rejected = {
                row.sku for row in self._world.rows("SELECT sku FROM ledger.rejection WHERE vendor = :v", v=run.vendor)
            }
            unaccounted = {
                row.sku
                for row in self._world.rows(
                    "SELECT sku FROM warehouse.sku_outcome o JOIN warehouse.catalog_job USING (job_id)"
                    " WHERE o.vendor = :v AND run_id = :r AND o.state = 'unaccounted'",
                    v=run.vendor,
                    r=run.run_id,
                )
            }
            resent = {
                row.sku
                for row in self._world.rows(
                    "SELECT d.sku FROM warehouse.drift d JOIN ledger.baseline b USING (observation_id)"
                    " WHERE b.vendor = :v AND b.version > :n AND d.action = 'resend'",
                    v=run.vendor,
                    n=run.base_version or 0,
                )
            }
            for row in self.facts.file(run.snapshot_path):
                if (run.skus and row["sku"] not in run.skus) or row["sku"] in resent:
                    continue  # an urgent run sends no other SKU; the next run resends what drifted
                have = base.get(row["sku"], {})
                differs = [name for name in FIELDS if row[name] is not None and row[name] != have.get(name)]
                if differs == ["quantity"] and row["sku"] in suppressed:
                    least = self._world.erp.least
                    active = have.get("active") if row["active"] is None else row["active"]
                    if _shows(active, row["quantity"], least) != _shows(active, have["quantity"], least):
                        raise Broken(
                            "I1", f"run {run.run_id}: {run.vendor}/{row['sku']} is suppressed, and it has an effect"
                        )
                    continue
                if differs and row["sku"] not in held | rejected | unaccounted:
                    raise Broken(
                        "I1", f"run {run.run_id} is {run.state} for {run.vendor}, and {row['sku']} differs in {differs}"
                    )

    def no_job_is_overdue(self, begun_at: dt.datetime) -> None:
        """I15, after a recovery that began then: without a lease on its vendor, no job is open that was overdue by then."""
        late = self._world.rows(
            "SELECT j.job_id, j.vendor, j.state, j.deadline_at FROM ledger.job j LEFT JOIN ledger.lease l USING (vendor)"
            " WHERE j.kind = 'catalog' AND j.state IN ('submitting', 'open', 'confirmed') AND j.deadline_at < :begun_at"
            " AND (l.vendor IS NULL OR l.until_at < :now)",
            begun_at=begun_at,
            now=self._world.clock.now(),
        )
        for job in late:
            raise Broken(
                "I15",
                f"job {job.job_id} of {job.vendor} is {job.state} after settling, its deadline was {job.deadline_at}",
            )

    def _request_limit(self) -> None:
        most = self._world.platform.max_requests_in_60s
        if most > 60:
            raise Broken("I13", f"{most} requests in 60 s")


def converged(
    world: World, *, may_be_rejected: bool, restored: Callable[[Key], dict[str, Any]] = lambda _: {}
) -> list[str]:
    """I3: each remaining difference of platform and ERP that is not held, rejected or quarantined, as a line.

    `restored`: what counts instead of the ERP for a SKU.
    """
    held = {(row.vendor, row.sku) for row in _held(world)}
    rejected = {(row.vendor, row.sku) for row in world.rows("SELECT vendor, sku FROM ledger.rejection")}
    known = {(row.vendor, row.sku) for row in world.rows("SELECT vendor, sku FROM warehouse.baseline")}
    lines = []
    for vendor in VENDORS:
        shown = world.shown(vendor)
        wanted = {sku: row for (of, sku), row in world.erp.rows.items() if of == vendor}
        for sku in sorted(shown.keys() | wanted):
            key = (vendor, sku)
            if key in held or (may_be_rejected and key in rejected):
                continue
            instead, row = restored(key), wanted.get(sku)
            if instead and row is None:
                continue  # it comes back if it was on sale then, with whatever stock the platform knows
            if instead and row is not None:
                row = _restored(row, instead)
            line = _difference(row, shown.get(sku), rejected=key in rejected, known=key in known)
            if line:
                lines.append(f"{vendor}/{sku}: {line}")
    return lines


def _restored(row: Row, values: dict[str, Any]) -> Row:
    """A row of the ERP with the values that count instead."""
    return replace(
        row,
        price=values.get("price", row.price),
        active=values.get("active", row.active),
        limit=values.get("max_sales_quantity", row.limit),
    )


def _held(world: World) -> list[Any]:
    """SKUs that the newest run of each vendor holds back, also where the platform confirmed none of its jobs."""
    paths = world.rows(
        "SELECT DISTINCT ON (vendor) vendor, held_path FROM ledger.vendor_run"
        " WHERE state <> 'failed' OR held_path IS NOT NULL ORDER BY vendor, generation DESC"
    )
    lake = Lake(world.lake)
    return [
        _Held(row.vendor, one["sku"])
        for row in paths
        if row.held_path
        for one in lake.read_table(row.held_path).to_pylist()
    ]


class _Held:
    def __init__(self, vendor: str, sku: str) -> None:
        self.vendor, self.sku = vendor, sku


def _difference(row: Row | None, product: Any, *, rejected: bool, known: bool) -> str | None:
    if row is not None and row.bad is not None:
        return None  # quarantined: it keeps its acknowledged values
    if product is None:
        return None if row is None or rejected or known else "the platform does not know it, and it is not rejected"
    if row is None:
        return LEFT if product.active and known else None
    shown = (product.price, product.active, product.max_sales_quantity)
    want = (row.price, row.on_sale, row.limit)
    return None if shown == want else f"the ERP wants {want}, the platform shows {shown}"


def _shows(active: bool | None, quantity: int, least: int) -> bool:
    """Whether a customer can buy a product with this flag, if this was the last quantity sent. Null: the ERP never gave a flag."""
    return active is not False and quantity >= least


def _item(row: dict[str, Any]) -> Item:
    price = None if row["price"] is None else int(row["price"] * 1000)
    return (row["sku"], price, row["quantity"], row["active"], row["max_sales_quantity"])
