"""The warehouse as a DuckDB file returns the same rows as PostgreSQL: tables from the lake's files, views by the same SQL."""

from __future__ import annotations

import datetime as dt
import os
import random
import subprocess
import sys
from decimal import Decimal

import duckdb
import pytest

from scenarios.day import SMALL, Day, ScenarioWorld
from shelfsync.errors import ConfigurationError
from shelfsync.warehouse.views import VIEWS
from simulation.fault_point import FaultPoint

pytestmark = pytest.mark.slow

ORDERS = (
    "INSERT INTO ledger.customer_order (order_id, vendor, status) VALUES ('o1', 'store-001', 'DISPATCHED'), ('o2', 'store-001', 'CANCELLED')",
    (
        "INSERT INTO ledger.order_version (order_id, source, digest, status, updated_at, body)"
        " VALUES ('o1', 'event', 'a', 'RECEIVED', '2026-03-02 10:00Z', '{}'), ('o1', 'history', 'b', 'DISPATCHED', '2026-03-02 10:20Z', '{}')"
    ),
    (
        "INSERT INTO warehouse.customer_order (order_id, vendor, order_code, transport_type, order_type, status, placed_at, promised_for,"
        " fulfilled_at, cancelled_at, cancelled_by, cancel_reason, sub_total, order_total, updated_at)"
        " VALUES ('o1', 'store-001', 'AB1', 'LOGISTICS_DELIVERY', 'DELIVERY', 'DISPATCHED', '2026-03-02 10:00Z', '2026-03-02 10:30Z',"
        " '2026-03-02 10:20Z', NULL, NULL, NULL, 7.98, 9.48, '2026-03-02 10:20Z'),"
        " ('o2', 'store-001', 'AB2', 'LOGISTICS_DELIVERY', 'DELIVERY', 'CANCELLED', '2026-03-02 11:00Z', '2026-03-02 11:30Z',"
        " NULL, '2026-03-02 11:05Z', 'VENDOR', 'CLOSED', 3.99, 5.49, '2026-03-02 11:05Z')"
    ),
    (
        "INSERT INTO warehouse.order_item (order_id, position, item_id, sku, status, replaced_id, pricing_type, quantity, weight, unit_price,"
        " total_price, ordered_quantity, ordered_weight, ordered_total_price)"
        " VALUES ('o1', 1, 'i1', 's00011', 'IN_CART', NULL, 'UNIT', 1, NULL, 3.99, 3.99, 2, NULL, 7.98),"
        " ('o1', 2, 'i2', 's00012', 'REPLACED', NULL, 'UNIT', 1, NULL, 2.5, 2.5, 1, NULL, 2.5),"
        " ('o1', 3, 'i3', 's00013', 'ADDITION', 'i2', 'KG', NULL, 0.123456789, 8.1, 1, NULL, NULL, NULL),"
        " ('o1', 4, 'i4', 's00014', 'NOT_FOUND', NULL, 'UNIT', 0, NULL, 1, 0, 1, NULL, 1),"
        " ('o2', 1, 'i5', 's00011', 'NOT_PROCESSED', NULL, 'UNIT', 1, NULL, 3.99, 3.99, 1, NULL, 3.99)"
    ),
    "INSERT INTO ledger.order_day (vendor, day, in_history, in_inbox) VALUES ('store-001', '2026-03-02', 2, 1)",
    "INSERT INTO warehouse.order_customer (order_id, encrypted, remove_at) VALUES ('o1', 'Ada Lovelace', '2099-01-01Z')",
)


@pytest.fixture(scope="module")
def world(postgres, migrated_template, tmp_path_factory):
    url = postgres.create_database("story_duckdb", template=migrated_template)
    with ScenarioWorld(url, tmp_path_factory.mktemp("scenario")) as world:
        world.open()
        day = Day(world, SMALL, random.Random(11))
        day.live()
        with world.app(FaultPoint()) as app:  # a second export, after the drift was resent
            day._run(app, "delta", "resending", ())
            world.clock.sleep(3600)
            day._export(app, "scenario/second")
        world.execute(*ORDERS)
        yield world
    postgres.drop_database("story_duckdb")


@pytest.fixture(scope="module")
def file(world, tmp_path_factory):
    file = tmp_path_factory.mktemp("duckdb") / "today.duckdb"
    for _ in range(2):  # the second takes the place of the first
        with world.app(FaultPoint()) as app:
            rows = app.write_duckdb(file)
    assert rows["warehouse.sku_outcome"] > 0
    assert [path.name for path in file.parent.iterdir()] == ["today.duckdb"]
    return file


def _plain(value):
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC)
    if isinstance(value, Decimal | int | float) and not isinstance(value, bool):
        return round(float(value), 6)
    return value


def _same(world, file, name, columns):
    chosen = ", ".join(f'"{column}"' for column in columns)
    ours = {tuple(map(_plain, row)) for row in world.rows(f"SELECT {chosen} FROM {name}")}
    with duckdb.connect(str(file), read_only=True) as opened:
        rows = opened.execute(f"SELECT {chosen} FROM {name}").to_arrow_table().to_pylist()
    theirs = {tuple(_plain(row[column]) for column in columns) for row in rows}
    assert theirs == ours
    return ours


@pytest.mark.proof
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_returns_the_same_rows(world, file, view):
    assert _same(world, file, f"warehouse.{view.name}", view.columns)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("sku_outcome", "job_id sku vendor state reason change price quantity active max_sales_quantity known_at"),
        ("assortment_history", "vendor sku valid_from valid_to barcode price active max_sales_quantity"),
        (
            "baseline_history",
            "vendor sku version price quantity active max_sales_quantity job_id observation_id valid_from",
        ),
        ("baseline", "vendor sku price quantity active max_sales_quantity"),
    ],
)
def test_a_table_made_of_the_lake_s_files_is_the_table_that_the_steps_wrote(world, file, table, columns):
    assert _same(world, file, f"warehouse.{table}", columns.split())


@pytest.mark.proof
def test_no_customer_is_in_the_file(file):
    with duckdb.connect(str(file), read_only=True) as opened:
        names = {name for (name,) in opened.execute("SELECT table_name FROM information_schema.tables").fetchall()}
    assert {"customer_order", "order_item"} < names
    assert "order_customer" not in names
    assert b"Lovelace" not in file.read_bytes()


@pytest.mark.proof
def test_without_duckdb_the_command_reports_how_to_install_it(world, tmp_path):
    without = "import sys; sys.modules['duckdb'] = None; from shelfsync.cli import main; main()"
    settings = world.settings()
    environment = {
        "PATH": os.environ["PATH"],
        "SHELFSYNC_HOME": str(tmp_path),
        "SHELFSYNC_DATABASE_URL": settings.database_url.get_secret_value(),
        "SHELFSYNC_LAKE_URL": str(settings.lake_url),
    }
    ended = subprocess.run(
        [sys.executable, "-c", without, "duckdb", "x.duckdb"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode != 0
    assert "duckdb: is not installed here" in ended.stderr
    assert "pip install duckdb" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) <= 2


@pytest.mark.proof
def test_a_missing_folder_is_reported_in_one_line(world, tmp_path):
    with world.app(FaultPoint()) as app, pytest.raises(ConfigurationError, match="cannot be written"):
        app.write_duckdb(tmp_path / "nowhere" / "x.duckdb")


@pytest.mark.proof
def test_files_that_housekeeping_removed_shorten_history_and_nothing_else(world, tmp_path):
    file = tmp_path / "later.duckdb"
    world.clock.sleep(60 * 86_400)
    with world.app(FaultPoint()) as app:
        removed = app.remove_expired()
        app.write_duckdb(file)
    assert removed["rows"]["ledger.observation"] > 0
    with duckdb.connect(str(file), read_only=True) as opened:
        for newest in (
            "SELECT vendor, sku, price, active, max_sales_quantity FROM warehouse.assortment_history WHERE valid_to IS NULL",
            "SELECT vendor, sku, price, quantity, active, max_sales_quantity FROM warehouse.baseline",
        ):
            assert set(opened.execute(newest).fetchall()) == {tuple(row) for row in world.rows(newest)}
