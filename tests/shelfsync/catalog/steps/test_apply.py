"""Any content of a plan file is a valid plan, or is rejected in one line."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz_minute import BRIEFLY, for_a_minute
from shelfsync.catalog.steps import plan as plans
from shelfsync.errors import DataError

HASH = "0" * 64
PLAN = {
    "format": plans.FORMAT,
    "kind": "delta",
    "made_at": "2026-03-01T10:00:00+00:00",
    "configuration": {"guards": HASH},
    "requests": 4,
    "minutes": 0.1,
    "minutes_at_floor": 0.2,
    "in_time": True,
    "vendors": [
        {
            "vendor": "store-001",
            "state": "planned",
            "error": None,
            "snapshot": f"snapshot/store-001/{HASH}.parquet",
            "baseline": {"version": 1, "path": f"baseline/store-001/{HASH}.parquet"},
            "released": None,
            "changes": {"new": 1},
            "batches": [{"priority": "catalog", "items": 1, "body_bytes": 10, "sha256": HASH}],
            "held": [{"rule": "shifted_decimal", "rows": 1, "message": "m"}],
            "top": [{"sku": "a", "price": "1.000", "price_before": "2.000", "move": 0.5}],
            "quarantined": {"price_decimal_comma": 1},
            "left_out": {},
            "adjusted": {"price_cut": {"rows": 1, "examples": ["a: 1.2345 -> 1.234"]}},
        }
    ],
}
CORPUS = (
    "../x",
    "/etc/passwd",
    "a\0b",
    "\ud800",
    "",
    ".",
    10**30,
    -1,
    1.5,
    float("inf"),
    None,
    True,
    [],
    {},
    "x" * 10_000,
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from(CORPUS)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=9), inner, max_size=3)),
    max_leaves=5,
)


def places(document, path=()):
    """Every way into the document."""
    found = [path] if path else []
    if isinstance(document, dict):
        found += [place for key, value in document.items() for place in places(value, (*path, key))]
    elif isinstance(document, list):
        found += [place for number, value in enumerate(document) for place in places(value, (*path, number))]
    return found


def put(document, path, value):
    changed = copy.deepcopy(document)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def read(file, content: bytes):
    """What `apply` gets of a file with this content; None if it is rejected in one line."""
    file.write_bytes(content)
    try:
        return plans.read(file)
    except DataError as error:
        message = str(error)
    assert "\n" not in message
    assert "no plan of this version" in message
    return None


def signed(document) -> bytes:
    """Adds a correct checksum, which an attacker can compute too."""
    try:
        return json.dumps(document | {"checksum": plans._checksum(document)}).encode()
    except UnicodeEncodeError:
        return json.dumps(document | {"checksum": HASH}).encode()


def test_the_plan_that_is_changed_here_is_one(tmp_path):
    assert read(tmp_path / "plan.json", signed(PLAN)).model_dump() == PLAN


@BRIEFLY
@given(path=st.sampled_from(places(PLAN)), value=values)
@example(path=("vendors", 0, "snapshot"), value="../../etc/passwd")
@example(path=("vendors", 0, "vendor"), value="..")
@example(path=("vendors", 0, "baseline", "version"), value=10**30)
def test_any_forged_plan_is_valid_or_is_rejected_in_one_line(tmp_path, path, value):
    found = read(tmp_path / "plan.json", signed(put(PLAN, path, value)))
    for vendor in found.vendors if found else ():
        for name in (vendor.snapshot, vendor.released, vendor.baseline.path):
            assert name is None or not name.startswith(("/", "."))
        assert isinstance(vendor.vendor, str)
        assert vendor.vendor.isprintable() or "\0" not in vendor.vendor


@BRIEFLY
@given(where=st.floats(0, 1), what=st.binary(max_size=8), cut=st.floats(0, 1))
@example(where=0.0, what=b"[" * 100_000, cut=1.0)
def test_any_damaged_plan_is_rejected_in_one_line(tmp_path, where, what, cut):
    whole = signed(PLAN)
    at = int(where * len(whole))
    content = (whole[:at] + what + whole[at + len(what) :])[: int(cut * len(whole))]
    found = read(tmp_path / "plan.json", content)
    assert found is None or found.model_dump() == PLAN


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize(
    "law", [test_any_forged_plan_is_valid_or_is_rejected_in_one_line, test_any_damaged_plan_is_rejected_in_one_line]
)
def test_for_a_minute(law, tmp_path):
    assert for_a_minute(law, tmp_path) > 0
