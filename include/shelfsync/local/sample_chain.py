"""The sample chain: an ERP in the database `erp`, the same assortment in the sandbox, and settings that connect the two."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import secrets
import tomllib
from typing import TYPE_CHECKING, Any

from shelfsync.chains import chain_that_was_alone, names_in, sections_of
from shelfsync.local.sandbox_control import CHAIN, CLIENT_ID, CLIENT_SECRET, SandboxControl
from shelfsync.local.state_folder import Place, kept_secret

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import sqlalchemy as sa

    from shelfsync.local.postgres import EmbeddedPostgres
    from shelfsync.local.services import Addresses
    from shelfsync.local.stack import RunningStack
    from shelfsync.settings import LocalSettings

DATABASE = "erp"
CONFIG = "sample.toml"
LAKE = "sample-lake"
"""A lake of its own: housekeeping removes what its ledger does not know, and another ledger may use the lake of the state folder."""
VENDORS = 6
SKUS_PER_VENDOR = 5_000
WATCH = "AIRFLOW__SHELFSYNC__DELTA_WATCH"
"""The option by which changes of the ERP start a delta. With it, the sample ERP has a table of its changes."""


def settings(home: Path, local: LocalSettings) -> Callable[[Addresses, EmbeddedPostgres], dict[str, str]]:
    """Writes the settings file of the sample and names it; the command line can use the same one."""

    def write(addresses: Addresses, postgres: EmbeddedPostgres) -> dict[str, str]:
        from shelfsync.erp.sample import PROMOTIONS_FILE, SELECT_FILE

        given: dict[str, dict[str, Any]] = {
            "": {"home": str(home), "database_url": addresses.database_url, "lake_url": str(home / LAKE)},
            "platform": {
                "base_url": addresses.sandbox_url,
                "chain": CHAIN,
                "client_id": CLIENT_ID,
                "client_secret": CLIENT_SECRET,
            },
            "erp": {"url": _sqlalchemy(postgres.create_database(DATABASE)), "sql_file": str(SELECT_FILE), **_changes()},
            "promotions": {"sql_file": str(PROMOTIONS_FILE), "poll_first_s": 2.0},
            "orders": {
                "hand_over": "outbox",
                "encryption_key": _kept(home, "encryption-key"),
                "picking_secret": _kept(home, "picking"),
            },
            "local": local.model_dump(),
        }
        file = home / CONFIG
        chains = chains_in(file)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as opened:
            opened.write("# Written by make demo and make up: the sample ERP and the sandbox.\n")
            for section, values in given.items():
                opened.write(f"[{section}]\n" if section else "")
                opened.writelines(f"{name} = {json.dumps(value)}\n" for name, value in values.items())
            opened.write(chains)
        return {"SHELFSYNC_CONFIG": str(file)}

    return write


def chains_in(file: Path) -> str:
    """The part of the file that a person has added: everything from its first section of a chain on."""
    text = file.read_text("utf-8") if file.is_file() else ""
    found = re.search(r"^\[chains\..*", text, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def chains(home: Path) -> tuple[tuple[str, ...], str | None]:
    """The chains that a person has added, and which of them was alone. The shell's do not count: services do not inherit them."""
    added = tomllib.loads(chains_in(home / CONFIG))
    return names_in(sections_of(added)) if added else (), chain_that_was_alone(added, {})


def open_erp(stack: RunningStack) -> sa.Engine:
    """An engine on the sample ERP."""
    from shelfsync.store.engine import create_engine

    return create_engine(stack.postgres.dsn(DATABASE))


def prepare(stack: RunningStack, echo: Callable[[str], None]) -> None:
    """Creates the sample ERP, fills the sandbox, and sets the address of its events. Existing data is not changed."""
    from shelfsync.erp import sample

    sandbox = SandboxControl(stack.addresses.sandbox_url)
    engine = open_erp(stack)
    try:
        if not _exists(engine, "erp.listing"):  # it is created in one transaction
            made = sample.create(engine, vendors=VENDORS, skus_per_vendor=SKUS_PER_VENDOR)
            echo(
                f"made a sample ERP: {len(made.vendors)} stores, {made.products:,} products, {made.movements:,} bookings of stock"
            )
        if _changes() and not _exists(engine, "erp.change"):
            with engine.begin() as connection:
                connection.exec_driver_sql(sample.CHANGE_TABLE_FILE.read_text("utf-8"))
            echo("the sample ERP has a table of its changes now, fed by triggers")
        if new := sample.campaigns(engine, dt.datetime.now(dt.UTC)):
            echo(f"the sample ERP has {new} new campaigns")
        for vendor, products in sample.assortment(engine).items():
            if not sandbox.products(vendor):
                sandbox.put_products(vendor, products)
                echo(f"the sandbox now lists {len(products):,} products for {vendor}")
        sandbox.send_events_to(f"{stack.addresses.receiver_url}/webhook", stack.webhook_secret)
    finally:
        engine.dispose()
        sandbox.close()


def rows(engine: sa.Engine) -> dict[str, dict[str, Any]]:
    """Vendor -> SKU -> the row of the ERP, by the sample's own SELECT."""
    from shelfsync.erp.sample import SELECT_FILE

    found: dict[str, dict[str, Any]] = {}
    with engine.connect() as connection:
        for row in connection.exec_driver_sql(SELECT_FILE.read_text("utf-8")):
            found.setdefault(row.vendor, {})[row.sku] = row
    return found


def _exists(engine: sa.Engine, table: str) -> bool:
    import sqlalchemy as sa

    with engine.connect() as connection:
        return (
            connection.execute(sa.text("SELECT to_regclass(:name) IS NOT NULL"), {"name": table}).scalar_one() is True
        )


def _changes() -> dict[str, Any]:
    """The settings to read only what changed; none without the option."""
    from shelfsync.erp.sample import CHANGES_FILE

    if os.environ.get(WATCH, "none").strip().lower() in {"", "none", "never"}:
        return {}
    return {
        "changes_sql_file": str(CHANGES_FILE),
        "changes_column": "xact",
        "changes_kind": "number",
        "changes_overlap": 0,
    }


def _kept(home: Path, name: str) -> str:
    return kept_secret(Place(home).secrets / name, lambda: secrets.token_urlsafe(32))


def _sqlalchemy(dsn: str) -> str:
    return dsn.replace("postgresql://", "postgresql+psycopg://", 1)
