"""Alert `rate_limited`: the platform stops shelfsync several times in a row."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from alert_look import kinds


@pytest.mark.slow
def test_stops_in_a_row_are_an_alert_until_a_good_answer(world, context):
    limited = sa.text("UPDATE rate_limit.allowance SET strikes = :n, paused_until = now(), pause_reason = 'status 429'")
    for strikes, expected in ((1, set()), (2, {"rate_limited"}), (3, {"rate_limited"})):
        with context.engine.begin() as connection:
            assert connection.execute(limited, {"n": strikes}).rowcount
        assert {kind for kind, _ in kinds(context)} == expected
    other = "INSERT INTO rate_limit.allowance (key, strikes, paused_until) VALUES ('of a token before', 9, now())"
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    with context.engine.begin() as connection:
        connection.execute(sa.text(other))
    assert kinds(context) == set(), "a good answer came, and the other key is not in use any more"
