"""A vendor whose rows are those of its run before, which changed nothing, ends its run after the reading."""

from __future__ import annotations

import functools
import hashlib
import logging
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import shelfsync
from shelfsync import metrics
from shelfsync.catalog.ledger import runs, same_rows
from shelfsync.catalog.warehouse import quarantine
from shelfsync.decisions.ledger import hold_expiry
from shelfsync.decisions.state import Subject
from shelfsync.errors import in_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.catalog.ledger.runs import Run
    from shelfsync.catalog.ledger.same_rows import Quiet
    from shelfsync.context import Context
    from shelfsync.settings import Settings
    from shelfsync.store.lake import Lake

log = logging.getLogger(__name__)

LOOK_AT_ONCE = 8
"""So many snapshots are looked for side by side: an object store takes a request for each."""


def pass_over(context: Context, run: Run, names: Sequence[str]) -> list[str]:
    """Ends the run of the vendors whose rows are the same, by one statement for all of them; returns the vendors that are left.

    Equal rows can lead to another result only by what is listed here. Each is part of a digest, or lets the vendor take every step.

    Part of a digest:
    - the text of every column in every row, and their order (`rows.digest`): also names of products, and values that a mapping has made
    - the settings of normalise and suppression, the content of the buffers' file, the key of items, and the code (`rules_of`)
    - the SKUs of the newest export or listing, which a new SKU is compared with (`rules_digest`)

    Lets the vendor take every step (`catalog.ledger.same_rows.quiet`):
    - a full run, a plan, its application, an urgent run of some SKUs, and a reading that is compared with the reported changes
    - a run before that failed, was passed over, sent, held, suppressed, quarantined or left out anything, or found a SKU absent
    - another version of the baseline: something was acknowledged, observed, marked to be sent again, or taken off sale
    - a rejection, or a delta before that left out a rejected SKU (`diff`): it may be released or expire
    - a hold in force, also one that a person declined or that expired, and an approval that may still release something
    - a restoration, and the ERP's changes under one that are still followed
    - an open job, a planned batch, and a living full sync that is at work with the vendor
    - a snapshot that the lake has lost, and a lake that cannot be asked
    """
    if run.dry_run or run.full or run.skus:
        return list(names)
    rules = rules_of(context.settings)
    same = kept(context.lake, _same(context, run.run_id, names, rules))
    if not same:
        return list(names)
    with context.engine.begin() as connection:
        ended = same_rows.repeat(connection, run.run_id, same)
        quarantine.clear(connection, run.run_id, ended)
        hold_expiry.expire(connection, subject=Subject.CATALOG)  # as the guards do: of these vendors they see nothing
    metrics.count("extract.vendors.same", len(ended))
    log.info("extract: %d of %d vendors were read again, the same", len(ended), len(names))
    return sorted(set(names).difference(ended))


def to_check(context: Context, run_id: int, names: Sequence[str], rules: str) -> dict[str, Quiet]:
    """The vendors that a delta would have passed over, of a full run; of any other run none. `rules`: by `rules_of`."""
    with context.engine.connect() as connection:
        run = runs.read_run(connection, run_id)
    return {one.vendor: one for one in _same(context, run_id, names, rules)} if run.full and not run.dry_run else {}


def _same(context: Context, run_id: int, names: Sequence[str], rules: str) -> list[Quiet]:
    hours = context.settings.guards.approval_hours
    with context.engine.connect() as connection:
        found = same_rows.quiet(connection, run_id, names, approval_hours=hours)
    return [one for one in found if one.rules_digest_before == rules_digest(rules, one.observed_path)]


def kept(lake: Lake, same: Sequence[Quiet]) -> list[Quiet]:
    """Those whose snapshot is in the lake. If the lake cannot be asked, there is none, and no further one is looked for."""
    if not same:
        return []
    with ThreadPoolExecutor(min(LOOK_AT_ONCE, len(same)), thread_name_prefix="snapshots") as threads:
        try:
            found = list(threads.map(lake.exists, (one.snapshot_path_before for one in same)))
        except Exception as error:  # noqa: BLE001  each kind of storage has its own errors; the steps report what is wrong
            log.warning("extract: no vendor ends with the reading: the lake cannot be asked: %s", in_one_line(error))
            return []
    return [one for one, is_kept in zip(same, found, strict=True) if is_kept]


def rules_of(settings: Settings) -> str:
    """A digest of what acts on the rows of every vendor: settings and code."""
    file = settings.suppression.buffers_file
    parts = (
        code_digest(),
        settings.normalise.model_dump_json(),
        settings.suppression.model_dump_json(),
        "" if file is None else _content(file),
        settings.platform.item_key,
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def rules_digest(rules: str, observed_path: str | None) -> str:
    """The digest of all that acts on a vendor's rows besides its baseline. `observed_path`: its newest export or listing."""
    return hashlib.sha256(f"{rules}\n{observed_path}".encode()).hexdigest()


def _content(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"  # diff reports it


@functools.cache
def code_digest() -> str:
    """A digest of what makes products and changes out of rows: this version and its files, pyarrow and numpy."""
    root = Path(shelfsync.__file__).parent
    found = hashlib.sha256(" ".join(version(name) for name in ("shelfsync", "pyarrow", "numpy")).encode())
    for file in sorted((*root.glob("*.py"), *(root / "catalog").rglob("*.py"), *(root / "rows").rglob("*.py"))):
        found.update(file.read_bytes())
    return found.hexdigest()
