"""`python -m simulation --seeds N --start S [--jobs J] [--verbose]`: N seeds from S; exit 1 when one of them fails.

`--crash-points`: a day that dies at each of its effects instead. `--abandoned [NAME ...]`: processes of every kind die at each of their
effects, and nothing but the schedule follows. `--unattended`: the same by seeds, in worlds of every shape and with several deaths.
`--campaigns`: seeds of a chain's campaigns over weeks. `--feed`: seeds of an ERP whose changes come by SQL or as files.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import queue
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from garbage import collect_less
from memory_folder import throwaway_root
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.migrations.upgrade import upgrade
from shelfsync.store.engine import create_engine
from simulation.abandoned import PROCESSES, abandoned
from simulation.chain_campaigns import CampaignsRun, chain_campaigns
from simulation.crash_points import crash_sweep, dies_at, effects_of_a_day, points
from simulation.feed import ACTIONS, FeedRun
from simulation.file_feed import FileFeedRun
from simulation.seeds import SimulationRun, Verdict, fault_kinds, judge, plan_of, try_plan
from simulation.shrink import shrunk
from simulation.unattended import UnattendedRun, unattended
from simulation.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

REPORTED_EVERY = 100
FEEDS = {"sql": FeedRun, "files": FileFeedRun}


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--start", type=int, default=1, help="the first")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with a database of its own")
    parser.add_argument("--verbose", action="store_true", help="print every action")
    parser.add_argument("--former", action="store_true", help="plans as they were before exports, holds and switches")
    parser.add_argument("--crash-points", action="store_true", help="instead: a day that dies at each of its effects")
    parser.add_argument("--abandoned", nargs="*", choices=PROCESSES, help="instead: only the schedule follows a death")
    parser.add_argument("--unattended", action="store_true", help="seeds whose deaths only the schedule follows")
    parser.add_argument("--campaigns", action="store_true", help="seeds of a chain's campaigns over weeks")
    parser.add_argument("--feed", choices=FEEDS, help="seeds of an ERP's feed of changes")
    parser.add_argument("--every", type=int, default=1, help="of these, each so-manieth point alone")
    parser.add_argument("--no-shrink", action="store_true", help="leave a failing seed as long as it is")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is stopped
    collect_less()
    began_s = time.monotonic()
    with _server() as server:
        if options.crash_points or options.abandoned is not None:
            with _world(server, "simulation_0") as world:
                return _died(options, world)
        if options.jobs == 1:
            with _world(server, "simulation_0") as world:
                verdicts = []
                for seed in range(options.start, options.start + options.seeds):
                    verdicts.append(_reported(_run_seed(world, seed, options), options))
                    _how_far(len(verdicts), options)
        else:
            verdicts = _many(server, options)
    return _summary(verdicts, time.monotonic() - began_s)


def _died(options: argparse.Namespace, world: World) -> int:
    """Dies at each point and prints how many deaths did no harm."""
    began_s = time.monotonic()
    log = partial(print, flush=True)
    if options.crash_points:
        chosen = points(effects_of_a_day(world))[:: options.every]
        tried, wrong, well = len(chosen), crash_sweep(chosen, partial(dies_at, world), log), "crash points converge"
    else:
        well = "deaths are followed up by the schedule"
        tried, wrong = abandoned(world, options.abandoned or list(PROCESSES), options.every, log)
    print(f"{tried - len(wrong)} of {tried} {well}, in {time.monotonic() - began_s:.0f} s")
    return 1 if wrong else 0


def _run_seed(world: World, seed: int, options: argparse.Namespace) -> Verdict:
    if options.feed:
        return _run_feed(world, seed, FEEDS[options.feed])
    of, way = plan_of(world, seed, now=not options.former), SimulationRun
    if options.unattended:
        of, way = unattended(seed), UnattendedRun
    elif options.campaigns:
        of, way = chain_campaigns(seed, fault_kinds(world)), CampaignsRun
    verdict = try_plan(world, of, print if options.verbose else lambda _: None, way)
    if verdict.broken and not options.no_shrink:
        least = shrunk(of, verdict.broken, lambda plan: try_plan(world, plan, way=way).broken)
        lines = "\n".join(f"    {action}" for action in least.actions)
        verdict.case += f"\n  fails the same with {len(least.actions)} actions in {least.shape}:\n{lines}"
    return verdict


def _run_feed(world: World, seed: int, way: type[FeedRun]) -> Verdict:
    run, verdict = way(world, seed), Verdict(seed, actions=ACTIONS)
    judge(verdict, run.run)
    verdict.effects, verdict.deaths, verdict.struck = run.effects, run.deaths, run.struck
    return verdict


def _reported(verdict: Verdict, options: argparse.Namespace) -> Verdict:
    """Prints a seed that failed at once."""
    if verdict.broken:
        print(f"seed {verdict.seed} FAILED: {verdict.case}", flush=True)
        how = " --unattended" if options.unattended else " --campaigns" if options.campaigns else ""
        how = f" --feed {options.feed}" if options.feed else how
        print(f"  again: python -m simulation{how} --start {verdict.seed} --seeds 1 --verbose", flush=True)
    return verdict


def _how_far(done: int, options: argparse.Namespace) -> None:
    """Prints the progress of a long run."""
    if done % REPORTED_EVERY == 0 and done < options.seeds:
        print(f"{done} of {options.seeds} seeds", flush=True)


def _many(server: EmbeddedPostgres, options: argparse.Namespace) -> list[Verdict]:
    context = multiprocessing.get_context("spawn")
    seeds, verdicts = context.Queue(), context.Queue()
    for seed in range(options.start, options.start + options.seeds):
        seeds.put(seed)
    for _ in range(options.jobs):
        seeds.put(None)
    urls = [_databases(server, f"simulation_{number}") for number in range(options.jobs)]
    workers = [context.Process(target=_work, args=(pair, seeds, verdicts, options), daemon=True) for pair in urls]
    for worker in workers:
        worker.start()
    got: list[Verdict] = []
    while len(got) < options.seeds:
        try:
            got.append(_reported(verdicts.get(timeout=5), options))
            _how_far(len(got), options)
        except queue.Empty:
            if not any(worker.is_alive() for worker in workers):
                raise RuntimeError(f"every worker ended after {len(got)} of {options.seeds} seeds") from None
    for worker in workers:
        worker.join()
    return got


def _work(
    urls: tuple[str, str], seeds: multiprocessing.Queue, verdicts: multiprocessing.Queue, options: argparse.Namespace
) -> None:
    collect_less()
    with _folder() as folder, World(urls[0], folder, second=urls[1]) as world:
        while (seed := seeds.get()) is not None:
            verdicts.put(_run_seed(world, seed, options))


def _summary(verdicts: list[Verdict], seconds: float) -> int:
    failed = sorted(verdict.seed for verdict in verdicts if verdict.broken)
    struck: Counter[str] = sum((verdict.struck for verdict in verdicts), Counter())
    print(
        f"{len(verdicts)} seeds, {sum(v.actions for v in verdicts)} actions, {sum(v.effects for v in verdicts)} effects,"
        f" {sum(v.deaths for v in verdicts)} deaths, {sum(struck.values())} faults of {len(struck)} kinds in {seconds:.0f} s:"
        f" {len(failed)} failed{': ' + ', '.join(map(str, failed)) if failed else ''}"
    )
    return 1 if failed else 0


@contextlib.contextmanager
def _server() -> Iterator[EmbeddedPostgres]:
    with _folder() as folder:
        server = EmbeddedPostgres(folder / "postgres", fsync=False, echo=lambda _: None)
        server.ensure_started()
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def _world(server: EmbeddedPostgres, name: str) -> Iterator[World]:
    first, second = _databases(server, name)
    with _folder() as folder, World(first, folder, second=second) as world:
        yield world


def _databases(server: EmbeddedPostgres, name: str) -> tuple[str, str]:
    """Of two chains; the second is a copy of the first, which is empty."""
    url = server.create_database(name)
    engine = create_engine(url)
    try:
        upgrade(engine)
    finally:
        engine.dispose()
    return url, server.create_database(f"{name}_north", template=name)


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder that the database's OS user can step into, in memory where the machine has such a place."""
    folder = Path(tempfile.mkdtemp(prefix="shelfsync-simulation-", dir=throwaway_root()))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
