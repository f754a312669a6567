"""A repeated event is the same event, and any other is another one."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.inbox.event_body import read
from shelfsync.inbox.event_identity import IDENTITY_BYTES_MAX, of_job, of_order, of_unknown

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
ORDER = {"order_id": "6f1c1a52", "status": "RECEIVED", "sys": {"updated_at": "2026-01-01T00:00:00Z"}, "items": []}
JOB = {"job_id": "17", "status": "QUEUED"}


def _identity(event):
    return read(json.dumps(event).encode()).identity


@given(
    event=st.dictionaries(st.text(), leaves | st.lists(leaves, max_size=4), max_size=5),
    seed=st.randoms(use_true_random=False),
)
def test_a_job_event_is_the_same_whatever_the_order_of_its_keys(event, seed):
    keys = list(event)
    seed.shuffle(keys)
    assert of_job("17", event) == of_job("17", {key: event[key] for key in keys})


@pytest.mark.parametrize("other", [{"status": "COMPLETED"}, {"download_url": "https://h/other"}, {"job_id": "18"}])
def test_two_reports_of_one_job_are_two_events(other):
    assert _identity({**JOB, **other}) != _identity(JOB) == _identity(dict(JOB))


@pytest.mark.parametrize(
    "other",
    [{"items": [{"sku": "A"}]}, {"status": "CANCELLED"}, {"sys": {"updated_at": "2026-01-01T00:00:01Z"}}, {"sys": {}}],
)
def test_an_order_event_that_differs_in_any_byte_is_another_event(other):
    assert _identity({**ORDER, **other}) != _identity(ORDER) == _identity(dict(ORDER))


def test_an_order_event_without_a_time_of_change_is_known_by_its_bytes():
    assert of_order("o-1", "RECEIVED", None, b"one") == of_order("o-1", "RECEIVED", None, b"one")
    assert of_order("o-1", "RECEIVED", None, b"one") != of_order("o-1", "RECEIVED", None, b"another")


def test_an_event_of_no_known_form_is_known_by_its_bytes():
    assert _identity({"promotion": 1}) == of_unknown(b'{"promotion": 1}') != of_unknown(b'{"promotion":1}')


def test_an_identity_can_be_read_unless_it_is_too_long_for_an_index():
    body, time = b"{}", "2026-03-01T10:00:00Z"
    digest = hashlib.sha256(body).hexdigest()
    assert of_order("o-1", "RECEIVED", time, body) == f"order:o-1:RECEIVED:{time}:{digest}"
    longest = "s" * (IDENTITY_BYTES_MAX - len(f"order:{'o' * 255}::u:{digest}"))
    assert of_order("o" * 255, longest, "u", body) == f"order:{'o' * 255}:{longest}:u:{digest}"
    found = {of_order("o" * 255, f"{longest}{more}", "u", body) for more in ("s", "t", "\U0001f95b" * 4000)}
    assert len(found) == 3
    assert all(one.startswith("order:sha256:") and len(one) < IDENTITY_BYTES_MAX for one in found)
