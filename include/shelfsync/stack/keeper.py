"""The process behind `make up`: brings everything up, keeps it up, and takes it down when it is told to end."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from shelfsync.access import keep_private
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.settings.settings import config_file
from shelfsync.stack import demo, environment, guide, sample_chain, switches
from shelfsync.stack.place import Place
from shelfsync.stack.services import CUSTOMERS
from shelfsync.stack.stack import Wishes, running_stack
from shelfsync.stack.supervisor import ServiceFailedError

if TYPE_CHECKING:
    from shelfsync.settings import Settings

WHAT = "make up"
READY = "ready.json"
LOOK_EVERY_S = 1.0
AGAIN_AFTER_S = 10.0


def wishes(settings: Settings) -> Wishes:
    """What is configured; without a platform and an ERP, the sample ERP and the sandbox."""
    if settings.platform.base_url is None:
        if settings.erp.url is not None or settings.erp.files is not None:
            raise ConfigurationError(
                "SHELFSYNC_PLATFORM__BASE_URL",
                "is not set, although an ERP is",
                "Set the platform's address, or unset SHELFSYNC_ERP__... to run with the sample ERP and the sandbox.",
            )
        wanted = demo.wishes(settings, what=WHAT)
        customers = (CUSTOMERS,) if settings.local.customer_every_s > 0 else ()
        return replace(wanted, stand_ins=(*wanted.stand_ins, *customers))
    named = config_file()
    config = {environment.CONFIG: str(named.absolute())} if named.is_file() else {}
    inherited, unused = environment.split({**os.environ, **config}, sample=False)
    secret = settings.webhook.secret
    return Wishes(
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
    """Returns never: ends by SIGTERM, with everything stopped."""
    place = Place(settings.home.absolute())
    wanted = wishes(settings)
    with running_stack(place, wanted, say=_say) as stack:
        stack.wait_ready()
        if wanted.sandbox:
            sample_chain.prepare(stack, _say)
        switches.switch(stack, settings.local.paused_dags, _say)
        ready = place.run / READY
        try:
            ready.write_text(json.dumps(asdict(guide.running(stack, sandbox=wanted.sandbox))), "utf-8")
            while True:
                time.sleep(LOOK_EVERY_S)
                try:
                    stack.watch()
                except (
                    ShelfsyncError
                ) as error:  # a full disk, say: what still runs goes on, and the next look tries again
                    _say(str(error))
                    time.sleep(AGAIN_AFTER_S)
        finally:
            ready.unlink(missing_ok=True)


def _say(text: str) -> None:
    print(f"up  {text}", flush=True)  # noqa: T201  up.py shows it to the person


def main() -> int:
    """The background process; its words go to up.log."""
    keep_private()
    from shelfsync.settings import read_settings

    try:
        keep(read_settings())
    except ServiceFailedError as error:
        for line in error.log_lines:
            print(f"    {line}", flush=True)  # noqa: T201
        _say(f"failed: {error}")
        return error.exit_code
    except ShelfsyncError as error:
        _say(f"failed: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
