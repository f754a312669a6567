"""The rate limit as a chart: requests in the sixty seconds before each moment of the last ten minutes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, text

from partner_sandbox.clock import SECOND_US, iso

SPAN_S = 600
WINDOW_S = 60
WIDTH, HEIGHT = 1240, 210
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 26
RECENT_LINES = 200_000
_SECONDS = text("""
    SELECT at_us / 1000000 AS second, count(*) AS requests, sum(coalesce(status = 429, 0)) AS rejected
    FROM journal
    WHERE kind = 'request' AND n > (SELECT coalesce(max(n), 0) FROM journal) - :recent AND at_us > :first AND at_us <= :now
    GROUP BY second
""")


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """Ready to be drawn: all numbers are pixels but `used`, `limit` and `peak`, which are requests."""

    width: int
    height: int
    left: float
    right: float
    base: float
    line: str
    area: str
    limit_y: float | None
    rejected: tuple[float, ...]
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    used: int
    limit: int
    peak: int


def draw(connection: Connection, now_us: int, limit: int) -> Chart:
    """The chart of all requests together; `limit` is what one caller may send in a minute."""
    now_s = now_us // SECOND_US
    first_s = now_s - SPAN_S - WINDOW_S
    counted = {"now": now_us, "first": first_s * SECOND_US, "recent": RECENT_LINES}
    seconds = {row.second: (row.requests, row.rejected) for row in connection.execute(_SECONDS, counted)}
    loads = _loads({second: requests for second, (requests, _) in seconds.items()}, now_s)
    peak = max(loads)
    shown_limit = limit <= max(4 * peak, 120)
    top = _rounded(max(peak, limit if shown_limit else 0, 10))

    def x(second: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (second - (now_s - SPAN_S)) / SPAN_S, 1)

    def y(count: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - count / top), 1)

    base = y(0)
    points = [f"{x(now_s - SPAN_S + number)},{y(load)}" for number, load in enumerate(loads)]
    line = "M" + " L".join(points)
    minutes = range(0, SPAN_S + 1, 120)
    return Chart(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        base=base,
        line=line,
        area=f"{line} L{x(now_s)},{base} L{x(now_s - SPAN_S)},{base} Z",
        limit_y=y(limit) if shown_limit else None,
        rejected=tuple(x(second) for second, (_, rejected) in seconds.items() if rejected and second > now_s - SPAN_S),
        rows=tuple(Tick(y(top * part / 4), f"{top * part // 4}") for part in range(5)),
        columns=tuple(Tick(x(now_s - back), iso((now_s - back) * SECOND_US)[11:16]) for back in reversed(minutes)),
        used=loads[-1],
        limit=limit,
        peak=peak,
    )


def _loads(requests: dict[int, int], now_s: int) -> list[int]:
    """How many requests the sixty seconds up to each second of the span had."""
    first_s = now_s - SPAN_S - WINDOW_S
    loads: list[int] = []
    load = 0
    for second in range(first_s, now_s + 1):
        load += requests.get(second, 0) - requests.get(second - WINDOW_S, 0)
        if second >= now_s - SPAN_S:
            loads.append(load)
    return loads


def _rounded(most: int) -> int:
    """The next number above that four rows divide into."""
    for step in (1, 2, 5, 10, 20, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 100_000):
        if step * 4 >= most * 1.05:
            return step * 4
    return (most // 4 + 1) * 4
