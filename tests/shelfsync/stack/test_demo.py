"""The whole of it on a real Airflow: scheduler, triggerer, dag processor, API server, receiver, sandbox, as `make demo` runs it."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

import pytest

from shelfsync.erp import sample
from shelfsync.errors import ShelfsyncError
from shelfsync.ledger.engine import create_engine
from shelfsync.settings import Settings
from shelfsync.stack import demo, sample_chain, scenario, summary
from shelfsync.stack.airflow_api import AirflowApi
from shelfsync.stack.comparison import compare
from shelfsync.stack.dag_run import run_dag, wait_known
from shelfsync.stack.place import Place
from shelfsync.stack.processes import Processes
from shelfsync.stack.sandbox_control import SandboxControl
from shelfsync.stack.stack import running_stack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import sqlalchemy as sa

    from shelfsync.stack.stack import RunningStack

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(reachable_folder: Path) -> Path:
    return reachable_folder / "demo"


@pytest.fixture(scope="module")
def stack(home: Path) -> Iterator[RunningStack]:
    with running_stack(Place(home), demo.demo_wishes(Settings(home=home)), say=print) as running:
        running.wait_ready()
        yield running
    assert Processes(Place(home)).known() == []
    assert not running.postgres.status().running


@pytest.fixture
def erp(stack: RunningStack) -> Iterator[sa.Engine]:
    engine = sample_chain.open_erp(stack)
    yield engine
    engine.dispose()


def meant(row: Any) -> tuple[Any, ...]:
    """What the platform can tell apart in a row of the ERP."""
    stock = max(Decimal(0), row.quantity.to_integral_value(ROUND_FLOOR))
    return row.price.quantize(Decimal("0.001"), ROUND_DOWN), stock, row.active, row.max_sales_quantity


def outcomes(stack: RunningStack, run_key: str) -> dict[tuple[str, str], str]:
    """(vendor, SKU) -> state, of everything that a run sent."""
    engine = create_engine(stack.addresses.database_url)
    statement = """
        SELECT o.vendor, o.sku, o.state FROM warehouse.sku_outcome AS o
        JOIN warehouse.catalog_job AS j USING (job_id) JOIN warehouse.sync_run AS r USING (run_id) WHERE r.run_key = %(key)s
    """
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(statement, {"key": run_key}).all()
    engine.dispose()
    assert len({(row.vendor, row.sku) for row in rows}) == len(rows)
    return {(row.vendor, row.sku): row.state for row in rows}


def test_after_both_syncs_the_platform_equals_the_erp_and_the_second_sent_only_what_changed(stack, erp) -> None:
    sample_chain.prepare(stack, print)
    sandbox = SandboxControl(stack.addresses.sandbox_url)
    before = sample_chain.rows(erp)
    everything = {(vendor, sku): meant(row) for vendor, rows in before.items() for sku, row in rows.items()}
    known = {(vendor, product["sku"]) for vendor in before for product in sandbox.products(vendor)}
    with AirflowApi(stack) as airflow:
        for dag_id in (demo.FULL, demo.DELTA):
            wait_known(stack, airflow, dag_id)
        first = outcomes(stack, f"{demo.FULL}/{run_dag(stack, airflow, demo.FULL, print)}")
        assert first.keys() == everything.keys()
        assert {key for key, state in first.items() if state == "refused"} == everything.keys() - known
        assert {key for key, state in first.items() if state == "accepted"} == known

        sample.tick(erp, seed=1)
        after = sample_chain.rows(erp)
        now = {(vendor, sku): meant(row) for vendor, rows in after.items() for sku, row in rows.items()}
        was_on = {key for key, (_, _, active, _) in everything.items() if active}
        changed = {key for key, values in now.items() if everything.get(key) != values}
        gone = {key for key in everything.keys() - now.keys() if key in known and key in was_on}
        second = outcomes(stack, f"{demo.DELTA}/{run_dag(stack, airflow, demo.DELTA, print)}")
    assert second.keys() == changed | gone
    assert len(second) < len(first) / 10

    result = compare(after, {vendor: sandbox.products(vendor) for vendor in after})
    assert result.differences == []
    assert result.equal == len(known)


def test_the_receiver_heard_of_every_job_before_anybody_asked(stack) -> None:
    engine = create_engine(stack.addresses.database_url)
    with engine.connect() as connection:
        heard = connection.exec_driver_sql("SELECT count(*) FROM inbox.event WHERE kind = 'job'").scalar_one()
        jobs = connection.exec_driver_sql("SELECT count(*) FROM warehouse.catalog_job").scalar_one()
    engine.dispose()
    assert heard == jobs > 0


def test_no_secret_of_the_place_stands_in_any_log(stack, home: Path) -> None:
    secrets = [file.read_text() for file in (home / "secrets").iterdir()]
    secrets += [(home / "postgres" / "password").read_text(), stack.admin_password]
    logs = [file for file in home.rglob("*.log") if file.is_file()]
    assert len(logs) > 10
    for log in logs:
        text = log.read_text("utf-8", errors="replace")
        assert not [secret for secret in secrets if secret in text], log


def test_another_command_in_the_same_place_is_told_who_is_there(stack, home: Path) -> None:
    with pytest.raises(ShelfsyncError, match=r"`make demo` \(process \d+\) is running in .*make down"):
        demo.demo(Settings(home=home), say=print)


def test_the_demo_shows_a_promotion_made_an_order_fulfilled_and_an_export_compared_beside_both_syncs(stack) -> None:
    told = scenario.scenario(stack, print)
    scenario.check(told)
    text = "\n".join(summary.lines(told))
    for part in ("catalog full sync: succeeded", "catalog delta sync: succeeded", "promotions sync: succeeded"):
        assert part in text
    assert "Running, 5 SKUs at" in text
    assert f"order {told.order['order_code']} at store-001: READY_FOR_PICKUP" in text
    assert told.export["rows"] > 25_000
    lost = {"changed_on_platform", "acknowledged_not_applied", "unknown"}
    assert not lost & told.export["causes"].keys(), "the platform shows nothing that nobody said"
