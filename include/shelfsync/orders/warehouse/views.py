"""The warehouse views of orders: fill rate, substitutions, shorts, picking time, cancellations, promises, revenue.

A day is the UTC day on which an order was placed. An order is fulfilled if the platform reports it so. Additions and
replacements never count as ordered.
"""

from __future__ import annotations

from shelfsync.store.metadata import View

_FULFILLED = "('READY_FOR_PICKUP', 'DISPATCHED', 'PICKED_UP', 'DELIVERED')"
_DAY = "CAST((o.placed_at AT TIME ZONE 'UTC') AS date)"
_PICKED_S = "CAST(extract(epoch FROM (o.fulfilled_at - o.placed_at)) AS double precision)"
_KEYS = {"vendor": "The store", "day": "The day on which the orders were placed, UTC"}

ORDER_EVENT = View(
    "order_event",
    "Every version of every order, with its source",
    {
        "order_id": "The order",
        "vendor": "The store",
        "source": "event, answer (to a PUT of shelfsync), read_back or history",
        "status": "The platform's status then",
        "updated_at": "The platform's instant of this version; null: it has none near its receipt",
        "seen_at": "When it was first received from this source",
        "event_id": "The event of the inbox; null for another source",
    },
    """
SELECT v.order_id, o.vendor, v.source, v.status, v.updated_at, v.seen_at, v.event_id
FROM ledger.order_version AS v JOIN ledger.customer_order AS o ON o.order_id = v.order_id
""",
)

ORDER_FILL_RATE = View(
    "order_fill_rate",
    "Of what was ordered in fulfilled orders, how much was delivered, by store and day",
    {
        **_KEYS,
        "orders": "Fulfilled orders",
        "lines_ordered": "Lines that customers ordered",
        "lines_whole": "Lines delivered as ordered, or more",
        "lines_short": "Lines of which fewer pieces were delivered",
        "lines_not_found": "Lines of which nothing was delivered",
        "lines_replaced": "Lines that another product replaced",
        "pieces_ordered": "Pieces ordered; what is weighed has none",
        "pieces_delivered": "Pieces delivered of what was ordered",
        "fill_rate": "Pieces delivered to pieces ordered",
        "line_fill_rate": "Lines delivered whole to lines ordered",
    },
    f"""
SELECT line.vendor, line.day, count(DISTINCT line.order_id) AS orders, count(*) AS lines_ordered,
    count(*) FILTER (WHERE delivered >= ordered) AS lines_whole,
    count(*) FILTER (WHERE delivered > 0 AND delivered < ordered) AS lines_short,
    count(*) FILTER (WHERE status = 'NOT_FOUND') AS lines_not_found,
    count(*) FILTER (WHERE status = 'REPLACED') AS lines_replaced,
    sum(ordered) FILTER (WHERE pricing_type = 'UNIT') AS pieces_ordered,
    sum(delivered) FILTER (WHERE pricing_type = 'UNIT') AS pieces_delivered,
    CAST(sum(delivered) FILTER (WHERE pricing_type = 'UNIT') AS double precision)
        / nullif(CAST(sum(ordered) FILTER (WHERE pricing_type = 'UNIT') AS double precision), 0) AS fill_rate,
    CAST(count(*) FILTER (WHERE delivered >= ordered) AS double precision) / count(*) AS line_fill_rate
FROM (
    SELECT o.vendor, {_DAY} AS day, o.order_id, i.status, i.pricing_type, i.ordered_quantity AS ordered,
        CASE WHEN i.status = 'IN_CART' THEN least(i.quantity, i.ordered_quantity) ELSE 0 END AS delivered
    FROM warehouse.customer_order AS o JOIN warehouse.order_item AS i ON i.order_id = o.order_id
    WHERE o.status IN {_FULFILLED} AND i.ordered_quantity IS NOT NULL
) AS line
GROUP BY line.vendor, line.day
""",
)

ORDER_SUBSTITUTION = View(
    "order_substitution",
    "What replaced what in fulfilled orders, by store",
    {
        "vendor": "The store",
        "sku": "What was ordered",
        "by_sku": "What replaced it",
        "times": "How often",
        "cheaper_by": "What customers paid less by it, together",
        "last_at": "When last",
    },
    f"""
SELECT o.vendor, i.sku, r.sku AS by_sku, count(*) AS times,
    sum(coalesce(i.ordered_total_price, i.total_price) - r.total_price) AS cheaper_by, max(o.placed_at) AS last_at
FROM warehouse.order_item AS i
JOIN warehouse.order_item AS r ON r.order_id = i.order_id AND r.replaced_id = i.item_id
JOIN warehouse.customer_order AS o ON o.order_id = i.order_id
WHERE i.status = 'REPLACED' AND o.status IN {_FULFILLED}
GROUP BY o.vendor, i.sku, r.sku
""",
)

ORDER_SHORT = View(
    "order_short",
    "What was ordered and not delivered as ordered, by store, SKU and day",
    {
        **_KEYS,
        "sku": "The SKU",
        "orders": "Orders that lacked it",
        "not_found": "Lines that were not found",
        "replaced": "Lines that were replaced",
        "pieces_ordered": "Pieces ordered in these lines",
        "pieces_missing": "Pieces not delivered of them",
    },
    f"""
SELECT o.vendor, {_DAY} AS day, i.sku, count(DISTINCT o.order_id) AS orders,
    count(*) FILTER (WHERE i.status = 'NOT_FOUND') AS not_found,
    count(*) FILTER (WHERE i.status = 'REPLACED') AS replaced,
    sum(i.ordered_quantity) FILTER (WHERE i.pricing_type = 'UNIT') AS pieces_ordered,
    sum(CASE WHEN i.status = 'IN_CART' THEN i.ordered_quantity - i.quantity ELSE i.ordered_quantity END)
        FILTER (WHERE i.pricing_type = 'UNIT') AS pieces_missing
FROM warehouse.order_item AS i JOIN warehouse.customer_order AS o ON o.order_id = i.order_id
WHERE o.status IN {_FULFILLED} AND i.ordered_quantity IS NOT NULL
    AND (i.status IN ('NOT_FOUND', 'REPLACED')
        OR (i.status = 'IN_CART' AND i.pricing_type = 'UNIT' AND i.quantity < i.ordered_quantity))
GROUP BY o.vendor, {_DAY}, i.sku
""",
)

ORDER_PICKING_TIME = View(
    "order_picking_time",
    "Seconds from the placing of an order to the end of its picking, by store and day",
    {
        **_KEYS,
        "orders": "Orders with a known time; the others are left out",
        "picked_p50_s": "Median",
        "picked_p90_s": "Nine of ten are faster",
    },
    f"""
SELECT o.vendor, {_DAY} AS day, count(*) AS orders,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY {_PICKED_S}) AS picked_p50_s,
    percentile_cont(0.9) WITHIN GROUP (ORDER BY {_PICKED_S}) AS picked_p90_s
FROM warehouse.customer_order AS o WHERE o.fulfilled_at IS NOT NULL AND o.placed_at IS NOT NULL
GROUP BY o.vendor, {_DAY}
""",
)

ORDER_CANCELLATION = View(
    "order_cancellation",
    "Cancelled orders by store, day, who cancelled and why",
    {
        **_KEYS,
        "cancelled_by": "CUSTOMER, LOGISTICS or VENDOR; unknown if no version has it",
        "cancel_reason": "The code of the reason; unknown if no version has it",
        "orders": "Orders",
        "order_total": "The sum of their totals",
    },
    f"""
SELECT o.vendor, {_DAY} AS day, coalesce(o.cancelled_by, 'unknown') AS cancelled_by,
    coalesce(o.cancel_reason, 'unknown') AS cancel_reason, count(*) AS orders, sum(o.order_total) AS order_total
FROM warehouse.customer_order AS o WHERE o.status = 'CANCELLED'
GROUP BY o.vendor, {_DAY}, coalesce(o.cancelled_by, 'unknown'), coalesce(o.cancel_reason, 'unknown')
""",
)

ORDER_PROMISE = View(
    "order_promise",
    "When each order was promised, accepted for and ready",
    {
        "order_id": "The order",
        "vendor": "The store",
        "status": "The platform's status",
        "placed_at": "When it was placed",
        "promised_for": "When the customer was promised it",
        "accepted_for": "The delivery time that the store accepted",
        "fulfilled_at": "When its picking ended; null: not yet, never, or unknown",
        "early_s": "Seconds from the end of the picking to the promise; below zero: late",
    },
    """
SELECT order_id, vendor, status, placed_at, promised_for, accepted_for, fulfilled_at,
    CAST(extract(epoch FROM (promised_for - fulfilled_at)) AS double precision) AS early_s
FROM warehouse.customer_order WHERE promised_for IS NOT NULL
""",
)

ORDER_REVENUE = View(
    "order_revenue",
    "What fulfilled orders brought in, by store, SKU and day",
    {
        **_KEYS,
        "sku": "The SKU",
        "orders": "Orders with it",
        "pieces": "Pieces sold; null for what is weighed",
        "kilograms": "Kilograms sold; null for what is counted",
        "revenue": "The sum of its total prices; an order has no currency",
    },
    f"""
SELECT o.vendor, {_DAY} AS day, i.sku, count(DISTINCT o.order_id) AS orders,
    sum(i.quantity) FILTER (WHERE i.pricing_type = 'UNIT') AS pieces, sum(i.weight) AS kilograms, sum(i.total_price) AS revenue
FROM warehouse.order_item AS i JOIN warehouse.customer_order AS o ON o.order_id = i.order_id
WHERE o.status IN {_FULFILLED} AND i.status IN ('IN_CART', 'ADDITION')
GROUP BY o.vendor, {_DAY}, i.sku
""",
)

ORDER_COMPLETENESS = View(
    "order_completeness",
    "Whether every order of the platform's history is in the inbox or a gap, by store and day",
    {
        **_KEYS,
        "in_history": "Orders of the day in the platform's history",
        "in_inbox": "Those with an event",
        "gaps": "Those without an event, placed after the first event; the history brought them here",
        "before_events": "Those that are older than the first event",
        "counted_at": "When it was counted",
    },
    """
SELECT vendor, day, in_history, in_inbox, repaired AS gaps, in_history - in_inbox - repaired AS before_events, counted_at
FROM ledger.order_day
""",
)

ORDER_VIEWS = (
    ORDER_EVENT,
    ORDER_FILL_RATE,
    ORDER_SUBSTITUTION,
    ORDER_SHORT,
    ORDER_PICKING_TIME,
    ORDER_CANCELLATION,
    ORDER_PROMISE,
    ORDER_REVENUE,
    ORDER_COMPLETENESS,
)
