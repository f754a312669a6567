"""After the last fault of a feed of changes and the next whole reading, platform and ERP are equal."""

from __future__ import annotations

from collections import Counter

import pytest

from simulation.broken import Broken
from simulation.feed import FAULTS, FeedRun
from simulation.file_feed import FILE_FAULTS, FileFeedRun

pytestmark = pytest.mark.slow


def test_one_feed_with_faults_converges(world):
    run = FeedRun(world, 1).run()
    assert run.struck


@pytest.mark.proof
def test_a_feed_with_faults_and_processes_that_die_converge(world):
    runs = [FeedRun(world, seed).run() for seed in range(4)]
    assert sum(run.deaths for run in runs) > 2
    assert sum(run.missed for run in runs) > 5
    assert set(sum((run.struck for run in runs), Counter())) == set(FAULTS)


@pytest.mark.proof
def test_files_with_faults_and_processes_that_die_converge(world):
    runs = [FileFeedRun(world, seed).run() for seed in (1, 2, 4, 6, 8)]
    assert sum(run.unlanded for run in runs) > 0, "a process dies after it took files and before their rows land"
    assert sum(run.missed for run in runs) > 5
    assert sum(run.quarantined for run in runs) > 5
    assert set(sum((run.struck for run in runs), Counter())) == set(FILE_FAULTS)


class Forgetful(FileFeedRun):
    """A shelfsync that forgets which files it has taken."""

    def _live(self, kind, death, *vendor):
        fault_point = super()._live(kind, death, *vendor)
        self.world.execute("DELETE FROM ledger.change_file")
        return fault_point


def forgotten(world):
    for seed in range(8):
        Forgetful(world, seed).run()


@pytest.mark.proof
def test_the_model_sees_a_file_that_is_taken_twice(world):
    with pytest.raises(Broken) as broken:
        forgotten(world)
    assert broken.value.invariant in {"I4", "I10", "I14"}


def test_a_seed_sees_an_error_that_no_one_expected_although_only_its_vendor_fails(world, monkeypatch):
    def unlucky(*_: object, **__: object) -> None:
        raise LookupError("a bug")

    monkeypatch.setattr("shelfsync.catalog.steps.diff.compute_delta", unlucky)
    with pytest.raises(Broken, match="LookupError: a bug") as broken:
        FeedRun(world, 1).run()
    assert broken.value.invariant == "unexpected error"
