"""How long every process pauses after the platform rejected a request for its rate."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.platform.rate_limit.pauses import BACKOFF_S_MAX, Answer, pause_s

answers = st.builds(
    Answer,
    operation=st.just("put_catalog"),
    status=st.sampled_from([403, 429, 500, 503]),
    retry_after_s=st.none() | st.floats(allow_nan=True, allow_infinity=True),
    blocked=st.booleans(),
)


def _answer(status, retry_after_s=None, *, blocked=False):
    return Answer("job_status", status, retry_after_s, blocked)


@given(answer=answers, strikes=st.integers(1, 10_000), seed=st.integers())
def test_every_pause_is_bounded_whatever_the_platform_asks(answer, strikes, seed):
    silent_s = pause_s(answer, strikes, random.Random(seed), longest_s=3600)
    assert 1 <= silent_s <= 3600
    assert math.isfinite(silent_s)


@given(asked_s=st.floats(1, 3000), strikes=st.integers(1, 20), seed=st.integers())
def test_a_retry_after_is_never_undercut(asked_s, strikes, seed):
    assert pause_s(_answer(429, asked_s), strikes, random.Random(seed), longest_s=3600) >= asked_s


@given(blocked=st.booleans(), strikes=st.integers(1, 30), seed=st.integers())
def test_without_retry_after_a_pause_doubles_up_to_a_quarter_of_an_hour(blocked, strikes, seed):
    this_s = pause_s(_answer(429, blocked=blocked), strikes, random.Random(seed), longest_s=3600)
    first_s = 60 if blocked else 15
    expected_s = min(first_s * 2 ** (strikes - 1), BACKOFF_S_MAX)
    assert expected_s <= this_s <= expected_s * 1.1 + 1


def test_a_retry_after_that_did_not_help_is_doubted():
    chance = random.Random(1)
    lengths = [pause_s(_answer(429, 2.0), strikes, chance, longest_s=3600) for strikes in (1, 2, 3, 4)]
    assert lengths[0] < 4
    assert lengths[1] >= 15
    assert lengths[3] >= 60


def test_chance_is_an_argument():
    one, same = (pause_s(_answer(429), 1, random.Random(7), longest_s=3600) for _ in range(2))
    assert one == same != pause_s(_answer(429), 1, random.Random(8), longest_s=3600)


@pytest.mark.parametrize(
    ("answer", "stops"),
    [
        (_answer(429), True),
        (_answer(403, blocked=True), True),
        (_answer(503, 30), True),
        (_answer(403), False),  # wrong credentials are one caller's trouble
        (_answer(503), False),
        (_answer(500), False),
        (_answer(202, 5), False),
        (_answer(301, 5), False),
        (_answer(200), False),
    ],
)
def test_what_stops_everybody(answer, stops):
    assert answer.stops is stops
