"""A file that is no saved state, or half of one, is refused by one sentence, whatever stands in its manifest."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import uuid
import zipfile

import pytest

from shelfsync.errors import DataError
from shelfsync.saved_state.load import checked
from shelfsync.saved_state.manifest import FORMAT, MANIFEST, Manifest
from shelfsync.warehouse.every_table import metadata

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


OPTIONAL = {"paused", "going_on", "sha256"}
"""An older file does not have these."""


@pytest.mark.parametrize("name", sorted({*EMPTY} - {"kind", "format"}))
@pytest.mark.parametrize("value", [None, "?", -1, [7], {"a": "b"}, 1 << 70])
def test_a_value_of_another_kind_is_named(asked, name, value):
    if (value is None and name in {"revision", "chain", "paused", "sha256"}) or (name, value) in [
        ("revision", "?"),
        ("version", "?"),
    ]:
        return
    with pytest.raises(DataError, match=r"no row was written") as refused:
        asked(EMPTY | {name: value})
    assert name in str(refused.value) or "the chain ?" in str(refused.value)


def test_an_older_file_that_tells_less_is_whole(asked):
    older = {key: value for key, value in EMPTY.items() if key not in OPTIONAL} | {"files": 1}
    assert asked(older, ("lake/a/b/c", b"1")).notes == []


def test_a_member_that_was_changed_with_its_checksum_is_named(asked):
    saved = EMPTY | {"files": 1, "sha256": {"lake/a/b/c": hashlib.sha256(b"1").hexdigest()}}
    assert asked(saved, ("lake/a/b/c", b"1")).manifest.files == 1
    with pytest.raises(DataError, match=r"lake/a/b/c is not what was saved.*no row was written"):
        asked(saved, ("lake/a/b/c", b"2"))
    with pytest.raises(DataError, match=r"ledger.hold.jsonl is not what was saved"):
        asked(saved, ("lake/a/b/c", b"1"), ("ledger.hold.jsonl", b"{}\n"))


@pytest.mark.parametrize("name", sorted({*EMPTY} - {"kind", "format"} - OPTIONAL))
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


def columns(table):
    return [column.name for column in metadata.tables[table].columns]


CUSTOMERS = EMPTY | {
    "tables": {"warehouse.order_customer": {"rows": 3, "columns": columns("warehouse.order_customer")}}
}
ROWS = b'{"encrypted":"\\\\x6f6c64"}\n{"encrypted":"\\\\x6e6577"}\n{"encrypted":"\\\\x"}\n'
"""Of the old key, of the new key, and the mark of a customer who was forgotten."""


def test_customers_of_another_key_are_counted_refused_or_left_out_and_the_mark_of_a_forgotten_one_is_kept(
    asked, tmp_path
):
    member = ("warehouse.order_customer.jsonl", ROWS)
    asked(CUSTOMERS, member)

    def plan(*readable, **options):
        return checked(tmp_path / "x.state", chain=None, reads=lambda data: data in readable, **options)

    assert plan(b"old", b"new").notes == []
    assert plan(b"new").notes == ["SHELFSYNC_ORDERS__ENCRYPTION_KEY does not read 1 of the 2 customers in it"]
    with pytest.raises(DataError, match=r"reads none of the 2 customers.*no row was written.*--without-customers"):
        plan()
    without = plan(without_customers=True)
    assert without.notes == ["warehouse.order_customer: 2 rows stay out (--without-customers)"]
    assert without.rows == {"warehouse.order_customer": 1}


def test_a_baseline_whose_file_is_not_there_is_refused(asked):
    saved = EMPTY | {"tables": {"ledger.baseline": {"rows": 1, "columns": columns("ledger.baseline")}}, "files": 1}
    row = ("ledger.baseline.jsonl", b'{"path":"baseline/store-001/7f.parquet","known_path":null}\n')
    with pytest.raises(DataError, match=r"names 'baseline/store-001/7f.parquet', and that file is not in it"):
        asked(saved, row, ("lake/baseline/store-001/80.parquet", b"1"))
    asked(saved, row, ("lake/baseline/store-001/7f.parquet", b"1"))


def test_a_row_that_is_nested_without_end_is_refused(asked):
    deep = b'{"encrypted":"\\\\x00","a":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
    saved = EMPTY | {"tables": {"warehouse.order_customer": {"rows": 1, "columns": ["encrypted"]}}}
    with pytest.raises(DataError, match="no row was written"):
        asked(saved, ("warehouse.order_customer.jsonl", deep))


@pytest.mark.slow
def test_whichever_bit_of_a_file_is_wrong_it_is_refused_by_a_sentence_or_harmless(asked, tmp_path):
    asked(CUSTOMERS, ("warehouse.order_customer.jsonl", ROWS))
    content = (tmp_path / "x.state").read_bytes()
    damaged = tmp_path / "damaged.state"
    refused = 0
    for place in range(len(content)):
        for bit in (place % 8, (place + 3) % 8):
            damaged.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
            try:
                checked(damaged, chain=None, reads=bool)
            except DataError:
                refused += 1
    assert refused > len(content)
