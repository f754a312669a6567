"""The whole path once, on a real Airflow: two syncs, a promotion, an order, an export, a summary; then everything stops."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from shelfsync.access import keep_private
from shelfsync.errors import ShelfsyncError
from shelfsync.local import environment, guide, sample_chain, summary
from shelfsync.local.place import Place
from shelfsync.local.scenario import DELTA, FULL, RECOVER, check, scenario
from shelfsync.local.services import STORE_HUB
from shelfsync.local.stack import StackOptions, running_stack
from shelfsync.local.supervisor import ServiceFailedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.local.scenario import Figures
    from shelfsync.settings import Settings

__all__ = ["DELTA", "FULL", "RECOVER", "demo", "demo_options", "main", "stack_options"]
UNSCHEDULED = (
    "FULL",
    "DELTA",
    "RECOVER",
    "HOLDS",
    "EXPORT",
    "PROMOTIONS",
    "PROMOTIONS_RECOVER",
    "HISTORY",
    "HOUSEKEEPING",
)
FIXED = {
    **{f"AIRFLOW__SHELFSYNC__{kind}_SCHEDULE": "none" for kind in UNSCHEDULED},
    "AIRFLOW__SHELFSYNC__ORDERS_SCHEDULE": "0 0 1 1 *",  # at news, and hardly ever else
    "AIRFLOW__SHELFSYNC__RETRY_DELAY_S": "10",
    "SHELFSYNC_LOCAL__PICKING_DELAY_S": "3",
}
"""What the demo sets, whatever the user's environment has: only what it starts runs, and every wait is short."""


HAND_OVER = "SHELFSYNC_ORDERS__HAND_OVER"
"""The demo's order has to reach the simulated store, not a store of the user's."""


def stack_options(settings: Settings, *, what: str) -> StackOptions:
    """The sample chain and the sandbox, whatever else is configured: a demo must never write to a real platform."""
    inherited, unused = environment.split(os.environ, sample=True)
    secret = settings.webhook.secret
    return StackOptions(
        what=what,
        settings=sample_chain.settings(settings.home.absolute(), settings.local),
        environment=inherited,
        sandbox=True,
        stand_ins=(STORE_HUB,) if sample_chain.picks(settings.orders) else (),
        unused=unused,
        database_url=settings.database_url.get_secret_value() if settings.database_url else None,
        first_receiver_port=settings.webhook.port,
        webhook_secret=secret.get_secret_value() if secret else None,
    )


def demo_options(settings: Settings) -> StackOptions:
    """The sample chain of the demo, without customers that order by themselves."""
    wanted = stack_options(settings, what="make demo")
    other = [name for name, value in FIXED.items() if wanted.environment.get(name, value) != value]
    other += [name for name in wanted.environment if name.upper().startswith(HAND_OVER)]
    inherited = {name: value for name, value in wanted.environment.items() if name not in other}
    return replace(
        wanted,
        environment={**inherited, **FIXED},
        unused=sorted([*wanted.unused, *other]),
        stand_ins=(STORE_HUB,),
    )


def demo(settings: Settings, *, echo: Callable[[str], None]) -> tuple[Figures, list[str]]:
    """Runs the demo; returns its result and what to try next. Raises ShelfsyncError if a check fails."""
    place = Place(settings.home.absolute())
    with running_stack(place, demo_options(settings), echo=echo) as stack:
        stack.wait_ready()
        sample_chain.prepare(stack, echo)
        running = guide.running(stack, sandbox=True)
        echo("everything is up, as long as this runs:")
        for line in guide.addresses(place, running):
            echo(f"  {line}")
        return scenario(stack, echo), list(guide.next_steps(place, running))


def main() -> int:
    """The command; returns its exit code."""
    keep_private()
    from shelfsync.settings import read_settings

    began_s = time.monotonic()

    def echo(text: str) -> None:
        print(f"demo {time.monotonic() - began_s:5.0f} s  {text}", flush=True)  # noqa: T201  this is what it is for

    try:
        result, steps = demo(read_settings(), echo=echo)
        check(result)
    except ServiceFailedError as error:
        for line in error.log_lines:
            print(f"    {line}", file=sys.stderr)  # noqa: T201
        print(f"demo failed: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except ShelfsyncError as error:
        print(f"demo failed: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except KeyboardInterrupt:
        print("demo: interrupted; everything is stopped", file=sys.stderr)  # noqa: T201
        return 130
    for line in (*summary.lines(result), "", "`make up` leaves all of it running; then", *steps):
        print(line)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
