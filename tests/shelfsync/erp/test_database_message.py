"""Each error of a database's configuration is one line that names the setting and the remedy, and hides the password."""

from __future__ import annotations

import contextlib
import sqlite3
from decimal import Decimal
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfsync.erp import database_message
from shelfsync.erp.changes_query import Feed
from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, UnreachableError
from shelfsync.settings import ErpSettings

SECRET = "canary-password-3"
SQL = "SELECT 'v' AS vendor, 's' AS sku, 1 AS price"


def error_of(**settings):
    with pytest.raises(ConfigurationError) as caught:
        open_source(ErpSettings(**settings)).check()
    message = str(caught.value)
    assert "\n" not in message
    assert SECRET not in message
    assert SECRET not in "".join(map(repr, _chain(caught.value)))
    return caught.value


def _chain(error):
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@pytest.fixture
def sqlite_url(tmp_path):
    file = tmp_path / "erp.db"
    with contextlib.closing(sqlite3.connect(file)) as erp, erp:
        erp.execute("CREATE TABLE item (vendor, sku, preis)")
    return f"sqlite:///{file}"


def test_no_erp_at_all():
    error = error_of()
    assert error.setting == "SHELFSYNC_ERP__URL"
    assert "SHELFSYNC_ERP__FILES" in error.remedy


def test_both_a_database_and_files():
    assert error_of(url="sqlite://", files="x.csv").setting == "SHELFSYNC_ERP__SOURCE"


def test_a_source_without_what_it_needs():
    assert error_of(source="sql").setting == "SHELFSYNC_ERP__URL"
    assert error_of(source="files").setting == "SHELFSYNC_ERP__FILES"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        (f"postgresql//shop:{SECRET}@db/erp", "no database URL"),
        (f"foxpro://shop:{SECRET}@db/erp", "no driver is known for 'foxpro'"),
        (f"postgresql+nodriver://shop:{SECRET}@db/erp", "no driver is known"),
        (f"mysql://shop:{SECRET}@db/erp", "there is no module 'MySQLdb'"),
        (f"mysql+mysqlconnector://shop:{SECRET}@db/erp", "keeps the whole result in memory"),
        (f"postgresql+asyncpg://shop:{SECRET}@db/erp", "is asynchronous"),
        ("sqlite:////nowhere/erp.db", "no SQLite file"),
    ],
)
def test_a_url_that_leads_nowhere(url, problem):
    error = error_of(url=url, sql=SQL)
    assert error.setting == "SHELFSYNC_ERP__URL"
    assert problem in error.problem


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+psycopg",
        "postgresql+psycopg2",
        "mysql+pymysql",
        "mariadb+pymysql",
        "mssql+pymssql",
        "oracle+oracledb",
    ],
)
def test_a_server_that_is_away_is_reported_by_every_driver_alike(address):
    service = "?service_name=erp" if address.startswith("oracle") else ""
    database = "" if service else "erp"
    error = error_of(url=f"{address}://shop:{SECRET}@127.0.0.1:1/{database}{service}", sql=SQL)
    assert error.setting == "SHELFSYNC_ERP__URL"
    assert "cannot be reached" in error.problem
    assert isinstance(error, UnreachableError), "a schedule tries again"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://shop:first@{SECRET}@db/erp",
        f"postgresql://shop:first@{SECRET}/x@db/erp",
        f"postgresql://shop:first@x/{SECRET}@db/erp",
        f"postgresql://shop:first@x:{SECRET}@db/erp",
        f"mysql+pymysql://sh@op:{SECRET}@db/erp",
    ],
)
def test_of_a_password_with_an_at_sign_in_it_nothing_is_shown(url):
    error = error_of(url=url, sql=SQL)
    assert error.setting == "SHELFSYNC_ERP__URL"
    assert SECRET not in str(error)
    assert "first" not in str(error)


@settings(deadline=None)
@given(st.text(min_size=4).filter(lambda text: "*" not in text and text.strip()))
def test_a_driver_message_with_the_password_is_not_quoted(secret):
    url = sa.URL.create("postgresql", "shop", secret, "db", query={"sslpassword": f"{secret}{SECRET}"})
    words = database_message.driver_message(ValueError(f"1 {secret}\n2 {secret}{SECRET} 3"), url)
    assert words == "1 *** 2 *** 3"


def test_an_unreachable_host():
    for url in (
        f"postgresql+psycopg://shop:{SECRET}@127.0.0.1:1/erp",
        f"postgresql+psycopg2://shop:{SECRET}@127.0.0.1:1/erp",
    ):
        error = error_of(url=url, sql=SQL)
        assert error.setting == "SHELFSYNC_ERP__URL"
        assert "postgresql at 127.0.0.1:1/erp cannot be reached" in error.problem
    error = error_of(url=f"postgresql://shop:{SECRET}@erp.invalid/erp", sql=SQL)
    assert "erp.invalid" in error.problem
    assert "host and port" in error.remedy


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
def test_wrong_credentials(erp_url, driver):
    url = sa.make_url(erp_url).set(password=SECRET, drivername=f"postgresql+{driver}")
    error = error_of(url=url.render_as_string(hide_password=False), sql=SQL)
    assert error.setting == "SHELFSYNC_ERP__URL"
    assert "rejected the user or the password" in error.problem


def test_a_database_that_does_not_exist(erp_url):
    url = sa.make_url(erp_url).set(database="nothing_here").render_as_string(hide_password=False)
    assert "no such database" in error_of(url=url, sql=SQL).problem


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "erp.db").write_text("vendor;sku;price\n" * 100)
    assert "not a database" in error_of(url=f"sqlite:///{tmp_path}/erp.db", sql=SQL + " FROM item").problem


def test_no_select_two_selects_and_an_empty_one(sqlite_url, tmp_path):
    empty = tmp_path / "empty.sql"
    empty.write_text(" ;\n-- nothing\n")
    latin = tmp_path / "latin.sql"
    latin.write_bytes(b"SELECT 'Caf\xe9'")
    assert error_of(url=sqlite_url).setting == "SHELFSYNC_ERP__SQL"
    assert error_of(url=sqlite_url, sql=SQL, sql_file=empty).setting == "SHELFSYNC_ERP__SQL_FILE"
    assert error_of(url=sqlite_url, sql=" ").setting == "SHELFSYNC_ERP__SQL"
    assert "empty" in error_of(url=sqlite_url, sql_file=empty).problem
    assert "No such file" in error_of(url=sqlite_url, sql_file=tmp_path / "absent.sql").problem
    assert "UTF-8" in error_of(url=sqlite_url, sql_file=latin).problem


@pytest.mark.parametrize(
    "sql",
    ["SELEC 1", "SELECT * FROM absent", "DROP TABLE item", "SELECT 1 AS a; SELECT 2 AS b", "UPDATE item SET sku = 1"],
)
def test_a_statement_that_the_database_does_not_take(sqlite_url, erp_url, sql):
    for url in (sqlite_url, erp_url):
        error = error_of(url=url, sql=sql)
        assert error.setting == "SHELFSYNC_ERP__SQL"
        assert "does not accept the SELECT" in error.problem
    with sa.create_engine(sqlite_url).connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM item").scalar() == 0


@pytest.mark.parametrize(
    ("settings", "setting", "words"),
    [
        ({"sql": "SELECT preis AS price, vendor FROM item"}, "COLUMNS", "no column 'sku'; it has 'price', 'vendor'"),
        ({"sql": "SELECT preis AS price, sku FROM item"}, "COLUMNS", "no column 'vendor'"),
        ({"sql": "SELECT sku, preis FROM item", "constants": {"vendor": "v"}}, "COLUMNS", "none of price, quantity"),
        ({"sql": "SELECT * FROM item", "columns": {"price": "prise"}}, "COLUMNS", "'price' is mapped to 'prise'"),
        ({"sql": "SELECT * FROM item", "columns": {"prize": "preis"}}, "COLUMNS", "'prize' is no column of shelfsync"),
        ({"sql": "SELECT * FROM item", "constants": {"shop": "v"}}, "CONSTANTS", "'shop' is no column of shelfsync"),
        (
            {"sql": "SELECT * FROM item", "columns": {"vendor": "vendor"}, "constants": {"vendor": "v"}},
            "CONSTANTS",
            "not both",
        ),
        ({"sql": "SELECT *, preis price FROM item", "count_sql": "SELECT 1, 2"}, "COUNT_SQL", "returns 2 columns"),
        ({"sql": "SELECT *, preis price FROM item", "count_sql": "SELECT x"}, "COUNT_SQL", "does not accept the count"),
    ],
)
def test_columns_that_are_not_there(sqlite_url, settings, setting, words):
    error = error_of(url=sqlite_url, **settings)
    assert error.setting == f"SHELFSYNC_ERP__{setting}"
    assert words in str(error)


def test_two_columns_of_one_name(erp_url):
    error = error_of(url=erp_url, sql="SELECT 'a' AS sku, 'b' AS sku, 'v' AS vendor, 1 AS price")
    assert "2 columns named 'sku'" in error.problem


def test_a_good_configuration_passes_without_a_row_being_read(sqlite_url):
    open_source(
        ErpSettings(
            url=sqlite_url, sql="SELECT *, preis AS price FROM item;  -- all", count_sql="SELECT count(*) FROM item"
        )
    ).check()


def test_a_missing_right_is_reported_as_one(erp_url):
    url = sa.make_url(erp_url)
    reader = url.set(username=f"reader_{url.database}", password=SECRET)
    admin = sa.create_engine(url)
    with admin.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE stock (vendor text, sku text, price numeric)")
        connection.exec_driver_sql(f"CREATE ROLE {reader.username} LOGIN PASSWORD '{SECRET}'")
    error = error_of(url=reader.render_as_string(hide_password=False), sql="SELECT * FROM stock")
    assert "does not allow the SELECT: permission denied" in error.problem
    assert "GRANT SELECT" in error.remedy
    with admin.begin() as connection:
        connection.exec_driver_sql(f"DROP ROLE {reader.username}")
    admin.dispose()


@pytest.mark.parametrize(
    "end",
    [";", " ;\n", "\n-- all", "; -- all", ";\n-- a\n-- b;", " /* all */", "; /* all\n */ ", ";\n# all", "; # all"],
)
def test_a_comment_after_the_select_is_no_second_statement(sqlite_url, end):
    open_source(ErpSettings(url=sqlite_url, sql=SQL + end)).check()


@pytest.mark.parametrize(
    ("dialect", "cursor", "literal"),
    [
        ("postgresql", "2026-03-04 05:06:07.123456", "'2026-03-04 05:05:07.123456'"),
        ("sqlite", "2026-03-04T05:06:07", "'2026-03-04T05:05:07'"),
        ("oracle", "2026-03-04 05:06:07", "TIMESTAMP '2026-03-04 05:05:07'"),
        (
            "mssql",
            "2026-03-04 05:06:07.123999",
            "'2026-03-04T05:05:07.123'",
        ),  # in any language of the login, and never later
        ("mssql", "2026-03-04 05:06:07+02:00", "'2026-03-04T05:05:07.000+02:00'"),
        ("mssql", None, "'1970-01-01T00:00:00.000'"),
    ],
)
def test_since_is_written_as_the_database_reads_it_without_doubt(dialect, cursor, literal):
    feed = Feed(("SHELFSYNC_ERP__CHANGES_SQL", "x >= :since"), ("", None), "changed_at", "timestamp", Decimal(60))
    session = SimpleNamespace(url=sa.URL.create(dialect))
    assert feed._sql(session, cursor) == f"x >= {literal}"
