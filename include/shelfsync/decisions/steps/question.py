"""The question about a hold, as Airflow asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync import display
from shelfsync.decisions.ledger import hold_expiry, holds
from shelfsync.decisions.steps.lists import asked, shown

if TYPE_CHECKING:
    from shelfsync.context import Context

TOP_ROWS = 50


def question(context: Context, hold_id: int, *, key: str | None = None, pages: str | None) -> dict[str, Any] | None:
    """The question for a person: `{"subject", "body", "left_s", "look_s", "thresholds"}`; None if it need not be asked. It expires a hold whose time is over.

    `left_s`: until the hold expires; `look_s`: until the next look whether it was decided elsewhere. `key`: the run of Airflow that asks. A hold that was reopened since is asked about by a newer run.
    With a key, the look is recorded: the run that asks is alive.
    """
    with context.engine.begin() as connection:
        hold_expiry.expire(connection, hold_id=hold_id)
        hold = holds.read(connection, hold_id)
        left_s = hold_expiry.left_s(connection, hold_id)
        look_s = holds.look_s(connection)
        if key is not None:
            holds.look(connection, hold_id, key)
    if hold is None or not hold.may_be_approved or key not in {None, hold.asked_by}:
        return None
    link = None if pages is None else f"{pages}/holds/{hold_id}"
    subject = f"{hold.vendor}: send what {hold.rule} holds? ({hold.rows} rows)"
    body = markdown(context, hold_id, link=link)
    return {"subject": subject, "body": body, "left_s": left_s, "look_s": look_s, "thresholds": hold.thresholds}


def markdown(context: Context, hold_id: int, *, link: str | None) -> str:
    """A hold for a person who decides in Airflow: the message, the top rows, and where to see all rows."""
    hold = shown(context, hold_id, rows=TOP_ROWS)
    columns = (*hold["facts"], *hold["values"])
    head = [
        hold["message"],
        "",
        "Approval does this, at once and without a further question:",
        "",
        *(f"- {_text(line)}" for line in asked(context, [hold_id])["lines"]),
        "",
        f"Vendor **{_text(hold['vendor'])}**, rule **{hold['rule']}**, {hold['rows']} rows, held first by run {hold['first_run_id']}.",
        context.subjects[hold["subject"]].effect,
        "The first decision stands. If the hold is decided elsewhere, this question closes by itself and an answer does nothing.",
        f"All rows: {link}" if link else f"All rows: `shelfsync holds show {hold_id}`",
        "",
        f"| sku | {' | '.join(columns)} |",
        "|---" * (1 + len(columns)) + "|",
    ]
    return "\n".join([*head, *(_markdown_row(hold, row) for row in hold["rows_shown"])])


def _markdown_row(hold: dict[str, Any], row: dict[str, Any]) -> str:
    cells = [_text(display.product(row["sku"], row["name"])), *(_text(str(row[name])) for name in hold["facts"])]
    cells += [_pair(name, row[f"{name}_before"], row[name]) for name in hold["values"]]
    return "| " + " | ".join(cells) + " |"


def _pair(name: str, before: object, now: object) -> str:
    return "" if now is None else f"{_shown(name, before)} → {_shown(name, now)}"


def _shown(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "?" if value is None else display.value(name, value)


def _text(text: str) -> str:
    """Escapes a text of the ERP for a table in Markdown."""
    return "".join(f"\\{sign}" if sign in r"\`*_{}[]()#+-.!|<>~" else sign for sign in text)
