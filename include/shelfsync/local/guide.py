"""What a new user needs of a running stack: addresses, the password, three things to try. For the terminal alone: it holds passwords."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import make_url

from shelfsync.chains import alone_here, chain_names
from shelfsync.erp import sample
from shelfsync.errors import ShelfsyncError
from shelfsync.local import airflow_home, postgres_binaries, sample_chain, services
from shelfsync.local.sandbox_control import CHAIN
from shelfsync.settings_file import local_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.local.stack import RunningStack, StackOptions
    from shelfsync.local.state_folder import Place

STORE = "store-001"
PAGES = "/shelfsync/pages/"
_PRICE = (
    "INSERT INTO erp.price (product_id, store_id, amount, valid_from) "
    "SELECT product_id, 1, round(list_price * 1.1, 2), current_date FROM erp.product WHERE item_code = '{sku}'"
)


@dataclass(frozen=True)
class Running:
    """Where a stack listens; nothing secret, so it may be written to a file. `sku`: a product to try things with, None without the sample ERP."""

    airflow: str
    receiver: str
    sandbox: str | None = None
    sku: str | None = None
    sends_to: str | None = None


def running(stack: RunningStack, options: StackOptions) -> Running:
    """Where this stack listens, and where it sends to."""
    addresses = stack.addresses
    if not options.sandbox:
        return Running(addresses.public_url, addresses.receiver_url, sends_to=options.sends_to)
    engine = sample_chain.open_erp(stack)
    try:
        found = sample.plentiful(engine, STORE, 1)
    finally:
        engine.dispose()
    return Running(
        addresses.public_url, addresses.receiver_url, addresses.sandbox_url, next(iter(found), None), options.sends_to
    )


def lines(place: Place, running: Running) -> Iterator[str]:
    """Addresses and passwords, and what to do next."""
    yield from addresses(place, running)
    yield ""
    yield from next_steps(place, running)


def addresses(place: Place, running: Running) -> Iterator[str]:
    """One line each, with user and password."""
    password = airflow_home.admin_password(place.airflow)
    if running.sends_to:
        yield f"{'sends to':<17}{running.sends_to}"
    yield _address("Airflow", running.airflow, f"user {airflow_home.USER}   password {password}")
    yield _address(
        "our pages", running.airflow + PAGES, "after you have logged in to Airflow; there they are under shelfsync"
    )
    yield _address("webhook receiver", running.receiver)
    if running.sandbox:
        yield _address("sandbox", f"{running.sandbox}/portal", "the platform's portal: products, orders, promotions")
        yield _address("ERP", shlex.join(psql(place)), "a PostgreSQL database; schema erp")
    yield _address("command line", f"{_command(place, running)} status")
    yield _address("logs", str(place.logs))


def next_steps(place: Place, running: Running) -> Iterator[str]:
    """Three things to try."""
    yield "three things to try next:"
    for number, (what, how) in enumerate(tries(place, running), 1):
        yield f"{number}. {what}"
        yield f"     {how}"


def tries(place: Place, running: Running) -> list[tuple[str, str]]:
    """(what it shows, the command line)."""
    command = _command(place, running)
    if not running.sandbox or not running.sku:
        return [
            ("Is everything configured as it should be?", f"{command} check"),
            ("What would be sent? This sends nothing.", f"{command} plan"),
            ("Where does every store stand?", f"{command} status"),
        ]
    order = json.dumps({"items": [{"sku": running.sku, "quantity": 1}]})
    where = f"{running.sandbox}/_sandbox/chains/{CHAIN}/vendors/{STORE}/orders"
    return [
        (
            f"Change a price in the ERP. The next catalog_delta_sync sends it, or at once: {command} sync --vendor {STORE}",
            f'{shlex.join(psql(place))} -c "{_PRICE.format(sku=running.sku)}"',
        ),
        (
            "Order as a customer; orders_fulfilment hands it over, its store picks it (page Orders, and the portal's).",
            shlex.join(["curl", "-X", "POST", where, "-H", "Content-Type: application/json", "-d", order]),
        ),
        ("Ask why a product shows what it shows.", f"{command} explain {STORE} {running.sku}"),
    ]


def erp_url(place: Place) -> str:
    """The sample ERP's database as psql takes it, with its password."""
    try:
        text = (place.home / sample_chain.CONFIG).read_text("utf-8")
    except FileNotFoundError:
        raise ShelfsyncError(
            f"{place.home / sample_chain.CONFIG} is gone. Write it again by: {local_command('down')}, {local_command('up')}"
        ) from None
    return str(tomllib.loads(text)["erp"]["url"]).replace("postgresql+psycopg://", "postgresql://", 1)


def psql(place: Place) -> list[str]:
    """The command that opens the sample ERP's database; the password is in a file that only this user reads."""
    url = make_url(erp_url(place))
    file = place.home / "erp.pgpass"
    parts = (url.host, url.port or 5432, url.database, url.username, url.password)
    line = ":".join(str(part).replace("\\", "\\\\").replace(":", "\\:") for part in parts)
    with open(file, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as handle:
        handle.write(f"{line}\n")
    file.chmod(0o600)
    address = url._replace(password=None).render_as_string(hide_password=False)  # `set` takes None for "as it was"
    return ["env", f"PGPASSFILE={file}", postgres_binaries.find().program("psql"), address]


def _command(place: Place, running: Running) -> str:
    """The command with the settings of this stack. A variable of the shell has priority over their file, so those of a real platform are unset."""
    program = shlex.quote(str(Path(sys.executable).with_name("shelfsync")))  # of a wheel
    if (place.project / "pyproject.toml").is_file():
        program = ".venv/bin/shelfsync"
    if chain := _chain(place, running):
        program = f"{program} --chain {chain}"
    if not running.sandbox:
        return program
    foreign = [name for name in services.split(os.environ, sample=True)[1] if name in os.environ]
    unset = "".join(f"-u {shlex.quote(name)} " for name in foreign if name != services.CONFIG)
    config = f"SHELFSYNC_CONFIG={shlex.quote(str(place.home / sample_chain.CONFIG))}"
    return f"{'env ' + unset if unset else ''}{config} {program}"


def _chain(place: Place, running: Running) -> str | None:
    """The chain that a command has to name, as the settings are now: the one that was alone has the sample ERP. None: there are no chains."""
    names, alone = sample_chain.chains(place.home) if running.sandbox else (chain_names(), alone_here())
    return alone or next(iter(names), None)


def _address(name: str, address: str, more: str = "") -> str:
    return f"{name:<17}{address}   {more}".rstrip()
