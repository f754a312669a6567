"""What may count as acknowledged (I2), and that ledger, lake and warehouse agree (I6): computed from the outcomes, job by job."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from simulation.broken import Broken
from simulation.facts import FIELDS

if TYPE_CHECKING:
    import datetime as dt

    from simulation.erp import Key
    from simulation.facts import Facts, Taken

State = dict[str, dict[str, Any]]


_OUTCOMES = """
SELECT o.*, vr.snapshot_path FROM warehouse.sku_outcome AS o JOIN ledger.job AS j USING (job_id)
LEFT JOIN ledger.batch AS b USING (batch_id) LEFT JOIN ledger.vendor_run AS vr ON vr.run_id = b.run_id AND vr.vendor = o.vendor
"""


class Acknowledged:
    """Checks the baselines of one world."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._world = facts.world

    def check(self, taken: Taken) -> None:
        self._baseline_is_proven(taken)
        self._baseline_is_what_was_accepted()

    def at(self, vendor: str, when: dt.datetime) -> State:
        """What was acknowledged of a vendor at an instant, by SKU."""
        return self._folded(when).get(vendor, {})

    def _baseline_is_proven(self, taken: Taken) -> None:
        """I2: each acknowledged value was in an item of a job that the platform completed without an error for it, or was shown since."""
        if self._facts.has_struck_now("job_id_of_another"):
            return  # a job id whose own answer was never read looks like a right one
        proven: dict[tuple[str, str], set[Any]] = defaultdict(set)
        for job, items in taken:
            at_once = self._facts.answered_at_once(items)
            if job.state == "COMPLETED" or at_once:
                for (sku, *values), error in items:
                    if error is None or at_once or self._facts.has_struck_now("log_of_another"):
                        proven[job.vendor, sku] |= set(zip(FIELDS, values, strict=True))
        for row in self._world.rows(
            "SELECT o.*, j.created_at FROM warehouse.sku_outcome o JOIN ledger.job j USING (job_id) WHERE o.state = 'accepted'"
        ):
            if self._world.listed.proves(row.vendor, row.sku, _values(row), row.created_at):
                proven[row.vendor, row.sku] |= set(_values(row).items())
        exported = self._exported()
        for row in self._world.rows("SELECT * FROM warehouse.baseline"):
            for name, value in _values(row).items():
                shown = (row.sku, name, getattr(row, name)) in exported.get(row.vendor, ())
                if (name, value) not in proven[row.vendor, row.sku] and not shown:
                    raise Broken(
                        "I2",
                        f"{row.vendor}/{row.sku}: {name} {value} is acknowledged; no completed job carried it, no listing or export showed it",
                    )

    def _exported(self) -> dict[str, set[Any]]:
        """The values that exports have shown, by vendor."""
        jobs = self._world.platform_rows("SELECT file, vendor FROM job WHERE kind = 'export' AND file IS NOT NULL")
        files = {job.file: job.vendor for job in jobs}
        return {vendor: self._world.listed.exported(vendor, files) for vendor in set(files.values())}

    def _baseline_is_what_was_accepted(self) -> None:
        """The baseline folds out of the outcomes of jobs, in warehouse and lake alike: accepted is known, unaccounted is unknown."""
        folded = {(vendor, sku): values for vendor, state in self._folded().items() for sku, values in state.items()}
        in_warehouse = {
            (row.vendor, row.sku): {name: getattr(row, name) for name in FIELDS}
            for row in self._world.rows("SELECT * FROM warehouse.baseline")
        }
        if in_warehouse != folded:
            raise Broken(
                "I6", f"the warehouse's baseline is not what was accepted: {_first_difference(in_warehouse, folded)}"
            )
        stored: dict[Key, dict[str, Any]] = {}
        beside = {
            (row.vendor, row.sku): (row.barcode, row.sales_buffer, row.left_erp)
            for row in self._world.rows("SELECT * FROM warehouse.baseline")
        }
        for row in self._world.rows(
            "SELECT v.vendor, b.path FROM ledger.vendor v JOIN ledger.baseline b ON b.vendor = v.vendor AND b.version = v.baseline_version"
        ):
            for one in self._facts.file(row.path):
                stored[row.vendor, one["sku"]] = _fields(one)
                if beside.get((row.vendor, one["sku"])) != (one["barcode"], one["sales_buffer"], one["left"]):
                    raise Broken(
                        "I6", f"{row.vendor}/{one['sku']}: lake {one}, warehouse {beside.get((row.vendor, one['sku']))}"
                    )
        if stored != in_warehouse:
            raise Broken(
                "I6", f"lake and warehouse hold different baselines: {_first_difference(stored, in_warehouse)}"
            )

    def _folded(self, until: dt.datetime | None = None) -> dict[str, State]:
        """Version by version: the outcomes of jobs, and the values that exports made unknown or confirmed."""
        outcomes: dict[int, list[Any]] = defaultdict(list)
        for row in self._world.rows(_OUTCOMES):
            outcomes[row.job_id].append(row)
        exported: dict[str, set[Any]] | None = None
        folded: dict[str, State] = {}
        for version in self._world.rows("SELECT * FROM ledger.baseline ORDER BY vendor, version"):
            if until is not None and version.created_at > until:
                continue
            state = folded.setdefault(version.vendor, {})
            if version.job_id is None:
                exported = self._exported() if exported is None else exported
                self._moved_by_export(version, state, exported.get(version.vendor, set()))
            for row in outcomes[version.job_id]:
                if row.state == "rejected":
                    if row.active is False and "not found" in row.reason and not self._in_extract(row):
                        state.pop(row.sku, None)  # neither side has it any more
                    continue
                sent = {name: getattr(row, name) for name in FIELDS if getattr(row, name) is not None}
                known = sent if row.state == "accepted" else dict.fromkeys(sent)
                state[row.sku] = state.get(row.sku, dict.fromkeys(FIELDS)) | known
        return folded

    def _in_extract(self, row: Any) -> bool:
        return row.snapshot_path is not None and any(
            one["sku"] == row.sku for one in self._facts.file(row.snapshot_path)
        )

    def _moved_by_export(self, version: Any, state: State, exported: set[Any]) -> None:
        """An export makes values unknown or confirms unconfirmed ones. It adds no SKU and removes none."""
        stored = {row["sku"]: _fields(row) for row in self._facts.file(version.path)}
        if stored.keys() != state.keys():
            raise Broken("I6", f"{version.vendor}: an export has added or removed SKUs of the baseline")
        for sku, values in stored.items():
            for name, value in values.items():
                before = state[sku][name]
                if value in {before, None}:
                    continue
                if before is not None:
                    raise Broken("I7", f"{version.vendor}/{sku}: an export replaced the acknowledged {name} {before}")
                if (sku, name, value) not in exported:
                    raise Broken("I2", f"{version.vendor}/{sku}: {name} {value} was confirmed, and no export showed it")
        state.update(stored)


def _fields(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in FIELDS}


def _values(row: Any) -> dict[str, Any]:
    """The values of a warehouse row without nulls, the price in thousandths."""
    values = {name: getattr(row, name) for name in FIELDS if getattr(row, name) is not None}
    return values | ({"price": int(values["price"] * 1000)} if "price" in values else {})


def _first_difference(one: dict[Any, Any], other: dict[Any, Any]) -> str:
    key = next(key for key in sorted(one.keys() | other.keys()) if one.get(key) != other.get(key))
    return f"{key}: {one.get(key)} and {other.get(key)}"
