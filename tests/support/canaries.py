"""Secrets that the tests hand to shelfsync, looked for in everything it leaves behind (I12).

Every secret of the tests is a canary: an unmistakable word that stands in settings, in the sandbox or on the wire, and has no business in
a log, in what is printed, in a file of the lake or of a home, in Airflow's own home, or in a table. A session in which one is found fails,
whatever its tests claim. What may hold one is named in `HOLDERS`, each with its reason.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

SECRETS = {
    "the platform's client secret": rb"demo-secret",
    "the client secret of the client's tests": rb"canary-secret-\w+",
    "a token of the client's tests, static ones too": rb"canary-token-\d+",
    "the webhook's secret": rb"canary-webhook-\d+",
    "the secret of picking results": rb"canary-picking-\w+",
    "a database's password": rb"canary-password-\d+",
    "the signature of a presigned link": rb"canary-signature",
    "a token of the platform": rb"eyJ[\w-]{20,}\.eyJ[\w-]{20,}\.[\w-]{20,}",
}
PERSONAL = {"a customer's telephone": rb"\+?447700900123", "a customer's name": rb"Robin Example"}
SCHEMAS_OF_PERSONAL = {"warehouse", "ledger"}
"""Where nothing personal may stand in the database. The inbox holds an order as it came: it has to be durable before it is answered."""
HOLDERS = {
    "partner-sandbox.sqlite": "what the platform knows of its clients, when the sandbox is asked to keep its state",
    "sample.toml": "the settings file of the sample, for its owner alone: where a secret is configured",
}
"""Names of files that hold a secret by right, and why."""
KEEPING_TABLES = {
    ("the signature of a presigned link", "inbox.event"): (
        "an event is stored as it came before it is answered, and its link is the way to the log, also when it is processed again;"
        " it goes after EVENT_DAYS"
    ),
}
"""Tables that hold one kind of secret by right, and why; every other kind is looked for in them too."""
_TABLES = """
SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind = 'r' AND relpersistence <> 't' AND nspname NOT IN ('pg_catalog', 'information_schema')
    AND (pg_stat_file(pg_relation_filepath(pg_class.oid), true)).size > 0
"""
"""Schema and table of each table that has ever had a row. The size of its file costs less than pg_relation_size, which opens it.

Not a temporary one: it ends with its connection, perhaps before it is read."""
LOGGERS = ("shelfsync", "shelfsync_airflow", "partner_api")
PART_BYTES = 1 << 20
OVERLAP_BYTES = 4096

ANCHORS = ("demo-secret", "canary-", "eyJ", "447700900123", "Robin Example")
"""Whatever is looked for has one of these in it. To find none costs PostgreSQL a sixth of its regular expressions."""
_HAS_ONE = " OR ".join(f"strpos(text, '{anchor}') > 0" for anchor in ANCHORS)

_ALL = {**SECRETS, **PERSONAL}
_WORDS = {name: re.compile(word) for name, word in _ALL.items()}
_ANY = re.compile(b"|".join(b"(?:" + word + b")" for word in _ALL.values()))

found: list[str] = []
"""What was found in this process, one line each."""


def look(where: str, content: bytes | str, into: list[str] = found, names: Container[str] = _ALL) -> None:
    """Notes every canary of these names in this text."""
    content = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if _ANY.search(content):
        into.extend(f"{name} in {where}" for name, word in _WORDS.items() if name in names and word.search(content))


def look_into(folder: Path, into: list[str] = found) -> None:
    """Every file below a folder, except databases' own files and the keepers."""
    for place, folders, files in os.walk(folder):
        if "PG_VERSION" in files:  # looked into table by table, before each database is dropped
            folders.clear()
            continue
        for name in files:
            file = Path(place, name)
            if name not in HOLDERS and not file.is_symlink() and file.is_file():
                _look_into_file(file, into)


def _look_into_file(file: Path, into: list[str]) -> None:
    try:
        if file.suffix == ".parquet":
            look(str(file), "\n".join(_texts_of_parquet(file)), into)
            return
        with file.open("rb") as opened:
            before = b""
            while part := opened.read(PART_BYTES):
                look(str(file), before + part, into)
                before = part[-OVERLAP_BYTES:]
    except OSError:
        return  # gone meanwhile, or closed to us: then it is closed to others too


def _texts_of_parquet(file: Path) -> Iterator[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        batches = pq.ParquetFile(file).iter_batches(batch_size=10_000)
        for batch in batches:
            for column in batch.columns:
                if pa.types.is_string(column.type):
                    yield "\n".join(text for text in column.to_pylist() if text)
    except pa.ArrowInvalid:
        yield file.read_bytes().decode("latin-1")  # a test's damaged file


def look_into_database(url: str, into: list[str] = found) -> None:
    """Every value, as text, of every table of ours that has rows."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        tables = connection.execute(_TABLES).fetchall()
        if not tables:
            return
        connection.execute("SET bytea_output = 'escape'")
        wanted = {f"{schema}.{table}": _wanted(schema, table) for schema, table in tables}
        each = [  # OFFSET 0: the text of a row is made once
            f"(SELECT '{place}' AS place, line::text AS text, %s AS pattern FROM {place} AS line OFFSET 0)"
            for place in wanted
        ]
        rows = connection.execute(
            f"SELECT place, text FROM ({' UNION ALL '.join(each)}) AS every"
            f" WHERE CASE WHEN {_HAS_ONE} THEN text ~ pattern END LIMIT 5",
            ["|".join(word.decode() for word in words.values()) for words in wanted.values()],
        ).fetchall()
        for place, text in rows:
            look(f"table {place}", text, into, wanted[place])


def _wanted(schema: str, table: str) -> dict[str, bytes]:
    """What no row of this table may have."""
    words = SECRETS | (PERSONAL if schema in SCHEMAS_OF_PERSONAL else {})
    return {name: word for name, word in words.items() if (name, f"{schema}.{table}") not in KEEPING_TABLES}


class Ears(logging.Handler):
    """Reads every line that shelfsync logs from INFO on, as Airflow would keep it, with its traceback."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        look(f"a log line of {record.name}", self.format(record))


class Watch:
    """The plugin: listens during the session, and looks through what is left at its end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._worker = hasattr(config, "workerinput")
        self._leads = config.pluginmanager.hasplugin("dsession")

    def pytest_sessionstart(self) -> None:
        for name in LOGGERS:
            logging.getLogger(name).addHandler(Ears())
            logging.getLogger(name).setLevel(logging.INFO)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self._leads:
            for name, text in report.sections:
                look(f"{report.nodeid}: {name}", text)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._leads:
            return self._fail(session)
        base = getattr(getattr(self._config, "_tmp_path_factory", None), "_basetemp", None)
        if base is not None:
            look_into(base)
        home = os.environ.get("AIRFLOW_HOME", "")
        if "shelfsync-airflow-" in home:
            look_into(Path(home))
        if self._worker:
            self._config.workeroutput["canaries"] = list(found)
        return self._fail(session)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        found.extend(getattr(node, "workeroutput", {}).get("canaries", []))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if found:
            terminalreporter.section("canaries: secrets where none may be", red=True)
            for line in dict.fromkeys(found):
                terminalreporter.write_line(line)

    def _fail(self, session: pytest.Session) -> None:
        if found and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
