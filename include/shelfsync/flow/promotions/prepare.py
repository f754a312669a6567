"""prepare: the files of an extract to the promotions that the ERP wants, a vendor at a time: normalise, validate, guard, group."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shelfsync.flow.promotions.facts import facts_of, known_vendors
from shelfsync.ledger import promotion_holds, promotion_rejections
from shelfsync.ledger import promotions as told_promotions
from shelfsync.promotions.shape import ENTRY, EVERY, RAW
from shelfsync.warehouse import promotions as record

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.promotion_runs import PromotionRun
    from shelfsync.ledger.promotions import Promotion
    from shelfsync.promotions.group import Wanted
    from shelfsync.promotions.guard import Hold
    from shelfsync.promotions.head import Head
    from shelfsync.promotions.normalise import Normalised

log = logging.getLogger(__name__)


@dataclass
class Prepared:
    """What the ERP wants, and what a person should know of it."""

    wanted: list[Wanted] = field(default_factory=list)
    frozen: dict[str, str] = field(default_factory=dict)
    """Campaigns that are left alone, and why."""
    holds: list[Hold] = field(default_factory=list)
    again: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Promotion -> SKUs that were refused and may be taken now."""
    vendors_known: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    lines: list[str] = field(default_factory=list)


def prepare(parts: Parts, run: PromotionRun) -> Prepared:
    """Goes through the vendors one after the other; in memory there are one vendor's rows, and a hash a promotion and vendor."""
    return _Preparation(parts, run).done()


class _Preparation:
    def __init__(self, parts: Parts, run: PromotionRun) -> None:
        from shelfsync.promotions.group import Groups
        from shelfsync.promotions.head import Heads

        self._parts = parts
        self._run = run
        self._settings = parts.settings.promotions
        self._heads = Heads(self._settings)
        self._groups = Groups(self._write_entries)
        self._prepared = Prepared(vendors_known=known_vendors(parts))
        with parts.lake.open(run.manifest_path or "") as file:
            self._manifest: dict[str, Any] = json.loads(file.read())
        with parts.engine.connect() as connection:
            self._released = promotion_holds.released(connection)
            self._told = told_promotions.current(connection)

    def done(self) -> Prepared:
        prepared, files = self._prepared, self._manifest["vendors"]
        prepared.counts["rows"] = self._manifest["rows"]
        every = self._normalised(files.get(EVERY))
        raw_of_every = self._raw(files.get(EVERY))
        self._quarantine(EVERY, every.quarantine)
        named = set(files) - {EVERY}
        has_every = every.rows.num_rows + every.kept.num_rows > 0
        if has_every and not prepared.vendors_known:
            for number in set(every.rows["head"].to_pylist()):
                prepared.frozen[self._heads.all[number].campaign] = (
                    "it is for all vendors, and none is known yet: the catalog has to be synced first"
                )
        for vendor in sorted(named | (set(prepared.vendors_known) if has_every else set())):
            self._vendor(vendor, files.get(vendor), every, raw_of_every)
        self._freeze(every)
        star = frozenset(prepared.vendors_known) if self._settings.all_vendors == "star" else None
        prepared.wanted, clashes = self._groups.wanted(star=star)
        prepared.frozen |= clashes
        prepared.counts["promotions"] = len(prepared.wanted)
        return prepared

    def _vendor(self, vendor: str, path: str | None, every: Normalised, raw_of_every: pa.Table) -> None:
        import pyarrow as pa

        from shelfsync.promotions.guard import guard
        from shelfsync.promotions.normalise import merged, set_aside
        from shelfsync.promotions.validate import validate

        own = self._normalised(path)
        both = merged(own, every, self._heads.all)
        self._freeze(both)
        facts = facts_of(self._parts, vendor)
        judged = validate(both.rows, self._heads.all, facts)
        guarded = guard(
            judged.rows,
            self._heads.all,
            facts,
            self._settings,
            vendor=vendor,
            released=lambda hold: hold.fingerprint in self._released,
        )
        aside = own.quarantine
        if len(judged.row_numbers):
            raw = pa.concat_tables([self._raw(path), raw_of_every])
            aside = pa.concat_tables([aside, set_aside(raw, judged.row_numbers, judged.words)])
        self._quarantine(vendor, aside)
        prepared = self._prepared
        prepared.holds += guarded.holds
        prepared.counts["held"] += guarded.kept.num_rows
        prepared.counts["overlaps_said"] += judged.said
        prepared.counts["pairs"] += guarded.rows.num_rows
        prepared.counts["pairs_unknown"] += len(judged.unknown)
        if judged.said:
            prepared.lines.append(
                f"vendor {vendor}: {judged.said} SKUs are in two campaigns at a time; the later start wins, as is meant"
            )
        if len(judged.unknown):
            prepared.lines.append(
                f"vendor {vendor}: {len(judged.unknown)} SKUs of promotions are not in its assortment as far as it is known, such as {judged.unknown[0].as_py()}"
            )
        self._group(vendor, guarded.rows, pa.concat_tables([both.kept, guarded.kept]), judged.kept)
        self._look_for_released(vendor, facts)

    def _group(self, vendor: str, rows: pa.Table, unsure: pa.Table, senseless: pa.Table) -> None:
        """`unsure` (KEPT): a person or the ERP has yet to say what is meant. `senseless`: cannot be had. Both stay as they were told."""
        import pyarrow as pa

        from shelfsync.promotions.group import contents, filled

        found, kept = dict(contents(rows)), pa.concat_tables([unsure, senseless])
        for number in sorted(set(found) | set(kept["head"].to_pylist())):
            head = self._heads.all[number]
            entries = found.get(number, ENTRY.empty_table())
            mine = _of_head(kept, number)
            told = self._told_to(vendor, head) if len(mine) or not self._run.complete else []
            for one in told:
                held = self._parts.lake.read_table(one.told_path or "")
                entries = filled(entries, mine if self._run.complete else held["sku"].combine_chunks(), held)
            if not told and len(mine):
                self._stay(vendor, head, _of_head(unsure, number))
            self._groups.add(number, head, vendor, entries)

    def _stay(self, vendor: str, head: Head, skus: pa.Array) -> None:
        """Leaves a campaign alone when SKUs of which nobody knows what is meant would fall out with the promotion that it replaces."""
        import pyarrow.compute as pc

        for one in self._told:
            if one.state != "told" or one.campaign != head.campaign or not {vendor, EVERY} & set(one.vendors):
                continue
            held = self._parts.lake.read_table(one.told_path)["sku"] if one.told_path is not None else skus.slice(0, 0)
            count = pc.sum(pc.is_in(skus, value_set=held)).as_py() or 0
            if count:
                self._prepared.frozen.setdefault(
                    head.campaign,
                    f"{count} SKUs of it at vendor {vendor} are held or set aside, and its new name or window would end the promotion that"
                    " they are in; it stays as it was told until that is decided",
                )

    def _told_to(self, vendor: str, head: Head) -> list[Promotion]:
        """The promotions by which the platform has this head at this vendor, or may; the one made last is the first.

        They are more than one while the one that others replace has not ended. Those that were ended or refused hold nothing.
        """
        found = []
        for one in self._told:
            same = (one.campaign, one.start_time, one.end_time) == (head.campaign, head.start, head.end)
            same = same and one.header["display_name"] == dict(head.display_name)
            if same and one.there and one.told_path is not None and {vendor, EVERY} & set(one.vendors):
                found.append(one)
        return found[::-1]

    def _look_for_released(self, vendor: str, facts: pa.Table) -> None:
        """Refused pairs whose base price is another one now, or whose SKU the vendor has got meanwhile."""
        with self._parts.engine.connect() as connection:
            refused = promotion_rejections.of_vendor(connection, vendor)
        if not refused:
            return
        prices = dict(zip(facts["sku"].to_pylist(), facts["price"].to_pylist(), strict=True))
        for row in refused:
            price, now_known = prices.get(row["sku"]), row["sku"] in prices
            if (now_known and not row["known"]) or (price is not None and price != row["base_price"]):
                self._prepared.again[row["promotion_id"]].add(row["sku"])

    def _normalised(self, path: str | None) -> Normalised:
        from shelfsync.promotions.normalise import normalise

        length = self._parts.settings.normalise.sku_length_max
        return normalise(self._raw(path), self._heads, self._settings, sku_length_max=length)

    def _raw(self, path: str | None) -> pa.Table:
        return RAW.empty_table() if path is None else self._parts.lake.read_table(path).cast(RAW)

    def _freeze(self, of: Normalised) -> None:
        for campaign in of.frozen:
            self._prepared.frozen.setdefault(campaign, "its head cannot be meant: see warehouse.promotion_quarantine")

    def _quarantine(self, vendor: str, rows: pa.Table) -> None:
        self._prepared.counts["rows_quarantined"] += rows.num_rows
        with self._parts.engine.begin() as connection:
            record.replace_quarantine(connection, self._run.run_id, vendor, rows)

    def _write_entries(self, _head: Head, entries: pa.Table) -> str:
        return self._parts.lake.write_table("promotion_entries", "all", entries)


def _of_head(kept: pa.Table, number: int) -> pa.Array:
    import pyarrow.compute as pc

    skus = kept.filter(pc.equal(kept["head"], number))["sku"].combine_chunks()
    return pc.unique(skus)
