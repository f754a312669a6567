from __future__ import annotations

import contextlib
import sqlite3
from decimal import Decimal

import pytest

from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, DataError, IncompleteExtractError
from shelfsync.settings import ErpSettings


@pytest.fixture
def erp(tmp_path):
    file = tmp_path / "erp.db"
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE item (filiale, artikel, cents, kind)")
        database.executemany(
            "INSERT INTO item VALUES (?, ?, ?, ?)", [(i % 2, f"{i:04}", i * 10 + 5, "x") for i in range(1, 11)]
        )
    return {"url": f"sqlite:///{file}", "sql": "SELECT * FROM item", "columns": {"sku": "artikel"}, "chunk_rows": 4}


@pytest.fixture
def hook(tmp_path):
    """Writes a hook file, returns its name for the configuration."""

    def _write(body, name="map"):
        file = tmp_path / "hooks.py"
        indented = "\n".join(f"    {line}" for line in body.splitlines())
        file.write_text(
            f"from decimal import Decimal\nimport pandas\n\ndef map(frame: pandas.DataFrame) -> pandas.DataFrame:\n{indented}\n"
        )
        return f"{file}:{name}"

    return _write


GOOD = """frame["vendor"] = "store-00" + frame["filiale"].astype(str)
frame["price"] = [Decimal(cents) / 100 for cents in frame["cents"]]
return frame"""


def test_the_hook_shapes_every_chunk_and_decimals_stay_exact(erp, hook, read):
    source = {**erp, "mapping": hook(GOOD)}
    open_source(ErpSettings(**source)).check()
    reading = read(**source)
    assert len(reading.chunks) == 3
    assert [(row["vendor"], row["sku"], Decimal(row["price"])) for row in reading.rows] == [
        (f"store-00{i % 2}", f"{i:04}", Decimal(i * 10 + 5) / 100) for i in range(1, 11)
    ]
    assert reading.proof.complete


def test_the_hook_may_drop_and_add_rows_and_the_proof_counts_what_the_erp_gave(erp, hook, read):
    keep_some = GOOD.replace("return frame", "return pandas.concat([frame[frame['filiale'] == 1]] * 3)")
    reading = read(**erp, mapping=hook(keep_some))
    assert len(reading.rows) == 15
    assert (reading.proof.rows, reading.proof.expected, reading.proof.complete) == (10, 10, True)


def test_a_chunk_that_the_hook_empties_is_no_chunk(erp, hook, read):
    reading = read(**erp, mapping=hook(GOOD.replace("return frame", "return frame[frame['sku'] > '0008']")))
    assert [row["sku"] for row in reading.rows] == ["0009", "0010"]
    assert len(reading.chunks) == 1


def test_a_hook_that_drops_everything_is_taken_for_a_mistake(erp, hook, read):
    with pytest.raises(IncompleteExtractError, match="hook left none of 10 rows"):
        read(**erp, mapping=hook(GOOD.replace("return frame", "return frame.head(0)")))


def test_missing_in_pandas_is_null(erp, hook, read):
    reading = read(
        **erp,
        mapping=hook(
            GOOD.replace(
                "return frame",
                "frame['quantity'] = frame['cents'].where(frame['filiale'] == 1).astype('float64')\nreturn frame",
            )
        ),
    )
    assert [row["quantity"] for row in reading.rows][:3] == ["15.0", None, "35.0"]


def test_a_module_function_is_a_hook_too_and_sees_constants(erp, read, tmp_path, monkeypatch):
    (tmp_path / "our_erp_hooks.py").write_text(
        "def shape(frame):\n    frame['vendor'] = frame['vendor'] + '-' + frame['filiale'].astype(str)\n    frame['active'] = frame['kind'] == 'x'\n    return frame[['vendor', 'sku', 'active']]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    reading = read(**erp, constants={"vendor": "s"}, mapping="our_erp_hooks:shape")
    assert {key: reading.rows[0][key] for key in ("vendor", "sku", "active")} == {
        "vendor": "s-1",
        "sku": "0001",
        "active": "true",
    }


def test_an_exception_in_the_hook_is_named_with_hook_chunk_and_line(erp, hook, read):
    name = hook(GOOD + "\n").replace(":map", ":map")
    failing = hook("if '0006' in list(frame['sku']):\n    raise ValueError('no such tax class')\n" + GOOD)
    assert name == failing
    with pytest.raises(
        DataError,
        match=r"hooks.py:map' failed on chunk 2 .*4 rows.* with ValueError: no such tax class \(hooks.py, line 6\)",
    ) as failed:
        read(**erp, mapping=failing)
    assert isinstance(failed.value.__cause__, ValueError)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return None", "answered NoneType on chunk 1"),
        ("return frame[['sku', 'cents']]", "no column 'vendor'"),
        ("frame['vendor'] = 1\nreturn frame", "none of price"),
        (
            "frame['vendor'] = frame['price'] = 1\nreturn pandas.concat([frame, frame[['sku']]], axis=1)",
            "returned 'sku' twice",
        ),
    ],
)
def test_a_hook_that_breaks_its_contract_is_found_by_the_check(erp, hook, body, words):
    with pytest.raises(ConfigurationError) as caught:
        open_source(ErpSettings(**erp, mapping=hook(body))).check()
    assert caught.value.setting == "SHELFSYNC_ERP__MAPPING"
    assert words in caught.value.problem


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_function_named", "names no function"),
        ("/nowhere/hooks.py:map", "there is no file '/nowhere/hooks.py'"),
        ("no_such_module_here:map", "ModuleNotFoundError"),
        ("shelfsync.errors:map", "has no function 'map'"),
    ],
)
def test_a_hook_that_cannot_be_had_is_named(erp, name, words):
    with pytest.raises(ConfigurationError) as caught:
        open_source(ErpSettings(**erp, mapping=name)).check()
    assert caught.value.setting == "SHELFSYNC_ERP__MAPPING"
    assert words in caught.value.problem


def test_a_hook_file_that_is_no_python_is_named(erp, hook):
    with pytest.raises(ConfigurationError, match="cannot be imported: SyntaxError"):
        open_source(ErpSettings(**erp, mapping=hook("return frame +"))).check()


def test_an_error_inside_a_library_names_the_line_of_the_hook(erp, hook, read):
    with pytest.raises(DataError, match=r"KeyError: 'no_such_column' \(hooks\.py, line 6\)"):
        read(**erp, mapping=hook("frame = frame.copy()\nframe['price'] = frame['no_such_column']\nreturn frame"))


@pytest.mark.parametrize("name", ["decorated", "called"])
def test_a_decorated_hook_or_an_object_is_named_by_its_own_line(erp, read, tmp_path, name):
    (tmp_path / "hooks.py").write_text(
        "import functools\n"
        "class Hook:\n"
        "    def __call__(self, frame):\n"
        "        return frame['no_such_column']\n"  # line 4
        "called = Hook()\n"
        "decorated = functools.wraps(called.__call__)(lambda frame: called(frame))\n",
        encoding="utf-8",
    )
    with pytest.raises(DataError, match=r"KeyError: 'no_such_column' \(hooks\.py, line 4\)"):
        read(**erp, mapping=f"{tmp_path}/hooks.py:{name}")


def test_an_exception_that_ends_in_a_full_stop_is_followed_by_no_second_one(erp, hook, read):
    with pytest.raises(DataError, match=r"ValueError: no such tax class \(hooks"):
        read(**erp, mapping=hook("raise ValueError('no such\\n tax class.')"))


def test_columns_that_nothing_reads_are_known_without_reading_a_row(erp, hook, tmp_path):
    columns = {"vendor": "filiale", "sku": "artikel", "quantity": "cents"}
    assert open_source(ErpSettings(**{**erp, "columns": columns})).unused_columns() == ("kind",)
    assert open_source(ErpSettings(**erp, mapping=hook(GOOD))).unused_columns() == (), "a hook sees them all"
    (tmp_path / "a.csv").write_text("SKU,note,price,colour\n", "utf-8")
    (tmp_path / "b.csv").write_text("sku,price,brand,note\n", "utf-8")
    files = ErpSettings(files=str(tmp_path / "{vendor}.csv"))
    assert open_source(files).unused_columns() == ("note", "colour", "brand")
