"""The process behind `make up`: starts every service, restarts it if it ends, and stops all on SIGTERM."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from shelfsync.access import keep_private
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.local import demo, environment, guide, sample_chain, switches
from shelfsync.local.place import Place
from shelfsync.local.services import CUSTOMERS
from shelfsync.local.stack import StackOptions, running_stack
from shelfsync.local.supervisor import ServiceFailedError
from shelfsync.settings.settings import config_file

if TYPE_CHECKING:
    from shelfsync.settings import Settings

WHAT = "make up"
READY = "ready.json"
LOOK_EVERY_S = 1.0
AGAIN_AFTER_S = 10.0


def stack_options(settings: Settings) -> StackOptions:
    """What is configured; without a platform and an ERP, the sample ERP and the sandbox."""
    if settings.platform.base_url is None:
        if settings.erp.url is not None or settings.erp.files is not None:
            raise ConfigurationError(
                "SHELFSYNC_PLATFORM__BASE_URL",
                "is not set, although an ERP is",
                "Set the platform's address, or unset SHELFSYNC_ERP__... to run with the sample ERP and the sandbox.",
            )
        wanted = demo.stack_options(settings, what=WHAT)
        customers = (CUSTOMERS,) if settings.local.customer_interval_s > 0 else ()
        return replace(wanted, stand_ins=(*wanted.stand_ins, *customers))
    named = config_file()
    config = {environment.CONFIG: str(named.absolute())} if named.is_file() else {}
    inherited, unused = environment.split({**os.environ, **config}, sample=False)
    secret = settings.webhook.secret
    return StackOptions(
        what=WHAT,
        settings=lambda _addresses, _postgres: config,
        environment=inherited,
        sandbox=False,
        unused=unused,
        database_url=settings.database_url.get_secret_value() if settings.database_url else None,
        first_receiver_port=settings.webhook.port,
        webhook_secret=secret.get_secret_value() if secret else None,
    )


def keep(settings: Settings) -> None:
    """Never returns: SIGTERM stops everything and ends it."""
    place = Place(settings.home.absolute())
    wanted = stack_options(settings)
    with running_stack(place, wanted, echo=_echo) as stack:
        stack.wait_ready()
        if wanted.sandbox:
            sample_chain.prepare(stack, _echo)
        switches.switch(stack, settings.local.paused_dags, _echo)
        ready = place.run / READY
        try:
            ready.write_text(json.dumps(asdict(guide.running(stack, sandbox=wanted.sandbox))), "utf-8")
            while True:
                time.sleep(LOOK_EVERY_S)
                try:
                    stack.watch()
                except (
                    ShelfsyncError
                ) as error:  # a full disk, echo: what still runs goes on, and the next look tries again
                    _echo(str(error))
                    time.sleep(AGAIN_AFTER_S)
        finally:
            ready.unlink(missing_ok=True)


def _echo(text: str) -> None:
    print(f"up  {text}", flush=True)  # noqa: T201  up.py shows it to the person


def main() -> int:
    """The background process; it writes up.log."""
    keep_private()
    from shelfsync.settings import read_settings

    try:
        keep(read_settings())
    except ServiceFailedError as error:
        for line in error.log_lines:
            print(f"    {line}", flush=True)  # noqa: T201
        _echo(f"failed: {error}")
        return error.exit_code
    except ShelfsyncError as error:
        _echo(f"failed: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
