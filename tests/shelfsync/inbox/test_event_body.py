"""Parsing of webhook bodies."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.inbox.event_body import Received, UnreadableEventError, job_report, read

ORDER = "6f1c1a52-6a5c-4d5e-9f4e-0d7d0f6f7a11"
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
names = st.sampled_from(["job_id", "order_id", "status", "sys", "client", "result", "download_url", "vendor_id"])


def _read(event) -> Received:
    return read(json.dumps(event).encode())


@pytest.mark.slow
@given(event=st.dictionaries(names | st.text(), values))
def test_any_object_is_an_event_that_a_database_can_hold(event):
    got = _read(event)
    assert (got.platform_job_id is not None) is (got.kind == "job")
    for text in (got.identity, got.platform_job_id, got.vendor):
        assert text is None or (0 < len(text.encode()) < 2700 and "\x00" not in text)


@given(body=st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_rejected_without_quoting_them(body):
    why = None
    try:
        read(body)
    except UnreadableEventError as error:
        why = str(error)
    assert why in {
        None,
        "is not JSON",
        "is not a JSON object",
        "is nested too deeply",
        "has a key with two values",
        "has a number that is none",
        "has a number of too many digits",
    }


@pytest.mark.parametrize(
    "event",
    [
        {"job_id": "17", "status": "COMPLETED", "download_url": "https://h/l", "platform_vendor_id": "store-001"},
        {"job_id": 17, "job_status": "completed", "downloadURL": "https://h/l", "vendor_id": "store-001"},
        {"job_id": 17, "job_status": "completed", "downloadUrl": "https://h/l", "vendor_id": "store-001"},
        {"job_id": " 17 ", "status": "COMPLETED", "result": {"download_url": "https://h/l"}, "vendor_id": "store-001"},
        {
            "job_id": "17",
            "job_status": "COMPLETED",
            "download_url": None,
            "downloadURL": "https://h/l",
            "vendor_id": "store-001",
        },
    ],
)
def test_a_job_event_is_read_in_every_spelling(event):
    got = _read(event)
    assert (got.kind, got.platform_job_id, got.vendor) == ("job", "17", "store-001")
    word = job_report(event)
    assert (word.status, word.download_url, word.has_ended) == ("COMPLETED", "https://h/l", True)


def test_an_order_names_its_store_in_either_place():
    got = _read({"order_id": ORDER, "client": {"store_id": "s1"}})
    assert (got.kind, got.platform_job_id, got.vendor) == ("order", None, "s1")
    assert _read({"order_id": ORDER, "store_id": "s2"}).vendor == "s2"


@pytest.mark.parametrize("job_id", [None, True, 1.5, "", "   ", "x" * 256, {}, [], "a\x00b", "\ud800"])
def test_a_job_number_that_is_none_makes_an_unknown_event_not_a_lost_one(job_id):
    assert _read({"job_id": job_id, "status": "COMPLETED"}).kind == "unknown"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b"17", "is not a JSON object"),
        (b'{"job_id": 1}{"job_id": 2}', "is not JSON"),
        (b'{"price": NaN}', "has a number that is none"),
        (b'{"price": -Infinity}', "has a number that is none"),
        (b'{"job_id": 1, "job_id": 2}', "has a key with two values"),
        (b'{"a": {"b": 1, "b": null}}', "has a key with two values"),
        (b"\xff\xfe\xff", "is not JSON"),
        (b'{"n": ' + b"9" * 5000 + b"}", "has a number of too many digits"),
        (b'{"n": 0.' + b"9" * 200 + b"}", "has a number of too many digits"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "is nested too deeply"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is nested too deeply"),
    ],
)
def test_an_ambiguous_body_is_rejected(body, why):
    with pytest.raises(UnreadableEventError, match=f"^{why}$"):
        read(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"job_id": 1, "job_id": 1}',
        '\ufeff{"job_id": 1}'.encode(),
        '{"job_id": 1}'.encode("utf-16"),
        b'{"job_id": 1, "n": 1e999}',
        b'{"job_id": 1, "a": ' + b"[" * 60 + b"]" * 60 + b"}",
        b'{"job_id": 1, "a": [' + b"[]," * 500 + b"[]]}",
    ],
)
def test_unusual_but_unambiguous_bodies_are_read(body):
    assert read(body).platform_job_id == "1"


def test_a_body_does_not_show_in_a_representation():
    event = {"job_id": 1, "download_url": "https://h/canary", "order": {"phone_number": "+4912345"}}
    shown = repr(_read(event)) + repr(job_report(event))
    assert "canary" not in shown
    assert "12345" not in shown
