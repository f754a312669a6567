"""A file that is no saved state, or half of one, is refused by one sentence, whatever stands in its manifest."""

from __future__ import annotations

import datetime as dt
import json
import uuid
import zipfile

import pytest

from shelfsync.errors import DataError
from shelfsync.saved_state.load import checked
from shelfsync.saved_state.manifest import FORMAT, MANIFEST, Manifest

EMPTY = json.loads(
    Manifest(
        state_id=str(uuid.uuid4()),
        saved_at=dt.datetime.now(dt.UTC),
        version="1.0.0",
        revision="schema_1",
        chain=None,
        paused=True,
        unfinished={},
        absent=[],
        tables={},
        files=0,
        missing=0,
        sequences={},
    ).model_dump_json()
)


@pytest.fixture
def asked(tmp_path):
    """Checks a file of this manifest and these members."""

    def ask(manifest, *members):
        path = tmp_path / "x.state"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members:
                archive.writestr(name, content)
            archive.writestr(MANIFEST, json.dumps(manifest))
        return checked(path, chain=None, reads=bool)

    return ask


def test_an_empty_one_is_whole(asked):
    assert asked(EMPTY).rows == {}


@pytest.mark.parametrize("name", sorted({*EMPTY} - {"kind", "format"}))
@pytest.mark.parametrize("value", [None, "?", -1, [7], {"a": "b"}, 1 << 70])
def test_a_value_of_another_kind_is_named(asked, name, value):
    if (name, value) in [("revision", None), ("chain", None), ("revision", "?"), ("version", "?")]:
        return
    with pytest.raises(DataError, match=r"no row was written") as refused:
        asked(EMPTY | {name: value})
    assert name in str(refused.value) or "the chain ?" in str(refused.value)


@pytest.mark.parametrize("name", sorted({*EMPTY} - {"kind", "format"}))
def test_a_missing_value_is_named(asked, name):
    with pytest.raises(DataError, match=rf"manifest.json: {name}: .*no row was written"):
        asked({key: value for key, value in EMPTY.items() if key != name})


@pytest.mark.parametrize("manifest", [None, [], 7, "text", {}, {"kind": "another"}])
def test_what_is_no_manifest_is_none(asked, manifest):
    with pytest.raises(DataError, match=r"has no manifest.json of a saved state"):
        asked(manifest)


def test_a_newer_format_names_the_version_that_reads_it(asked):
    with pytest.raises(DataError, match=r"of format 2.*no row was written\. Install shelfsync 9.9 or newer"):
        asked({"kind": EMPTY["kind"], "format": FORMAT + 1, "version": "9.9"})


@pytest.mark.parametrize("path", ["../etc/x", "/x", "baseline/../../x", ".staging/x", "a//b"])
def test_a_path_outside_the_lake_is_refused_before_anything_is_written(asked, path):
    with pytest.raises(DataError, match="no path inside the lake"):
        asked(EMPTY | {"files": 1}, (f"lake/{path}", b"x"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(asked):
    with pytest.raises(DataError, match="a member is there twice"):
        asked(EMPTY, ("lake/a/b/c", b"1"), ("lake/a/b/c", b"2"))


def test_rows_that_are_missing_or_too_many_are_counted(asked):
    saved = EMPTY | {"tables": {"ledger.vendor": {"rows": 2, "columns": ["vendor"]}}}
    with pytest.raises(DataError, match=r"ledger.vendor has 1 rows of 2"):
        asked(saved, ("ledger.vendor.jsonl", b'{"vendor":"a"}\n'))
    with pytest.raises(DataError, match=r"it has no ledger.vendor.jsonl"):
        asked(saved)


def test_a_customer_whose_data_is_no_text_of_bytes_is_refused(asked):
    saved = EMPTY | {"tables": {"warehouse.order_customer": {"rows": 1, "columns": ["encrypted"]}}}
    for row in (b'{"encrypted": 7}\n', b'{"encrypted": "\\\\xzz"}\n', b"{}\n", b"[]\n", b"no json\n"):
        with pytest.raises(DataError, match=r"a row of warehouse.order_customer has no encrypted"):
            asked(saved, ("warehouse.order_customer.jsonl", row))
