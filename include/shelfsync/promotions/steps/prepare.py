"""prepare: the files of an extract to the promotions that the ERP wants, a vendor at a time: normalise, validate, guard, group."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.assortment import state as catalog_state
from shelfsync.catalog.assortment.known_skus import known_of_any
from shelfsync.decisions.ledger import approvals
from shelfsync.decisions.state import Subject
from shelfsync.errors import some_of
from shelfsync.promotions import forgotten_store, left_alone
from shelfsync.promotions.group import Groups, contents, filled, same_offers
from shelfsync.promotions.guard import guard
from shelfsync.promotions.head import EVERY, Heads
from shelfsync.promotions.ledger import promotions as ledger_promotions
from shelfsync.promotions.ledger import rejections as ledger_rejections
from shelfsync.promotions.normalise import merged, normalise, quarantined, without_what_is_over
from shelfsync.promotions.promotion_name import Named, derived_from, sent_of
from shelfsync.promotions.quarantine_reason import NOT_EXPRESSIBLE
from shelfsync.promotions.rejection_retry import is_other_now
from shelfsync.promotions.schemas import ENTRY, KEPT, RAW
from shelfsync.promotions.steps import holds
from shelfsync.promotions.steps.acknowledge import read_acknowledged
from shelfsync.promotions.steps.assortment import asked_beside, asked_elsewhere, known_assortment, known_vendors
from shelfsync.promotions.validate import validate
from shelfsync.promotions.warehouse import record
from shelfsync.store.lake import OneFileError
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import pyarrow as pa

    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold as DecidedHold
    from shelfsync.promotions.group import Wanted
    from shelfsync.promotions.guard import Guarded, Hold
    from shelfsync.promotions.head import Head
    from shelfsync.promotions.known_promotion import KnownPromotion
    from shelfsync.promotions.ledger.promotions import Promotion
    from shelfsync.promotions.ledger.runs import PromotionRun
    from shelfsync.promotions.normalise import Normalised
    from shelfsync.promotions.validate import Validated

log = logging.getLogger(__name__)


@dataclass
class Prepared:
    """What the ERP wants, and what an operator should know of it."""

    wanted: list[Wanted] = field(default_factory=list)
    frozen: dict[str, str] = field(default_factory=dict)
    """Campaigns that this plan does not change, and why."""
    holds: list[Hold] = field(default_factory=list)
    applied: set[int] = field(default_factory=set)
    """Approved holds of which the guards found rows."""
    spent: set[int] = field(default_factory=set)
    """Approved ends of which no promotion leaves the ERP any more."""
    again: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Promotion -> SKUs that were rejected and may be accepted now."""
    vendors_known: tuple[str, ...] = ()
    forgotten: frozenset[str] = frozenset()
    """Vendors that a person has taken out: no campaign is for them, whatever the ERP says."""
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    unoffered: set[tuple[str, str]] = field(default_factory=set)
    """(campaign, vendor) without an offer, and not because the extract lacks them: the platform cannot express their rows, or the vendor is
    forgotten."""
    waiting: dict[str, int] = field(default_factory=dict)
    """Vendor -> rows that wait for their base price."""
    unread: dict[str, str] = field(default_factory=dict)
    """Vendor -> why its own source could not be read."""
    unplanned: dict[str, str] = field(default_factory=dict)
    """Campaign -> why no request can be made of it."""
    lines: list[str] = field(default_factory=list)
    reasons: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of quarantined rows, by keyword: `rows`, and the `vendor` and `example` of the first one."""


def prepare(context: Context, run: PromotionRun) -> Prepared:
    """Prepares one vendor after the other. Memory holds the rows of one vendor, one hash per promotion and vendor, and each SKU of a campaign."""
    return _Preparation(context, run).done()


def approved_by_kind(approved: Iterable[DecidedHold]) -> dict[tuple[str, str, str | None], list[DecidedHold]]:
    """Approved holds by vendor, rule and campaign."""
    found: dict[tuple[str, str, str | None], list[DecidedHold]] = defaultdict(list)
    for hold in approved:
        found[hold.vendor, hold.rule, hold.campaign].append(hold)
    return dict(found)


class _Preparation:
    def __init__(self, context: Context, run: PromotionRun) -> None:
        self._context = context
        self._run = run
        self._settings = context.settings.promotions
        self._heads = Heads(
            self._settings,
            time_zone=context.settings.time_zone,
            odd_ids=context.settings.normalise.odd_keys == "send",
        )
        self._groups = Groups(self._entries_path)
        self._prepared = Prepared(vendors_known=known_vendors(context))
        with context.lake.open(run.manifest_path or "") as file:
            self._manifest: dict[str, Any] = json.loads(file.read())
        with context.engine.connect() as connection:
            self._approved = approved_by_kind(approvals.approved(connection, Subject.PROMOTIONS))
            self._prepared.forgotten = frozenset(catalog_state.forgotten_vendors(connection))
            self._known = ledger_promotions.current(connection)
            self._now = connection.execute(sa.select(instant())).scalar_one()
        self._elsewhere: pa.Table | None = None
        self._stored = {known.wanted_path for known in self._known}
        self._by_name: dict[tuple[Any, ...], list[Promotion]] = defaultdict(list)
        self._by_campaign: dict[str, list[Promotion]] = defaultdict(list)
        for known in self._known:
            if not known.there:
                continue
            for campaign in known.campaigns:
                self._by_campaign[campaign].append(known)
            for name, _ in derived_from(known.header) if known.acknowledged_path is not None else ():
                self._by_name[name, known.start_time, known.end_time].append(known)

    def done(self) -> Prepared:
        prepared, forgotten = self._prepared, self._prepared.forgotten
        files = {vendor: path for vendor, path in self._manifest["vendors"].items() if vendor not in forgotten}
        prepared.counts["rows"] = self._manifest["rows"]
        unread = self._manifest.get("unread", {})
        prepared.unread = {vendor: why for vendor, why in unread.items() if vendor not in forgotten}
        self._leave_unread_alone()
        every = self._normalised(files.get(EVERY), *prepared.vendors_known)
        raw_of_every = self._raw(files.get(EVERY))
        self._quarantine(EVERY, every.quarantine)
        prepared.counts["rows_repeated"] += every.repeated
        named = set(files) - {EVERY}
        has_every = every.rows.num_rows + every.kept.num_rows > 0
        if has_every and not prepared.vendors_known:
            for number in set(every.rows["head"].to_pylist()):
                prepared.frozen[self._heads.all[number].campaign] = left_alone.NO_VENDOR
        for vendor in sorted(named | (set(prepared.vendors_known) if has_every else set())):
            try:
                self._vendor(vendor, files.get(vendor), every, raw_of_every)
            except OneFileError as error:  # one store stops no other (I10)
                self._pass_over(vendor, error)
        self._freeze(every)
        prepared.lines += [
            f"campaign {campaign}: {'; '.join(lines)}" for campaign, lines in sorted(self._heads.moved.items())
        ]
        star = frozenset(prepared.vendors_known) if self._settings.all_vendors == "star" else None
        known_names = [Named(known.vendors, known.campaigns, known.header) for known in self._known if known.there]
        prepared.wanted, lines = self._groups.wanted(star=star, known=known_names)
        prepared.lines += lines
        self._leave_forgotten_out()
        prepared.counts["promotions"] = len(prepared.wanted)
        words = {reason.word for reason in NOT_EXPRESSIBLE}
        counts = Counter({word: found["rows"] for word, found in prepared.reasons.items() if word in words})
        rows = prepared.counts["rows_not_expressible"] = counts.total()
        if rows:
            by_reason = ", ".join(f"{count:,} {word}" for word, count in counts.most_common())
            prepared.lines.insert(0, f"the platform cannot express {rows:,} rows, so they are not offered: {by_reason}")
        prepared.counts["rows_waiting"] = sum(prepared.waiting.values())
        if prepared.waiting:
            prepared.lines.insert(
                0,
                f"{prepared.counts['rows_waiting']:,} rows wait for base prices of {len(prepared.waiting)} vendors ({some_of(sorted(prepared.waiting))}): sync their catalog with"
                " `shelfsync sync`, correct a SKU that no store has, or give base_price",
            )
        return prepared

    def _leave_forgotten_out(self) -> None:
        prepared = self._prepared
        prepared.unoffered |= forgotten_store.unoffered(prepared.wanted, self._known, prepared.forgotten)
        paths = {vendor: path for vendor, path in self._manifest["vendors"].items() if vendor in prepared.forgotten}
        if paths:
            rows = sum(self._raw(path).num_rows for path in paths.values())
            prepared.lines.insert(
                0,
                f"{rows:,} rows are of stores that are forgotten ({some_of(sorted(paths))}), so they are not offered; they are again"
                " after the next `shelfsync sync` that has rows of the store",
            )

    def _pass_over(self, vendor: str, error: OneFileError) -> None:
        """Leaves all promotions and holds of this vendor as they are: a file of the lake that it needs is gone."""
        prepared = self._prepared
        log.error("promotions, plan: vendor %s: %s", vendor, error)
        prepared.unread[vendor] = str(error)
        prepared.holds = [hold for hold in prepared.holds if hold.vendor != vendor]
        prepared.applied -= {one.hold_id for key, found in self._approved.items() if key[0] == vendor for one in found}
        self._leave_unread_alone()

    def _vendor(self, vendor: str, path: str | None, every: Normalised, raw_of_every: pa.Table) -> None:
        import pyarrow as pa

        own = self._normalised(path, vendor)
        both = merged(own, every, self._heads.all)
        self._prepared.counts["rows_repeated"] += own.repeated
        self._freeze(both)
        both = without_what_is_over(both, self._heads, self._now)
        assortment = known_assortment(self._context, vendor)
        asked = asked_beside(self._context, vendor, both.rows, assortment)
        elsewhere = self._asked_elsewhere(both.rows, assortment, asked)
        judged, guarded = self._judged(vendor, both.rows, assortment, asked, elsewhere)
        quarantine = own.quarantine
        if len(judged.row_numbers):
            raw = pa.concat_tables([self._raw(path), raw_of_every])
            quarantine = pa.concat_tables(
                [quarantine, quarantined(raw, judged.row_numbers, judged.reasons, judged.messages)]
            )
        self._quarantine(vendor, quarantine)
        prepared = self._prepared
        prepared.holds += guarded.holds
        prepared.counts["held"] += guarded.kept.num_rows
        prepared.counts["overlaps_intended"] += judged.intended_overlaps
        prepared.counts["pairs"] += guarded.rows.num_rows
        prepared.counts["pairs_unknown"] += len(judged.unknown)
        if judged.intended_overlaps:
            prepared.lines.append(
                f"vendor {vendor}: {judged.intended_overlaps} SKUs are in two campaigns at a time; the later start wins, as is meant"
            )
        prepared.counts["overlaps_lost"] += len(judged.messages)
        if judged.messages:
            example = next(iter(judged.messages.values()))
            prepared.lines.append(
                f"vendor {vendor}: {len(judged.messages)} rows lose to another campaign of the same time, such as {example}"
            )
        if len(judged.unknown):
            prepared.lines.append(
                f"vendor {vendor}: {len(judged.unknown)} SKUs of promotions are not in its assortment as far as it is known, such as {judged.unknown[0].as_py()}"
            )
        unoffered = pa.concat_tables([both.unoffered, judged.lost])
        unsure = self._placed(vendor, pa.concat_tables([both.kept, guarded.kept]))
        self._group(vendor, guarded.rows, unsure, self._placed(vendor, judged.kept), unoffered)
        campaigns = [
            {self._heads.all[number].campaign for number in table["head"].to_pylist()}
            for table in (unoffered, judged.rows, both.kept, judged.kept)
        ]
        prepared.unoffered |= {(campaign, vendor) for campaign in campaigns[0].difference(*campaigns[1:])}
        self._release_rejections(vendor, assortment)

    def _judged(
        self, vendor: str, rows: pa.Table, assortment: pa.Table, asked: pa.Table | None, elsewhere: pa.Table | None
    ) -> tuple[Validated, Guarded]:
        """What can be sent, and what of it a guard holds.

        A held row wins over no other campaign, unless the platform has its SKU: customers would get neither of the two offers.
        """
        waits: set[int] = set()
        while True:
            judged = validate(
                rows,
                self._heads,
                assortment,
                asked,
                elsewhere=elsewhere,
                rule=self._settings.overlap,
                now=self._now,
                waits=waits,
            )
            guarded = guard(
                judged.rows,
                self._heads.all,
                assortment,
                self._settings,
                vendor=vendor,
                asked=asked,
                elsewhere=elsewhere,
                approved=self._approved_keys,
            )
            winners = self._held_winners(vendor, judged, guarded)
            if winners <= waits:
                return judged, guarded
            waits |= winners

    def _held_winners(self, vendor: str, judged: Validated, guarded: Guarded) -> set[int]:
        """Numbers of held rows that the platform has not, of SKUs that another campaign loses."""
        import pyarrow.compute as pc

        if not judged.lost.num_rows or guarded.rows.num_rows == judged.rows.num_rows:
            return set()
        rows = judged.rows.select(["row_number", "head", "sku"])
        rows = rows.filter(pc.is_in(rows["sku"], value_set=judged.lost["sku"]))
        released = set(guarded.rows["row_number"].to_pylist())
        return {
            row["row_number"]
            for row in rows.to_pylist()
            if row["row_number"] not in released
            and not self._has(vendor, self._heads.all[row["head"]].campaign, row["sku"])
        }

    def _has(self, vendor: str, campaign: str, sku: str) -> bool:
        """Whether the platform has a SKU in a campaign at this vendor, at whatever price and days."""
        return any(
            known.acknowledged_path is not None and {vendor, EVERY} & set(known.vendors) and self._may_have(known, sku)
            for known in self._by_campaign.get(campaign, ())
        )

    def _asked_elsewhere(self, rows: pa.Table, assortment: pa.Table, asked: pa.Table | None) -> pa.Table | None:
        """The price of other vendors for SKUs that neither this one nor its rows of the ERP have: a campaign names them for all."""
        import pyarrow.compute as pc

        from shelfsync.rows.alignment import column

        if not assortment.num_rows:
            return None
        skus = pc.unique(column(rows, "sku"))
        lacking = skus.filter(pc.invert(pc.is_in(skus, value_set=column(assortment, "sku"))))
        if asked is not None:
            lacking = lacking.filter(pc.invert(pc.is_in(lacking, value_set=column(asked, "sku"))))
        if not len(lacking):
            return None
        if self._elsewhere is None:
            self._elsewhere = asked_elsewhere(self._context, self._prepared.vendors_known, self._named())
        return self._elsewhere.filter(pc.is_in(self._elsewhere["sku"], value_set=lacking))

    def _named(self) -> pa.Array:
        """Every SKU that a row of the extract names, each once."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found = pa.array([], pa.string())
        for path in self._manifest["vendors"].values():
            try:
                rows = self._context.lake.read_table(path, ["sku"])
            except OneFileError:  # its own store is passed over
                continue
            skus = pc.utf8_trim_whitespace(rows["sku"].cast(pa.string()))
            found = pc.unique(pa.concat_arrays([found, pc.unique(skus)]))
        return found

    def _approved_keys(self, hold: Hold) -> Collection[str]:
        """The rows of a hold that an operator has approved. Only if something of it changed, files of earlier holds are read."""
        keys = set(hold.rows["key"].to_pylist())
        decided = self._approved.get((hold.vendor, hold.rule, hold.campaign), [])
        exact = [one for one in decided if one.identity == hold.fingerprint]
        passing: set[str] = set()
        for one in exact or decided:
            if found := keys if exact else keys & holds.keys_of(self._context, one):
                passing |= found
                self._prepared.applied.add(one.hold_id)
        return passing

    def _group(self, vendor: str, rows: pa.Table, unsure: pa.Table, impossible: pa.Table, unoffered: pa.Table) -> None:
        """`unsure` (KEPT): an operator or the ERP must decide. `impossible`: not possible. Both keep their acknowledged values.

        `unoffered` (KEPT) leave the promotion.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        shared = same_offers(
            pa.concat_tables([table.select(["head"]) for table in (rows, unsure, impossible)]), self._heads.all
        )
        also: dict[int, set[str]] = defaultdict(set)
        for number, first in shared.items():
            also[first].add(self._heads.all[number].campaign)
        rows, unsure, impossible, unoffered = (
            _renumbered(table, shared) for table in (rows, unsure, impossible, unoffered)
        )
        wanted = {number: (entries, digest) for number, entries, digest in contents(rows)}
        kept = _by_head(pa.concat_tables([unsure, impossible]))
        unsure_skus, unoffered_skus = _by_head(unsure), _by_head(unoffered)
        none = pa.array([], pa.string())
        for number in sorted({*wanted, *kept}):
            head = self._heads.all[number]
            entries, digest = wanted.get(number, (ENTRY.empty_table(), None))
            skus = kept.get(number, none)
            promotions = self._on_platform(vendor, head) if len(skus) or not self._run.complete else []
            for promotion in promotions:
                held = self._held_of(promotion)
                if held is None:
                    continue
                if not self._run.complete:
                    skus = held["sku"].filter(
                        pc.invert(pc.is_in(held["sku"], value_set=unoffered_skus.get(number, none)))
                    )
                entries, digest = filled(entries, skus, held), None
            if not promotions and len(skus):
                self._stay(vendor, head, also[number], unsure_skus.get(number, none))
            self._groups.add(number, head, vendor, entries, also[number], digest)

    def _placed(self, vendor: str, kept: pa.Table) -> pa.Table:
        """The kept SKUs (KEPT) of a price of several pieces under the head of the bundle in which the platform has them."""
        import pyarrow as pa

        numbers = {number for number in kept["head"].to_pylist() if self._heads.all[number].pieces}
        if not numbers:
            return kept
        rows = kept.to_pylist()
        for number in numbers:
            head = self._heads.all[number]
            for known in self._alike(vendor, head):
                quantities = {name: known.header[name] for name in ("purchased_quantity", "discounted_quantity")}
                if known.header["type"] != head.type or sum(quantities.values()) != head.pieces:
                    continue
                acknowledged = self._held_of(known)
                held = set() if acknowledged is None else set(acknowledged["sku"].to_pylist())
                other = self._heads.number(dataclasses.replace(head, pieces=None, **quantities))
                for row in rows:
                    if row["head"] == number and row["sku"] in held:
                        row["head"] = other
        return pa.Table.from_pylist(rows, schema=KEPT)

    def _stay(self, vendor: str, head: Head, campaigns: set[str], skus: pa.Array) -> None:
        there = {known.promotion_id: known for campaign in campaigns for known in self._by_campaign.get(campaign, ())}
        if (why := left_alone.undecided(vendor, skus, there.values(), self._acknowledged_skus)) is not None:
            self._prepared.frozen.setdefault(head.campaign, why)

    def _acknowledged_skus(self, known: KnownPromotion) -> pa.Array | None:
        held = None if known.acknowledged_path is None else self._held_of(known)
        return None if held is None else held["sku"]

    def _held_of(self, known: KnownPromotion) -> pa.Table | None:
        """What the platform has acknowledged of a promotion; None: its file cannot be read, so its campaigns stay as they are."""
        try:
            return read_acknowledged(self._context.lake, known.acknowledged_path)
        except OneFileError as error:
            self._leave_alone(known, error)
            return None

    def _may_have(self, known: KnownPromotion, sku: str) -> bool:
        """Whether a promotion has this SKU, or its file cannot be read."""
        try:
            return self._context.lake.find(known.acknowledged_path or "", sku) is not None
        except OneFileError as error:
            self._leave_alone(known, error)
            return True

    def _leave_alone(self, known: KnownPromotion, error: OneFileError) -> None:
        """Leaves the campaigns of a promotion as they are: its file cannot be read. No other campaign waits for it (I10)."""
        log.error("promotions, plan: %s", error)
        for campaign in known.campaigns:
            self._prepared.frozen.setdefault(campaign, str(error))

    def _on_platform(self, vendor: str, head: Head) -> list[Promotion]:
        """The promotions by which the platform has this head at this vendor, or may have it; the newest first.

        There is more than one while a replaced promotion has not ended. An ended or rejected promotion does not count.
        """
        alike = self._alike(vendor, head)
        sent = sent_of(head.as_json()) if alike else {}
        promotions = [known for known in alike if sent_of(known.header) == sent]
        promotions = promotions or [known for known in alike if head.campaign in known.campaigns]
        return promotions[::-1]

    def _alike(self, vendor: str, head: Head) -> list[Promotion]:
        """What the platform has of this name and period at this vendor, of whatever offer."""
        found = self._by_name.get((head.display_name, head.start, head.end), ())
        return [known for known in found if {vendor, EVERY} & set(known.vendors)]

    def _release_rejections(self, vendor: str, assortment: pa.Table) -> None:
        """Releases rejected pairs whose base price has changed, or whose SKU is in the assortment now."""
        with self._context.engine.connect() as connection:
            rejected = ledger_rejections.at_vendor(connection, vendor)
        if not rejected:
            return
        prices = dict(zip(assortment["sku"].to_pylist(), assortment["price"].to_pylist(), strict=True))
        for row in rejected:
            price, is_known = prices.get(row["sku"]), row["sku"] in prices
            if is_other_now(price, row["base_price"], is_known=is_known, was_known=row["known"]):
                self._prepared.again[row["promotion_id"]].add(row["sku"])

    def _normalised(self, path: str | None, *vendors: str) -> Normalised:
        """The rows of a file; its SKUs may be those of any of these vendors."""
        settings = self._context.settings.normalise
        known = None if settings.odd_keys == "send" else known_of_any(self._context, vendors)
        length = settings.sku_length_max
        return normalise(self._raw(path), self._heads, self._settings, sku_length_max=length, known=known)

    def _raw(self, path: str | None) -> pa.Table:
        return RAW.empty_table() if path is None else self._context.lake.read_table(path).cast(RAW)

    def _leave_unread_alone(self) -> None:
        for campaign, why in left_alone.unread(self._known, self._prepared.unread).items():
            self._prepared.frozen.setdefault(campaign, why)

    def _freeze(self, of: Normalised) -> None:
        for campaign in of.frozen:
            self._prepared.frozen.setdefault(campaign, left_alone.HEAD)

    def _quarantine(self, vendor: str, rows: pa.Table) -> None:
        self._prepared.counts["rows_quarantined"] += rows.num_rows
        reasons = rows["reason"].to_pylist()
        for reason, message in zip(reasons, rows["message"].to_pylist(), strict=True):
            found = self._prepared.reasons.setdefault(reason, {"rows": 0, "vendor": vendor, "example": message})
            found["rows"] += 1
        if waits := reasons.count("base_price_unknown"):
            self._prepared.waiting[vendor] = waits
        if self._run.dry_run:
            return
        with self._context.engine.begin() as connection:
            record.replace_quarantine(connection, self._run.run_id, vendor, rows)

    def _entries_path(self, digest: str, entries: pa.Table) -> str:
        """The file of these entries; one that the ledger points to is not written again."""
        path = self._context.lake.table_path("promotion_entries", "all", digest)
        if path not in self._stored:
            self._stored.add(self._context.lake.write_table("promotion_entries", "all", entries, digest=digest))
        return path


def _renumbered(table: pa.Table, shared: dict[int, int]) -> pa.Table:
    """The rows under the head that stands for theirs."""
    import pyarrow as pa

    if all(number == first for number, first in shared.items()):
        return table
    numbers = pa.array([shared.get(number, number) for number in table["head"].to_pylist()], pa.int32())
    return table.set_column(table.schema.get_field_index("head"), table.schema.field("head"), numbers)


def _by_head(kept: pa.Table) -> dict[int, pa.Array]:
    """The SKUs (KEPT) of each head, each once."""
    import pyarrow as pa

    skus: dict[int, dict[str, None]] = {}
    for number, sku in zip(kept["head"].to_pylist(), kept["sku"].to_pylist(), strict=True):
        skus.setdefault(number, {})[sku] = None
    return {number: pa.array(of_head, pa.string()) for number, of_head in skus.items()}
