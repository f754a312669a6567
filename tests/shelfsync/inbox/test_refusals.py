"""Reports of calls with a wrong secret add up for an hour, each endpoint by itself."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.inbox import refusals


def test_calls_of_an_hour_add_up_and_one_report_alone_is_a_stranger(engine):
    rows = [
        ("inbox", 4, 50),
        ("inbox", 2, 10),
        ("inbox", 9, 70),
        *(("picking", 7, minutes) for minutes in range(1, refusals.REPORTS_MIN["picking"])),
    ]
    insert = (
        "INSERT INTO inbox.refusal (endpoint, calls, refused_at) VALUES (:e, :c, now() - make_interval(mins => :m))"
    )
    with engine.begin() as connection:
        for endpoint, calls, minutes in rows:
            connection.execute(sa.text(insert), {"e": endpoint, "c": calls, "m": minutes})
        found = refusals.lately(connection)
    assert {endpoint: one.calls for endpoint, one in found.items()} == {"inbox": 6}
    assert (found["inbox"].last_at - found["inbox"].began_at).total_seconds() == 40 * 60
