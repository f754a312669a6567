"""Every kind of fault: where it can strike and what it does, in a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

REQUESTS = (
    "token",
    "put_catalog",
    "list_catalog",
    "categories",
    "export",
    "create_products",
    "job_status",
    "log",
    "put_promotion",
    "promotion_status",
    "put_order",
    "get_order",
    "list_orders",
    "outlet_status",
)
WEBHOOKS = ("job_webhook", "order_webhook")
TAKING = ("put_catalog", "export", "create_products", "put_promotion")
OPERATIONS = (*REQUESTS, *WEBHOOKS, "job")
_STATUS = re.compile(r"status_([45]\d\d)")


@dataclass(frozen=True)
class Kind:
    """A word in snake case, where it can be set, and what it does."""

    at: tuple[str, ...]
    sentence: str


KINDS: dict[str, Kind] = {
    "status_NNN": Kind(
        REQUESTS,
        "The request is answered with this status, from 400 to 599, and nothing is done; retry_after, body and content_type shape the answer.",
    ),
    "block_page": Kind(REQUESTS, "The edge answers 403 with an HTML page, and nothing is done."),
    "refuse_connection": Kind(
        REQUESTS,
        "The connection is reset as soon as the head of the request is read, nothing is done, and the port stays closed"
        " to everybody for the given seconds (0).",
    ),
    "never_answer": Kind(
        REQUESTS,
        "The request is taken, nothing is done, and no answer ever comes (seconds: the connection is reset after them).",
    ),
    "half_body": Kind(REQUESTS, "The work is done, and the connection breaks in the middle of the answer's body."),
    "drop_answer": Kind(REQUESTS, "The work is done, and the connection is reset without an answer."),
    "slow_body": Kind(REQUESTS, "The work is done, and the answer's body comes over the given seconds (2)."),
    "token_expired": Kind(tuple(name for name in REQUESTS if name != "token"), "The token counts as expired: 401."),
    "no_job_id": Kind(TAKING, "The work is taken on, and its answer has no job_id."),
    "job_id_of_another": Kind(TAKING, "The work is taken on, and its answer has the id of the job before it."),
    "unknown_status": Kind(
        (*TAKING, "job_status", "promotion_status"), "The answer has a job_status that nobody documented."
    ),
    "job_first": Kind(TAKING, "The job is done and its webhook sent before the answer that tells its id."),
    "first_page_again": Kind(("list_catalog", "list_orders"), "Page 1 is answered whatever page was asked for."),
    "endless_pages": Kind(
        ("list_catalog", "list_orders"), "total_pages is always one more than the page that was asked for."
    ),
    "failed": Kind(("job",), "The job ends FAILED and has changed nothing."),
    "stuck": Kind(("job",), "The job stays IN_PROGRESS for ever."),
    "not_applied": Kind(
        ("job", "put_order"),
        "The job ends COMPLETED with every line a success, or the order is answered as asked for, and nothing has changed.",
    ),
    "stale": Kind(
        ("get_order", "list_orders"),
        "The order is answered as it was before its last change, as by a replica that lags.",
    ),
    "portal_edit": Kind(
        ("job",),
        "After the job somebody edits the price of one of its products in the portal (price; otherwise one more).",
    ),
    "foreign_link": Kind(("job",), "The link to the job's file leads to a foreign host (url)."),
    "lost": Kind(WEBHOOKS, "The event is never sent."),
    "repeated": Kind(WEBHOOKS, "The event is sent count times (3) at once."),
    "reordered": Kind(
        WEBHOOKS, "The event is held back until a later one of the chain has gone, at most for the given seconds (60)."
    ),
    "late": Kind(WEBHOOKS, "The event is sent after the given seconds (300)."),
    "early": Kind(
        WEBHOOKS,
        "The event is sent before the answer that tells the job's id, and before the job has run; an order's before the answer to its PUT.",
    ),
    "forged_secret": Kind(WEBHOOKS, "The same event goes first with a wrong secret, once, and then as it should."),
    "oversized": Kind(WEBHOOKS, "The event is padded with the given bytes (2 MiB)."),
    "other_vendor": Kind(WEBHOOKS, "The event names another vendor of the chain."),
    "expired": Kind(("log",), "The link counts as expired."),
    "truncated": Kind(
        ("log",), "The file ends in the middle, after the given bytes (two thirds), with a length that agrees."
    ),
    "gzip": Kind(("log",), "The file is compressed, and no header says so but its content type."),
    "byte_order_mark": Kind(("log",), "The file begins with a byte-order mark."),
    "empty": Kind(("log",), "The file is empty."),
    "html_page": Kind(("log",), "An HTML error page is answered with 200."),
    "unknown_columns": Kind(("log",), "The log has a column nobody documented before the others and one after them."),
    "older_format": Kind(("log",), "The log is in the older format."),
    "missing_sku": Kind(("log",), "The log lacks the line of one item."),
    "foreign_sku": Kind(("log",), "The log has a success line for a SKU that was never sent."),
    "contradiction": Kind(("log",), "The log has the first item twice, as a success and as a failure."),
    "log_of_another": Kind(("log",), "The link gives the log of the job before this one."),
}


def plain(kind: str) -> str:
    """A kind without the word of its place: `log_truncated` is `truncated`."""
    if kind in KINDS:
        return kind
    for place in ("job_", "webhook_", "log_", "link_"):
        if kind.removeprefix(place) in KINDS:
            return kind.removeprefix(place)
    return kind


def why_not(at: str, kind: str) -> str | None:
    """Why a rule cannot be played, or None."""
    if at not in OPERATIONS:
        return f"at: there is no operation {at!r}; there are {', '.join(OPERATIONS)}"
    known = KINDS.get("status_NNN" if _STATUS.fullmatch(kind) else kind)
    if known is None or kind == "status_NNN":
        return f"kind: there is no fault {kind!r}; GET /_sandbox/faults lists every one"
    if at not in known.at:
        return f"kind: {kind!r} strikes at {', '.join(known.at)}, not at {at!r}"
    return None


def describe() -> list[dict[str, Any]]:
    """What GET /_sandbox/faults lists."""
    return [{"kind": name, "at": list(kind.at), "does": kind.sentence} for name, kind in KINDS.items()]
