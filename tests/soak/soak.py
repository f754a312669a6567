"""A whole soak: up, a first full sync, disturbances, waiting until all claims hold, faults with a stated alert each, figures, down, what is left."""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from installation import shelf
from installation.installed import Installation
from installation.second_chain import SecondChain
from message_services import Chat
from soak import chain, claims, person, remains, shortened, stated, trouble
from soak.figures import figures
from soak.soak_run import UNAVAILABLE, NotPossibleError, SoakRun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SLACK_S = 600.0
"""For a machine that does other things besides."""
BOUND_S = shortened.JOB_DEADLINE_S + 2 * shortened.SLOWEST_S + SLACK_S
"""One job deadline and two runs."""
LOOK_EVERY_S = 15.0
SHOWN_MAX = 40
OF_SECOND_CHAIN = ("catalog_delta_sync", "catalog_recover", "catalog_holds", "assortment_export")
"""The DAGs that bring it together with its list. Its alerts have no route: theirs are the first chain's alone."""
NO_ROUTE = "[chains.north.alerts]\nroutes = []\n"

ACTIONS = {
    "till": chain.till,
    "price": chain.price,
    "limit": chain.limit,
    "close": chain.close,
    "open": chain.open_again,
    "begin_campaign": chain.begin_campaign,
    "change_campaign": chain.change_campaign,
    "end_campaign": chain.end_campaign,
    "second_chain": chain.second_chain,
    "order": chain.order,
    "cancel_order": chain.cancel_order,
    "faults": trouble.set_faults,
    "edit_in_portal": trouble.edit_in_portal,
    "slow_jobs": trouble.slow_jobs,
    "kill": trouble.kill,
    "decide": person.decide,
}


@dataclass
class Result:
    """`faults`: a line for each claim that does not hold."""

    seed: int
    minutes: float
    faults: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def write(self, file: Path) -> None:
        document = {"seed": self.seed, "minutes": self.minutes, **self.figures, "failed_claims": self.faults}
        file.write_text(json.dumps(document, indent=2, default=float) + "\n", "utf-8")


def soak(
    home: Path,
    *,
    seed: int,
    minutes: float,
    victims: Sequence[str],
    report: Callable[[str], None],
    alerts: bool = False,
) -> Result:
    """One soak in an empty folder. `alerts`: after it, faults one at a time, each with its alert stated."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "tmp").mkdir(exist_ok=True)
    buffers = home / "buffers.csv"
    buffers.write_text("vendor,sku,sales_buffer\n", "utf-8")
    settings = shortened.environment(minutes) | {
        "TMPDIR": str(home / "tmp"),  # whatever is left there is seen
        "SHELFSYNC_SUPPRESSION__BUFFERS_FILE": str(buffers),
        "SHELFSYNC_ALERTS__ROUTES": stated.routes(chat := Chat()),
    }
    installation = Installation(home, settings)
    second_chain = SecondChain(installation, home / "north.csv")
    soak_run = SoakRun(installation, second_chain, seed, report, home / "soak.log")
    result = Result(seed, minutes)
    report(f"seed {seed}, {minutes:g} minutes, log {soak_run.log}")
    try:
        installation.up()
        installation.sandbox("PUT", "/settings", shortened.SANDBOX)
        installation.run("catalog_full_sync")
        # A store that the first delta was busy with is passed over. A product that leaves the ERP before shelfsync has
        # synced it once is none of its business, so nothing may leave until then.
        first = (claims.platform_equals_the_erp, claims.baseline_is_what_the_platform_holds)
        installation.until(lambda: not any(list(claim(soak_run)) for claim in first), "every product to be synced once")
        # Without an older export, the test cannot know whether a person or the sales buffer switched a product off.
        installation.run("assortment_export")
        _give_buffers(installation, buffers)
        second_chain.add(OF_SECOND_CHAIN, NO_ROUTE)
        report("the first full sync and export are done, a second chain has synced; disturbances begin")
        soak_run.run(minutes, victims, ACTIONS)
        trouble.calm(soak_run)
        report("disturbances are over")
        result.faults += _converge(soak_run, result)
        result.faults += soak_run.troubles
        result.figures |= figures(soak_run)
        if alerts:
            counts = stated.take_place(soak_run, chat, random.Random(f"{seed} stated"))
            result.figures["alerts"] = counts
            wrong = [(name, line) for name in ("misses", "false_alarms", "not_told") for line in counts[name]]
            result.faults += [f"{name}: {line}" for name, line in wrong]
    finally:
        chat.close()
        report("taking it down")
        installation.down()
    result.faults += remains.processes(home) + remains.files(home)
    return result


def _give_buffers(installation: Installation, file: Path) -> None:
    """The platform's sales buffers, which an export needs to find a quantity that was accepted and not applied.

    On a usual day the next full sync repairs it; a soak has only the first one.
    """
    rows = [
        f"{vendor},{sku},{product['sales_buffer']}\n"
        for vendor in sorted({vendor for vendor, _ in shelf.erp_rows(installation)})
        for sku, product in shelf.products(installation, vendor).items()
    ]
    with file.open("a", encoding="utf-8") as opened:
        opened.writelines(rows)


def _converge(soak_run: SoakRun, result: Result) -> list[str]:
    """Waits until every claim holds at once, no longer than the bound; the lines of what does not hold by then."""
    began_s = time.monotonic()
    chance = random.Random(f"{soak_run.seed} end")
    left = _of(soak_run, lambda: claims.running(soak_run.installation)) or set()
    lines, running = ["nothing could be read"], list[str]()
    while (passed_s := time.monotonic() - began_s) < BOUND_S:
        _of(soak_run, lambda: person.decide_all(soak_run, chance))
        _of(soak_run, lambda: chain.deliver_orders(soak_run))
        now = _of(soak_run, lambda: claims.running(soak_run.installation))
        left &= left if now is None else now
        running = [f"still running: {run}" for run in sorted(left)]
        found = _of(soak_run, lambda: claims.violations(soak_run))
        if found is not None:
            lines = [*found, *running]
            soak_run.note(f"after {passed_s:.0f} s {len(lines)} lines, the first: {lines[:3]}")
            if not lines:
                result.figures["seconds_to_convergence"] = round(passed_s, 1)
                soak_run.report(f"all claims hold after {passed_s:.0f} s")
                return []
            soak_run.report(f"after {passed_s:.0f} s {len(lines)} lines, the first: {lines[0][:160]}")
        time.sleep(LOOK_EVERY_S)
    every = _of(soak_run, lambda: claims.violations(soak_run, whole=True))
    return lines if every is None else [*every, *running]


def _of(soak_run: SoakRun, look: Callable[[], Any]) -> Any:
    """The result of a check; None while a part is unavailable."""
    try:
        return look()
    except (*UNAVAILABLE, NotPossibleError, AssertionError) as error:
        soak_run.note(f"not yet: {str(error)[:300]}")
        return None


def lines(result: Result) -> list[str]:
    """For a person."""
    document = [f"{name}: {value}" for name, value in result.figures.items()]
    more = len(result.faults) - SHOWN_MAX
    return [*document, *result.faults[:SHOWN_MAX], *([f"and {more} more"] if more > 0 else [])]
