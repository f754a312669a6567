"""What holds of the promotions' steps for any input."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections import defaultdict
from decimal import Decimal

import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from shelfsync.promotions.body import cut, ended, frame
from shelfsync.promotions.changed_entries import applied, changed_entries, unconfirmed
from shelfsync.promotions.group import Groups, contents, signature
from shelfsync.promotions.head import Fault, Head, Heads
from shelfsync.promotions.known_promotion import KnownPromotion
from shelfsync.promotions.normalise import normalise
from shelfsync.promotions.outcome import outcomes, rows
from shelfsync.promotions.plan import plan
from shelfsync.promotions.schemas import ACKNOWLEDGED, ENTRY, HEAD, ITEM, RAW, ROWS
from shelfsync.settings import PromotionSettings

NOON = dt.datetime(2026, 3, 2, 12, tzinfo=dt.UTC)
SKUS = st.text(st.sampled_from('ab"\\é€😀'), min_size=1, max_size=4)
VALUES = st.sampled_from([Decimal("1.000"), Decimal("2.500"), Decimal("0.001"), Decimal("99999999999.999")])
DISCOUNTS = st.tuples(st.sampled_from(["FINAL_PRICE", "PERCENTAGE"]), VALUES, st.sampled_from([None, 1, 7]))
ENTRIES = st.dictionaries(SKUS, DISCOUNTS, max_size=12)


def head(campaign: str = "c", name: str = "Offer", hours: int = 5, start: int = 0) -> Head:
    begins = NOON + dt.timedelta(hours=start)
    return Head(
        begins,
        begins + dt.timedelta(hours=hours),
        campaign,
        (("en_GB", name),),
        "COMPETITIVENESS",
        "STRIKETHROUGH",
        None,
        None,
        None,
        None,
        False,
    )


def entries(wanted: dict) -> pa.Table:
    rows_of_vendor = [(sku, *wanted[sku]) for sku in sorted(wanted, key=lambda sku: sku.encode())]
    return pa.Table.from_pylist([dict(zip(ENTRY.names, row, strict=True)) for row in rows_of_vendor], schema=ENTRY)


def reported(held: dict, unknown: frozenset = frozenset()) -> pa.Table:
    table = entries(held)
    return table.append_column(
        ACKNOWLEDGED.field("known"), pa.array([sku not in unknown for sku in table["sku"].to_pylist()], pa.bool_())
    )


def as_dict(table: pa.Table) -> dict:
    return {row["sku"]: (row["subtype"], row["value"], row["max_quantity"]) for row in table.to_pylist()}


@given(wanted=ENTRIES, held=ENTRIES, unknown=st.sets(SKUS))
def test_the_reported_state_with_the_difference_applied_is_the_desired_state(wanted, held, unknown):
    items = changed_entries(entries(wanted), reported(held, frozenset(unknown)))
    after = applied(reported(held, frozenset(unknown)), items)
    assert as_dict(after) == wanted
    assert all(after["known"].to_pylist())
    assert changed_entries(entries(wanted), after).num_rows == 0


@given(wanted=ENTRIES, held=ENTRIES)
def test_unconfirmed_skus_are_sent_again_and_nothing_else_changes(wanted, held):
    before = reported(held)
    items = changed_entries(entries(wanted), before)
    after = unconfirmed(before, items)
    untouched = set(held) - set(items["sku"].to_pylist())
    assert {sku for sku in untouched if sku in as_dict(after)} == untouched
    again = changed_entries(entries(wanted), after)
    assert set(items["sku"].to_pylist()) == set(again["sku"].to_pylist())
    assert as_dict(applied(after, again)) == wanted


@given(wanted=ENTRIES, held=ENTRIES)
def test_an_entry_that_every_vendor_rejected_is_not_repeated_until_it_changes(wanted, held):
    items = changed_entries(entries(wanted), reported(held), blocked=entries(wanted))
    assert not any(items["active"].to_pylist())
    assert set(
        changed_entries(
            entries(wanted), reported(held), blocked=entries(wanted), resend=pa.array(list(wanted), pa.string())
        )
        .filter(pa.compute.field("active"))["sku"]
        .to_pylist()
    ) == set(wanted)


@given(wanted=ENTRIES, held=ENTRIES, room=st.integers(0, 200), vendors=st.integers(1, 5), pairs_max=st.integers(5, 30))
def test_every_body_keeps_both_limits_and_together_they_are_the_items(wanted, held, room, vendors, pairs_max):
    items = changed_entries(entries(wanted), reported(held))
    names = [f"v{number}" for number in range(vendors)]
    around = frame(head(), names)
    body_max_bytes = len(around.before) + len(around.after) + 150 + room
    pieces = list(cut(items, around, vendors=vendors, body_max_bytes=body_max_bytes, pairs_max=pairs_max))
    rows_of_vendor: list = []
    for piece in pieces:
        assert len(piece.body) <= body_max_bytes
        assert piece.items.num_rows * vendors <= pairs_max
        body = json.loads(piece.body, parse_float=Decimal, parse_int=Decimal)
        assert body["vendors"] == names
        assert body["active"] is True
        keys = [
            tuple(str(entry.get(name)) for name in ("active", "discount_subtype", "discount_value", "max_quantity"))
            for entry in body["discount"]
        ]
        assert len(set(keys)) == len(keys), "SKUs with the same discount share an entry"
        for entry in body["discount"]:
            most = entry.get("max_quantity")
            rows_of_vendor += [
                (sku, entry["discount_subtype"], entry["discount_value"], most, entry["active"]) for sku in entry["sku"]
            ]
        assert json.loads(ended(piece.body)) == {**json.loads(piece.body), "active": False}
    wanted_items = [
        (row["sku"], row["subtype"], row["value"], row["max_quantity"], row["active"]) for row in items.to_pylist()
    ]
    assert sorted(rows_of_vendor, key=repr_of) == sorted(wanted_items, key=repr_of)


def repr_of(item: tuple) -> str:
    """The same for numbers that are equal."""
    return repr([float(part) if isinstance(part, Decimal | int) else part for part in item])


@given(
    wanted=st.dictionaries(
        st.tuples(st.sampled_from("ABCD"), st.sampled_from(["x", "y", "z"]), st.integers(0, 1)), VALUES, max_size=12
    )
)
def test_groups_contain_exactly_the_entries_of_each_vendor_and_equal_vendors_share_one(wanted):
    heads = [head("c0"), head("c1", start=1)]
    written: dict[str, pa.Table] = {}

    def write(_digest: str, table: pa.Table) -> str:
        written[str(len(written))] = table
        return str(len(written) - 1)

    groups = Groups(write)
    by_vendor: dict = defaultdict(list)
    for (vendor, sku, number), value in sorted(wanted.items()):
        by_vendor[vendor].append(
            {"row_number": 1, "head": number, "sku": sku, "subtype": "FINAL_PRICE", "value": value}
        )
    for vendor, rows_of_vendor in by_vendor.items():
        for number, table, digest in contents(pa.Table.from_pylist(rows_of_vendor, schema=ROWS)):
            assert digest == signature(table)
            groups.add(number, heads[number], vendor, table, digest=digest)
    found, lines = groups.wanted()
    assert lines == []
    grouped = {
        (vendor, row["sku"], heads.index(one.head)): row["value"]
        for one in found
        for vendor in one.vendors
        for row in written[one.entries_path].to_pylist()
    }
    assert grouped == wanted
    contents_of = [(one.head, tuple(map(str, written[one.entries_path].to_pylist()))) for one in found]
    assert len(set(contents_of)) == len(contents_of), "vendors with the same content share a promotion"
    assert len({one.identity for one in found}) == len(found)


TEXTS = st.sampled_from(
    [
        None,
        "",
        " ",
        "1",
        "2.5",
        "-1",
        "1,99",
        "NaN",
        "x",
        "0.0004",
        "2026-03-02T10:00:00Z",
        "2026-03-02T12:00:00+02:00",
        "2026-03-03",
        "{",
        '{"en_GB": "A"}',
        '{"en": "A"}',
        "é\u0000",
    ]
)


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(RAW.names[1:], TEXTS)), max_size=8))
def test_promotion_rows_in_are_rows_out_plus_quarantined_plus_repeated(cells):
    raw = pa.Table.from_pylist(
        [{"row_number": place + 1, **row, "vendor": "v"} for place, row in enumerate(cells)], schema=RAW
    )
    done = normalise(raw, Heads(PromotionSettings()), PromotionSettings(), sku_length_max=255)
    quarantined = done.quarantine["row_number"].to_pylist()
    numbers = [*done.rows["row_number"].to_pylist(), *quarantined]
    assert len(numbers) + done.repeated == len(cells)
    assert len(set(numbers)) == len(numbers)


@given(st.fixed_dictionaries(dict.fromkeys(HEAD, TEXTS)))
def test_a_head_is_complete_or_its_fault_is_reported(texts):
    heads = Heads(PromotionSettings(values="spec"))
    found = heads.find(texts)
    if isinstance(found, Fault):
        assert found.message
        assert found.reason
    else:
        assert heads.all[found].start < heads.all[found].end


STATUSES = st.sampled_from(["COMPLETED", "FAILED", "DUPLICATE", "QUEUED", None, "ODD"])


@given(
    wanted=ENTRIES,
    held=ENTRIES,
    status=STATUSES,
    invalid=st.sets(st.sampled_from(["A", "B", "other"])),
    missing=st.dictionaries(st.sampled_from(["A", "B", "other"]), st.lists(SKUS, max_size=4)),
    bad=st.dictionaries(st.sampled_from(["A", "B"]), st.lists(SKUS, max_size=4)),
)
def test_every_pair_sent_has_one_outcome_and_only_the_platforms_report_makes_it_accepted(
    wanted, held, status, invalid, missing, bad
):
    items = changed_entries(entries(wanted), reported(held))
    assume(items.num_rows)
    lists = {"invalid_vendors": sorted(invalid), "missing_skus": missing, "invalid_discounted_skus": bad}
    found = outcomes(items, ("A", "B"), status, lists, action="change")
    assert found.accepted + found.rejected_count + found.unaccounted == found.pairs == items.num_rows * 2
    if status not in {"COMPLETED", "DUPLICATE", "FAILED"}:
        assert (found.accepted, found.rejected_count) == (0, 0)
    if status == "FAILED" and found.unaccounted == 0:
        assert not found.accepted_items.filter(pa.compute.field("active")).num_rows
    skus = [part["sku"].to_pylist() for part in (found.accepted_items, found.rejected_items, found.unaccounted_items)]
    assert sorted(itertools.chain(*skus)) == sorted(items["sku"].to_pylist())
    outcome_rows = rows([(1, items, found)])
    named = {(row["vendor"], row["sku"]) for row in outcome_rows.to_pylist()}
    assert len(named) == outcome_rows.num_rows
    assert ITEM.names == items.schema.names


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["new", "sent", "failed", "ended"]), st.booleans(), st.booleans()),
        unique_by=lambda one: one[0],
    ),
    st.sets(st.integers(0, 3)),
    st.booleans(),
)
def test_a_plan_brings_the_platform_to_what_is_wanted_and_ends_nothing_that_is_not_proven_gone(
    known, wanted_numbers, believed
):
    from shelfsync.promotions.group import Wanted

    wanted = [Wanted(f"i{number}", head(f"c{number}"), ("A",), "path", 1) for number in sorted(wanted_numbers)]
    have = [
        KnownPromotion(
            number,
            f"i{number}",
            f"c{number}",
            ("A",),
            NOON,
            NOON + dt.timedelta(hours=5),
            state,
            "sent",
            None,
            {},
            busy,
            waits,
        )
        for number, state, busy, waits in known
    ]
    planned = plan(wanted, have, now=NOON, absence_believed=believed)
    there = {one.identity for one in have if one.there}
    waiting = {one.identity for one in have if one.busy or one.waits}
    done = set(there)
    for step in planned.steps:
        identity = step.wanted.identity if step.wanted else step.known.identity
        assert identity not in waiting
        done = done - {identity} if step.action == "end" else done | {identity}
    ends = {step.known.identity for step in planned.steps if step.action == "end"}
    if believed:
        assert done - waiting == {one.identity for one in wanted} - waiting
    else:
        assert ends == set()
    assert [step.action for step in planned.steps] == sorted(
        (step.action for step in planned.steps), key=["end", "change", "create"].index
    )


DAYS = st.sampled_from([0, 10, 20, 30])
PROMOTIONS = st.tuples(st.sampled_from(["c1", "c2"]), st.sampled_from(["A", "B"]), DAYS, st.sampled_from(["x", "y"]))


@given(
    wanted=st.sets(PROMOTIONS, max_size=6),
    known=st.dictionaries(
        PROMOTIONS, st.tuples(st.sampled_from(["new", "sent", "failed", "ended"]), st.booleans()), max_size=6
    ),
    ahead_days=st.sampled_from([1, 14, 25]),
)
def test_what_begins_later_than_so_many_days_ahead_is_created_later_and_nothing_else_differs(wanted, known, ahead_days):
    from shelfsync.promotions.group import Wanted

    def window(days):
        return NOON + dt.timedelta(days=days), NOON + dt.timedelta(days=days + 8)

    wants = [
        Wanted(repr(each), head(each[0], each[3], hours=8 * 24, start=each[2] * 24), (each[1],), "path", 1)
        for each in sorted(wanted)
    ]
    have = [
        KnownPromotion(number, repr(each), each[0], (each[1],), *window(each[2]), state, "sent", None, {}, busy, False)
        for number, (each, (state, busy)) in enumerate(sorted(known.items()))
    ]
    everything = plan(wants, have, now=NOON)
    planned = plan(wants, have, now=NOON, ahead=dt.timedelta(days=ahead_days))
    # a sent promotion that leaves: what takes its place at the vendor and in its days is a change of it
    leaving = {(campaign, vendor, days) for (campaign, vendor, days, name), (state, _) in known.items()
               if state == "sent" and (campaign, vendor, days, name) not in wanted}  # fmt: skip
    later = [
        step.wanted
        for step in everything.steps
        if step.action == "create"
        and step.wanted.head.start > NOON + dt.timedelta(days=ahead_days)
        and (step.campaign, step.wanted.vendors[0], (step.wanted.head.start - NOON).days) not in leaving
    ]
    assert planned.later == later
    assert planned.steps == [step for step in everything.steps if step.wanted not in later]
    assert (planned.passed_over, planned.absent) == (everything.passed_over, everything.absent)
    assert everything.later == []
