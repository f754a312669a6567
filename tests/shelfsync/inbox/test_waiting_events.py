"""How many events wait for a commit in memory, and how many one commit takes."""

from __future__ import annotations

import asyncio

from shelfsync.inbox.event_body import Received
from shelfsync.inbox.waiting_events import BATCH_MAX, WAITING_BYTES_MAX, WAITING_MAX, WaitingEvents


def _event(number, body=b"{}"):
    return Received("job", f"job:{number}", str(number), None, body)


def test_a_commit_takes_the_oldest_and_the_next_commit_those_that_came_meanwhile():
    async def taken():
        waiting = WaitingEvents()
        results = [waiting.add(_event(number)) for number in range(BATCH_MAX + 1)]
        first = waiting.take()
        results.append(waiting.add(_event("new")))
        parts = [first, waiting.take(), waiting.take()]
        assert [done for part in parts for _, done in part] == results
        return [[event.identity for event, _ in part] for part in parts]

    assert asyncio.run(taken()) == [
        [f"job:{number}" for number in range(BATCH_MAX)],
        [f"job:{BATCH_MAX}", "job:new"],
        [],
    ]


def test_there_is_room_for_so_many_and_again_once_some_are_taken():
    async def rooms():
        waiting, found = WaitingEvents(), []
        for number in range(WAITING_MAX):
            assert waiting.has_room_for(_event(number))
            waiting.add(_event(number))
        found.append(waiting.has_room_for(_event("more")))
        waiting.take()
        found.append(waiting.has_room_for(_event("more")))
        return found

    assert asyncio.run(rooms()) == [False, True]


def test_there_is_room_for_so_many_bytes():
    async def rooms():
        waiting, half = WaitingEvents(), _event("half", bytes(WAITING_BYTES_MAX // 2))
        waiting.add(half)
        found = [waiting.has_room_for(half), waiting.has_room_for(_event("more", half.body + b"1"))]
        waiting.add(half)
        found.append(waiting.has_room_for(_event("small")))
        waiting.take()
        return [*found, waiting.has_room_for(half)]

    assert asyncio.run(rooms()) == [True, False, False, True]
