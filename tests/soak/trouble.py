"""The faults around the installation: the platform's faults, its portal, slow jobs; and processes that die."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crash import victims
from installation import shelf
from soak import chain, faults

if TYPE_CHECKING:
    from soak.plan import Event
    from soak.soak_run import SoakRun

THERE_S = 20.0
"""So long a kill waits for a victim, for example a running task."""
BACK_S = 180.0
"""So long the supervisor has to start again what died."""


def set_faults(soak_run: SoakRun, event: Event) -> str:
    """Other faults than until now. Every second time none for a while, so that work gets done, too."""
    chosen = []
    if event.number % 2 == 0:
        kinds = soak_run.sandbox("GET", "/faults")["kinds"]
        chosen = faults.rules(soak_run.seed, event.number // 2, kinds)
    soak_run.sandbox("PUT", "/faults", {"seed": soak_run.seed + event.number, "rules": chosen})
    return ", ".join(f"{rule['kind']} at {rule['at']} {rule['probability']}" for rule in chosen) or "none"


def edit_in_portal(soak_run: SoakRun, event: Event) -> str:
    """A person changes the price of a product in the partner portal, or takes it off sale."""
    chance = event.chance(soak_run.seed)
    vendor = chance.choice(chain.STORES)
    sku = chance.choice(sorted(shelf.products(soak_run.installation, vendor)))
    values = {"price": round(chance.uniform(1, 30), 2)} if chance.random() < 0.7 else {"active": False}
    shelf.edit_in_portal(soak_run.installation, vendor, sku, **values)
    return f"{vendor} {sku} {values}"


def slow_jobs(soak_run: SoakRun, event: Event) -> str:
    """From now on the platform takes so long for a job."""
    seconds = event.chance(soak_run.seed).choice([0.5, 2, 8, 20])
    soak_run.sandbox("PUT", "/settings", {"job_seconds": seconds})
    return f"{seconds} s"


def calm(soak_run: SoakRun) -> None:
    """No faults any more, and jobs as fast as at first."""
    soak_run.sandbox("PUT", "/faults", {"rules": []})
    soak_run.sandbox("PUT", "/settings", {"job_seconds": 2})


def kill(soak_run: SoakRun, event: Event) -> str:
    """A process dies; the supervisor has to bring it back."""
    home, victim, until_s = soak_run.installation.home, event.subject, time.monotonic() + THERE_S
    while not victims.kill(home, victim, event.chance(soak_run.seed)):
        if time.monotonic() > until_s:
            return ""
        time.sleep(0.1)
    soak_run.killed[victim] += 1
    soak_run.note(f"killed {victim}")
    began_s = time.monotonic()
    while not victims.is_up(home, victim):
        if time.monotonic() > began_s + BACK_S:
            soak_run.trouble(f"{victim} was killed and not started again within {BACK_S:.0f} s")
            break
        time.sleep(0.2)
    return f"{victim}, back after {time.monotonic() - began_s:.1f} s"
