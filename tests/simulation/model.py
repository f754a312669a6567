"""The naive model: what must be true after every action, told from outside the house.

It reads the ledger's and the warehouse's tables, the lake's files and the platform's own memory, and knows nothing of how the
house comes to its decisions. A `Broken` names the invariant.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shelfsync.lake.store import Lake
from simulation.erp import VENDORS

if TYPE_CHECKING:
    from simulation.erp import Key, Row
    from simulation.world import World

Item = tuple[str, int | None, int | None, bool | None, int | None]
"""A SKU with price in thousandths, quantity, active and sales limit: what one item says."""

FIELDS = ("price", "quantity", "active", "max_sales_quantity")
REMOVED_FREE, REMOVED_SHARE = 5, Fraction("0.3")
PORTAL_PRICE = Decimal("9000.5")
LEFT = "it left the ERP and is still on sale"
ENDED = ("acknowledged", "unconfirmed", "failed", "refused")


class Broken(AssertionError):  # noqa: N818  an invariant, broken
    """An invariant does not hold: its name and the case."""

    def __init__(self, invariant: str, case: str) -> None:
        super().__init__(f"{invariant}: {case}")
        self.invariant = invariant


class Model:
    """Watches one world from its reset on."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._lake = Lake("memory://simulation")
        self._items: dict[str, list[dict[str, Any]]] = {}
        self._shown: dict[Key, int] = {}
        self.struck: Counter[str] = Counter()
        """Faults that have struck, by place and kind."""

    def check(self) -> None:
        """Everything that has to hold at any time."""
        jobs = self._jobs()
        taken = self._taken()
        self._conservation(jobs)
        self._warehouse_knows(jobs)
        self._baseline_is_proven(taken)
        self._baseline_is_what_was_accepted()
        self._nothing_older_is_sent(taken)
        self._nothing_older_is_shown()
        self._one_open_job(jobs, taken)
        self._no_mass_deactivation()
        self._every_difference_is_accounted_for()
        self._request_limit()

    def note_faults(self) -> None:
        """Remembers what has struck before the rules are replaced."""
        for rule in self._world.fault_rules():
            self.struck[f"{rule['at']}/{rule['kind']}"] += rule["struck"]

    def has_struck(self, *kinds: str) -> bool:
        return any(count and place.split("/")[1] in kinds for place, count in self.struck.items())

    def _jobs(self) -> list[Any]:
        return self._world.rows(
            "SELECT j.*, b.items_path, b.generation, b.run_id, b.item_count FROM ledger.job j JOIN ledger.batch b USING (batch_id)"
            " ORDER BY job_id"
        )

    def _taken(self) -> list[tuple[Any, tuple[Item, ...]]]:
        """What the platform has taken on, in its order: (job, items)."""
        jobs = self._world.platform_rows(
            "SELECT seq, job_id, vendor, state FROM job WHERE kind = 'update' AND state <> 'RECEIVING' ORDER BY seq"
        )
        items: dict[int, list[Any]] = defaultdict(list)
        for row in self._world.platform_rows(
            "SELECT job_seq, sku, barcode, price_milli, quantity, active, sales_limit, error FROM job_item ORDER BY job_seq, number"
        ):
            active = None if row.active is None else bool(row.active)
            sku = self._world.shape.sku_of(row.sku, row.barcode)
            items[row.job_seq].append(((sku, row.price_milli, row.quantity, active, row.sales_limit), row.error))
        return [(job, tuple(items[job.seq])) for job in jobs]

    def _sent(self, path: str) -> list[dict[str, Any]]:
        if path not in self._items:
            self._items[path] = self._lake.read_table(path).to_pylist()
        return self._items[path]

    def _conservation(self, jobs: list[Any]) -> None:
        counts: dict[int, Counter[str]] = defaultdict(Counter)
        skus: dict[int, list[str]] = defaultdict(list)
        for row in self._world.rows("SELECT job_id, sku, state FROM warehouse.sku_outcome"):
            counts[row.job_id][row.state] += 1
            skus[row.job_id].append(row.sku)
        for job in jobs:
            told = (job.accepted, job.refused, job.unaccounted)
            if job.accepted is None:
                if skus[job.job_id]:
                    raise Broken("I1", f"job {job.job_id} ({job.state}) has outcomes and no counts")
                continue
            if sum(told) != job.sent or job.sent != job.item_count:
                raise Broken("I1", f"job {job.job_id}: {job.sent} sent, {told} told")
            kept = counts[job.job_id]
            if (kept["accepted"], kept["refused"], kept["unaccounted"]) != told:
                raise Broken("I1", f"job {job.job_id}: counts {told}, warehouse {dict(kept)}")
            if sorted(skus[job.job_id]) != sorted(row["sku"] for row in self._sent(job.items_path)):
                raise Broken("I1", f"job {job.job_id}: the warehouse has other SKUs than were sent")

    def _warehouse_knows(self, jobs: list[Any]) -> None:
        known = {row.job_id: row for row in self._world.rows("SELECT * FROM warehouse.catalog_job")}
        for job in jobs:
            if job.state not in ENDED:
                continue
            row = known.get(job.job_id)
            if row is None:
                raise Broken("I6", f"job {job.job_id} has ended {job.state}, and the warehouse does not know it")
            want = (job.state, job.sent, job.accepted or 0, job.refused or 0, job.unaccounted or 0, job.platform_job_id)
            have = (row.state, row.sent, row.accepted, row.refused, row.unaccounted, row.platform_job_id)
            if want != have:
                raise Broken("I6", f"job {job.job_id}: ledger {want}, warehouse {have}")

    def _baseline_is_proven(self, taken: list[Any]) -> None:
        """I2: each acknowledged value was in an item of a job that the platform completed without an error for it, or was shown since."""
        if self.has_struck_now("job_id_of_another"):
            return  # a number that nobody else has claimed, because its own answer was never read, cannot be told from a right one
        proven: dict[tuple[str, str], set[Any]] = defaultdict(set)
        for job, items in taken:
            at_once = self._answered_at_once(items)
            if job.state == "COMPLETED" or at_once:
                for (sku, *values), error in items:
                    if error is None or at_once or self.has_struck_now("log_of_another"):
                        proven[job.vendor, sku] |= set(zip(FIELDS, values, strict=True))
        for row in self._world.rows(
            "SELECT o.*, j.created_at FROM warehouse.sku_outcome o JOIN ledger.job j USING (job_id) WHERE o.state = 'accepted'"
        ):
            if self._world.listed.proves(row.vendor, row.sku, _values(row), row.created_at):
                proven[row.vendor, row.sku] |= set(_values(row).items())
        for row in self._world.rows("SELECT * FROM warehouse.baseline"):
            for name, value in _values(row).items():
                if (name, value) not in proven[row.vendor, row.sku]:
                    raise Broken(
                        "I2",
                        f"{row.vendor}/{row.sku}: {name} {value} is acknowledged; no completed job carried it and no listing showed it",
                    )

    def _answered_at_once(self, items: tuple[Any, ...]) -> bool:
        """An older platform answers a single item with its SKU, whatever becomes of it."""
        return len(items) == 1 and self._world.choices.single_item_answer == "sku"

    def believed_too_early(self) -> bool:
        """Whether a single item was answered at once and then not done, which nobody can find out but a full sync."""
        return any(
            self._answered_at_once(items) and (job.state != "COMPLETED" or items[0][1] is not None)
            for job, items in self._taken()
        )

    def has_struck_now(self, kind: str) -> bool:
        return self.has_struck(kind) or any(
            rule["kind"] == kind and rule["struck"] for rule in self._world.fault_rules()
        )

    def _baseline_is_what_was_accepted(self) -> None:
        """The baseline folds out of the outcomes of jobs, in warehouse and lake alike: accepted is known, unaccounted is unknown."""
        folded: dict[Key, dict[str, Any]] = defaultdict(lambda: dict.fromkeys(FIELDS))
        for row in self._world.rows(
            "SELECT o.*, b.version FROM warehouse.sku_outcome o JOIN ledger.baseline b USING (job_id)"
            " WHERE o.state <> 'refused' ORDER BY b.vendor, b.version"
        ):
            known = row.state == "accepted"
            sent = {name: getattr(row, name) for name in FIELDS if getattr(row, name) is not None}
            folded[row.vendor, row.sku] |= sent if known else dict.fromkeys(sent)
        told = {
            (row.vendor, row.sku): {name: getattr(row, name) for name in FIELDS}
            for row in self._world.rows("SELECT * FROM warehouse.baseline")
        }
        if told != dict(folded):
            raise Broken("I6", f"the warehouse's baseline is not what was accepted: {_first_difference(told, folded)}")
        stored: dict[Key, dict[str, Any]] = {}
        for vendor, rows in self._baselines().items():
            stored |= {(vendor, row["sku"]): {name: row[name] for name in FIELDS} for row in rows}
        if stored != told:
            raise Broken("I6", f"lake and warehouse hold different baselines: {_first_difference(stored, told)}")

    def _baselines(self) -> dict[str, list[dict[str, Any]]]:
        current = self._world.rows(
            "SELECT v.vendor, b.path FROM ledger.vendor v JOIN ledger.baseline b ON b.vendor = v.vendor AND b.version = v.baseline_version"
        )
        return {row.vendor: self._sent(row.path) for row in current}

    def _nothing_older_is_sent(self, taken: list[Any]) -> None:
        """I4: the prices that reach the platform for a SKU go along what the ERP wanted, never back."""
        reached: dict[Key, int] = {}
        for job, items in taken:
            for (sku, price_milli, *_), _error in items:
                if price_milli is not None:
                    key = (job.vendor, sku)
                    reached[key] = self._further(
                        key, Decimal(price_milli) / 1000, reached.get(key, 0), f"job {job.seq} brings"
                    )

    def _nothing_older_is_shown(self) -> None:
        """I4 at the platform, as far as it does jobs in the order in which it took them."""
        if self.has_struck_now("job_first"):
            return
        for vendor in VENDORS:
            for sku, product in self._world.platform.products(vendor).items():
                price = Decimal(str(product["price"]))
                key = (vendor, sku)
                if price not in {Decimal("0.5"), PORTAL_PRICE}:
                    self._shown[key] = self._further(key, price, self._shown.get(key, 0), "the platform shows")

    def _further(self, key: Key, price: Decimal, since: int, what: str) -> int:
        wanted = self._world.erp.wanted.get(key, [])
        try:
            return wanted.index(price, since)
        except ValueError:
            raise Broken(
                "I4", f"{'/'.join(key)}: {what} {price}; wanted in turn {wanted}, already at {since}"
            ) from None

    def _one_open_job(self, jobs: list[Any], taken: list[Any]) -> None:
        """I5, and at the platform too: what it works on beside is a repeat, or one that the ledger has given up knowingly."""
        open_of = Counter(job.vendor for job in jobs if job.state in {"submitting", "open", "confirmed"})
        if any(count > 1 for count in open_of.values()):
            raise Broken("I5", f"open jobs {dict(open_of)}")
        states: dict[tuple[str, tuple[Item, ...]], set[str]] = defaultdict(set)
        for job in jobs:
            states[job.vendor, tuple(_item(row) for row in self._sent(job.items_path))].add(job.state)
        working: dict[str, set[tuple[Item, ...]]] = defaultdict(set)
        for job, told in taken:
            items = tuple(item for item, _ in told)
            known = states.get((job.vendor, items), set())
            if not known:
                raise Broken("I5", f"platform job {job.seq} of {job.vendor} is in no row of the ledger")
            if known <= {"superseded", "refused"}:
                raise Broken("I7", f"platform job {job.seq} of {job.vendor} was taken, and the ledger says {known}")
            if job.state in {"QUEUED", "IN_PROGRESS"} and not known & {"unconfirmed"}:
                working[job.vendor].add(items)
        for vendor, bodies in working.items():
            if len(bodies) > 1:
                raise Broken("I5", f"the platform works on {len(bodies)} different requests of {vendor}")

    def _no_mass_deactivation(self) -> None:
        """I9: no generation removes more than the guard lets through, and nobody is off whom nobody ever wanted off."""
        plans = self._world.rows(
            "SELECT b.vendor, b.generation, b.items_path, b.state, base.path AS base FROM ledger.batch b"
            " LEFT JOIN ledger.baseline base ON base.vendor = b.vendor AND base.version = b.base_version"
        )
        removed: dict[tuple[str, int], set[str]] = defaultdict(set)
        on_sale: dict[tuple[str, int], int] = {}
        for row in plans:
            key = (row.vendor, row.generation)
            removed[key] |= {item["sku"] for item in self._sent(row.items_path) if item["change"] == "removed"}
            on_sale[key] = sum(one["active"] is not False for one in self._sent(row.base)) if row.base else 0
        for key, skus in removed.items():
            if len(skus) > REMOVED_FREE and len(skus) > REMOVED_SHARE * on_sale[key]:
                raise Broken("I9", f"{key}: {len(skus)} of {on_sale[key]} SKUs removed at once")
        for vendor in VENDORS:
            for sku, product in self._world.platform.products(vendor).items():
                if not product["active"] and (vendor, sku) not in self._world.erp.ever_off:
                    raise Broken("I9", f"{vendor}/{sku} is off, and nobody ever wanted that")

    def _every_difference_is_accounted_for(self) -> None:
        """I1: where the newest run says that a vendor is done, what still differs is held, rejected or told as unaccounted."""
        newest = self._world.rows(
            "SELECT DISTINCT ON (vendor) vr.* FROM ledger.vendor_run vr JOIN ledger.run USING (run_id)"
            " WHERE NOT dry_run ORDER BY vendor, generation DESC"
        )
        baselines = self._baselines()
        for run in newest:
            if run.state not in {"acknowledged", "unchanged"} or run.snapshot_path is None:
                continue
            base = {row["sku"]: row for row in baselines.get(run.vendor, [])}
            held = {row["sku"] for row in self._sent(run.held_path)} if run.held_path else set()
            spared = {row["sku"] for row in self._sent(run.spared_path)} if run.spared_path else set()
            rejected = {
                row.sku for row in self._world.rows("SELECT sku FROM ledger.rejection WHERE vendor = :v", v=run.vendor)
            }
            silent = {
                row.sku
                for row in self._world.rows(
                    "SELECT sku FROM warehouse.sku_outcome o JOIN warehouse.catalog_job USING (job_id)"
                    " WHERE o.vendor = :v AND run_id = :r AND o.state = 'unaccounted'",
                    v=run.vendor,
                    r=run.run_id,
                )
            }
            for row in self._sent(run.snapshot_path):
                have = base.get(row["sku"], {})
                differs = [name for name in FIELDS if row[name] is not None and row[name] != have.get(name)]
                if differs == ["quantity"] and row["sku"] in spared:
                    least = self._world.erp.least
                    if _shows(row, row, least) != _shows(row, have, least):
                        raise Broken(
                            "I1", f"run {run.run_id}: {run.vendor}/{row['sku']} is spared, and it has an effect"
                        )
                    continue
                if differs and row["sku"] not in held | rejected | silent:
                    raise Broken(
                        "I1", f"run {run.run_id} is {run.state} for {run.vendor}, and {row['sku']} differs in {differs}"
                    )

    def _request_limit(self) -> None:
        most = self._world.platform.journal(after=10**9)["max_requests_in_60s"]
        if most > 60:
            raise Broken("I13", f"{most} requests in 60 s")


def converged(world: World, *, may_be_rejected: bool) -> list[str]:
    """I3: where platform and ERP still differ although nothing holds, rejects or quarantines it; one line each."""
    held = {(row.vendor, row.sku) for row in _held(world)}
    rejected = {(row.vendor, row.sku) for row in world.rows("SELECT vendor, sku FROM ledger.rejection")}
    lines = []
    for vendor in VENDORS:
        shown = world.platform.products(vendor)
        wanted = {sku: row for (of, sku), row in world.erp.rows.items() if of == vendor}
        for sku in sorted(shown.keys() | wanted):
            key = (vendor, sku)
            if key in held or (may_be_rejected and key in rejected):
                continue
            line = _difference(wanted.get(sku), shown.get(sku), rejected=key in rejected, known=_known(world, key))
            if line:
                lines.append(f"{vendor}/{sku}: {line}")
    return lines


def _held(world: World) -> list[Any]:
    """SKUs that the newest run of each vendor holds back."""
    paths = world.rows(
        "SELECT DISTINCT ON (vendor) vendor, held_path FROM ledger.vendor_run WHERE state <> 'failed' ORDER BY vendor, generation DESC"
    )
    lake = Lake("memory://simulation")
    return [
        _Held(row.vendor, one["sku"])
        for row in paths
        if row.held_path
        for one in lake.read_table(row.held_path).to_pylist()
    ]


class _Held:
    def __init__(self, vendor: str, sku: str) -> None:
        self.vendor, self.sku = vendor, sku


def _known(world: World, key: Key) -> bool:
    return bool(world.rows("SELECT 1 FROM warehouse.baseline WHERE vendor = :v AND sku = :s", v=key[0], s=key[1]))


def _difference(row: Row | None, product: dict[str, Any] | None, *, rejected: bool, known: bool) -> str | None:
    if row is not None and row.bad is not None:
        return None  # quarantined: it keeps what was acknowledged
    if product is None:
        return None if row is None or rejected or known else "the platform does not know it, and it is not rejected"
    if row is None:
        return LEFT if product["active"] and known else None
    told = (Decimal(str(product["price"])), product["active"], product["max_sales_quantity"])
    want = (row.price, row.on_sale, row.limit)
    return None if told == want else f"the ERP wants {want}, the platform shows {told}"


def _shows(row: dict[str, Any], told: dict[str, Any], least: int) -> bool:
    """Whether a customer can buy what is active as the ERP says, when this was the quantity told last."""
    return row["active"] is not False and told["quantity"] >= least


def _values(row: Any) -> dict[str, Any]:
    """What a row of the warehouse says, the price in thousandths; without the fields that it does not say."""
    said = {name: getattr(row, name) for name in FIELDS if getattr(row, name) is not None}
    return said | ({"price": int(said["price"] * 1000)} if "price" in said else {})


def _item(row: dict[str, Any]) -> Item:
    price = None if row["price"] is None else int(row["price"] * 1000)
    return (row["sku"], price, row["quantity"], row["active"], row["max_sales_quantity"])


def _first_difference(one: dict[Any, Any], other: dict[Any, Any]) -> str:
    key = next(key for key in sorted(one.keys() | other.keys()) if one.get(key) != other.get(key))
    return f"{key}: {one.get(key)} and {other.get(key)}"
