"""What is held, told to people: lists, and the rows of one hold beside what the platform has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.errors import DataError
from shelfsync.ledger import decisions, holds, vendors

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.holds import Hold

TOP_ROWS = 50


def listed(parts: Parts, *, states: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The last holds, newest first: every column of the ledger."""
    with parts.engine.connect() as connection:
        return [told(hold) for hold in holds.newest(connection, *states)]


def told(hold: Hold) -> dict[str, Any]:
    """One hold as plain values."""
    return {name: getattr(hold, name) for name in (*hold.__dataclass_fields__, "label", "may_be_approved")}


def shown(parts: Parts, hold_id: int, *, first: int = 0, rows: int | None = None) -> dict[str, Any]:
    """One hold with its decisions, oldest first, and its rows: those whose price moves most come first, then by SKU.

    `first` and `rows` cut a page out of the rows. A row: `sku`, and for price, quantity, active, max_sales_quantity what was known when it
    was held first (`…_before`) and what is held; `move` is the new price by the old one, None where one is missing. `may_be_approved`:
    it is open, or was rejected or has expired, and no newer extract has other rows.
    """
    with parts.engine.connect() as connection:
        hold = holds.read(connection, hold_id)
        decided = decisions.of_hold(connection, hold_id)
        before = None if hold is None else _before(connection, hold)
    if hold is None:
        raise DataError(f"holds: there is no hold {hold_id}; `shelfsync holds list` shows them")
    table = with_before(parts, parts.lake.read_table(hold.rows_path), before)
    return {**told(hold), "decisions": decided, "rows_shown": ordered(table, first=first, rows=rows)}


def _before(connection: Connection, hold: Hold) -> str | None:
    """Lake: what was known when it was held first. Where that was not kept, the present of an open one; None: it is not known any more."""
    if hold.before_path is not None:
        return hold.before_path
    base = vendors.current_baseline(connection, hold.vendor) if hold.state == holds.OPEN else None
    return None if base is None else base.known_path


def with_before(parts: Parts, rows: Any, base_path: str | None) -> Any:
    """The rows with what the baseline says beside each field, and the ratio of the prices."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.catalog.alignment import aligned, column
    from shelfsync.columns import BASELINE, FIELDS

    baseline = BASELINE.empty_table() if base_path is None else parts.lake.read_table(base_path)
    before = aligned(baseline, column(rows, "sku"), FIELDS)
    for name in FIELDS:
        rows = rows.append_column(f"{name}_before", before[name])
    new, old = (pc.cast(values, pa.float64()) for values in (column(rows, "price"), before["price"]))
    usable = pc.greater(old, 0).fill_null(False)
    return rows.append_column(
        "move", pc.if_else(usable, pc.divide(new, pc.if_else(usable, old, 1.0)), pa.scalar(None, pa.float64()))
    )


def ordered(table: Any, *, first: int = 0, rows: int | None = None) -> list[dict[str, Any]]:
    """The rows with the largest move of the price first, up or down alike."""
    import pyarrow.compute as pc

    safe = pc.if_else(pc.greater(table["move"], 0).fill_null(False), table["move"], 1.0)
    far = pc.abs(pc.ln(safe))
    keyed = table.append_column("far", far).sort_by([("far", "descending"), ("sku", "ascending")])
    found: list[dict[str, Any]] = keyed.drop_columns(["far"]).slice(first, rows).to_pylist()
    return found


def question(parts: Parts, hold_id: int, *, pages: str | None) -> dict[str, Any] | None:
    """What a person is asked: `{"subject", "body", "left_s", "thresholds"}`; None when the hold is not open."""
    with parts.engine.connect() as connection:
        hold = holds.read(connection, hold_id)
        left_s = holds.left_s(connection, hold_id)
    if hold is None or hold.state != holds.OPEN:
        return None
    link = None if pages is None else f"{pages}/holds/{hold_id}"
    subject = f"{hold.vendor}: send what {hold.rule} holds? ({hold.rows} rows)"
    body = markdown(parts, hold_id, link=link)
    return {"subject": subject, "body": body, "left_s": left_s, "thresholds": hold.thresholds}


def markdown(parts: Parts, hold_id: int, *, link: str | None) -> str:
    """A hold for a person who decides in Airflow: the sentence, the top rows, where all of them are."""
    hold = shown(parts, hold_id, rows=TOP_ROWS)
    head = [
        hold["message"],
        "",
        f"Vendor **{_text(hold['vendor'])}**, rule **{hold['rule']}**, {hold['rows']} rows, held first by run {hold['first_run_id']}.",
        "Everything else of this vendor has been sent. Approve: these values are sent. Reject: they stay held until the ERP says something else.",
        f"All rows: {link}" if link else f"All rows: `shelfsync holds show {hold_id}`",
        "",
        "| sku | change | price | quantity | active |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *(_markdown_row(row) for row in hold["rows_shown"])])


def _markdown_row(row: dict[str, Any]) -> str:
    cells = [_text(row["sku"]), row["change"]]
    cells += [_pair(row[f"{name}_before"], row[name]) for name in ("price", "quantity", "active")]
    return "| " + " | ".join(cells) + " |"


def _pair(before: object, now: object) -> str:
    return "" if now is None else f"{_said(before)} → {_said(now)}"


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "?" if value is None else str(value)


def _text(text: str) -> str:
    """A text of an ERP inside a table of Markdown: nothing in it is markup."""
    return "".join(f"\\{sign}" if sign in r"\`*_{}[]()#+-.!|<>~" else sign for sign in text)
