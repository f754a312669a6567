"""What a saved state holds: the tables, and of each the rows that a new database needs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """The rows `row` of one table for which `where` is true.

    `begun_anew`: columns that do not travel. `made`: the SQL of a column at loading. `older`: that of a column that an older database lacks.
    `encrypted`: a column with customers' data, which another key cannot read.
    """

    table: str
    where: str = "true"
    begun_anew: frozenset[str] = frozenset()
    made: dict[str, str] = field(default_factory=dict, hash=False)
    older: dict[str, str] = field(default_factory=dict, hash=False)
    encrypted: str | None = None


_OPEN_ALERT = "row.alert_id IN (SELECT a.alert_id FROM ledger.alert AS a WHERE a.closed_at IS NULL)"
_NEWEST = "row.version = (SELECT v.baseline_version FROM ledger.vendor AS v WHERE v.vendor = row.vendor)"

PARTS = (
    Part("ledger.vendor", begun_anew=frozenset({"open_plan", "consecutive_failures", "retry_at"})),
    Part(
        "ledger.baseline",
        _NEWEST,
        begun_anew=frozenset({"job_id", "observation_id"}),
        made={"observation_id": "-nextval('ledger.plan')"},
    ),
    Part("warehouse.vendor"),
    Part("warehouse.baseline"),
    Part("ledger.switch"),
    Part("ledger.restoration"),
    Part("ledger.hold", older={"subject": "'catalog'"}),
    Part("ledger.decision", older={"place": "'command line'"}),
    Part("ledger.promotion"),
    Part("ledger.promotion_fence"),
    Part("warehouse.promotion"),
    Part("warehouse.promotion_vendor"),
    Part("warehouse.promotion_sku"),
    Part("ledger.customer_order"),
    Part("ledger.order_version"),
    Part("ledger.hand_over"),
    Part("ledger.picking_result"),
    Part("ledger.order_history"),
    Part("ledger.order_day"),
    Part("ledger.order_gap"),
    Part("warehouse.customer_order"),
    Part("warehouse.order_item"),
    Part("warehouse.order_promotion"),
    Part("warehouse.order_customer", "row.remove_at > clock_timestamp()", encrypted="encrypted"),
    Part("ledger.alert", "row.closed_at IS NULL"),
    Part("ledger.alert_message", _OPEN_ALERT, begun_anew=frozenset({"sending_at"})),
    Part("ledger.alert_mute", "row.until_at > clock_timestamp()"),
)
"""In the order of loading: a row after those that it points to."""


def member(table: str) -> str:
    """The name of a table's rows in the file: JSON lines."""
    return f"{table}.jsonl"


NEEDED = "ledger.baseline"
"""A store needs the file of its baseline, so its absence is an error; a file that housekeeping removed by right is none."""
FILES = "lake/"
"""What the names of the lake's files begin with."""
